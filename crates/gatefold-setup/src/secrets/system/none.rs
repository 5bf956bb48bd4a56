//! Replaces the keyring on a system that we do not support, or in a program built without one.

use std::time::Duration;

use gatefold_core::Secret;

use gatefold::secrets::{SecretError, SecretName};

pub(super) fn get(_: &SecretName, _: Duration) -> Result<Vec<u8>, SecretError> {
    none()
}

pub(super) fn set(_: &SecretName, _: &Secret, _: Duration) -> Result<(), SecretError> {
    none()
}

pub(super) fn remove(_: &SecretName, _: Duration) -> Result<(), SecretError> {
    none()
}

pub(super) fn names(_: Duration) -> Result<Vec<SecretName>, SecretError> {
    none()
}

pub(super) fn answers(_: Duration) -> Result<(), SecretError> {
    none()
}

fn none<T>() -> Result<T, SecretError> {
    let reason = if cfg!(feature = "keyring") {
        "this system's keyring is not supported"
    } else {
        "this program was built without it"
    };
    Err(SecretError::NoKeyring(reason.to_owned()))
}
