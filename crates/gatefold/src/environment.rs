use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The process's environment as it was at the start, or a made-up one in tests.
///
/// Nothing else in Gatefold reads variables, so what a configuration comes to is a function of
/// its files and this. Its `Debug` shows names only: values are often secrets.
#[derive(Clone, Default)]
pub struct Environment {
    variables: BTreeMap<String, String>,
    directory: PathBuf,
}

impl Environment {
    /// Reads variables and working directory. A variable that is not Unicode counts as not set.
    pub fn of_process() -> Self {
        let unicode = |(name, value): (std::ffi::OsString, std::ffi::OsString)| {
            Some((name.into_string().ok()?, value.into_string().ok()?))
        };
        Self {
            variables: std::env::vars_os().filter_map(unicode).collect(),
            directory: std::env::current_dir().unwrap_or_default(),
        }
    }

    /// An environment with these variables and this working directory and nothing else.
    pub fn new<const N: usize>(
        variables: [(&str, &str); N],
        directory: impl Into<PathBuf>,
    ) -> Self {
        let owned = variables.map(|(name, value)| (name.to_owned(), value.to_owned()));
        Self { variables: owned.into(), directory: directory.into() }
    }

    pub fn get(&self, name: &str) -> Option<&str> {
        self.variables.get(name).map(String::as_str)
    }

    /// A variable's value, where an empty one counts as not set, as the XDG base directory
    /// specification asks.
    pub fn get_filled(&self, name: &str) -> Option<&str> {
        self.get(name).filter(|value| !value.is_empty())
    }

    /// The working directory.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// The user's home.
    pub fn home(&self) -> Option<PathBuf> {
        self.get_filled("HOME").or_else(|| self.get_filled("USERPROFILE")).map(PathBuf::from)
    }

    /// `path` with a leading `~/` made the user's home, and relative to `base` otherwise.
    pub(crate) fn resolve(&self, path: &str, base: &Path) -> PathBuf {
        let rest = if path == "~" { Some("") } else { path.strip_prefix("~/") };
        match rest.and_then(|rest| self.home().map(|home| home.join(rest))) {
            Some(path) => path,
            None => base.join(path),
        }
    }
}

impl std::fmt::Debug for Environment {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Environment")
            .field("variables", &self.variables.keys())
            .field("directory", &self.directory)
            .finish()
    }
}
