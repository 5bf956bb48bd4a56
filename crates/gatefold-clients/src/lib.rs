//! Where MCP clients keep their configuration, and how to put an entry into it and take entries out
//! without changing any other byte. Gatefold's own file is edited in the same way ([`add_table`],
//! [`remove_table`], [`set_switch`]).
//!
//! Everything here is a function of texts and paths. The crate opens no file, reads no environment,
//! prints nothing and knows no other crate of Gatefold. It never rewrites a text: the text is
//! parsed for the places of its members, spliced, and parsed again to make sure that exactly the
//! intended members came and went.

mod braces;
mod client;
mod edit;
mod entry;
mod error;
mod json;
mod piece;
mod places;
mod tables;
mod text;
mod toml;
mod tree;
mod yaml;

pub use client::Client;
pub use edit::{Change, Restoration, Undo, connect, disconnect, remove, repeat, restore};
pub use entry::{Entry, Launch};
pub use error::EditError;
pub use places::{
    ConfigFile, Format, Machine, Os, Scope, Variables, config_files, read_only_files,
};
pub use tables::{Switch, TableText, add_table, remove_table, set_switch, table_names};
pub use toml::toml_key;

/// The largest configuration file that is edited, in bytes.
pub const FILE_BYTES: usize = 4 * 1024 * 1024;

/// How deep a configuration file may nest its values.
pub const NESTING: usize = 64;

/// How many servers one table may hold.
pub const SERVERS: usize = 1000;
