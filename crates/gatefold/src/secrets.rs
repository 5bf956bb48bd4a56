//! Secrets in the operating system's keyring, under the service `gatefold`.
//!
//! A configuration refers to one as `${secret:NAME}`. On Linux the keyring is whatever speaks the
//! Secret Service protocol (GNOME Keyring, KWallet, KeePassXC), on macOS the Keychain. Every
//! answer is waited for on a thread of its own and within a bound: a locked keyring asks its user,
//! and the user may be away.

mod system;

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use gatefold_core::Secret;

/// Under what the keyring files everything that is Gatefold's.
pub const SERVICE: &str = "gatefold";

/// The longest name of a secret, in bytes.
const NAME_LIMIT: usize = 128;

/// The longest value, in bytes. Keyrings keep passwords, not files.
pub const VALUE_LIMIT_BYTES: usize = 64 * 1024;

/// How long a configuration waits for one secret, which a locked keyring may ask its user for.
pub const LOOKUP_DEADLINE: Duration = Duration::from_secs(5);

/// How long a person may take to unlock the keyring when a command of theirs needs it.
pub const UNLOCK_DEADLINE: Duration = Duration::from_secs(60);

/// A legal name for a secret: 1 to 128 letters, digits, `_`, `-` and `.`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SecretName(String);

impl SecretName {
    pub fn parse(name: &str) -> Result<Self, SecretError> {
        let is_legal = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.');
        if (1..=NAME_LIMIT).contains(&name.len()) && name.bytes().all(is_legal) {
            Ok(Self(name.to_owned()))
        } else {
            Err(SecretError::IllegalName(name.chars().take(NAME_LIMIT).collect()))
        }
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The variable that would hold the same secret, in capitals.
    pub fn as_variable(&self) -> String {
        let upper = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' };
        let name: String = self.0.chars().map(upper).collect();
        if name.starts_with(|c: char| c.is_ascii_digit()) { format!("_{name}") } else { name }
    }
}

impl fmt::Display for SecretName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Why a keyring did not do what it was asked. No text of it holds a secret.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SecretError {
    #[error("`{0}` is not the name of a secret")]
    IllegalName(String),
    #[error("no keyring answers on this machine: {0}")]
    NoKeyring(String),
    #[error("the keyring has no secret `{0}`")]
    Missing(SecretName),
    #[error("the keyring is locked, and unlocking it was refused")]
    Refused,
    #[error("the keyring gave no answer within {} s; it may be waiting to be unlocked", .0.as_secs())]
    Slow(Duration),
    #[error("the keyring's secret `{0}` is not text")]
    NotText(SecretName),
    #[error("the secret is {0}")]
    IllegalValue(&'static str),
    #[error("the keyring failed: {0}")]
    Failed(String),
}

impl SecretError {
    /// How to put it right, where a configuration refers to `name`.
    pub fn hint(&self, name: Option<&SecretName>) -> String {
        match self {
            Self::IllegalName(_) => {
                format!("use 1 to {NAME_LIMIT} letters, digits, `_`, `-` and `.`")
            }
            Self::NoKeyring(_) => match name.map(SecretName::as_variable) {
                Some(name) => format!("set a variable instead and refer to it: `${{{name}}}`"),
                None => "start one, such as `gnome-keyring-daemon`, or keep the secret in a \
                         variable and refer to it: `${NAME}`"
                    .to_owned(),
            },
            Self::Missing(name) | Self::NotText(name) => {
                format!("store it: `gatefold secret set {name}`")
            }
            Self::Refused | Self::Slow(_) => {
                "unlock the keyring, by logging in to the desktop or with its own program, and \
                 try again"
                    .to_owned()
            }
            Self::IllegalValue(_) => {
                format!("give at least one and at most {VALUE_LIMIT_BYTES} bytes of text")
            }
            Self::Failed(_) => "see whether its own program can open it".to_owned(),
        }
    }

    /// Whether every other question in the same load would end like this one.
    fn is_final(&self) -> bool {
        matches!(self, Self::NoKeyring(_) | Self::Refused | Self::Slow(_))
    }
}

/// What keeps secrets. Every method may take as long as `within`, and blocks.
pub trait Keyring: Send + Sync {
    fn get(&self, name: &SecretName, within: Duration) -> Result<Secret, SecretError>;
    fn set(&self, name: &SecretName, value: &Secret, within: Duration) -> Result<(), SecretError>;
    fn remove(&self, name: &SecretName, within: Duration) -> Result<(), SecretError>;
    /// All names, sorted.
    fn names(&self, within: Duration) -> Result<Vec<SecretName>, SecretError>;
}

/// The keyring of the user who runs this process.
pub fn system() -> Arc<dyn Keyring> {
    Arc::new(system::SystemKeyring)
}

/// Puts a secret into the user's keyring, in the place of what is there under its name.
pub fn store(name: &SecretName, value: &Secret) -> Result<(), SecretError> {
    store_in(&*system(), name, value)
}

/// As [`store`], into this keyring.
pub(crate) fn store_in(
    keyring: &dyn Keyring,
    name: &SecretName,
    value: &Secret,
) -> Result<(), SecretError> {
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

/// A secret of the user's keyring.
pub fn get(name: &SecretName) -> Result<Secret, SecretError> {
    system().get(name, UNLOCK_DEADLINE)
}

/// Takes a secret out of the user's keyring.
pub fn remove(name: &SecretName) -> Result<(), SecretError> {
    system().remove(name, UNLOCK_DEADLINE)
}

/// The names of all secrets that Gatefold keeps in the user's keyring, sorted.
pub fn names() -> Result<Vec<SecretName>, SecretError> {
    system().names(UNLOCK_DEADLINE)
}

/// Whether this machine has a keyring that answers. It may still be locked.
pub fn is_available() -> bool {
    system::answers(LOOKUP_DEADLINE)
}

/// How one load of a configuration looks secrets up: each name once, and none at all after an
/// answer that every other name would get as well.
#[derive(Clone)]
pub(crate) struct Lookup {
    keyring: Option<Arc<dyn Keyring>>,
    seen: Arc<Mutex<Seen>>,
}

#[derive(Default)]
struct Seen {
    answers: HashMap<SecretName, Result<Secret, SecretError>>,
    end: Option<SecretError>,
}

impl Lookup {
    /// Lookups in this keyring; with none, every name is answered by "no keyring".
    pub(crate) fn new(keyring: Option<Arc<dyn Keyring>>) -> Self {
        Self { keyring, seen: Arc::default() }
    }

    /// The same keyring, with nothing looked up yet.
    pub(crate) fn afresh(&self) -> Self {
        Self::new(self.keyring.clone())
    }

    pub(crate) fn get(&self, name: &str) -> Result<Secret, SecretError> {
        let name = SecretName::parse(name)?;
        let Some(keyring) = &self.keyring else {
            return Err(SecretError::NoKeyring("none was given".to_owned()));
        };
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(answer) = seen.answers.get(&name) {
            return answer.clone();
        }
        if let Some(end) = &seen.end {
            return Err(end.clone());
        }
        let answer = keyring.get(&name, LOOKUP_DEADLINE);
        seen.end = answer.as_ref().err().filter(|error| error.is_final()).cloned();
        seen.answers.insert(name, answer.clone());
        answer
    }
}

impl Default for Lookup {
    fn default() -> Self {
        Self::new(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_plain_and_short() {
        let long = "x".repeat(NAME_LIMIT);
        for name in ["A", "github-token", "a.b_c", "1", &long] {
            assert_eq!(SecretName::parse(name).unwrap().as_str(), name);
        }
        let longer = format!("{long}x");
        for name in ["", "a b", "a/b", "ä", "a:b", "a\n", &longer] {
            assert!(SecretName::parse(name).is_err(), "{name:?}");
        }
    }

    #[test]
    fn a_name_suggests_a_legal_variable() {
        for (name, variable) in [("github-token", "GITHUB_TOKEN"), ("1st.key", "_1ST_KEY")] {
            assert_eq!(SecretName::parse(name).unwrap().as_variable(), variable);
        }
    }
}
