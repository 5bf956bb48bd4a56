//! Values as JSON, from the binary form in which the server answers a prepared statement. The lengths
//! are those of the protocol's reference: "Binary Protocol Resultset Row".

use std::fmt::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Number, Value, json};
use sqlx::mysql::{MySqlColumn, MySqlRow, MySqlTypeInfo};
use sqlx::{Column as _, MySql, Row as _, Type, TypeInfo as _};

use super::geometry;

/// The largest integer up to which every client reads each one exactly: 2^53 - 1 (RFC 8259, section 6).
const MAX_EXACT: u64 = (1 << 53) - 1;

/// The most bytes of a blob that an answer holds. Of a longer one it has the size alone.
const MAX_BLOB: usize = 64 << 10;

/// What the bytes of a column's values are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ValueForm {
    Signed,
    Unsigned,
    Float,
    Double,
    Decimal,
    Date,
    DateTime,
    /// A moment: the connection's time zone is UTC.
    Timestamp,
    Time,
    Bits,
    Json,
    Text,
    Geometry,
    Blob,
}

/// How one column of a result is read.
#[derive(Debug)]
pub(super) struct ColumnReader {
    pub name: String,
    pub column_type: String,
    form: ValueForm,
}

impl ColumnReader {
    pub(super) fn new(column: &MySqlColumn) -> Self {
        let column_type = column.type_info();
        let is_text = <str as Type<MySql>>::compatible(column_type);
        // The driver takes a `TINYINT` of one digit for a truth value, whose sign it does not tell.
        let is_unsigned = *column_type == <u8 as Type<MySql>>::type_info();
        let driver_name = column_type.name();
        let name = match driver_name {
            "BOOLEAN" if is_unsigned => "TINYINT UNSIGNED",
            "BOOLEAN" => "TINYINT",
            // A text that is compared by its bytes looks like those bytes.
            "VARBINARY" if is_text => "VARCHAR",
            "BINARY" if is_text => "CHAR",
            "TINYBLOB" if is_text => "TINYTEXT",
            "BLOB" if is_text => "TEXT",
            "MEDIUMBLOB" if is_text => "MEDIUMTEXT",
            "LONGBLOB" if is_text => "LONGTEXT",
            other => other,
        };
        Self {
            name: column.name().to_owned(),
            column_type: name.to_ascii_lowercase(),
            form: form(name, column_type, is_text),
        }
    }
}

fn form(name: &str, column_type: &MySqlTypeInfo, is_text: bool) -> ValueForm {
    match name {
        "TINYINT" | "SMALLINT" | "MEDIUMINT" | "INT" | "BIGINT" => ValueForm::Signed,
        "YEAR" => ValueForm::Unsigned,
        _ if name.ends_with("UNSIGNED") => ValueForm::Unsigned,
        "FLOAT" => ValueForm::Float,
        "DOUBLE" => ValueForm::Double,
        "DECIMAL" => ValueForm::Decimal,
        "DATE" => ValueForm::Date,
        "DATETIME" => ValueForm::DateTime,
        "TIMESTAMP" => ValueForm::Timestamp,
        "TIME" => ValueForm::Time,
        "BIT" => ValueForm::Bits,
        "JSON" => ValueForm::Json,
        "GEOMETRY" => ValueForm::Geometry,
        "ENUM" | "SET" => ValueForm::Text,
        _ if is_text || column_type.is_null() => ValueForm::Text,
        _ => ValueForm::Blob,
    }
}

pub(super) fn row_values(
    row: &MySqlRow,
    readers: &[ColumnReader],
) -> Result<Vec<Value>, sqlx::Error> {
    let mut values = Vec::with_capacity(readers.len());
    for (at, reader) in readers.iter().enumerate() {
        // The driver takes a zero date for null, and has its bytes all the same.
        let bytes = match row.try_get_unchecked::<&[u8], _>(at) {
            Ok(bytes) => bytes,
            Err(sqlx::Error::ColumnDecode { .. }) => {
                values.push(Value::Null);
                continue;
            }
            Err(error) => return Err(error),
        };
        let value = converted(bytes, reader.form);
        values.push(value.unwrap_or_else(|| blob(bytes)));
    }
    Ok(values)
}

/// `None` where the bytes are not of the form that they should have.
fn converted(bytes: &[u8], form: ValueForm) -> Option<Value> {
    match form {
        ValueForm::Signed => Some(signed(bytes)),
        ValueForm::Unsigned => Some(unsigned(little_endian(bytes))),
        // Written as the shortest text that reads as the same number.
        ValueForm::Float => {
            let value = f32::from_le_bytes(bytes.try_into().ok()?);
            value.to_string().parse().ok().map(Value::Number)
        }
        ValueForm::Double => {
            let value = f64::from_le_bytes(bytes.try_into().ok()?);
            Number::from_f64(value).map(Value::Number)
        }
        ValueForm::Decimal => Some(decimal(std::str::from_utf8(bytes).ok()?)),
        ValueForm::Date => Moment::read(bytes).map(|moment| Value::from(moment.date())),
        ValueForm::DateTime => Moment::read(bytes).map(|moment| Value::from(moment.written())),
        ValueForm::Timestamp => {
            Moment::read(bytes).map(|moment| Value::from(moment.written() + "Z"))
        }
        ValueForm::Time => time(bytes).map(Value::from),
        ValueForm::Bits => {
            Some(unsigned(bytes.iter().fold(0, |sum, byte| sum << 8 | u64::from(*byte))))
        }
        ValueForm::Json => serde_json::from_slice(bytes).ok(),
        ValueForm::Text => Some(Value::from(String::from_utf8_lossy(bytes))),
        ValueForm::Geometry => geometry::text(bytes).map(Value::from),
        ValueForm::Blob => None,
    }
}

fn little_endian(bytes: &[u8]) -> u64 {
    bytes.iter().rev().take(8).fold(0, |sum, byte| sum << 8 | u64::from(*byte))
}

fn unsigned(value: u64) -> Value {
    if value <= MAX_EXACT { Value::from(value) } else { Value::from(value.to_string()) }
}

fn signed(bytes: &[u8]) -> Value {
    let unused_bits = 64 - 8 * bytes.len().clamp(1, 8);
    // Moved to the top and back, so that the sign fills what is unused.
    let value = (little_endian(bytes) << unused_bits).cast_signed() >> unused_bits;
    if value.unsigned_abs() <= MAX_EXACT {
        Value::from(value)
    } else {
        Value::from(value.to_string())
    }
}

/// A decimal is a number where reading it as a double and writing that gives the same decimal. It
/// keeps the zeros at its end.
fn decimal(text: &str) -> Value {
    let short = match text.split_once('.') {
        Some(_) => text.trim_end_matches('0').trim_end_matches('.'),
        None => text,
    };
    let whole =
        text.trim_start_matches('-').split('.').next().and_then(|digits| digits.parse().ok());
    let is_small = whole.is_some_and(|whole: u64| whole <= MAX_EXACT);
    let is_exact = text.parse::<f64>().is_ok_and(|value| value.to_string() == short);
    let number = text.parse::<Number>().ok().filter(|_| is_small && is_exact);
    number.map_or_else(|| Value::from(text), Value::Number)
}

/// A day and a time of day. Any part may be zero, and so may all.
#[derive(Default)]
struct Moment {
    year: u64,
    month: u8,
    day: u8,
    clock: Clock,
}

#[derive(Default)]
struct Clock {
    hours: u64,
    minutes: u8,
    seconds: u8,
    /// `None` where the server sends none.
    microseconds: Option<u64>,
}

impl Moment {
    /// After a byte with the length: nothing, or a day, then a time, then microseconds.
    fn read(bytes: &[u8]) -> Option<Self> {
        let (_, parts) = bytes.split_first()?;
        let [year @ .., month, day] = parts.get(..4).unwrap_or(&[0; 4]) else { return None };
        let clock = parts.get(4..).and_then(Clock::read).unwrap_or_default();
        Some(Self { year: little_endian(year), month: *month, day: *day, clock })
    }

    fn date(&self) -> String {
        format!("{:04}-{:02}-{:02}", self.year, self.month, self.day)
    }

    fn written(&self) -> String {
        format!("{}T{}", self.date(), self.clock.written())
    }
}

impl Clock {
    fn read(parts: &[u8]) -> Option<Self> {
        let [hours, minutes, seconds, rest @ ..] = parts else { return None };
        let microseconds = (rest.len() == 4).then(|| little_endian(rest));
        let (minutes, seconds) = (*minutes, *seconds);
        Some(Self { hours: u64::from(*hours), minutes, seconds, microseconds })
    }

    fn written(&self) -> String {
        let mut text = format!("{:02}:{:02}:{:02}", self.hours, self.minutes, self.seconds);
        if let Some(microseconds) = self.microseconds {
            // Writing to a text cannot fail.
            let _ = write!(text, ".{microseconds:06}");
        }
        text
    }
}

/// A span of up to 838 hours: after a byte with the length nothing, or a sign, days and a time of day.
fn time(bytes: &[u8]) -> Option<String> {
    let (_, parts) = bytes.split_first()?;
    let [sign, rest @ ..] = parts else { return Some(Clock::default().written()) };
    let days = little_endian(rest.get(..4)?);
    let mut clock = Clock::read(rest.get(4..)?)?;
    clock.hours += days * 24;
    Some(if *sign == 1 { format!("-{}", clock.written()) } else { clock.written() })
}

fn blob(bytes: &[u8]) -> Value {
    if bytes.len() > MAX_BLOB {
        return json!({ "bytes": bytes.len(), "truncated": true });
    }
    json!({ "bytes": bytes.len(), "base64": STANDARD.encode(bytes) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_are_numbers_only_where_every_client_is_exact() {
        let check =
            |bytes: &[u8], form, value: Value| assert_eq!(converted(bytes, form), Some(value));
        check(&[0xff], ValueForm::Signed, json!(-1));
        check(&[0xff], ValueForm::Unsigned, json!(255));
        check(&[0xff; 8], ValueForm::Unsigned, json!("18446744073709551615"));
        check(&i64::MIN.to_le_bytes(), ValueForm::Signed, json!("-9223372036854775808"));
        check(
            &9_007_199_254_740_991_i64.to_le_bytes(),
            ValueForm::Signed,
            json!(9_007_199_254_740_991_i64),
        );
        check(
            &9_007_199_254_740_992_i64.to_le_bytes(),
            ValueForm::Signed,
            json!("9007199254740992"),
        );
        check(&[1, 0], ValueForm::Bits, json!(256));
    }

    #[test]
    fn a_decimal_keeps_every_digit() {
        let check = |text: &str, written: &str| assert_eq!(decimal(text).to_string(), written);
        check("10.50", "10.50");
        check("-0.10", "-0.10");
        check("100", "100");
        check("12345678901234567890.5", "\"12345678901234567890.5\"");
        check("0.1234567890123456789", "\"0.1234567890123456789\"");
        check("9007199254740993", "\"9007199254740993\"");
    }

    #[test]
    fn dates_and_times_may_be_zero_or_long() {
        let check = |bytes: &[u8], form, text: &str| {
            assert_eq!(converted(bytes, form), Some(Value::from(text)), "{bytes:?}");
        };
        check(&[0], ValueForm::Date, "0000-00-00");
        check(&[4, 0xea, 7, 0, 0], ValueForm::Date, "2026-00-00");
        check(&[4, 0xea, 7, 11, 24], ValueForm::DateTime, "2026-11-24T00:00:00");
        check(&[7, 0xea, 7, 11, 24, 1, 2, 3], ValueForm::Timestamp, "2026-11-24T01:02:03Z");
        let micros = [11, 0xea, 7, 11, 24, 1, 2, 3, 0x40, 0xe2, 1, 0];
        check(&micros, ValueForm::DateTime, "2026-11-24T01:02:03.123456");
        check(&[0], ValueForm::Time, "00:00:00");
        check(&[8, 1, 34, 0, 0, 0, 22, 59, 59], ValueForm::Time, "-838:59:59");
        assert_eq!(converted(&[], ValueForm::Time), None);
        assert_eq!(converted(&[8, 1, 2], ValueForm::Time), None);
    }
}
