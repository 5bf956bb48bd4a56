//! The addresses of skills and their files: `skill://NAME/PATH` (SEP-2640, Resource Mapping).

use std::borrow::Cow;

use percent_encoding::{AsciiSet, CONTROLS, percent_decode_str, utf8_percent_encode};

use crate::skill::{Skill, SkillFile};

pub(crate) const MAIN: &str = "SKILL.md";
const SCHEME: &str = "skill://";

/// The address of all files, for clients that fill in templates (RFC 6570).
pub(crate) const TEMPLATE: &str = "skill://{name}/{+path}";

/// What must be encoded in a segment of a path (RFC 3986, `pchar`).
const SEGMENT: &AsciiSet = &CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'#')
    .add(b'%')
    .add(b'/')
    .add(b'<')
    .add(b'>')
    .add(b'?')
    .add(b'[')
    .add(b'\\')
    .add(b']')
    .add(b'^')
    .add(b'`')
    .add(b'{')
    .add(b'|')
    .add(b'}');

/// What an address means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SkillAddress {
    pub(crate) name: String,
    /// Empty for the skill's own folder.
    pub(crate) path: String,
}

/// The address of a file, or of a folder without the slash at its end.
pub(crate) fn uri(name: &str, path: &str) -> String {
    let encoded = |text| utf8_percent_encode(text, SEGMENT);
    let mut uri = format!("{SCHEME}{}", encoded(name));
    for part in path.split('/').filter(|part| !part.is_empty()) {
        uri.push('/');
        uri.extend(encoded(part));
    }
    uri
}

pub(crate) fn of_file(skill: &Skill, file: &SkillFile) -> String {
    uri(&skill.name, &file.path)
}

pub(crate) fn of_skill(skill: &Skill) -> String {
    uri(&skill.name, MAIN)
}

/// Reads an address. It is compared with what is known, so nothing in it is ever resolved.
pub(crate) fn read(uri: &str) -> Option<SkillAddress> {
    let rest = uri.strip_prefix(SCHEME)?;
    let (name, path) = rest.split_once('/').unwrap_or((rest, ""));
    let decoded = |text| percent_decode_str(text).decode_utf8().ok().map(Cow::into_owned);
    Some(SkillAddress { name: decoded(name)?, path: decoded(path)? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_leads_back() {
        for (name, path, expected) in [
            ("pdf", "SKILL.md", "skill://pdf/SKILL.md"),
            ("pdf", "", "skill://pdf"),
            ("größe", "a b/c#d%.md", "skill://gr%C3%B6%C3%9Fe/a%20b/c%23d%25.md"),
        ] {
            assert_eq!(uri(name, path), expected);
            let address = SkillAddress { name: name.to_owned(), path: path.to_owned() };
            assert_eq!(read(expected), Some(address));
        }
        assert_eq!(read("file:///etc/passwd"), None);
        assert_eq!(read("skill://a/%ff"), None);
    }
}
