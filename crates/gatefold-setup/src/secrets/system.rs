//! The keyring of the operating system.

use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::time::Duration;

use gatefold::secrets::{SecretError, SecretName, SecretStore};
use gatefold_core::Secret;
use tokio::runtime::{Handle, RuntimeFlavor};

use super::Keyring;

#[cfg(all(feature = "keyring", target_os = "linux"))]
mod secret_service;
#[cfg(all(feature = "keyring", target_os = "linux"))]
use secret_service as native;

#[cfg(all(feature = "keyring", target_os = "macos"))]
mod keychain;
#[cfg(all(feature = "keyring", target_os = "macos"))]
use keychain as native;

#[cfg(not(all(feature = "keyring", any(target_os = "linux", target_os = "macos"))))]
mod none;
#[cfg(not(all(feature = "keyring", any(target_os = "linux", target_os = "macos"))))]
use none as native;

pub(super) struct SystemKeyring;

impl SecretStore for SystemKeyring {
    fn get(&self, name: &SecretName, within: Duration) -> Result<Secret, SecretError> {
        let asked = name.clone();
        let bytes = bounded(within, move || native::get(&asked, within))?;
        let text = String::from_utf8(bytes).map_err(|_| SecretError::NotText(name.clone()))?;
        Ok(Secret::new(text))
    }
}

impl Keyring for SystemKeyring {
    fn set(&self, name: &SecretName, value: &Secret, within: Duration) -> Result<(), SecretError> {
        let (name, value) = (name.clone(), value.clone());
        bounded(within, move || native::set(&name, &value, within))
    }

    fn remove(&self, name: &SecretName, within: Duration) -> Result<(), SecretError> {
        let name = name.clone();
        bounded(within, move || native::remove(&name, within))
    }

    fn names(&self, within: Duration) -> Result<Vec<SecretName>, SecretError> {
        let mut names = bounded(within, move || native::names(within))?;
        names.sort();
        names.dedup();
        Ok(names)
    }
}

pub(super) fn answers(within: Duration) -> bool {
    bounded(within, move || native::answers(within)).is_ok()
}

/// Does the work on a thread of its own and waits for it at most `within`.
///
/// Keyrings block, or need a runtime of their own, and neither may happen on a worker of the
/// calling runtime. The thread ends by itself when the keyring answers.
fn bounded<T: Send + 'static>(
    within: Duration,
    work: impl FnOnce() -> Result<T, SecretError> + Send + 'static,
) -> Result<T, SecretError> {
    let (sender, receiver) = sync_channel(1);
    let started = std::thread::Builder::new().name("keyring".to_owned()).spawn(move || {
        // Sending fails only when the caller has stopped waiting.
        let _ = sender.send(work());
    });
    started.map_err(|error| SecretError::Failed(error.to_string()))?;
    let wait = || match receiver.recv_timeout(within) {
        Ok(result) => result,
        Err(RecvTimeoutError::Timeout) => Err(SecretError::Slow(within)),
        Err(RecvTimeoutError::Disconnected) => {
            Err(SecretError::Failed("its client ended early".to_owned()))
        }
    };
    match Handle::try_current().map(|handle| handle.runtime_flavor()) {
        Ok(RuntimeFlavor::MultiThread) => tokio::task::block_in_place(wait),
        _ => wait(),
    }
}
