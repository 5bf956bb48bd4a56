//! The nearest names to one that is not known.

use super::error::GuardError;
use super::inspector::Inspector;
use crate::{TableName, VisibleSchema};

/// How many names are suggested.
const MAX_SUGGESTIONS: usize = 3;

/// A longer name is too far from every other. To measure it would take long.
const MAX_NAME_CHARS: usize = 64;

pub(super) fn unknown_column(
    inspector: &Inspector<'_>,
    schema: Option<&str>,
    table: Option<&str>,
    column: &str,
) -> GuardError {
    let scopes = inspector.scopes.iter().rev().filter(|scope| !scope.is_hidden);
    let relations = scopes.flat_map(|scope| &scope.relations);
    let names = relations.flat_map(|relation| relation.columns.iter().map(|column| &*column.name));
    let written: Vec<_> = schema.into_iter().chain(table).chain([column]).collect();
    GuardError::UnknownColumn {
        name: written.join("."),
        near: nearest(column, names),
        in_tables: tables_with(inspector.schema, column),
    }
}

pub(super) fn unknown_table(
    visible: &VisibleSchema,
    schema: Option<&str>,
    name: &str,
) -> GuardError {
    let bare = visible.tables().iter().map(|table| &*table.table.name.name);
    let names = nearest(name, bare);
    let full = names.iter().filter_map(|name| {
        let mut tables = visible.tables().iter().map(|table| &table.table.name);
        tables.find(|table| table.name == *name).map(|table| shown(visible, table))
    });
    let written: Vec<_> = schema.into_iter().chain([name]).collect();
    GuardError::UnknownTable { name: written.join("."), near: full.collect() }
}

fn tables_with(visible: &VisibleSchema, column: &str) -> Vec<String> {
    let has = |name: &str| name == column || name.eq_ignore_ascii_case(column);
    let tables = visible.tables().iter();
    let having = tables.filter(|table| table.columns.iter().any(|column| has(&column.name)));
    having.take(MAX_SUGGESTIONS).map(|table| shown(visible, &table.table.name)).collect()
}

/// A table as it is best written: with its schema only where a bare name would not find it.
fn shown(visible: &VisibleSchema, table: &TableName) -> String {
    match visible.table(None, &table.name) {
        Some(found) if found.table.name == *table => table.name.clone(),
        _ => table.to_string(),
    }
}

fn nearest<'n>(name: &str, known: impl Iterator<Item = &'n str>) -> Vec<String> {
    let name = name.to_lowercase();
    let length = name.chars().count();
    if length > MAX_NAME_CHARS {
        return Vec::new();
    }
    let limit = length / 3 + 1;
    let mut near: Vec<(usize, &str)> = known
        .filter(|known| known.len().abs_diff(name.len()) <= limit.max(4))
        .filter_map(|known| {
            let lower = known.to_lowercase();
            let distance = strsim::osa_distance(&name, &lower);
            let is_part = length > 2 && lower.len() > 2;
            let is_part = is_part && (lower.contains(&name) || name.contains(&*lower));
            (distance <= limit || is_part).then_some((distance, known))
        })
        .collect();
    near.sort_unstable();
    near.dedup();
    near.into_iter().take(MAX_SUGGESTIONS).map(|(_, name)| name.to_owned()).collect()
}
