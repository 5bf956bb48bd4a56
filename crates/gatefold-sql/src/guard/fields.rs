//! What may follow a dot or stand in brackets behind a value.

use sqlparser::ast::{AccessExpr, Expr, Ident, Subscript};

use super::error::{GuardError, refused};
use super::expressions::idents_of;
use super::inspector::{Inspector, name_parts};
use super::scopes::Relation;
use crate::function_names::table_function_columns;

impl Inspector<'_> {
    /// `value[1]`, `(row).column`, and `(value).field` where the value's type has the field: any other
    /// name after a dot may call a function in PostgreSQL.
    pub(super) fn access(&mut self, root: &Expr, chain: &[AccessExpr]) -> Result<(), GuardError> {
        let mut chain = chain.iter().peekable();
        let mut idents = match root {
            Expr::Nested(inner) => idents_of(inner),
            root => idents_of(root),
        };
        if idents.is_empty() {
            self.expr(root)?;
            let fields = self.record_fields(root);
            chain.next_if(|access| {
                matches!(access, AccessExpr::Dot(Expr::Identifier(field))
                    if fields.contains(&&*self.name(field)))
            });
        } else {
            let within = idents.len();
            while let Some(AccessExpr::Dot(Expr::Identifier(field))) =
                chain.next_if(|access| matches!(access, AccessExpr::Dot(Expr::Identifier(_))))
            {
                idents.push(field);
            }
            // Behind parentheses the server looks for a column first, and calls a function on it that has the
            // name of no field: `(x).y` is never taken for the column `y` of a table `x` here.
            let is_nested = matches!(root, Expr::Nested(_)) && idents.len() > within;
            if !is_nested {
                self.named(&idents)?;
            } else if idents.len() == within + 1 && self.is_field(&idents) {
                self.named(&idents[..within])?;
            } else {
                return Err(refused(
                    "a name behind parentheses that is no field of a column",
                    "write a column of a table as `table.column`",
                ));
            }
        }
        for access in chain {
            match access {
                AccessExpr::Subscript(Subscript::Index { index }) => self.expr(index)?,
                AccessExpr::Subscript(Subscript::Slice {
                    lower_bound,
                    upper_bound,
                    stride: None,
                }) => self.exprs(lower_bound.iter().chain(upper_bound))?,
                AccessExpr::Subscript(Subscript::Slice { .. }) | AccessExpr::Dot(_) => {
                    return Err(refused(
                        "a name after a dot, other than a column's or a field's",
                        "`table.column`, `(column).field` and `array[index]` may be used",
                    ));
                }
            }
        }
        Ok(())
    }

    /// The columns of what a function in parentheses makes, as in `(jsonb_each(data)).key`. One that makes a
    /// single column makes a plain value, on which a name behind a dot is a function.
    fn record_fields(&self, root: &Expr) -> &'static [&'static str] {
        let Expr::Nested(inner) = root else { return &[] };
        let Expr::Function(function) = &**inner else { return &[] };
        let Ok(idents) = name_parts(&function.name) else { return &[] };
        let bare = self.bare_function(&idents).filter(|_| self.is_postgres());
        let columns = bare.and_then(|name| table_function_columns(self.dialect(), &name));
        columns.filter(|columns| columns.len() > 1).unwrap_or_default()
    }

    /// Whether the last of these names is a field of the column that those before it name.
    fn is_field(&self, idents: &[&Ident]) -> bool {
        let names: Vec<String> = idents.iter().map(|ident| self.name(ident)).collect();
        let (table, column, field) = match &*names {
            [column, field] => (None, column, field),
            [table, column, field] => (Some(table), column, field),
            _ => return false,
        };
        let dialect = self.dialect();
        let scopes = self.scopes.iter().filter(|scope| !scope.is_hidden);
        let relations = scopes.flat_map(|scope| &scope.relations);
        let mut having = relations
            .filter(|relation| {
                table.is_none_or(|table| relation.is_called(dialect, None, table))
                    && relation.column(dialect, column).is_some()
            })
            .peekable();
        let has_field = |relation: &Relation| {
            let mut fields = relation.fields.iter().filter(|(name, _)| name == column);
            fields.any(|(_, fields)| fields.contains(field))
        };
        having.peek().is_some() && having.all(has_field)
    }
}
