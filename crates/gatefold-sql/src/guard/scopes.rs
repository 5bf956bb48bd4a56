//! What the queries of a statement hold that can be named.

use crate::Dialect;

/// A column of a result, or of something that is selected from.
#[derive(Debug, Clone)]
pub(super) struct OutputColumn {
    pub(super) name: String,
    pub(super) is_masked: bool,
}

/// Something that is selected from.
#[derive(Debug, Clone, Default)]
pub(super) struct Relation {
    pub(super) schema: Option<String>,
    /// Its alias, or its own name.
    pub(super) name: Option<String>,
    pub(super) columns: Vec<OutputColumn>,
    /// Columns that a join has merged into those of another relation, so that `*` has them once.
    pub(super) merged: Vec<String>,
    /// Whether it is a table of SQLite, with a row id that says nothing of hidden or masked columns.
    pub(super) has_rowid: bool,
    /// Whether the server sees more columns in it than are known here.
    pub(super) has_hidden: bool,
    /// The columns whose values have fields, and the names of those.
    pub(super) fields: Vec<(String, Vec<String>)>,
    /// Columns that `*` leaves out: a full-text table is searched by them.
    pub(super) search_columns: Vec<String>,
}

/// The names that one query adds.
#[derive(Debug, Default)]
pub(super) struct Scope {
    pub(super) relations: Vec<Relation>,
    /// The query's own columns, where they can be named.
    pub(super) outputs: Vec<OutputColumn>,
    pub(super) shows_outputs: bool,
    /// Whether what is looked at cannot see it: a subquery in `FROM` without `LATERAL`.
    pub(super) is_hidden: bool,
}

/// A query of a `WITH` clause.
#[derive(Debug, Clone)]
pub(super) struct CommonTable {
    pub(super) name: String,
    /// `None` until it has been looked at.
    pub(super) columns: Option<Vec<OutputColumn>>,
    /// How many tables and subqueries it selects from, those of the `WITH` queries that it names included.
    pub(super) expanded: usize,
}

/// The names of the row id of a table of SQLite.
const ROW_IDS: [&str; 3] = ["rowid", "_rowid_", "oid"];

impl Relation {
    pub(super) fn new(name: Option<String>, columns: Vec<OutputColumn>) -> Self {
        Self { name, columns, ..Self::default() }
    }

    pub(super) fn has_masked(&self) -> bool {
        self.columns.iter().any(|column| column.is_masked)
    }

    /// The columns that `*` stands for.
    pub(super) fn starred(&self, dialect: Dialect) -> impl Iterator<Item = &OutputColumn> {
        let is_merged = move |column: &&OutputColumn| {
            self.merged.iter().any(|name| same_name(dialect, name, &column.name))
        };
        self.columns.iter().filter(move |column| !is_merged(column))
    }

    pub(super) fn column(&self, dialect: Dialect, name: &str) -> Option<bool> {
        let found = self.columns.iter().filter(|column| same_name(dialect, &column.name, name));
        let found = found.fold(None, |seen, column| Some(seen == Some(true) || column.is_masked));
        let is_rowid = || self.has_rowid && ROW_IDS.iter().any(|id| name.eq_ignore_ascii_case(id));
        let is_search = || self.search_columns.iter().any(|own| same_name(dialect, own, name));
        found.or_else(|| (is_rowid() || is_search()).then_some(false))
    }

    pub(super) fn is_called(&self, dialect: Dialect, schema: Option<&str>, name: &str) -> bool {
        let is = |known: &Option<String>, name: &str| {
            known.as_ref().is_some_and(|known| same_name(dialect, known, name))
        };
        is(&self.name, name) && schema.is_none_or(|schema| is(&self.schema, schema))
    }
}

/// Whether two names are one, taken widely: where a server tells them apart, it knows only one.
pub(super) fn same_name(dialect: Dialect, left: &str, right: &str) -> bool {
    if dialect == Dialect::Postgres {
        left == right
    } else {
        left.eq_ignore_ascii_case(right)
            || (!(left.is_ascii() && right.is_ascii())
                && left.to_lowercase() == right.to_lowercase())
    }
}
