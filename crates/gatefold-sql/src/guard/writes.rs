//! One `INSERT`, `UPDATE` or `DELETE` of one table.

use sqlparser::ast::{
    Assignment, AssignmentTarget, ConflictTarget, Delete, Expr, FromTable, Ident, Insert,
    ObjectName, OnConflict, OnConflictAction, OnInsert, Parens, Query, SetExpr, TableFactor,
    TableObject, TableWithJoins, Update, UpdateTableFromKind,
};

use super::error::{GuardError, refused};
use super::expressions::{masked, refuse_masked};
use super::inspector::{Inspector, name_parts};
use super::scopes::{Relation, Scope};
use super::suggestions::unknown_column;
use super::{StatementKind, WriteVerb};
use crate::{TableKind, TableName, VisibleTable};

impl<'a> Inspector<'a> {
    pub(super) fn insert(&mut self, insert: &Insert) -> Result<StatementKind, GuardError> {
        refuse_insert_extras(insert)?;
        let TableObject::TableName(name) = &insert.table else {
            return Err(refused("inserting into this", "name a table"));
        };
        let (table, written) = self.target(name)?;
        if insert.columns.is_empty() && table.has_hidden {
            return Err(refused(
                format!("`INSERT INTO {written}` without columns"),
                "name the columns that are set",
            ));
        }
        let mut relation = self.relation_of(table);
        for column in &insert.columns {
            self.settable(&relation, column)?;
        }
        if let Some(source) = &insert.source {
            match inserted_rows(source) {
                Some(rows) => {
                    let values = rows.iter().flat_map(|row| &row.content);
                    self.exprs(values.filter(|value| !is_default(value)))?;
                }
                None => refuse_masked(&self.query(source)?, "to fill a table")?,
            }
        }
        if let Some(OnInsert::OnConflict(conflict)) = &insert.on {
            if let Some(alias) = &insert.table_alias {
                relation.name = Some(self.name(&alias.alias));
            }
            self.on_conflict(conflict, relation)?;
        }
        Ok(StatementKind::Write { verb: WriteVerb::Insert, table: written })
    }

    pub(super) fn update(&mut self, update: &Update) -> Result<StatementKind, GuardError> {
        let Update {
            update_token: _,
            optimizer_hints,
            table,
            on_cluster,
            assignments,
            from,
            selection,
            returning,
            output,
            or,
            order_by,
            limit,
            settings,
        } = update;
        let is_plain = optimizer_hints.is_empty()
            && on_cluster.is_none()
            && output.is_none()
            && or.is_none()
            && settings.is_none();
        refuse_extras(is_plain, returning.is_some())?;
        let written = self.push_target(table)?;
        let target = self.scopes.last().and_then(|scope| scope.relations.first()).cloned();
        match from {
            None => {}
            Some(UpdateTableFromKind::AfterSet(tables)) => {
                for tables in tables {
                    self.table_with_joins(tables)?;
                }
            }
            Some(UpdateTableFromKind::BeforeSet(_)) => {
                return Err(refused("`FROM` before `SET`", "`UPDATE table SET … FROM … WHERE …`"));
            }
        }
        self.assignments(&target.unwrap_or_default(), assignments)?;
        self.exprs(selection.iter().chain(limit))?;
        self.ordering(order_by)?;
        self.scopes.pop();
        Ok(StatementKind::Write { verb: WriteVerb::Update, table: written })
    }

    pub(super) fn delete(&mut self, delete: &Delete) -> Result<StatementKind, GuardError> {
        let Delete {
            delete_token: _,
            optimizer_hints,
            tables,
            from,
            on_cluster,
            using,
            selection,
            returning,
            output,
            order_by,
            limit,
            settings,
        } = delete;
        let is_plain = optimizer_hints.is_empty()
            && tables.is_empty()
            && on_cluster.is_none()
            && using.is_none()
            && output.is_none()
            && settings.is_none();
        refuse_extras(is_plain, returning.is_some())?;
        let FromTable::WithFromKeyword(from) = from else {
            return Err(refused("`DELETE` without `FROM`", "`DELETE FROM table WHERE …`"));
        };
        let [table] = &**from else {
            return Err(refused("deleting from several tables", "name one table"));
        };
        let written = self.push_target(table)?;
        self.exprs(selection.iter().chain(limit))?;
        self.ordering(order_by)?;
        self.scopes.pop();
        Ok(StatementKind::Write { verb: WriteVerb::Delete, table: written })
    }

    /// Opens a scope with the table that is written.
    fn push_target(&mut self, tables: &TableWithJoins) -> Result<TableName, GuardError> {
        let TableWithJoins { relation, joins } = tables;
        let TableFactor::Table {
            name,
            alias,
            args: None,
            with_hints,
            version: None,
            with_ordinality: false,
            partitions,
            json_path: None,
            sample: None,
            index_directives,
            inheritance: None,
        } = relation
        else {
            return Err(refused("writing to this", "name one table"));
        };
        let is_plain = with_hints.is_empty()
            && partitions.is_empty()
            && index_directives.is_empty()
            && joins.is_empty();
        if !is_plain || alias.as_ref().is_some_and(|alias| !alias.columns.is_empty()) {
            return Err(refused("a join or a hint at the table that is written", "name one table"));
        }
        let (table, written) = self.target(name)?;
        let mut relation = self.relation_of(table);
        if let Some(alias) = alias {
            relation.schema = None;
            relation.name = Some(self.name(&alias.name));
        }
        self.scopes.push(Scope { relations: vec![relation], ..Scope::default() });
        Ok(written)
    }

    fn target(&mut self, name: &ObjectName) -> Result<(&'a VisibleTable, TableName), GuardError> {
        let idents = name_parts(name)?;
        let (table, first, last) = self.visible_table(&idents)?;
        if table.table.kind != TableKind::Table {
            return Err(refused(format!("writing to the view `{name}`"), "name a table"));
        }
        self.qualify(table, first, last)?;
        Ok((table, table.table.name.clone()))
    }

    fn settable(&self, target: &Relation, column: &ObjectName) -> Result<(), GuardError> {
        let idents = name_parts(column)?;
        let name = match &*idents {
            [column] => self.name(column),
            // `UPDATE t SET t.column = …` of MySQL.
            [table, column] if target.name.as_deref() == Some(&*self.name(table)) => {
                self.name(column)
            }
            _ => return Err(refused(format!("setting `{column}`"), "name a column of the table")),
        };
        let dialect = self.dialect();
        let mut columns = target.columns.iter();
        if columns.any(|known| super::scopes::same_name(dialect, &known.name, &name)) {
            return Ok(());
        }
        Err(unknown_column(self, None, None, &name))
    }

    fn assignments(
        &mut self,
        target: &Relation,
        assignments: &[Assignment],
    ) -> Result<(), GuardError> {
        for Assignment { target: set, value } in assignments {
            match set {
                AssignmentTarget::ColumnName(column) => self.settable(target, column)?,
                AssignmentTarget::Tuple(columns) => {
                    for column in columns {
                        self.settable(target, column)?;
                    }
                }
            }
            self.expr(value)?;
        }
        Ok(())
    }

    /// `ON CONFLICT`, whose expressions know the row there and the one that was to be inserted.
    fn on_conflict(&mut self, conflict: &OnConflict, relation: Relation) -> Result<(), GuardError> {
        let mut excluded = relation.clone();
        (excluded.schema, excluded.name) = (None, Some("excluded".to_owned()));
        let target = relation.clone();
        self.scopes.push(Scope { relations: vec![relation, excluded], ..Scope::default() });
        match &conflict.conflict_target {
            None => {}
            Some(ConflictTarget::Columns { columns, predicate }) => {
                for column in columns {
                    self.conflict_column(&target, column)?;
                }
                self.exprs(predicate.as_ref())?;
            }
            Some(ConflictTarget::OnConstraint(name)) => {
                return Err(refused(format!("`ON CONSTRAINT {name}`"), "name the columns"));
            }
        }
        match &conflict.action {
            OnConflictAction::DoNothing => {}
            OnConflictAction::DoUpdate(update) => {
                self.assignments(&target, &update.assignments)?;
                self.exprs(update.selection.as_ref())?;
            }
        }
        self.scopes.pop();
        Ok(())
    }

    fn conflict_column(&self, target: &Relation, column: &Ident) -> Result<(), GuardError> {
        let (dialect, name) = (self.dialect(), self.name(column));
        let mut columns = target.columns.iter();
        match columns.find(|known| super::scopes::same_name(dialect, &known.name, &name)) {
            Some(known) if known.is_masked => Err(masked(&name, "to find a conflict")),
            Some(_) => Ok(()),
            None => Err(unknown_column(self, None, None, &name)),
        }
    }
}

/// The rows of `INSERT … VALUES`, which may hold the word `DEFAULT`.
fn inserted_rows(source: &Query) -> Option<&[Parens<Vec<Expr>>]> {
    match (&source.with, &source.order_by, &source.limit_clause, &*source.body) {
        (None, None, None, SetExpr::Values(values)) if is_bare(source) => Some(&values.rows),
        _ => None,
    }
}

fn is_bare(query: &Query) -> bool {
    query.fetch.is_none()
        && query.locks.is_empty()
        && query.for_clause.is_none()
        && query.settings.is_none()
        && query.format_clause.is_none()
        && query.pipe_operators.is_empty()
}

fn is_default(value: &Expr) -> bool {
    matches!(value, Expr::Identifier(ident)
        if ident.quote_style.is_none() && ident.value.eq_ignore_ascii_case("default"))
}

fn refuse_extras(is_plain: bool, returns: bool) -> Result<(), GuardError> {
    if returns {
        return Err(refused("`RETURNING`", "read the rows with a `SELECT` afterwards"));
    }
    if !is_plain {
        return Err(refused(
            "a clause of this statement",
            "`INSERT INTO … VALUES`, `UPDATE … SET … WHERE` and `DELETE FROM … WHERE` may be used",
        ));
    }
    Ok(())
}

fn refuse_insert_extras(insert: &Insert) -> Result<(), GuardError> {
    let Insert {
        insert_token: _,
        optimizer_hints,
        or,
        ignore,
        into: _,
        table: _,
        table_alias: _,
        columns: _,
        by_name,
        overwrite,
        source: _,
        assignments,
        partitioned,
        after_columns,
        overriding,
        has_table_keyword,
        on,
        returning,
        output,
        replace_into,
        priority,
        insert_alias,
        settings,
        format_clause,
        multi_table_insert_type,
        multi_table_into_clauses,
        multi_table_when_clauses,
        multi_table_else_clause,
    } = insert;
    let is_plain = optimizer_hints.is_empty()
        && or.is_none()
        && !(*ignore || *by_name || *overwrite || *has_table_keyword || *replace_into)
        && assignments.is_empty()
        && partitioned.is_none()
        && after_columns.is_empty()
        && overriding.is_none()
        && !matches!(on, Some(OnInsert::DuplicateKeyUpdate(_)))
        && output.is_none()
        && priority.is_none()
        && insert_alias.is_none()
        && settings.is_none()
        && format_clause.is_none()
        && multi_table_insert_type.is_none()
        && multi_table_into_clauses.is_empty()
        && multi_table_when_clauses.is_empty()
        && multi_table_else_clause.is_none();
    refuse_extras(is_plain, returning.is_some())
}
