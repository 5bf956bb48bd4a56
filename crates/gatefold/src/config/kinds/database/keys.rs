use super::{CONNECTIONS, ROWS, STATEMENT_TIMEOUT};
use crate::config::key::{Key, Kind, duration};

/// The names of the keys below.
pub(super) const NAMES: [&str; 17] = [
    "database",
    "password",
    "allow_tables",
    "deny_tables",
    "hide_columns",
    "mask",
    "allow_functions",
    "writes",
    "rows",
    "statement_timeout",
    "connections",
    "privileged_role",
    "tls",
    "tls_ca",
    "tls_cert",
    "tls_key",
    "tables",
];

pub(super) const TLS_MODES: [&str; 5] =
    ["disable", "prefer", "require", "verify-ca", "verify-full"];

const OF_DATABASES: Key = Key { needs: &["database"], ..Key::new("", Kind::Text, "") };

pub(super) const DATABASE: &[Key] = &[
    Key {
        details: "`postgres://USER@HOST/DATABASE`, `mysql://USER@HOST/DATABASE`, `mariadb://...` or \
                  `sqlite:PATH`. A Unix socket is named by its folder: `?host=/run/postgresql`. Nothing \
                  is taken from `PG*` variables or service files.",
        example: "\"postgres://reader@db.example/hr\"",
        ..Key::new("database", Kind::Text, "The address of a database.")
    },
    Key {
        name: "password",
        summary: "The password of the database's role.",
        details: "It is never shown. Unlike in the address, no character has to be escaped.",
        unset: "that in the address, or none",
        example: "\"${DATABASE_PASSWORD:-secret}\"",
        ..OF_DATABASES
    },
    Key {
        name: "allow_tables",
        kind: Kind::Texts,
        summary: "The tables that models may see, as `table` or `schema.table`.",
        details: "`*` stands for any text. A view counts by the tables it reads, unless it is itself named \
                  here without `*`.",
        unset: "all",
        example: "[\"public.*\"]",
        ..OF_DATABASES
    },
    Key {
        name: "deny_tables",
        kind: Kind::Texts,
        summary: "Tables that models may not see, whatever `allow_tables` says.",
        details: "For a model they do not exist.",
        unset: "none",
        example: "[\"*.audit_*\"]",
        ..OF_DATABASES
    },
    Key {
        name: "hide_columns",
        kind: Kind::Texts,
        summary: "Columns that models may not see, as `table.column` or `schema.table.column`.",
        details: "For a model they do not exist.",
        unset: "none",
        example: "[\"employees.salary\"]",
        ..OF_DATABASES
    },
    Key {
        name: "mask",
        kind: Kind::Texts,
        summary: "Columns whose values are replaced by `***` in answers.",
        details: "Such a column can be selected as it is, and used for nothing else.",
        unset: "none",
        example: "[\"*.email\"]",
        ..OF_DATABASES
    },
    Key {
        name: "allow_functions",
        kind: Kind::Texts,
        summary: "Functions of PostgreSQL that may be called though they are not built in.",
        details: "As `name` or `schema.name`; operators count by the functions they run, and views by \
                  those they call. `*` stands for any text, and admits what is IMMUTABLE; what is \
                  STABLE, or runs with its owner's rights, may read every table and has to be named \
                  without it. What is VOLATILE is never called.",
        unset: "those of known extensions that read nothing, such as PostGIS",
        example: "[\"public.net\", \"acct.*\"]",
        ..OF_DATABASES
    },
    Key {
        name: "writes",
        kind: Kind::Choice(&["refuse", "ask"]),
        summary: "What becomes of statements that write.",
        details: "With \"ask\" there is a tool `execute` for one INSERT, UPDATE or DELETE. It runs in a \
                  transaction, and a person is told how many rows it changed and decides whether to keep \
                  the change.",
        value: |_| Some("refuse".into()),
        example: "\"ask\"",
        ..OF_DATABASES
    },
    Key {
        name: "rows",
        kind: Kind::Count { max: 100_000 },
        summary: "The most rows of one answer.",
        value: |_| Some(ROWS.into()),
        example: "200",
        ..OF_DATABASES
    },
    Key {
        name: "statement_timeout",
        kind: Kind::Duration,
        summary: "How long one statement may run.",
        value: |_| Some(duration(STATEMENT_TIMEOUT)),
        example: "\"10s\"",
        ..OF_DATABASES
    },
    Key {
        name: "connections",
        kind: Kind::Count { max: 100 },
        summary: "The most connections to a database at a time.",
        value: |_| Some(CONNECTIONS.into()),
        example: "8",
        ..OF_DATABASES
    },
    Key {
        name: "privileged_role",
        kind: Kind::Flag,
        summary: "Whether a role may be used that can do far more than read.",
        details: "Superusers and roles that can read or write files of the server, or run programs on it, \
                  are refused otherwise.",
        value: |_| Some(false.into()),
        example: "true",
        ..OF_DATABASES
    },
    Key {
        name: "tls",
        kind: Kind::Choice(&TLS_MODES),
        summary: "Whether the connection is encrypted, and how the server has to prove who it is.",
        unset: "\"prefer\"",
        example: "\"verify-full\"",
        ..OF_DATABASES
    },
    Key {
        name: "tls_ca",
        kind: Kind::Path,
        summary: "The certificates that a database server's own must come from, as a PEM file.",
        unset: "the public ones",
        example: "\"db-ca.pem\"",
        ..OF_DATABASES
    },
    Key {
        name: "tls_cert",
        kind: Kind::Path,
        summary: "A client certificate for a database, as a PEM file.",
        unset: "none",
        example: "\"reader.pem\"",
        ..OF_DATABASES
    },
    Key {
        name: "tls_key",
        kind: Kind::Path,
        summary: "The key of that certificate, as a PEM file.",
        unset: "none",
        example: "\"reader.key\"",
        ..OF_DATABASES
    },
    Key {
        name: "tables",
        kind: Kind::TableNotes,
        summary: "What models are told about tables, by their names.",
        details: "`name` is a name for people, `description` takes the place of the table's comment, \
                  `columns` has descriptions of columns, `personal` lists columns with personal data.",
        unset: "the comments in the database",
        example: "{ employees = { description = \"Everybody who works here\" } }",
        ..OF_DATABASES
    },
];
