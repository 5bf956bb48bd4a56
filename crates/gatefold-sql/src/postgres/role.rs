//! What a role could do beyond reading.

use std::sync::Arc;
use std::time::Duration;

use sqlx::postgres::PgRow;
use tokio::time::timeout;

use super::connections::Connections;
use super::errors::Statement;
use super::privileges::{REFUSED, refused_powers};
use super::session::TransactionMode;
use super::texts::text;
use crate::{DatabaseError, Dialect, Privilege, Role};

/// The most schemas that the statements for a better role name.
const MAX_SCHEMAS: usize = 20;

/// What a role has of its own, one row.
const OWN: &str = "\
    SELECT session_user, pg_catalog.current_setting('server_version'), \
    pg_catalog.current_database(), r.rolcreaterole, r.rolbypassrls, r.rolreplication, \
    r.rolcreatedb, pg_catalog.has_database_privilege(pg_catalog.current_database(), 'CREATE'), \
    (SELECT pg_catalog.count(*) FROM pg_catalog.pg_namespace AS n \
     WHERE n.nspname !~ '^pg_' AND n.nspname <> 'information_schema' \
     AND pg_catalog.has_schema_privilege(n.oid, 'CREATE')), \
    (SELECT pg_catalog.count(*) FROM pg_catalog.pg_class AS c \
     JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace \
     WHERE c.relkind IN ('r', 'p', 'v', 'f') \
     AND n.nspname !~ '^pg_' AND n.nspname <> 'information_schema' \
     AND (pg_catalog.has_table_privilege(c.oid, 'INSERT, UPDATE, DELETE, TRUNCATE') \
     OR pg_catalog.has_any_column_privilege(c.oid, 'INSERT, UPDATE'))) \
    FROM pg_catalog.pg_roles AS r WHERE r.rolname = session_user";

/// The predefined roles that it is a member of and that do more than read.
const MEMBERSHIPS: &str = "\
    SELECT r.rolname FROM pg_catalog.pg_roles AS r \
    WHERE r.rolname IN ('pg_write_all_data', 'pg_signal_backend', 'pg_create_subscription', \
    'pg_maintain', 'pg_checkpoint') AND pg_catalog.pg_has_role(session_user, r.oid, 'MEMBER') \
    ORDER BY r.rolname DESC";

const SCHEMAS: &str = "\
    SELECT n.nspname FROM pg_catalog.pg_namespace AS n \
    WHERE n.nspname !~ '^pg_' AND n.nspname <> 'information_schema' \
    AND EXISTS (SELECT FROM pg_catalog.pg_class AS c WHERE c.relnamespace = n.oid \
    AND c.relkind IN ('r', 'p', 'v', 'm', 'f')) ORDER BY n.nspname";

pub(super) async fn read(
    connections: &Arc<Connections>,
    limit: Duration,
) -> Result<Role, DatabaseError> {
    let mut lease = connections.begin(TransactionMode::Read, limit).await?;
    let read = async {
        let refused = lease.run(REFUSED).await?;
        let own = lease.run(OWN).await?;
        let memberships = lease.run(MEMBERSHIPS).await?;
        Ok((refused, own, memberships, lease.run(SCHEMAS).await?))
    };
    let read = timeout(limit, read).await.map_err(|_elapsed| DatabaseError::Timeout(limit))?;
    let (refused, own, memberships, schemas) =
        read.map_err(|error| Statement::ours(limit).error(error))?;
    lease.end().await;

    let own = own.first();
    let say = |at| own.and_then(|row| text(row, at)).unwrap_or_default();
    let powers = refused_powers(&refused);
    let is_superuser = refused.iter().any(|row| text(row, 1) == Some("t"));
    let mut privileges: Vec<_> =
        powers.into_iter().map(|text| Privilege { text, is_refused: true }).collect();
    if !is_superuser {
        let memberships = memberships.iter().filter_map(|row| text(row, 0));
        let lesser = own.map(own_powers).unwrap_or_default();
        let lesser = memberships.map(membership_power).chain(lesser);
        privileges.extend(lesser.map(|text| Privilege { text, is_refused: false }));
    }
    let schemas: Vec<_> = schemas.iter().filter_map(|row| text(row, 0)).collect();
    Ok(Role {
        name: say(0).to_owned(),
        server: format!("PostgreSQL {}", say(1)),
        privileges,
        better: better(say(2), &schemas),
    })
}

fn membership_power(role: &str) -> String {
    let power = match role {
        "pg_write_all_data" => "write every table",
        "pg_signal_backend" => "end the statements of other roles",
        "pg_create_subscription" => "make subscriptions",
        "pg_maintain" => "maintain every table",
        _ => "force checkpoints",
    };
    format!("{power} (`{role}`)")
}

/// What a row of [`OWN`] tells, the gravest first.
fn own_powers(row: &PgRow) -> Vec<String> {
    let flags = [
        (3, "make and change roles (`CREATEROLE`)"),
        (4, "pass by row security (`BYPASSRLS`)"),
        (5, "copy the whole server (`REPLICATION`)"),
        (6, "make databases (`CREATEDB`)"),
        (7, "make schemas in the database (`CREATE`)"),
    ];
    let flags = flags.iter().filter(|(at, _)| text(row, *at) == Some("t"));
    let mut powers: Vec<String> = flags.map(|(_, power)| (*power).to_owned()).collect();
    let count = |at| text(row, at).and_then(|text| text.parse::<u64>().ok()).unwrap_or(0);
    let counted =
        |count: u64, noun: &str| format!("{count} {noun}{}", if count == 1 { "" } else { "s" });
    if count(9) > 0 {
        powers.push(format!("write {}", counted(count(9), "table")));
    }
    if count(8) > 0 {
        powers.push(format!("make tables in {}", counted(count(8), "schema")));
    }
    powers
}

fn better(database: &str, schemas: &[&str]) -> Vec<String> {
    let quoted = |name| Dialect::Postgres.quoted(name);
    let mut lines = vec![
        "CREATE ROLE gatefold_reader LOGIN PASSWORD '...';".to_owned(),
        "ALTER ROLE gatefold_reader SET default_transaction_read_only = on;".to_owned(),
        format!("GRANT CONNECT ON DATABASE {} TO gatefold_reader;", quoted(database)),
    ];
    for schema in schemas.iter().take(MAX_SCHEMAS) {
        let schema = quoted(schema);
        lines.push(format!("GRANT USAGE ON SCHEMA {schema} TO gatefold_reader;"));
        lines.push(format!("GRANT SELECT ON ALL TABLES IN SCHEMA {schema} TO gatefold_reader;"));
    }
    lines
}
