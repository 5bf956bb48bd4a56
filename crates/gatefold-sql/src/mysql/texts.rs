//! Answers to Gatefold's own statements, which the server sends as texts.

use sqlx::Row as _;
use sqlx::mysql::MySqlRow;

/// A value, if there is one. Names and comments come as UTF-8.
pub(super) fn text(row: &MySqlRow, at: usize) -> Option<String> {
    let value: Option<&[u8]> = row.try_get_unchecked(at).ok()?;
    Some(String::from_utf8_lossy(value?).into_owned())
}

pub(super) fn number(row: &MySqlRow, at: usize) -> Option<u64> {
    text(row, at)?.parse().ok()
}
