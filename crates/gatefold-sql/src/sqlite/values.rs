//! SQLite's values as JSON. A column may hold values of every type, whatever it is declared as.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Number, Value, json};
use sqlx::sqlite::SqliteRow;
use sqlx::{Row as _, TypeInfo as _, ValueRef as _};

/// The most bytes of a blob that an answer holds. Of a longer one it has the size alone.
const MAX_BLOB: usize = 64 << 10;

/// The largest integer up to which every client reads each one exactly: 2^53 - 1 (RFC 8259, section 6).
const MAX_EXACT: u64 = (1 << 53) - 1;

/// A row's values. Where `types` has no type yet, a value that is not null sets it.
pub(super) fn row_values(
    row: &SqliteRow,
    types: &mut [Option<String>],
) -> Result<Vec<Value>, sqlx::Error> {
    let mut values = Vec::with_capacity(row.len());
    for at in 0..row.len() {
        let value = row.try_get_raw(at)?;
        if value.is_null() {
            values.push(Value::Null);
            continue;
        }
        let value_type = value.type_info();
        if let Some(unknown) = types.get_mut(at).filter(|known| known.is_none()) {
            *unknown = Some(value_type.name().to_ascii_lowercase());
        }
        values.push(match value_type.name() {
            "INTEGER" => integer(row.try_get_unchecked(at)?),
            "REAL" => real(row.try_get_unchecked(at)?),
            "BLOB" => blob(row.try_get_unchecked(at)?),
            // A text need not be valid UTF-8.
            _ => Value::from(String::from_utf8_lossy(row.try_get_unchecked(at)?)),
        });
    }
    Ok(values)
}

fn integer(value: i64) -> Value {
    if value.unsigned_abs() <= MAX_EXACT {
        Value::from(value)
    } else {
        Value::from(value.to_string())
    }
}

fn real(value: f64) -> Value {
    match Number::from_f64(value) {
        Some(number) => Value::Number(number),
        None if value > 0.0 => Value::from("Infinity"),
        None => Value::from("-Infinity"),
    }
}

fn blob(bytes: &[u8]) -> Value {
    if bytes.len() > MAX_BLOB {
        return json!({ "bytes": bytes.len(), "truncated": true });
    }
    json!({ "bytes": bytes.len(), "base64": STANDARD.encode(bytes) })
}
