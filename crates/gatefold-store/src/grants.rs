//! What sign-ins at sources brought, sealed.
//!
//! Each row is encrypted under a data key, with the row's place and generation as associated data,
//! so rows can neither be exchanged nor put back unnoticed while another one stands. The data key
//! lies in the database, wrapped by a root key that does not.

use std::collections::HashMap;
use std::sync::Arc;

use gatefold_core::{Domain, Secret, Timestamp, UpstreamIdentity, UserId};
use gatefold_identity::{GrantPlace, GrantRecord, Grants, StoreAnswer};
use sqlx::sqlite::SqliteRow;
use sqlx::{Connection as _, Row as _, SqliteConnection};
use tokio::sync::Mutex;

use crate::database::millis;
use crate::sealing::{SealedText, Sealer};
use crate::{Store, StoreError, opening};

mod data_keys;
mod key_command;
mod root_key;

use self::data_keys::DataKey;
pub use self::key_command::{KeyCommand, ROOT_KEY_BYTES};
use self::root_key::RootKeys;
pub use self::root_key::{RootKey, RootSecret};

/// The most grants of one state directory.
const GRANTS: i64 = 100_000;

const READ: &str = "
    SELECT generation, key, nonce, sealed FROM grants WHERE source = ?1 AND identity = ?2";

const GENERATION: &str = "SELECT generation FROM grants WHERE source = ?1 AND identity = ?2";

const COUNT: &str = "SELECT count(*) FROM grants";

const WRITE: &str = "
    INSERT INTO grants (source, identity, generation, key, nonce, sealed)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6)
    ON CONFLICT (source, identity) DO UPDATE SET
        generation = ?3, key = ?4, nonce = ?5, sealed = ?6, holder = NULL, leased_until = NULL";

const LEASE: &str = "
    UPDATE grants SET holder = ?4, leased_until = ?6
    WHERE source = ?1 AND identity = ?2 AND generation = ?3
        AND (holder IS NULL OR holder = ?4 OR leased_until <= ?5)";

const RELEASE: &str = "
    UPDATE grants SET holder = NULL, leased_until = NULL
    WHERE source = ?1 AND identity = ?2 AND holder = ?3";

const REMOVE: &str = "DELETE FROM grants WHERE source = ?1 AND identity = ?2";

const PLACES: &str = "SELECT source, identity FROM grants ORDER BY source, identity";

const ALL: &str = "SELECT source, identity, generation, key, nonce, sealed FROM grants";

const RESEAL: &str = "
    UPDATE grants SET key = ?3, nonce = ?4, sealed = ?5 WHERE source = ?1 AND identity = ?2";

/// The table of grants, with the keys that open it. Clones share them.
#[derive(Clone)]
pub struct GrantTable {
    store: Store,
    root: Arc<RootKeys>,
    /// The data keys that were unwrapped. At most [`data_keys::KEPT`].
    sealers: Arc<Mutex<HashMap<i64, Arc<Sealer>>>>,
}

impl Store {
    /// The table of grants. No key is read or made before one is needed.
    pub fn grants(&self, root: RootKey) -> GrantTable {
        let root = Arc::new(RootKeys::new(root, self.state_dir()));
        GrantTable { store: self.clone(), root, sealers: Arc::default() }
    }
}

impl Grants for GrantTable {
    fn read<'a>(&'a self, place: &'a GrantPlace) -> StoreAnswer<'a, Option<GrantRecord>> {
        Box::pin(async move {
            let store = self.store.inner();
            let mut connection = store.connection().await;
            let row = bound(READ, place).fetch_optional(&mut *connection).await;
            let row = row.and_then(|row| row.as_ref().map(SealedGrant::read).transpose());
            let Some(kept) = row.map_err(|source| store.error(source))? else { return Ok(None) };
            drop(connection);
            self.root.ready().await?;
            let mut connection = store.connection().await;
            let generation = kept.generation.cast_unsigned();
            let opener = self.sealer(&mut connection, kept.data_key).await?;
            let text = kept.opened(&opener, place).and_then(|text| String::from_utf8(text).ok());
            let text = text.map(Secret::new).ok_or_else(|| self.damaged())?;
            Ok(Some(GrantRecord { generation, text }))
        })
    }

    fn generation<'a>(&'a self, place: &'a GrantPlace) -> StoreAnswer<'a, Option<u64>> {
        Box::pin(async move {
            let store = self.store.inner();
            let found = read_generation(&mut *store.connection().await, place).await;
            Ok(found.map_err(|source| store.error(source))?.map(i64::cast_unsigned))
        })
    }

    fn write<'a>(
        &'a self,
        place: &'a GrantPlace,
        text: &'a Secret,
        from: Option<u64>,
    ) -> StoreAnswer<'a, Option<u64>> {
        Box::pin(async move {
            let store = self.store.inner();
            let data_key = self.current().await?;
            let write = async {
                let mut connection = store.connection().await;
                // Immediate, because another process may write the same row.
                let mut transaction = connection.begin_with("BEGIN IMMEDIATE").await?;
                let before = read_generation(&mut transaction, place).await?;
                let is_other = from.is_some_and(|from| before != Some(from.cast_signed()));
                if is_other {
                    return Ok(Written::Other);
                }
                let count: i64 = sqlx::query_scalar(COUNT).fetch_one(&mut *transaction).await?;
                if before.is_none() && count >= GRANTS {
                    return Ok(Written::Full);
                }
                // A deletion leaves no trace, so the date is what later ones are above.
                let generation = millis(store.now()).max(before.unwrap_or(0).saturating_add(1));
                let bytes = text.expose().as_bytes().to_vec();
                let sealed = match data_key.sealer.seal(bytes, &associated(place, generation)) {
                    Ok(sealed) => sealed,
                    Err(error) => return Ok(Written::Failed(error)),
                };
                bound(WRITE, place)
                    .bind(generation)
                    .bind(data_key.id)
                    .bind(&sealed.nonce[..])
                    .bind(sealed.body)
                    .execute(&mut *transaction)
                    .await?;
                transaction.commit().await?;
                sqlx::Result::Ok(Written::As(generation))
            };
            match write.await.map_err(|source| store.error(source))? {
                Written::As(generation) => Ok(Some(generation.cast_unsigned())),
                Written::Other => Ok(None),
                Written::Full => Err(StoreError::TooManyGrants { limit: GRANTS }.into()),
                Written::Failed(error) => Err(error.into()),
            }
        })
    }

    fn lease<'a>(
        &'a self,
        place: &'a GrantPlace,
        generation: u64,
        holder: &'a str,
        now: Timestamp,
        until: Timestamp,
    ) -> StoreAnswer<'a, bool> {
        let query = bound(LEASE, place)
            .bind(generation.cast_signed())
            .bind(holder)
            .bind(millis(now))
            .bind(millis(until));
        Box::pin(async move { Ok(self.changed(query).await? > 0) })
    }

    fn release<'a>(&'a self, place: &'a GrantPlace, holder: &'a str) -> StoreAnswer<'a, ()> {
        let query = bound(RELEASE, place).bind(holder);
        Box::pin(async move { Ok(self.changed(query).await.map(drop)?) })
    }

    fn remove<'a>(&'a self, place: &'a GrantPlace) -> StoreAnswer<'a, bool> {
        Box::pin(async move { Ok(self.changed(bound(REMOVE, place)).await? > 0) })
    }

    fn places(&self) -> StoreAnswer<'_, Vec<GrantPlace>> {
        Box::pin(async move {
            let store = self.store.inner();
            let rows = sqlx::query(PLACES).fetch_all(&mut *store.connection().await).await;
            let places = rows
                .and_then(|rows| rows.iter().filter_map(|row| place(row).transpose()).collect());
            Ok(places.map_err(|source| store.error(source))?)
        })
    }
}

impl GrantTable {
    /// Seals everything anew: under a new data key, and under a new root key if that is our own
    /// file. Returns the number of grants.
    pub async fn rotate(&self) -> Result<usize, StoreError> {
        let store = self.store.inner();
        // Two rotations at once would drop each other's root key.
        let _turn = opening::wait_to_start(self.store.state_dir()).await?;
        self.root.ready().await?;
        let root = self.root.renewed().await?;
        let fresh = DataKey::fresh()?;
        let mut connection = store.connection().await;
        let mut transaction =
            connection.begin_with("BEGIN IMMEDIATE").await.map_err(|source| store.error(source))?;
        let id =
            fresh.insert(&mut transaction, &root, store.now()).await.map_err(|it| it.of(store))?;
        let rows = sqlx::query(ALL).fetch_all(&mut *transaction).await;
        let rows = rows.map_err(|source| store.error(source))?;
        for row in &rows {
            let failed = |source| store.error(source);
            let Some(place) = place(row).map_err(failed)? else { continue };
            let kept = SealedGrant::read(row).map_err(failed)?;
            let associated = associated(&place, kept.generation);
            let opener = self.sealer(&mut transaction, kept.data_key).await?;
            let text = kept.opened(&opener, &place).ok_or_else(|| self.damaged())?;
            let anew = fresh.sealer.seal(text, &associated)?;
            bound(RESEAL, &place)
                .bind(id)
                .bind(&anew.nonce[..])
                .bind(anew.body)
                .execute(&mut *transaction)
                .await
                .map_err(failed)?;
        }
        data_keys::drop_before(&mut transaction, id).await.map_err(|it| store.error(it))?;
        transaction.commit().await.map_err(|source| store.error(source))?;
        drop(connection);
        self.root.settle().await?;
        Ok(rows.len())
    }

    /// The newest data key. Makes the first one.
    async fn current(&self) -> Result<DataKey, StoreError> {
        let store = self.store.inner();
        self.root.ready().await?;
        {
            let mut connection = store.connection().await;
            let newest = data_keys::newest(&mut connection).await;
            if let Some(id) = newest.map_err(|source| store.error(source))? {
                let sealer = self.sealer(&mut connection, id).await?;
                return Ok(DataKey { id, sealer });
            }
        }
        let (root, fresh) = (self.root.newest().await?, DataKey::fresh()?);
        let mut connection = store.connection().await;
        let mut transaction =
            connection.begin_with("BEGIN IMMEDIATE").await.map_err(|source| store.error(source))?;
        // Another process may have been first.
        let newest = data_keys::newest(&mut transaction).await;
        if let Some(id) = newest.map_err(|source| store.error(source))? {
            let sealer = self.sealer(&mut transaction, id).await?;
            return Ok(DataKey { id, sealer });
        }
        let id =
            fresh.insert(&mut transaction, &root, store.now()).await.map_err(|it| it.of(store))?;
        transaction.commit().await.map_err(|source| store.error(source))?;
        Ok(DataKey { id, sealer: fresh.sealer })
    }

    /// The sealer of a data key.
    async fn sealer(
        &self,
        connection: &mut SqliteConnection,
        id: i64,
    ) -> Result<Arc<Sealer>, StoreError> {
        let mut sealers = self.sealers.lock().await;
        if let Some(sealer) = sealers.get(&id) {
            return Ok(sealer.clone());
        }
        let wrapped = data_keys::wrapped(connection, id).await;
        let wrapped = wrapped.map_err(|source| self.store.inner().error(source))?;
        let wrapped = wrapped.ok_or_else(|| self.damaged())?;
        let root = self.root.find(&wrapped.root).await?;
        let root = root.ok_or_else(|| StoreError::OtherRootKey { path: self.path() })?;
        let sealer = Arc::new(wrapped.unwrapped(&root, id).ok_or_else(|| self.damaged())?);
        if sealers.len() >= data_keys::KEPT {
            sealers.clear();
        }
        sealers.insert(id, sealer.clone());
        Ok(sealer)
    }

    async fn changed(
        &self,
        query: sqlx::query::Query<'_, sqlx::Sqlite, sqlx::sqlite::SqliteArguments>,
    ) -> Result<u64, StoreError> {
        let store = self.store.inner();
        let done = query.execute(&mut *store.connection().await).await;
        Ok(done.map_err(|source| store.error(source))?.rows_affected())
    }

    fn damaged(&self) -> StoreError {
        StoreError::AlteredGrant { path: self.path() }
    }

    fn path(&self) -> std::path::PathBuf {
        crate::database::Database::path(self.store.state_dir())
    }
}

/// A grant as it lies in the table.
struct SealedGrant {
    generation: i64,
    data_key: i64,
    nonce: Vec<u8>,
    body: Vec<u8>,
}

impl SealedGrant {
    fn read(row: &SqliteRow) -> sqlx::Result<Self> {
        Ok(Self {
            generation: row.try_get("generation")?,
            data_key: row.try_get("key")?,
            nonce: row.try_get("nonce")?,
            body: row.try_get("sealed")?,
        })
    }

    /// Its text. None if it was altered, or belongs elsewhere.
    fn opened(self, sealer: &Sealer, place: &GrantPlace) -> Option<Vec<u8>> {
        let nonce = self.nonce.try_into().ok()?;
        let associated = associated(place, self.generation);
        sealer.open(SealedText { nonce, body: self.body }, &associated)
    }
}

enum Written {
    As(i64),
    Other,
    Full,
    Failed(StoreError),
}

async fn read_generation(
    connection: &mut SqliteConnection,
    place: &GrantPlace,
) -> sqlx::Result<Option<i64>> {
    let row = bound(GENERATION, place).fetch_optional(connection).await?;
    row.map(|row| row.try_get("generation")).transpose()
}

/// The place of a row. None for one that is none of ours.
fn place(row: &SqliteRow) -> sqlx::Result<Option<GrantPlace>> {
    let (source, identity): (&str, &str) = (row.try_get("source")?, row.try_get("identity")?);
    let identity = match (identity, identity.strip_prefix("user:")) {
        ("", _) => Some(UpstreamIdentity::Shared),
        (_, user) => user.map(|user| UpstreamIdentity::User(UserId::new(user))),
    };
    let domain = Domain::parse(source).ok();
    Ok(domain.zip(identity).map(|(domain, identity)| GrantPlace { domain, identity }))
}

fn identity_text(place: &GrantPlace) -> String {
    place.identity.user().map_or_else(String::new, |user| format!("user:{user}"))
}

/// What a grant is bound to besides its key.
fn associated(place: &GrantPlace, generation: i64) -> Vec<u8> {
    let (source, identity) = (place.domain.as_str(), identity_text(place));
    format!("grant\0{source}\0{identity}\0{generation}").into_bytes()
}

fn bound<'q>(
    sql: &'static str,
    place: &GrantPlace,
) -> sqlx::query::Query<'q, sqlx::Sqlite, sqlx::sqlite::SqliteArguments> {
    sqlx::query(sql).bind(place.domain.as_str().to_owned()).bind(identity_text(place))
}
