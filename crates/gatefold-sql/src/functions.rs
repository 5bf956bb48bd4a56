//! Functions and operators that are not built in, and which of them may be called.

use std::collections::{HashMap, HashSet};

use crate::function_names::is_function;
use crate::{Dialect, Operator, Routine, Schema, TableName, TablePattern, Volatility};

/// Functions of extensions that run a text as a statement, or read the table that a text names. What
/// they answer cannot be told, whatever names them.
const TEXT_RUNNERS: [&str; 5] = ["connectby", "crosstab", "dblink", "query_to_", "xpath_table"];

/// Whether a function may be called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FunctionStanding {
    Allowed,
    /// A rule could name it.
    NotNamed,
    /// A rule could name it, but not with `*`: it may read tables.
    NamedWidely,
    /// It may do anything, whatever names it.
    Barred,
}

/// What is known of the functions and operators of one database.
#[derive(Debug, Clone, Default)]
pub(crate) struct Functions {
    routines: HashMap<TableName, FunctionStanding>,
    /// Those of extensions that the guard knows, which read no tables.
    known: HashSet<TableName>,
    /// The functions that run under the name of each operator.
    operators: HashMap<TableName, Vec<TableName>>,
}

impl Functions {
    pub(crate) fn new(dialect: Dialect, schema: &Schema, rules: &[TablePattern]) -> Self {
        let routines = schema.routines.iter();
        let known = |routine: &&Routine| {
            routine.of_extension
                && routine.volatility < Volatility::Volatile
                && is_function(dialect, &routine.name.name)
        };
        let mut operators: HashMap<TableName, Vec<TableName>> = HashMap::new();
        for Operator { name, routine } in &schema.operators {
            operators.entry(name.clone()).or_default().push(routine.clone());
        }
        Self {
            known: routines.clone().filter(known).map(|routine| routine.name.clone()).collect(),
            routines: routines
                .map(|routine| (routine.name.clone(), standing(routine, rules)))
                .collect(),
            operators,
        }
    }

    /// A function by its name: without a schema, that of the first of these schemas that has one.
    pub(crate) fn find(
        &self,
        schema: Option<&str>,
        default_schemas: &[String],
        name: &str,
    ) -> Option<(TableName, FunctionStanding)> {
        let look = |schema: &str| {
            let name = TableName::new(schema, name);
            let standing = self.standing(&name)?;
            Some((name, standing))
        };
        match schema {
            Some(schema) => look(schema),
            None => default_schemas.iter().find_map(|schema| look(schema)),
        }
    }

    pub(crate) fn standing(&self, name: &TableName) -> Option<FunctionStanding> {
        self.routines.get(name).copied()
    }

    /// The schema of an operator, found as functions are, and a function that it may run: one that may
    /// not be called, if there is one among those of its name.
    pub(crate) fn operator(
        &self,
        schema: Option<&str>,
        default_schemas: &[String],
        name: &str,
    ) -> Option<(&str, &TableName, FunctionStanding)> {
        let schemas: Vec<&str> = match schema {
            Some(schema) => vec![schema],
            None => default_schemas.iter().map(String::as_str).collect(),
        };
        schemas.into_iter().find_map(|schema| {
            let (own, routines) = self.operators.get_key_value(&TableName::new(schema, name))?;
            let judged = routines.iter().map(|routine| (routine, self.standing(routine)));
            // One that may not be called decides.
            let is_refused = |(_, standing): &(&TableName, Option<FunctionStanding>)| {
                *standing != Some(FunctionStanding::Allowed)
            };
            let (routine, standing) = judged.max_by_key(is_refused)?;
            Some((&*own.schema, routine, standing.unwrap_or(FunctionStanding::Barred)))
        })
    }

    /// Whether what a view makes with this function tells of nothing that the view does not name.
    pub(crate) fn reads_nothing_hidden(&self, name: &TableName) -> bool {
        self.standing(name) == Some(FunctionStanding::Allowed) || self.known.contains(name)
    }
}

fn standing(routine: &Routine, rules: &[TablePattern]) -> FunctionStanding {
    let name = &routine.name;
    let runs_texts = TEXT_RUNNERS.iter().any(|runner| name.name.starts_with(runner));
    if routine.volatility == Volatility::Volatile || runs_texts {
        return FunctionStanding::Barred;
    }
    let matching: Vec<_> = rules.iter().filter(|rule| rule.matches(name)).collect();
    let is_harmless = routine.volatility == Volatility::Immutable && !routine.as_owner;
    match &*matching {
        [] => FunctionStanding::NotNamed,
        rules if is_harmless || rules.iter().any(|rule| rule.is_exact()) => {
            FunctionStanding::Allowed
        }
        _ => FunctionStanding::NamedWidely,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_admits_what_reads_only() {
        let check = |rule: &str, volatility, as_owner, expected| {
            let name = TableName::new("public", "net");
            let routine = Routine { name, volatility, of_extension: false, as_owner };
            let rules = [TablePattern::new(rule).unwrap()];
            assert_eq!(standing(&routine, &rules), expected, "{rule} {volatility:?} {as_owner}");
        };
        check("net", Volatility::Immutable, false, FunctionStanding::Allowed);
        check("public.net", Volatility::Stable, true, FunctionStanding::Allowed);
        check("public.*", Volatility::Immutable, false, FunctionStanding::Allowed);
        check("public.*", Volatility::Stable, false, FunctionStanding::NamedWidely);
        check("public.*", Volatility::Immutable, true, FunctionStanding::NamedWidely);
        check("other.net", Volatility::Immutable, false, FunctionStanding::NotNamed);
        check("net", Volatility::Volatile, false, FunctionStanding::Barred);
        check("*", Volatility::Volatile, false, FunctionStanding::Barred);
    }

    #[test]
    fn no_rule_admits_what_runs_a_text() {
        for name in ["crosstab", "crosstab2", "connectby", "xpath_table", "dblink_get_result"] {
            let name = TableName::new("public", name);
            let volatility = Volatility::Stable;
            let routine = Routine { name, volatility, of_extension: true, as_owner: false };
            let rules = [TablePattern::new(&routine.name.name).unwrap()];
            assert_eq!(standing(&routine, &rules), FunctionStanding::Barred, "{routine:?}");
        }
    }
}
