//! Which expressions may stand in a statement.

use sqlparser::ast::{
    CastFormat, CastKind, CeilFloorKind, DateTimeField, Expr, Ident, InTarget, ObjectName,
    OrderByExpr, OrderBySort, Query, Value, ValueWithSpan, WindowFrameBound, WindowSpec,
    WindowType,
};

use super::error::{GuardError, refused};
use super::inspector::{Inspector, name_parts};
use super::names::NamedValue;
use super::scopes::OutputColumn;
use crate::Dialect;

/// Character sets that may mark a string of MySQL. The connection's own is UTF-8.
const INTRODUCERS: [&str; 6] = ["_utf8", "_utf8mb3", "_utf8mb4", "_latin1", "_ascii", "_binary"];

/// Words that a server reads as a function without parentheses, and the parser as a name.
const MYSQL_WORDS: [&str; 4] = ["current_user", "utc_date", "utc_time", "utc_timestamp"];
const POSTGRES_WORDS: [&str; 1] = ["current_role"];

impl Inspector<'_> {
    /// Checks an expression whose value is used. No masked column may be in it.
    pub(super) fn expr(&mut self, expr: &Expr) -> Result<(), GuardError> {
        self.deeper(|inspector| inspector.expr_here(expr))
    }

    pub(super) fn exprs<'e>(
        &mut self,
        exprs: impl IntoIterator<Item = &'e Expr>,
    ) -> Result<(), GuardError> {
        exprs.into_iter().try_for_each(|expr| self.expr(expr))
    }

    /// Checks what operators and functions work on. SQLite takes a name in double quotes for a text
    /// where there is no such column, and is sent one: a hidden column is none.
    pub(super) fn operands<'e>(
        &mut self,
        exprs: impl IntoIterator<Item = &'e Expr>,
    ) -> Result<(), GuardError> {
        exprs.into_iter().try_for_each(|expr| match self.quoted_text(expr) {
            Some((ident, _)) => self.write_text(ident),
            None => self.expr(expr),
        })
    }

    /// A name in double quotes that is no column of SQLite, and the columns that it could be meant for.
    fn quoted_text<'e>(&self, expr: &'e Expr) -> Option<(&'e Ident, Vec<String>)> {
        let Expr::Identifier(ident) = expr else { return None };
        if self.dialect() != Dialect::Sqlite || ident.quote_style != Some('"') {
            return None;
        }
        match self.named_value(&[ident]) {
            Err(GuardError::UnknownColumn { near, in_tables, .. }) => {
                Some((ident, [near, in_tables].concat()))
            }
            _ => None,
        }
    }

    fn write_text(&mut self, ident: &Ident) -> Result<(), GuardError> {
        let text = format!("'{}'", ident.value.replace('\'', "''"));
        self.edits.replace(ident.span, ident.span, text)
    }

    /// Writes a name in double quotes that a query of SQLite selects as the text that it is. A plain word
    /// that is alone or near to a column is a misspelt one, which its writer had better know.
    pub(super) fn selected_text(
        &mut self,
        expr: &Expr,
        is_labelled: bool,
    ) -> Result<bool, GuardError> {
        let Some((ident, near)) = self.quoted_text(expr) else { return Ok(false) };
        let is_word = ident.value.chars().all(|c| c.is_alphanumeric() || c == '_');
        if is_word && (!near.is_empty() || !is_labelled) {
            return Ok(false);
        }
        self.write_text(ident).map(|()| true)
    }

    /// Checks an expression that a query selects, and says whether it is a masked column as itself.
    pub(super) fn selected(&mut self, expr: &Expr) -> Result<bool, GuardError> {
        match expr {
            Expr::Nested(inner) => self.deeper(|inspector| inspector.selected(inner)),
            Expr::Identifier(_) | Expr::CompoundIdentifier(_) => {
                let idents = idents_of(expr);
                if let Ok(NamedValue::Column { is_masked: true }) = self.named_value(&idents) {
                    self.shorten(&idents)?;
                    return Ok(true);
                }
                self.expr(expr).map(|()| false)
            }
            other => self.expr(other).map(|()| false),
        }
    }

    fn expr_here(&mut self, expr: &Expr) -> Result<(), GuardError> {
        match expr {
            Expr::Identifier(_) | Expr::CompoundIdentifier(_) => self.named(&idents_of(expr)),
            Expr::CompoundFieldAccess { root, access_chain } => self.access(root, access_chain),
            Expr::Value(value) => check_value(value),
            Expr::QualifiedWildcard(name, _) if self.is_postgres() => self.whole_row(name),
            Expr::QualifiedWildcard(..) => Err(refused("`*` as a value", "name the columns")),
            Expr::Nested(inner)
            | Expr::IsFalse(inner)
            | Expr::IsNotFalse(inner)
            | Expr::IsTrue(inner)
            | Expr::IsNotTrue(inner)
            | Expr::IsNull(inner)
            | Expr::IsNotNull(inner)
            | Expr::IsUnknown(inner)
            | Expr::IsNotUnknown(inner)
            | Expr::IsJson { expr: inner, .. }
            | Expr::IsNormalized { expr: inner, .. } => self.expr(inner),
            Expr::UnaryOp { op, expr } => {
                self.unary_operator(*op)?;
                self.expr(expr)
            }
            Expr::BinaryOp { left, op, right } => {
                self.binary_operator(op)?;
                self.operands([&**left, &**right])
            }
            Expr::IsDistinctFrom(left, right) | Expr::IsNotDistinctFrom(left, right) => {
                self.operands([&**left, &**right])
            }
            Expr::AnyOp { left, compare_op, right, is_some: _ }
            | Expr::AllOp { left, compare_op, right } => {
                self.binary_operator(compare_op)?;
                self.exprs([&**left, &**right])
            }
            Expr::Between { expr, low, high, negated: _ } => {
                self.operands([&**expr, &**low, &**high])
            }
            Expr::In { .. }
            | Expr::Like { .. }
            | Expr::ILike { .. }
            | Expr::SimilarTo { .. }
            | Expr::RLike { .. } => self.predicate(expr),
            Expr::Exists { subquery, negated: _ } => self.query(subquery).map(drop),
            Expr::Subquery(query) => self.values_of(query, "in a subquery inside an expression"),
            Expr::Function(function) => self.function(function),
            Expr::Case { operand, conditions, else_result, case_token: _, end_token: _ } => {
                self.operands(operand.as_deref())?;
                self.operands(conditions.iter().flat_map(|when| [&when.condition, &when.result]))?;
                self.operands(else_result.as_deref())
            }
            Expr::GroupingSets(sets) | Expr::Cube(sets) | Expr::Rollup(sets) => {
                self.exprs(sets.iter().flatten())
            }
            Expr::Tuple(parts) => self.exprs(parts),
            Expr::Array(array) => self.exprs(&array.elem),
            other => self.typed_expr(other),
        }
    }

    /// Expressions that name a type, a character set or a collation.
    fn typed_expr(&mut self, expr: &Expr) -> Result<(), GuardError> {
        match expr {
            Expr::Cast { kind, expr, data_type, format } => {
                let is_known = matches!(kind, CastKind::Cast | CastKind::DoubleColon);
                if !is_known || format.as_ref().is_some_and(|_: &CastFormat| true) {
                    return Err(refused("this kind of cast", "use `CAST(value AS type)`"));
                }
                self.data_type(data_type)?;
                self.expr(expr)
            }
            Expr::Convert {
                is_try: false,
                expr,
                data_type,
                charset,
                target_before_value: false,
                styles,
            } if self.is_mysql() && styles.is_empty() => {
                if let Some(data_type) = data_type {
                    self.data_type(data_type)?;
                }
                if let Some(charset) = charset {
                    self.single_name(charset, "a character set")?;
                }
                self.expr(expr)
            }
            Expr::TypedString(string) if !string.uses_odbc_syntax => {
                self.data_type(&string.data_type)?;
                check_value(&string.value)
            }
            Expr::Collate { expr, collation } => {
                self.single_name(collation, "a collation")?;
                self.expr(expr)
            }
            Expr::Prefixed { prefix, value } => {
                let name = prefix.value.to_lowercase();
                if !self.is_mysql() || !INTRODUCERS.contains(&&*name) {
                    return Err(refused(
                        format!("`{}` before a value", prefix.value),
                        "leave it out",
                    ));
                }
                self.expr(value)
            }
            other => self.worded_expr(other),
        }
    }

    /// Functions that are written with words between their arguments.
    fn worded_expr(&mut self, expr: &Expr) -> Result<(), GuardError> {
        match expr {
            Expr::AtTimeZone { timestamp, time_zone } => self.exprs([&**timestamp, &**time_zone]),
            Expr::Extract { field, expr, syntax: _ } => {
                check_field(field)?;
                self.expr(expr)
            }
            Expr::Interval(interval) => self.expr(&interval.value),
            Expr::Ceil { expr, field } | Expr::Floor { expr, field } => {
                match field {
                    CeilFloorKind::DateTimeField(DateTimeField::NoDateTime) => {}
                    CeilFloorKind::DateTimeField(field) => check_field(field)?,
                    CeilFloorKind::Scale(scale) => check_value(scale)?,
                }
                self.expr(expr)
            }
            Expr::Position { expr, r#in } => self.exprs([&**expr, &**r#in]),
            Expr::Substring { expr, substring_from, substring_for, special: _, shorthand: _ } => {
                self.expr(expr)?;
                self.exprs(substring_from.as_deref().into_iter().chain(substring_for.as_deref()))
            }
            Expr::Trim { expr, trim_what, trim_characters, trim_where: _ } => {
                self.expr(expr)?;
                self.exprs(trim_what.as_deref())?;
                self.exprs(trim_characters.iter().flatten())
            }
            Expr::Overlay { expr, overlay_what, overlay_from, overlay_for } => {
                self.exprs([&**expr, &**overlay_what, &**overlay_from])?;
                self.exprs(overlay_for.as_deref())
            }
            Expr::MatchAgainst { columns, match_value, opt_search_modifier: _ } => {
                check_value(match_value)?;
                for column in columns {
                    let idents = name_parts(column)?;
                    self.named(&idents)?;
                }
                Ok(())
            }
            Expr::MemberOf(member) => self.exprs([&*member.value, &*member.array]),
            // Its text is not told: to write it may take as deep a stack as it is long.
            _ => Err(refused(
                "this kind of expression",
                "columns, values, operators, functions, `CASE`, casts and subqueries may be used",
            )),
        }
    }

    fn predicate(&mut self, expr: &Expr) -> Result<(), GuardError> {
        match expr {
            Expr::In { expr, target, negated: _, global: false } => {
                self.expr(expr)?;
                match target {
                    InTarget::List(values) => self.operands(values),
                    InTarget::Subquery(query) => self.values_of(query, "in `IN`"),
                    InTarget::Unnest(_) | InTarget::Table { .. } => Err(refused(
                        "`IN` with a table",
                        "write a list of values or a subquery in parentheses",
                    )),
                }
            }
            // `LIKE ANY (ARRAY['a%', 'b%'])`.
            Expr::Like { any: true, .. } | Expr::ILike { any: true, .. } if !self.is_postgres() => {
                Err(refused("`LIKE ANY`", "write one `LIKE` for each pattern, with `OR`"))
            }
            Expr::Like { expr, pattern, escape_char, any: _, negated: _ }
            | Expr::ILike { expr, pattern, escape_char, any: _, negated: _ }
            | Expr::SimilarTo { expr, pattern, escape_char, negated: _ } => {
                self.operands([&**expr, &**pattern])?;
                self.operands(escape_char.as_deref())
            }
            Expr::RLike { expr, pattern, negated: _, regexp: _ } => {
                self.exprs([&**expr, &**pattern])
            }
            _ => Err(refused("this kind of comparison", "write a plain one")),
        }
    }

    /// Checks a subquery whose values are used.
    pub(super) fn values_of(&mut self, query: &Query, place: &str) -> Result<(), GuardError> {
        let outputs = self.query(query)?;
        refuse_masked(&outputs, place)
    }

    pub(super) fn named(&mut self, idents: &[&Ident]) -> Result<(), GuardError> {
        let what = match self.named_value(idents) {
            Err(GuardError::UnknownColumn { .. }) if self.is_bare_function(idents) => {
                return Ok(());
            }
            named => named?,
        };
        match what {
            NamedValue::Column { is_masked: false } | NamedValue::Row { has_masked: false } => {
                self.shorten(idents)
            }
            NamedValue::Column { is_masked: true } => {
                Err(masked(&written(idents), "in an expression, filter, join, grouping or order"))
            }
            NamedValue::Row { has_masked: true } => {
                Err(masked(&format!("{}.*", written(idents)), "as a part of a whole row"))
            }
        }
    }

    fn is_bare_function(&self, idents: &[&Ident]) -> bool {
        let words: &[&str] = match self.dialect() {
            Dialect::MySql | Dialect::MariaDb => &MYSQL_WORDS,
            Dialect::Postgres => &POSTGRES_WORDS,
            Dialect::Sqlite => &[],
        };
        let is_word = |ident: &Ident| {
            ident.quote_style.is_none() && words.contains(&&*ident.value.to_lowercase())
        };
        matches!(idents, [ident] if is_word(ident))
    }

    /// Leaves the schema out of `schema.table.column`: the table may have become a subquery.
    fn shorten(&mut self, idents: &[&Ident]) -> Result<(), GuardError> {
        let [schema, table, _] = idents else { return Ok(()) };
        let text = self.dialect().quoted(&self.name(table));
        self.edits.replace(schema.span, table.span, text)
    }

    pub(super) fn ordering(&mut self, order: &[OrderByExpr]) -> Result<(), GuardError> {
        order.iter().try_for_each(|order| {
            check_order(order)?;
            self.expr(&order.expr)
        })
    }

    pub(super) fn window(&mut self, window: &WindowType) -> Result<(), GuardError> {
        match window {
            WindowType::NamedWindow(_) => Ok(()),
            WindowType::WindowSpec(spec) => self.window_spec(spec),
        }
    }

    pub(super) fn window_spec(&mut self, spec: &WindowSpec) -> Result<(), GuardError> {
        self.exprs(&spec.partition_by)?;
        self.ordering(&spec.order_by)?;
        let Some(frame) = &spec.window_frame else { return Ok(()) };
        for bound in [Some(&frame.start_bound), frame.end_bound.as_ref()].into_iter().flatten() {
            match bound {
                WindowFrameBound::CurrentRow => {}
                WindowFrameBound::Preceding(offset) | WindowFrameBound::Following(offset) => {
                    self.exprs(offset.as_deref())?;
                }
            }
        }
        Ok(())
    }

    fn single_name(&self, name: &ObjectName, what: &str) -> Result<(), GuardError> {
        match &*name_parts(name)? {
            [_] => Ok(()),
            [schema, _] if self.is_postgres() && self.name(schema) == "pg_catalog" => Ok(()),
            _ => Err(refused(format!("`{name}`"), format!("{what} is named without a schema"))),
        }
    }
}

pub(super) fn check_order(order: &OrderByExpr) -> Result<(), GuardError> {
    let by_operator = match &order.options.sort {
        Some(OrderBySort::Using(operator)) => !matches!(&*operator.to_string(), "<" | ">"),
        Some(OrderBySort::Asc | OrderBySort::Desc) | None => false,
    };
    if by_operator || order.with_fill.is_some() {
        return Err(refused("this way of ordering", "`ORDER BY value ASC` or `DESC`"));
    }
    Ok(())
}

pub(super) fn check_value(value: &ValueWithSpan) -> Result<(), GuardError> {
    match &value.value {
        Value::Number(_, false)
        | Value::SingleQuotedString(_)
        | Value::HexStringLiteral(_)
        | Value::SingleQuotedByteStringLiteral(_)
        | Value::NationalStringLiteral(_)
        | Value::Boolean(_)
        | Value::Null => Ok(()),
        other => Err(refused(format!("the value `{other}`"), "write it as a number or a text")),
    }
}

pub(super) fn refuse_masked(outputs: &[OutputColumn], place: &str) -> Result<(), GuardError> {
    let column = outputs.iter().find(|column| column.is_masked);
    column.map_or(Ok(()), |column| Err(masked(&column.name, place)))
}

pub(super) fn masked(column: &str, place: &str) -> GuardError {
    GuardError::Masked { column: column.to_owned(), place: place.to_owned() }
}

/// A unit of time is a word; what is none would be sent unread.
fn check_field(field: &DateTimeField) -> Result<(), GuardError> {
    let text = field.to_string();
    if text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '\'' | '"')) {
        return Ok(());
    }
    Err(refused(format!("the unit `{text}`"), "use one such as `YEAR` or `MONTH`"))
}

pub(super) fn idents_of(expr: &Expr) -> Vec<&Ident> {
    match expr {
        Expr::Identifier(ident) => vec![ident],
        Expr::CompoundIdentifier(idents) => idents.iter().collect(),
        _ => Vec::new(),
    }
}

fn written(idents: &[&Ident]) -> String {
    idents.iter().map(|ident| &*ident.value).collect::<Vec<_>>().join(".")
}
