//! Whole numbers.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    arguments::{Integer, List, Text},
    error::{ToolError, refuse},
    units::rational::{Rational, greatest_common_divisor as divisor_of},
};

/// The largest number that is taken apart by trial division.
const MAX_FACTORIZED: i64 = 1_000_000_000_000;

/// Find the greatest common divisor and the least common multiple of integers. Both fit 128-bit
/// integers or the call fails.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct GreatestCommonDivisor {
    /// Integers, not all zero; a large one can be given as a text.
    integers: List<Rational, 50>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Common {
    greatest_common_divisor: String,
    /// 0 when one of the integers is 0.
    least_common_multiple: String,
}

/// Take an integer apart into its prime factors and tell whether it is prime.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct FactorizeInteger {
    /// Integer from 2 to 1,000,000,000,000.
    value: Integer<2, MAX_FACTORIZED>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Factors {
    is_prime: bool,
    /// Smallest prime first.
    factors: Vec<Factor>,
}

#[derive(Serialize, JsonSchema)]
struct Factor {
    prime: i64,
    exponent: u32,
}

/// Write an integer in another base, with the digits 0 to 9 and a to z. It must fit 128 bits.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ConvertNumberBase {
    /// Digits of the integer, with an optional leading minus; no prefix such as 0x.
    digits: Text<1, 128>,
    /// Base of the digits, from 2 to 36. Default 10.
    from_base: Option<Integer<2, 36>>,
    /// Base to write it in, from 2 to 36.
    to_base: Integer<2, 36>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Digits {
    digits: String,
    base: i64,
}

pub(super) fn greatest_common_divisor(
    arguments: &GreatestCommonDivisor,
) -> Result<Common, ToolError> {
    let (mut divisor, mut multiple) = (0, 1);
    for value in arguments.integers.iter() {
        let value = value.integer().ok_or_else(|| {
            refuse(format!("{value} is not an integer"), "multiply the numbers first")
        })?;
        divisor = divisor_of(divisor, value);
        multiple = match divisor_of(multiple, value) {
            0 => 0,
            shared => (multiple / shared).checked_mul(value.abs()).ok_or(ToolError::Overflow)?,
        };
    }
    if divisor == 0 {
        return Err(refuse("every integer is zero", "give at least one other integer"));
    }
    Ok(Common {
        greatest_common_divisor: divisor.to_string(),
        least_common_multiple: multiple.to_string(),
    })
}

pub(super) fn factorize_integer(arguments: &FactorizeInteger) -> Factors {
    let mut rest = arguments.value.get();
    let mut factors = Vec::new();
    let mut candidate = 2;
    while candidate * candidate <= rest {
        let mut exponent = 0;
        while rest % candidate == 0 {
            rest /= candidate;
            exponent += 1;
        }
        if exponent > 0 {
            factors.push(Factor { prime: candidate, exponent });
        }
        candidate += if candidate == 2 { 1 } else { 2 };
    }
    if rest > 1 {
        factors.push(Factor { prime: rest, exponent: 1 });
    }
    let is_prime = matches!(factors.as_slice(), [Factor { exponent: 1, .. }]);
    Factors { is_prime, factors }
}

pub(super) fn convert_number_base(arguments: &ConvertNumberBase) -> Result<Digits, ToolError> {
    let base = |base: i64| u32::try_from(base).map_err(|_| ToolError::Overflow);
    let from = base(arguments.from_base.map_or(10, Integer::get))?;
    let to = base(arguments.to_base.get())?;
    let text = arguments.digits.trim();
    let unsigned = text.strip_prefix('-').unwrap_or(text);
    if unsigned.is_empty() || !unsigned.chars().all(|c| c.is_digit(from)) {
        return Err(refuse(
            format!("`{text}` is no integer in base {from}"),
            "leave out prefixes and separators, or set `from_base`",
        ));
    }
    let value = u128::from_str_radix(unsigned, from).map_err(|_| ToolError::Overflow)?;
    let sign = if text.starts_with('-') && value != 0 { "-" } else { "" };
    Ok(Digits { digits: format!("{sign}{}", write(value, to)), base: arguments.to_base.get() })
}

fn write(mut value: u128, base: u32) -> String {
    let mut digits = Vec::new();
    loop {
        let digit = u32::try_from(value % u128::from(base)).unwrap_or(0);
        digits.extend(char::from_digit(digit, base));
        value /= u128::from(base);
        if value == 0 {
            return digits.iter().rev().collect();
        }
    }
}
