//! Calculating with exact numbers.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    arguments::{Integer, List, Text},
    error::{ToolError, refuse},
    units::{
        expression,
        rational::{Rational, Rounding},
    },
};

/// How many decimals a result shows when the call does not say.
const PLACES_DEFAULT: i32 = 10;

/// How many decimals to show.
pub(super) type Places = Integer<0, 30>;

/// Calculate an expression exactly, with + - * / % ^, brackets and abs, floor, ceil, round,
/// sqrt, min and max. Powers are integers, roots those of squares; results fit 128-bit fractions.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct EvaluateExpression {
    /// Expression such as "(19.99 * 3 + 4.5) * 1.25". At most 500 characters.
    expression: Text<1, 500>,
    /// Most decimals of the rounded result. Default 10.
    decimal_places: Option<Places>,
}

/// A result: the exact fraction and a decimal.
#[derive(Serialize, JsonSchema)]
pub(super) struct Figure {
    /// The result as an integer or a fraction such as "22/7".
    pub(super) exact: String,
    /// The result as a decimal, rounded half to even.
    pub(super) decimal: String,
    /// Whether the decimal is the exact result.
    pub(super) decimal_is_exact: bool,
}

/// Round a number to decimal places, or to tens, hundreds and so on.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct RoundNumber {
    /// Number to round: a number, or a text such as "22/7".
    value: Rational,
    /// Decimals to keep; -2 rounds to hundreds. Default 0.
    decimal_places: Option<Integer<-30, 30>>,
    /// Which way a number between goes. Default "half_even".
    rounding: Option<Rounding>,
}

/// Calculate a percentage: "of" gives a percent of b, "share" gives a as a percentage of b,
/// "change" gives the change from a to b in percent of a.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct CalculatePercentage {
    /// What to calculate.
    operation: Percentage,
    /// First number.
    a: Rational,
    /// Second number.
    b: Rational,
    /// Most decimals of the rounded result. Default 10.
    decimal_places: Option<Places>,
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Percentage {
    Of,
    Share,
    Change,
}

/// Summarise up to 1,000 numbers: sum, least, greatest, mean and median, exactly, and the
/// standard deviation of the population, to floating-point accuracy.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct SummarizeNumbers {
    /// Numbers, each a number or a text such as "1/3".
    numbers: List<Rational, 1_000>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Summary {
    count: usize,
    sum: String,
    minimum: String,
    maximum: String,
    mean: String,
    median: String,
    /// Rounded to ten decimals.
    mean_decimal: String,
    standard_deviation: f64,
}

/// Bring a fraction to lowest terms and show it as a mixed number and as a decimal.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct SimplifyFraction {
    /// Number above the line; decimals are allowed.
    numerator: Rational,
    /// Number below the line, not zero.
    denominator: Rational,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Fraction {
    /// Lowest terms, such as "7/3".
    exact: String,
    /// Such as "2 1/3".
    mixed: String,
    /// Rounded to ten decimals.
    decimal: String,
}

impl Figure {
    pub(super) fn new(value: Rational, places: Option<Places>) -> Result<Self, ToolError> {
        let places = places.map_or(Ok(PLACES_DEFAULT), |places| i32::try_from(places.get()));
        let places = places.map_err(|_| ToolError::Overflow)?;
        let decimal = value.decimal(places)?;
        Ok(Self {
            exact: value.to_string(),
            decimal_is_exact: Rational::parse(&decimal).is_ok_and(|shown| shown == value),
            decimal,
        })
    }
}

pub(super) fn evaluate_expression(arguments: &EvaluateExpression) -> Result<Figure, ToolError> {
    Figure::new(expression::evaluate(&arguments.expression)?, arguments.decimal_places)
}

pub(super) fn round_number(arguments: &RoundNumber) -> Result<Figure, ToolError> {
    let places = arguments.decimal_places.map_or(0, Integer::get);
    let places = i32::try_from(places).map_err(|_| ToolError::Overflow)?;
    let rounding = arguments.rounding.unwrap_or(Rounding::HalfEven);
    let rounded = arguments.value.round(places, rounding)?;
    let decimal = rounded.decimal(places.max(0))?;
    Ok(Figure { exact: rounded.to_string(), decimal, decimal_is_exact: true })
}

pub(super) fn calculate_percentage(arguments: &CalculatePercentage) -> Result<Figure, ToolError> {
    let (a, b, hundred) = (arguments.a, arguments.b, Rational::whole(100));
    let value = match arguments.operation {
        Percentage::Of => a.multiply(b)?.divide(hundred),
        Percentage::Share => a.divide(b)?.multiply(hundred),
        Percentage::Change => b.subtract(a)?.divide(a.magnitude())?.multiply(hundred),
    }?;
    Figure::new(value, arguments.decimal_places)
}

pub(super) fn summarize_numbers(arguments: &SummarizeNumbers) -> Result<Summary, ToolError> {
    let sorted = sort(&arguments.numbers)?;
    let (Some(least), Some(greatest)) = (sorted.first(), sorted.last()) else {
        return Err(refuse("there are no numbers", "give at least one"));
    };
    let count = i128::try_from(sorted.len()).map_err(|_| ToolError::Overflow)?;
    let sum = sorted.iter().try_fold(Rational::ZERO, |sum, value| sum.add(*value))?;
    let mean = sum.divide(Rational::whole(count))?;
    let middle = sorted[(sorted.len() - 1) / 2].add(sorted[sorted.len() / 2])?;
    let median = middle.divide(Rational::whole(2))?;
    let deviations = sorted.iter().map(|value| (value.approximate() - mean.approximate()).powi(2));
    let variance = deviations.sum::<f64>() / Rational::whole(count).approximate();
    Ok(Summary {
        count: sorted.len(),
        sum: sum.to_string(),
        minimum: least.to_string(),
        maximum: greatest.to_string(),
        mean: mean.to_string(),
        median: median.to_string(),
        mean_decimal: mean.decimal(PLACES_DEFAULT)?,
        standard_deviation: variance.sqrt(),
    })
}

pub(super) fn simplify_fraction(arguments: &SimplifyFraction) -> Result<Fraction, ToolError> {
    let value = arguments.numerator.divide(arguments.denominator)?;
    let sign = if value.is_negative() { "-" } else { "" };
    let magnitude = value.magnitude();
    let whole = magnitude.numerator() / magnitude.denominator();
    let rest = magnitude.subtract(Rational::whole(whole))?;
    let mixed = match (whole, rest) {
        (whole, Rational::ZERO) => format!("{sign}{whole}"),
        (0, rest) => format!("{sign}{rest}"),
        (whole, rest) => format!("{sign}{whole} {rest}"),
    };
    Ok(Fraction { exact: value.to_string(), mixed, decimal: value.decimal(PLACES_DEFAULT)? })
}

/// Sorts by insertion with a binary search: a comparison can overflow, which `sort` cannot tell.
fn sort(numbers: &[Rational]) -> Result<Vec<Rational>, ToolError> {
    let mut sorted: Vec<Rational> = Vec::with_capacity(numbers.len());
    for number in numbers {
        let (mut low, mut high) = (0, sorted.len());
        while low < high {
            let middle = usize::midpoint(low, high);
            if number.compare(sorted[middle])?.is_lt() {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        sorted.insert(low, *number);
    }
    Ok(sorted)
}
