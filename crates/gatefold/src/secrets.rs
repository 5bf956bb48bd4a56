//! Secrets that a configuration refers to as `${secret:NAME}`.
//!
//! The store behind it is a port, [`SecretStore`]: the binary passes in the user's keyring from
//! `gatefold-setup`; an embedder passes in a store of its own, or none. The errors and their hints
//! speak of a keyring, because that is what people have.

mod file;

use std::collections::HashMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use gatefold_core::Secret;

pub use file::SecretFile;

use file::FileBeforeStore;

/// The longest name of a secret, in bytes.
const NAME_LIMIT: usize = 128;

/// The longest value, in bytes. Keyrings keep passwords, not files.
pub const VALUE_LIMIT_BYTES: usize = 64 * 1024;

/// How long a configuration waits for one secret; a locked keyring may ask its user.
pub const LOOKUP_DEADLINE: Duration = Duration::from_secs(5);

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

    /// The variable for the same secret, in upper case.
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

/// Why a keyring, or a file of secrets, failed. None of its texts holds a secret.
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
    #[error("`{path}` has no secret `{0}`, and neither has a keyring", path = .1.display())]
    NotInFile(SecretName, PathBuf),
    #[error("others can read the secrets in `{}`", .0.display())]
    OpenFile(PathBuf),
    #[error("the secrets in `{path}` cannot be used: {1}", path = .0.display())]
    UnusableFile(PathBuf, String),
    #[error("the secret is {0}")]
    IllegalValue(&'static str),
    #[error("the keyring failed: {0}")]
    Failed(String),
}

impl SecretError {
    /// How to fix it, if a configuration refers to `name`.
    pub fn hint(&self, name: Option<&SecretName>) -> String {
        match self {
            Self::IllegalName(_) => {
                format!("use 1 to {NAME_LIMIT} letters, digits, `_`, `-` and `.`")
            }
            Self::NoKeyring(_) => match name.map(SecretName::as_variable) {
                Some(name) => format!("set a variable instead and refer to it: `${{{name}}}`"),
                None => "start one, such as `gnome-keyring-daemon`, keep secrets in a file, which \
                         `file` in `[secrets]` names, or keep the secret in a variable and refer \
                         to it: `${NAME}`"
                    .to_owned(),
            },
            Self::Missing(name) | Self::NotText(name) | Self::NotInFile(name, _) => {
                format!("store it: `gatefold secret set {name}`")
            }
            Self::OpenFile(path) => format!("keep it to yourself: `chmod 600 {}`", path.display()),
            Self::UnusableFile(..) => "write one secret on each line: NAME = \"VALUE\"".to_owned(),
            Self::Refused | Self::Slow(_) => {
                "unlock the keyring, by logging in to the desktop or with its own program, and \
                 try again"
                    .to_owned()
            }
            Self::IllegalValue(_) => {
                format!("give at least one and at most {VALUE_LIMIT_BYTES} bytes of text")
            }
            Self::Failed(_) => "check whether its own program can open it".to_owned(),
        }
    }

    /// Whether every other lookup in the same load would fail like this one.
    fn is_final(&self) -> bool {
        matches!(self, Self::NoKeyring(_) | Self::Refused | Self::Slow(_))
    }
}

/// Where `${secret:NAME}` in a configuration is looked up: a keyring, a vault, a map.
pub trait SecretStore: Send + Sync {
    /// May block for up to `within`.
    fn get(&self, name: &SecretName, within: Duration) -> Result<Secret, SecretError>;
}

/// How one load of a configuration looks up secrets: each name once, and no further names after an
/// answer that they would all get.
#[derive(Clone)]
pub(crate) struct Lookup {
    store: Option<Arc<dyn SecretStore>>,
    seen: Arc<Mutex<SecretAnswers>>,
}

/// The most answers kept during one load. Any further name is looked up again each time.
const ANSWERS: usize = 1024;

#[derive(Default)]
struct SecretAnswers {
    /// At most [`ANSWERS`].
    answers: HashMap<SecretName, Result<Secret, SecretError>>,
    end: Option<SecretError>,
}

impl Lookup {
    /// Lookups in this store. Without one, the answer to every name is "no keyring".
    pub(crate) fn new(store: Option<Arc<dyn SecretStore>>) -> Self {
        Self { store, seen: Arc::default() }
    }

    /// The same store, but a file is asked first.
    pub(crate) fn after_file(&self, file: SecretFile) -> Self {
        Self::new(Some(Arc::new(FileBeforeStore { file, store: self.store.clone() })))
    }

    /// The same store, with no answers yet.
    pub(crate) fn afresh(&self) -> Self {
        Self::new(self.store.clone())
    }

    pub(crate) fn get(&self, name: &str) -> Result<Secret, SecretError> {
        let name = SecretName::parse(name)?;
        let Some(store) = &self.store else {
            return Err(SecretError::NoKeyring("none was given".to_owned()));
        };
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(answer) = seen.answers.get(&name) {
            return answer.clone();
        }
        if let Some(end) = &seen.end {
            return Err(end.clone());
        }
        let answer = store.get(&name, LOOKUP_DEADLINE);
        seen.end = answer.as_ref().err().filter(|error| error.is_final()).cloned();
        if seen.answers.len() < ANSWERS {
            seen.answers.insert(name, answer.clone());
        }
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
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    /// Counts how often it is asked, and always has an answer.
    #[derive(Default)]
    struct CountingStore(AtomicUsize);

    impl SecretStore for CountingStore {
        fn get(&self, name: &SecretName, _: Duration) -> Result<Secret, SecretError> {
            self.0.fetch_add(1, Ordering::SeqCst);
            Ok(Secret::new(name.as_str()))
        }
    }

    #[test]
    fn no_more_answers_are_kept_than_the_limit_and_all_names_are_answered() {
        let store = Arc::new(CountingStore::default());
        let lookup = Lookup::new(Some(store.clone()));
        for _ in 0..2 {
            for number in 0..ANSWERS + 2 {
                let name = format!("name{number}");
                assert_eq!(lookup.get(&name).unwrap().expose(), name);
            }
        }
        assert_eq!(lookup.seen.lock().unwrap().answers.len(), ANSWERS);
        assert_eq!(store.0.load(Ordering::SeqCst), ANSWERS + 4);
    }

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
