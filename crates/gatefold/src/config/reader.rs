//! Reads keys out of a file's tree and notes everything that is wrong on the way, so that one
//! run over a file finds all its faults.

use std::cell::RefCell;
use std::ops::Range;
use std::path::Path;
use std::time::Duration;

use super::as_written::{as_written, in_braces, with_defaults};
use super::error::{Fault, Lines};
use super::expand::{Dialect, ExpandFault, Expanded, expand};
use super::tree::{Entry, Node, Value};
use super::units;
use crate::Environment;

/// The most faults that are noted in one file. Who sees so many has given the wrong file.
const FAULT_LIMIT: usize = 100;

/// The longest key, in bytes, for which a nearest one is looked for.
const GUESS_LIMIT: usize = 64;

/// One file that is being read, and what was found wrong in it so far.
pub(super) struct Reader<'a> {
    pub(super) path: &'a Path,
    pub(super) environment: &'a Environment,
    lines: Lines<'a>,
    dialect: Dialect,
    values: Values,
    /// Defaults of the questions that a client asks, by their ids.
    inputs: RefCell<Vec<(String, String)>>,
    faults: RefCell<Vec<Fault>>,
    /// Variables and secrets that are not there, kept apart until it is known what needs them.
    absent: RefCell<Vec<Fault>>,
}

/// What becomes of references to variables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Values {
    /// Their values stand in their place.
    PutIn,
    /// They stay references, in Gatefold's notation.
    AsWritten,
}

impl<'a> Reader<'a> {
    pub(super) fn new(
        path: &'a Path,
        text: &'a str,
        environment: &'a Environment,
        dialect: Dialect,
    ) -> Self {
        Self {
            path,
            environment,
            lines: Lines::of(text),
            dialect,
            values: Values::PutIn,
            inputs: RefCell::default(),
            faults: RefCell::default(),
            absent: RefCell::default(),
        }
    }

    pub(super) fn with_values(self, values: Values) -> Self {
        Self { values, ..self }
    }

    /// Whether this is a file of Gemini CLI, which takes `$NAME` for a variable wherever it stands.
    fn is_geminis(&self) -> bool {
        self.path.parent().and_then(Path::file_name).is_some_and(|folder| folder == ".gemini")
    }

    pub(super) fn set_inputs(&self, inputs: Vec<(String, String)>) {
        self.inputs.replace(inputs);
    }

    pub(super) fn fault(
        &self,
        span: &Range<usize>,
        key: &str,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) {
        self.note(&self.faults, span, key, message.into(), hint.into());
    }

    fn note(
        &self,
        list: &RefCell<Vec<Fault>>,
        span: &Range<usize>,
        key: &str,
        message: String,
        hint: String,
    ) {
        let mut faults = list.borrow_mut();
        if faults.len() >= FAULT_LIMIT {
            return;
        }
        let (line, column) = self.lines.place(span.start);
        faults.push(Fault {
            file: self.path.to_owned(),
            line,
            column,
            key: key.to_owned(),
            message,
            hint,
        });
    }

    /// Takes which variables and secrets are not there. Whoever does not take them leaves faults.
    pub(super) fn take_absent(&self) -> Vec<Fault> {
        self.absent.take()
    }

    /// Takes what was found wrong, in the order of the file.
    pub(super) fn take_faults(&self) -> Vec<Fault> {
        let mut faults = self.faults.take();
        faults.extend(self.absent.take());
        faults.sort_by_key(|fault| (fault.line, fault.column));
        faults.dedup();
        faults
    }

    /// Notes again what was taken.
    pub(super) fn put_back(&self, faults: Vec<Fault>) {
        self.faults.borrow_mut().extend(faults);
    }

    /// The file's outermost table. A file that holds anything else is noted as wrong.
    pub(super) fn root(&'a self, node: &'a Node) -> Option<Table<'a>> {
        self.field(String::new(), node.span.clone(), node).table()
    }

    pub(super) fn field(
        &'a self,
        key: String,
        key_span: Range<usize>,
        node: &'a Node,
    ) -> Field<'a> {
        Field { reader: self, key, key_span, node }
    }
}

/// A table whose keys are known. What nobody asked for is unknown.
pub(super) struct Table<'a> {
    reader: &'a Reader<'a>,
    key: String,
    entries: &'a [Entry],
    known: Vec<&'static str>,
}

impl<'a> Table<'a> {
    pub(super) fn field(&mut self, key: &'static str) -> Option<Field<'a>> {
        self.known.push(key);
        let entry = self.entries.iter().rfind(|entry| entry.key == key)?;
        Some(self.field_of(entry))
    }

    /// The first of several names for the same thing that is there.
    pub(super) fn field_of_any(&mut self, keys: &[&'static str]) -> Option<Field<'a>> {
        keys.iter().find_map(|&key| self.field(key))
    }

    /// All entries, where any key is legal.
    pub(super) fn fields(&self) -> impl Iterator<Item = (&'a str, Field<'a>)> {
        self.entries.iter().map(|entry| (entry.key.as_str(), self.field_of(entry)))
    }

    fn field_of(&self, entry: &'a Entry) -> Field<'a> {
        self.reader.field(joined(&self.key, &entry.key), entry.key_span.clone(), &entry.node)
    }

    /// Puts the value under `key`, if there is one, into `target`.
    pub(super) fn duration(&mut self, key: &'static str, target: &mut Duration) {
        put(self.field(key).and_then(|field| field.duration()), target);
    }

    pub(super) fn size(&mut self, key: &'static str, target: &mut u64) {
        put(self.field(key).and_then(|field| field.size()), target);
    }

    pub(super) fn count<T: TryFrom<u64>>(&mut self, key: &'static str, target: &mut T) {
        put(self.field(key).and_then(|field| field.count()), target);
    }

    /// Notes every key that was not asked for.
    pub(super) fn finish(self) {
        for entry in self.entries {
            if self.known.contains(&entry.key.as_str()) {
                continue;
            }
            let hint = unknown_key_hint(&entry.key, &self.known);
            let key = joined(&self.key, &entry.key);
            self.reader.fault(&entry.key_span, &key, "is not a known key", hint);
        }
    }
}

fn put<T>(value: Option<T>, target: &mut T) {
    if let Some(value) = value {
        *target = value;
    }
}

/// A key's path. A part that TOML would quote is quoted.
fn joined(path: &str, key: &str) -> String {
    let is_bare = |b: u8| b.is_ascii_alphanumeric() || b == b'_' || b == b'-';
    let gap = if path.is_empty() { "" } else { "." };
    if !key.is_empty() && key.bytes().all(is_bare) {
        format!("{path}{gap}{key}")
    } else {
        format!("{path}{gap}{key:?}")
    }
}

/// What other programs call something that Gatefold has too, and how to say it here. The second
/// part is the key that must be known for the hint to make sense.
const FOREIGN_KEYS: &[(&str, &str, &str)] = &[
    ("disabled", "enabled", "write `enabled = false`"),
    ("mcpServers", "sources", "write `[sources.NAME]`, or pass the file as `--mcp-config FILE`"),
    ("servers", "sources", "write `[sources.NAME]`"),
    ("serverUrl", "url", "write `url`"),
    ("httpUrl", "url", "write `url`"),
    ("type", "command", "remove it: `command` or `url` says how a source is reached"),
    ("transport", "command", "remove it: `command` or `url` says how a source is reached"),
    ("environment", "env", "write `env`"),
    ("workingDirectory", "cwd", "write `cwd`"),
    ("includeTools", "allow", "write `allow`"),
    ("enabledTools", "allow", "write `allow`"),
    ("excludeTools", "deny", "write `deny`"),
    ("disabledTools", "deny", "write `deny`"),
    ("host", "listen", "write `listen = \"ADDRESS:PORT\"`"),
    ("port", "listen", "write `listen = \"ADDRESS:PORT\"`"),
    ("timeout", "connect_deadline", "write `connect_deadline`, or `call_deadline` in `[limits]`"),
];

fn unknown_key_hint(key: &str, known: &[&'static str]) -> String {
    let foreign = FOREIGN_KEYS.iter().find(|(name, own, _)| *name == key && known.contains(own));
    if let Some((_, _, hint)) = foreign {
        return (*hint).to_owned();
    }
    if let Some(nearest) = nearest_key(key, known) {
        return format!("did you mean `{nearest}`?");
    }
    let known: Vec<_> = known.iter().map(|key| format!("`{key}`")).collect();
    format!("use one of {}", known.join(", "))
}

/// The known key that was most likely meant.
pub(super) fn nearest_key<'k>(key: &str, known: &[&'k str]) -> Option<&'k str> {
    if key.len() > GUESS_LIMIT {
        return None;
    }
    let lower = key.to_lowercase().replace('-', "_");
    let distance = |known: &str| strsim::damerau_levenshtein(&lower, known);
    let nearest = known.iter().min_by_key(|known| distance(known))?;
    let beginning = known.iter().find(|known| is_beginning(&lower, known));
    let limit = (nearest.len().max(lower.len()) / 3).max(1);
    if distance(nearest) <= limit { Some(nearest) } else { beginning.copied() }
}

fn is_beginning(key: &str, of: &str) -> bool {
    key.len() >= 3 && of.starts_with(key)
}

/// One key and the value behind it.
#[derive(Clone)]
pub(super) struct Field<'a> {
    pub(super) reader: &'a Reader<'a>,
    key: String,
    key_span: Range<usize>,
    node: &'a Node,
}

impl<'a> Field<'a> {
    /// The line that the key stands in.
    pub(super) fn line(&self) -> usize {
        self.reader.lines.line(self.key_span.start)
    }

    pub(super) fn value(&self) -> &'a Value {
        &self.node.value
    }

    /// Notes something wrong with the value.
    pub(super) fn fault(&self, message: impl Into<String>, hint: impl Into<String>) {
        self.reader.fault(&self.node.span, &self.key, message, hint);
    }

    /// Notes something wrong with the key being there at all.
    pub(super) fn key_fault(&self, message: impl Into<String>, hint: impl Into<String>) {
        self.reader.fault(&self.key_span, &self.key, message, hint);
    }

    /// Whether the value is known in full, so that it can be judged.
    pub(super) fn is_put_in(&self, text: &str) -> bool {
        self.reader.values == Values::PutIn || !text.contains("${")
    }

    /// Whether references stay references.
    pub(super) fn is_as_written(&self) -> bool {
        self.reader.values == Values::AsWritten
    }

    fn wrong_type<T>(&self, expected: &str, hint: impl Into<String>) -> Option<T> {
        let dialect = self.reader.dialect;
        self.fault(format!("is {}, not {expected}", self.node.value.kind(dialect)), hint);
        None
    }

    /// A string with its variables put in.
    pub(super) fn text(&self) -> Option<Expanded> {
        let Value::Text(text) = &self.node.value else {
            return self.wrong_type(
                "a string",
                match self.node.value {
                    Value::List(_) | Value::Table(_) => "write one string",
                    _ => "put it in quotes",
                },
            );
        };
        self.expanded(text)
    }

    /// A string, or a number or boolean taken as its text.
    pub(super) fn loose_text(&self) -> Option<Expanded> {
        match &self.node.value {
            Value::Number(number) => Some(Expanded { text: number.clone(), is_secret: false }),
            Value::Flag(flag) => Some(Expanded { text: flag.to_string(), is_secret: false }),
            _ => self.text(),
        }
    }

    /// A text that is to stand for this field's value, with its variables put in.
    pub(super) fn expanded(&self, text: &str) -> Option<Expanded> {
        let own = match self.reader.dialect {
            Dialect::Client if self.reader.is_geminis() => Some(in_braces(text)),
            Dialect::Client => Some(with_defaults(text, &self.reader.inputs.borrow())),
            Dialect::Gatefold => None,
        };
        let text = own.as_deref().unwrap_or(text);
        if self.reader.values == Values::AsWritten {
            let text = as_written(text, self.reader.environment);
            return Some(Expanded { text, is_secret: false });
        }
        let reader = self.reader;
        let note = |fault: ExpandFault| {
            let list = if fault.is_absent { &reader.absent } else { &reader.faults };
            reader.note(list, &self.node.span, &self.key, fault.message, fault.hint);
        };
        expand(text, reader.environment, reader.dialect).map_err(note).ok()
    }

    /// A string that is not empty.
    pub(super) fn filled_text(&self) -> Option<Expanded> {
        let text = self.text()?;
        if text.text.trim().is_empty() {
            self.fault("is empty", "give it a value, or remove the key");
            return None;
        }
        Some(text)
    }

    /// A string that `parse` understands; else `hint` says what it would.
    pub(super) fn parsed<T>(
        &self,
        what: &str,
        hint: &str,
        parse: impl FnOnce(&str) -> Option<T>,
    ) -> Option<T> {
        let text = self.text()?;
        let parsed = parse(&text.text);
        if parsed.is_none() && text.is_secret {
            self.fault(format!("is not {what} once its variables are put in"), hint);
        } else if parsed.is_none() {
            self.fault(format!("is not {what}: {:?}", text.text), hint);
        }
        parsed
    }

    /// One of a few words.
    pub(super) fn choice<T: Copy>(&self, choices: &[(&str, T)]) -> Option<T> {
        let words: Vec<_> = choices.iter().map(|(word, _)| format!("\"{word}\"")).collect();
        let hint = format!("use {}", words.join(" or "));
        let find = |text: &str| choices.iter().find(|(word, _)| *word == text).map(|(_, t)| *t);
        self.parsed("one of its values", &hint, find)
    }

    pub(super) fn flag(&self) -> Option<bool> {
        match self.node.value {
            Value::Flag(flag) => Some(flag),
            _ => self.wrong_type("a boolean", "write `true` or `false`, without quotes"),
        }
    }

    pub(super) fn count<T: TryFrom<u64>>(&self) -> Option<T> {
        let Value::Number(number) = &self.node.value else {
            return self.wrong_type("a whole number", "write digits, without quotes");
        };
        let is_huge = number.bytes().all(|b| b.is_ascii_digit()) && number.parse::<u64>().is_err();
        if is_huge {
            self.fault(format!("is too large: {number}"), "write a smaller number");
            return None;
        }
        let Some(count) = number.parse().ok().filter(|count| *count > 0) else {
            let message = format!("is not a whole number above zero: {number}");
            self.fault(message, "write digits, such as 8");
            return None;
        };
        let fitting = T::try_from(count).ok();
        if fitting.is_none() {
            self.fault(format!("is too large: {number}"), "write a smaller number");
        }
        fitting
    }

    pub(super) fn duration(&self) -> Option<Duration> {
        if !matches!(self.node.value, Value::Text(_)) {
            return self.wrong_type("a duration", units::DURATION_HINT);
        }
        self.parsed("a duration", units::DURATION_HINT, units::duration)
    }

    pub(super) fn size(&self) -> Option<u64> {
        if !matches!(self.node.value, Value::Text(_)) {
            return self.wrong_type("a size", units::SIZE_HINT);
        }
        self.parsed("a size", units::SIZE_HINT, units::size)
    }

    /// The items of a list, each with its place in the key: `allow[0]`.
    pub(super) fn items(&self) -> Option<Vec<Field<'a>>> {
        let Value::List(items) = &self.node.value else {
            return self.wrong_type("a list", "put it in brackets: [...]");
        };
        let field = |(index, node): (usize, &'a Node)| {
            let key = format!("{}[{index}]", self.key);
            self.reader.field(key, node.span.clone(), node)
        };
        Some(items.iter().enumerate().map(field).collect())
    }

    pub(super) fn is_empty_list(&self) -> bool {
        matches!(&self.node.value, Value::List(items) if items.is_empty())
    }

    pub(super) fn table(&self) -> Option<Table<'a>> {
        let Value::Table(entries) = &self.node.value else {
            return match self.reader.dialect {
                Dialect::Gatefold => {
                    let hint = format!("write `[{}]` and its keys below it", self.key);
                    self.wrong_type("a table", hint)
                }
                Dialect::Client => self.wrong_type("an object", "put its members in braces: {...}"),
            };
        };
        Some(Table { reader: self.reader, key: self.key.clone(), entries, known: Vec::new() })
    }
}
