//! Exact fractions, and how they come in and go out.

use std::{borrow::Cow, cmp::Ordering, fmt};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, de::Error};
use serde_json::Value;

use crate::error::{ToolError, refuse};

/// The longest number that can be written as an argument.
const MAX_NUMBER_CHARS: usize = 60;
/// The largest power of ten in scientific notation.
const MAX_EXPONENT: i32 = 30;
/// The largest power that [`Rational::power`] raises to.
const MAX_POWER: i128 = 256;

/// A fraction in lowest terms with a positive denominator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Rational {
    numerator: i128,
    denominator: i128,
}

/// Which way a number goes that lies between two rounded ones.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum Rounding {
    HalfEven,
    HalfUp,
    TowardsZero,
    AwayFromZero,
    Floor,
    Ceiling,
}

impl Rational {
    pub(super) const ZERO: Self = Self::whole(0);

    pub(super) const fn whole(value: i128) -> Self {
        Self { numerator: value, denominator: 1 }
    }

    pub(super) fn new(numerator: i128, denominator: i128) -> Result<Self, ToolError> {
        if denominator == 0 {
            return Err(refuse("there is a division by zero", "check the divisor"));
        }
        // The smallest integer has no opposite, which the sign and the divisor would need.
        if numerator == i128::MIN || denominator == i128::MIN {
            return Err(ToolError::Overflow);
        }
        let divisor = greatest_common_divisor(numerator, denominator) * denominator.signum();
        Ok(Self { numerator: numerator / divisor, denominator: denominator / divisor })
    }

    /// Reads `12`, `-3.25`, `6.02e23` or `22/7`.
    pub(super) fn parse(text: &str) -> Result<Self, ToolError> {
        let text = text.trim();
        if text.len() > MAX_NUMBER_CHARS {
            return Err(refuse(
                format!("a number has more than {MAX_NUMBER_CHARS} characters"),
                "write it in scientific notation",
            ));
        }
        match text.split_once('/') {
            Some((numerator, denominator)) => decimal(numerator)?.divide(decimal(denominator)?),
            None => decimal(text),
        }
    }

    pub(super) fn numerator(self) -> i128 {
        self.numerator
    }

    pub(super) fn denominator(self) -> i128 {
        self.denominator
    }

    pub(super) fn integer(self) -> Option<i128> {
        (self.denominator == 1).then_some(self.numerator)
    }

    pub(super) fn is_negative(self) -> bool {
        self.numerator < 0
    }

    pub(super) fn add(self, other: Self) -> Result<Self, ToolError> {
        // Over the least common denominator, so that sums of decimals stay small.
        let shared = greatest_common_divisor(self.denominator, other.denominator);
        let (own, its) = (other.denominator / shared, self.denominator / shared);
        let left = self.numerator.checked_mul(own);
        let right = other.numerator.checked_mul(its);
        let sum = left.zip(right).and_then(|(left, right)| left.checked_add(right));
        let denominator = self.denominator.checked_mul(own);
        let (sum, denominator) = sum.zip(denominator).ok_or(ToolError::Overflow)?;
        Self::new(sum, denominator)
    }

    pub(super) fn subtract(self, other: Self) -> Result<Self, ToolError> {
        self.add(other.negate())
    }

    pub(super) fn negate(self) -> Self {
        Self { numerator: -self.numerator, ..self }
    }

    pub(super) fn magnitude(self) -> Self {
        if self.is_negative() { self.negate() } else { self }
    }

    pub(super) fn multiply(self, other: Self) -> Result<Self, ToolError> {
        // Cancelled crosswise first, so that only a product that is too large overflows.
        let left = greatest_common_divisor(self.numerator, other.denominator);
        let right = greatest_common_divisor(other.numerator, self.denominator);
        let numerator = (self.numerator / left).checked_mul(other.numerator / right);
        let denominator = (self.denominator / right).checked_mul(other.denominator / left);
        let (numerator, denominator) = numerator.zip(denominator).ok_or(ToolError::Overflow)?;
        Self::new(numerator, denominator)
    }

    pub(super) fn divide(self, other: Self) -> Result<Self, ToolError> {
        self.multiply(Self::new(other.denominator, other.numerator)?)
    }

    /// The remainder of the division, with the sign of the dividend.
    pub(super) fn remainder(self, other: Self) -> Result<Self, ToolError> {
        let quotient = self.divide(other)?.round(0, Rounding::TowardsZero)?;
        self.subtract(other.multiply(quotient)?)
    }

    pub(super) fn power(self, exponent: Self) -> Result<Self, ToolError> {
        let exponent = exponent.integer().filter(|power| power.abs() <= MAX_POWER);
        let Some(exponent) = exponent else {
            return Err(refuse(
                format!("an exponent is no integer from -{MAX_POWER} to {MAX_POWER}"),
                "only such powers are exact; sqrt() takes roots of squares",
            ));
        };
        let mut result = Self::whole(1);
        for _ in 0..exponent.abs() {
            result = result.multiply(self)?;
        }
        if exponent < 0 { Self::whole(1).divide(result) } else { Ok(result) }
    }

    /// The square root, when it is a fraction itself.
    pub(super) fn square_root(self) -> Result<Self, ToolError> {
        let exact = |value: i128| {
            let root = u128::try_from(value).ok()?.isqrt();
            (root.checked_mul(root)? == value.unsigned_abs()).then(|| i128::try_from(root).ok())?
        };
        match exact(self.numerator).zip(exact(self.denominator)) {
            Some((numerator, denominator)) => Self::new(numerator, denominator),
            None => Err(refuse(
                format!("the square root of {self} is not a fraction"),
                "only roots of squares such as 2.25 are exact",
            )),
        }
    }

    /// Rounds to a number of decimal places; negative places are tens, hundreds and so on.
    pub(super) fn round(self, places: i32, rounding: Rounding) -> Result<Self, ToolError> {
        let unit = power_of_ten(-places)?;
        // Decimals are those of the part behind the point alone, which leaves more room.
        let whole = if places > 0 { self.numerator.div_euclid(self.denominator) } else { 0 };
        let scaled = self.subtract(Self::whole(whole))?.divide(unit)?;
        let floor = scaled.numerator.div_euclid(scaled.denominator);
        let rest = scaled.numerator.rem_euclid(scaled.denominator);
        let up = match rounding {
            _ if rest == 0 => false,
            Rounding::Floor => false,
            Rounding::Ceiling => true,
            Rounding::TowardsZero => self.is_negative(),
            Rounding::AwayFromZero => !self.is_negative(),
            Rounding::HalfUp | Rounding::HalfEven => match rest.cmp(&(scaled.denominator - rest)) {
                Ordering::Less => false,
                Ordering::Greater => true,
                Ordering::Equal if matches!(rounding, Rounding::HalfEven) => floor % 2 != 0,
                Ordering::Equal => !self.is_negative(),
            },
        };
        Self::whole(floor + i128::from(up)).multiply(unit)?.add(Self::whole(whole))
    }

    /// Writes the number with at most `places` decimals, rounded half to even.
    pub(super) fn decimal(self, places: i32) -> Result<String, ToolError> {
        let rounded = self.round(places, Rounding::HalfEven)?;
        let magnitude = rounded.magnitude();
        let mut digits = String::new();
        let mut rest = magnitude.numerator % magnitude.denominator;
        // The denominator divides a power of ten, so the digits end.
        while rest != 0 {
            let next = rest.checked_mul(10).ok_or(ToolError::Overflow)?;
            digits.push_str(&(next / magnitude.denominator).to_string());
            rest = next % magnitude.denominator;
        }
        let sign = if rounded.is_negative() { "-" } else { "" };
        let point = if digits.is_empty() { "" } else { "." };
        Ok(format!("{sign}{}{point}{digits}", magnitude.numerator / magnitude.denominator))
    }

    pub(super) fn compare(self, other: Self) -> Result<Ordering, ToolError> {
        Ok(self.subtract(other)?.numerator.cmp(&0))
    }

    /// The nearest floating-point number, for what cannot be exact.
    #[expect(clippy::cast_precision_loss, reason = "an approximation is what is asked for")]
    pub(super) fn approximate(self) -> f64 {
        self.numerator as f64 / self.denominator as f64
    }
}

impl fmt::Display for Rational {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.numerator)?;
        if self.denominator == 1 { Ok(()) } else { write!(f, "/{}", self.denominator) }
    }
}

impl<'de> Deserialize<'de> for Rational {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = match Value::deserialize(deserializer)? {
            Value::Number(number) => number.to_string(),
            Value::String(text) => text,
            _ => {
                return Err(D::Error::custom("must be a number, or a text such as \"22/7\""));
            }
        };
        Self::parse(&text).map_err(D::Error::custom)
    }
}

impl JsonSchema for Rational {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Rational".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": ["number", "string"], "maxLength": MAX_NUMBER_CHARS })
    }
}

/// Euclid's algorithm; zero when both numbers are. Neither may be `i128::MIN`.
pub(super) fn greatest_common_divisor(a: i128, b: i128) -> i128 {
    let (mut a, mut b) = (a.abs(), b.abs());
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

fn power_of_ten(exponent: i32) -> Result<Rational, ToolError> {
    let power = 10_i128.checked_pow(exponent.unsigned_abs()).ok_or(ToolError::Overflow)?;
    if exponent < 0 { Rational::new(1, power) } else { Ok(Rational::whole(power)) }
}

fn decimal(text: &str) -> Result<Rational, ToolError> {
    let text = text.trim();
    let unreadable =
        || refuse(format!("`{text}` is no number"), "write it as 12, -3.25, 6e23 or 22/7");
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let exponent: i32 = exponent.parse().map_err(|_| unreadable())?;
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let unsigned = whole.strip_prefix(['-', '+']).unwrap_or(whole);
    let digits = format!("{unsigned}{fraction}");
    if digits.is_empty() || !digits.chars().all(|c| c.is_ascii_digit()) {
        return Err(unreadable());
    }
    if exponent.abs() > MAX_EXPONENT {
        return Err(refuse(
            format!("the power of ten in `{text}` is beyond {MAX_EXPONENT}"),
            "use numbers closer to one",
        ));
    }
    let magnitude: i128 = digits.parse().map_err(|_| ToolError::Overflow)?;
    let places = i32::try_from(fraction.len()).map_err(|_| ToolError::Overflow)?;
    let signed = if whole.starts_with('-') { -magnitude } else { magnitude };
    Rational::whole(signed).multiply(power_of_ten(exponent - places)?)
}
