//! A server's tables, from `information_schema`.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use sqlx::mysql::MySqlRow;
use sqlx::{AssertSqlSafe, Executor as _};

use super::bounds::ServerFacts;
use super::connections::{MySqlConnections, MySqlLease};
use super::errors::own_failure;
use super::merged;
use super::texts::{number, text};
use super::views::{self, Definition};
use crate::{
    Column, DatabaseError, Dialect, ForeignKey, Index, Schema, Table, TableKind, TableName,
};

/// The most keys' and indexes' columns that are read.
const MAX_KEY_COLUMNS: usize = 500_000;

/// The most views whose definitions are read.
const MAX_DEFINITIONS: usize = 2_000;

/// The most tables of which the rows are estimated: for that, MariaDB opens each.
const MAX_ESTIMATED: usize = 2_000;

/// Engines whose tables show rows of other tables.
const ELSEWHERE: [&str; 4] = [MERGE, "CONNECT", "FEDERATED", "SPIDER"];

/// The engine of tables that unite others.
const MERGE: &str = "MRG_MyISAM";

type Tables = BTreeMap<TableName, Table>;

pub(super) async fn read(
    connections: &Arc<MySqlConnections>,
    timeout: Duration,
) -> Result<Schema, DatabaseError> {
    let mut lease = connections.reading(timeout, None).await?;
    let facts = connections.facts().cloned().unwrap_or_default();
    let schema = read_in_transaction(&mut lease, &facts).await?;
    lease.give_back().await;
    Ok(schema)
}

async fn read_in_transaction(
    lease: &mut MySqlLease,
    facts: &ServerFacts,
) -> Result<Schema, DatabaseError> {
    // The connected database, or else all that are nobody's but the server's.
    let scope = match facts.database {
        Some(_) => "TABLE_SCHEMA = DATABASE()",
        None => "TABLE_SCHEMA NOT IN ('information_schema', 'mysql', 'performance_schema', 'sys')",
    };
    let mut tables = tables(lease, scope).await?;
    let tables_left_out = tables.len().saturating_sub(Schema::MAX_TABLES);
    if let Some((first_left_out, _)) = tables.iter().nth(Schema::MAX_TABLES) {
        let first_left_out = first_left_out.clone();
        tables.split_off(&first_left_out);
    }
    add_columns(lease, scope, facts, &mut tables).await?;
    // A table of which no column may be read is none for this user.
    tables.retain(|_, table| !table.columns.is_empty());
    add_estimates(lease, scope, &mut tables).await?;
    add_indexes(lease, scope, &mut tables).await?;
    add_foreign_keys(lease, scope, &mut tables).await?;
    add_merged(lease, scope, &mut tables).await?;
    let definitions = view_definitions(lease, scope, &tables).await?;
    let schema = Schema {
        version: facts.server(),
        default_schemas: facts.database.iter().cloned().collect(),
        tables: tables.into_values().collect(),
        tables_left_out,
        ..Schema::default()
    };
    if definitions.is_empty() {
        return Ok(schema);
    }
    let dialect = facts.dialect;
    let filled = move || views::fill_in(dialect, schema, definitions);
    let filled = tokio::task::spawn_blocking(filled).await;
    filled.map_err(|error| DatabaseError::Failed(error.into()))
}

async fn tables(lease: &mut MySqlLease, scope: &str) -> Result<Tables, DatabaseError> {
    let sql = format!(
        "SELECT TABLE_SCHEMA, TABLE_NAME, TABLE_TYPE, TABLE_COMMENT, ENGINE \
         FROM information_schema.TABLES WHERE {scope} AND TABLE_TYPE <> 'SEQUENCE' LIMIT {}",
        // Enough to say how many are left out, and no more.
        Schema::MAX_TABLES * 5
    );
    let mut tables = Tables::new();
    for row in rows(lease, sql).await? {
        let Some(name) = table_name(&row, 0) else { continue };
        let is_view = text(&row, 2).is_some_and(|kind| kind.contains("VIEW"));
        // What keeps its rows elsewhere shows a table that may be another one of this server.
        let is_elsewhere = text(&row, 4).is_some_and(|engine| {
            ELSEWHERE.iter().any(|known| known.eq_ignore_ascii_case(&engine))
        });
        let comment = text(&row, 3).filter(|text| !text.is_empty() && !is_view);
        let table = Table {
            name: name.clone(),
            kind: if is_view { TableKind::View } else { TableKind::Table },
            comment,
            rows: None,
            columns: Vec::new(),
            primary_key: Vec::new(),
            foreign_keys: Vec::new(),
            indexes: Vec::new(),
            reads: if is_view || is_elsewhere { None } else { Some(Vec::new()) },
            parts: Vec::new(),
            calls: Vec::new(),
            is_full_text: false,
        };
        tables.insert(name, table);
    }
    Ok(tables)
}

async fn add_estimates(
    lease: &mut MySqlLease,
    scope: &str,
    tables: &mut Tables,
) -> Result<(), DatabaseError> {
    if tables.len() > MAX_ESTIMATED {
        return Ok(());
    }
    let sql = format!(
        "SELECT TABLE_SCHEMA, TABLE_NAME, TABLE_ROWS FROM information_schema.TABLES \
         WHERE {scope} AND TABLE_TYPE NOT LIKE '%VIEW%' LIMIT {MAX_ESTIMATED}"
    );
    for row in rows(lease, sql).await? {
        let table = table_name(&row, 0).and_then(|name| tables.get_mut(&name));
        if let Some(table) = table {
            table.rows = number(&row, 2);
        }
    }
    Ok(())
}

async fn add_columns(
    lease: &mut MySqlLease,
    scope: &str,
    facts: &ServerFacts,
    tables: &mut Tables,
) -> Result<(), DatabaseError> {
    let sql = format!(
        "SELECT TABLE_SCHEMA, TABLE_NAME, COLUMN_NAME, COLUMN_TYPE, IS_NULLABLE, COLUMN_DEFAULT, \
         EXTRA, COLUMN_COMMENT, GENERATION_EXPRESSION, DATA_TYPE \
         FROM information_schema.COLUMNS \
         WHERE {scope} AND FIND_IN_SET('select', REPLACE(PRIVILEGES, ' ', '')) \
         ORDER BY TABLE_SCHEMA, TABLE_NAME, ORDINAL_POSITION LIMIT {}",
        Schema::MAX_COLUMNS
    );
    for row in rows(lease, sql).await? {
        let table = table_name(&row, 0).and_then(|name| tables.get_mut(&name));
        let Some(table) = table else { continue };
        let extra = text(&row, 6).unwrap_or_default().to_uppercase();
        let generated = ["VIRTUAL GENERATED", "STORED GENERATED", "PERSISTENT GENERATED"]
            .iter()
            .any(|word| extra.contains(word));
        let default = if generated { text(&row, 8) } else { default(&row, facts, &extra) };
        table.columns.push(Column {
            name: text(&row, 2).unwrap_or_default(),
            column_type: text(&row, 3).unwrap_or_default(),
            nullable: text(&row, 4).as_deref() == Some("YES"),
            default,
            generated,
            comment: text(&row, 7).filter(|text| !text.is_empty()),
        });
    }
    Ok(())
}

/// A default as an expression. MariaDB writes one; MySQL writes the value without its quotes.
fn default(row: &MySqlRow, facts: &ServerFacts, extra: &str) -> Option<String> {
    let default = text(row, 5)?;
    if facts.dialect == Dialect::MariaDb {
        return Some(default).filter(|default| default != "NULL");
    }
    let data_type = text(row, 9).unwrap_or_default().to_lowercase();
    let is_number = ["int", "decimal", "float", "double", "bit", "year"]
        .iter()
        .any(|kind| data_type.contains(kind));
    if is_number || extra.contains("DEFAULT_GENERATED") {
        return Some(default);
    }
    Some(format!("'{}'", default.replace('\'', "''")))
}

async fn add_indexes(
    lease: &mut MySqlLease,
    scope: &str,
    tables: &mut Tables,
) -> Result<(), DatabaseError> {
    let sql = format!(
        "SELECT TABLE_SCHEMA, TABLE_NAME, INDEX_NAME, COLUMN_NAME, NON_UNIQUE \
         FROM information_schema.STATISTICS WHERE {scope} \
         ORDER BY TABLE_SCHEMA, TABLE_NAME, INDEX_NAME, SEQ_IN_INDEX LIMIT {MAX_KEY_COLUMNS}"
    );
    for row in rows(lease, sql).await? {
        let table = table_name(&row, 0).and_then(|name| tables.get_mut(&name));
        let (Some(table), Some(name)) = (table, text(&row, 2)) else { continue };
        // Only an index over an expression has none.
        let column = text(&row, 3).unwrap_or_else(|| "(expression)".to_owned());
        if name == "PRIMARY" {
            table.primary_key.push(column);
            continue;
        }
        if table.indexes.last().is_none_or(|last| last.name != name) {
            let unique = text(&row, 4).as_deref() == Some("0");
            table.indexes.push(Index { name, columns: Vec::new(), unique });
        }
        if let Some(index) = table.indexes.last_mut() {
            index.columns.push(column);
        }
    }
    Ok(())
}

async fn add_foreign_keys(
    lease: &mut MySqlLease,
    scope: &str,
    tables: &mut Tables,
) -> Result<(), DatabaseError> {
    let sql = format!(
        "SELECT TABLE_SCHEMA, TABLE_NAME, CONSTRAINT_NAME, COLUMN_NAME, REFERENCED_TABLE_SCHEMA, \
         REFERENCED_TABLE_NAME, REFERENCED_COLUMN_NAME FROM information_schema.KEY_COLUMN_USAGE \
         WHERE {scope} AND REFERENCED_TABLE_NAME IS NOT NULL \
         ORDER BY TABLE_SCHEMA, TABLE_NAME, CONSTRAINT_NAME, ORDINAL_POSITION \
         LIMIT {MAX_KEY_COLUMNS}"
    );
    let mut last = None;
    for row in rows(lease, sql).await? {
        let (Some(name), Some(target)) = (table_name(&row, 0), table_name(&row, 4)) else {
            continue;
        };
        let Some(table) = tables.get_mut(&name) else { continue };
        let constraint = Some((name, text(&row, 2)));
        if constraint != last {
            let key = ForeignKey { columns: Vec::new(), table: target, references: Vec::new() };
            table.foreign_keys.push(key);
            last = constraint;
        }
        if let (Some(key), Some(from), Some(to)) =
            (table.foreign_keys.last_mut(), text(&row, 3), text(&row, 6))
        {
            key.columns.push(from);
            key.references.push(to);
        }
    }
    Ok(())
}

/// What tables unite that unite others.
async fn add_merged(
    lease: &mut MySqlLease,
    scope: &str,
    tables: &mut Tables,
) -> Result<(), DatabaseError> {
    let sql = format!(
        "SELECT TABLE_SCHEMA, TABLE_NAME FROM information_schema.TABLES \
         WHERE {scope} AND ENGINE = '{MERGE}' LIMIT {MAX_DEFINITIONS}"
    );
    for row in rows(lease, sql).await? {
        let Some(name) = table_name(&row, 0) else { continue };
        let Some(table) = tables.get_mut(&name) else { continue };
        let quoted = [&name.schema, &name.name].map(|part| Dialect::MySql.quoted(part)).join(".");
        // One whose definition this user may not see stays without an answer.
        let made = rows(lease, format!("SHOW CREATE TABLE {quoted}")).await.unwrap_or_default();
        let made = made.first().and_then(|row| text(row, 1));
        table.reads = made.and_then(|made| merged::tables(&made, &name.schema));
    }
    Ok(())
}

/// The definitions of the views, as far as the user may see them.
async fn view_definitions(
    lease: &mut MySqlLease,
    scope: &str,
    tables: &Tables,
) -> Result<Vec<Definition>, DatabaseError> {
    if tables.values().all(|table| table.reads.is_some()) {
        return Ok(Vec::new());
    }
    let sql = format!(
        "SELECT TABLE_SCHEMA, TABLE_NAME, VIEW_DEFINITION FROM information_schema.VIEWS \
         WHERE {scope} LIMIT {MAX_DEFINITIONS}"
    );
    let rows = rows(lease, sql).await?;
    Ok(rows.iter().filter_map(|row| Some((table_name(row, 0)?, text(row, 2)?))).collect())
}

async fn rows(lease: &mut MySqlLease, sql: String) -> Result<Vec<MySqlRow>, DatabaseError> {
    let query = sqlx::raw_sql(AssertSqlSafe(sql));
    lease.connection()?.fetch_all(query).await.map_err(own_failure)
}

/// The name in two columns of a row, the first at `at`.
fn table_name(row: &MySqlRow, at: usize) -> Option<TableName> {
    Some(TableName::new(text(row, at)?, text(row, at + 1)?))
}
