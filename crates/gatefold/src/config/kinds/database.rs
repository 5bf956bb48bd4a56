//! Databases: SQLite, PostgreSQL, MySQL and MariaDB.

mod place;
mod section;

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use gatefold_catalog::KindName;
use gatefold_config::{
    Count, Field, FilePath, HandRead, LimitedItems, Pairs, Table, Text, Time, fault, parsed,
};
use gatefold_core::Secret;
use gatefold_sql::{
    ColumnPattern, DatabaseAddress, DatabaseSettings, Dialect, TableNote, TableNotes, TablePattern,
    TableRules, TlsMode, TlsSettings, Writes,
};
use gatefold_worker::WorkerPool;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer};

use super::{ConnectionMethod, KindSection, SourceKind};
use crate::config::SourceSection;
use crate::config::key::{Key, keys_of};

use section::DatabaseSection;

/// The most rows of one result, unless a source says otherwise (DESIGN: SQL 1,000 rows and 30 s).
const ROWS: usize = 1000;
const STATEMENT_TIMEOUT: Duration = Duration::from_secs(30);

const TLS_MODES: [&str; 5] = ["disable", "prefer", "require", "verify-ca", "verify-full"];

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

    fn keys(&self) -> Vec<Key> {
        keys_of::<DatabaseKeys>()
    }

    fn read(&self, table: &mut Table<'_>) -> Option<Arc<dyn KindSection>> {
        let keys = table.read::<DatabaseKeys>()?;
        let notes = match table.peek("tables") {
            Some(field) => notes(&field),
            None => Some(TableNotes::default()),
        };
        let secrets = table.keyring_secrets().into_iter().map(Secret::new).collect();
        let functions = table.peek("allow_functions");
        let field = table.peek("database")?;
        let address = address(&field, functions.as_ref());
        if let Some(field) = table.peek("allow_tables").filter(Field::is_empty_list) {
            // An empty list would read as "all" to the guard and as "none" to a person.
            field.fault("is empty", "list tables, or remove the key to allow all");
            return None;
        }
        let address = address?;
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
        let rules = TableRules {
            allow: keys.allow_tables.0.into_iter().map(|it| it.0).collect(),
            deny: keys.deny_tables.0.into_iter().map(|it| it.0).collect(),
            hide: keys.hide_columns.0.into_iter().map(|it| it.0).collect(),
            mask: keys.mask.0.into_iter().map(|it| it.0).collect(),
            functions: keys.allow_functions.0.into_iter().map(|it| it.0).collect(),
        };
        Some(Arc::new(DatabaseSection { settings, rules, notes: notes?, rows, secrets }))
    }
}

fn path(path: FilePath) -> PathBuf {
    path.0
}

#[derive(Deserialize, JsonSchema, Default)]
#[serde(default)]
struct DatabaseKeys {
    /// The address of a database.
    ///
    /// `postgres://USER@HOST/DATABASE`, `mysql://USER@HOST/DATABASE`, `mariadb://...` or `sqlite:PATH`. A Unix
    /// socket is named by its folder: `?host=/run/postgresql`. Nothing is taken from `PG*` variables or service
    /// files.
    #[schemars(extend("examples" = ["postgres://reader@db.example/hr"]))]
    database: HandRead<Text>,
    /// The password of the database's role.
    ///
    /// It is never shown. Unlike in the address, no character has to be escaped.
    #[schemars(with = "Text", extend("examples" = ["${DATABASE_PASSWORD:-secret}"],
        "x-unset" = "that in the address, or none"))]
    password: Option<String>,
    /// The tables that models may see, as `table` or `schema.table`.
    ///
    /// `*` stands for any text. A view counts by the tables it reads, unless it is itself named here without
    /// `*`.
    #[schemars(extend("examples" = [["public.*"]], "x-unset" = "all"))]
    allow_tables: LimitedItems<Vec<TableName>>,
    /// Tables that models may not see, whatever `allow_tables` says.
    ///
    /// For a model they do not exist.
    #[schemars(extend("examples" = [["*.audit_*"]], "x-unset" = "none"))]
    deny_tables: LimitedItems<Vec<TableName>>,
    /// Columns that models may not see, as `table.column` or `schema.table.column`.
    ///
    /// For a model they do not exist.
    #[schemars(extend("examples" = [["employees.salary"]], "x-unset" = "none"))]
    hide_columns: LimitedItems<Vec<ColumnName>>,
    /// Columns whose values are replaced by `***` in answers.
    ///
    /// Such a column can be selected as it is, and used for nothing else.
    #[schemars(extend("examples" = [["*.email"]], "x-unset" = "none"))]
    mask: LimitedItems<Vec<ColumnName>>,
    /// Functions of PostgreSQL that may be called though they are not built in.
    ///
    /// As `name` or `schema.name`; operators count by the functions they run, and views by those they call. `*`
    /// stands for any text, and admits what is IMMUTABLE; what is STABLE, or runs with its owner's rights, may
    /// read every table and has to be named without it. What is VOLATILE is never called.
    #[schemars(extend("examples" = [["public.net", "acct.*"]],
        "x-unset" = "those of known extensions that read nothing, such as PostGIS"))]
    allow_functions: LimitedItems<Vec<FunctionName>>,
    /// What becomes of statements that write.
    ///
    /// With "ask" there is a tool `execute` for one INSERT, UPDATE or DELETE. It runs in a transaction, and a
    /// person is told how many rows it changed and decides whether to keep the change.
    #[schemars(extend("default" = "refuse", "examples" = ["ask"]))]
    writes: Option<WritesWord>,
    /// The most rows of one answer.
    #[schemars(extend("maximum" = 100_000, "default" = ROWS, "examples" = [200]))]
    rows: Option<Count<usize>>,
    /// How long one statement may run.
    #[schemars(extend("default" = Time(STATEMENT_TIMEOUT), "examples" = ["10s"]))]
    statement_timeout: Option<Time>,
    /// The most connections to a database at a time.
    #[schemars(extend("maximum" = 100, "default" = CONNECTIONS, "examples" = [8]))]
    connections: Option<Count<u32>>,
    /// Whether a role may be used that can do far more than read.
    ///
    /// Superusers and roles that can read or write files of the server, or run programs on it, are refused
    /// otherwise.
    #[schemars(extend("examples" = [true]))]
    privileged_role: bool,
    /// Whether the connection is encrypted, and how the server has to prove who it is.
    #[schemars(extend("examples" = ["verify-full"], "x-unset" = "\"prefer\""))]
    tls: Option<TlsWord>,
    /// The certificates that a database server's own must come from, as a PEM file.
    #[schemars(extend("examples" = ["db-ca.pem"], "x-unset" = "the public ones"))]
    tls_ca: Option<FilePath>,
    /// A client certificate for a database, as a PEM file.
    #[schemars(extend("examples" = ["reader.pem"], "x-unset" = "none"))]
    tls_cert: Option<FilePath>,
    /// The key of that certificate, as a PEM file.
    #[schemars(extend("examples" = ["reader.key"], "x-unset" = "none"))]
    tls_key: Option<FilePath>,
    /// What models are told about tables, by their names.
    ///
    /// `name` is a name for people, `description` takes the place of the table's comment, `columns` has
    /// descriptions of columns, `personal` lists columns with personal data.
    #[schemars(extend("examples" = [{"employees": {"description": "Everybody who works here"}}],
        "x-unset" = "the comments in the database"))]
    tables: HandRead<Pairs<String, NoteKeys>>,
}

#[derive(JsonSchema)]
#[schemars(with = "String", extend("enum" = ["refuse", "ask"]))]
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

#[derive(JsonSchema)]
#[schemars(with = "String", extend("enum" = TLS_MODES))]
struct TlsWord(TlsMode);

impl<'de> Deserialize<'de> for TlsWord {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let words = TLS_MODES.map(|word| format!("\"{word}\"")).join(", ");
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

/// Functions are named as tables are.
#[derive(JsonSchema)]
#[schemars(with = "Text")]
struct FunctionName(TablePattern);

impl<'de> Deserialize<'de> for FunctionName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Text(text) = Text::deserialize(deserializer)?;
        let hint = "write `name` or `schema.name`; `*` stands for any text";
        TablePattern::new(&text).map(Self).map_err(|_| fault("names no function", hint))
    }
}

#[derive(JsonSchema)]
#[schemars(with = "Text")]
struct TableName(TablePattern);

impl<'de> Deserialize<'de> for TableName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Text(text) = Text::deserialize(deserializer)?;
        let hint = "write `table` or `schema.table`; `*` stands for any text";
        TablePattern::new(&text).map(Self).map_err(|_| fault("names no table", hint))
    }
}

#[derive(JsonSchema)]
#[schemars(with = "Text")]
struct ColumnName(ColumnPattern);

impl<'de> Deserialize<'de> for ColumnName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Text(text) = Text::deserialize(deserializer)?;
        let hint = "write `table.column` or `schema.table.column`; `*` stands for any text";
        ColumnPattern::new(&text).map(Self).map_err(|_| fault("names no column", hint))
    }
}

#[derive(Deserialize, JsonSchema, Default)]
#[serde(default)]
#[schemars(extend("additionalProperties" = false,
    "x-constraint" = "each with `name`, `description`, `columns` and `personal`, as needed"))]
struct NoteKeys {
    name: Option<Text>,
    description: Option<Text>,
    columns: LimitedItems<Pairs<String, Text>>,
    personal: LimitedItems<Vec<Text>>,
}

/// What a person says about tables, by their names.
fn notes(field: &Field<'_>) -> Option<TableNotes> {
    let mut notes = Vec::new();
    for (name, field) in field.table()?.fields() {
        let Ok(pattern) = TablePattern::new(name) else {
            field.key_fault("names no table", "write `table` or `\"schema.table\"`");
            return None;
        };
        let mut table = field.table()?;
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
