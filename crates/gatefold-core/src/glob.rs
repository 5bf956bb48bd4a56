use std::fmt;

use serde::{Deserialize, Serialize};

/// A pattern for names: `*` matches any run of characters, `?` any one.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Glob(String);

impl Glob {
    pub fn new(pattern: impl Into<String>) -> Self {
        Self(pattern.into())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Takes time proportional to the product of both lengths at worst, and does not recurse: on a
    /// mismatch only the last `*` consumes one more character.
    pub fn matches(&self, name: &str) -> bool {
        let (pattern, name) = (self.0.as_bytes(), name.as_bytes());
        let (mut p, mut n) = (0, 0);
        let mut retry: Option<(usize, usize)> = None;
        while n < name.len() {
            match pattern.get(p) {
                Some(b'*') => {
                    retry = Some((p + 1, n));
                    p += 1;
                }
                Some(b'?') => {
                    p += 1;
                    n = next_character(name, n);
                }
                Some(&literal) if literal == name[n] => {
                    p += 1;
                    n += 1;
                }
                _ => {
                    let Some((after_star, taken)) = retry else {
                        return false;
                    };
                    retry = Some((after_star, taken + 1));
                    (p, n) = (after_star, taken + 1);
                }
            }
        }
        pattern[p..].iter().all(|&b| b == b'*')
    }
}

/// The index after the UTF-8 character that starts at `index`.
fn next_character(text: &[u8], index: usize) -> usize {
    let continues = |b: &&u8| **b & 0b1100_0000 == 0b1000_0000;
    index + 1 + text[index + 1..].iter().take_while(continues).count()
}

impl fmt::Display for Glob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_glob_matches_whole_names() {
        for (pattern, name, expected) in [
            ("*", "", true),
            ("", "", true),
            ("", "a", false),
            ("read_*", "read_file", true),
            ("read_*", "read", false),
            ("read_*", "unread_file", false),
            ("*_file", "read_file", true),
            ("*file*", "profile_get", true),
            ("a*b*c", "axxbxxbc", true),
            ("a*b*c", "axxbxxb", false),
            ("?", "é", true),
            ("??", "é", false),
            ("a.b", "axb", false),
            ("**", "anything", true),
        ] {
            assert_eq!(Glob::new(pattern).matches(name), expected, "{pattern} {name}");
        }
    }

    #[test]
    fn a_hostile_pattern_is_matched_quickly() {
        let pattern = Glob::new("*a".repeat(200));
        assert!(!pattern.matches(&"a".repeat(199)));
    }
}
