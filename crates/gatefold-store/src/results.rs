//! Results that were too large to show, until they expire.
//!
//! The database holds whose they are and when they expire; each text is a file of its own,
//! encrypted under a key derived from the seal key. A handle is stored nowhere: rows and files go by
//! its digest, so a copy of the state directory gives nobody a handle.

use std::fs;
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use gatefold_core::{BoxError, Digest, Timestamp, ToolId};
use gatefold_dispatch::{DataOwner, NewResult, ResultHandle, StoredResult, StoredResults};
use sha2::{Digest as _, Sha256};
use sqlx::{Connection as _, SqliteConnection};
use tempfile::NamedTempFile;

use crate::blocking::blocking;
use crate::database::millis;
use crate::layout::create_private_directory;
use crate::sealing::{SealedText, Sealer};
use crate::store::StoreInner;
use crate::{Store, StoreError};

/// What the key for the texts is derived for.
pub(crate) const PURPOSE: &str = "gatefold stored results";

/// How many bytes all stored results may have together. The oldest of whoever has most are dropped for new ones.
pub const STORED_BYTES: u64 = 1 << 30;

/// The symbols of a handle, each of five bits: Crockford's base 32.
const SYMBOLS: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

/// The length of a handle: 120 bits, which nobody can guess.
const HANDLE_SYMBOLS: usize = 24;

/// The longest handle to look up.
const HANDLE_LIMIT: usize = 64;

/// The least age at which a file that no row refers to is removed. A younger one may belong to a
/// process that is about to write its row.
const UNREFERRED_AGE: Duration = Duration::from_mins(10);

const KEEP: &str = "
    INSERT INTO results (id, owner, tool, bytes, stored_at, expires_at)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6)";

const FIND: &str = "
    SELECT tool, expires_at FROM results WHERE id = ?1 AND owner = ?2 AND expires_at > ?3";

/// The latest of an owner come first, and what comes after the number of them that may stay goes.
const DROP_OLDEST_OF_OWNER: &str = "
    DELETE FROM results WHERE id IN (
        SELECT id FROM results WHERE owner = ?1 ORDER BY stored_at DESC, id LIMIT -1 OFFSET ?2
    ) RETURNING lower(hex(id))";

/// Of the owner who has most, the oldest go, as many as are too much.
const DROP_OLDEST_OF_LARGEST: &str = "
    DELETE FROM results WHERE id IN (
        SELECT id FROM (
            SELECT id, sum(bytes) OVER (ORDER BY stored_at, id DESC) - bytes AS older FROM results
            WHERE owner = (SELECT owner FROM results GROUP BY owner ORDER BY sum(bytes) DESC LIMIT 1)
        ) WHERE older < (SELECT sum(bytes) FROM results) - ?1
    ) RETURNING lower(hex(id))";

/// For how many owners in turn that is done. Each time whoever has most loses something.
const MAX_LARGEST: usize = 100;

const DROP_EXPIRED: &str = "DELETE FROM results WHERE expires_at <= ?1 RETURNING lower(hex(id))";

const IS_KEPT: &str = "SELECT count(*) FROM results WHERE id = unhex(?1)";

impl StoredResults for Store {
    fn keep(&self, result: NewResult) -> BoxFuture<'_, Result<ResultHandle, BoxError>> {
        Box::pin(async move { Ok(self.keep_result(result).await?) })
    }

    fn find<'a>(
        &'a self,
        owner: DataOwner,
        handle: &'a ResultHandle,
        now: Timestamp,
    ) -> BoxFuture<'a, Result<Option<StoredResult>, BoxError>> {
        Box::pin(async move { Ok(self.find_result(owner, handle, now).await?) })
    }
}

impl Store {
    async fn keep_result(&self, result: NewResult) -> Result<ResultHandle, StoreError> {
        let store = self.inner();
        let handle = new_handle()?;
        let id = digest_of(&handle);
        let NewResult { owner, tool, text, at, expires_at, kept_each } = result;
        let bytes = text.len();
        let place = place_of(id, owner);
        let (directory, cipher) = (store.results(), store.results_sealer.clone());
        let path = path_of(&directory, &id.to_string());
        let written = blocking(move || {
            let sealed = cipher.seal(text.into_bytes(), &place)?;
            write(&directory, &id.to_string(), &sealed)
                .map_err(|source| StoreError::unusable(&directory, source))
        });
        written.await?;
        let quota = i64::from(kept_each.max(1));
        let refer = async {
            let mut connection = store.connection().await;
            // Immediate, because another process may drop the same rows.
            let mut transaction = connection.begin_with("BEGIN IMMEDIATE").await?;
            sqlx::query(KEEP)
                .bind(&id.as_bytes()[..])
                .bind(owner.as_bytes())
                .bind(tool.as_str())
                .bind(i64::try_from(bytes).unwrap_or(i64::MAX))
                .bind(millis(at))
                .bind(millis(expires_at))
                .execute(&mut *transaction)
                .await?;
            let mut dropped: Vec<String> = sqlx::query_scalar(DROP_OLDEST_OF_OWNER)
                .bind(owner.as_bytes())
                .bind(quota)
                .fetch_all(&mut *transaction)
                .await?;
            dropped.extend(drop_beyond_bytes(&mut transaction).await?);
            transaction.commit().await?;
            sqlx::Result::Ok(dropped)
        };
        match refer.await {
            Ok(dropped) => {
                remove(store.results(), dropped).await;
                Ok(handle)
            }
            Err(source) => {
                let _ = blocking(move || fs::remove_file(path)).await;
                Err(store.error(source))
            }
        }
    }

    async fn find_result(
        &self,
        owner: DataOwner,
        handle: &ResultHandle,
        now: Timestamp,
    ) -> Result<Option<StoredResult>, StoreError> {
        let store = self.inner();
        if handle.as_str().len() > HANDLE_LIMIT {
            return Ok(None);
        }
        let id = digest_of(handle);
        let row: Option<(String, i64)> = sqlx::query_as(FIND)
            .bind(&id.as_bytes()[..])
            .bind(owner.as_bytes())
            .bind(millis(now))
            .fetch_optional(&mut *store.connection().await)
            .await
            .map_err(|source| store.error(source))?;
        let Some((tool, expires_at)) = row else { return Ok(None) };
        let (path, place) = (path_of(&store.results(), &id.to_string()), place_of(id, owner));
        let cipher = store.results_sealer.clone();
        let text = blocking(move || {
            let sealed = read(&path)?;
            let text = cipher.open(sealed, &place).and_then(|text| String::from_utf8(text).ok());
            text.ok_or_else(|| io::Error::other("it was altered"))
        });
        match text.await {
            Ok(text) => Ok(Some(StoredResult {
                tool: ToolId::new(tool),
                text,
                expires_at: Timestamp::from_millis(expires_at.cast_unsigned()),
            })),
            Err(error) => {
                tracing::warn!(%error, "a stored result could not be read");
                Ok(None)
            }
        }
    }
}

/// Deletes expired results, and files that nothing refers to.
pub(crate) async fn prune(store: &StoreInner, now: Timestamp) -> Result<(), StoreError> {
    let expired: Vec<String> = sqlx::query_scalar(DROP_EXPIRED)
        .bind(millis(now))
        .fetch_all(&mut *store.connection().await)
        .await
        .map_err(|source| store.error(source))?;
    remove(store.results(), expired).await;
    let directory = store.results();
    for name in blocking(move || old_files(&directory)).await {
        let kept: i64 = sqlx::query_scalar(IS_KEPT)
            .bind(&name)
            .fetch_one(&mut *store.connection().await)
            .await
            .map_err(|source| store.error(source))?;
        if kept == 0 {
            remove(store.results(), vec![name]).await;
        }
    }
    Ok(())
}

async fn drop_beyond_bytes(connection: &mut SqliteConnection) -> sqlx::Result<Vec<String>> {
    let limit = i64::try_from(STORED_BYTES).unwrap_or(i64::MAX);
    let mut dropped = Vec::new();
    for _ in 0..MAX_LARGEST {
        let query = sqlx::query_scalar(DROP_OLDEST_OF_LARGEST).bind(limit);
        let more: Vec<String> = query.fetch_all(&mut *connection).await?;
        if more.is_empty() {
            break;
        }
        dropped.extend(more);
    }
    Ok(dropped)
}

fn new_handle() -> Result<ResultHandle, StoreError> {
    let mut bytes = [0; HANDLE_SYMBOLS];
    getrandom::fill(&mut bytes).map_err(StoreError::Random)?;
    let symbols = bytes.iter().map(|byte| char::from(SYMBOLS[usize::from(byte & 31)]));
    Ok(ResultHandle::new(symbols.collect::<String>()))
}

fn digest_of(handle: &ResultHandle) -> Digest {
    Digest::new(Sha256::digest(handle.as_str()).into())
}

/// What a text is bound to besides its key, so that files cannot be exchanged for one another.
fn place_of(id: Digest, owner: DataOwner) -> Vec<u8> {
    [id.as_bytes().as_slice(), owner.as_bytes()].concat()
}

fn path_of(directory: &Path, id: &str) -> PathBuf {
    directory.join(id)
}

/// Writes a file that only its owner may read; whole or not at all.
fn write(directory: &Path, id: &str, sealed: &SealedText) -> io::Result<()> {
    create_private_directory(directory)?;
    let mut file = NamedTempFile::new_in(directory)?;
    file.write_all(&sealed.nonce)?;
    file.write_all(&sealed.body)?;
    file.persist(path_of(directory, id)).map(drop).map_err(|error| error.error)
}

fn read(path: &Path) -> io::Result<SealedText> {
    let mut file = fs::File::open(path)?;
    let mut sealed = SealedText { nonce: Default::default(), body: Vec::new() };
    file.read_exact(&mut sealed.nonce)?;
    file.read_to_end(&mut sealed.body)?;
    Ok(sealed)
}

async fn remove(directory: PathBuf, ids: Vec<String>) {
    if ids.is_empty() {
        return;
    }
    let removed = blocking(move || {
        for id in ids {
            let removed = fs::remove_file(path_of(&directory, &id));
            if let Err(error) = removed
                && error.kind() != io::ErrorKind::NotFound
            {
                tracing::debug!(%error, "the file of a dropped result could not be removed");
            }
        }
    });
    removed.await;
}

/// The names of files that have been there for a while.
fn old_files(directory: &Path) -> Vec<String> {
    let Ok(entries) = fs::read_dir(directory) else { return Vec::new() };
    let is_old = |entry: &fs::DirEntry| {
        let modified = entry.metadata().and_then(|metadata| metadata.modified());
        let age = modified.ok().and_then(|modified| modified.elapsed().ok());
        age.is_some_and(|age| age >= UNREFERRED_AGE)
    };
    let names = entries.flatten().filter(is_old).map(|entry| entry.file_name());
    names.filter_map(|name| name.into_string().ok()).collect()
}

/// What encrypts results.
pub(crate) fn sealer(key: &gatefold_dispatch::SealKey) -> Arc<Sealer> {
    Arc::new(Sealer::new(key, PURPOSE))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::StoreOptions;

    /// As if results of so many bytes had been kept, the first one first.
    async fn claim(store: &Store, owner: u8, bytes: &[u64]) {
        let mut connection = store.inner().connection().await;
        for (at, bytes) in bytes.iter().enumerate() {
            sqlx::query(KEEP)
                .bind(vec![owner, u8::try_from(at).unwrap()])
                .bind(vec![owner])
                .bind("up__tool")
                .bind(i64::try_from(*bytes).unwrap())
                .bind(i64::try_from(at).unwrap())
                .bind(i64::MAX)
                .execute(&mut *connection)
                .await
                .unwrap();
        }
    }

    async fn left(store: &Store, owner: u8) -> Vec<i64> {
        let query = "SELECT stored_at FROM results WHERE owner = ? ORDER BY stored_at";
        let query = sqlx::query_scalar(query).bind(vec![owner]);
        query.fetch_all(&mut *store.inner().connection().await).await.unwrap()
    }

    #[tokio::test]
    async fn whoever_has_most_loses_their_own_oldest_results() {
        let directory = tempfile::tempdir().unwrap();
        let store = Store::open(directory.path(), StoreOptions::default()).await.unwrap();
        claim(&store, 1, &[15 << 20; 2]).await;
        claim(&store, 2, &[15 << 20; 76]).await;
        let dropped = drop_beyond_bytes(&mut *store.inner().connection().await).await.unwrap();
        assert_eq!(dropped.len(), 10);
        assert_eq!(left(&store, 1).await, [0, 1]);
        assert_eq!(left(&store, 2).await, (10..76).collect::<Vec<_>>());
        assert!(
            drop_beyond_bytes(&mut *store.inner().connection().await).await.unwrap().is_empty()
        );
    }
}
