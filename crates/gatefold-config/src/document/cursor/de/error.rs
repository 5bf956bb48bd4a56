//! Why a value was not read, in words for people.
//!
//! An error begins as a message of serde or of a type, without a place. The first access above it
//! knows the place and the value, and writes the message.

use std::fmt;
use std::ops::Range;

use serde::de::{self, Expected, Unexpected};

use super::super::{Document, Field};
use super::NodeId;
use crate::faults::HELP;
use crate::{Part, UnresolvedReference, parts};
use gatefold_located::Value;

#[derive(Debug)]
pub(super) enum ReadError {
    Unplaced(Problem),
    Placed {
        node: NodeId,
        span: Range<usize>,
        key: String,
        /// None if another fault reports it already.
        words: Option<UnresolvedReference>,
    },
}

#[derive(Debug)]
pub(super) enum Problem {
    /// A finished message.
    Worded(UnresolvedReference),
    /// A value of another kind than what was expected.
    WrongKind(Expectation),
    /// A text of the right kind with a wrong value; for a number, none.
    WrongValue { text: Option<String>, expected: Expectation },
    /// A key without a default.
    MissingKey(&'static str),
    /// A key that is missing because it was left out.
    LeftOutKey,
}

/// What a type accepts, and how to write it. The hint may be empty.
#[derive(Debug)]
pub(super) struct Expectation {
    what: String,
    hint: String,
}

impl Expectation {
    fn of(expected: &dyn Expected) -> Self {
        let text = expected.to_string();
        let (what, hint) = text.split_once(HELP).unwrap_or((&text, ""));
        Self { what: what.to_owned(), hint: hint.to_owned() }
    }
}

impl ReadError {
    pub(super) fn of(message: impl Into<String>, hint: impl Into<String>) -> Self {
        let (message, hint) = (message.into(), hint.into());
        Self::unresolved(UnresolvedReference { message, hint, is_absent: false })
    }

    pub(super) fn empty() -> Self {
        Self::of("is empty", "give it a value, or remove the key")
    }

    pub(super) fn unresolved(why: UnresolvedReference) -> Self {
        Self::Unplaced(Problem::Worded(why))
    }

    pub(super) fn wrong_kind(expected: &dyn Expected) -> Self {
        Self::Unplaced(Problem::WrongKind(Expectation::of(expected)))
    }

    /// The same error, or a silent one if it is about a key that was left out.
    pub(super) fn unless_left_out(self, is_left_out: impl Fn(&str) -> bool) -> Self {
        match self {
            Self::Unplaced(Problem::MissingKey(key)) if is_left_out(key) => {
                Self::Unplaced(Problem::LeftOutKey)
            }
            error => error,
        }
    }

    /// The error at a value's place, unless it already has a nearer one.
    pub(super) fn at(self, field: &Field<'_>) -> Self {
        let span = field.node().span.clone();
        self.placed(field, span)
    }

    /// The same for a key.
    pub(super) fn at_key(self, field: &Field<'_>) -> Self {
        let span = field.key_span();
        self.placed(field, span)
    }

    fn placed(self, field: &Field<'_>, span: Range<usize>) -> Self {
        let problem = match self {
            Self::Unplaced(problem) => problem,
            placed @ Self::Placed { .. } => return placed,
        };
        let worded = |message, hint| Some(UnresolvedReference { message, hint, is_absent: false });
        let words = match problem {
            Problem::Worded(words) => Some(words),
            Problem::WrongKind(expected) => {
                let message = field.wrong_kind(&expected.what);
                worded(message, kind_hint(field.value(), expected.hint))
            }
            Problem::WrongValue { text, expected } => {
                let message = wrong_value(field.value(), text, &expected.what);
                worded(message, expected.hint)
            }
            Problem::MissingKey(key) => worded(format!("has no `{key}`"), "add it".to_owned()),
            Problem::LeftOutKey => None,
        };
        let (node, key) = (NodeId::of(field.node()), field.key().to_owned());
        Self::Placed { node, span, key, words }
    }

    /// Notes the error and returns the value to leave out. None without a place.
    pub(super) fn note(self, document: &Document<'_>) -> Option<NodeId> {
        let Self::Placed { node, span, key, words } = self else {
            return None;
        };
        if let Some(words) = words {
            document.unresolved(&span, &key, words);
        }
        Some(node)
    }
}

/// How to write a value of the right kind, if the type gives no hint.
fn kind_hint(found: &Value, hint: String) -> String {
    match found {
        _ if !hint.is_empty() => hint,
        Value::List(_) | Value::Table(_) => "write one string".to_owned(),
        _ => "put it in quotes".to_owned(),
    }
}

/// The message about a wrong value. A value from a variable or the keyring is never repeated.
fn wrong_value(found: &Value, text: Option<String>, expected: &str) -> String {
    let refers = |text: &str| parts(text).any(|part| matches!(part, Part::Reference(_)));
    match (found, text) {
        (Value::Text(written), _) if refers(written) => {
            format!("is not {expected} once its variables are put in")
        }
        (_, Some(text)) => format!("is not {expected}: {text:?}"),
        (Value::Number(number), None) => format!("is not {expected}: {number}"),
        _ => format!("is not {expected}"),
    }
}

impl std::error::Error for ReadError {}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Placed { words: Some(words), .. } | Self::Unplaced(Problem::Worded(words)) => {
                f.write_str(&words.message)
            }
            _ => f.write_str("the value cannot be read"),
        }
    }
}

impl de::Error for ReadError {
    fn custom<T: fmt::Display>(message: T) -> Self {
        let text = message.to_string();
        let (message, hint) = text.split_once(HELP).unwrap_or((&text, "correct it"));
        Self::of(message, hint)
    }

    fn invalid_type(_: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::wrong_kind(expected)
    }

    fn invalid_value(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        let text = match found {
            Unexpected::Str(text) => Some(text.to_owned()),
            _ => None,
        };
        Self::Unplaced(Problem::WrongValue { text, expected: Expectation::of(expected) })
    }

    fn unknown_variant(found: &str, words: &'static [&'static str]) -> Self {
        let words: Vec<_> = words.iter().map(|word| format!("\"{word}\"")).collect();
        let expected = Expectation {
            what: "one of its values".to_owned(),
            hint: format!("use {}", words.join(" or ")),
        };
        Self::Unplaced(Problem::WrongValue { text: Some(found.to_owned()), expected })
    }

    fn missing_field(key: &'static str) -> Self {
        Self::Unplaced(Problem::MissingKey(key))
    }
}
