//! Names of tools and groups: legal, stable, unlike each other.

use std::collections::HashMap;

use gatefold_core::Digest;
use sha2::{Digest as _, Sha256};

/// The longest name of a tool, in bytes: what model providers accept.
const NAME_LIMIT: usize = 64;
/// The longest name of a group, in characters: what the catalogue takes.
const GROUP_LIMIT: usize = 64;

/// What a name is made from.
#[derive(Debug, Clone, Copy)]
pub(super) struct Nameable<'a> {
    pub(super) id: Option<&'a str>,
    pub(super) method: &'a str,
    pub(super) path: &'a str,
}

/// A name for each operation, in order. An operation's name follows from itself alone, unless another one
/// claims the same: then both are named by method and path, and if that is not unlike all others either, with
/// a short digest of these.
pub(super) fn names(operations: &[Nameable<'_>]) -> Vec<String> {
    let mut names: Vec<String> = operations.iter().map(first_name).collect();
    let counts = counts(&names);
    for (name, one) in names.iter_mut().zip(operations) {
        if counts[name] > 1 {
            *name = legal(&by_path(one), &by_path(one));
        }
    }
    let again = self::counts(&names);
    for (name, one) in names.iter_mut().zip(operations) {
        let is_changed = *name != first_name(one);
        if again[name] > 1 && (is_changed || counts[&first_name(one)] > 1) {
            let salt = format!("{} {}", one.method, one.path);
            *name = with_digest(name, &salt);
        }
    }
    names
}

fn counts(names: &[String]) -> HashMap<String, usize> {
    let mut counts = HashMap::new();
    for name in names {
        *counts.entry(name.clone()).or_default() += 1;
    }
    counts
}

fn first_name(one: &Nameable<'_>) -> String {
    let id = one.id.map(|id| legal(id, id)).filter(|name| !name.is_empty());
    id.unwrap_or_else(|| legal(&by_path(one), &by_path(one)))
}

/// `get_repos_owner_repo_issues` for `GET /repos/{owner}/{repo}/issues`.
fn by_path(one: &Nameable<'_>) -> String {
    format!("{} {}", one.method.to_ascii_lowercase(), one.path)
}

/// Legal characters stay, a run of others becomes one `_`, none at the ends.
fn legal(text: &str, salt: &str) -> String {
    let mut name = String::with_capacity(text.len());
    let mut is_gap = false;
    for c in text.chars() {
        if c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.') {
            if is_gap && !name.is_empty() && !name.ends_with('_') && c != '_' {
                name.push('_');
            }
            is_gap = false;
            name.push(c);
        } else {
            is_gap = true;
        }
    }
    if name.len() > NAME_LIMIT { with_digest(&name, salt) } else { name }
}

fn with_digest(name: &str, salt: &str) -> String {
    let digest = Digest::new(Sha256::digest(salt).into()).short();
    let kept: String = name.chars().take(NAME_LIMIT - digest.len() - 1).collect();
    format!("{kept}_{digest}")
}

/// Whether a person may name a tool so.
pub(super) fn is_legal(name: &str) -> bool {
    let is_legal = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte);
    (1..=NAME_LIMIT).contains(&name.len()) && name.bytes().all(is_legal)
}

/// A tag as the name of a group.
pub(super) fn group(tag: &str) -> Option<String> {
    let legal = |c: char| if c.is_alphanumeric() || matches!(c, '_' | '-' | '/') { c } else { ' ' };
    let words: String = tag.chars().map(legal).collect();
    let name = words.split_whitespace().collect::<Vec<_>>().join(" ");
    let name: String = name.chars().take(GROUP_LIMIT).collect();
    let name = name.trim_end().to_owned();
    (!name.is_empty()).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(operations: &[(Option<&str>, &str, &str)], expected: &[&str]) {
        let nameables: Vec<_> = operations
            .iter()
            .map(|(id, method, path)| Nameable { id: *id, method, path })
            .collect();
        assert_eq!(names(&nameables), expected);
    }

    #[test]
    fn an_operation_keeps_the_apis_own_name_where_it_is_legal() {
        check(
            &[
                (Some("listPets"), "GET", "/pets"),
                (Some("issues/list for-repo"), "GET", "/x"),
                (Some("a.b-c_d__e"), "GET", "/y"),
                (Some("  Ünï  "), "GET", "/z"),
                (Some("™"), "GET", "/w"),
                (None, "GET", "/repos/{owner}/{repo}/issues"),
                (None, "POST", "/"),
            ],
            &[
                "listPets",
                "issues_list_for-repo",
                "a.b-c_d__e",
                "n",
                "get_w",
                "get_repos_owner_repo_issues",
                "post",
            ],
        );
    }

    #[test]
    fn equal_names_give_way_to_method_and_path() {
        check(
            &[
                (Some("list"), "GET", "/a"),
                (Some("list"), "GET", "/b"),
                (Some("get_a"), "GET", "/c"),
            ],
            &["get_a_f302dfbc", "get_b", "get_a"],
        );
        check(
            &[(None, "GET", "/a/{b}"), (None, "GET", "/a/b")],
            &["get_a_b_a5c38ae4", "get_a_b_840b7118"],
        );
    }

    #[test]
    fn a_long_name_is_cut_and_told_apart() {
        let (one, two) = (format!("{}1", "x".repeat(80)), format!("{}2", "x".repeat(80)));
        let nameables = [&one, &two].map(|id| Nameable { id: Some(id), method: "GET", path: "/" });
        let names = names(&nameables);
        assert!(
            names[0] != names[1] && names.iter().all(|name| name.len() == NAME_LIMIT),
            "{names:?}"
        );
    }

    #[test]
    fn a_tag_becomes_the_name_of_a_group() {
        for (tag, expected) in [
            ("Pets", Some("Pets")),
            ("pets & owners: all", Some("pets owners all")),
            ("  ", None),
            ("a/b_c-d é", Some("a/b_c-d é")),
        ] {
            assert_eq!(group(tag).as_deref(), expected, "{tag}");
        }
    }
}
