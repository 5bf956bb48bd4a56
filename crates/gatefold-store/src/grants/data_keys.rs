//! Data keys: made here, kept wrapped.

use std::sync::Arc;

use gatefold_core::Timestamp;
use gatefold_dispatch::SealKey;
use sqlx::SqliteConnection;

use super::root_key::RootSealer;
use crate::StoreError;
use crate::database::millis;
use crate::sealing::{SealedText, Sealer};
use crate::store::StoreInner;

/// The most data keys in memory at once.
pub(super) const KEPT: usize = 16;

/// What a key for grants is derived for.
const PURPOSE: &str = "gatefold grants";

const INSERT: &str = "
    INSERT INTO data_keys (root, nonce, wrapped, created_at) VALUES (?1, ?2, ?3, ?4)
    RETURNING id";

/// The id stands in the associated data, so the key is wrapped once its id is known.
const WRAP: &str = "UPDATE data_keys SET nonce = ?2, wrapped = ?3 WHERE id = ?1";

const NEWEST: &str = "SELECT max(id) FROM data_keys";

const FIND: &str = "SELECT root, nonce, wrapped FROM data_keys WHERE id = ?1";

const DROP: &str = "DELETE FROM data_keys WHERE id < ?1";

/// A data key that is ready for use.
pub(super) struct DataKey {
    pub(super) id: i64,
    pub(super) sealer: Arc<Sealer>,
}

/// A new data key that lies nowhere yet.
pub(super) struct FreshKey {
    bytes: [u8; 32],
    pub(super) sealer: Arc<Sealer>,
}

/// A data key as it lies in the database.
pub(super) struct WrappedKey {
    pub(super) root: Vec<u8>,
    sealed: SealedText,
}

/// Why a key could not be kept.
pub(super) enum KeepError {
    Sql(sqlx::Error),
    Seal(StoreError),
}

impl KeepError {
    pub(super) fn of(self, store: &StoreInner) -> StoreError {
        match self {
            Self::Sql(source) => store.error(source),
            Self::Seal(error) => error,
        }
    }
}

impl DataKey {
    pub(super) fn fresh() -> Result<FreshKey, StoreError> {
        let mut bytes = [0; 32];
        getrandom::fill(&mut bytes).map_err(StoreError::Random)?;
        Ok(FreshKey { bytes, sealer: Arc::new(sealer(bytes)) })
    }
}

impl FreshKey {
    pub(super) async fn insert(
        &self,
        connection: &mut SqliteConnection,
        root: &RootSealer,
        now: Timestamp,
    ) -> Result<i64, KeepError> {
        let id: i64 = sqlx::query_scalar(INSERT)
            .bind(&root.fingerprint[..])
            .bind(&[0_u8; 0][..])
            .bind(&[0_u8; 0][..])
            .bind(millis(now))
            .fetch_one(&mut *connection)
            .await
            .map_err(KeepError::Sql)?;
        let wrapped = root.sealer.seal(self.bytes.to_vec(), &place(id)).map_err(KeepError::Seal)?;
        sqlx::query(WRAP)
            .bind(id)
            .bind(&wrapped.nonce[..])
            .bind(wrapped.body)
            .execute(connection)
            .await
            .map_err(KeepError::Sql)?;
        Ok(id)
    }
}

impl WrappedKey {
    pub(super) fn unwrapped(self, root: &RootSealer, id: i64) -> Option<Sealer> {
        let bytes = root.sealer.open(self.sealed, &place(id))?;
        Some(sealer(bytes.try_into().ok()?))
    }
}

pub(super) async fn newest(connection: &mut SqliteConnection) -> sqlx::Result<Option<i64>> {
    sqlx::query_scalar(NEWEST).fetch_one(connection).await
}

pub(super) async fn wrapped(
    connection: &mut SqliteConnection,
    id: i64,
) -> sqlx::Result<Option<WrappedKey>> {
    let row: Option<(Vec<u8>, Vec<u8>, Vec<u8>)> =
        sqlx::query_as(FIND).bind(id).fetch_optional(connection).await?;
    Ok(row.and_then(|(root, nonce, body)| {
        Some(WrappedKey { root, sealed: SealedText { nonce: nonce.try_into().ok()?, body } })
    }))
}

pub(super) async fn drop_before(connection: &mut SqliteConnection, id: i64) -> sqlx::Result<()> {
    sqlx::query(DROP).bind(id).execute(connection).await.map(drop)
}

fn sealer(bytes: [u8; 32]) -> Sealer {
    Sealer::new(&SealKey::new(bytes), PURPOSE)
}

fn place(id: i64) -> Vec<u8> {
    format!("data key\0{id}").into_bytes()
}
