//! Patterns of names.

use regex::{Regex, RegexBuilder};

use crate::KnowledgeError;
use crate::limits::{MAX_PATTERN, MAX_PATTERNS};

#[derive(Debug)]
pub(super) struct NamePatterns {
    patterns: Vec<NamePattern>,
}

#[derive(Debug)]
struct NamePattern {
    regex: Regex,
    /// Whether it ends in a literal ending, as `*.log` does.
    has_ending: bool,
}

/// What one pattern may take when it is compiled, in bytes.
const COMPILED: usize = 1024 * 1024;

impl NamePatterns {
    pub(super) fn new(patterns: &[String]) -> Result<Self, KnowledgeError> {
        if let Some(surplus) = patterns.get(MAX_PATTERNS) {
            return Err(KnowledgeError::Pattern(surplus.clone()));
        }
        let patterns = patterns.iter().map(|pattern| NamePattern::new(pattern));
        Ok(Self { patterns: patterns.collect::<Result<_, _>>()? })
    }

    pub(super) fn is_empty(&self) -> bool {
        self.patterns.is_empty()
    }

    pub(super) fn match_name(&self, name: &str) -> bool {
        self.patterns.iter().any(|pattern| pattern.regex.is_match(name))
    }

    /// Whether a name matches a pattern that names its ending.
    pub(super) fn match_ending(&self, name: &str) -> bool {
        self.patterns.iter().any(|pattern| pattern.has_ending && pattern.regex.is_match(name))
    }
}

impl NamePattern {
    fn new(pattern: &str) -> Result<Self, KnowledgeError> {
        let wrong = || KnowledgeError::Pattern(pattern.chars().take(MAX_PATTERN).collect());
        if pattern.is_empty() || pattern.len() > MAX_PATTERN {
            return Err(wrong());
        }
        let mut rest = pattern.strip_prefix("./").unwrap_or(pattern).trim_end_matches('/');
        let anywhere = if rest.contains('/') { "" } else { "(?:.*/)?" };
        let last = rest.rsplit('/').next().unwrap_or(rest);
        let ending = last.rsplit_once('.').map(|(_, ending)| ending);
        let has_ending =
            ending.is_some_and(|ending| !ending.is_empty() && !ending.contains(['*', '?']));
        let mut expression = format!("^{anywhere}");
        while let Some(first) = rest.chars().next() {
            let (length, part) = match first {
                _ if rest.starts_with("**/") => (3, "(?:.*/)?".to_owned()),
                _ if rest.starts_with("**") => (2, ".*".to_owned()),
                '*' => (1, "[^/]*".to_owned()),
                '?' => (1, "[^/]".to_owned()),
                other => (other.len_utf8(), regex::escape(&other.to_string())),
            };
            expression.push_str(&part);
            rest = &rest[length..];
        }
        expression.push('$');
        let regex = RegexBuilder::new(&expression)
            .dot_matches_new_line(true)
            .size_limit(COMPILED)
            .build()
            .map_err(|_| wrong())?;
        Ok(Self { regex, has_ending })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_as_people_know_them() {
        for (pattern, name, expected) in [
            ("*.md", "a.md", true),
            ("*.md", "a/b.md", true),
            ("*.md", "a.mdx", false),
            ("docs/*.md", "docs/a.md", true),
            ("docs/*.md", "docs/b/a.md", false),
            ("docs/**/*.md", "docs/b/c/a.md", true),
            ("docs/**", "docs/b/c", true),
            ("docs/**", "other/docs/b", false),
            ("drafts", "a/drafts", true),
            ("drafts/", "drafts", true),
            ("?.md", "é.md", true),
            ("a+b", "aab", false),
        ] {
            let patterns = NamePatterns::new(&[pattern.to_owned()]).unwrap();
            assert_eq!(patterns.match_name(name), expected, "{pattern} {name}");
        }
    }

    #[test]
    fn a_pattern_that_cannot_be_one_is_refused() {
        for pattern in [String::new(), "a".repeat(MAX_PATTERN + 1)] {
            assert!(NamePatterns::new(&[pattern]).is_err());
        }
        assert!(NamePatterns::new(&vec!["a".to_owned(); MAX_PATTERNS + 1]).is_err());
    }
}
