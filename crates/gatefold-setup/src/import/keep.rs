//! Stores an import's secrets and writes its configuration: both, or neither.

use gatefold::secrets::{SecretError, SecretName};

use crate::secrets::{self, Keyring, UNLOCK_DEADLINE};
use crate::{FoundSecret, SetupError};

/// An import that failed and was undone.
#[derive(Debug)]
pub struct FailedImport {
    pub fault: ImportFault,
    /// What was stored before the fault and could not be removed again.
    pub left: Vec<SecretName>,
}

/// What went wrong.
#[derive(Debug)]
pub enum ImportFault {
    /// The keyring has something else under this name.
    NameTaken(SecretName),
    NotStored(String, SecretError),
    NotWritten(SetupError),
}

/// Stores secrets, then writes what refers to them. If either fails, this call's secrets are
/// removed again. What the keyring had before stays, because others may refer to it.
pub fn keep(
    found: &[FoundSecret],
    keyring: &dyn Keyring,
    write: impl FnOnce() -> Result<(), SetupError>,
) -> Result<(), FailedImport> {
    let mut stored = Vec::new();
    let kept = found.iter().try_for_each(|secret| {
        stored.extend(keep_one(secret, keyring)?);
        Ok(())
    });
    let Err(fault) = kept.and_then(|()| write().map_err(ImportFault::NotWritten)) else {
        return Ok(());
    };
    let is_left = |name: &SecretName| match keyring.remove(name, UNLOCK_DEADLINE) {
        Ok(()) | Err(SecretError::Missing(_) | SecretError::NotInFile(..)) => false,
        Err(_) => true,
    };
    Err(FailedImport { fault, left: stored.into_iter().filter(is_left).collect() })
}

/// Stores a secret and returns its name, or nothing if the keyring already had it.
fn keep_one(
    secret: &FoundSecret,
    keyring: &dyn Keyring,
) -> Result<Option<SecretName>, ImportFault> {
    let unstored = |error| ImportFault::NotStored(secret.name.clone(), error);
    let name = SecretName::parse(&secret.name).map_err(unstored)?;
    match keyring.get(&name, UNLOCK_DEADLINE) {
        Ok(kept) if kept == secret.value => return Ok(None),
        Ok(_) | Err(SecretError::NotText(_)) => return Err(ImportFault::NameTaken(name)),
        Err(SecretError::Missing(_) | SecretError::NotInFile(..)) => {}
        Err(error) => return Err(unstored(error)),
    }
    secrets::store(keyring, &name, &secret.value).map_err(unstored)?;
    Ok(Some(name))
}
