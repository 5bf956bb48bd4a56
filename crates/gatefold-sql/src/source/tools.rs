//! The tools of a database, as models read them.

use gatefold_catalog::{
    Alteration, Change, Manifest, ServerInfo, Supplement, ToolSpec, ToolTopic, one_line,
};
use gatefold_core::{Hints, Timestamp};
use serde_json::{Value, json};

use super::DatabaseSourceSettings;
use super::known::KnownSchema;
use crate::{Dialect, Role, VisibleTable, Writes};

pub(super) const LIST_TABLES: &str = "list_tables";
pub(super) const DESCRIBE_TABLE: &str = "describe_table";
pub(super) const QUERY: &str = "query";
pub(super) const EXPLAIN: &str = "explain";
pub(super) const EXECUTE: &str = "execute";

/// How many tables a description names.
const NAMED_TABLES: usize = 10;

/// How many views that are left out are named.
const NAMED_VIEWS: usize = 20;

/// How many columns of one table can be found, and how much of what is said about it.
const FOUND_COLUMNS: usize = 200;
const FOUND_TEXT: usize = 500;

pub(super) fn manifest(
    settings: &DatabaseSourceSettings,
    known: &KnownSchema,
    role: &Role,
    now: Timestamp,
) -> Manifest {
    let dialect = known.visible.dialect();
    let attachment = serde_json::to_string(&known.schema).unwrap_or_default();
    let topics = known.tables().iter().map(|table| topic(settings, table)).collect();
    let mut builder = Manifest::builder(now)
        .server(server(dialect, known))
        .tool(list_tables(known))
        .tool(describe_table())
        .tool(query(dialect, settings))
        .tool(explain(dialect))
        .supplement(Supplement { topics, attachment });
    if settings.writes == Writes::Ask {
        builder = builder.tool(execute(dialect));
    }
    let left_out = known.schema.tables_left_out;
    if left_out > 0 {
        let what = Change::LeftOut("more than one source takes".to_owned());
        builder = builder.alteration(Alteration { entry: format!("{left_out} tables"), what });
    }
    for (view, why) in known.visible.views_left_out().iter().take(NAMED_VIEWS) {
        let entry = format!("view `{view}`");
        builder = builder.alteration(Alteration { entry, what: Change::LeftOut(why.clone()) });
    }
    let unnamed = known.visible.views_left_out().len().saturating_sub(NAMED_VIEWS);
    if unnamed > 0 {
        let what = Change::LeftOut("what they read is not known".to_owned());
        builder = builder.alteration(Alteration { entry: format!("{unnamed} more views"), what });
    }
    for note in role_notes(role) {
        builder = builder.alteration(note);
    }
    builder.build()
}

/// What the role could do beyond reading, and the statements that make a better one.
fn role_notes(role: &Role) -> Vec<Alteration> {
    if role.privileges.is_empty() {
        return Vec::new();
    }
    let could: Vec<_> = role.privileges.iter().map(|one| one.text.as_str()).collect();
    let mut what = format!("could {}, which Gatefold prevents", could.join(", and "));
    if !role.better.is_empty() {
        what = format!("{what}; a role that can only read: {}", role.better.join(" "));
    }
    vec![Alteration { entry: format!("role `{}`", role.name), what: Change::Noted(what) }]
}

fn server(dialect: Dialect, known: &KnownSchema) -> ServerInfo {
    ServerInfo {
        name: dialect.to_string(),
        version: known.schema.version.clone(),
        title: None,
        description: Some(format!("{dialect} database with {}", table_names(known))),
        instructions: None,
        protocol: String::new(),
        capabilities: None,
        whole: None,
    }
}

/// "12 tables: employees, departments, ..."
fn table_names(known: &KnownSchema) -> String {
    let tables = known.tables();
    let named: Vec<_> =
        tables.iter().take(NAMED_TABLES).map(|table| table.table.name.name.as_str()).collect();
    let more = if tables.len() > NAMED_TABLES { ", ..." } else { "" };
    match tables.len() {
        0 => "no tables".to_owned(),
        1 => format!("1 table: {}", named[0]),
        count => format!("{count} tables: {}{more}", named.join(", ")),
    }
}

fn reading() -> Hints {
    Hints {
        read_only: Some(true),
        destructive: None,
        idempotent: Some(true),
        open_world: Some(false),
    }
}

fn list_tables(known: &KnownSchema) -> ToolSpec {
    let description = format!(
        "List the tables of this database with their descriptions, column counts and row estimates. \
         It has {}.",
        table_names(known)
    );
    ToolSpec::new(LIST_TABLES)
        .description(description)
        .input_schema(object(
            &json!({
                "schema": text("Only the tables of this schema."),
                "contains": text("Only tables whose names contain this."),
                "cursor": text("`next_cursor` of the page before."),
                "refresh": flag("Read the tables again, after a change."),
            }),
            &[],
        ))
        .hints(reading())
}

fn describe_table() -> ToolSpec {
    ToolSpec::new(DESCRIBE_TABLE)
        .description(
            "Describe a table: its columns with types, keys, comments and indexes. Without `table`, \
             all tables in pages.",
        )
        .input_schema(object(
            &json!({
                "table": text("`table` or `schema.table`."),
                "samples": flag("Show a few values of each column."),
                "cursor": text("`next_cursor` of the page before."),
            }),
            &[],
        ))
        .hints(reading())
}

fn query(dialect: Dialect, settings: &DatabaseSourceSettings) -> ToolSpec {
    let rows = settings.rows;
    let description = format!(
        "Run one {dialect} SELECT and return its columns and rows, at most {rows}. Nothing can be \
         written. Look tables and columns up first, with describe_table."
    );
    let sql = format!("One SELECT in the SQL of {dialect}, without placeholders.");
    ToolSpec::new(QUERY)
        .description(description)
        .input_schema(object(
            &json!({
                "sql": text(&sql),
                "max_rows": { "type": "integer", "minimum": 1, "maximum": rows },
            }),
            &["sql"],
        ))
        .hints(reading())
}

fn explain(dialect: Dialect) -> ToolSpec {
    ToolSpec::new(EXPLAIN)
        .description(format!("Show how {dialect} would run a SELECT, without running it."))
        .input_schema(object(&json!({ "sql": text("One SELECT.") }), &["sql"]))
        .hints(reading())
}

fn execute(dialect: Dialect) -> ToolSpec {
    ToolSpec::new(EXECUTE)
        .description(format!(
            "Run one {dialect} INSERT, UPDATE or DELETE. A person is told how many rows it changed and \
             decides whether the change is kept."
        ))
        .input_schema(object(&json!({ "sql": text("One INSERT, UPDATE or DELETE.") }), &["sql"]))
        .hints(Hints {
            read_only: Some(false),
            destructive: Some(true),
            idempotent: Some(false),
            open_world: Some(false),
        })
}

fn object(properties: &Value, required: &[&str]) -> Value {
    let mut schema = json!({
        "type": "object",
        "properties": properties,
        "additionalProperties": false,
    });
    if !required.is_empty() {
        schema["required"] = json!(required);
    }
    schema
}

fn text(description: &str) -> Value {
    json!({ "type": "string", "description": description })
}

fn flag(description: &str) -> Value {
    json!({ "type": "boolean", "description": description })
}

/// A table as a search finds it.
fn topic(settings: &DatabaseSourceSettings, table: &VisibleTable) -> ToolTopic {
    let own = &table.table;
    let note = settings.notes.of(&own.name);
    let title = note.and_then(|note| note.title.as_deref());
    let described = note.and_then(|note| note.description.as_deref());
    let described = described.or(own.comment.as_deref());
    let columns = own.columns.iter().take(FOUND_COLUMNS);
    let comments = columns.clone().filter_map(|column| {
        note.and_then(|note| note.column(&column.name)).or(column.comment.as_deref())
    });
    let texts: Vec<_> = title.into_iter().chain(described).chain(comments).collect();
    ToolTopic {
        tool: DESCRIBE_TABLE.to_owned(),
        line: format!("table: {}", own.name),
        name: own.name.name.clone(),
        description: one_line(&texts.join(" "), FOUND_TEXT),
        parts: columns.map(|column| column.name.clone()).collect(),
        ..ToolTopic::default()
    }
}
