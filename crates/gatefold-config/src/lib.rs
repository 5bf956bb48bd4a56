//! Configuration files, read through serde with the place of every value and all faults at once.
//!
//! A text becomes a tree of [`Node`](gatefold_located::Node)s that know their places. A [`Document`] is one such file while it is read; a [`Field`]
//! is a value in it, and [`Field::read`] deserialises any type that derives `Deserialize`. Serde
//! stops at the first error; we do not: each fault is noted with its place, the value that caused
//! it is left out, and the rest is read again, so one run over a file finds everything that is
//! wrong with it.
//!
//! References (`${VAR}`, `${secret:NAME}`) are replaced in every string before a type sees it, and
//! no fault repeats a value that came from one. The [`values`](crate) that configurations consist
//! of, such as [`Time`] and [`Size`], say in their errors what they accept and how to write it; a
//! type of another crate does the same with [`parsed`] and [`fault`].
//!
//! This crate is pure: it opens no file, reads no variable and knows no section of any
//! configuration. [`Surroundings`] resolves the references.

mod as_written;
mod document;
mod faults;
mod generic_schemas;
mod key_paths;
mod names;
mod notation;
pub mod schemas;
mod toml_text;
mod units;
mod values;

pub use document::{ClientNotation, Document, Field, References, Table};
pub use faults::{Fault, Faults};
pub use key_paths::{ForeignKey, nearest_key};
pub use names::ITEM_LIMIT;
pub use notation::{
    Dialect, ExpandedText, InputVariable, Part, SECRET, Surroundings, UnresolvedReference, is_name,
    parts, references, resolved, variable_of_input,
};
pub use toml_text::parse as parse_toml;
pub use units::{duration_text, size_text};
pub use values::{
    Count, ExpectedValue, FilePath, HandRead, LimitedItems, LooseText, Pairs, Share, Size, Text,
    Time, fault, parsed,
};
