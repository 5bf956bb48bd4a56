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
        self.consumes(name, |_| true)
    }

    /// Whether every text that `other` matches is matched by this pattern. It may miss that where
    /// only several wildcards together make it so, and never claims it wrongly.
    pub fn covers(&self, other: &Self) -> bool {
        // A star stands for any run of characters, so only a star can take it.
        self.consumes(&other.0, |byte| byte != b'*')
    }

    /// Whether any text is matched by both patterns.
    pub fn meets(&self, other: &Self) -> bool {
        let own: Vec<char> = self.0.chars().collect();
        let others: Vec<char> = other.0.chars().collect();
        // Whether the rests of both patterns from a pair of places meet, for one place of our own
        // at a time, from the end.
        let mut behind = vec![false; others.len() + 1];
        for at in (0..=own.len()).rev() {
            let mut row = vec![false; others.len() + 1];
            for other in (0..=others.len()).rev() {
                let (one, two) = (own.get(at), others.get(other));
                row[other] = match (one, two) {
                    (None, None) => true,
                    (Some('*'), None) => behind[other],
                    (Some('*'), Some(_)) => behind[other] || row[other + 1],
                    (None, Some('*')) => row[other + 1],
                    (Some(_), Some('*')) => row[other + 1] || behind[other],
                    (Some(one), Some(two)) => {
                        (one == two || *one == '?' || *two == '?') && behind[other + 1]
                    }
                    (None, Some(_)) | (Some(_), None) => false,
                };
            }
            behind = row;
        }
        behind[0]
    }

    /// Whether the pattern matches a text of which a `?` may stand for the characters that begin
    /// with these bytes.
    fn consumes(&self, name: &str, is_one: impl Fn(u8) -> bool) -> bool {
        let (pattern, name) = (self.0.as_bytes(), name.as_bytes());
        let (mut p, mut n) = (0, 0);
        let mut retry: Option<(usize, usize)> = None;
        while n < name.len() {
            match pattern.get(p) {
                Some(b'*') => {
                    retry = Some((p + 1, n));
                    p += 1;
                }
                Some(b'?') if is_one(name[n]) => {
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
    fn a_pattern_covers_what_it_matches_all_of() {
        for (pattern, other, expected) in [
            ("*", "mail__*", true),
            ("**", "*", true),
            ("mail__*", "mail__read_*", true),
            ("mail__*", "mail_*", false),
            ("mail__read_*", "mail__*", false),
            ("a?", "a?", true),
            ("a?", "a*", false),
            ("a*", "a?", true),
            ("?*", "*", false),
            ("*b", "a*b", true),
            ("ab", "a?", false),
        ] {
            assert_eq!(Glob::new(pattern).covers(&Glob::new(other)), expected, "{pattern} {other}");
        }
    }

    #[test]
    fn two_patterns_meet_where_one_text_matches_both() {
        for (one, other, expected) in [
            ("*", "", true),
            ("mail__*", "mail__send", true),
            ("mail__*", "m*d", true),
            ("mail__*", "drive__*", false),
            ("*_read", "mail__*", true),
            ("a?c", "ab*", true),
            ("a?c", "ab", false),
            ("?", "*é", true),
            ("a*b", "b*a", false),
            ("*a", "*b", false),
        ] {
            let (one, other) = (Glob::new(one), Glob::new(other));
            assert_eq!(one.meets(&other), expected, "{one} {other}");
            assert_eq!(other.meets(&one), expected, "{other} {one}");
        }
    }

    #[test]
    fn a_hostile_pattern_is_matched_quickly() {
        let pattern = Glob::new("*a".repeat(200));
        assert!(!pattern.matches(&"a".repeat(199)));
    }
}
