//! What of a database a model may know about.

use std::collections::{HashMap, HashSet};

use crate::functions::{FunctionStanding, Functions};
use crate::{
    Column, ColumnPattern, Dialect, OwnType, Schema, Table, TableKind, TableName, TablePattern,
};

/// A person's rules about tables and columns.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TableRules {
    /// The tables that may be seen; all if it is empty.
    pub allow: Vec<TablePattern>,
    /// The tables that may not be seen, whatever `allow` says.
    pub deny: Vec<TablePattern>,
    /// Columns that do not exist for a model.
    pub hide: Vec<ColumnPattern>,
    /// Columns whose values answers do not hold.
    pub mask: Vec<ColumnPattern>,
    /// Functions that may be called though they are not built in.
    pub functions: Vec<TablePattern>,
}

/// The tables and columns that a model may know about. Nothing else exists for it.
#[derive(Debug, Clone)]
pub struct VisibleSchema {
    dialect: Dialect,
    default_schemas: Vec<String>,
    tables: Vec<VisibleTable>,
    by_name: HashMap<(String, String), usize>,
    functions: Functions,
    /// The enumerations of columns that may be seen.
    labels: HashSet<TableName>,
    /// The fields of types of such columns, by the types as they are written.
    fields: HashMap<String, Vec<String>>,
    views_left_out: Vec<(TableName, String)>,
}

/// A table of which something may be seen.
#[derive(Debug, Clone)]
pub struct VisibleTable {
    pub table: Table,
    /// In the order of the table; [`Table::columns`] has the same ones.
    pub columns: Vec<VisibleColumn>,
    /// Whether the database has more columns in it than may be seen.
    pub has_hidden: bool,
    /// Whether it has rows of a table that may not be seen, because a rule names it nevertheless.
    pub has_hidden_parts: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VisibleColumn {
    pub name: String,
    pub is_masked: bool,
}

impl VisibleSchema {
    /// Hidden tables and columns are gone from everything, foreign keys and indexes included.
    pub fn new(dialect: Dialect, schema: &Schema, rules: &TableRules) -> Self {
        let functions = Functions::new(dialect, schema, &rules.functions);
        let judge = TableJudge::new(schema, rules, &functions);
        let views = schema.tables.iter().filter(|table| judge.allows(&table.name));
        let left_out = views
            .filter_map(|table| Some((table.name.clone(), judge.left_out_for(table)?)))
            .collect();
        let shown = schema.tables.iter().filter(|table| judge.shows(table));
        let mut tables: Vec<_> = shown.map(|table| visible_table(table, rules, &judge)).collect();
        let (labels, composites): (Vec<_>, Vec<_>) =
            used_types(schema, &tables).partition(|own| own.fields.is_empty());
        let composites = composites.into_iter();
        let mut visible = Self {
            labels: labels.into_iter().map(|own| own.name.clone()).collect(),
            fields: composites.map(|own| (own.written.clone(), own.fields.clone())).collect(),
            dialect,
            default_schemas: schema.default_schemas.clone(),
            by_name: HashMap::new(),
            tables: Vec::new(),
            views_left_out: left_out,
            functions,
        };
        for (at, table) in tables.iter().enumerate() {
            visible.by_name.entry(visible.key(&table.table.name)).or_insert(at);
        }
        let known = |visible: &Self, target: &TableName, columns: &[String]| {
            let at = visible.by_name.get(&visible.key(target))?;
            let target = tables.get(*at)?;
            columns.iter().all(|name| target.column(dialect, name).is_some()).then_some(())
        };
        let kept: Vec<Vec<bool>> = tables
            .iter()
            .map(|table| {
                let keys = table.table.foreign_keys.iter();
                keys.map(|key| known(&visible, &key.table, &key.references).is_some()).collect()
            })
            .collect();
        for (table, kept) in tables.iter_mut().zip(kept) {
            let mut kept = kept.into_iter();
            table.table.foreign_keys.retain(|_| kept.next().unwrap_or(false));
        }
        visible.tables = tables;
        visible
    }

    pub fn dialect(&self) -> Dialect {
        self.dialect
    }

    pub fn default_schemas(&self) -> &[String] {
        &self.default_schemas
    }

    pub fn tables(&self) -> &[VisibleTable] {
        &self.tables
    }

    /// A table by its name as the server compares names: without a schema, the first of the default
    /// schemas that has one. `name` is without quotes and, in PostgreSQL, already folded.
    pub fn table(&self, schema: Option<&str>, name: &str) -> Option<&VisibleTable> {
        let look = |schema: &str| {
            let at = self.by_name.get(&self.key(&TableName::new(schema, name)))?;
            self.tables.get(*at)
        };
        match schema {
            Some(schema) => look(schema),
            None => self.default_schemas.iter().find_map(|schema| look(schema)),
        }
    }

    /// The views that a rule allows and that are left out all the same, each with the reason.
    pub fn views_left_out(&self) -> &[(TableName, String)] {
        &self.views_left_out
    }

    /// Functions and operators that are not built in.
    pub(crate) fn functions(&self) -> &Functions {
        &self.functions
    }

    /// An enumeration by its name: without a schema, that of the first default schema that has one.
    pub(crate) fn labels_type(&self, schema: Option<&str>, name: &str) -> Option<&TableName> {
        let look = |schema: &str| self.labels.get(&TableName::new(schema, name));
        match schema {
            Some(schema) => look(schema),
            None => self.default_schemas.iter().find_map(|schema| look(schema)),
        }
    }

    /// The fields of a column's type, if it has any.
    pub(crate) fn fields(&self, column_type: &str) -> Option<&[String]> {
        self.fields.get(column_type).map(Vec::as_slice)
    }

    fn key(&self, name: &TableName) -> (String, String) {
        if self.dialect.folds_names() {
            (name.schema.to_lowercase(), name.name.to_lowercase())
        } else {
            (name.schema.clone(), name.name.clone())
        }
    }
}

impl VisibleTable {
    pub fn column(&self, dialect: Dialect, name: &str) -> Option<&VisibleColumn> {
        self.columns.iter().find(|column| {
            if dialect.folds_names() {
                column.name.to_lowercase() == name.to_lowercase()
            } else {
                column.name == name
            }
        })
    }
}

/// The types of these tables' columns, alone or in arrays. Those of hidden columns do not exist.
fn used_types<'a>(
    schema: &'a Schema,
    tables: &[VisibleTable],
) -> impl Iterator<Item = &'a OwnType> + use<'a> {
    let columns = tables.iter().flat_map(|table| &table.table.columns);
    let used: HashSet<String> =
        columns.map(|column| column.column_type.trim_end_matches("[]").to_owned()).collect();
    schema.types.iter().filter(move |own| used.contains(&own.written))
}

fn visible_table(table: &Table, rules: &TableRules, judge: &TableJudge<'_>) -> VisibleTable {
    let has_hidden_parts = !judge.shows_parts(table);
    let name = &table.name;
    let hides = |column: &str| rules.hide.iter().any(|rule| rule.matches(name, column));
    let masks = |column: &str| rules.mask.iter().any(|rule| rule.matches(name, column));
    let mut table = table.clone();
    let before = table.columns.len();
    table.columns.retain(|column| !hides(&column.name));
    table.primary_key.retain(|column| !hides(column));
    table.foreign_keys.retain(|key| !key.columns.iter().any(|column| hides(column)));
    let has_hidden = table.columns.len() < before;
    if has_hidden {
        // An index may be over an expression, which would name a hidden column.
        let columns = &table.columns;
        let is_shown = |name: &String| columns.iter().any(|column| column.name == *name);
        table.indexes.retain(|index| index.columns.iter().all(is_shown));
        for column in table.columns.iter_mut().filter(|column| column.generated) {
            column.default = None;
        }
    }
    let shown = |column: &Column| VisibleColumn {
        is_masked: masks(&column.name),
        name: column.name.clone(),
    };
    VisibleTable {
        columns: table.columns.iter().map(shown).collect(),
        has_hidden,
        has_hidden_parts,
        table,
    }
}

/// Judges whether a table may be seen.
struct TableJudge<'a> {
    rules: &'a TableRules,
    tables: HashMap<&'a TableName, &'a Table>,
    functions: &'a Functions,
}

/// How deep views may read views. A deeper one counts as one that reads something hidden.
const MAX_VIEW_DEPTH: usize = 32;

impl<'a> TableJudge<'a> {
    fn new(schema: &'a Schema, rules: &'a TableRules, functions: &'a Functions) -> Self {
        let tables = schema.tables.iter().map(|table| (&table.name, table)).collect();
        Self { rules, tables, functions }
    }

    /// Why a view is left out that the rules allow. One that reads what may not be seen is left out on
    /// purpose, and has no reason here.
    fn left_out_for(&self, table: &Table) -> Option<String> {
        let is_view = matches!(table.kind, TableKind::View | TableKind::MaterializedView);
        if !is_view || self.is_named(&table.name) {
            return None;
        }
        if table.reads.is_none() {
            return Some(
                "what it reads is not known (the role may lack the right to see its definition, or \
                 it is not understood); name it in `allow_tables` if models may see it"
                    .to_owned(),
            );
        }
        let call = table.calls.iter().find(|name| !self.functions.reads_nothing_hidden(name))?;
        let way = match self.functions.standing(call) {
            Some(FunctionStanding::NotNamed | FunctionStanding::NamedWidely) => {
                format!("name `{call}` in `allow_functions`, or the view in `allow_tables`,")
            }
            _ => "name the view in `allow_tables`".to_owned(),
        };
        Some(format!("it calls `{call}`, which might read anything; {way} if models may see it"))
    }

    fn shows(&self, table: &Table) -> bool {
        self.allows(&table.name) && (self.is_named(&table.name) || self.reads_only_shown(table, 0))
    }

    fn allows(&self, name: &TableName) -> bool {
        let allow = &self.rules.allow;
        (allow.is_empty() || allow.iter().any(|rule| rule.matches(name))) && !self.denies(name)
    }

    fn denies(&self, name: &TableName) -> bool {
        self.rules.deny.iter().any(|rule| rule.matches(name))
    }

    /// Whether all tables whose rows this one has may be seen. A partition is listed nowhere else, so only a rule
    /// that denies it hides it.
    fn shows_parts(&self, table: &Table) -> bool {
        let TableRules { hide, mask, .. } = self.rules;
        let is_ruled = |rules: &[ColumnPattern], name: &TableName, column: &Column| {
            rules.iter().any(|rule| rule.matches(name, &column.name))
        };
        table.parts.iter().all(|part| {
            let is_listed = self.tables.contains_key(part);
            let is_shown = if is_listed { self.allows(part) } else { !self.denies(part) };
            let mut columns = table.columns.iter();
            is_shown
                && columns.all(|column| {
                    let is_hidden = is_ruled(hide, &table.name, column);
                    is_hidden
                        || !is_ruled(hide, part, column)
                            && (is_ruled(mask, &table.name, column)
                                || !is_ruled(mask, part, column))
                })
        })
    }

    /// Whether a rule names this very table, by which its owner vouches for what a view shows.
    fn is_named(&self, name: &TableName) -> bool {
        self.rules.allow.iter().any(|rule| rule.is_exact() && rule.matches(name))
    }

    /// Whether everything that a view or a table reads may be seen, each column of it included: what a view
    /// makes of a hidden or masked column cannot be told.
    fn reads_only_shown(&self, table: &Table, depth: usize) -> bool {
        let Some(reads) = &table.reads else { return false };
        depth < MAX_VIEW_DEPTH
            && self.shows_parts(table)
            && table.calls.iter().all(|name| self.functions.reads_nothing_hidden(name))
            && reads.iter().all(|name| {
                let Some(read) = self.tables.get(name) else { return false };
                self.allows(name)
                    && !self.has_ruled_columns(read)
                    && (self.is_named(name) || self.reads_only_shown(read, depth + 1))
            })
    }

    fn has_ruled_columns(&self, table: &Table) -> bool {
        let mut rules = self.rules.hide.iter().chain(&self.rules.mask);
        rules.any(|rule| table.columns.iter().any(|column| rule.matches(&table.name, &column.name)))
    }
}
