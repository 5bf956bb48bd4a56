//! Databases: SQLite, PostgreSQL, MySQL and MariaDB.

mod keys;
mod place;
mod section;

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use gatefold_catalog::KindName;
use gatefold_config::{
    Count, Field, FilePath, LimitedItems, Pairs, Table, Text, Time, fault, parsed,
};
use gatefold_core::Secret;
use gatefold_sql::{
    ColumnPattern, DatabaseAddress, DatabaseSettings, Dialect, TableNote, TableNotes, TablePattern,
    TableRules, TlsMode, TlsSettings, Writes,
};
use gatefold_worker::WorkerPool;
use serde::{Deserialize, Deserializer};

use super::{ConnectionMethod, KindSection, SourceKind};
use crate::config::SourceSection;
use crate::config::key::Key;

use section::DatabaseSection;

/// The most rows of one result, unless a source says otherwise (DESIGN: SQL 1,000 rows and 30 s).
const ROWS: usize = 1000;
const STATEMENT_TIMEOUT: Duration = Duration::from_secs(30);

/// How many connections to one database are open at a time.
const CONNECTIONS: u32 = 4;

/// How long a connection may take. A source's `connect_deadline` is for all that is read of it.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// The kind of sources that are databases.
pub struct DatabaseKind;

/// Rules about tables and columns, for a configuration that is made in code.
#[derive(Debug, Clone, Copy)]
pub struct DatabaseRules<'a> {
    pub deny_tables: &'a [&'a str],
    pub hide_columns: &'a [&'a str],
    pub mask: &'a [&'a str],
}

impl DatabaseKind {
    pub const NAME: KindName = KindName::at("database", &place::PLACE);

    /// The SQLite file at this path, for a configuration that is made in code. `None` if a rule
    /// cannot be read.
    pub fn sqlite_at(path: &Path, rules: DatabaseRules<'_>) -> Option<SourceSection> {
        let tables = rules.deny_tables.iter().map(|text| TablePattern::new(text).ok());
        let columns = |texts: &[&str]| -> Option<Vec<_>> {
            texts.iter().map(|text| ColumnPattern::new(text).ok()).collect()
        };
        let section = DatabaseSection {
            settings: DatabaseSettings {
                statement_timeout: STATEMENT_TIMEOUT,
                connect_timeout: CONNECT_TIMEOUT,
                connections: CONNECTIONS,
                ..DatabaseSettings::new(DatabaseAddress::Sqlite(path.to_owned()))
            },
            rules: TableRules {
                allow: Vec::new(),
                deny: tables.collect::<Option<_>>()?,
                hide: columns(rules.hide_columns)?,
                mask: columns(rules.mask)?,
                functions: Vec::new(),
            },
            notes: TableNotes::default(),
            rows: ROWS,
            secrets: Vec::new(),
        };
        Some(section.into())
    }
}

impl SourceKind for DatabaseKind {
    fn name(&self) -> KindName {
        Self::NAME
    }

    fn noun(&self) -> &'static str {
        "database"
    }

    fn details(&self) -> &'static str {
        "A database is read through a role that can only read (`database`)."
    }

    fn ways(&self) -> &'static [ConnectionMethod] {
        &[ConnectionMethod {
            key: "database",
            purpose: "for a database",
            heading: "A database, which models can only read:",
            example: "hr",
        }]
    }

    fn keys(&self) -> &'static [Key] {
        keys::DATABASE
    }

    fn read(&self, table: &mut Table<'_>) -> Option<Arc<dyn KindSection>> {
        table.know(&keys::NAMES);
        let keys = table.read::<DatabaseKeys>();
        let rules = rules(table);
        let notes = match table.field("tables") {
            Some(field) => notes(&field),
            None => Some(TableNotes::default()),
        };
        let secrets = table.keyring_secrets().into_iter().map(Secret::new).collect();
        let functions = table.peek("allow_functions");
        let field = table.field("database")?;
        let address = address(&field, functions.as_ref());
        let (keys, address) = (keys?, address?);
        let settings = DatabaseSettings {
            password: keys.password.map(Secret::new),
            writes: keys.writes.map_or(Writes::Refuse, |writes| writes.0),
            privileged_role: keys.privileged_role,
            statement_timeout: keys.statement_timeout.map_or(STATEMENT_TIMEOUT, |time| time.0),
            connect_timeout: CONNECT_TIMEOUT,
            connections: keys.connections.map_or(CONNECTIONS, |count| count.0),
            tls: TlsSettings {
                mode: keys.tls.map(|mode| mode.0),
                ca: keys.tls_ca.map(path),
                cert: keys.tls_cert.map(path),
                key: keys.tls_key.map(path),
            },
            address,
        };
        if let Err(error) = gatefold_sql::open(&settings, &WorkerPool::absent()) {
            field.fault(format!("cannot be used: {error}"), "check it and the keys beside it");
            return None;
        }
        let rows = keys.rows.map_or(ROWS, |rows| rows.0);
        Some(Arc::new(DatabaseSection { settings, rules: rules?, notes: notes?, rows, secrets }))
    }
}

fn path(path: FilePath) -> PathBuf {
    path.0
}

/// The keys with one value each.
#[derive(Deserialize, Default)]
#[serde(default)]
struct DatabaseKeys {
    password: Option<String>,
    writes: Option<WritesWord>,
    rows: Option<Count<usize>>,
    statement_timeout: Option<Time>,
    connections: Option<Count<u32>>,
    privileged_role: bool,
    tls: Option<TlsWord>,
    tls_ca: Option<FilePath>,
    tls_cert: Option<FilePath>,
    tls_key: Option<FilePath>,
}

struct WritesWord(Writes);

impl<'de> Deserialize<'de> for WritesWord {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let writes = |text: &str| match text {
            "refuse" => Some(Writes::Refuse),
            "ask" => Some(Writes::Ask),
            _ => None,
        };
        let hint = "write \"refuse\", or \"ask\" to have a person decide each time";
        parsed(deserializer, "a way to treat writes", hint, writes).map(Self)
    }
}

struct TlsWord(TlsMode);

impl<'de> Deserialize<'de> for TlsWord {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let words = keys::TLS_MODES.map(|word| format!("\"{word}\"")).join(", ");
        let hint = format!("write one of {words}");
        parsed(deserializer, "a TLS mode", &hint, |text| text.parse().ok()).map(Self)
    }
}

/// Where the database is. A path is relative to the file that names it.
fn address(field: &Field<'_>, functions: Option<&Field<'_>>) -> Option<DatabaseAddress> {
    let Text(text) = field.read()?;
    if !field.is_put_in(&text) {
        // It is read for its shape alone.
        return Some(DatabaseAddress::Sqlite(text.into()));
    }
    let parsed = DatabaseAddress::parse(&text);
    let is_postgres = matches!(&parsed, Ok(DatabaseAddress::Server(server))
        if server.dialect == Dialect::Postgres);
    if let (Ok(_), false, Some(functions)) = (&parsed, is_postgres, functions) {
        functions.fault("has an effect in PostgreSQL only", "remove it");
        return None;
    }
    match parsed {
        Ok(DatabaseAddress::Sqlite(path)) => {
            let path = field.path_of(&path.display().to_string());
            Some(DatabaseAddress::Sqlite(path))
        }
        Ok(address) => Some(address),
        Err(error) => {
            let hint = "write `postgres://USER@HOST/DATABASE`, `mysql://...`, `mariadb://...` or \
                        `sqlite:PATH`; the password goes into `password`";
            field.fault(error.to_string(), hint);
            None
        }
    }
}

/// The rules about tables and columns.
fn rules(table: &mut Table<'_>) -> Option<TableRules> {
    #[derive(Deserialize, Default)]
    #[serde(default)]
    struct RuleKeys {
        allow_tables: LimitedItems<Vec<TableName>>,
        deny_tables: LimitedItems<Vec<TableName>>,
        hide_columns: LimitedItems<Vec<ColumnName>>,
        mask: LimitedItems<Vec<ColumnName>>,
        allow_functions: LimitedItems<Vec<FunctionName>>,
    }

    let is_empty_list = table.peek("allow_tables").is_some_and(|field| field.is_empty_list());
    if is_empty_list && let Some(field) = table.peek("allow_tables") {
        // An empty list would read as "all" to the guard and as "none" to a person.
        field.fault("is empty", "list tables, or remove the key to allow all");
        return None;
    }
    let keys: RuleKeys = table.read()?;
    let tables = |list: LimitedItems<Vec<TableName>>| list.0.into_iter().map(|it| it.0).collect();
    let columns = |list: LimitedItems<Vec<ColumnName>>| list.0.into_iter().map(|it| it.0).collect();
    Some(TableRules {
        allow: tables(keys.allow_tables),
        deny: tables(keys.deny_tables),
        hide: columns(keys.hide_columns),
        mask: columns(keys.mask),
        functions: keys.allow_functions.0.into_iter().map(|it| it.0).collect(),
    })
}

/// Functions are named as tables are.
struct FunctionName(TablePattern);

impl<'de> Deserialize<'de> for FunctionName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Text(text) = Text::deserialize(deserializer)?;
        let hint = "write `name` or `schema.name`; `*` stands for any text";
        TablePattern::new(&text).map(Self).map_err(|_| fault("names no function", hint))
    }
}

struct TableName(TablePattern);

impl<'de> Deserialize<'de> for TableName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Text(text) = Text::deserialize(deserializer)?;
        let hint = "write `table` or `schema.table`; `*` stands for any text";
        TablePattern::new(&text).map(Self).map_err(|_| fault("names no table", hint))
    }
}

struct ColumnName(ColumnPattern);

impl<'de> Deserialize<'de> for ColumnName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Text(text) = Text::deserialize(deserializer)?;
        let hint = "write `table.column` or `schema.table.column`; `*` stands for any text";
        ColumnPattern::new(&text).map(Self).map_err(|_| fault("names no column", hint))
    }
}

/// What a person says about tables, by their names.
fn notes(field: &Field<'_>) -> Option<TableNotes> {
    #[derive(Deserialize, Default)]
    #[serde(default)]
    struct NoteKeys {
        name: Option<Text>,
        description: Option<Text>,
        columns: LimitedItems<Pairs<String, Text>>,
        personal: LimitedItems<Vec<Text>>,
    }

    let mut notes = Vec::new();
    for (name, field) in field.table()?.fields() {
        let Ok(pattern) = TablePattern::new(name) else {
            field.key_fault("names no table", "write `table` or `\"schema.table\"`");
            return None;
        };
        let mut table = field.table()?;
        table.know(&["name", "description", "columns", "personal"]);
        let keys: Option<NoteKeys> = table.read();
        table.finish();
        let keys = keys?;
        let columns = keys.columns.0.0.into_iter();
        let note = TableNote {
            title: keys.name.map(|name| name.0),
            description: keys.description.map(|text| text.0),
            columns: columns.map(|(name, text)| (name, text.0)).collect(),
            personal: keys.personal.0.into_iter().map(|name| name.0).collect(),
        };
        notes.push((pattern, note));
    }
    Some(TableNotes(notes))
}

impl fmt::Debug for DatabaseKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("DatabaseKind")
    }
}
