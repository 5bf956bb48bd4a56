use gatefold_catalog::Manifest;

use crate::{Dialect, Schema, TableKind, TableName, TableRules, VisibleSchema, VisibleTable};

/// How deep views of views are looked through.
const MAX_VIEW_DEPTH: usize = 32;

/// What was last read of a database.
#[derive(Debug)]
pub(super) struct KnownSchema {
    pub(super) schema: Schema,
    pub(super) visible: VisibleSchema,
}

impl KnownSchema {
    pub(super) fn new(dialect: Dialect, schema: Schema, rules: &TableRules) -> Self {
        let visible = VisibleSchema::new(dialect, &schema, rules);
        Self { schema, visible }
    }

    /// The tables in the order of their full names.
    pub(super) fn tables(&self) -> &[VisibleTable] {
        self.visible.tables()
    }

    /// Whether a plan over this table names nothing that is hidden: a view's plan names what it reads, and a
    /// table's its parts.
    pub(super) fn is_open(&self, name: &TableName) -> bool {
        self.is_open_at(name, 0)
    }

    fn is_open_at(&self, name: &TableName, depth: usize) -> bool {
        let Some(shown) = self.visible.table(Some(&name.schema), &name.name) else { return false };
        if shown.has_hidden_parts {
            return false;
        }
        let is_view = matches!(shown.table.kind, TableKind::View);
        let reads = shown.table.reads.as_deref();
        !is_view
            || depth < MAX_VIEW_DEPTH
                && reads.is_some_and(|all| all.iter().all(|read| self.is_open_at(read, depth + 1)))
    }

    /// The name of a table or column that is this word, whatever its case.
    pub(super) fn named(&self, word: &str) -> Option<&str> {
        let tables = self.tables().iter().map(|table| &table.table);
        let names = tables.clone().map(|table| &table.name.name);
        let columns = tables.flat_map(|table| table.columns.iter().map(|column| &column.name));
        names.chain(columns).find(|name| name.eq_ignore_ascii_case(word)).map(String::as_str)
    }

    /// A table as a person or model writes it: with or without schema and quotes, in any case.
    pub(super) fn table(&self, written: &str) -> Option<&VisibleTable> {
        let written = written.trim().replace(['"', '`', '[', ']'], "");
        let find = |schema: Option<&str>, name: &str| {
            let exact = self.visible.table(schema, name);
            exact.or_else(|| {
                let mut alike = self.tables().iter().filter(|table| {
                    let own = &table.table.name;
                    own.name.eq_ignore_ascii_case(name)
                        && schema.is_none_or(|schema| own.schema.eq_ignore_ascii_case(schema))
                });
                alike.next().filter(|_| alike.next().is_none())
            })
        };
        let split = written.split_once('.');
        split.and_then(|(schema, name)| find(Some(schema), name)).or_else(|| find(None, &written))
    }
}

/// The tables that were stored with a manifest.
pub(super) fn stored(manifest: &Manifest) -> Option<Schema> {
    serde_json::from_str(&manifest.supplement()?.attachment).ok()
}
