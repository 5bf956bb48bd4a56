use sqlx::Row as _;
use sqlx::postgres::PgRow;

/// A value that the server wrote as text, as it does for statements of ours without parameters.
pub(super) fn text(row: &PgRow, at: usize) -> Option<&str> {
    row.try_get_raw(at).ok()?.as_str().ok()
}
