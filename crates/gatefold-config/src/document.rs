//! One file while it is read, and the faults found so far.

mod cursor;

use std::cell::RefCell;
use std::ops::Range;
use std::path::Path;

use crate::as_written::{as_written, in_braces, of_crush, of_opencode, with_inputs, with_secrets};
use crate::notation::expand;
use crate::{
    Dialect, ExpandedText, Fault, ForeignKey, InputVariable, Surroundings, UnresolvedReference,
};
use gatefold_located::{Lines, Node, SyntaxFault};

pub use cursor::{Field, Table};

/// The most faults that are noted in one file. A file with more is most likely the wrong file.
const FAULT_LIMIT: usize = 100;

/// One file while it is read, and the faults found so far.
pub struct Document<'a> {
    path: &'a Path,
    surroundings: &'a dyn Surroundings,
    lines: Lines<'a>,
    dialect: Dialect,
    references: References,
    foreign_keys: Vec<ForeignKey>,
    client_notation: ClientNotation,
    /// What replaces the questions that a client asks.
    inputs: Vec<InputVariable>,
    /// What is wrong, at most [`FAULT_LIMIT`].
    faults: RefCell<Vec<Fault>>,
    /// Variables and secrets that do not exist, kept separately until it is known what needs them,
    /// at most [`FAULT_LIMIT`].
    absent: RefCell<Vec<Fault>>,
}

/// What happens to references to variables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum References {
    /// They are replaced by their values.
    PutIn,
    /// They stay references, in Gatefold's notation.
    AsWritten,
}

/// How a client's file refers to variables, beside `${VAR}`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ClientNotation {
    /// In no other way.
    #[default]
    Braces,
    /// `$VAR` anywhere in a text: Gemini CLI and Copilot CLI.
    Dollars,
    /// The same, and `$(command)`: Crush.
    Shell,
    /// `{env:VAR}` and `{file:PATH}` only: opencode.
    Opencode,
}

impl<'a> Document<'a> {
    pub fn new(
        path: &'a Path,
        text: &'a str,
        surroundings: &'a dyn Surroundings,
        dialect: Dialect,
    ) -> Self {
        Self {
            path,
            surroundings,
            lines: Lines::of(text),
            dialect,
            references: References::PutIn,
            foreign_keys: Vec::new(),
            client_notation: ClientNotation::default(),
            inputs: Vec::new(),
            faults: RefCell::default(),
            absent: RefCell::default(),
        }
    }

    #[must_use]
    pub fn with_references(self, references: References) -> Self {
        Self { references, ..self }
    }

    /// Like [`Document::new`], with hints for keys of other programs.
    #[must_use]
    pub fn with_foreign_keys(self, foreign_keys: Vec<ForeignKey>) -> Self {
        Self { foreign_keys, ..self }
    }

    /// Sets what replaces the questions that a client asks.
    pub fn set_inputs(&mut self, inputs: Vec<InputVariable>) {
        self.inputs = inputs;
    }

    pub fn set_client_notation(&mut self, notation: ClientNotation) {
        self.client_notation = notation;
    }

    pub fn client_notation(&self) -> ClientNotation {
        self.client_notation
    }

    pub fn path(&self) -> &'a Path {
        self.path
    }

    /// The file's outermost table. Anything else is noted as a fault.
    pub fn root(&'a self, node: &'a Node) -> Option<Table<'a>> {
        self.field(String::new(), node).table()
    }

    /// A value of this file under a path that the caller chooses.
    pub fn field(&'a self, key: String, node: &'a Node) -> Field<'a> {
        Field::new(self, key, node.span.clone(), node)
    }

    /// The parsed file, or nothing if its syntax is broken, which is noted.
    pub fn parsed(&self, root: Result<Node, Vec<SyntaxFault>>) -> Option<Node> {
        let note = |fault: SyntaxFault| {
            self.fault(&(fault.offset..fault.offset), "", fault.message, fault.hint);
        };
        root.map_err(|faults| faults.into_iter().for_each(note)).ok()
    }

    /// Notes a fault at a place of the file.
    pub fn fault(
        &self,
        span: &Range<usize>,
        key: &str,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) {
        self.note(&self.faults, span, key, message.into(), hint.into());
    }

    /// Notes a reference that cannot be resolved.
    pub(crate) fn unresolved(&self, span: &Range<usize>, key: &str, why: UnresolvedReference) {
        let list = if why.is_absent { &self.absent } else { &self.faults };
        self.note(list, span, key, why.message, why.hint);
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
        let (line, column) = self.lines.place(span.start);
        let fault =
            Fault { file: self.path.to_owned(), line, column, key: key.to_owned(), message, hint };
        // A value that is read again after a fault finds its other faults again.
        if faults.len() < FAULT_LIMIT && !faults.contains(&fault) {
            faults.push(fault);
        }
    }

    /// Takes the variables and secrets that do not exist. Those that nobody takes become faults of
    /// the file.
    pub fn take_absent(&self) -> Vec<Fault> {
        self.absent.take()
    }

    /// Takes the faults, in the order of the file.
    pub fn take_faults(&self) -> Vec<Fault> {
        let mut faults = self.faults.take();
        faults.extend(self.absent.take());
        faults.sort_by_key(|fault| (fault.line, fault.column));
        faults.dedup();
        faults
    }

    /// Puts faults back that were taken.
    pub fn put_back(&self, faults: Vec<Fault>) {
        self.faults.borrow_mut().extend(faults);
    }

    pub(crate) fn surroundings(&self) -> &'a dyn Surroundings {
        self.surroundings
    }

    pub(crate) fn dialect(&self) -> Dialect {
        self.dialect
    }

    pub(crate) fn references(&self) -> References {
        self.references
    }

    pub(crate) fn foreign_keys(&self) -> &[ForeignKey] {
        &self.foreign_keys
    }

    pub(crate) fn line(&self, offset: usize) -> usize {
        self.lines.line(offset)
    }

    /// A text with its references replaced, or in Gatefold's notation where they stay.
    pub(crate) fn expanded(&self, text: &str) -> Result<ExpandedText, UnresolvedReference> {
        let own = match self.dialect {
            Dialect::Client => Some(self.in_common_notation(text)?),
            Dialect::Gatefold => None,
        };
        let text = own.as_deref().unwrap_or(text);
        if self.references == References::AsWritten {
            let text = as_written(text, self.surroundings);
            return Ok(ExpandedText { text, is_secret: false });
        }
        expand(text, self.surroundings, self.dialect)
    }

    /// A text of a client with its own notation as `${VAR}`, and its questions as variables.
    fn in_common_notation(&self, text: &str) -> Result<String, UnresolvedReference> {
        Ok(match self.client_notation {
            ClientNotation::Braces => with_secrets(&with_inputs(text, &self.inputs)),
            ClientNotation::Dollars => in_braces(text),
            ClientNotation::Shell => of_crush(text)?,
            ClientNotation::Opencode => of_opencode(text)?,
        })
    }
}
