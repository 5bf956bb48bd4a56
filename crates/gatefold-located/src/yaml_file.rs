//! YAML as clients write it: one document, without anchors.

use saphyr_parser::{Event, Parser, ScalarStyle, ScanError, Span, StrInput};

use crate::{Entry, Node, SyntaxFault, Value};

/// How deep values may nest. Clients' files need four levels.
const DEPTH_LIMIT: usize = 64;

const HINT: &str = "check the indentation, quotes and colons before this place";

/// Reads the first document of a YAML text. An alias counts as null: nothing here needs one, and
/// expanding aliases could grow without limit.
pub fn parse(text: &str) -> Result<Node, SyntaxFault> {
    let mut document = EventReader {
        parser: Parser::new_from_str(text),
        offsets: text.char_indices().map(|(offset, _)| offset).collect(),
        end: text.len(),
    };
    loop {
        let (event, span) = document.next()?;
        match event {
            Event::StreamStart | Event::DocumentStart(_) => {}
            Event::StreamEnd => return Ok(Node { span: 0..0, value: Value::Null }),
            event => return document.node(event, span, DEPTH_LIMIT),
        }
    }
}

struct EventReader<'t> {
    parser: Parser<'t, StrInput<'t>>,
    /// The byte at which each character begins: the parser counts characters.
    offsets: Vec<usize>,
    end: usize,
}

impl<'t> EventReader<'t> {
    fn next(&mut self) -> Result<(Event<'t>, Span), SyntaxFault> {
        match self.parser.next_event() {
            Some(Ok(event)) => Ok(event),
            Some(Err(error)) => Err(self.fault(&error)),
            None => Ok((Event::StreamEnd, Span::default())),
        }
    }

    fn fault(&self, error: &ScanError) -> SyntaxFault {
        SyntaxFault {
            offset: self.offset(error.marker().index()),
            message: error.info().to_owned(),
            hint: HINT,
        }
    }

    fn offset(&self, character: usize) -> usize {
        self.offsets.get(character).copied().unwrap_or(self.end)
    }

    fn node(&mut self, event: Event<'t>, span: Span, depth: usize) -> Result<Node, SyntaxFault> {
        let start = self.offset(span.start.index());
        let inner = depth.checked_sub(1).ok_or_else(|| SyntaxFault {
            offset: start,
            message: format!("values nest deeper than {DEPTH_LIMIT} levels"),
            hint: "give the configuration of an MCP client, which needs four",
        })?;
        let mut end = self.offset(span.end.index());
        let value = match event {
            Event::Scalar(text, style, _, tag) => {
                let is_plain = style == ScalarStyle::Plain && tag.is_none();
                if is_plain { plain(&text) } else { Value::Text(text.into_owned()) }
            }
            Event::SequenceStart(..) => {
                let mut items = Vec::new();
                loop {
                    let (event, span) = self.next()?;
                    if matches!(event, Event::SequenceEnd) {
                        end = self.offset(span.end.index());
                        break Value::List(items);
                    }
                    items.push(self.node(event, span, inner)?);
                }
            }
            Event::MappingStart(..) => {
                let mut entries = Vec::new();
                loop {
                    let (event, span) = self.next()?;
                    if matches!(event, Event::MappingEnd) {
                        end = self.offset(span.end.index());
                        break Value::Table(entries);
                    }
                    entries.push(self.entry(event, span, inner)?);
                }
            }
            _ => Value::Null,
        };
        Ok(Node { span: start..end.max(start), value })
    }

    fn entry(&mut self, event: Event<'t>, span: Span, depth: usize) -> Result<Entry, SyntaxFault> {
        let text = match &event {
            Event::Scalar(text, ..) => Some(text.to_string()),
            _ => None,
        };
        let key = self.node(event, span, depth)?;
        let text = text.ok_or_else(|| SyntaxFault {
            offset: key.span.start,
            message: "a key is not a string".to_owned(),
            hint: "put the key in quotes",
        })?;
        let (event, span) = self.next()?;
        let node = self.node(event, span, depth)?;
        Ok(Entry { key: text, key_span: key.span, node })
    }
}

/// The value of a scalar without quotes (YAML 1.2.2, section 10.3.2, as far as files use it).
fn plain(text: &str) -> Value {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => Value::Null,
        "true" | "True" | "TRUE" => Value::Flag(true),
        "false" | "False" | "FALSE" => Value::Flag(false),
        _ if is_number(text) => Value::Number(text.to_owned()),
        _ => Value::Text(text.to_owned()),
    }
}

fn is_number(text: &str) -> bool {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    digits.starts_with(|c: char| c.is_ascii_digit() || c == '.') && text.parse::<f64>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_keep_their_kinds_and_places() {
        let text = "# é\nextensions:\n  git: {cmd: uvx, args: [a, '1', 2], enabled: yes}\n  off:\n    enabled: false\n    note: |\n      two\n      lines\n";
        let Ok(root) = parse(text) else { panic!("it is readable") };
        let git = root.get("extensions").and_then(|node| node.get("git")).unwrap();
        assert_eq!(&text[git.get("cmd").unwrap().span.clone()], "uvx");
        let Some(Node { value: Value::List(args), .. }) = git.get("args") else { panic!() };
        assert!(matches!(&args[1].value, Value::Text(text) if text == "1"));
        assert!(matches!(&args[2].value, Value::Number(text) if text == "2"));
        // YAML 1.2 has no `yes`.
        assert!(matches!(&git.get("enabled").unwrap().value, Value::Text(_)));
        let off = root.get("extensions").and_then(|node| node.get("off")).unwrap();
        assert!(matches!(off.get("enabled").unwrap().value, Value::Flag(false)));
        assert!(matches!(&off.get("note").unwrap().value, Value::Text(t) if t == "two\nlines\n"));
    }

    #[test]
    fn a_broken_file_says_where() {
        for (text, offset) in [("a: [1, 2\nb: 3\n", 10), ("é: 'x\n", 4), ("a:\n\t- b\n", 4)] {
            let Err(fault) = parse(text) else { panic!("{text} was read") };
            assert_eq!(fault.offset, offset, "{text}: {}", fault.message);
        }
        assert!(parse(&"[".repeat(1000)).is_err());
        assert!(matches!(parse("").map(|node| node.value), Ok(Value::Null)));
    }
}
