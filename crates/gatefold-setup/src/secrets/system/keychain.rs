//! The macOS Keychain.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use apple_native_keyring_store::keychain::Store;
use gatefold_core::Secret;
use keyring_core::api::CredentialStoreApi as _;
use keyring_core::{Entry, Error};

use gatefold::secrets::{SecretError, SecretName};

use crate::secrets::SERVICE;

pub(super) fn get(name: &SecretName, _: Duration) -> Result<Vec<u8>, SecretError> {
    entry(name)?.get_secret().map_err(|error| failure(error, name))
}

pub(super) fn set(name: &SecretName, value: &Secret, _: Duration) -> Result<(), SecretError> {
    entry(name)?.set_password(value.expose()).map_err(|error| failure(error, name))
}

pub(super) fn remove(name: &SecretName, _: Duration) -> Result<(), SecretError> {
    entry(name)?.delete_credential().map_err(|error| failure(error, name))
}

pub(super) fn names(_: Duration) -> Result<Vec<SecretName>, SecretError> {
    let found = store()?.search(&HashMap::from([("service", SERVICE)]));
    let found = found.map_err(|error| SecretError::Failed(error.to_string()))?;
    let name = |entry: &Entry| SecretName::parse(&entry.get_specifiers()?.1).ok();
    Ok(found.iter().filter_map(name).collect())
}

pub(super) fn answers(_: Duration) -> Result<(), SecretError> {
    store().map(drop)
}

fn store() -> Result<Arc<Store>, SecretError> {
    Store::new().map_err(|error| SecretError::NoKeyring(error.to_string()))
}

fn entry(name: &SecretName) -> Result<Entry, SecretError> {
    store()?.build(SERVICE, name.as_str(), None).map_err(|error| failure(error, name))
}

fn failure(error: Error, name: &SecretName) -> SecretError {
    match error {
        Error::NoEntry => SecretError::Missing(name.clone()),
        Error::NoStorageAccess(_) => SecretError::Refused,
        // Its text may contain what was read.
        Error::BadEncoding(_) | Error::BadDataFormat(..) => SecretError::NotText(name.clone()),
        other => SecretError::Failed(other.to_string()),
    }
}
