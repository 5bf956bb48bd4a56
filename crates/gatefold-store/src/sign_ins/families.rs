//! Codes, and what they gave.

use std::time::Duration;

use gatefold_core::{Digest, Timestamp, TokenId, UserId};
use gatefold_identity::{
    CodeRecord, CodeState, Consent, FamilyAccess, FamilyRecord, FamilyRenewal, KeepOutcome,
    Resource, Scopes, StoreAnswer, TokenFamilies,
};
use sqlx::sqlite::SqliteRow;
use sqlx::{Connection as _, Row as _, SqliteConnection};

use super::{
    CHANGED, FAMILIES, FAMILIES_PER_USER, ISSUED_CODES, digest, maybe, millis_before, moment,
    outcome, provided, provided_columns,
};
use crate::database::millis;
use crate::{Store, StoreError};

/// How long a code is remembered after it has expired: for as long it is known that it was used.
const CODE_MEMORY: Duration = Duration::from_secs(60 * 60);

const DROP_CODES: &str = "DELETE FROM issued_codes WHERE expires_at <= ?1";

const KEEP_CODE: &str = "
    INSERT INTO issued_codes
        (id, hash, user, client, client_name, redirect, challenge, resource, scopes, expires_at,
         issuer, subject)
    SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12
    WHERE NOT EXISTS (SELECT 1 FROM token_families WHERE id = ?1)
        AND NOT EXISTS (SELECT 1 FROM access_tokens WHERE id = ?1)
        AND CASE WHEN ?11 IS NULL THEN EXISTS (SELECT 1 FROM passwords WHERE user = ?3)
            ELSE EXISTS (SELECT 1 FROM provided_people
                WHERE issuer = ?11 AND subject = ?12 AND user = ?3) END
    ON CONFLICT (id) DO NOTHING";

const CODE: &str = "SELECT * FROM issued_codes WHERE id = ?1 AND hash = ?2";

const USE_CODE: &str = "UPDATE issued_codes SET is_used = 1 WHERE id = ?1";

const DROP_FAMILIES: &str = "DELETE FROM token_families WHERE expires_at <= ?1";

const FAMILY_ROOM: &str = "
    DELETE FROM token_families WHERE user = ?1 AND id NOT IN (
        SELECT id FROM token_families WHERE user = ?1 ORDER BY refreshed_at DESC, id LIMIT ?2)";

const BEGIN: &str = "
    INSERT INTO token_families
        (id, user, client, client_name, resource, scopes, created_at, expires_at, refresh_hash,
         refreshes, refreshed_at, access_hash, access_resource, access_scopes, access_expires_at,
         issuer, subject)
    SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, 0, ?7, ?10, ?11, ?12, ?13, ?14, ?15
    WHERE EXISTS (SELECT 1 FROM issued_codes WHERE id = ?1 AND is_used = 1)
    ON CONFLICT (id) DO NOTHING";

const FAMILY: &str = "SELECT * FROM token_families WHERE id = ?1 AND expires_at > ?2";

const RENEW: &str = "
    UPDATE token_families SET refresh_hash = ?3, refreshes = refreshes + 1, refreshed_at = ?4,
        access_hash = ?5, access_resource = ?6, access_scopes = ?7, access_expires_at = ?8
    WHERE id = ?1 AND refresh_hash = ?2";

/// The families of gateways that run, and of lists.
pub(crate) const FAMILIES_LISTED: &str = "
    SELECT token_families.*, provided_people.groups AS groups
    FROM token_families LEFT JOIN provided_people USING (issuer, subject) ORDER BY id LIMIT ?1";

impl TokenFamilies for Store {
    fn keep_code(&self, code: CodeRecord, now: Timestamp) -> StoreAnswer<'_, KeepOutcome> {
        Box::pin(async move {
            let store = self.inner();
            let mut connection = store.connection().await;
            let kept = async {
                let mut transaction = connection.begin_with("BEGIN IMMEDIATE").await?;
                let old = millis_before(now, CODE_MEMORY);
                sqlx::query(DROP_CODES).bind(old).execute(&mut *transaction).await?;
                if is_full(&mut transaction, "SELECT count(*) FROM issued_codes", ISSUED_CODES)
                    .await?
                {
                    return Ok(KeepOutcome::Full);
                }
                let (issuer, subject) = provided_columns(code.consent.provided.as_ref());
                let kept = sqlx::query(KEEP_CODE)
                    .bind(code.id.as_str())
                    .bind(&code.hash.as_bytes()[..])
                    .bind(code.consent.user.as_str())
                    .bind(&code.consent.client)
                    .bind(&code.consent.client_name)
                    .bind(&code.redirect)
                    .bind(&code.challenge)
                    .bind(code.consent.resource.as_str())
                    .bind(code.consent.scopes.as_str())
                    .bind(millis(code.expires_at))
                    .bind(issuer)
                    .bind(subject)
                    .execute(&mut *transaction)
                    .await?;
                transaction.commit().await?;
                sqlx::Result::Ok(outcome(&kept))
            };
            Ok(kept.await.map_err(|source| store.error(source))?)
        })
    }

    fn take_code<'a>(&'a self, id: &'a TokenId, hash: Digest) -> StoreAnswer<'a, CodeState> {
        Box::pin(async move {
            let store = self.inner();
            let mut connection = store.connection().await;
            let taken = async {
                let mut transaction = connection.begin_with("BEGIN IMMEDIATE").await?;
                let found = sqlx::query(CODE).bind(id.as_str()).bind(&hash.as_bytes()[..]);
                let Some(row) = found.fetch_optional(&mut *transaction).await? else {
                    return Ok(CodeState::Unknown);
                };
                if row.try_get("is_used")? {
                    return Ok(CodeState::Used);
                }
                sqlx::query(USE_CODE).bind(id.as_str()).execute(&mut *transaction).await?;
                transaction.commit().await?;
                sqlx::Result::Ok(CodeState::Fresh(Box::new(code(&row)?)))
            };
            Ok(taken.await.map_err(|source| store.error(source))?)
        })
    }

    fn begin_family(&self, family: FamilyRecord, now: Timestamp) -> StoreAnswer<'_, KeepOutcome> {
        Box::pin(async move {
            let store = self.inner();
            let mut connection = store.connection().await;
            let begun = async {
                let mut transaction = connection.begin_with("BEGIN IMMEDIATE").await?;
                sqlx::query(DROP_FAMILIES).bind(millis(now)).execute(&mut *transaction).await?;
                let room = sqlx::query(FAMILY_ROOM).bind(family.consent.user.as_str());
                room.bind(FAMILIES_PER_USER - 1).execute(&mut *transaction).await?;
                if is_full(&mut transaction, "SELECT count(*) FROM token_families", FAMILIES)
                    .await?
                {
                    return Ok(KeepOutcome::Full);
                }
                let (issuer, subject) = provided_columns(family.consent.provided.as_ref());
                let begun = sqlx::query(BEGIN)
                    .bind(family.id.as_str())
                    .bind(family.consent.user.as_str())
                    .bind(&family.consent.client)
                    .bind(&family.consent.client_name)
                    .bind(family.consent.resource.as_str())
                    .bind(family.consent.scopes.as_str())
                    .bind(millis(family.created_at))
                    .bind(millis(family.expires_at))
                    .bind(&family.refresh.as_bytes()[..])
                    .bind(&family.access.hash.as_bytes()[..])
                    .bind(family.access.resource.as_str())
                    .bind(family.access.scopes.as_str())
                    .bind(millis(family.access.expires_at))
                    .bind(issuer)
                    .bind(subject)
                    .execute(&mut *transaction)
                    .await?;
                sqlx::query(CHANGED).execute(&mut *transaction).await?;
                transaction.commit().await?;
                sqlx::Result::Ok(outcome(&begun))
            };
            Ok(begun.await.map_err(|source| store.error(source))?)
        })
    }

    fn family<'a>(
        &'a self,
        id: &'a TokenId,
        now: Timestamp,
    ) -> StoreAnswer<'a, Option<FamilyRecord>> {
        Box::pin(async move {
            let store = self.inner();
            let row = sqlx::query(FAMILY).bind(id.as_str()).bind(millis(now));
            let row = row.fetch_optional(&mut *store.connection().await).await;
            let row = row.and_then(|row| row.as_ref().map(known_family).transpose());
            Ok(row.map_err(|source| store.error(source))?)
        })
    }

    fn renew_family<'a>(
        &'a self,
        id: &'a TokenId,
        renewal: FamilyRenewal,
    ) -> StoreAnswer<'a, bool> {
        Box::pin(async move {
            let store = self.inner();
            let mut connection = store.connection().await;
            let renewed = async {
                let mut transaction = connection.begin_with("BEGIN IMMEDIATE").await?;
                let renewed = sqlx::query(RENEW)
                    .bind(id.as_str())
                    .bind(&renewal.from.as_bytes()[..])
                    .bind(&renewal.refresh.as_bytes()[..])
                    .bind(millis(renewal.refreshed_at))
                    .bind(&renewal.access.hash.as_bytes()[..])
                    .bind(renewal.access.resource.as_str())
                    .bind(renewal.access.scopes.as_str())
                    .bind(millis(renewal.access.expires_at))
                    .execute(&mut *transaction)
                    .await?;
                if renewed.rows_affected() == 0 {
                    return Ok(false);
                }
                sqlx::query(CHANGED).execute(&mut *transaction).await?;
                transaction.commit().await?;
                sqlx::Result::Ok(true)
            };
            Ok(renewed.await.map_err(|source| store.error(source))?)
        })
    }

    fn end_family<'a>(&'a self, id: &'a TokenId) -> StoreAnswer<'a, bool> {
        Box::pin(async move { Ok(self.end_access(id).await?) })
    }
}

impl Store {
    /// Ends a family and forgets its code. Returns whether there was one.
    pub async fn end_access(&self, id: &TokenId) -> Result<bool, StoreError> {
        let store = self.inner();
        let mut connection = store.connection().await;
        let ended = async {
            let mut transaction = connection.begin_with("BEGIN IMMEDIATE").await?;
            let code = sqlx::query("DELETE FROM issued_codes WHERE id = ?1").bind(id.as_str());
            code.execute(&mut *transaction).await?;
            let ended = sqlx::query("DELETE FROM token_families WHERE id = ?1").bind(id.as_str());
            let ended = ended.execute(&mut *transaction).await?.rows_affected();
            if ended > 0 {
                sqlx::query(CHANGED).execute(&mut *transaction).await?;
            }
            transaction.commit().await?;
            sqlx::Result::Ok(ended > 0)
        };
        ended.await.map_err(|source| store.error(source))
    }

    /// All clients that are let in.
    pub async fn families(&self) -> Result<Vec<FamilyRecord>, StoreError> {
        let store = self.inner();
        let rows = sqlx::query(FAMILIES_LISTED).bind(FAMILIES);
        let rows = rows.fetch_all(&mut *store.connection().await).await;
        let families: sqlx::Result<Vec<_>> =
            rows.and_then(|rows| rows.iter().map(known_family).collect());
        let now = store.now();
        let mut families = families.map_err(|source| store.error(source))?;
        families.retain(|family| family.expires_at > now);
        Ok(families)
    }
}

/// Ends all that a user has let in, within a transaction. Returns how many there were.
pub(super) async fn end_families_of(
    connection: &mut SqliteConnection,
    user: &UserId,
) -> sqlx::Result<u64> {
    let ended = sqlx::query("DELETE FROM token_families WHERE user = ?1").bind(user.as_str());
    let ended = ended.execute(&mut *connection).await?.rows_affected();
    if ended > 0 {
        sqlx::query(CHANGED).execute(connection).await?;
    }
    Ok(ended)
}

async fn is_full(
    connection: &mut SqliteConnection,
    count: &'static str,
    limit: u32,
) -> sqlx::Result<bool> {
    let count: i64 = sqlx::query_scalar(count).fetch_one(connection).await?;
    Ok(count >= i64::from(limit))
}

fn code(row: &SqliteRow) -> sqlx::Result<CodeRecord> {
    Ok(CodeRecord {
        id: TokenId::new(row.try_get::<String, _>("id")?),
        hash: digest(row, "hash")?,
        consent: consent(row)?,
        redirect: row.try_get("redirect")?,
        challenge: row.try_get("challenge")?,
        expires_at: moment(row, "expires_at")?,
    })
}

fn consent(row: &SqliteRow) -> sqlx::Result<Consent> {
    Ok(Consent {
        user: UserId::new(row.try_get::<String, _>("user")?),
        provided: provided(row)?,
        client: row.try_get("client")?,
        client_name: row.try_get("client_name")?,
        resource: Resource::kept(row.try_get::<String, _>("resource")?),
        scopes: Scopes::kept(row.try_get("scopes")?),
    })
}

pub(crate) fn known_family(row: &SqliteRow) -> sqlx::Result<FamilyRecord> {
    Ok(FamilyRecord {
        id: TokenId::new(row.try_get::<String, _>("id")?),
        consent: consent(row)?,
        created_at: moment(row, "created_at")?,
        expires_at: moment(row, "expires_at")?,
        refresh: digest(row, "refresh_hash")?,
        refreshes: row.try_get::<u32, _>("refreshes")?,
        refreshed_at: moment(row, "refreshed_at")?,
        access: FamilyAccess {
            hash: digest(row, "access_hash")?,
            resource: Resource::kept(row.try_get::<String, _>("access_resource")?),
            scopes: Scopes::kept(row.try_get("access_scopes")?),
            expires_at: moment(row, "access_expires_at")?,
        },
        last_used: maybe(row, "last_used")?,
    })
}
