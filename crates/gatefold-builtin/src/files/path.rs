use std::fmt;

use crate::BuiltinError;

/// The longest path and the longest name in it, in bytes, and the most names.
const MAX_PATH: usize = 1024;
const MAX_NAME: usize = 255;
const MAX_NAMES: usize = 64;

/// A path below the folder: names that cannot lead up, out or elsewhere. Empty, it is the folder.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct FolderPath(Vec<String>);

impl FolderPath {
    pub(super) fn read(text: &str) -> Result<Self, BuiltinError> {
        let wrong = |what: &str| {
            let shown: String = text.chars().take(100).collect();
            Err(BuiltinError::arguments(format!("the path {shown:?} {what}")))
        };
        if text.len() > MAX_PATH {
            return wrong(&format!("has more than {MAX_PATH} bytes"));
        }
        if text.starts_with('/') {
            return wrong("is absolute; write one below the folder, such as `docs/a.md`");
        }
        if text.contains('\\') {
            return wrong("has a backslash; write `/` between names");
        }
        if text.chars().any(char::is_control) {
            return wrong("has a control character");
        }
        let names: Vec<_> =
            text.split('/').filter(|name| !name.is_empty() && *name != ".").collect();
        if names.contains(&"..") {
            return wrong("leads up; nothing outside of the folder can be reached");
        }
        if names.len() > MAX_NAMES || names.iter().any(|name| name.len() > MAX_NAME) {
            return wrong("is deeper or has a longer name than files have here");
        }
        Ok(Self(names.into_iter().map(str::to_owned).collect()))
    }

    pub(super) fn names(&self) -> &[String] {
        &self.0
    }

    /// The path of what is in this folder under a name, unless that is too long or cannot be
    /// written here.
    pub(super) fn child(&self, name: &str) -> Option<Self> {
        let joined = if self.0.is_empty() { name.to_owned() } else { format!("{self}/{name}") };
        Self::read(&joined).ok().filter(|path| path.0.len() == self.0.len() + 1)
    }

    /// The folder that it is in and its own name. None for the folder itself.
    pub(super) fn parent(&self) -> Option<(Self, &str)> {
        let (last, before) = self.0.split_last()?;
        Some((Self(before.to_vec()), last))
    }
}

impl fmt::Display for FolderPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() { f.write_str(".") } else { f.write_str(&self.0.join("/")) }
    }
}
