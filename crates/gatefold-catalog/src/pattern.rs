use std::fmt;

use gatefold_core::{Domain, ToolId};

/// A pattern for names: `*` matches any run of characters, `?` any one.
///
/// ```
/// # use gatefold_catalog::Pattern;
/// assert!(Pattern::new("issue_*").matches("issue_create"));
/// assert!(!Pattern::new("issue_?").matches("issue_create"));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pattern(Box<str>);

impl Pattern {
    pub fn new(text: &str) -> Self {
        Self(text.into())
    }

    /// Whether it matches what a source calls one of its tools, or begins with `{domain}__` and
    /// matches what the tool is called behind the gateway.
    pub fn is_of(&self, domain: &Domain, name: &str) -> bool {
        let is_long = self.0.strip_prefix(domain.as_str()).is_some_and(|it| it.starts_with("__"));
        let mut forms = ToolId::long_forms(domain, name);
        self.matches(name) || is_long && forms.any(|form| self.matches(form.as_str()))
    }

    pub fn matches(&self, name: &str) -> bool {
        let (mut pattern, mut rest) = (self.0.chars(), name.chars());
        // Where to resume after a mismatch: after the last `*`, one character further on.
        let mut retry = None;
        loop {
            match (pattern.next(), rest.clone().next()) {
                (Some('*'), _) => retry = Some((pattern.clone(), rest.clone())),
                (Some('?'), Some(_)) => drop(rest.next()),
                (Some(p), Some(c)) if p == c => drop(rest.next()),
                (None, None) => return true,
                _ => {
                    let Some((after_star, from)) = &mut retry else { return false };
                    if from.next().is_none() {
                        return false;
                    }
                    (pattern, rest) = (after_star.clone(), from.clone());
                }
            }
        }
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_spans_any_run() {
        for (pattern, name, expected) in [
            ("", "", true),
            ("*", "", true),
            ("a*b*c", "axxbyyc", true),
            ("a*b*c", "axxbyy", false),
            ("*_list", "issue_list", true),
            ("*_list", "issue_lists", false),
            ("gé?t", "gést", true),
            ("ab", "a", false),
            ("**a", "banana", true),
        ] {
            assert_eq!(Pattern::new(pattern).matches(name), expected, "{pattern} {name}");
        }
    }
}
