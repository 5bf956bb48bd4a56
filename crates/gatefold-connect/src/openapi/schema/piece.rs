//! A translated schema as text, with gaps where others are referred to.

use std::collections::HashMap;

use serde_json::Value;

/// What a reference to another schema begins with.
const DEFS: &str = "#/$defs/";

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Segment {
    Text(Box<str>),
    /// A whole schema that is only a reference. `depth` is how deep it stands in this piece.
    Component {
        id: usize,
        depth: usize,
    },
}

/// One translated schema.
#[derive(Debug)]
pub(super) struct Piece {
    pub(super) segments: Vec<Segment>,
    /// References that have something beside them, so that what they lead to cannot stand in their place.
    pub(super) fixed: Vec<usize>,
    /// Bytes of its text.
    pub(super) size: usize,
    /// How deep its values nest.
    pub(super) depth: usize,
}

impl Piece {
    pub(super) fn of(schema: &Value, by_name: &HashMap<String, usize>) -> Self {
        let mut writer = PieceWriter { by_name, piece: Self::empty(), text: String::new() };
        writer.value(schema, 0);
        let PieceWriter { mut piece, text, .. } = writer;
        piece.size += text.len();
        piece.segments.push(Segment::Text(text.into()));
        piece.segments.shrink_to_fit();
        piece
    }

    fn empty() -> Self {
        Self { segments: Vec::new(), fixed: Vec::new(), size: 0, depth: 0 }
    }

    /// The components that it refers to, as often as it does.
    pub(super) fn components(&self) -> impl Iterator<Item = usize> {
        let gaps = self.segments.iter().filter_map(|segment| match segment {
            Segment::Component { id, .. } => Some(*id),
            Segment::Text(_) => None,
        });
        // Twice, so that what they lead to is never used once only.
        gaps.chain(self.fixed.iter().flat_map(|id| [*id, *id]))
    }
}

struct PieceWriter<'a> {
    by_name: &'a HashMap<String, usize>,
    piece: Piece,
    text: String,
}

impl PieceWriter<'_> {
    fn value(&mut self, value: &Value, depth: usize) {
        self.piece.depth = self.piece.depth.max(depth);
        match value {
            Value::Object(members) => {
                let reference = members.get("$ref").and_then(Value::as_str);
                let id = reference
                    .and_then(|reference| reference.strip_prefix(DEFS))
                    .and_then(|name| self.by_name.get(name).copied());
                match id {
                    Some(id) if members.len() == 1 => return self.gap(id, depth),
                    Some(id) => self.piece.fixed.push(id),
                    None => {}
                }
                self.text.push('{');
                for (index, (key, value)) in members.iter().enumerate() {
                    if index > 0 {
                        self.text.push(',');
                    }
                    self.scalar(&Value::String(key.clone()));
                    self.text.push(':');
                    self.value(value, depth + 1);
                }
                self.text.push('}');
            }
            Value::Array(items) => {
                self.text.push('[');
                for (index, item) in items.iter().enumerate() {
                    if index > 0 {
                        self.text.push(',');
                    }
                    self.value(item, depth + 1);
                }
                self.text.push(']');
            }
            scalar => self.scalar(scalar),
        }
    }

    fn scalar(&mut self, value: &Value) {
        self.text.push_str(&value.to_string());
    }

    fn gap(&mut self, id: usize, depth: usize) {
        let text = std::mem::take(&mut self.text);
        self.piece.size += text.len();
        self.piece.segments.push(Segment::Text(text.into()));
        self.piece.segments.push(Segment::Component { id, depth });
    }
}
