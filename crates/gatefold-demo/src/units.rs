//! `units`: exact arithmetic and units of measure.
//!
//! Numbers are fractions of 128-bit integers, so decimals and conversions are exact; what does
//! not fit is refused and never rounded silently.

mod convert;
mod expression;
mod integers;
mod numbers;
mod rational;
mod table;

use crate::toolbox::{Tool, Toolbox};

pub(crate) fn tools() -> Vec<Tool> {
    Toolbox::new(())
        .pure("evaluate_expression", numbers::evaluate_expression)
        .pure("convert_unit", convert::convert_unit)
        .infallible("list_units", convert::list_units)
        .pure("round_number", numbers::round_number)
        .pure("calculate_percentage", numbers::calculate_percentage)
        .pure("summarize_numbers", numbers::summarize_numbers)
        .pure("simplify_fraction", numbers::simplify_fraction)
        .pure("greatest_common_divisor", integers::greatest_common_divisor)
        .infallible("factorize_integer", integers::factorize_integer)
        .pure("convert_number_base", integers::convert_number_base)
        .into_tools()
}
