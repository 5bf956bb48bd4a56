//! Whether somebody has made a second thing of a name that the guard takes for what is built in.

use std::collections::BTreeSet;

use sqlx::postgres::PgRow;

use super::texts::text;
use crate::DatabaseError;
use crate::guard::PathNames;

/// A query for those names that a schema of the search path holds and that no extension made. Whoever may
/// install an extension is trusted with what it makes.
pub(super) fn foreign_names(names: &PathNames) -> String {
    let own = |catalogue: &str, class: &str, is_own: &str| {
        format!(
            "FROM pg_catalog.{catalogue} AS own JOIN pg_catalog.pg_namespace AS n ON n.oid = own.{class}namespace \
             WHERE own.{class}name = ANY({is_own}::name[]) AND n.nspname <> 'pg_catalog' \
             AND n.nspname = ANY(pg_catalog.current_schemas(false)) \
             AND NOT EXISTS (SELECT FROM pg_catalog.pg_depend AS d \
             WHERE d.classid = 'pg_catalog.{catalogue}'::regclass AND d.objid = own.oid AND d.deptype = 'e')"
        )
    };
    let functions = own("pg_proc", "pro", &array(&names.functions));
    let operators = own("pg_operator", "opr", &array(&names.operators));
    let types = own("pg_type", "typ", &array(&names.types));
    // A table makes a type of its name, which nothing is cast to.
    format!(
        "SELECT 'function', own.proname::text {functions} \
         UNION ALL SELECT 'operator', own.oprname::text {operators} \
         UNION ALL SELECT 'type', own.typname::text {types} AND own.typtype <> 'c' \
         AND NOT EXISTS (SELECT FROM pg_catalog.pg_type AS built_in \
         WHERE built_in.typname = own.typname AND built_in.typnamespace = 'pg_catalog'::regnamespace) LIMIT 1"
    )
}

/// Fails with what rows of [`foreign_names`] say.
pub(super) fn refuse(rows: &[PgRow]) -> Result<(), DatabaseError> {
    let Some((kind, name)) = rows.first().and_then(|row| Some((text(row, 0)?, text(row, 1)?)))
    else {
        return Ok(());
    };
    let hint = match kind {
        "function" => format!("write `pg_catalog.{name}(...)` if it is a built-in one"),
        "operator" => "write it with a function, or leave it out".to_owned(),
        _ => "cast to another type".to_owned(),
    };
    Err(DatabaseError::Statement {
        message: format!(
            "the {kind} `{name}` is not allowed here: somebody has made one of this name in this database, and it \
             may run instead of the known one"
        ),
        code: None,
        position: None,
        hint: Some(hint),
        missing: None,
    })
}

/// An array as a literal, which reads the same whatever `standard_conforming_strings` is.
fn array(names: &BTreeSet<String>) -> String {
    let quoted = |name: &String| format!("\"{}\"", name.replace('\\', "\\\\").replace('"', "\\\""));
    let names: Vec<_> = names.iter().map(quoted).collect();
    super::session::literal(&format!("{{{}}}", names.join(",")))
}
