//! What the names in a statement mean.

use sqlparser::ast::Ident;

use super::error::{GuardError, refused};
use super::inspector::Inspector;
use super::scopes::{CommonTable, Relation, same_name};
use super::suggestions::unknown_column;
use crate::Dialect;

/// What a name in an expression means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NamedValue {
    Column {
        is_masked: bool,
    },
    /// A whole row of a relation, as PostgreSQL knows it.
    Row {
        has_masked: bool,
    },
}

impl Inspector<'_> {
    /// What a name with its qualifiers means. A name that could mean a masked column in any of the
    /// queries around it counts as masked, whichever of them the server would choose.
    pub(super) fn named_value(&self, idents: &[&Ident]) -> Result<NamedValue, GuardError> {
        let names: Vec<String> = idents.iter().map(|ident| self.name(ident)).collect();
        let (schema, table, column) = match &*names {
            [column] => (None, None, &**column),
            [table, column] => (None, Some(&**table), &**column),
            [schema, table, column] => (Some(&**schema), Some(&**table), &**column),
            _ => return Err(refused("a name with more than three parts", "`schema.table.column`")),
        };
        if let Some(is_masked) = self.find_column(schema, table, column) {
            return Ok(NamedValue::Column { is_masked });
        }
        if let (true, [name]) = (self.is_postgres(), &*names)
            && let Some(relation) = self.relation(name)
        {
            if relation.has_hidden {
                return Err(refused(format!("the whole row `{name}`"), "name its columns"));
            }
            return Ok(NamedValue::Row { has_masked: relation.has_masked() });
        }
        Err(unknown_column(self, schema, table, column))
    }

    /// Whether the column is masked, if there is one.
    fn find_column(&self, schema: Option<&str>, table: Option<&str>, name: &str) -> Option<bool> {
        let dialect = self.dialect();
        let mut found: Option<bool> = None;
        let mut note = |is_masked: bool| found = Some(found == Some(true) || is_masked);
        for scope in self.scopes.iter().rev().filter(|scope| !scope.is_hidden) {
            let named = scope.relations.iter().filter(|relation| {
                table.is_none_or(|table| relation.is_called(dialect, schema, table))
            });
            named.filter_map(|relation| relation.column(dialect, name)).for_each(&mut note);
            if scope.shows_outputs && table.is_none() {
                let outputs = scope.outputs.iter();
                let same = outputs.filter(|column| same_name(dialect, &column.name, name));
                same.map(|column| column.is_masked).for_each(&mut note);
            }
        }
        found
    }

    /// The innermost relation of a name.
    pub(super) fn relation(&self, name: &str) -> Option<&Relation> {
        let scopes = self.scopes.iter().rev().filter(|scope| !scope.is_hidden);
        let mut relations = scopes.flat_map(|scope| &scope.relations);
        relations.find(|relation| relation.is_called(self.dialect(), None, name))
    }

    /// The `WITH` query that a bare name means, if it means one.
    pub(super) fn common_table(&self, name: &str) -> Result<Option<&CommonTable>, GuardError> {
        let is_same = |known: &str| match self.dialect() {
            Dialect::Sqlite => known.eq_ignore_ascii_case(name),
            Dialect::Postgres | Dialect::MySql | Dialect::MariaDb => known == name,
        };
        let is_near = |known: &str| {
            is_same(known) || (!self.is_postgres() && known.to_lowercase() == name.to_lowercase())
        };
        let near = self.common_tables.iter().rev().find(|table| is_near(&table.name));
        match near {
            Some(table) if is_same(&table.name) => match &table.columns {
                Some(_) => Ok(Some(table)),
                None => Err(refused(
                    format!("`{name}` before its query in `WITH` has ended"),
                    "define it first; a recursive query begins with a part that does not name \
                     itself, then `UNION ALL`",
                )),
            },
            // Whether the server takes it for the query or for a table is not worth guessing.
            Some(table) => Err(refused(
                format!("`{name}` beside the query `{}`", table.name),
                "write names of `WITH` queries in one way",
            )),
            None => Ok(None),
        }
    }
}
