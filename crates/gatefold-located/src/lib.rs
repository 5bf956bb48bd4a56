//! A TOML, JSON or YAML text as a tree of [`Node`]s that know their places.
//!
//! Each reader takes what people and their programs write (comments and trailing commas in JSON, a
//! byte order mark), expands nothing, and says where a fault is and how to mend it. This crate is
//! pure: what the values mean is for those who read the tree.

mod json_file;
mod place;
mod text_format;
mod toml_file;
mod tree;
mod yaml_file;

pub use json_file::parse as parse_json;
pub use place::{Lines, SyntaxFault};
pub use text_format::TextFormat;
pub use toml_file::parse as parse_toml;
pub use tree::{Entry, Node, Value};
pub use yaml_file::parse as parse_yaml;
