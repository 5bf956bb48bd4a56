//! What views read, from their definitions.

use crate::{Dialect, Guard, Schema, TableName, TableRules, VisibleSchema};

/// How deep views may read views.
const MAX_DEPTH: usize = 8;

/// A view and the query that it is, as the server writes it: with every name in full.
pub(super) type Definition = (TableName, String);

/// Fills in what views read. The guard reads each definition as if a
/// model had written it, with every table there is: so a definition that it does not understand to the
/// end, or that calls a function of someone's own, leaves its view without an answer.
pub(super) fn fill_in(
    dialect: Dialect,
    mut schema: Schema,
    definitions: Vec<Definition>,
) -> Schema {
    let mut open = definitions;
    for _ in 0..MAX_DEPTH {
        let visible = VisibleSchema::new(dialect, &schema, &TableRules::default());
        let guard = Guard::new(&visible);
        let before = open.len();
        open.retain(|(view, sql)| {
            let Ok(checked) = guard.check(sql) else { return true };
            let table = schema.tables.iter_mut().find(|table| table.name == *view);
            if let Some(table) = table {
                table.reads = Some(checked.tables);
            }
            false
        });
        if open.is_empty() || open.len() == before {
            break;
        }
    }
    schema
}
