/// The longest name of a user, of a group or of an access token, in bytes.
pub const NAME_BYTES: usize = 128;

/// Whether a text may be such a name.
pub fn is_plain_name(text: &str) -> bool {
    (1..=NAME_BYTES).contains(&text.len())
        && text.trim() == text
        && !text.contains(char::is_control)
}
