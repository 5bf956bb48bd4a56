//! The operating system's keyring, where Gatefold's secrets are stored under the service
//! `gatefold`, and the file that can replace it.
//!
//! On Linux the keyring is whatever speaks the Secret Service protocol (GNOME Keyring, KWallet,
//! KeePassXC), on macOS the Keychain. Each question waits on a thread of its own and for a bounded
//! time: a locked keyring asks its user, who may be away.

mod file;
mod system;

use std::sync::Arc;
use std::time::Duration;

use gatefold::secrets::{LOOKUP_DEADLINE, SecretError, SecretName, SecretStore, VALUE_LIMIT_BYTES};
use gatefold_core::Secret;

/// The service under which the keyring files Gatefold's secrets.
pub const SERVICE: &str = "gatefold";

/// How long a person may take to unlock the keyring for a command.
pub const UNLOCK_DEADLINE: Duration = Duration::from_secs(60);

/// A store of secrets that can be written. Every method blocks, for at most `within`.
pub trait Keyring: SecretStore {
    fn set(&self, name: &SecretName, value: &Secret, within: Duration) -> Result<(), SecretError>;
    fn remove(&self, name: &SecretName, within: Duration) -> Result<(), SecretError>;
    /// All names, sorted.
    fn names(&self, within: Duration) -> Result<Vec<SecretName>, SecretError>;
}

/// The keyring of the user who runs this process.
pub fn system() -> Arc<dyn Keyring> {
    Arc::new(system::SystemKeyring)
}

/// Stores a secret, and replaces one of the same name.
pub fn store(keyring: &dyn Keyring, name: &SecretName, value: &Secret) -> Result<(), SecretError> {
    if value.expose().is_empty() {
        return Err(SecretError::IllegalValue("empty"));
    }
    if value.expose().len() > VALUE_LIMIT_BYTES {
        return Err(SecretError::IllegalValue("too long"));
    }
    if value.expose().contains('\0') {
        return Err(SecretError::IllegalValue("not text: it holds a NUL character"));
    }
    keyring.set(name, value, UNLOCK_DEADLINE)
}

/// Whether this machine has a keyring that answers. It may still be locked.
pub fn is_available() -> bool {
    system::answers(LOOKUP_DEADLINE)
}
