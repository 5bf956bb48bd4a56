//! `describe_table`.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::time::Duration;

use gatefold_catalog::{nearest_texts, one_line};
use gatefold_core::Payload;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use super::annotations::TableNote;
use super::known::KnownSchema;
use super::{DatabaseSource, REREAD_PAUSE, ToolCall, ToolError};
use super::{arguments, json_answer, pages};
use crate::{Column, ForeignKey, ReadQuery, TableKind, VisibleTable};

/// How many rows are looked at for sample values, and how many values of a column are shown.
const SAMPLED_ROWS: usize = 50;
const SAMPLES: usize = 3;

/// The longest sample value that is shown, in characters.
const SAMPLE_LENGTH: usize = 60;

/// How many bytes of rows are read for samples.
const SAMPLE_BYTES: usize = 256 * 1024;

/// How long reading samples may take.
const SAMPLE_TIMEOUT: Duration = Duration::from_secs(5);

/// How much of a comment is shown, in characters.
const COMMENT: usize = 500;

/// How many names an error lists.
const NAMED_TABLES: usize = 20;

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
struct DescribeArguments {
    table: Option<String>,
    samples: bool,
    cursor: Option<String>,
}

#[derive(Serialize)]
struct Structures {
    tables: Vec<TableStructure>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

#[derive(Serialize)]
struct TableStructure {
    table: String,
    kind: TableKind,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<String>,
    #[serde(rename = "rows_about", skip_serializing_if = "Option::is_none")]
    rows: Option<u64>,
    columns: Vec<ColumnStructure>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    primary_key: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    foreign_keys: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    indexes: Vec<String>,
}

#[derive(Serialize)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact about the column")]
struct ColumnStructure {
    name: String,
    #[serde(rename = "type")]
    column_type: String,
    nullable: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    default: Option<String>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    generated: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<String>,
    /// Answers hold a mark instead of its values.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    masked: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    personal_data: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    samples: Vec<Value>,
}

/// Whether a call wants values of the table, which only the database has.
pub(super) fn samples_values(asked: &RawValue) -> bool {
    serde_json::from_str::<DescribeArguments>(asked.get()).is_ok_and(|asked| asked.samples)
}

impl DatabaseSource {
    pub(super) async fn describe_table(&self, call: &ToolCall<'_>) -> Result<Payload, ToolError> {
        let asked: DescribeArguments = arguments::read(call.arguments)?;
        let Some(written) = &asked.table else {
            let known = self.schema().await?;
            let name = |table: &VisibleTable| table.table.name.to_string();
            let write = |table: &VisibleTable| structure(call, table, &HashMap::new());
            let page = pages::page(known.tables(), asked.cursor.as_deref(), name, write)?;
            return Ok(json_answer(&Structures { tables: page.items, next_cursor: page.next }));
        };
        self.described_table(call, written, asked.samples).await
    }

    pub(super) async fn described_table(
        &self,
        call: &ToolCall<'_>,
        written: &str,
        has_samples: bool,
    ) -> Result<Payload, ToolError> {
        let mut known = self.schema().await?;
        if known.table(written).is_none() {
            // It may be new. A database that cannot be reached has what was last known of it.
            known = self.read_schema(REREAD_PAUSE).await.unwrap_or(known);
        }
        let Some(table) = known.table(written) else {
            return Err(unknown_table(&known, written));
        };
        let samples =
            if has_samples { samples(call, &known, table).await? } else { HashMap::new() };
        Ok(json_answer(&structure(call, table, &samples)))
    }
}

fn unknown_table(known: &KnownSchema, written: &str) -> ToolError {
    let names: Vec<_> = known.tables().iter().map(|table| table.table.name.to_string()).collect();
    let near = nearest_texts(written, names.iter().map(String::as_str));
    let mut message = format!("there is no table `{}`", one_line(written, COMMENT));
    if !near.is_empty() {
        let _ = write!(message, "; the nearest: {}", near.join(", "));
    } else if names.len() <= NAMED_TABLES {
        let _ = write!(message, "; the tables: {}", names.join(", "));
    } else {
        message.push_str("; list the tables to see those there are");
    }
    ToolError::Arguments(message)
}

fn structure(
    call: &ToolCall<'_>,
    table: &VisibleTable,
    samples: &HashMap<String, Vec<Value>>,
) -> TableStructure {
    let own = &table.table;
    let note = call.settings.notes.of(&own.name);
    let described = note.and_then(|note| note.description.as_ref()).or(own.comment.as_ref());
    let columns = own.columns.iter().zip(&table.columns).map(|(column, visible)| {
        let samples = samples.get(&column.name).cloned().unwrap_or_default();
        ColumnStructure { masked: visible.is_masked, samples, ..column_structure(column, note) }
    });
    let indexes = own.indexes.iter().map(|index| {
        let unique = if index.unique { "unique " } else { "" };
        format!("{}: {unique}({})", index.name, index.columns.join(", "))
    });
    TableStructure {
        table: own.name.to_string(),
        kind: own.kind,
        title: note.and_then(|note| note.title.clone()),
        description: described.map(|text| one_line(text, COMMENT)).filter(|text| !text.is_empty()),
        rows: own.rows,
        columns: columns.collect(),
        primary_key: own.primary_key.clone(),
        foreign_keys: own.foreign_keys.iter().map(foreign_key).collect(),
        indexes: indexes.collect(),
    }
}

fn column_structure(column: &Column, note: Option<&TableNote>) -> ColumnStructure {
    let noted = note.and_then(|note| note.column(&column.name));
    let described = noted.or(column.comment.as_deref());
    ColumnStructure {
        name: column.name.clone(),
        column_type: column.column_type.clone(),
        nullable: column.nullable,
        default: column.default.clone(),
        generated: column.generated,
        description: described.map(|text| one_line(text, COMMENT)).filter(|text| !text.is_empty()),
        masked: false,
        personal_data: note.is_some_and(|note| note.is_personal(&column.name)),
        samples: Vec::new(),
    }
}

fn foreign_key(key: &ForeignKey) -> String {
    format!("({}) -> {}({})", key.columns.join(", "), key.table, key.references.join(", "))
}

/// A few values of each column that is not masked.
async fn samples(
    call: &ToolCall<'_>,
    known: &KnownSchema,
    table: &VisibleTable,
) -> Result<HashMap<String, Vec<Value>>, ToolError> {
    let shown: Vec<_> = table.columns.iter().filter(|column| !column.is_masked).collect();
    if shown.is_empty() {
        return Ok(HashMap::new());
    }
    let dialect = known.visible.dialect();
    let columns: Vec<_> = shown.iter().map(|column| dialect.quoted(&column.name)).collect();
    let name = &table.table.name;
    let from = format!("{}.{}", dialect.quoted(&name.schema), dialect.quoted(&name.name));
    let query = ReadQuery {
        sql: format!("SELECT {} FROM {from} LIMIT {SAMPLED_ROWS}", columns.join(", ")),
        masked: Vec::new(),
        max_rows: SAMPLED_ROWS,
        max_bytes: SAMPLE_BYTES,
        timeout: call.timeout().min(SAMPLE_TIMEOUT),
    };
    let rows = call.database.query(query).await?.rows;
    let of_column = |at: usize| {
        let mut values: Vec<Value> = Vec::new();
        for value in rows.iter().filter_map(|row| row.get(at)).filter(|value| !value.is_null()) {
            let value = shortened(value);
            if values.len() < SAMPLES && !values.contains(&value) {
                values.push(value);
            }
        }
        values
    };
    Ok(shown.iter().enumerate().map(|(at, column)| (column.name.clone(), of_column(at))).collect())
}

fn shortened(value: &Value) -> Value {
    match value {
        Value::Array(_) | Value::Object(_) => one_line(&value.to_string(), SAMPLE_LENGTH).into(),
        Value::String(text) => one_line(text, SAMPLE_LENGTH).into(),
        other => other.clone(),
    }
}
