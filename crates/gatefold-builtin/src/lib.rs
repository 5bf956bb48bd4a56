//! Tools of our own: what is worth having without any server.
//!
//! Each tool is one module and one implementation of `tool::BuiltinTool`; [`BuiltinSource`] offers
//! those that a configuration chose. What a tool needs from outside (a clock, a folder) comes through
//! [`BuiltinPorts`] and [`BuiltinSettings`]. This crate knows no MCP, no configuration and no storage.

mod answer;
mod arguments;
mod ask_user;
mod calculate;
mod compute;
mod datetime;
mod error;
mod face;
mod files;
mod json_query;
mod memory;
mod name;
mod source;
mod tasks;
mod text;
mod todo;
mod tool;
mod toolbox;
mod web;
mod workers;

pub use answer::BuiltinAnswer;
pub use error::BuiltinError;
pub use face::ToolCategory;
pub use files::{FolderSettings, FolderWrites, PathResolution};
pub use name::BuiltinName;
pub use source::BuiltinSource;
pub use tasks::BUILTIN_TASK;
pub use tool::BuiltinCall;
pub use toolbox::{BuiltinPorts, BuiltinSettings, Toolbox};
pub use web::{SearchApi, SearchSettings};
