use std::collections::{HashMap, HashSet};
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

use futures::future::join_all;
use gatefold_catalog::Manifest;
use gatefold_core::{Digest, Domain, Timestamp};
use sqlx::{Connection as _, SqliteConnection};
use tempfile::NamedTempFile;

use crate::blocking::blocking;
use crate::database::millis;
use crate::layout::create_private_directory;
use crate::store::StoreInner;
use crate::{Store, StoreError, tokens};

/// How many configurations of one domain to remember: gateways with different settings may share a
/// state directory.
pub const KEPT_PER_DOMAIN: usize = 8;

/// How many threads read manifests when a gateway starts: most of the work is hashing.
const READERS: usize = 4;

/// The least age at which an unreferenced file is removed. A younger one may belong to a process
/// that is about to refer to it.
const UNREFERRED_AGE: Duration = Duration::from_hours(1);

/// A source with its configuration. What is known about it under another configuration does not
/// count.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct SourceKey {
    pub domain: Domain,
    /// The digest of its configuration.
    pub config: Digest,
}

/// What is known of a source from earlier runs.
#[derive(Debug, Clone)]
pub struct KnownSource {
    pub key: SourceKey,
    /// What it last offered. None if the file is damaged.
    pub manifest: Option<Manifest>,
}

const KNOWN: &str =
    "SELECT domain, lower(hex(config_digest)), lower(hex(manifest_digest)) FROM sources";

const SAVE_MANIFEST: &str = "
    INSERT INTO sources (domain, config_digest, manifest_digest, seen_at)
    VALUES (?1, unhex(?2), unhex(?3), ?4)
    ON CONFLICT DO UPDATE
    SET manifest_digest = excluded.manifest_digest, seen_at = excluded.seen_at, failed_at = NULL";

/// What is remembered of a domain, the latest first. The clock may have gone back, so the row that
/// was just saved is named explicitly.
const OF_DOMAIN: &str = "
    SELECT lower(hex(config_digest)), lower(hex(manifest_digest)) FROM sources WHERE domain = ?1
    ORDER BY config_digest = unhex(?2) DESC, seen_at DESC";

const IS_REFERRED_TO: &str = "SELECT count(*) FROM sources WHERE manifest_digest = unhex(?1)";

const FORGET: &str = "DELETE FROM sources WHERE domain = ?1 AND config_digest = unhex(?2)";

/// A row of [`KNOWN`].
type KnownRow = (String, String, String);

impl Store {
    /// What is known of these sources, in their order, without the unknown ones.
    ///
    /// A manifest that cannot be read is logged and counts as unknown.
    pub async fn known_sources(&self, keys: &[SourceKey]) -> Result<Vec<KnownSource>, StoreError> {
        let store = self.inner();
        let rows: Vec<KnownRow> = sqlx::query_as(KNOWN)
            .fetch_all(&mut *store.connection().await)
            .await
            .map_err(|source| store.error(source))?;
        let mut rows: HashMap<(String, String), String> = rows
            .into_iter()
            .map(|(domain, config, manifest)| ((domain, config), manifest))
            .collect();
        let directory = store.manifests();
        let mut known: Vec<_> = keys
            .iter()
            .filter_map(|key| {
                let row = rows.remove(&(key.domain.as_str().to_owned(), key.config.to_string()))?;
                Some((key.clone(), row))
            })
            .collect();
        let share = known.len().div_ceil(READERS).max(1);
        let reading = std::iter::from_fn(|| {
            let part: Vec<_> = known.drain(..share.min(known.len())).collect();
            let directory = directory.clone();
            let read_all = move || part.into_iter().map(|one| read(&directory, one)).collect();
            Some(blocking::<Vec<_>>(read_all))
        });
        let read = join_all(reading.take(READERS)).await;
        Ok(read.into_iter().flatten().collect())
    }

    /// Stores what a source offers. Once the future completes, the manifest survives a power cut.
    pub async fn save_manifest(
        &self,
        key: &SourceKey,
        manifest: &Manifest,
    ) -> Result<(), StoreError> {
        let store = self.inner();
        let (directory, manifest) = (store.manifests(), manifest.clone());
        let (digest, seen_at) = (manifest.digest().to_string(), manifest.fetched_at());
        let path = path_of(&directory, &digest);
        let write = move || write(&directory, &manifest);
        let unusable = |source| StoreError::unusable(&path, source);
        blocking(write.clone()).await.map_err(unusable)?;
        refer(store, key, &digest, seen_at).await.map_err(|source| store.error(source))?;
        if path.exists() {
            return Ok(());
        }
        // Another process had the same list and forgot it before this one referred to it, so write
        // it again.
        blocking(write).await.map_err(unusable)
    }

    /// Forgets a source in this configuration.
    pub async fn forget_source(&self, key: &SourceKey) -> Result<(), StoreError> {
        let store = self.inner();
        sqlx::query(FORGET)
            .bind(key.domain.as_str())
            .bind(key.config.to_string())
            .execute(&mut *store.connection().await)
            .await
            .map(drop)
            .map_err(|source| store.error(source))
    }
}

/// Refers to a manifest that was just written. The one that it replaces, and those beyond the
/// domain's quota, are removed at once with their files, because a source may change its list as
/// often as it likes.
async fn refer(
    store: &StoreInner,
    key: &SourceKey,
    digest: &str,
    seen_at: Timestamp,
) -> sqlx::Result<()> {
    let mut connection = store.connection().await;
    // Immediate, so that nobody starts to refer to a file while this finds it unused.
    let mut transaction = connection.begin_with("BEGIN IMMEDIATE").await?;
    let mut forgotten = of_domain(&mut transaction, key).await?;
    sqlx::query(SAVE_MANIFEST)
        .bind(key.domain.as_str())
        .bind(key.config.to_string())
        .bind(digest)
        .bind(millis(seen_at))
        .execute(&mut *transaction)
        .await?;
    let kept = of_domain(&mut transaction, key).await?;
    let (directory, quota) = (store.manifests(), store.manifest_bytes);
    for (config, manifest) in blocking(move || past_quota(&directory, kept, quota)).await {
        let forget = sqlx::query(FORGET).bind(key.domain.as_str()).bind(&config);
        forget.execute(&mut *transaction).await?;
        forgotten.push((config, manifest));
    }
    let mut files = Vec::new();
    for (_, manifest) in forgotten {
        let referred = sqlx::query_scalar::<_, i64>(IS_REFERRED_TO).bind(&manifest);
        if referred.fetch_one(&mut *transaction).await? == 0 {
            files.extend(files_of(&store.manifests(), &manifest));
        }
    }
    blocking(move || {
        for file in files {
            // If this fails, a later sweep removes the file.
            let _ = fs::remove_file(file);
        }
    })
    .await;
    transaction.commit().await
}

/// The configurations of a domain that are remembered, with their manifests.
async fn of_domain(
    connection: &mut SqliteConnection,
    key: &SourceKey,
) -> sqlx::Result<Vec<(String, String)>> {
    let rows = sqlx::query_as(OF_DOMAIN).bind(key.domain.as_str()).bind(key.config.to_string());
    rows.fetch_all(connection).await
}

/// Given what is remembered of a domain, the latest first, returns what exceeds the quota.
fn past_quota(directory: &Path, kept: Vec<(String, String)>, quota: u64) -> Vec<(String, String)> {
    let mut bytes = 0;
    let mut past = Vec::new();
    for (place, (config, manifest)) in kept.into_iter().enumerate() {
        let file = fs::metadata(path_of(directory, &manifest));
        bytes += file.map_or(0, |file| file.len());
        if place >= KEPT_PER_DOMAIN || (place > 0 && bytes > quota) {
            past.push((config, manifest));
        }
    }
    past
}

/// Removes manifest files that nothing refers to any more.
pub(crate) async fn sweep(store: &StoreInner) -> Result<(), StoreError> {
    let rows: Vec<KnownRow> = sqlx::query_as(KNOWN)
        .fetch_all(&mut *store.connection().await)
        .await
        .map_err(|source| store.error(source))?;
    let directory = store.manifests();
    let files = |(_, _, manifest): KnownRow| files_of(&directory, &manifest);
    let referred = rows.into_iter().flat_map(files);
    let (referred, now) = (referred.collect(), store.clock.now());
    let removed = blocking({
        let directory = directory.clone();
        move || remove_unreferred(&directory, &referred, now)
    });
    removed.await.map_err(|source| StoreError::unusable(&directory, source))
}

fn remove_unreferred(
    directory: &Path,
    referred: &HashSet<PathBuf>,
    now: Timestamp,
) -> io::Result<()> {
    if !directory.exists() {
        return Ok(());
    }
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        let modified = entry.metadata()?.modified()?.duration_since(UNIX_EPOCH).unwrap_or_default();
        let age = now.since(Timestamp::from_millis(0).plus(modified));
        if age >= UNREFERRED_AGE && !referred.contains(&entry.path()) {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

fn read(directory: &Path, (key, digest): (SourceKey, String)) -> KnownSource {
    let manifest = read_manifest(&path_of(directory, &digest)).inspect_err(|error| {
        let domain = key.domain.as_str();
        tracing::warn!(domain, %error, "a stored manifest could not be read; asking again");
    });
    KnownSource { key, manifest: manifest.ok() }
}

fn read_manifest(path: &Path) -> io::Result<Manifest> {
    let bytes = fs::read(path)?;
    Manifest::from_bytes(&bytes).map_err(io::Error::other)
}

fn write(directory: &Path, manifest: &Manifest) -> io::Result<()> {
    create_private_directory(directory)?;
    let mut file = NamedTempFile::new_in(directory)?;
    file.write_all(&manifest.to_bytes())?;
    file.as_file().sync_all()?;
    file.persist(path_of(directory, &manifest.digest().to_string()))?;
    sync(directory)
}

/// Makes a new name in a directory survive a power cut.
fn sync(directory: &Path) -> io::Result<()> {
    if cfg!(unix) { fs::File::open(directory)?.sync_all() } else { Ok(()) }
}

/// All files of a manifest.
fn files_of(directory: &Path, digest: &str) -> [PathBuf; 2] {
    [path_of(directory, digest), directory.join(tokens::file_name(digest))]
}

fn path_of(directory: &Path, digest: &str) -> PathBuf {
    directory.join(format!("{digest}.bin"))
}
