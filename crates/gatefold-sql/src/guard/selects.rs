//! One `SELECT`.

use sqlparser::ast::{
    Distinct, Expr, GroupByExpr, GroupByWithModifier, NamedWindowDefinition, NamedWindowExpr,
    ObjectName, OrderByExpr, Select, SelectFlavor, SelectItem, SelectItemQualifiedWildcardKind,
    SelectModifiers, WildcardAdditionalOptions,
};

use super::error::{GuardError, refused};
use super::expressions::{check_order, refuse_masked};
use super::inspector::{Inspector, name_parts};
use super::queries::refuse_masked_position;
use super::scopes::{OutputColumn, Relation, Scope};
use crate::Dialect;

/// How many columns a result may have. MySQL's own limit, and more than PostgreSQL's and SQLite's.
const MAX_OUTPUTS: usize = 4_096;

impl Inspector<'_> {
    /// Checks one `SELECT` with the order of the query around it, which sees its tables too.
    pub(super) fn select(
        &mut self,
        select: &Select,
        order: &[OrderByExpr],
    ) -> Result<Vec<OutputColumn>, GuardError> {
        let Select {
            select_token: _,
            optimizer_hints,
            distinct,
            select_modifiers,
            top,
            top_before_distinct: _,
            projection,
            exclude,
            into,
            from,
            lateral_views,
            prewhere,
            selection,
            connect_by,
            group_by,
            cluster_by,
            distribute_by,
            sort_by,
            having,
            named_window,
            qualify,
            window_before_qualify: _,
            value_table_mode,
            flavor,
        } = select;
        if into.is_some() {
            return Err(refused("`SELECT … INTO`", "leave `INTO` out: the rows are the answer"));
        }
        let is_known = optimizer_hints.is_empty()
            && top.is_none()
            && exclude.is_none()
            && lateral_views.is_empty()
            && prewhere.is_none()
            && connect_by.is_empty()
            && cluster_by.is_empty()
            && distribute_by.is_empty()
            && sort_by.is_empty()
            && qualify.is_none()
            && value_table_mode.is_none()
            && *flavor == SelectFlavor::Standard;
        if !is_known {
            return Err(refused(
                "a clause that this database does not have",
                "`SELECT … FROM … WHERE … GROUP BY … HAVING … WINDOW … ORDER BY … LIMIT …`",
            ));
        }
        check_modifiers(select_modifiers.as_ref())?;
        self.scopes.push(Scope::default());
        from.iter().try_for_each(|tables| self.table_with_joins(tables))?;
        let outputs = self.projection(projection)?;
        self.distinct(distinct.as_ref(), &outputs)?;
        self.set_outputs(&outputs);
        self.clause(self.dialect() == Dialect::Sqlite, selection.as_ref())?;
        self.group_by(group_by, &outputs)?;
        self.clause(!self.is_postgres(), having.as_ref())?;
        self.show_outputs(false);
        for NamedWindowDefinition(_, window) in named_window {
            if let NamedWindowExpr::WindowSpec(spec) = window {
                self.window_spec(spec)?;
            }
        }
        for order in order {
            check_order(order)?;
            refuse_masked_position(&order.expr, &outputs)?;
            self.output_or_expr(&order.expr)?;
        }
        self.scopes.pop();
        Ok(outputs)
    }

    /// An expression of a clause that may name output columns in some dialects.
    fn clause(&mut self, shows_outputs: bool, expr: Option<&Expr>) -> Result<(), GuardError> {
        self.show_outputs(shows_outputs);
        self.exprs(expr)?;
        self.show_outputs(false);
        Ok(())
    }

    /// An expression to group or order by. In PostgreSQL only a bare name may be an output column's.
    fn output_or_expr(&mut self, expr: &Expr) -> Result<(), GuardError> {
        let may_name_outputs = matches!(
            expr,
            Expr::Identifier(_) | Expr::GroupingSets(_) | Expr::Cube(_) | Expr::Rollup(_)
        );
        let shows_outputs = !self.is_postgres() || may_name_outputs;
        self.clause(shows_outputs, Some(expr))
    }

    fn group_by(
        &mut self,
        group: &GroupByExpr,
        outputs: &[OutputColumn],
    ) -> Result<(), GuardError> {
        let GroupByExpr::Expressions(exprs, modifiers) = group else {
            return Err(refused("`GROUP BY ALL`", "name the columns to group by"));
        };
        for modifier in modifiers {
            match modifier {
                GroupByWithModifier::Rollup | GroupByWithModifier::Cube => {}
                GroupByWithModifier::GroupingSets(expr) => self.expr(expr)?,
                GroupByWithModifier::Totals => {
                    return Err(refused("`WITH TOTALS`", "`WITH ROLLUP`"));
                }
            }
        }
        for expr in exprs {
            refuse_masked_position(expr, outputs)?;
            self.output_or_expr(expr)?;
        }
        Ok(())
    }

    fn distinct(
        &mut self,
        distinct: Option<&Distinct>,
        outputs: &[OutputColumn],
    ) -> Result<(), GuardError> {
        match distinct {
            None | Some(Distinct::All) => Ok(()),
            Some(Distinct::Distinct) => refuse_masked(outputs, "with `DISTINCT`"),
            Some(Distinct::On(exprs)) => {
                self.set_outputs(outputs);
                for expr in exprs {
                    refuse_masked_position(expr, outputs)?;
                    self.output_or_expr(expr)?;
                }
                Ok(())
            }
        }
    }

    fn set_outputs(&mut self, outputs: &[OutputColumn]) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.outputs = outputs.to_vec();
        }
    }

    fn show_outputs(&mut self, shows: bool) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.shows_outputs = shows;
        }
    }

    fn projection(&mut self, items: &[SelectItem]) -> Result<Vec<OutputColumn>, GuardError> {
        let mut outputs = Vec::with_capacity(items.len());
        let is_labelled = items.len() > 1;
        for item in items {
            match item {
                SelectItem::UnnamedExpr(expr) if self.selected_text(expr, is_labelled)? => {
                    outputs.push(OutputColumn { name: expr.to_string(), is_masked: false });
                }
                SelectItem::ExprWithAlias { expr, alias } if self.selected_text(expr, true)? => {
                    outputs.push(OutputColumn { name: self.name(alias), is_masked: false });
                }
                SelectItem::UnnamedExpr(expr) => {
                    let is_masked = self.selected(expr)?;
                    outputs.push(OutputColumn { name: self.output_name(expr), is_masked });
                }
                SelectItem::ExprWithAlias { expr, alias } => {
                    let is_masked = self.selected(expr)?;
                    outputs.push(OutputColumn { name: self.name(alias), is_masked });
                }
                SelectItem::Wildcard(options) => {
                    let relations = self.relations_here();
                    self.star(&relations, options, false)?;
                    outputs.extend(self.starred(&relations));
                }
                SelectItem::QualifiedWildcard(kind, options) => {
                    let relation = self.starred_relation(kind)?;
                    self.star(std::slice::from_ref(&relation), options, true)?;
                    outputs.extend(relation.columns);
                }
                SelectItem::ExprWithAliases { .. } => {
                    return Err(refused("several names for one value", "`value AS name`"));
                }
            }
            if outputs.len() > MAX_OUTPUTS {
                let allowed = format!("at most {MAX_OUTPUTS} may be selected");
                return Err(refused("selecting this many columns", allowed));
            }
        }
        Ok(outputs)
    }

    fn relations_here(&self) -> Vec<Relation> {
        self.scopes.last().map(|scope| scope.relations.clone()).unwrap_or_default()
    }

    fn starred(&self, relations: &[Relation]) -> Vec<OutputColumn> {
        let dialect = self.dialect();
        relations.iter().flat_map(|relation| relation.starred(dialect)).cloned().collect()
    }

    fn starred_relation(
        &self,
        kind: &SelectItemQualifiedWildcardKind,
    ) -> Result<Relation, GuardError> {
        let name: &ObjectName = match kind {
            SelectItemQualifiedWildcardKind::ObjectName(name) => name,
            SelectItemQualifiedWildcardKind::Expr(_) => {
                return Err(refused("`.*` behind an expression", "only `table.*` may be selected"));
            }
        };
        let idents = name_parts(name)?;
        let [table] = &*idents else {
            return Err(refused(format!("`{name}.*`"), "write `table.*` with the table's alias"));
        };
        let bare = self.name(table);
        let found = self.relation(&bare).cloned();
        found.ok_or_else(|| super::suggestions::unknown_table(self.schema, None, &bare))
    }

    /// Writes out the columns of a star over masked ones: their positions must be those of the
    /// result, whatever has changed in other tables since the schema was read. A name that two columns
    /// have would mean the first of them twice.
    fn star(
        &mut self,
        relations: &[Relation],
        options: &WildcardAdditionalOptions,
        is_qualified: bool,
    ) -> Result<(), GuardError> {
        let WildcardAdditionalOptions {
            wildcard_token,
            opt_ilike,
            opt_exclude,
            opt_except,
            opt_replace,
            opt_rename,
            opt_alias,
        } = options;
        let is_plain = opt_ilike.is_none()
            && opt_exclude.is_none()
            && opt_except.is_none()
            && opt_replace.is_none()
            && opt_rename.is_none()
            && opt_alias.is_none();
        if !is_plain {
            return Err(refused("options behind `*`", "name the columns"));
        }
        if !relations.iter().any(Relation::has_masked) {
            return Ok(());
        }
        let dialect = self.dialect();
        let mut columns = Vec::new();
        for relation in relations {
            let Some(name) = &relation.name else {
                return Err(refused("`*` over a subquery without a name", "name the columns"));
            };
            let name = dialect.quoted(name);
            let starred: Vec<_> = if is_qualified {
                relation.columns.iter().collect()
            } else {
                relation.starred(dialect).collect()
            };
            if starred.iter().any(|column| is_text_of_expression(&column.name)) {
                return Err(refused("`*` over a value without a name", "name the columns"));
            }
            let mut names: Vec<_> =
                starred.iter().map(|column| column.name.to_lowercase()).collect();
            names.sort_unstable();
            if names.windows(2).any(|two| two[0] == two[1]) {
                return Err(refused("`*` over two columns of one name", "name the columns"));
            }
            let full = |column: &OutputColumn| format!("{name}.{}", dialect.quoted(&column.name));
            columns.extend(starred.into_iter().map(full));
        }
        let mut text = columns.join(", ");
        if is_qualified {
            // The qualifier of the star stays as that of the first column.
            let name = relations.first().and_then(|relation| relation.name.as_deref());
            let qualifier = format!("{}.", dialect.quoted(name.unwrap_or_default()));
            text = text.replacen(&qualifier, "", 1);
        }
        self.edits.replace(wildcard_token.0.span, wildcard_token.0.span, text)
    }

    /// What a server calls a column without an alias, as far as it can be named.
    fn output_name(&self, expr: &Expr) -> String {
        match expr {
            Expr::Identifier(ident) => self.name(ident),
            Expr::CompoundIdentifier(idents) => {
                idents.last().map(|ident| self.name(ident)).unwrap_or_default()
            }
            Expr::Nested(inner) if self.is_postgres() => self.output_name(inner),
            other if self.is_postgres() => postgres_name(other),
            other => other.to_string(),
        }
    }
}

/// Whether a column may be called by the text of its expression, which SQLite takes for a string where
/// it calls the column otherwise.
fn is_text_of_expression(name: &str) -> bool {
    name.contains(|c: char| "()'\"+*/|=<>?".contains(c))
}

/// PostgreSQL names some expressions by their kind.
fn postgres_name(expr: &Expr) -> String {
    match expr {
        Expr::Identifier(ident) => ident.value.to_ascii_lowercase(),
        Expr::Nested(inner)
        | Expr::Cast { expr: inner, .. }
        | Expr::Collate { expr: inner, .. } => postgres_name(inner),
        Expr::Function(function) => {
            function.name.0.last().map(|part| part.to_string().to_lowercase()).unwrap_or_default()
        }
        Expr::Case { .. } => "case".to_owned(),
        Expr::Exists { .. } => "exists".to_owned(),
        Expr::Array(_) => "array".to_owned(),
        Expr::Extract { .. } => "extract".to_owned(),
        Expr::Substring { .. } => "substring".to_owned(),
        Expr::Position { .. } => "position".to_owned(),
        Expr::Overlay { .. } => "overlay".to_owned(),
        Expr::Trim { .. } => "btrim".to_owned(),
        Expr::Ceil { .. } => "ceil".to_owned(),
        Expr::Floor { .. } => "floor".to_owned(),
        Expr::AtTimeZone { .. } => "timezone".to_owned(),
        Expr::Interval(_) => "interval".to_owned(),
        _ => "?column?".to_owned(),
    }
}

fn check_modifiers(modifiers: Option<&SelectModifiers>) -> Result<(), GuardError> {
    let Some(modifiers) = modifiers else { return Ok(()) };
    let SelectModifiers {
        high_priority,
        straight_join: _,
        sql_small_result: _,
        sql_big_result: _,
        sql_buffer_result,
        sql_no_cache: _,
        sql_calc_found_rows,
    } = modifiers;
    if *high_priority || *sql_buffer_result || *sql_calc_found_rows {
        return Err(refused("this word behind `SELECT`", "leave it out"));
    }
    Ok(())
}
