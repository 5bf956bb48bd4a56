use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::Duration;

use gatefold::secrets::{SecretError, SecretFile, SecretName};
use gatefold_clients::toml_key;
use gatefold_core::Secret;
use toml::Value;

use super::Keyring;
use crate::files;

/// What the file begins with.
const HEAD: &str = "\
# Secrets of Gatefold, for `${secret:NAME}`. Keep it to yourself (mode 600), and out of version control.
# `gatefold secret` and `gatefold import` write this file anew: further comments are not kept.
";

impl Keyring for SecretFile {
    fn set(&self, name: &SecretName, value: &Secret, _: Duration) -> Result<(), SecretError> {
        let mut secrets = self.secrets()?;
        secrets.insert(name.as_str().to_owned(), value.clone());
        write(self, &secrets)
    }

    fn remove(&self, name: &SecretName, _: Duration) -> Result<(), SecretError> {
        let mut secrets = self.secrets()?;
        if secrets.remove(name.as_str()).is_none() {
            return Err(SecretError::NotInFile(name.clone(), self.path().to_owned()));
        }
        write(self, &secrets)
    }

    fn names(&self, _: Duration) -> Result<Vec<SecretName>, SecretError> {
        let secrets = self.secrets()?;
        Ok(secrets.keys().filter_map(|name| SecretName::parse(name).ok()).collect())
    }
}

/// Rewrites the file. A new one is readable only by its owner, and an existing one must be already:
/// files that others can read are refused.
fn write(file: &SecretFile, secrets: &BTreeMap<String, Secret>) -> Result<(), SecretError> {
    let mut text = HEAD.to_owned();
    for (name, value) in secrets {
        let value = Value::String(value.expose().to_owned());
        let _ = writeln!(text, "{} = {value}", toml_key(name));
    }
    let before = file.text()?;
    files::replace(file.path(), before.as_deref(), Some(&text))
        .map_err(|error| file.unusable(&error))
}
