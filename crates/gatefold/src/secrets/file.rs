//! Secrets in a file, for machines without a keyring.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use gatefold_core::Secret;

use super::{SecretError, SecretName, SecretStore};
use crate::files;

/// The largest file of secrets, in bytes.
const FILE_LIMIT_BYTES: u64 = 4 * 1024 * 1024;

/// The permissions of everybody but the owner.
const OTHERS: u32 = 0o077;

/// A TOML file of names and values that only its owner may read. If it does not exist, it counts as
/// empty.
#[derive(Debug, Clone)]
pub struct SecretFile {
    path: PathBuf,
}

impl SecretFile {
    pub fn at(path: PathBuf) -> Self {
        Self { path }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The file's text, unless others may read it too.
    pub fn text(&self) -> Result<Option<String>, SecretError> {
        match fs::metadata(&self.path) {
            Ok(metadata) if metadata.permissions().mode() & OTHERS != 0 => {
                return Err(SecretError::OpenFile(self.path.clone()));
            }
            _ => {}
        }
        match files::read_text(&self.path, FILE_LIMIT_BYTES) {
            Ok(text) => Ok(Some(text)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(self.unusable(&error)),
        }
    }

    /// All secrets, by their names.
    pub fn secrets(&self) -> Result<BTreeMap<String, Secret>, SecretError> {
        let text = self.text()?.unwrap_or_default();
        // The parser's message may quote the file.
        let values: BTreeMap<String, String> = toml::from_str(&text)
            .map_err(|_| self.unusable(&"it is not a TOML file of names and texts"))?;
        Ok(values.into_iter().map(|(name, value)| (name, Secret::new(value))).collect())
    }

    /// The error for a file that cannot be read or written.
    pub fn unusable(&self, why: &dyn ToString) -> SecretError {
        SecretError::UnusableFile(self.path.clone(), why.to_string())
    }
}

impl SecretStore for SecretFile {
    fn get(&self, name: &SecretName, _: Duration) -> Result<Secret, SecretError> {
        let missing = || SecretError::NotInFile(name.clone(), self.path.clone());
        self.secrets()?.remove(name.as_str()).ok_or_else(missing)
    }
}

/// A file of secrets, and the store for those that are not in it.
pub(crate) struct FileBeforeStore {
    pub(crate) file: SecretFile,
    pub(crate) store: Option<Arc<dyn SecretStore>>,
}

impl SecretStore for FileBeforeStore {
    fn get(&self, name: &SecretName, within: Duration) -> Result<Secret, SecretError> {
        let missing = match self.file.get(name, within) {
            Err(error @ SecretError::NotInFile(..)) => error,
            found => return found,
        };
        // A store that fails must not prevent lookups of the file's other secrets.
        let found = self.store.as_ref().and_then(|store| store.get(name, within).ok());
        found.ok_or(missing)
    }
}
