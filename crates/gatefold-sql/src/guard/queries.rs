//! Queries: `WITH`, set operations, `VALUES`, order and limit.

use sqlparser::ast::{
    Cte, Expr, Fetch, FunctionArg, FunctionArgExpr, FunctionArguments, LimitClause, OrderBy,
    OrderByExpr, OrderByKind, Query, SetExpr, SetOperator, SetQuantifier, Table, Values, With,
};

use super::LimitForm;
use super::constants::constant;
use super::error::{GuardError, refused};
use super::expressions::{check_order, masked, refuse_masked};
use super::inspector::Inspector;
use super::scopes::{CommonTable, OutputColumn, Relation, Scope};
use crate::Dialect;

/// What a caller wants to know of a query that reads.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Shape {
    pub(super) has_order: bool,
    pub(super) limit: LimitForm,
}

pub(super) fn shape(query: &Query) -> Shape {
    let (has_limit, has_offset) = match &query.limit_clause {
        Some(LimitClause::OffsetCommaLimit { .. }) => {
            return Shape { has_order: query.order_by.is_some(), limit: LimitForm::Comma };
        }
        Some(LimitClause::LimitOffset { limit, offset, limit_by: _ }) => {
            (limit.is_some(), offset.is_some())
        }
        None => (false, false),
    };
    let limit = match (query.fetch.is_some(), has_limit, has_offset) {
        (true, _, false) => LimitForm::Fetch,
        (true, _, true) => LimitForm::OffsetFetch,
        (false, true, true) => LimitForm::LimitOffset,
        (false, true, false) => LimitForm::Limit,
        (false, false, true) => LimitForm::Offset,
        (false, false, false) => LimitForm::None,
    };
    Shape { has_order: query.order_by.is_some(), limit }
}

impl Inspector<'_> {
    /// Checks a query, and says which columns it has.
    pub(super) fn query(&mut self, query: &Query) -> Result<Vec<OutputColumn>, GuardError> {
        self.deeper(|inspector| inspector.query_here(query))
    }

    fn query_here(&mut self, query: &Query) -> Result<Vec<OutputColumn>, GuardError> {
        let Query {
            with,
            body,
            order_by,
            limit_clause,
            fetch,
            locks,
            for_clause,
            settings,
            format_clause,
            pipe_operators,
        } = query;
        if !locks.is_empty() {
            return Err(refused("locking rows (`FOR UPDATE` or `FOR SHARE`)", "leave it out"));
        }
        let has_more = for_clause.is_some() || settings.is_some() || format_clause.is_some();
        if has_more || !pipe_operators.is_empty() {
            return Err(refused(
                "this clause after a query",
                "`ORDER BY`, `LIMIT`, `OFFSET` and `FETCH` may follow",
            ));
        }
        let outer = self.common_tables.len();
        if let Some(with) = with {
            self.with(with)?;
        }
        let order = order_of(order_by.as_ref())?;
        let outputs = match &**body {
            SetExpr::Select(select) => self.select(select, order)?,
            other => {
                let outputs = self.set_expr(other)?;
                self.order_outputs(order, &outputs)?;
                outputs
            }
        };
        if let Some(limit) = limit_clause {
            self.limit(limit)?;
        }
        if let Some(Fetch { with_ties: _, percent: _, quantity }) = fetch {
            self.exprs(quantity.as_ref())?;
        }
        self.common_tables.truncate(outer);
        Ok(outputs)
    }

    fn limit(&mut self, limit: &LimitClause) -> Result<(), GuardError> {
        match limit {
            LimitClause::LimitOffset { limit, offset, limit_by } => {
                self.exprs(limit.as_ref())?;
                self.exprs(offset.as_ref().map(|offset| &offset.value))?;
                if limit_by.is_empty() {
                    return Ok(());
                }
                Err(refused("`LIMIT BY`", "`LIMIT count OFFSET start`"))
            }
            LimitClause::OffsetCommaLimit { offset, limit } => self.exprs([offset, limit]),
        }
    }

    fn with(&mut self, with: &With) -> Result<(), GuardError> {
        // SQLite needs no `RECURSIVE`, and each of its queries can name the later ones.
        let names_all = with.recursive || self.dialect() == Dialect::Sqlite;
        let base = self.common_tables.len();
        if names_all {
            let pending = with.cte_tables.iter();
            let pending = pending.map(|cte| CommonTable {
                name: self.name(&cte.alias.name),
                columns: None,
                expanded: 0,
            });
            let pending: Vec<_> = pending.collect();
            self.common_tables.extend(pending);
        }
        for (at, cte) in with.cte_tables.iter().enumerate() {
            let Cte { alias, query, from, materialized: _, closing_paren_token: _ } = cte;
            if from.is_some() || alias.at.is_some() {
                return Err(refused("this form of `WITH`", "`WITH name AS (SELECT …)`"));
            }
            let slot = if names_all { base + at } else { self.common_tables.len() };
            if !names_all {
                let (name, before) = (self.name(&alias.name), self.expanded);
                let columns = self.query(query)?;
                let columns = Some(self.renamed(cte, columns)?);
                let expanded = self.expanded - before;
                self.common_tables.push(CommonTable { name, columns, expanded });
            } else if let Some(first) = first_part(&query.body) {
                self.recursive(cte, first, slot)?;
            } else {
                let before = self.expanded;
                let columns = self.query(query)?;
                let columns = self.renamed(cte, columns)?;
                self.define(slot, columns, self.expanded - before);
            }
        }
        Ok(())
    }

    /// Walks a query that may name itself: its first part tells its columns. It is walked again while
    /// the rest makes more of them masked.
    fn recursive(&mut self, cte: &Cte, first: &SetExpr, slot: usize) -> Result<(), GuardError> {
        let outer = self.common_tables.len();
        if let Some(with) = &cte.query.with {
            self.with(with)?;
        }
        let columns = self.set_expr(first)?;
        self.common_tables.truncate(outer);
        let mut columns = self.renamed(cte, columns)?;
        self.define(slot, columns.clone(), 0);
        // Each walk but the last finds one more masked column.
        for _ in 0..=columns.len() {
            let before = self.expanded;
            let walked = self.query(&cte.query)?;
            let expanded = self.expanded - before;
            let mut grew = false;
            for (known, found) in columns.iter_mut().zip(&walked) {
                grew |= found.is_masked && !known.is_masked;
                known.is_masked |= found.is_masked;
            }
            // What it names of itself is no part of it yet.
            let own = if grew { 0 } else { expanded };
            self.define(slot, columns.clone(), own);
            if !grew {
                break;
            }
        }
        Ok(())
    }

    fn define(&mut self, slot: usize, columns: Vec<OutputColumn>, expanded: usize) {
        if let Some(table) = self.common_tables.get_mut(slot) {
            (table.columns, table.expanded) = (Some(columns), expanded);
        }
    }

    fn renamed(
        &self,
        cte: &Cte,
        mut columns: Vec<OutputColumn>,
    ) -> Result<Vec<OutputColumn>, GuardError> {
        if cte.alias.columns.len() > columns.len() {
            let allowed = "name at most as many columns as its query has";
            return Err(refused(format!("the columns of `{}`", cte.alias.name), allowed));
        }
        for (column, renamed) in columns.iter_mut().zip(&cte.alias.columns) {
            column.name = self.name(&renamed.name);
        }
        Ok(columns)
    }

    pub(super) fn set_expr(&mut self, body: &SetExpr) -> Result<Vec<OutputColumn>, GuardError> {
        self.deeper(|inspector| match body {
            SetExpr::Select(select) => inspector.select(select, &[]),
            SetExpr::Query(query) => inspector.query(query),
            SetExpr::SetOperation { left, op, set_quantifier, right } => {
                let left = inspector.set_expr(left)?;
                let right = inspector.set_expr(right)?;
                combined(*op, *set_quantifier, left, &right)
            }
            SetExpr::Values(values) => inspector.values(values),
            SetExpr::Table(table) => inspector.whole_table(table),
            SetExpr::Insert(_) | SetExpr::Update(_) | SetExpr::Delete(_) | SetExpr::Merge(_) => {
                Err(refused(
                    "a statement that writes within another one",
                    "queries may hold queries that read",
                ))
            }
        })
    }

    fn values(&mut self, values: &Values) -> Result<Vec<OutputColumn>, GuardError> {
        let Values { explicit_row: _, value_keyword: _, rows } = values;
        for row in rows {
            self.exprs(&row.content)?;
        }
        let count = rows.first().map_or(0, |row| row.content.len());
        let name = |at: usize| {
            if self.is_mysql() { format!("column_{at}") } else { format!("column{}", at + 1) }
        };
        let columns = (0..count).map(|at| OutputColumn { name: name(at), is_masked: false });
        Ok(columns.collect())
    }

    /// `TABLE name`.
    fn whole_table(&mut self, table: &Table) -> Result<Vec<OutputColumn>, GuardError> {
        let Table { table_name: Some(name), schema_name } = table else {
            return Err(refused("`TABLE` without a name", "`TABLE name`"));
        };
        let idents: Vec<_> = schema_name.iter().chain([name]).collect();
        if let [ident] = &*idents {
            let found = self.common_table(&self.name(ident))?.cloned();
            if let Some(CommonTable { columns: Some(columns), expanded, .. }) = found {
                self.count_expanded(expanded)?;
                return Ok(columns);
            }
        }
        let (visible, first, last) = self.visible_table(&idents)?;
        let relation = self.relation_of(visible);
        if visible.has_hidden || relation.has_masked() {
            let select = self.select_visible(visible)?;
            self.edits.replace_before(self.tokens, first.span, select)?;
        }
        self.qualify(visible, first, last)?;
        Ok(relation.columns)
    }

    /// `ORDER BY` behind a set operation, which knows the result's columns only.
    fn order_outputs(
        &mut self,
        order: &[OrderByExpr],
        outputs: &[OutputColumn],
    ) -> Result<(), GuardError> {
        let relations = vec![Relation::new(None, outputs.to_vec())];
        self.scopes.push(Scope { relations, ..Scope::default() });
        for order in order {
            check_order(order)?;
            refuse_masked_position(&order.expr, outputs)?;
            self.expr(&order.expr)?;
        }
        self.scopes.pop();
        Ok(())
    }
}

/// The expressions of an `ORDER BY`.
fn order_of(order: Option<&OrderBy>) -> Result<&[OrderByExpr], GuardError> {
    match order {
        None => Ok(&[]),
        Some(OrderBy { kind: OrderByKind::Expressions(order), interpolate: None }) => Ok(order),
        Some(_) => Err(refused("this form of `ORDER BY`", "`ORDER BY column, …`")),
    }
}

/// `ORDER BY 2` and `GROUP BY 2` mean the second column, within a grouping set too.
pub(super) fn refuse_masked_position(
    expr: &Expr,
    outputs: &[OutputColumn],
) -> Result<(), GuardError> {
    let within = match expr {
        Expr::GroupingSets(sets) | Expr::Cube(sets) | Expr::Rollup(sets) => &**sets,
        Expr::Tuple(parts) => std::slice::from_ref(parts),
        _ => &[],
    };
    for part in within.iter().flatten() {
        refuse_masked_position(part, outputs)?;
    }
    let Some(number) = position(expr) else { return Ok(()) };
    let mut numbered = (1_u32..).zip(outputs);
    match numbered.find(|(at, column)| (f64::from(*at) - number).abs() < 1.0 && column.is_masked) {
        Some((_, column)) => Err(masked(&column.name, "to group or order by")),
        None => Ok(()),
    }
}

/// The number that an expression could be taken for. SQLite sees through a collation and through
/// `likely`.
fn position(expr: &Expr) -> Option<f64> {
    match expr {
        Expr::Collate { expr, .. } | Expr::Nested(expr) => position(expr),
        Expr::Function(function) => match &function.args {
            FunctionArguments::List(list) => match list.args.first() {
                Some(FunctionArg::Unnamed(FunctionArgExpr::Expr(expr))) => position(expr),
                _ => None,
            },
            FunctionArguments::None | FunctionArguments::Subquery(_) => None,
        },
        expr => constant(expr),
    }
}

/// The columns of a set operation. All but `UNION ALL` compare rows, and so would tell values.
fn combined(
    op: SetOperator,
    quantifier: SetQuantifier,
    mut left: Vec<OutputColumn>,
    right: &[OutputColumn],
) -> Result<Vec<OutputColumn>, GuardError> {
    match quantifier {
        SetQuantifier::All | SetQuantifier::Distinct | SetQuantifier::None => {}
        SetQuantifier::ByName | SetQuantifier::AllByName | SetQuantifier::DistinctByName => {
            return Err(refused("`BY NAME`", "write columns in the same order"));
        }
    }
    if !matches!((op, quantifier), (SetOperator::Union, SetQuantifier::All)) {
        let place = "in a set operation other than `UNION ALL`";
        refuse_masked(&left, place)?;
        refuse_masked(right, place)?;
    }
    if left.len() != right.len() {
        return Err(refused(
            format!("a set operation of {} and {} columns", left.len(), right.len()),
            "both sides must have the same number of columns",
        ));
    }
    for (left, right) in left.iter_mut().zip(right) {
        left.is_masked |= right.is_masked;
    }
    Ok(left)
}

/// The first part of a chain of unions, if there is a second.
fn first_part(body: &SetExpr) -> Option<&SetExpr> {
    let SetExpr::SetOperation { op: SetOperator::Union, left, .. } = body else { return None };
    let mut first: &SetExpr = left;
    while let SetExpr::SetOperation { left, .. } = first {
        first = left;
    }
    Some(first)
}
