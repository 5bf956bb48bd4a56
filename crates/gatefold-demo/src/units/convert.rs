//! Converting units of measure.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    arguments::Text,
    error::{ToolError, refuse},
    units::{
        numbers::{Figure, Places},
        rational::Rational,
        table::{Dimension, UNITS, Unit, find},
    },
};

/// Convert a value from one unit of measure to another, exactly. The result is a fraction, with
/// a decimal rounded half to even beside it.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ConvertUnit {
    /// Value to convert: a number, or a text such as "1/3".
    value: Rational,
    /// Unit of the value: a symbol such as "km/h" (upper and lower case differ) or an English
    /// name such as "miles".
    from: Text<1, 40>,
    /// Unit to convert to, of the same dimension.
    to: Text<1, 40>,
    /// Most decimals of the rounded result. Default 10.
    decimal_places: Option<Places>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Converted {
    /// The result as an integer or a fraction.
    exact: String,
    /// The result as a decimal.
    decimal: String,
    /// Whether the decimal is the exact result.
    decimal_is_exact: bool,
    /// Symbol of the unit converted from.
    from: String,
    /// Symbol of the unit converted to.
    to: String,
}

/// List the units of measure that convert_unit knows, with their symbols and names.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ListUnits {
    /// Only units that measure this. Default: all.
    dimension: Option<Dimension>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct UnitList {
    units: Vec<UnitName>,
}

#[derive(Serialize, JsonSchema)]
struct UnitName {
    symbol: String,
    /// Other names; the first is the usual one.
    names: Vec<String>,
    /// What it measures.
    dimension: String,
}

pub(super) fn convert_unit(arguments: &ConvertUnit) -> Result<Converted, ToolError> {
    let (from, to) = (lookup(&arguments.from)?, lookup(&arguments.to)?);
    if from.dimension != to.dimension {
        return Err(refuse(
            format!(
                "`{}` measures {}, but `{}` measures {}",
                from.symbol,
                dimension_name(from.dimension),
                to.symbol,
                dimension_name(to.dimension)
            ),
            "convert between units of one dimension; list_units shows them",
        ));
    }
    let base = arguments.value.add(offset(from)?)?.multiply(factor(from)?)?;
    let value = base.divide(factor(to)?)?.subtract(offset(to)?)?;
    let figure = Figure::new(value, arguments.decimal_places)?;
    Ok(Converted {
        exact: figure.exact,
        decimal: figure.decimal,
        decimal_is_exact: figure.decimal_is_exact,
        from: from.symbol.to_owned(),
        to: to.symbol.to_owned(),
    })
}

pub(super) fn list_units(arguments: &ListUnits) -> UnitList {
    let wanted = |unit: &&Unit| arguments.dimension.is_none_or(|wanted| wanted == unit.dimension);
    let units = UNITS
        .iter()
        .filter(wanted)
        .map(|unit| UnitName {
            symbol: unit.symbol.to_owned(),
            names: unit.names.iter().map(ToString::to_string).collect(),
            dimension: dimension_name(unit.dimension),
        })
        .collect();
    UnitList { units }
}

fn lookup(text: &str) -> Result<&'static Unit, ToolError> {
    find(text).ok_or_else(|| {
        let alike: Vec<_> = UNITS
            .iter()
            .map(|unit| unit.symbol)
            .filter(|symbol| symbol.eq_ignore_ascii_case(text.trim()))
            .collect();
        let hint = match alike.as_slice() {
            [] => "list_units gives the symbols and names".to_owned(),
            symbols => format!("upper and lower case differ: `{}`", symbols.join("`, `")),
        };
        refuse(format!("`{text}` is no unit known here"), hint)
    })
}

fn factor(unit: &Unit) -> Result<Rational, ToolError> {
    Rational::new(unit.factor.0, unit.factor.1)
}

fn offset(unit: &Unit) -> Result<Rational, ToolError> {
    Rational::new(unit.offset, 100)
}

fn dimension_name(dimension: Dimension) -> String {
    format!("{dimension:?}").to_lowercase()
}
