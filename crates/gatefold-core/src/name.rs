use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// Why a text is not a valid name.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum NameError {
    #[error(
        "`{0}` is not a domain: use 1 to 40 of `a-z`, `0-9` and `_`, without `__` or a `_` at the end"
    )]
    Domain(String),
    #[error("a {kind} has {length} bytes, more than the limit: {limit}")]
    TooLong { kind: &'static str, length: usize, limit: usize },
}

/// A source's public name: `[a-z0-9_]`, no `__`, at most [`Domain::MAX_LENGTH`] characters.
///
/// It does not end with `_` either, or `a___x` would be a tool of both `a` and `a_`.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Domain(Arc<str>);

impl Domain {
    pub const MAX_LENGTH: usize = 40;

    pub fn parse(text: &str) -> Result<Self, NameError> {
        let legal = text.bytes().all(|b| matches!(b, b'a'..=b'z' | b'0'..=b'9' | b'_'));
        let is_apart = !text.contains("__") && !text.ends_with('_');
        if !legal || !is_apart || text.is_empty() || text.len() > Self::MAX_LENGTH {
            return Err(NameError::Domain(text.to_owned()));
        }
        Ok(Self(text.into()))
    }

    /// Makes a domain from any configuration key: lower case, other characters to `_`, runs of `_`
    /// shortened to one, cut at [`Domain::MAX_LENGTH`]. A key in another script becomes
    /// the numbers of its characters, one of signs alone `source`.
    pub fn from_key(key: &str) -> Self {
        let mut name = String::with_capacity(key.len().min(Self::MAX_LENGTH));
        for c in key.chars().flat_map(char::to_lowercase) {
            let c = if c.is_ascii_lowercase() || c.is_ascii_digit() { c } else { '_' };
            if c == '_' && (name.is_empty() || name.ends_with('_')) {
                continue;
            }
            if name.len() == Self::MAX_LENGTH {
                break;
            }
            name.push(c);
        }
        match name.trim_end_matches('_') {
            "" => Self::from_foreign_key(key),
            name => Self(name.into()),
        }
    }

    /// A domain for a key without a Latin letter or a digit: the numbers of its other characters, so
    /// that two such keys stay apart in every file and order.
    fn from_foreign_key(key: &str) -> Self {
        let mut name = String::new();
        for c in key.chars().filter(|c| !c.is_ascii()) {
            let number = format!("u{:x}", u32::from(c));
            let separator = if name.is_empty() { "" } else { "_" };
            if name.len() + separator.len() + number.len() > Self::MAX_LENGTH {
                break;
            }
            name.extend([separator, number.as_str()]);
        }
        Self(if name.is_empty() { "source" } else { &name }.into())
    }

    /// The same name followed by `_{n}`, for the `n`th source whose key gives this domain.
    #[must_use]
    pub fn numbered(&self, n: usize) -> Self {
        let suffix = format!("_{n}");
        let kept = &self.0[..self.0.len().min(Self::MAX_LENGTH - suffix.len())];
        Self(format!("{}{suffix}", kept.trim_end_matches('_')).into())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for Domain {
    type Error = NameError;

    fn try_from(text: String) -> Result<Self, NameError> {
        Self::parse(&text)
    }
}

impl From<Domain> for String {
    fn from(domain: Domain) -> Self {
        domain.0.as_ref().to_owned()
    }
}

impl fmt::Display for Domain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Domain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Domain({})", self.0)
    }
}

/// Defines a name type without rules: any text, compared byte by byte.
macro_rules! text_name {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(Arc<str>);

        impl $name {
            pub fn new(text: impl Into<Arc<str>>) -> Self {
                Self(text.into())
            }

            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl std::borrow::Borrow<str> for $name {
            fn borrow(&self) -> &str {
                &self.0
            }
        }
    };
}
pub(crate) use text_name;

text_name! {
    /// The stable public name of a tool: `{domain}__{name}`, or the name alone when it already
    /// starts with `{domain}_` and has no `__`.
    ToolId
}
text_name! {
    /// The name of a prompt as a caller wrote it.
    PromptName
}
text_name! {
    /// The address of a resource as a caller wrote it.
    Uri
}
text_name! {
    /// The id of a request for approval, short enough to type.
    ApprovalId
}
text_name! {
    /// The name of a policy rule in audit records and denials.
    RuleId
}

impl ToolId {
    /// The id of the tool that a source of this domain calls `name`, unless a longer domain claims
    /// it.
    ///
    /// A name with `__` always gets its domain as a prefix, or it would be the id of another
    /// domain's tool.
    pub fn of(domain: &Domain, name: &str) -> Self {
        let rest = name.strip_prefix(domain.as_str());
        let is_short = rest.is_some_and(|rest| rest.starts_with('_')) && !name.contains("__");
        if is_short { Self::new(name) } else { Self::long(domain, name) }
    }

    /// `{domain}__{name}`, which belongs to no other domain, whatever else is configured.
    pub fn long(domain: &Domain, name: &str) -> Self {
        Self::new(format!("{domain}__{name}"))
    }

    /// What people write for the tool that a source calls `name`, whatever its id is:
    /// `{domain}__{name}`, and the same without the domain that the name itself may begin with.
    pub fn long_forms(domain: &Domain, name: &str) -> impl Iterator<Item = Self> {
        let rest = name.strip_prefix(domain.as_str()).and_then(|rest| rest.strip_prefix('_'));
        let rest = rest.filter(|rest| !rest.is_empty() && !rest.starts_with('_'));
        [Some(name), rest].into_iter().flatten().map(|name| Self::long(domain, name))
    }
}

/// The name of a tool as a caller wrote it, not yet resolved in any view: at most
/// [`ToolName::MAX_LENGTH`] bytes.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "Arc<str>")]
pub struct ToolName(Arc<str>);

impl ToolName {
    /// The longest name that can be requested, in bytes. Error texts repeat the name.
    pub const MAX_LENGTH: usize = 512;

    pub fn parse(text: &str) -> Result<Self, NameError> {
        Self::within_limit(text)?;
        Ok(Self(text.into()))
    }

    /// The name by which anybody who sees a tool can ask for it.
    pub fn of(id: &ToolId) -> Self {
        Self(id.0.clone())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    fn within_limit(text: &str) -> Result<(), NameError> {
        if text.len() > Self::MAX_LENGTH {
            let (length, limit) = (text.len(), Self::MAX_LENGTH);
            return Err(NameError::TooLong { kind: "tool name", length, limit });
        }
        Ok(())
    }
}

impl TryFrom<Arc<str>> for ToolName {
    type Error = NameError;

    fn try_from(text: Arc<str>) -> Result<Self, NameError> {
        Self::within_limit(&text)?;
        Ok(Self(text))
    }
}

impl fmt::Display for ToolName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_becomes_a_domain() {
        for (key, domain) in [
            ("GitHub", "github"),
            ("sec-edgar", "sec_edgar"),
            ("a  b__c", "a_b_c"),
            ("__x__", "x"),
            ("Übersetzung", "bersetzung"),
            ("日本", "u65e5_u672c"),
            ("文件", "u6587_u4ef6"),
            ("📁", "u1f4c1"),
            ("Файлы и папки", "u424_u430_u439_u43b_u44b_u438_u43f_u430"),
            ("___", "source"),
            ("", "source"),
        ] {
            assert_eq!(Domain::from_key(key).as_str(), domain, "{key}");
        }
        let long = Domain::from_key(&"a".repeat(99));
        assert_eq!(long.as_str().len(), Domain::MAX_LENGTH);
        assert_eq!(long.numbered(12).as_str().len(), Domain::MAX_LENGTH);
    }

    #[test]
    fn every_domain_made_from_a_key_parses() {
        for key in ["a_", "x--y", "___", "A".repeat(41).as_str(), "a__________b"] {
            let domain = Domain::from_key(key);
            assert_eq!(Domain::parse(domain.as_str()).as_ref(), Ok(&domain));
            let second = domain.numbered(2);
            assert_eq!(Domain::parse(second.as_str()), Ok(second));
        }
    }

    #[test]
    fn an_illegal_domain_is_refused() {
        for text in ["", "A", "a-b", "a__b", "a_", "_", &"a".repeat(41)] {
            assert!(Domain::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn no_tool_name_is_longer_than_the_limit_wherever_it_comes_from() {
        let longest = "x".repeat(ToolName::MAX_LENGTH);
        let json = |text: &str| format!("\"{text}\"");
        let name = ToolName::parse(&longest).unwrap();
        assert_eq!(serde_json::from_str::<ToolName>(&json(&longest)).unwrap(), name);
        assert_eq!(serde_json::to_string(&name).unwrap(), json(&longest));
        let longer = format!("{longest}x");
        let refusal = "a tool name has 513 bytes, more than the limit: 512";
        assert_eq!(ToolName::parse(&longer).unwrap_err().to_string(), refusal);
        let error = serde_json::from_str::<ToolName>(&json(&longer)).unwrap_err();
        assert_eq!(error.to_string(), refusal);
    }

    #[test]
    fn a_name_that_begins_with_its_domain_is_also_written_without_it() {
        let git = Domain::parse("git").unwrap();
        for (name, expected) in [
            ("commit", &["git__commit"][..]),
            ("git_commit", &["git__git_commit", "git__commit"]),
            ("git__commit", &["git__git__commit"]),
            ("git_", &["git__git_"]),
            ("github", &["git__github"]),
        ] {
            let forms: Vec<_> = ToolId::long_forms(&git, name).map(|id| id.to_string()).collect();
            assert_eq!(forms, expected, "{name}");
        }
    }

    #[test]
    fn an_id_is_prefixed_once() {
        let apollo = Domain::parse("apollo").unwrap();
        for (name, id) in [
            ("apollo_people_search", "apollo_people_search"),
            ("people_search", "apollo__people_search"),
            ("apollonia", "apollo__apollonia"),
            ("Get-It.now", "apollo__Get-It.now"),
            ("apollo__search", "apollo__apollo__search"),
            ("apollo_io__search", "apollo__apollo_io__search"),
        ] {
            assert_eq!(ToolId::of(&apollo, name).as_str(), id);
        }
    }
}
