//! Which functions may be called: by name, and with sizes that can be seen to be small.

use sqlparser::ast::{
    Expr, Function, FunctionArg, FunctionArgExpr, FunctionArgOperator, FunctionArgumentClause,
    FunctionArgumentList, FunctionArguments, Ident, ObjectName, Value,
};

use super::constants::{constant, names_column};
use super::error::{GuardError, refused};
use super::expressions::{check_value, masked};
use super::inspector::{Inspector, name_parts};
use super::scopes::OutputColumn;
use crate::function_names::{is_function, table_function_columns};
use crate::functions::FunctionStanding;
use crate::{Dialect, TableName};

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
        check_sizes(self.dialect(), &called, args)?;
        let columns = columns
            .unwrap_or_default()
            .iter()
            .map(|column| OutputColumn { name: (*column).to_owned(), is_masked: false });
        Ok((called, columns.collect()))
    }

    /// The name of a function that may be called.
    fn called(&mut self, name: &ObjectName) -> Result<String, GuardError> {
        let idents = name_parts(name)?;
        match self.bare_function(&idents).filter(|name| is_function(self.dialect(), name)) {
            Some(bare) => Ok(bare),
            None => self.own_function(name, &idents),
        }
    }

    /// A function that is not built in and that a rule names. It is sent with its schema, so that no
    /// other one runs.
    fn own_function(&mut self, name: &ObjectName, idents: &[&Ident]) -> Result<String, GuardError> {
        let (schema, first, last) = match idents {
            [last] => (None, *last, *last),
            [schema, last] => (Some(self.name(schema)), *schema, *last),
            _ => return Err(self.refused_function(name)),
        };
        let visible = self.schema;
        let bare = self.name(last);
        let functions = visible.functions();
        let found = functions.find(schema.as_deref(), visible.default_schemas(), &bare);
        let Some((own, standing)) = found.filter(|_| self.is_postgres()) else {
            return Err(self.refused_function(name));
        };
        if standing != FunctionStanding::Allowed && !functions.reads_nothing_hidden(&own) {
            let what = format!("the function `{name}`");
            return Err(refused(what, refused_standing(&own, standing)));
        }
        // The server writes the body of such a function into a plan.
        self.calls_own = true;
        let text = self.full_name(&own);
        self.edits.replace(first.span, last.span, text)?;
        Ok(bare)
    }

    /// A function's own name, unless it is of a schema where anybody may have made it.
    pub(super) fn bare_function(&self, idents: &[&Ident]) -> Option<String> {
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
        // `normalize(a, NFC)`: the second one is.
        let has_form = called == "normalize"
            && list.args.get(1).and_then(value_of).is_some_and(is_normal_form);
        let is_word = |at: usize| at == 0 && has_unit || at == 1 && has_form;
        for (_, arg) in list.args.iter().enumerate().filter(|(at, _)| !is_word(*at)) {
            self.argument(called, arg)?;
        }
        check_sizes(self.dialect(), called, &list.args)?;
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

    pub(super) fn argument(&mut self, called: &str, arg: &FunctionArg) -> Result<(), GuardError> {
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

    /// `count(t.*)` and `t.* IS NULL`.
    pub(super) fn whole_row(&mut self, name: &ObjectName) -> Result<(), GuardError> {
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
            _ => Err(refused(format!("`{name}.*` as a value"), "name the columns")),
        }
    }
}

fn check_sizes(dialect: Dialect, called: &str, args: &[FunctionArg]) -> Result<(), GuardError> {
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
    // MySQL's `FORMAT` takes a number and how many digits to keep of it.
    let is_mysql = matches!(dialect, Dialect::MySql | Dialect::MariaDb);
    let has_format = matches!(called, "printf" | "sformat") || called == "format" && !is_mysql;
    if has_format && pads_far(&values) {
        return Err(refused(
            format!("a width of more than {MAX_WIDTH_DIGITS} digits in `{called}`"),
            "write a shorter one",
        ));
    }
    Ok(())
}

fn is_unit(value: &Expr) -> bool {
    is_word_among(value, |word| UNITS.contains(&word.strip_prefix("sql_tsi_").unwrap_or(word)))
}

fn is_normal_form(value: &Expr) -> bool {
    is_word_among(value, |word| matches!(word, "nfc" | "nfd" | "nfkc" | "nfkd"))
}

fn is_word_among(value: &Expr, is_known: impl Fn(&str) -> bool) -> bool {
    matches!(value, Expr::Identifier(ident)
        if ident.quote_style.is_none() && is_known(&ident.value.to_ascii_lowercase()))
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

/// Whether a format could pad far: by a width that it has, or by one that an argument gives it.
fn pads_far(values: &[&Expr]) -> bool {
    let Some((format, others)) = values.split_first() else { return false };
    let Some(text) = literal(format) else {
        // It is not known yet, and what it is made of may be anywhere.
        return values.iter().filter_map(|value| literal(value)).any(has_long_number);
    };
    let mut takes_width = false;
    for part in text.split(['%', '{']).skip(1) {
        let is_in_spec = |c: &char| !c.is_ascii_alphabetic() && *c != '}';
        let spec: String = part.chars().take_while(is_in_spec).collect();
        takes_width |= spec.contains('*');
        if has_long_number(&spec) {
            return true;
        }
    }
    takes_width && others.iter().filter_map(|value| literal(value)).any(has_long_number)
}

fn literal(value: &Expr) -> Option<&str> {
    let Expr::Value(value) = value else { return None };
    match &value.value {
        Value::SingleQuotedString(text) | Value::Number(text, _) => Some(text),
        _ => None,
    }
}

fn has_long_number(text: &str) -> bool {
    let digits = text.split(|c: char| !c.is_ascii_digit());
    digits.map(str::len).any(|length| length > MAX_WIDTH_DIGITS)
}

/// Why a function that is not built in may not be called, and what would help.
pub(super) fn refused_standing(name: &TableName, standing: FunctionStanding) -> String {
    let key = "`allow_functions` of this source";
    match standing {
        FunctionStanding::Barred => format!(
            "`{name}` is VOLATILE or runs a text, so it may do anything, and {key} cannot name it; \
             built-in functions may be called"
        ),
        FunctionStanding::NamedWidely => format!(
            "`{name}` is STABLE or runs with its owner's rights, so it may read any table; whoever \
             runs the gateway can name it in {key}, without `*`"
        ),
        FunctionStanding::NotNamed | FunctionStanding::Allowed => format!(
            "only built-in functions may be called, and those that {key} names; whoever runs the \
             gateway can add `{name}` there"
        ),
    }
}
