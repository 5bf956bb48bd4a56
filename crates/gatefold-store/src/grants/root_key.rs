//! The root key, which wraps data keys and lies outside the database.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};
use std::{fs, io::ErrorKind};

use gatefold_core::Secret;
use gatefold_dispatch::SealKey;
use sha2::{Digest as _, Sha256};

use super::key_command::KeyCommand;
use crate::blocking::blocking;
use crate::sealing::Sealer;
use crate::{StoreError, key};

const FILE: &str = "root.key";

/// The length of a key, in bytes. The file has one, or two while a rotation is under way.
const BYTES: usize = 32;

/// How many bytes of a key's digest tell it from others.
const FINGERPRINT: usize = 8;

/// How long a program is not run again that gave no key.
const FAILURE_PAUSE: Duration = Duration::from_secs(5);

/// What the key is derived for.
const PURPOSE: &str = "gatefold data keys";

/// Where the root key comes from.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RootKey {
    /// A secret from elsewhere. Without it, the key is in the file `root.key` of the state directory,
    /// which only its owner can read, and which is made when it is needed.
    pub given: Option<RootSecret>,
    /// The secret before it, for as long as not everything is sealed anew.
    pub previous: Option<RootSecret>,
}

/// A root key from elsewhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RootSecret {
    Text(Secret),
    /// Run when the key is needed, until it gave one.
    Command(KeyCommand),
}

/// A root key that is ready for use.
pub(super) struct RootSealer {
    pub(super) sealer: Sealer,
    pub(super) fingerprint: [u8; FINGERPRINT],
}

pub(super) struct RootKeys {
    given: Option<GivenKey>,
    previous: Option<GivenKey>,
    state_dir: PathBuf,
}

/// A key from elsewhere, and what it came to.
struct GivenKey {
    /// What the configuration calls it.
    name: &'static str,
    secret: RootSecret,
    state: tokio::sync::Mutex<GivenState>,
}

#[derive(Default)]
enum GivenState {
    #[default]
    Unread,
    Ready(Arc<RootSealer>),
    /// The program gave none.
    Failed {
        at: Instant,
        reason: String,
    },
}

impl GivenKey {
    fn new(name: &'static str, secret: RootSecret) -> Self {
        Self { name, secret, state: tokio::sync::Mutex::default() }
    }

    /// The key. A program that has just failed is not run again for each who waits for it.
    async fn sealer(&self) -> Result<Arc<RootSealer>, StoreError> {
        let command = match &self.secret {
            RootSecret::Text(text) => return Ok(RootSealer::given(text)),
            RootSecret::Command(command) => command,
        };
        let asked_at = Instant::now();
        let mut state = self.state.lock().await;
        let reason = match &*state {
            GivenState::Ready(sealer) => return Ok(sealer.clone()),
            GivenState::Failed { at, reason }
                if *at >= asked_at || at.elapsed() < FAILURE_PAUSE =>
            {
                reason.clone()
            }
            GivenState::Unread | GivenState::Failed { .. } => match command.run().await {
                Ok(text) => {
                    let sealer = RootSealer::given(&text);
                    *state = GivenState::Ready(sealer.clone());
                    return Ok(sealer);
                }
                Err(reason) => {
                    *state = GivenState::Failed { at: Instant::now(), reason: reason.clone() };
                    reason
                }
            },
        };
        Err(StoreError::RootKeyCommand { key: self.name, program: command.program.clone(), reason })
    }
}

impl RootSealer {
    fn new(bytes: [u8; BYTES]) -> Arc<Self> {
        let sealer = Sealer::new(&SealKey::new(bytes), PURPOSE);
        let digest = Sha256::digest([b"root key".as_slice(), &bytes].concat());
        let fingerprint = std::array::from_fn(|at| digest[at]);
        Arc::new(Self { sealer, fingerprint })
    }

    fn given(secret: &Secret) -> Arc<Self> {
        Self::new(Sha256::digest(secret.expose()).into())
    }
}

impl RootKeys {
    pub(super) fn new(root: RootKey, state_dir: &Path) -> Self {
        let RootKey { given, previous } = root;
        let given = given.map(|secret| GivenKey::new("root_key", secret));
        let previous = previous.map(|secret| GivenKey::new("previous_root_key", secret));
        Self { given, previous, state_dir: state_dir.to_owned() }
    }

    /// Has the keys from elsewhere at hand. A program may take long to print one, and nobody else waits
    /// for it: so this comes before the database is held. Whether the one before is needed turns out
    /// later.
    pub(super) async fn ready(&self) -> Result<(), StoreError> {
        if let Some(previous) = &self.previous
            && let Err(error) = previous.sealer().await
        {
            tracing::warn!(%error, "the root key before the present one could not be had");
        }
        match &self.given {
            Some(given) => given.sealer().await.map(drop),
            None => Ok(()),
        }
    }

    /// The key for new data keys. Makes the file if it is needed and there is none.
    pub(super) async fn newest(&self) -> Result<Arc<RootSealer>, StoreError> {
        match &self.given {
            Some(given) => given.sealer().await,
            None => Ok(RootSealer::new(self.in_file(read_or_create).await?[0])),
        }
    }

    /// The key with a fingerprint. The file may still be the one before.
    pub(super) async fn find(
        &self,
        fingerprint: &[u8],
    ) -> Result<Option<Arc<RootSealer>>, StoreError> {
        let is_it = |key: &Arc<RootSealer>| key.fingerprint == fingerprint;
        if let Some(given) = &self.given
            && let Some(key) = Some(given.sealer().await?).filter(is_it)
        {
            return Ok(Some(key));
        }
        let keys = self.in_file(read_if_there).await?;
        let found = keys.into_iter().map(RootSealer::new).find(is_it);
        match &self.previous {
            Some(previous) if found.is_none() => {
                previous.sealer().await.map(|key| Some(key).filter(is_it))
            }
            _ => Ok(found),
        }
    }

    /// The key to seal everything anew with. In our own file it is a new one, before the old one.
    pub(super) async fn renewed(&self) -> Result<Arc<RootSealer>, StoreError> {
        if let Some(given) = &self.given {
            return given.sealer().await;
        }
        let mut fresh = [0; BYTES];
        getrandom::fill(&mut fresh).map_err(StoreError::Random)?;
        self.in_file(move |path| {
            let old = read_or_create(path)?;
            key::replace(path, &[fresh, old[0]].concat())
        })
        .await?;
        Ok(RootSealer::new(fresh))
    }

    /// Forgets the old key, once nothing is sealed with it: the second one of the file, or the file.
    pub(super) async fn settle(&self) -> Result<(), StoreError> {
        if self.given.is_none() {
            return self.in_file(|path| key::replace(path, &read(path)?[0])).await;
        }
        let removed = |path: &Path| match fs::remove_file(path) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        };
        self.in_file(removed).await
    }

    async fn in_file<T: Send + 'static>(
        &self,
        act: impl FnOnce(&Path) -> io::Result<T> + Send + 'static,
    ) -> Result<T, StoreError> {
        let path = self.state_dir.join(FILE);
        blocking(move || act(&path).map_err(|source| StoreError::unusable(&path, source))).await
    }
}

fn read(path: &Path) -> io::Result<Vec<[u8; BYTES]>> {
    let bytes = fs::read(path)?;
    let keys: Vec<[u8; BYTES]> =
        bytes.chunks_exact(BYTES).filter_map(|key| key.try_into().ok()).collect();
    let is_whole = bytes.len() == BYTES * keys.len() && (1..=2).contains(&keys.len());
    if is_whole { Ok(keys) } else { Err(io::Error::other("it is no key of ours")) }
}

fn read_if_there(path: &Path) -> io::Result<Vec<[u8; BYTES]>> {
    match read(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(Vec::new()),
        read => read,
    }
}

fn read_or_create(path: &Path) -> io::Result<Vec<[u8; BYTES]>> {
    match read(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            let mut fresh = [0; BYTES];
            getrandom::fill(&mut fresh).map_err(io::Error::other)?;
            key::create(path, &fresh).and_then(|()| read(path))
        }
        read => read,
    }
}
