//! A knowledge base that a person names on the command line.

use toml::Value;

use super::rendered::{Members, text};

/// A knowledge base.
#[derive(Debug)]
pub struct NewKnowledge {
    /// The paths of its folders and files, at least one.
    pub paths: Vec<String>,
    /// What people call it.
    pub title: Option<String>,
}

impl NewKnowledge {
    pub(super) fn members(&self) -> Members {
        let mut members = Members::default();
        let paths = match self.paths.as_slice() {
            [path] => text(path),
            paths => Value::Array(paths.iter().map(|path| text(path)).collect()),
        };
        members.put("knowledge", paths);
        if let Some(title) = &self.title {
            // Nothing in it counts as a reference.
            members.put("title", text(&title.replace("${", "$${")));
        }
        members
    }
}
