//! Codes, and what they gave.

use std::time::Duration;

use gatefold_core::{Digest, Timestamp, TokenId, UserId};
use sqlx::sqlite::SqliteRow;
use sqlx::{Connection as _, Row as _, SqliteConnection};

use super::{
    AccessRow, CodeRow, FAMILIES, FAMILIES_PER_USER, FamilyRenewal, FamilyRow, ISSUED_CODES,
    Insertion, ProvidedSubject, TakenCode, digest, maybe, moment, span,
};
use crate::database::millis;
use crate::holders::CHANGED;
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

impl Store {
    /// Keeps a code, unless its user was removed meanwhile.
    pub async fn keep_code(&self, code: CodeRow, now: Timestamp) -> Result<Insertion, StoreError> {
        let store = self.inner();
        let mut connection = store.connection().await;
        let kept = async {
            let mut transaction = connection.begin_with("BEGIN IMMEDIATE").await?;
            let old = millis(now).saturating_sub(span(CODE_MEMORY));
            sqlx::query(DROP_CODES).bind(old).execute(&mut *transaction).await?;
            if is_full(&mut transaction, "SELECT count(*) FROM issued_codes", ISSUED_CODES).await? {
                return Ok(Insertion::Full);
            }
            let (issuer, subject) = ProvidedSubject::columns(code.provided.as_ref());
            let kept = sqlx::query(KEEP_CODE)
                .bind(code.id.as_str())
                .bind(&code.hash.as_bytes()[..])
                .bind(code.user.as_str())
                .bind(&code.client)
                .bind(&code.client_name)
                .bind(&code.redirect)
                .bind(&code.challenge)
                .bind(&code.resource)
                .bind(&code.scopes)
                .bind(millis(code.expires_at))
                .bind(issuer)
                .bind(subject)
                .execute(&mut *transaction)
                .await?;
            transaction.commit().await?;
            sqlx::Result::Ok(insertion(kept.rows_affected()))
        };
        kept.await.map_err(|source| store.error(source))
    }

    /// Uses a code up. One that was used before, or had expired for an hour, is never good again.
    pub async fn take_code(&self, id: &TokenId, hash: Digest) -> Result<TakenCode, StoreError> {
        let store = self.inner();
        let mut connection = store.connection().await;
        let taken = async {
            let mut transaction = connection.begin_with("BEGIN IMMEDIATE").await?;
            let found = sqlx::query(CODE).bind(id.as_str()).bind(&hash.as_bytes()[..]);
            let Some(row) = found.fetch_optional(&mut *transaction).await? else {
                return Ok(TakenCode::Unknown);
            };
            if row.try_get("is_used")? {
                return Ok(TakenCode::Used);
            }
            sqlx::query(USE_CODE).bind(id.as_str()).execute(&mut *transaction).await?;
            transaction.commit().await?;
            sqlx::Result::Ok(TakenCode::Fresh(Box::new(code(&row)?)))
        };
        taken.await.map_err(|source| store.error(source))
    }

    /// Begins what a used code was good for, if it was not revoked meanwhile.
    pub async fn begin_family(
        &self,
        family: FamilyRow,
        now: Timestamp,
    ) -> Result<Insertion, StoreError> {
        let store = self.inner();
        let mut connection = store.connection().await;
        let begun = async {
            let mut transaction = connection.begin_with("BEGIN IMMEDIATE").await?;
            sqlx::query(DROP_FAMILIES).bind(millis(now)).execute(&mut *transaction).await?;
            let room = sqlx::query(FAMILY_ROOM).bind(family.user.as_str());
            room.bind(FAMILIES_PER_USER - 1).execute(&mut *transaction).await?;
            if is_full(&mut transaction, "SELECT count(*) FROM token_families", FAMILIES).await? {
                return Ok(Insertion::Full);
            }
            let (issuer, subject) = ProvidedSubject::columns(family.provided.as_ref());
            let begun = sqlx::query(BEGIN)
                .bind(family.id.as_str())
                .bind(family.user.as_str())
                .bind(&family.client)
                .bind(&family.client_name)
                .bind(&family.resource)
                .bind(&family.scopes)
                .bind(millis(family.created_at))
                .bind(millis(family.expires_at))
                .bind(&family.refresh.as_bytes()[..])
                .bind(&family.access.hash.as_bytes()[..])
                .bind(&family.access.resource)
                .bind(&family.access.scopes)
                .bind(millis(family.access.expires_at))
                .bind(issuer)
                .bind(subject)
                .execute(&mut *transaction)
                .await?;
            sqlx::query(CHANGED).execute(&mut *transaction).await?;
            transaction.commit().await?;
            sqlx::Result::Ok(insertion(begun.rows_affected()))
        };
        begun.await.map_err(|source| store.error(source))
    }

    pub async fn family(
        &self,
        id: &TokenId,
        now: Timestamp,
    ) -> Result<Option<FamilyRow>, StoreError> {
        let store = self.inner();
        let row = sqlx::query(FAMILY).bind(id.as_str()).bind(millis(now));
        let row = row.fetch_optional(&mut *store.connection().await).await;
        let row = row.and_then(|row| row.as_ref().map(known_family).transpose());
        row.map_err(|source| store.error(source))
    }

    /// Replaces the tokens of a family, if its refresh token is still the one that they follow.
    pub async fn renew_family(
        &self,
        id: &TokenId,
        renewal: FamilyRenewal,
    ) -> Result<bool, StoreError> {
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
                .bind(&renewal.access.resource)
                .bind(&renewal.access.scopes)
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
        renewed.await.map_err(|source| store.error(source))
    }

    /// Ends a family and forgets its code. Returns whether there was one.
    pub async fn end_family(&self, id: &TokenId) -> Result<bool, StoreError> {
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
    pub async fn families(&self) -> Result<Vec<FamilyRow>, StoreError> {
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

fn insertion(rows: u64) -> Insertion {
    if rows == 1 { Insertion::Done } else { Insertion::Refused }
}

fn code(row: &SqliteRow) -> sqlx::Result<CodeRow> {
    let text = |name| row.try_get::<String, _>(name);
    Ok(CodeRow {
        id: TokenId::new(text("id")?),
        hash: digest(row, "hash")?,
        user: UserId::new(text("user")?),
        provided: ProvidedSubject::of(row)?,
        client: text("client")?,
        client_name: text("client_name")?,
        redirect: text("redirect")?,
        challenge: text("challenge")?,
        resource: text("resource")?,
        scopes: text("scopes")?,
        expires_at: moment(row, "expires_at")?,
    })
}

pub(crate) fn known_family(row: &SqliteRow) -> sqlx::Result<FamilyRow> {
    let text = |name| row.try_get::<String, _>(name);
    Ok(FamilyRow {
        id: TokenId::new(text("id")?),
        user: UserId::new(text("user")?),
        provided: ProvidedSubject::of(row)?,
        client: text("client")?,
        client_name: text("client_name")?,
        resource: text("resource")?,
        scopes: text("scopes")?,
        created_at: moment(row, "created_at")?,
        expires_at: moment(row, "expires_at")?,
        refresh: digest(row, "refresh_hash")?,
        refreshes: row.try_get::<u32, _>("refreshes")?,
        refreshed_at: moment(row, "refreshed_at")?,
        access: AccessRow {
            hash: digest(row, "access_hash")?,
            resource: text("access_resource")?,
            scopes: text("access_scopes")?,
            expires_at: moment(row, "access_expires_at")?,
        },
        last_used: maybe(row, "last_used")?,
    })
}
