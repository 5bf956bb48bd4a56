//! Values that keys of several kinds have.

use gatefold_config::{Field, FilePath, Text, fault};
use gatefold_core::Secret;
use gatefold_oauth::LocalRedirect;
use serde::de::{Deserialize, Deserializer};

use crate::files;

/// The largest file with a certificate or a key, in bytes.
const PEM_LIMIT: u64 = 256 * 1024;

/// The address of an HTTP server.
pub(crate) struct ServerAddress(pub(crate) String);

impl<'de> Deserialize<'de> for ServerAddress {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let problem = match text.parse::<http::Uri>() {
            Ok(uri) if !matches!(uri.scheme_str(), Some("http" | "https")) => {
                "has no `http` scheme"
            }
            Ok(uri) if uri.host().is_none_or(str::is_empty) => "has no host",
            Ok(_) => return Ok(Self(text)),
            Err(_) => "is not an address",
        };
        Err(fault(problem, "write the whole address, such as \"https://host.example/mcp\""))
    }
}

/// A secret that goes into a header.
pub(crate) struct HeaderSecret(pub(crate) Secret);

impl<'de> Deserialize<'de> for HeaderSecret {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Text(text) = Text::deserialize(deserializer)?;
        if http::HeaderValue::try_from(&text).is_err() {
            let hint = "check it, and the variables in it, for line breaks";
            return Err(fault("has a value that no header may have", hint));
        }
        Ok(Self(Secret::new(text)))
    }
}

/// An address of this machine that a provider sends browsers back to.
pub(crate) struct RedirectAddress(pub(crate) LocalRedirect);

impl<'de> Deserialize<'de> for RedirectAddress {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Text(text) = Text::deserialize(deserializer)?;
        let hint = "write an address of this machine, as the provider knows it: \
                    \"http://localhost:PORT/callback\"; without a port, any free one is taken";
        LocalRedirect::parse(&text).map(Self).map_err(|problem| fault(problem, hint))
    }
}

/// PEM text: what the key has, which may come from a keyring, or what is in the file that it names.
pub(crate) fn pem(field: &Field<'_>) -> Option<String> {
    let Text(text) = field.read()?;
    if text.trim_start().starts_with("-----BEGIN") {
        return Some(text);
    }
    let FilePath(path) = field.read()?;
    match files::read_text(&path, PEM_LIMIT) {
        Ok(text) => Some(text),
        Err(error) => {
            field.fault(format!("cannot be read: {error}"), "check the path");
            None
        }
    }
}

/// Notes that a table lacks a key.
pub(crate) fn missing(field: &Field<'_>, key: &str) {
    field.fault(format!("has no `{key}`"), format!("write `{key} = \"...\"` in it"));
}
