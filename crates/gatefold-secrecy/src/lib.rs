//! What in a name, a value or a text is a secret, and how to mask it.
//!
//! Everything that needs this uses the same rules: an import that takes secrets out of a client's
//! file, learning that must not store one, results that must not show one. When in doubt, a value
//! is a secret: a false alarm costs a reference or a word, a miss is a leak. Everything here is a
//! function of its input, and reads at most a named length of text. This crate must not know any other
//! of ours.

mod harmless;
mod known;
mod names;
mod redaction;
mod shapes;
mod texts;

pub use known::{KnownSecrets, SecretValues};
pub use names::{NameClass, is_secret_noun};
pub use redaction::{MASK, mask_values, redact};
pub use shapes::{is_path, is_random, is_switch, is_token, is_token_in_any_case, is_uuid};
pub use texts::{SecretSpan, after_scheme, has_secret, is_connection_string, secrets_in};

/// Replaces every byte of a reference in a text, so that offsets stay the same. The value behind a
/// reference is not a secret of the text.
pub const REFERENCE: char = '\u{1a}';

/// Why a value counts as a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    /// Its name says so: `GITHUB_TOKEN`.
    Name,
    /// It says so itself: `Bearer ...`.
    Scheme,
    /// It is not plainly harmless like words, numbers, paths and URLs.
    Shape,
}

/// Whether the value of a variable is secret. A reference is not.
pub fn is_secret(name: &str, value: &str) -> bool {
    reason(name, value).is_some()
}

/// Why the value of a variable counts as a secret, if it does.
pub fn reason(name: &str, value: &str) -> Option<Reason> {
    let bare = after_scheme(value.trim_start());
    if bare.is_empty() || is_reference(bare) {
        return None;
    }
    match NameClass::of(name) {
        NameClass::Secret => (!is_plain_for_a_secret(name, bare)).then_some(Reason::Name),
        NameClass::Id if is_uuid(value) => None,
        NameClass::Id | NameClass::Plain | NameClass::Unknown if bare.len() < value.len() => {
            Some(Reason::Scheme)
        }
        NameClass::Id | NameClass::Plain | NameClass::Unknown => {
            (!harmless::is_harmless(value)).then_some(Reason::Shape)
        }
    }
}

/// Whether everything in a text that matters is a reference.
pub fn is_reference(text: &str) -> bool {
    // In this order: most texts have a letter early and no reference at all.
    !text.contains(char::is_alphanumeric) && text.contains(REFERENCE)
}

/// Values that may have a secret's name without being secret: a switch, a limit, the path of a key.
fn is_plain_for_a_secret(name: &str, value: &str) -> bool {
    let upper = name.to_uppercase();
    let is_number = value.bytes().all(|b| b.is_ascii_digit());
    let is_place = upper == "PWD"
        || upper == "OLDPWD"
        || upper.contains("CREDENTIALS")
        || upper.contains("KEY");
    let has_folders = value.matches(['/', '\\']).count() > 1;
    is_switch(value)
        || (is_number && names::is_quantity(name))
        || (is_place
            && is_path(value)
            && shapes::is_plain_path(value)
            && (has_folders || upper == "PWD"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_value_says_why_it_is_one() {
        for (name, value, expected) in [
            ("GITHUB_TOKEN", "abc", Some(Reason::Name)),
            ("HEADER", "Bearer abc", Some(Reason::Scheme)),
            ("X", "ghp_0123456789abcdef", Some(Reason::Shape)),
            ("REF", "550e8400-e29b-41d4-a716-446655440000", Some(Reason::Shape)),
            ("CLIENT_ID", "550e8400-e29b-41d4-a716-446655440000", None),
            ("REGION", "asia-southeast1", None),
            ("API_KEY", "\u{1a}\u{1a}\u{1a}", None),
            ("MAX_TOKENS", "4096", None),
        ] {
            assert_eq!(reason(name, value), expected, "{name}={value}");
        }
    }
}
