//! Passwords of people who have no other way to sign in.

use std::sync::OnceLock;
use std::time::Duration;

use argon2::password_hash::{PasswordHasher as _, PasswordVerifier as _};
use argon2::{Algorithm, Argon2, Params, Version};
use gatefold_core::{DrawnToken, Secret, TokenKind};
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use crate::IssuerError;

/// The fewest characters of a password. A longer one needs no rules about its characters.
pub const PASSWORD_CHARS: usize = 12;
/// The longest password, in bytes.
pub const PASSWORD_BYTES: usize = 256;

/// How many passwords are hashed at once. Each takes [`MEMORY_KIB`].
const HASHES_AT_ONCE: usize = 2;
/// How long an attempt waits for its turn.
const TURN_WAIT: Duration = Duration::from_secs(5);

/// OWASP's first choice for argon2id.
const MEMORY_KIB: u32 = 19 * 1024;
const PASSES: u32 = 2;
const LANES: u32 = 1;

/// Hashes passwords, a few at a time.
pub(crate) struct PasswordHashes {
    turns: Semaphore,
    /// What an unknown user's password is compared with, so that it takes as long.
    nobodys: OnceLock<String>,
}

/// Whether a password may be set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PasswordFault {
    Short,
    Long,
    Different,
}

impl PasswordFault {
    pub(crate) fn message(self) -> String {
        match self {
            Self::Short => format!("A password has at least {PASSWORD_CHARS} characters."),
            Self::Long => format!("A password has at most {PASSWORD_BYTES} bytes."),
            Self::Different => "The two passwords are not the same.".to_owned(),
        }
    }
}

pub(crate) fn check(password: &str, again: &str) -> Result<(), PasswordFault> {
    if password.chars().count() < PASSWORD_CHARS {
        Err(PasswordFault::Short)
    } else if password.len() > PASSWORD_BYTES {
        Err(PasswordFault::Long)
    } else if password != again {
        Err(PasswordFault::Different)
    } else {
        Ok(())
    }
}

impl PasswordHashes {
    pub(crate) fn new() -> Self {
        Self { turns: Semaphore::new(HASHES_AT_ONCE), nobodys: OnceLock::new() }
    }

    pub(crate) async fn hash(&self, password: Secret) -> Result<String, IssuerError> {
        self.blocking(move || hash(password.expose())).await?
    }

    /// Whether a password has this hash. Without a hash it takes as long, and it is wrong.
    pub(crate) async fn is_right(
        &self,
        password: Secret,
        known: Option<String>,
    ) -> Result<bool, IssuerError> {
        let is_known = known.is_some();
        let known = match known {
            Some(known) => known,
            None => self.nobodys().await?,
        };
        let verified = self.blocking(move || verify(password.expose(), &known)).await?;
        Ok(verified && is_known)
    }

    async fn nobodys(&self) -> Result<String, IssuerError> {
        if let Some(hash) = self.nobodys.get() {
            return Ok(hash.clone());
        }
        let drawn = DrawnToken::draw(TokenKind::Link);
        let hash = self.hash(drawn.map_err(IssuerError::Random)?.text).await?;
        Ok(self.nobodys.get_or_init(|| hash).clone())
    }

    async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, IssuerError> {
        let turn = timeout(TURN_WAIT, self.turns.acquire()).await;
        let _turn = turn.map_err(|_| IssuerError::Busy)?.map_err(|_| IssuerError::Busy)?;
        spawn_blocking(work).await.map_err(|_| IssuerError::Hash)
    }
}

fn hasher() -> Argon2<'static> {
    let params = Params::new(MEMORY_KIB, PASSES, LANES, None);
    Argon2::new(Algorithm::Argon2id, Version::V0x13, params.expect("they are within the bounds"))
}

fn hash(password: &str) -> Result<String, IssuerError> {
    let mut salt = [0; 16];
    getrandom::fill(&mut salt).map_err(IssuerError::Random)?;
    let hashed = hasher().hash_password_with_salt(password.as_bytes(), &salt);
    hashed.map(|hash| hash.to_string()).map_err(|_| IssuerError::Hash)
}

fn verify(password: &str, known: &str) -> bool {
    hasher().verify_password(password.as_bytes(), known).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_is_long_and_typed_twice() {
        let long = "x".repeat(PASSWORD_BYTES + 1);
        for (password, again, expected) in [
            ("correct horse battery", "correct horse battery", Ok(())),
            ("zwölf Zeich.", "zwölf Zeich.", Ok(())),
            ("short", "short", Err(PasswordFault::Short)),
            (&long, &long, Err(PasswordFault::Long)),
            ("correct horse battery", "correct horse batterie", Err(PasswordFault::Different)),
        ] {
            assert_eq!(check(password, again), expected, "{password}");
        }
    }

    #[tokio::test]
    async fn a_hash_tells_its_password_from_others() {
        let hashes = PasswordHashes::new();
        let known = hashes.hash(Secret::new("correct horse")).await.unwrap();
        assert!(known.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"), "{known}");
        assert_ne!(known, hashes.hash(Secret::new("correct horse")).await.unwrap());
        let is_right = async |password: &str, known: Option<&String>| {
            hashes.is_right(Secret::new(password), known.cloned()).await.unwrap()
        };
        assert!(is_right("correct horse", Some(&known)).await);
        assert!(!is_right("correct Horse", Some(&known)).await);
        assert!(!is_right("correct horse", None).await);
        assert!(!is_right("correct horse", Some(&"x".to_owned())).await);
    }
}
