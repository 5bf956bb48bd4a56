//! Powers that no source needs, for which a role is refused.

use sqlx::postgres::PgRow;

use super::texts::text;
use crate::DatabaseError;

/// The roles that make whoever has them able to do more than any source needs, by membership too: a
/// member can become them.
pub(super) const REFUSED: &str = "\
    SELECT session_user, r.rolsuper, r.rolname FROM pg_catalog.pg_roles AS r \
    WHERE (r.rolsuper OR r.rolname IN ('pg_read_server_files', 'pg_write_server_files', \
    'pg_execute_server_program')) AND (pg_catalog.pg_has_role(session_user, r.oid, 'MEMBER') \
    OR pg_catalog.pg_has_role(current_user, r.oid, 'MEMBER')) \
    ORDER BY r.rolsuper DESC, pg_catalog.strpos(r.rolname, 'execute') DESC, r.rolname DESC";

/// Fails with what `rows` of [`REFUSED`] say, if they say anything.
pub(super) fn refuse(rows: &[PgRow]) -> Result<(), DatabaseError> {
    let could = refused_powers(rows);
    let Some(role) = rows.first().and_then(|row| text(row, 0)).filter(|_| !could.is_empty()) else {
        return Ok(());
    };
    Err(DatabaseError::Privileged { role: role.to_owned(), could: could.join(", ") })
}

pub(super) fn refused_powers(rows: &[PgRow]) -> Vec<String> {
    // A superuser could do the rest anyway.
    if rows.iter().any(|row| text(row, 1) == Some("t")) {
        return vec!["do anything (it is a superuser or could become one)".to_owned()];
    }
    let power = |row: &PgRow| {
        let role = text(row, 2)?;
        let power = match role {
            "pg_execute_server_program" => "run programs on the server",
            "pg_write_server_files" => "write files of the server",
            _ => "read files of the server",
        };
        Some(format!("{power} (`{role}`)"))
    };
    rows.iter().filter_map(power).collect()
}
