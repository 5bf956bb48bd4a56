//! Ids and aliases: unique, stable, and none ever missing.

use std::collections::HashSet;
use std::sync::Arc;

use gatefold_core::{Digest, Domain, ToolId};
use sha2::{Digest as _, Sha256};

/// The longest name that model providers take for a tool at the top level.
const MAX_ALIAS: usize = 64;

/// The names given so far, in the order of domains and of the tools, or prompts, within one.
#[derive(Debug, Default)]
pub(crate) struct Names {
    taken: HashSet<Arc<str>>,
}

impl Names {
    /// The id of a tool or a prompt. One that is taken, by a namesake or by an odd name of another domain,
    /// takes a short digest suffix.
    pub(crate) fn id(&mut self, domain: &Domain, name: &str, definition: Digest) -> ToolId {
        let plain = ToolId::of(domain, name);
        let salt = format!("{domain}\0{name}\0{definition}");
        self.claim(plain.as_str(), |suffix| format!("{plain}_{suffix}"), &salt)
    }

    /// The function alias of an id, when the id itself cannot stand at the top level. All ids
    /// must have been given out before.
    pub(crate) fn alias(&mut self, id: &ToolId) -> Option<ToolId> {
        if is_alias(id.as_str()) {
            return None;
        }
        let legal = |c: char| if is_legal(c) { c } else { '_' };
        let kept: String = id.as_str().chars().map(legal).take(MAX_ALIAS - 9).collect();
        let first = format!("{kept}_{}", short(id.as_str(), 0));
        Some(self.claim(&first, |suffix| format!("{kept}_{suffix}"), id.as_str()))
    }

    fn claim(&mut self, first: &str, next: impl Fn(&str) -> String, salt: &str) -> ToolId {
        let mut name: Arc<str> = first.into();
        let mut attempt = 1;
        while !self.taken.insert(Arc::clone(&name)) {
            name = next(&short(salt, attempt)).into();
            attempt += 1;
        }
        ToolId::new(name)
    }
}

fn short(salt: &str, attempt: u32) -> String {
    Digest::new(Sha256::digest(format!("{salt}\0{attempt}")).into()).short()
}

fn is_legal(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == '-'
}

fn is_alias(name: &str) -> bool {
    (1..=MAX_ALIAS).contains(&name.len()) && name.chars().all(is_legal)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn digest(byte: u8) -> Digest {
        Digest::new([byte; 32])
    }

    #[test]
    fn the_later_of_two_with_one_id_takes_a_suffix() {
        let domain = Domain::parse("files").unwrap();
        let mut names = Names::default();
        assert_eq!(names.id(&domain, "read", digest(1)).as_str(), "files__read");
        let second = names.id(&domain, "read", digest(2));
        assert!(second.as_str().starts_with("files__read_") && second.as_str().len() == 20);
        assert_ne!(names.id(&domain, "files__read", digest(3)), second);
    }

    #[test]
    fn an_alias_is_legal_and_unlike_any_other() {
        let domain = Domain::parse("files").unwrap();
        let mut names = Names::default();
        let odd =
            [names.id(&domain, "read.it", digest(1)), names.id(&domain, "read it", digest(1))];
        let long = names.id(&domain, &"x".repeat(200), digest(1));
        let plain = names.id(&domain, "read-it", digest(1));
        assert_eq!(names.alias(&plain), None);
        let aliases: Vec<_> =
            odd.iter().chain([&long]).map(|id| names.alias(id).unwrap()).collect();
        assert!(aliases.iter().all(|alias| is_alias(alias.as_str())), "{aliases:?}");
        assert_ne!(aliases[0], aliases[1]);
    }
}
