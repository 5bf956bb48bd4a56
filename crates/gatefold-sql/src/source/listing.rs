//! `list_tables`.

use std::time::Duration;

use gatefold_catalog::one_line;
use gatefold_core::Payload;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::known::KnownSchema;
use super::{DatabaseSource, DatabaseSourceSettings, ToolCall, ToolError};
use super::{arguments, json_answer, pages};
use crate::{TableKind, VisibleTable};

/// How much of a table's comment a list shows, in characters.
const LINE: usize = 120;

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
struct ListArguments {
    schema: Option<String>,
    contains: Option<String>,
    cursor: Option<String>,
    refresh: bool,
}

#[derive(Serialize)]
struct TableList {
    database: String,
    schemas: Vec<SchemaTables>,
    tables: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
}

#[derive(Serialize)]
struct SchemaTables {
    schema: String,
    tables: Vec<TableLine>,
}

#[derive(Serialize)]
struct TableLine {
    name: String,
    #[serde(skip_serializing_if = "is_plain")]
    kind: TableKind,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<String>,
    columns: usize,
    #[serde(rename = "rows_about", skip_serializing_if = "Option::is_none")]
    rows: Option<u64>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes fields by reference")]
fn is_plain(kind: &TableKind) -> bool {
    *kind == TableKind::Table
}

/// Whether a call has the tables read again.
pub(super) fn refreshes(asked: &RawValue) -> bool {
    serde_json::from_str::<ListArguments>(asked.get()).is_ok_and(|asked| asked.refresh)
}

impl DatabaseSource {
    pub(super) async fn list_tables(&self, call: &ToolCall<'_>) -> Result<Payload, ToolError> {
        let asked: ListArguments = arguments::read(call.arguments)?;
        let known = if asked.refresh {
            self.read_schema(Duration::ZERO).await?
        } else {
            self.schema().await?
        };
        let list = table_list(call, &known, &asked)?;
        Ok(json_answer(&list))
    }

    /// What `list_tables` answers without arguments.
    pub(super) async fn all_tables(&self, call: &ToolCall<'_>) -> Result<Payload, ToolError> {
        let known = self.schema().await?;
        Ok(json_answer(&table_list(call, &known, &ListArguments::default())?))
    }
}

fn table_list(
    call: &ToolCall<'_>,
    known: &KnownSchema,
    asked: &ListArguments,
) -> Result<TableList, ToolError> {
    let wanted = |table: &&VisibleTable| {
        let name = &table.table.name;
        let is_in = |schema: &String| name.schema.eq_ignore_ascii_case(schema.trim());
        let holds = |text: &String| name.name.to_lowercase().contains(&text.trim().to_lowercase());
        asked.schema.as_ref().is_none_or(is_in) && asked.contains.as_ref().is_none_or(holds)
    };
    let tables: Vec<_> = known.tables().iter().filter(wanted).collect();
    let name = |table: &&VisibleTable| table.table.name.to_string();
    let line =
        |table: &&VisibleTable| (table.table.name.schema.clone(), table_line(call.settings, table));
    let page = pages::page(&tables, asked.cursor.as_deref(), name, line)?;
    let mut schemas: Vec<SchemaTables> = Vec::new();
    for (schema, line) in page.items {
        match schemas.last_mut().filter(|last| last.schema == schema) {
            Some(last) => last.tables.push(line),
            None => schemas.push(SchemaTables { schema, tables: vec![line] }),
        }
    }
    let left_out = known.schema.tables_left_out;
    Ok(TableList {
        database: known.schema.version.clone(),
        schemas,
        tables: tables.len(),
        next_cursor: page.next,
        note: (left_out > 0).then(|| format!("{left_out} more tables were not read")),
    })
}

fn table_line(settings: &DatabaseSourceSettings, table: &VisibleTable) -> TableLine {
    let own = &table.table;
    let note = settings.notes.of(&own.name);
    let described = note.and_then(|note| note.description.as_ref()).or(own.comment.as_ref());
    TableLine {
        name: own.name.name.clone(),
        kind: own.kind,
        title: note.and_then(|note| note.title.clone()),
        description: described.map(|text| one_line(text, LINE)).filter(|text| !text.is_empty()),
        columns: table.columns.len(),
        rows: own.rows,
    }
}
