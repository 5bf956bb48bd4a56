//! What is the same for all tokens and for the people who hold them.

/// The longest name of a token or its user, in bytes.
pub const TOKEN_NAME_BYTES: usize = 128;

/// Tells gateways that run to read the tokens again.
pub(crate) const CHANGED: &str = "UPDATE access_token_changes SET changes = changes + 1";

/// Whether a text may be the name of a token or of a user.
pub(crate) fn is_plain_name(text: &str) -> bool {
    (1..=TOKEN_NAME_BYTES).contains(&text.len())
        && text.trim() == text
        && !text.chars().any(char::is_control)
}
