//! What an expression comes to where it names no column.

use sqlparser::ast::{
    BinaryOperator, Expr, FunctionArg, FunctionArgExpr, FunctionArguments, UnaryOperator, Value,
};

/// The number that an expression of literals comes to. The depth of an expression is bounded before.
pub(super) fn constant(expr: &Expr) -> Option<f64> {
    match expr {
        Expr::Value(value) => match &value.value {
            Value::Number(text, _) | Value::SingleQuotedString(text) => number(text),
            _ => None,
        },
        Expr::Nested(inner) | Expr::Cast { expr: inner, .. } => constant(inner),
        Expr::UnaryOp { op: UnaryOperator::Minus, expr } => Some(-constant(expr)?),
        Expr::UnaryOp { op: UnaryOperator::Plus, expr } => constant(expr),
        Expr::BinaryOp { left, op, right } => {
            let (left, right) = (constant(left)?, constant(right)?);
            match op {
                BinaryOperator::Plus => Some(left + right),
                BinaryOperator::Minus => Some(left - right),
                BinaryOperator::Multiply => Some(left * right),
                BinaryOperator::Divide => Some(left / right),
                BinaryOperator::PGExp => Some(left.powf(right)),
                _ => None,
            }
        }
        _ => None,
    }
}

/// Whether a value comes from a row, so that its size cannot be seen in the statement.
pub(super) fn names_column(expr: &Expr) -> bool {
    match expr {
        Expr::Identifier(_) | Expr::CompoundIdentifier(_) => true,
        Expr::Nested(inner)
        | Expr::Cast { expr: inner, .. }
        | Expr::UnaryOp { expr: inner, .. }
        | Expr::Ceil { expr: inner, .. }
        | Expr::Floor { expr: inner, .. }
        | Expr::Extract { expr: inner, .. } => names_column(inner),
        Expr::BinaryOp { left, right, .. } => names_column(left) || names_column(right),
        Expr::Function(function) => match &function.args {
            FunctionArguments::List(list) => list.args.iter().any(|arg| match arg {
                FunctionArg::Unnamed(FunctionArgExpr::Expr(expr)) => names_column(expr),
                _ => false,
            }),
            FunctionArguments::None | FunctionArguments::Subquery(_) => false,
        },
        _ => false,
    }
}

fn number(text: &str) -> Option<f64> {
    if let Some(digits) = text.strip_prefix("0x") {
        return u32::from_str_radix(digits, 16).ok().map(f64::from);
    }
    text.trim().replace('_', "").parse().ok()
}
