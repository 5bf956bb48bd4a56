use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use gatefold_config::{Surroundings, UnresolvedReference};
use gatefold_core::Secret;

use crate::secrets::{Lookup, SecretError, SecretFile, SecretName, SecretStore};

/// The process's environment at the start, or an artificial one in tests.
///
/// Nothing else in Gatefold reads variables or looks up secrets for a configuration, so a
/// configuration is a function of its files and this. Its `Debug` shows names only: values are
/// often secrets.
#[derive(Clone, Default)]
pub struct Environment {
    variables: BTreeMap<String, String>,
    directory: PathBuf,
    secrets: Lookup,
}

impl Environment {
    /// Reads the variables and the working directory. A variable that is not Unicode counts as
    /// unset, and so does one whose value is a reference to itself: some clients pass on references
    /// to unset variables unchanged. It has no secrets; see [`Environment::with_secrets`].
    pub fn of_process() -> Self {
        let unicode = |(name, value): (std::ffi::OsString, std::ffi::OsString)| {
            let (name, value) = (name.into_string().ok()?, value.into_string().ok()?);
            (!is_own_reference(&name, &value)).then_some((name, value))
        };
        Self {
            variables: std::env::vars_os().filter_map(unicode).collect(),
            directory: std::env::current_dir().unwrap_or_default(),
            secrets: Lookup::default(),
        }
    }

    /// An environment with only these variables and this working directory, and no secrets.
    pub fn new<'v>(
        variables: impl IntoIterator<Item = (&'v str, &'v str)>,
        directory: impl Into<PathBuf>,
    ) -> Self {
        let set = variables.into_iter().filter(|(name, value)| !is_own_reference(name, value));
        let owned = set.map(|(name, value)| (name.to_owned(), value.to_owned()));
        Self { variables: owned.collect(), directory: directory.into(), secrets: Lookup::default() }
    }

    /// The same, with secrets from this store, which is asked only when a file refers to one.
    #[must_use]
    pub fn with_secrets(self, store: Arc<dyn SecretStore>) -> Self {
        Self { secrets: Lookup::new(Some(store)), ..self }
    }

    /// The same, with a file of secrets that is asked before any other store.
    #[must_use]
    pub fn with_secret_file(&self, path: &Path) -> Self {
        let file = SecretFile::at(self.directory.join(path));
        Self { secrets: self.secrets.after_file(file), ..self.clone() }
    }

    /// The same for one load of a configuration: each secret is looked up once, and again in the
    /// next load.
    pub(crate) fn for_one_load(&self) -> Self {
        Self { secrets: self.secrets.afresh(), ..self.clone() }
    }

    /// A secret from the store.
    pub fn secret(&self, name: &str) -> Result<Secret, SecretError> {
        self.secrets.get(name)
    }

    pub fn get(&self, name: &str) -> Option<&str> {
        self.variables.get(name).map(String::as_str)
    }

    /// A variable's value; an empty one counts as unset, as the XDG base directory specification
    /// asks.
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

    /// `path` with a leading `~/` replaced by the user's home, otherwise relative to `base`.
    pub fn resolve(&self, path: &str, base: &Path) -> PathBuf {
        let rest = if path == "~" { Some("") } else { path.strip_prefix("~/") };
        match rest.and_then(|rest| self.home().map(|home| home.join(rest))) {
            Some(path) => path,
            None => base.join(path),
        }
    }
}

impl Surroundings for Environment {
    fn variable(&self, name: &str) -> Option<&str> {
        self.get(name)
    }

    fn secret(&self, name: &str) -> Result<String, UnresolvedReference> {
        let found = self.secrets.get(name).map_err(|error| UnresolvedReference {
            message: format!("needs the secret `{name}`: {error}"),
            hint: error.hint(SecretName::parse(name).ok().as_ref()),
            is_absent: !matches!(error, SecretError::IllegalName(_)),
        })?;
        Ok(found.expose().to_owned())
    }

    fn directory(&self) -> &Path {
        &self.directory
    }

    fn home(&self) -> Option<PathBuf> {
        self.home()
    }
}

/// Whether a variable's value is only a reference to itself: `${NAME}`, `${env:NAME}` or `$NAME`.
fn is_own_reference(name: &str, value: &str) -> bool {
    let Some(reference) = value.strip_prefix('$') else {
        return false;
    };
    let inner = reference.strip_prefix('{').and_then(|rest| rest.strip_suffix('}'));
    let inner = inner.map_or(reference, |inner| inner.strip_prefix("env:").unwrap_or(inner));
    inner == name
}

impl std::fmt::Debug for Environment {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Environment")
            .field("variables", &self.variables.keys())
            .field("directory", &self.directory)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_that_is_not_there_says_why() {
        let environment = Environment::new([], "/");
        for (name, expected, is_absent) in [
            ("a b", "needs the secret `a b`: `a b` is not the name of a secret", false),
            ("a", "no keyring answers on this machine", true),
        ] {
            let why = Surroundings::secret(&environment, name).unwrap_err();
            assert!(why.message.contains(expected), "{why:?}");
            assert_eq!(why.is_absent, is_absent, "{name}");
        }
    }
}
