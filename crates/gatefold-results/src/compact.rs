//! Lists of uniform objects as a header and rows.

use gatefold_catalog::{token_bound, without_spaces};
use serde_json::value::RawValue;

use crate::json::{items, members, unescaped};

/// The longest text that is made compact, in bytes. A longer one is shown as a preview.
const MAX_BYTES: usize = 1 << 20;

/// The names under which columns and rows stand.
const COLUMNS: &str = "columns";
const ROWS: &str = "rows";

/// The same JSON with each list of uniform objects as `{"columns":[...],"rows":[[...]]}`, where that
/// saves tokens. Such a list is the whole, or a member of the whole.
///
/// It is exact: numbers and texts stay as they are written, and all members of a list have the same
/// names in the same order. It can be turned back, because `None` is given where an object with
/// just these two members stands in such a place already.
pub fn compact(json: &RawValue) -> Option<String> {
    let json = json.get().trim();
    if json.len() > MAX_BYTES {
        return None;
    }
    let compacted = match table(json) {
        Some(table) => table,
        None => with_tables(json)?,
    };
    let plain = without_spaces(json);
    (token_bound(&compacted) < token_bound(&plain)).then_some(compacted)
}

/// An object in which at least one member is a list of uniform objects.
fn with_tables(json: &str) -> Option<String> {
    if is_table(json) {
        return None;
    }
    let (mut parts, mut tables) = (Vec::new(), 0);
    for (name, value) in members(json) {
        if is_table(value) {
            return None;
        }
        let table = table(value);
        tables += usize::from(table.is_some());
        parts.push(format!("\"{name}\":{}", table.unwrap_or_else(|| without_spaces(value))));
    }
    (tables > 0).then(|| format!("{{{}}}", parts.join(",")))
}

/// Whether an object looks as if it had been made here.
fn is_table(value: &str) -> bool {
    let names: Vec<_> = members(value).take(3).map(|(name, _)| unescaped(name)).collect();
    let has = |name: &str| names.iter().any(|own| own == name);
    names.len() == 2 && has(COLUMNS) && has(ROWS)
}

/// A list of two or more objects of the same members in the same order, as a table.
fn table(list: &str) -> Option<String> {
    let mut objects = items(list);
    let first: Vec<&str> = members(objects.next()?).map(|(name, _)| name).collect();
    let mut distinct: Vec<_> = first.iter().map(|name| unescaped(name)).collect();
    distinct.sort_unstable();
    distinct.dedup();
    if first.is_empty() || distinct.len() < first.len() {
        return None;
    }
    let mut rows = Vec::new();
    for object in items(list) {
        let mut names = first.iter();
        let mut cells = Vec::with_capacity(first.len());
        for (name, value) in members(object) {
            if names.next() != Some(&name) {
                return None;
            }
            cells.push(without_spaces(value));
        }
        if names.next().is_some() {
            return None;
        }
        rows.push(format!("[{}]", cells.join(",")));
    }
    let names: Vec<_> = first.iter().map(|name| format!("\"{name}\"")).collect();
    let (names, rows_text) = (names.join(","), rows.join(","));
    (rows.len() > 1).then(|| format!("{{\"{COLUMNS}\":[{names}],\"{ROWS}\":[{rows_text}]}}"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Map, Value, json};

    use super::*;

    fn compacted(value: &Value) -> Option<Value> {
        let raw = serde_json::value::to_raw_value(value).unwrap();
        let pretty = serde_json::to_string_pretty(value).unwrap();
        let compacted = compact(&raw);
        assert_eq!(compact(&RawValue::from_string(pretty).unwrap()), compacted);
        compacted.map(|text| serde_json::from_str(&text).unwrap())
    }

    /// What a reader does to have the original back.
    fn restored(value: &Value) -> Value {
        match rows_of(value) {
            Some(list) => list,
            None => match value {
                Value::Object(members) => members
                    .iter()
                    .map(|(name, value)| (name.clone(), rows_of(value).unwrap_or(value.clone())))
                    .collect::<Map<_, _>>()
                    .into(),
                other => other.clone(),
            },
        }
    }

    fn rows_of(value: &Value) -> Option<Value> {
        let members = value.as_object().filter(|members| members.len() == 2)?;
        let (columns, rows) = (members.get(COLUMNS)?.as_array()?, members.get(ROWS)?.as_array()?);
        let object = |row: &Value| -> Value {
            let names = columns.iter().map(|name| name.as_str().unwrap().to_owned());
            names.zip(row.as_array().unwrap().clone()).collect::<Map<_, _>>().into()
        };
        Some(rows.iter().map(object).collect())
    }

    #[test]
    fn a_list_of_uniform_objects_becomes_a_table() {
        let row =
            |id: usize| json!({"identifier": id, "description": "a \"b\"", "nested": {"x": [1]}});
        let list: Value = (0..9).map(row).collect();
        let table = compacted(&list).unwrap();
        assert_eq!(table["columns"], json!(["identifier", "description", "nested"]));
        assert_eq!(table["rows"][3], json!([3, "a \"b\"", {"x": [1]}]));
        let table = compacted(&json!({"total": 9, "items": list})).unwrap();
        assert_eq!((&table["total"], &table["items"]["rows"][1][0]), (&json!(9), &json!(1)));
    }

    #[test]
    fn other_json_stays_as_it_is() {
        for value in [
            json!([]),
            json!({"a": 1}),
            json!([{"a": 1}]),
            json!([{"a": 1}, {"b": 1}]),
            json!([{"a": 1, "b": 2}, {"b": 1, "a": 2}]),
            json!([1, 2, 3]),
            json!({"columns": ["a"], "rows": [[1], [2]]}),
            json!({"rows": [{"long_name": 1}, {"long_name": 2}, {"long_name": 3}], "columns": []}),
            json!({"t": {"rows": [[1]], "columns": ["a"]}, "l": [{"a": 1}, {"a": 2}, {"a": 3}]}),
            json!({"t": {"columns": ["a"], "rows": [[1]]}, "l": [{"a": 1}, {"a": 2}, {"a": 3}]}),
        ] {
            assert_eq!(compacted(&value), None, "{value}");
        }
        let twice = RawValue::from_string(r#"[{"a":1,"a":2},{"a":1,"a":2}]"#.to_owned()).unwrap();
        assert_eq!(compact(&twice), None);
    }

    #[test]
    fn numbers_stay_as_they_are_written() {
        let row = r#"{"amount_in_total":1.50e+2,"identifier":12345678901234567890123}"#;
        let raw = RawValue::from_string(format!("[{}]", [row; 8].join(" , "))).unwrap();
        let table = compact(&raw).unwrap();
        assert!(table.contains("[1.50e+2,12345678901234567890123]"), "{table}");
    }

    proptest! {
        #[test]
        fn a_table_can_be_turned_back(
            names in prop::collection::btree_set("[a-z \"\\\\é]{1,6}", 1..5),
            cells in prop::collection::vec(("[ -~é\n]{0,6}", any::<i64>()), 2..30),
            is_member in any::<bool>(),
        ) {
            let row = |(text, number): &(String, i64)| -> Value {
                let value = |at: usize| if at == 0 { json!(number) } else { json!({text: [text]}) };
                let members = names.iter().enumerate().map(|(at, name)| (name.clone(), value(at)));
                members.collect::<Map<_, _>>().into()
            };
            let list: Value = cells.iter().map(row).collect();
            let value = if is_member { json!({"total": 3, "list": list}) } else { list };
            if let Some(table) = compacted(&value) {
                prop_assert_eq!(restored(&table).to_string(), value.to_string());
            }
        }
    }
}
