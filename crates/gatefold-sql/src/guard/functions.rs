//! Which functions may be called: by name, and with sizes that can be seen to be small.

use sqlparser::ast::{
    Expr, Function, FunctionArg, FunctionArgExpr, FunctionArgOperator, FunctionArgumentClause,
    FunctionArgumentList, FunctionArguments, ObjectName, Value,
};

use super::constants::{constant, names_column};
use super::error::{GuardError, refused};
use super::expressions::{check_value, masked};
use super::function_names::{is_function, table_function_columns};
use super::inspector::{Inspector, name_parts};
use super::scopes::OutputColumn;

/// The longest text that one call may be seen to make, in characters, or how often it repeats one. Made
/// for each row, longer ones eat memory, and MariaDB looks at its timeout once in a thousand rows only.
const MAX_MADE_CHARS: f64 = 10_000.0;

/// The most rows that one call may be seen to make.
const MAX_MADE_ROWS: f64 = 1_000_000.0;

/// The longest width in a format such as `%100d`.
const MAX_WIDTH_DIGITS: usize = 5;

/// The words that `TIMESTAMPDIFF` begins with.
const UNITS: [&str; 9] =
    ["microsecond", "second", "minute", "hour", "day", "week", "month", "quarter", "year"];

/// Those of SQLite's functions that gather a column.
const AGGREGATES: [&str; 7] = ["avg", "count", "group_concat", "max", "min", "sum", "total"];

/// Functions that make a text of a given size: which argument tells it.
const SIZED: [(&str, usize); 8] = [
    ("repeat", 1),
    ("rpad", 1),
    ("lpad", 1),
    ("space", 0),
    ("zeroblob", 0),
    ("randomblob", 0),
    ("random_bytes", 0),
    ("gen_random_bytes", 0),
];

impl Inspector<'_> {
    pub(super) fn function(&mut self, function: &Function) -> Result<(), GuardError> {
        let Function {
            name,
            uses_odbc_syntax,
            parameters,
            args,
            within_group,
            filter,
            null_treatment: _,
            over,
        } = function;
        if *uses_odbc_syntax || !matches!(parameters, FunctionArguments::None) {
            return Err(refused(format!("this way to call `{name}`"), "`name(arguments)`"));
        }
        let called = self.called(name)?;
        match args {
            FunctionArguments::None => {}
            // `ARRAY(SELECT …)`.
            FunctionArguments::Subquery(query) if called == "array" => {
                self.values_of(query, "in an array")?;
            }
            FunctionArguments::Subquery(_) => {
                return Err(refused(
                    format!("a bare query as the argument of `{called}`"),
                    "put parentheses round the subquery",
                ));
            }
            FunctionArguments::List(list) => {
                self.arguments(&called, list)?;
            }
        }
        self.ordering(within_group)?;
        self.exprs(filter.as_deref())?;
        if let Some(over) = over {
            self.window(over)?;
        }
        Ok(())
    }

    /// Checks a function that is selected from, and says which columns it has. A function without
    /// known ones has one, of its own name.
    pub(super) fn table_function(
        &mut self,
        name: &ObjectName,
        args: &[FunctionArg],
    ) -> Result<(String, Vec<OutputColumn>), GuardError> {
        let idents = name_parts(name)?;
        let bare = self.bare_function(&idents);
        let columns = bare.as_deref().and_then(|name| table_function_columns(self.dialect(), name));
        let called = match (columns, bare) {
            (Some(_), Some(name)) => name,
            // PostgreSQL takes any function for a table of one row.
            (None, _) if self.is_postgres() => self.called(name)?,
            _ => return Err(self.refused_function(name)),
        };
        for arg in args {
            self.argument(&called, arg)?;
        }
        check_sizes(&called, args)?;
        let columns = columns
            .unwrap_or_default()
            .iter()
            .map(|column| OutputColumn { name: (*column).to_owned(), is_masked: false });
        Ok((called, columns.collect()))
    }

    /// The name of a function that may be called.
    fn called(&self, name: &ObjectName) -> Result<String, GuardError> {
        let idents = name_parts(name)?;
        let bare = self.bare_function(&idents).filter(|name| is_function(self.dialect(), name));
        bare.ok_or_else(|| self.refused_function(name))
    }

    /// A function's own name, unless it is of a schema where anybody may have made it.
    fn bare_function(&self, idents: &[&sqlparser::ast::Ident]) -> Option<String> {
        match idents {
            [name] if self.is_postgres() => Some(self.name(name)),
            [name] => Some(name.value.to_ascii_lowercase()),
            [schema, name] if self.is_postgres() && self.name(schema) == "pg_catalog" => {
                Some(self.name(name))
            }
            _ => None,
        }
    }

    fn refused_function(&self, name: &ObjectName) -> GuardError {
        let allowed = format!(
            "only built-in functions of {} that compute a value may be called, for texts, numbers, \
             dates, JSON, aggregates and windows",
            self.dialect()
        );
        refused(format!("the function `{name}`"), allowed)
    }

    fn arguments(&mut self, called: &str, list: &FunctionArgumentList) -> Result<(), GuardError> {
        // `TIMESTAMPDIFF(DAY, a, b)`: the first one is a word.
        let has_unit = matches!(called, "timestampdiff" | "timestampadd")
            && list.args.first().and_then(value_of).is_some_and(is_unit);
        for arg in list.args.iter().skip(usize::from(has_unit)) {
            self.argument(called, arg)?;
        }
        check_sizes(called, &list.args)?;
        for clause in &list.clauses {
            match clause {
                FunctionArgumentClause::IgnoreOrRespectNulls(_)
                | FunctionArgumentClause::JsonNullClause(_) => {}
                FunctionArgumentClause::OrderBy(order) => self.ordering(order)?,
                FunctionArgumentClause::Limit(limit) => self.expr(limit)?,
                FunctionArgumentClause::Separator(separator) => check_value(separator)?,
                FunctionArgumentClause::JsonReturningClause(clause) => {
                    self.data_type(&clause.data_type)?;
                }
                FunctionArgumentClause::Where(_)
                | FunctionArgumentClause::OnOverflow(_)
                | FunctionArgumentClause::Having(_) => {
                    return Err(refused(
                        format!("this clause within `{called}`"),
                        "`DISTINCT`, `ORDER BY` and `SEPARATOR` may stand in a call",
                    ));
                }
            }
        }
        Ok(())
    }

    fn argument(&mut self, called: &str, arg: &FunctionArg) -> Result<(), GuardError> {
        let value = match arg {
            // `days => 3`: the name is a parameter's.
            FunctionArg::ExprNamed {
                name: Expr::Identifier(_),
                arg,
                operator: FunctionArgOperator::RightArrow | FunctionArgOperator::Assignment,
            }
            | FunctionArg::Named { name: _, arg, operator: _ }
            | FunctionArg::Unnamed(arg) => arg,
            FunctionArg::ExprNamed { name, arg, operator: _ } => {
                self.expr(name)?;
                arg
            }
        };
        match value {
            // An aggregate of a text is a misspelt column.
            FunctionArgExpr::Expr(expr) if AGGREGATES.contains(&called) => self.expr(expr),
            FunctionArgExpr::Expr(expr) => self.operands([expr]),
            FunctionArgExpr::Wildcard if called == "count" => Ok(()),
            FunctionArgExpr::QualifiedWildcard(name) if self.is_postgres() => self.whole_row(name),
            FunctionArgExpr::Wildcard
            | FunctionArgExpr::QualifiedWildcard(_)
            | FunctionArgExpr::WildcardWithOptions(_) => {
                Err(refused(format!("`*` in `{called}`"), "`*` may stand in `count(*)` only"))
            }
        }
    }

    /// `count(t.*)`.
    fn whole_row(&mut self, name: &ObjectName) -> Result<(), GuardError> {
        let idents = name_parts(name)?;
        let relation = match &*idents {
            [table] => self.relation(&self.name(table)),
            _ => None,
        };
        match relation {
            Some(relation) if relation.has_masked() => {
                Err(masked(&format!("{name}.*"), "as a part of a whole row"))
            }
            Some(relation) if !relation.has_hidden => Ok(()),
            _ => Err(refused(format!("`{name}.*` in a call"), "name the columns")),
        }
    }
}

fn check_sizes(called: &str, args: &[FunctionArg]) -> Result<(), GuardError> {
    let values: Vec<&Expr> = args.iter().filter_map(value_of).collect();
    if let Some((_, at)) = SIZED.iter().find(|(name, _)| *name == called)
        && let Some(size) = values.get(*at)
    {
        let is_small = match constant(size) {
            Some(size) => size.abs() <= MAX_MADE_CHARS,
            None => names_column(size),
        };
        if !is_small {
            return Err(refused(
                format!("`{called}` with a size that is not seen to be small"),
                format!("write a number up to {MAX_MADE_CHARS}"),
            ));
        }
    }
    if called == "generate_series" {
        check_series(&values)?;
    }
    if matches!(called, "format" | "printf") && values.iter().any(|value| is_wide(value)) {
        return Err(refused(
            format!("a width of more than {MAX_WIDTH_DIGITS} digits in `{called}`"),
            "write a shorter one",
        ));
    }
    Ok(())
}

fn is_unit(value: &Expr) -> bool {
    matches!(value, Expr::Identifier(ident)
        if ident.quote_style.is_none() && UNITS.contains(&&*ident.value.to_ascii_lowercase()))
}

/// A series from one number to another must be seen to be short, unless a row tells its ends.
fn check_series(values: &[&Expr]) -> Result<(), GuardError> {
    let [from, to, step @ ..] = values else {
        return Err(refused("a series without an end", "give it a start and an end"));
    };
    let step = step.first().map_or(Some(1.0), |step| constant(step));
    let is_short = match (constant(from), constant(to), step) {
        (Some(from), Some(to), Some(step)) => {
            step != 0.0 && ((to - from) / step).abs() <= MAX_MADE_ROWS
        }
        (None, None, None) => true,
        // Dates and times: texts with steps of an interval; their number is left to the timeout.
        (from, to, _) => {
            [from, to].into_iter().flatten().all(|end| end.abs() <= MAX_MADE_ROWS)
                && !values.iter().any(|value| matches!(value, Expr::Subquery(_)))
        }
    };
    if is_short {
        return Ok(());
    }
    let allowed = format!("write numbers that are at most {MAX_MADE_ROWS} steps apart");
    Err(refused("a series of this length", allowed))
}

fn value_of(arg: &FunctionArg) -> Option<&Expr> {
    match arg {
        FunctionArg::Unnamed(FunctionArgExpr::Expr(expr))
        | FunctionArg::Named { arg: FunctionArgExpr::Expr(expr), .. } => Some(expr),
        _ => None,
    }
}

/// Whether a text could be a format that pads far.
fn is_wide(value: &Expr) -> bool {
    let Expr::Value(value) = value else { return false };
    let (Value::SingleQuotedString(text) | Value::Number(text, _)) = &value.value else {
        return false;
    };
    let digits = text.split(|c: char| !c.is_ascii_digit());
    digits.map(str::len).any(|length| length > MAX_WIDTH_DIGITS)
}
