//! A file's tables, as SQLite's own pragmas tell them.

use std::collections::HashMap;
use std::sync::Arc;

use sqlx::sqlite::{LockedSqliteHandle, SqliteRow};
use sqlx::{Row as _, SqliteConnection};

use super::authorizer::{self, InspectedColumn};
use super::errors::own_failure;
use super::sessions::{SessionPool, SqliteLease};
use super::virtual_tables;
use super::watch::StatementWatch;
use crate::{
    Column, DatabaseError, Dialect, ForeignKey, Index, Schema, Table, TableKind, TableName,
};

/// The only schema of a file; nothing is ever attached to it.
const MAIN: &str = "main";

/// What an index over something that is no column reads.
const EXPRESSION: &str = "(expression)";

/// Functions that are read like tables, which hold nothing of the file.
const TABLE_FUNCTIONS: &[&str] = &["json_each", "json_tree"];

/// The most keys' and indexes' columns that are read of one file.
const MAX_KEY_COLUMNS: i64 = 500_000;

/// SQLite's own tables and those in which virtual tables keep their data are left out.
const TABLES: &str = "SELECT name, type FROM pragma_table_list \
     WHERE schema = 'main' AND type IN ('table', 'view', 'virtual') \
     AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name";

const COLUMNS: &str = "SELECT l.name, c.name, c.type, c.\"notnull\", c.dflt_value, c.pk, c.hidden \
     FROM pragma_table_list l, pragma_table_xinfo(l.name, 'main') c \
     WHERE l.schema = 'main' AND l.type = 'table' \
     AND l.name NOT LIKE 'sqlite\\_%' ESCAPE '\\' LIMIT ?";

const FOREIGN_KEYS: &str = "SELECT l.name, f.id, f.\"table\", f.\"from\", f.\"to\" \
     FROM pragma_table_list l, pragma_foreign_key_list(l.name, 'main') f \
     WHERE l.schema = 'main' AND l.type = 'table' ORDER BY l.name, f.id, f.seq LIMIT ?";

const INDEXES: &str = "SELECT l.name, i.name, i.\"unique\", x.name \
     FROM pragma_table_list l, pragma_index_list(l.name, 'main') i, \
     pragma_index_xinfo(i.name, 'main') x \
     WHERE l.schema = 'main' AND l.type = 'table' AND x.key = 1 \
     ORDER BY l.name, i.name, x.seqno LIMIT ?";

/// The statements that made virtual tables.
const VIRTUAL: &str = "SELECT s.name, s.sql FROM pragma_table_list l \
     JOIN sqlite_schema s ON s.name = l.name WHERE l.schema = 'main' AND l.type = 'virtual'";

const STATISTICS: &str = "SELECT tbl, max(CAST(stat AS INTEGER)) FROM sqlite_stat1 GROUP BY tbl";

/// A view or a virtual table, whose columns only a look at a statement tells.
struct Selection {
    columns: Vec<InspectedColumn>,
    reads: Option<Vec<TableName>>,
}

pub(super) async fn read(pool: &Arc<SessionPool>) -> Result<Schema, DatabaseError> {
    let mut lease = pool.reading().await?;
    // All of it is of one moment.
    lease.execute("BEGIN DEFERRED").await?;
    let schema = read_in_transaction(&mut lease).await;
    let at_rest = lease.check_at_rest();
    lease.give_back().await;
    at_rest.and(schema)
}

async fn read_in_transaction(lease: &mut SqliteLease) -> Result<Schema, DatabaseError> {
    let mut kinds: Vec<(String, String)> = Vec::new();
    for row in rows(lease.connection()?, TABLES, None).await? {
        kinds.push((text(&row, 0)?, text(&row, 1)?));
    }
    let tables_left_out = kinds.len().saturating_sub(Schema::MAX_TABLES);
    kinds.truncate(Schema::MAX_TABLES);
    let mut tables = stored_tables(lease.connection()?).await?;
    let selected = kinds.iter().filter(|(_, kind)| kind != "table");
    let mut selections =
        select_from(lease, selected.map(|(name, _)| name.clone()).collect()).await?;
    let mut virtual_reads = virtual_reads(lease.connection()?, &kinds).await?;
    let estimates = estimates(lease.connection()?).await?;
    let mut schema = Schema {
        version: format!("SQLite {}", authorizer::version()),
        default_schemas: vec![MAIN.to_owned()],
        tables: Vec::with_capacity(kinds.len()),
        tables_left_out,
        ..Schema::default()
    };
    for (name, kind) in kinds {
        let table = match kind.as_str() {
            "table" => tables.remove(&name),
            // One that cannot be selected from, such as a view of a table that is gone, is left out.
            other => selections.remove(&name).map(|selection| {
                let (reads, is_full_text) = virtual_reads.remove(&name).unwrap_or_default();
                let is_view = other == "view";
                let reads = if is_view { selection.reads } else { reads };
                Table { reads, is_full_text, ..selected_table(&name, is_view, selection.columns) }
            }),
        };
        if let Some(mut table) = table {
            table.rows = estimates.get(&name).copied();
            schema.tables.push(table);
        }
    }
    Ok(schema)
}

/// The tables with a storage of their own, with columns, keys and indexes.
async fn stored_tables(
    connection: &mut SqliteConnection,
) -> Result<HashMap<String, Table>, DatabaseError> {
    let mut tables: HashMap<String, Table> = HashMap::new();
    let mut keys: HashMap<String, Vec<(i64, String)>> = HashMap::new();
    let limit = i64::try_from(Schema::MAX_COLUMNS).unwrap_or(i64::MAX);
    for row in rows(connection, COLUMNS, Some(limit)).await? {
        let name = text(&row, 0)?;
        let column = Column {
            name: text(&row, 1)?,
            column_type: text(&row, 2)?.to_lowercase(),
            nullable: number(&row, 3)? == 0,
            default: row.try_get(4).map_err(own_failure)?,
            // SQLite marks generated columns with 2 or 3, and those that `*` leaves out with 1.
            generated: number(&row, 6)? > 1,
            comment: None,
        };
        let key = number(&row, 5)?;
        if key > 0 {
            keys.entry(name.clone()).or_default().push((key, column.name.clone()));
        }
        tables.entry(name.clone()).or_insert_with(|| empty_table(&name)).columns.push(column);
    }
    for (name, mut key) in keys {
        key.sort();
        if let Some(table) = tables.get_mut(&name) {
            table.primary_key = key.into_iter().map(|(_, column)| column).collect();
        }
    }
    add_foreign_keys(connection, &mut tables).await?;
    add_indexes(connection, &mut tables).await?;
    Ok(tables)
}

async fn add_foreign_keys(
    connection: &mut SqliteConnection,
    tables: &mut HashMap<String, Table>,
) -> Result<(), DatabaseError> {
    let primary_keys: HashMap<String, Vec<String>> = tables
        .iter()
        .map(|(name, table)| (name.to_lowercase(), table.primary_key.clone()))
        .collect();
    let mut last = None;
    for row in rows(connection, FOREIGN_KEYS, Some(MAX_KEY_COLUMNS)).await? {
        let (name, id, target) = (text(&row, 0)?, number(&row, 1)?, text(&row, 2)?);
        let (from, to): (String, Option<String>) =
            (text(&row, 3)?, row.try_get(4).map_err(own_failure)?);
        let Some(table) = tables.get_mut(&name) else { continue };
        let is_new = last.replace((name.clone(), id)) != Some((name, id));
        if is_new {
            let table_name = TableName::new(MAIN, &target);
            let key = ForeignKey { columns: Vec::new(), table: table_name, references: Vec::new() };
            table.foreign_keys.push(key);
        }
        let Some(key) = table.foreign_keys.last_mut() else { continue };
        // Without a column, the other table's primary key is meant.
        let implied = primary_keys.get(&target.to_lowercase());
        let implied = implied.and_then(|key_there| key_there.get(key.columns.len()).cloned());
        key.references.extend(to.or(implied));
        key.columns.push(from);
    }
    for table in tables.values_mut() {
        table.foreign_keys.retain(|key| key.columns.len() == key.references.len());
        // SQLite numbers them from the last that was written to the first.
        table.foreign_keys.reverse();
    }
    Ok(())
}

async fn add_indexes(
    connection: &mut SqliteConnection,
    tables: &mut HashMap<String, Table>,
) -> Result<(), DatabaseError> {
    for row in rows(connection, INDEXES, Some(MAX_KEY_COLUMNS)).await? {
        let (name, index, unique) = (text(&row, 0)?, text(&row, 1)?, number(&row, 2)? != 0);
        let column: Option<String> = row.try_get(3).map_err(own_failure)?;
        let Some(table) = tables.get_mut(&name) else { continue };
        if table.indexes.last().is_none_or(|last| last.name != index) {
            table.indexes.push(Index { name: index, columns: Vec::new(), unique });
        }
        if let Some(index) = table.indexes.last_mut() {
            index.columns.push(column.unwrap_or_else(|| EXPRESSION.to_owned()));
        }
    }
    Ok(())
}

/// How many rows each table had when `ANALYZE` last counted them.
async fn estimates(
    connection: &mut SqliteConnection,
) -> Result<HashMap<String, u64>, DatabaseError> {
    // Only `ANALYZE` makes this table.
    let exists = "SELECT name FROM sqlite_schema WHERE name = 'sqlite_stat1'";
    if rows(connection, exists, None).await?.is_empty() {
        return Ok(HashMap::new());
    }
    let mut estimates = HashMap::new();
    for row in rows(connection, STATISTICS, None).await? {
        if let Ok(count) = u64::try_from(number(&row, 1)?) {
            estimates.insert(text(&row, 0)?, count);
        }
    }
    Ok(estimates)
}

/// Looks at `SELECT * FROM` each of these, without running it.
async fn select_from(
    lease: &mut SqliteLease,
    names: Vec<String>,
) -> Result<HashMap<String, Selection>, DatabaseError> {
    lease
        .with_handle(move |handle, watch| {
            let look = |name: String| Some((name.clone(), selection(handle, watch, &name)?));
            names.into_iter().filter_map(look).collect()
        })
        .await
}

fn selection(
    handle: &mut LockedSqliteHandle<'_>,
    watch: &StatementWatch,
    name: &str,
) -> Option<Selection> {
    watch.note_reads();
    let sql = format!("SELECT * FROM {}", Dialect::Sqlite.quoted(name));
    let inspected = authorizer::inspect(handle, &sql);
    let reads = watch.noted_reads();
    // Those of views within are among them: SQLite resolves all of a statement at once.
    let reads = reads.map(|reads| {
        let others = reads.into_iter().filter(|read| {
            !read.eq_ignore_ascii_case(name) && !TABLE_FUNCTIONS.contains(&read.as_str())
        });
        others.map(|read| TableName::new(MAIN, read)).collect()
    });
    Some(Selection { columns: inspected.ok()?.columns, reads })
}

/// What virtual tables read, by their names, and whether they are full-text ones. None where it is not
/// known what they read.
async fn virtual_reads(
    connection: &mut SqliteConnection,
    kinds: &[(String, String)],
) -> Result<HashMap<String, (Option<Vec<TableName>>, bool)>, DatabaseError> {
    // A table is found under its own name, whatever the case that somebody wrote.
    let own: HashMap<String, &String> =
        kinds.iter().map(|(name, _)| (name.to_ascii_lowercase(), name)).collect();
    let mut found = HashMap::new();
    for row in rows(connection, VIRTUAL, None).await? {
        let (name, sql) = (text(&row, 0)?, text(&row, 1)?);
        let table = |read: String| {
            TableName::new(
                MAIN,
                own.get(&read.to_ascii_lowercase()).map_or(read, |own| (*own).clone()),
            )
        };
        let reads = virtual_tables::reads(&sql);
        let reads = reads.map(|reads| reads.into_iter().map(table).collect());
        found.insert(name, (reads, virtual_tables::is_full_text(&sql)));
    }
    Ok(found)
}

fn selected_table(name: &str, is_view: bool, columns: Vec<InspectedColumn>) -> Table {
    let columns = columns.into_iter().map(|column| Column {
        name: column.name,
        column_type: column.declared.unwrap_or_default().to_lowercase(),
        nullable: true,
        default: None,
        generated: false,
        comment: None,
    });
    Table {
        kind: if is_view { TableKind::View } else { TableKind::Table },
        columns: columns.collect(),
        ..empty_table(name)
    }
}

fn empty_table(name: &str) -> Table {
    Table {
        name: TableName::new(MAIN, name),
        kind: TableKind::Table,
        comment: None,
        rows: None,
        columns: Vec::new(),
        primary_key: Vec::new(),
        foreign_keys: Vec::new(),
        indexes: Vec::new(),
        reads: Some(Vec::new()),
        parts: Vec::new(),
        calls: Vec::new(),
        is_full_text: false,
    }
}

async fn rows(
    connection: &mut SqliteConnection,
    sql: &'static str,
    limit: Option<i64>,
) -> Result<Vec<SqliteRow>, DatabaseError> {
    let query = sqlx::query(sql);
    let query = if let Some(limit) = limit { query.bind(limit) } else { query };
    query.fetch_all(connection).await.map_err(own_failure)
}

fn text(row: &SqliteRow, at: usize) -> Result<String, DatabaseError> {
    row.try_get(at).map_err(own_failure)
}

fn number(row: &SqliteRow, at: usize) -> Result<i64, DatabaseError> {
    row.try_get(at).map_err(own_failure)
}
