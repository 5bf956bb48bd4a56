use serde_json::Value;

use crate::{QueryRows, ResultColumn, Stop};

/// What a masked value reads.
pub const MASK: &str = "***";

/// Takes rows until one of two bounds is reached.
#[derive(Debug)]
pub struct RowCollector {
    columns: Vec<ResultColumn>,
    /// Positions whose values are masked.
    masked: Vec<usize>,
    rows: Vec<Vec<Value>>,
    max_rows: usize,
    bytes: usize,
    max_bytes: usize,
    stopped: Option<Stop>,
}

impl RowCollector {
    pub fn new(max_rows: usize, max_bytes: usize) -> Self {
        Self {
            columns: Vec::new(),
            masked: Vec::new(),
            rows: Vec::new(),
            max_rows,
            bytes: 0,
            max_bytes,
            stopped: None,
        }
    }

    /// Sets the result's columns; those of `masked` hold a mark instead of each value that is not
    /// null.
    pub fn set_columns(&mut self, columns: Vec<ResultColumn>, masked: &[usize]) {
        self.columns = columns;
        self.masked = masked.to_vec();
    }

    /// Takes one more row, and says whether to go on reading. The row that would pass a bound is
    /// dropped, so that the last one is always whole.
    pub fn push(&mut self, mut row: Vec<Value>) -> bool {
        if self.rows.len() >= self.max_rows {
            self.stopped = Some(Stop::Rows);
            return false;
        }
        for at in &self.masked {
            if let Some(value) = row.get_mut(*at).filter(|value| !value.is_null()) {
                *value = Value::from(MASK);
            }
        }
        let bytes = row.iter().map(|value| written_length(value) + 1).sum::<usize>() + 2;
        if self.bytes + bytes > self.max_bytes {
            self.stopped = Some(Stop::Bytes);
            return false;
        }
        self.bytes += bytes;
        self.rows.push(row);
        true
    }

    pub fn finish(self) -> QueryRows {
        QueryRows { columns: self.columns, rows: self.rows, stopped: self.stopped }
    }
}

/// The length of a value as JSON. Texts are the bulk of most results, so theirs is not written first.
fn written_length(value: &Value) -> usize {
    match value {
        Value::String(text) => {
            let escapes = text.bytes().map(|byte| match byte {
                b'"' | b'\\' => 1,
                0..0x20 => 5,
                _ => 0,
            });
            text.len() + 2 + escapes.sum::<usize>()
        }
        other => other.to_string().len(),
    }
}
