//! `files`: reading and writing inside one folder.
//!
//! A path is a list of names below the folder's descriptor. No part of it may be a symbolic link, so
//! nothing that another process puts into the folder leads out of it, at whatever moment.

mod diff;
mod fault;
mod folder;
mod path;
mod reading;
mod tools;
mod walking;
mod writing;

pub use folder::{FolderSettings, FolderWrites, PathResolution};
pub(crate) use tools::{FileSearchJob, tools};
