//! Ids and aliases: unique and stable, and every entry has one.

use std::collections::HashSet;
use std::sync::Arc;

use gatefold_core::{Digest, Domain, ToolId};
use sha2::{Digest as _, Sha256};

/// The longest name that model providers accept for a top-level tool.
const MAX_ALIAS: usize = 64;

/// The domains of a catalogue, sorted. They alone decide whose id a name is. What a source lists
/// has no influence, so no source can take over the ids of another.
#[derive(Debug, Default)]
pub(crate) struct Domains(Vec<Domain>);

/// Who owns a name, if it is an id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NameOwner<'a> {
    Domain(&'a Domain),
    /// A domain that is not in the catalogue. Such a name refers to nothing, as if its domain were
    /// there but hidden.
    Stranger,
    /// It is not an id, so sources may use it for their own entries.
    Nobody,
}

impl Domains {
    /// Of domains in order.
    pub(crate) fn of(domains: Vec<Domain>) -> Self {
        Self(domains)
    }

    pub(crate) fn place_of(&self, domain: &str) -> Option<usize> {
        self.0.binary_search_by(|own| own.as_str().cmp(domain)).ok()
    }

    /// The part before the first `__` owns a name. A name without it belongs to the longest domain
    /// that it begins with, whether or not that domain has such an entry.
    pub(crate) fn owner(&self, name: &str) -> NameOwner<'_> {
        match name.split_once("__") {
            Some((domain, _)) if Domain::parse(domain).is_ok() => {
                self.get(domain).map_or(NameOwner::Stranger, NameOwner::Domain)
            }
            Some(_) => NameOwner::Nobody,
            None => self.claimant(name).map_or(NameOwner::Nobody, NameOwner::Domain),
        }
    }

    fn claimant(&self, name: &str) -> Option<&Domain> {
        let ends = name.match_indices('_').map(|(end, _)| end);
        let ends: Vec<_> = ends.take_while(|end| *end <= Domain::MAX_LENGTH).collect();
        ends.into_iter().rev().find_map(|end| self.get(&name[..end]))
    }

    fn get(&self, domain: &str) -> Option<&Domain> {
        self.place_of(domain).map(|at| &self.0[at])
    }
}

/// The names given out so far. Domains come in order, and so do the tools or prompts within one.
#[derive(Debug, Default)]
pub(crate) struct AssignedNames {
    taken: HashSet<Arc<str>>,
}

impl AssignedNames {
    /// The id of a tool or a prompt. If two definitions have the same name, the later one gets a
    /// short digest as a suffix.
    pub(crate) fn id(
        &mut self,
        domains: &Domains,
        domain: &Domain,
        name: &str,
        definition: Digest,
    ) -> ToolId {
        let (own, long) = (ToolId::of(domain, name), ToolId::long(domain, name));
        let is_own = domains.owner(own.as_str()) == NameOwner::Domain(domain);
        let plain = if is_own { &own } else { &long };
        let salt = format!("{domain}\0{name}\0{definition}");
        let id = self.claim(plain.as_str(), |suffix| format!("{long}_{suffix}"), &salt);
        // It leads to the same entry, so no alias may be equal to it.
        self.taken.insert(long.as_str().into());
        id
    }

    /// The function alias of a tool whose id is not allowed at the top level. All ids must have
    /// been given out before.
    ///
    /// It begins with `{domain}__` even if the id does not, because a short id with replaced
    /// characters might begin with another domain. A short id has the same alias as the long form
    /// that replaces it where a longer domain claims it.
    pub(crate) fn alias(&mut self, domain: &Domain, id: &ToolId) -> Option<ToolId> {
        if is_alias(id.as_str()) {
            return None;
        }
        let prefix = format!("{domain}__");
        let behind = id.as_str().strip_prefix(&prefix).unwrap_or(id.as_str());
        let own = behind.strip_prefix(domain.as_str()).unwrap_or(behind).trim_start_matches('_');
        let legal = |c: char| if is_legal(c) { c } else { '_' };
        let own: String = own.chars().map(legal).collect();
        let kept: String = format!("{prefix}{own}").chars().take(MAX_ALIAS - 9).collect();
        let salt = format!("{prefix}{behind}");
        let first = format!("{kept}_{}", short(&salt, 0));
        Some(self.claim(&first, |suffix| format!("{kept}_{suffix}"), &salt))
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

    fn domains(names: &[&str]) -> Domains {
        Domains::of(names.iter().map(|name| Domain::parse(name).unwrap()).collect())
    }

    #[test]
    fn the_later_of_two_with_one_name_takes_a_suffix() {
        let (domain, domains) = (Domain::parse("files").unwrap(), domains(&["files"]));
        let mut names = AssignedNames::default();
        assert_eq!(names.id(&domains, &domain, "read", digest(1)).as_str(), "files__read");
        let second = names.id(&domains, &domain, "read", digest(2));
        assert!(second.as_str().starts_with("files__read_") && second.as_str().len() == 20);
        assert_ne!(names.id(&domains, &domain, "files__read", digest(3)), second);
    }

    #[test]
    fn an_alias_is_legal_and_unlike_any_other() {
        let (domain, domains) = (Domain::parse("files").unwrap(), domains(&["files"]));
        let mut names = AssignedNames::default();
        let mut id = |name: &str| names.id(&domains, &domain, name, digest(1));
        let odd = [id("read.it"), id("read it"), id("files_read.it")];
        let (long, plain) = (id(&"x".repeat(200)), id("read-it"));
        assert_eq!(names.alias(&domain, &plain), None);
        let aliases: Vec<_> =
            odd.iter().chain([&long]).map(|id| names.alias(&domain, id).unwrap()).collect();
        assert!(aliases.iter().all(|alias| is_alias(alias.as_str())), "{aliases:?}");
        assert!(aliases.iter().all(|alias| alias.as_str().starts_with("files__")), "{aliases:?}");
        assert_ne!(aliases[0], aliases[1]);
    }

    #[test]
    fn an_alias_outlives_the_short_id_that_it_stands_for() {
        let domain = Domain::parse("a").unwrap();
        let alias = |domains: &[&str]| {
            let mut names = AssignedNames::default();
            let id = names.id(&self::domains(domains), &domain, "a_2_ 2", digest(1));
            (id.to_string(), names.alias(&domain, &id).unwrap())
        };
        let ((short, before), (long, after)) = (alias(&["a"]), alias(&["a", "a_2"]));
        assert_eq!((short.as_str(), long.as_str()), ("a_2_ 2", "a__a_2_ 2"));
        assert_eq!(before, after);
    }

    #[test]
    fn domains_alone_say_whose_a_name_is() {
        let domains = domains(&["git", "git_hub", "time", "time_2"]);
        for (name, expected) in [
            ("git__hub__x", Some("git")),
            ("git_hub__x", Some("git_hub")),
            ("git_hub_x", Some("git_hub")),
            ("git_hub", Some("git")),
            ("git_", Some("git")),
            ("git___x", Some("git")),
            ("time_2_now", Some("time_2")),
            ("time_20", Some("time")),
        ] {
            let domain = expected.map(|domain| Domain::parse(domain).unwrap());
            let owner = domain.as_ref().map_or(NameOwner::Nobody, NameOwner::Domain);
            assert_eq!(domains.owner(name), owner, "{name}");
        }
        for name in ["git", "status", "__x", "Git__x", "git-hub__x", "gitx_y", "_git_x", ""] {
            assert_eq!(domains.owner(name), NameOwner::Nobody, "{name}");
        }
        for name in ["bank__pay", "git_lab__x", "x__"] {
            assert_eq!(domains.owner(name), NameOwner::Stranger, "{name}");
        }
    }
}
