//! Tables and columns, from the server's own catalogue.
//!
//! A few queries read all of it, each over the tables that the first one found, and their rows are
//! joined here: asking the server about each table by itself takes seconds for thousands.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use sqlx::postgres::PgRow;
use sqlx::postgres::types::Oid;
use sqlx::{PgConnection, Row as _};
use tokio::time::timeout;

use super::connections::Connections;
use super::errors::Statement;
use super::session::TransactionMode;
use crate::{
    Column, DatabaseError, ForeignKey, Index, Operator, OwnType, Routine, Schema, Table, TableKind,
    TableName, Volatility,
};

/// How long reading all of it may take.
const TIMEOUT: Duration = Duration::from_secs(60);

/// The most keys, the most indexes, the most parts and the most tables that views read, over all tables.
const MAX_PARTS: i64 = 200_000;

/// The most functions, and the most operators, that are not built in.
const MAX_ROUTINES: i64 = 20_000;

/// The most types of columns that somebody made.
const MAX_TYPES: i64 = 10_000;

const HEAD: &str = "\
    SELECT pg_catalog.concat('PostgreSQL ', pg_catalog.current_setting('server_version')), \
    ARRAY(SELECT s::text FROM pg_catalog.unnest(pg_catalog.current_schemas(false)) \
    WITH ORDINALITY AS u(s, at) WHERE s !~ '^pg_' ORDER BY u.at)";

/// Partitions are part of what they are partitions of. A partitioned table has the rows of all.
const TABLES: &str = "\
    SELECT c.oid, n.nspname::text, c.relname::text, c.relkind::text, d.description, \
    CASE WHEN c.relkind IN ('v', 'f') THEN NULL WHEN c.relkind = 'p' THEN \
    (SELECT pg_catalog.sum(GREATEST(leaf.reltuples, 0))::float8 \
     FROM pg_catalog.pg_partition_tree(c.oid) AS tree \
     JOIN pg_catalog.pg_class AS leaf ON leaf.oid = tree.relid WHERE tree.isleaf) \
    WHEN c.reltuples >= 0 THEN c.reltuples::float8 END, pg_catalog.count(*) OVER () \
    FROM pg_catalog.pg_class AS c \
    JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace \
    LEFT JOIN pg_catalog.pg_description AS d ON d.objoid = c.oid AND d.objsubid = 0 \
    AND d.classoid = 'pg_catalog.pg_class'::regclass \
    WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND NOT c.relispartition \
    AND n.nspname !~ '^pg_' AND n.nspname <> 'information_schema' \
    AND pg_catalog.has_schema_privilege(n.oid, 'USAGE') \
    AND (pg_catalog.has_table_privilege(c.oid, 'SELECT') \
    OR pg_catalog.has_any_column_privilege(c.oid, 'SELECT')) \
    ORDER BY n.nspname, c.relname LIMIT $1";

const COLUMNS: &str = "\
    SELECT a.attrelid, a.attnum, a.attname::text, \
    pg_catalog.format_type(a.atttypid, a.atttypmod), NOT a.attnotnull, \
    pg_catalog.pg_get_expr(e.adbin, e.adrelid), a.attgenerated <> '' OR a.attidentity = 'a', \
    d.description \
    FROM pg_catalog.unnest($1::oid[]) AS t(id) \
    JOIN pg_catalog.pg_attribute AS a ON a.attrelid = t.id \
    LEFT JOIN pg_catalog.pg_attrdef AS e ON e.adrelid = a.attrelid AND e.adnum = a.attnum \
    LEFT JOIN pg_catalog.pg_description AS d ON d.objoid = a.attrelid AND d.objsubid = a.attnum \
    AND d.classoid = 'pg_catalog.pg_class'::regclass \
    WHERE a.attnum > 0 AND NOT a.attisdropped \
    AND pg_catalog.has_column_privilege(a.attrelid, a.attnum, 'SELECT') \
    ORDER BY a.attrelid, a.attnum LIMIT $2";

const KEYS: &str = "\
    SELECT k.conrelid, k.contype = 'p', k.conkey, k.confrelid, k.confkey \
    FROM pg_catalog.unnest($1::oid[]) AS t(id) \
    JOIN pg_catalog.pg_constraint AS k ON k.conrelid = t.id \
    WHERE k.contype IN ('p', 'f') ORDER BY k.conrelid, k.conname LIMIT $2";

/// Without primary keys. Columns that an index only carries along are left out, and an index that
/// holds some rows only is unique for those alone.
const INDEXES: &str = "\
    SELECT i.indrelid, c.relname::text, i.indisunique AND i.indpred IS NULL, \
    pg_catalog.string_to_array(i.indkey::text, ' ')::int2[], i.indnkeyatts, \
    CASE WHEN 0 = ANY(i.indkey) THEN ARRAY(SELECT pg_catalog.pg_get_indexdef(i.indexrelid, g, true) \
    FROM pg_catalog.generate_series(1, i.indnkeyatts::int) AS g ORDER BY g) END \
    FROM pg_catalog.unnest($1::oid[]) AS t(id) \
    JOIN pg_catalog.pg_index AS i ON i.indrelid = t.id \
    JOIN pg_catalog.pg_class AS c ON c.oid = i.indexrelid \
    WHERE i.indisvalid AND NOT i.indisprimary ORDER BY i.indrelid, c.relname LIMIT $2";

/// The tables whose rows a table has: its partitions, and those that inherit from it.
const PARTS: &str = "\
    WITH RECURSIVE part(whole, id) AS (\
     SELECT i.inhparent, i.inhrelid FROM pg_catalog.unnest($1::oid[]) AS t(id) \
     JOIN pg_catalog.pg_inherits AS i ON i.inhparent = t.id \
     UNION SELECT part.whole, i.inhrelid FROM part \
     JOIN pg_catalog.pg_inherits AS i ON i.inhparent = part.id) \
    SELECT part.whole, n.nspname::text, c.relname::text FROM part \
    JOIN pg_catalog.pg_class AS c ON c.oid = part.id \
    JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace LIMIT $2";

/// What views read, and the functions that they call and that may read anything.
///
/// The server records no dependency on what is part of itself, which is below the number 16384
/// (`FirstNormalObjectId` in its sources), so that such tables and functions are taken from the view's
/// stored query, and so are the functions behind operators, unless an extension has them. Functions that promise to depend on their arguments alone may be called, and those
/// few of the server that change their mind without reading.
const READS: &str = "\
    WITH view AS (SELECT r.oid, r.ev_class, r.ev_action::text AS query \
     FROM pg_catalog.unnest($1::oid[]) AS t(id) \
     JOIN pg_catalog.pg_rewrite AS r ON r.ev_class = t.id), \
    part AS (SELECT view.ev_class, d.refclassid AS kind, d.refobjid AS id FROM view \
     JOIN pg_catalog.pg_depend AS d ON d.objid = view.oid \
     AND d.classid = 'pg_catalog.pg_rewrite'::regclass \
     UNION SELECT view.ev_class, CASE m.part[1] WHEN 'relid' THEN 'pg_catalog.pg_class'::regclass \
     ELSE 'pg_catalog.pg_proc'::regclass END, m.part[2]::oid \
     FROM view, LATERAL pg_catalog.regexp_matches(view.query, \
     ':(relid|funcid|opfuncid|aggfnoid|winfnoid) ([0-9]+)', 'g') AS m(part) \
     WHERE m.part[1] <> 'opfuncid' OR NOT EXISTS (SELECT FROM pg_catalog.pg_depend AS e \
     WHERE e.classid = 'pg_catalog.pg_proc'::regclass AND e.objid = m.part[2]::oid AND e.deptype = 'e')) \
    SELECT part.ev_class, n.nspname::text, c.relname::text, pn.nspname::text, p.proname::text \
    FROM part \
    LEFT JOIN pg_catalog.pg_class AS c ON c.oid = part.id \
    AND part.kind = 'pg_catalog.pg_class'::regclass \
    LEFT JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace \
    LEFT JOIN pg_catalog.pg_proc AS p ON p.oid = part.id \
    AND part.kind = 'pg_catalog.pg_proc'::regclass \
    AND CASE WHEN p.oid >= 16384 THEN p.provolatile <> 'i' OR p.prokind = 'a' AND EXISTS (\
     SELECT FROM pg_catalog.pg_aggregate AS a JOIN pg_catalog.pg_proc AS step \
     ON step.oid IN (a.aggtransfn, a.aggfinalfn, a.aggcombinefn, a.aggserialfn, a.aggdeserialfn, \
     a.aggmtransfn, a.aggminvtransfn, a.aggmfinalfn) \
     WHERE a.aggfnoid = p.oid AND step.provolatile <> 'i') ELSE p.proname ~ '_to_xml' \
    OR p.provolatile = 'v' AND p.proname NOT IN ('random', 'clock_timestamp', 'timeofday', \
    'gen_random_uuid') END \
    LEFT JOIN pg_catalog.pg_namespace AS pn ON pn.oid = p.pronamespace \
    WHERE part.id <> part.ev_class AND (c.oid IS NOT NULL OR p.oid IS NOT NULL) LIMIT $2";

/// The functions that are not built in and that the role may call. An aggregate counts by what it runs.
const ROUTINES: &str = "\
    SELECT n.nspname::text, p.proname::text, \
    pg_catalog.bool_or(p.provolatile = 'v' OR p.prokind = 'a' AND EXISTS (\
     SELECT FROM pg_catalog.pg_aggregate AS a JOIN pg_catalog.pg_proc AS step \
     ON step.oid IN (a.aggtransfn, a.aggfinalfn, a.aggcombinefn, a.aggserialfn, a.aggdeserialfn, \
     a.aggmtransfn, a.aggminvtransfn, a.aggmfinalfn) \
     WHERE a.aggfnoid = p.oid AND step.provolatile = 'v')), \
    pg_catalog.bool_or(p.provolatile = 's' OR p.prokind = 'a' AND EXISTS (\
     SELECT FROM pg_catalog.pg_aggregate AS a JOIN pg_catalog.pg_proc AS step \
     ON step.oid IN (a.aggtransfn, a.aggfinalfn, a.aggcombinefn, a.aggserialfn, a.aggdeserialfn, \
     a.aggmtransfn, a.aggminvtransfn, a.aggmfinalfn) \
     WHERE a.aggfnoid = p.oid AND step.provolatile = 's')), \
    pg_catalog.bool_or(p.prosecdef), \
    pg_catalog.bool_and(EXISTS (SELECT FROM pg_catalog.pg_depend AS d \
     WHERE d.classid = 'pg_catalog.pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e')) \
    FROM pg_catalog.pg_proc AS p JOIN pg_catalog.pg_namespace AS n ON n.oid = p.pronamespace \
    WHERE n.nspname !~ '^pg_' AND n.nspname <> 'information_schema' AND p.prokind <> 'p' \
    AND pg_catalog.has_schema_privilege(n.oid, 'USAGE') \
    AND pg_catalog.has_function_privilege(p.oid, 'EXECUTE') \
    GROUP BY n.nspname, p.proname ORDER BY n.nspname, p.proname LIMIT $1";

/// The operators that neither the server nor an extension has, and what they run.
const OPERATORS: &str = "\
    SELECT DISTINCT n.nspname::text, o.oprname::text, pn.nspname::text, p.proname::text \
    FROM pg_catalog.pg_operator AS o JOIN pg_catalog.pg_namespace AS n ON n.oid = o.oprnamespace \
    JOIN pg_catalog.pg_proc AS p ON p.oid = o.oprcode \
    JOIN pg_catalog.pg_namespace AS pn ON pn.oid = p.pronamespace \
    WHERE n.nspname !~ '^pg_' AND n.nspname <> 'information_schema' \
    AND NOT EXISTS (SELECT FROM pg_catalog.pg_depend AS d \
    WHERE d.classid = 'pg_catalog.pg_operator'::regclass AND d.objid = o.oid AND d.deptype = 'e') \
    ORDER BY 1, 2, 3, 4 LIMIT $1";

/// The enumerations and the types with fields that columns have, alone or in arrays. A table makes a
/// type too, which is not among them.
const TYPES: &str = "\
    SELECT DISTINCT n.nspname::text, t.typname::text, pg_catalog.format_type(t.oid, NULL), \
    ARRAY(SELECT f.attname::text FROM pg_catalog.pg_attribute AS f \
     WHERE f.attrelid = t.typrelid AND f.attnum > 0 AND NOT f.attisdropped ORDER BY f.attnum) \
    FROM pg_catalog.unnest($1::oid[]) AS x(id) \
    JOIN pg_catalog.pg_attribute AS a ON a.attrelid = x.id AND a.attnum > 0 AND NOT a.attisdropped \
    JOIN pg_catalog.pg_type AS own ON own.oid = a.atttypid \
    JOIN pg_catalog.pg_type AS t ON t.oid = CASE WHEN own.typcategory = 'A' THEN own.typelem \
     ELSE own.oid END \
    JOIN pg_catalog.pg_namespace AS n ON n.oid = t.typnamespace \
    LEFT JOIN pg_catalog.pg_class AS c ON c.oid = t.typrelid \
    WHERE (t.typtype = 'e' OR t.typtype = 'c' AND c.relkind = 'c') AND n.nspname !~ '^pg_' \
    AND pg_catalog.has_column_privilege(a.attrelid, a.attnum, 'SELECT') LIMIT $2";

pub(super) async fn read(connections: &Arc<Connections>) -> Result<Schema, DatabaseError> {
    let mut lease = connections.begin(TransactionMode::Snapshot, TIMEOUT).await?;
    // The server limits each query by itself.
    let schema = timeout(TIMEOUT, read_from(lease.connection())).await;
    let schema = schema.map_err(|_elapsed| DatabaseError::Timeout(TIMEOUT))?;
    let schema = schema.map_err(|error| Statement::ours(TIMEOUT).error(error))?;
    lease.end().await;
    Ok(schema)
}

async fn read_from(connection: &mut PgConnection) -> Result<Schema, sqlx::Error> {
    let head = sqlx::query(HEAD).persistent(false).fetch_one(&mut *connection).await?;
    let limit = i64::try_from(Schema::MAX_TABLES).unwrap_or(i64::MAX);
    let tables = sqlx::query(TABLES).bind(limit).persistent(false);
    let tables = tables.fetch_all(&mut *connection).await?;
    let total: i64 = tables.first().map_or(Ok(0), |row| row.try_get(6))?;
    let mut found = CatalogueTables::read(&tables)?;
    let limit = i64::try_from(Schema::MAX_COLUMNS).unwrap_or(i64::MAX);
    for row in parts(connection, COLUMNS, &found.ids, limit).await? {
        found.add_column(&row)?;
    }
    for row in parts(connection, KEYS, &found.ids, MAX_PARTS).await? {
        found.add_key(&row)?;
    }
    for row in parts(connection, INDEXES, &found.ids, MAX_PARTS).await? {
        found.add_index(&row)?;
    }
    let views = found.views();
    let reads = parts(connection, READS, &views, MAX_PARTS).await?;
    // Beyond the limit a view might read what is not told here.
    let is_whole = i64::try_from(reads.len()).is_ok_and(|count| count < MAX_PARTS);
    for row in &reads {
        found.add_read(row, is_whole)?;
    }
    let all_parts = parts(connection, PARTS, &found.ids, MAX_PARTS).await?;
    if i64::try_from(all_parts.len()).is_ok_and(|count| count >= MAX_PARTS) {
        // Some are missing, and nothing tells of which table.
        found.tables.iter_mut().for_each(|table| table.reads = None);
    }
    for row in &all_parts {
        found.add_part(row)?;
    }
    let mut types = Vec::new();
    for row in parts(connection, TYPES, &found.ids, MAX_TYPES).await? {
        let name = TableName { schema: row.try_get(0)?, name: row.try_get(1)? };
        types.push(OwnType { name, written: row.try_get(2)?, fields: row.try_get(3)? });
    }
    let (routines, operators) = (routines(connection).await?, operators(connection).await?);
    let read = i64::try_from(tables.len()).unwrap_or(i64::MAX);
    Ok(Schema {
        routines,
        operators,
        types,
        version: head.try_get(0)?,
        default_schemas: head.try_get(1)?,
        tables: found.tables,
        tables_left_out: usize::try_from(total - read).unwrap_or(0),
    })
}

async fn routines(connection: &mut PgConnection) -> Result<Vec<Routine>, sqlx::Error> {
    let rows = sqlx::query(ROUTINES).bind(MAX_ROUTINES).persistent(false);
    let mut routines = Vec::new();
    for row in rows.fetch_all(connection).await? {
        let (is_volatile, is_stable): (bool, bool) = (row.try_get(2)?, row.try_get(3)?);
        routines.push(Routine {
            name: TableName { schema: row.try_get(0)?, name: row.try_get(1)? },
            volatility: match (is_volatile, is_stable) {
                (true, _) => Volatility::Volatile,
                (false, true) => Volatility::Stable,
                (false, false) => Volatility::Immutable,
            },
            as_owner: row.try_get(4)?,
            of_extension: row.try_get(5)?,
        });
    }
    Ok(routines)
}

async fn operators(connection: &mut PgConnection) -> Result<Vec<Operator>, sqlx::Error> {
    let rows = sqlx::query(OPERATORS).bind(MAX_ROUTINES).persistent(false);
    let mut operators = Vec::new();
    for row in rows.fetch_all(connection).await? {
        operators.push(Operator {
            name: TableName { schema: row.try_get(0)?, name: row.try_get(1)? },
            routine: TableName { schema: row.try_get(2)?, name: row.try_get(3)? },
        });
    }
    if i64::try_from(operators.len()).is_ok_and(|count| count >= MAX_ROUTINES) {
        // One of several functions behind the last name may be missing.
        operators.clear();
    }
    Ok(operators)
}

async fn parts(
    connection: &mut PgConnection,
    sql: &'static str,
    ids: &[Oid],
    limit: i64,
) -> Result<Vec<PgRow>, sqlx::Error> {
    sqlx::query(sql).bind(ids).bind(limit).persistent(false).fetch_all(connection).await
}

/// The tables of a catalogue while they are being put together.
struct CatalogueTables {
    tables: Vec<Table>,
    /// In the order of `tables`.
    ids: Vec<Oid>,
    places: HashMap<Oid, usize>,
    /// The names of columns by their table and number.
    columns: HashMap<(Oid, i16), String>,
}

impl CatalogueTables {
    fn read(rows: &[PgRow]) -> Result<Self, sqlx::Error> {
        let ids = rows.iter().map(|row| row.try_get(0)).collect::<Result<Vec<Oid>, _>>()?;
        Ok(Self {
            tables: rows.iter().map(table).collect::<Result<_, _>>()?,
            places: ids.iter().enumerate().map(|(at, id)| (*id, at)).collect(),
            ids,
            columns: HashMap::new(),
        })
    }

    fn table_of(&mut self, row: &PgRow) -> Result<Option<&mut Table>, sqlx::Error> {
        let id: Oid = row.try_get(0)?;
        Ok(self.places.get(&id).and_then(|at| self.tables.get_mut(*at)))
    }

    fn add_column(&mut self, row: &PgRow) -> Result<(), sqlx::Error> {
        let column = Column {
            name: row.try_get(2)?,
            column_type: row.try_get(3)?,
            nullable: row.try_get(4)?,
            default: row.try_get(5)?,
            generated: row.try_get(6)?,
            comment: row.try_get(7)?,
        };
        self.columns.insert((row.try_get(0)?, row.try_get(1)?), column.name.clone());
        if let Some(table) = self.table_of(row)? {
            table.columns.push(column);
        }
        Ok(())
    }

    /// Leaves out a key over something that the role may not read.
    fn add_key(&mut self, row: &PgRow) -> Result<(), sqlx::Error> {
        let id: Oid = row.try_get(0)?;
        let Some(columns) = self.names(id, &row.try_get::<Vec<i16>, _>(2)?) else { return Ok(()) };
        let key = if row.try_get(1)? {
            None
        } else {
            let target: Oid = row.try_get(3)?;
            let numbers: Vec<i16> = row.try_get(4)?;
            let name = self.places.get(&target).and_then(|at| self.tables.get(*at));
            let name = name.map(|table| table.name.clone());
            let Some((table, references)) = name.zip(self.names(target, &numbers)) else {
                return Ok(());
            };
            Some(ForeignKey { columns: columns.clone(), table, references })
        };
        if let Some(table) = self.table_of(row)? {
            match key {
                Some(key) => table.foreign_keys.push(key),
                None => table.primary_key = columns,
            }
        }
        Ok(())
    }

    /// Leaves out an index over a column that the role may not read. One over an expression may name
    /// any column.
    fn add_index(&mut self, row: &PgRow) -> Result<(), sqlx::Error> {
        let id: Oid = row.try_get(0)?;
        let mut numbers: Vec<i16> = row.try_get(3)?;
        numbers.truncate(usize::try_from(row.try_get::<i16, _>(4)?).unwrap_or(0));
        let expressions: Option<Vec<String>> = row.try_get(5)?;
        numbers.retain(|number| *number != 0);
        let Some(names) = self.names(id, &numbers) else { return Ok(()) };
        let index = Index {
            name: row.try_get(1)?,
            unique: row.try_get(2)?,
            columns: expressions.unwrap_or(names),
        };
        if let Some(table) = self.table_of(row)? {
            table.indexes.push(index);
        }
        Ok(())
    }

    fn add_read(&mut self, row: &PgRow, is_whole: bool) -> Result<(), sqlx::Error> {
        let name = |at: usize| -> Result<Option<TableName>, sqlx::Error> {
            let schema: Option<String> = row.try_get(at)?;
            let name: Option<String> = row.try_get(at + 1)?;
            Ok(schema.zip(name).map(|(schema, name)| TableName { schema, name }))
        };
        let (read, called) = (name(1)?, name(3)?);
        let Some(view) = self.table_of(row)? else { return Ok(()) };
        match (read, called) {
            (_, Some(called)) if is_whole => view.calls.push(called),
            (Some(read), None) if is_whole => {
                view.reads.iter_mut().for_each(|reads| reads.push(read.clone()));
            }
            _ => view.reads = None,
        }
        Ok(())
    }

    fn add_part(&mut self, row: &PgRow) -> Result<(), sqlx::Error> {
        let part = TableName { schema: row.try_get(1)?, name: row.try_get(2)? };
        if let Some(table) = self.table_of(row)? {
            table.parts.push(part);
        }
        Ok(())
    }

    fn names(&self, table: Oid, numbers: &[i16]) -> Option<Vec<String>> {
        numbers.iter().map(|number| self.columns.get(&(table, *number)).cloned()).collect()
    }

    fn views(&self) -> Vec<Oid> {
        let is_view =
            |table: &Table| matches!(table.kind, TableKind::View | TableKind::MaterializedView);
        let both = self.tables.iter().zip(&self.ids);
        both.filter(|(table, _)| is_view(table)).map(|(_, id)| *id).collect()
    }
}

fn table(row: &PgRow) -> Result<Table, sqlx::Error> {
    let kind: String = row.try_get(3)?;
    Ok(Table {
        name: TableName { schema: row.try_get(1)?, name: row.try_get(2)? },
        kind: match kind.as_str() {
            "v" => TableKind::View,
            "m" => TableKind::MaterializedView,
            "f" => TableKind::ForeignTable,
            _ => TableKind::Table,
        },
        comment: row.try_get(4)?,
        rows: row.try_get::<Option<f64>, _>(5)?.map(whole),
        columns: Vec::new(),
        primary_key: Vec::new(),
        foreign_keys: Vec::new(),
        indexes: Vec::new(),
        reads: Some(Vec::new()),
        parts: Vec::new(),
        calls: Vec::new(),
        is_full_text: false,
    })
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "an estimate; such a cast saturates"
)]
fn whole(estimate: f64) -> u64 {
    estimate.round() as u64
}
