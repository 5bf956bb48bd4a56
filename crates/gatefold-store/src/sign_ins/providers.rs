//! People who come by way of an OpenID provider, and browsers that are there.

use std::time::Duration;

use gatefold_core::{Digest, Timestamp, TokenId};
use gatefold_identity::{KeepOutcome, ProvidedPeople, ProvidedPerson, ProviderVisit, StoreAnswer};
use sqlx::sqlite::SqliteRow;
use sqlx::{Connection as _, Row as _};

use super::{
    CHANGED, PROVIDED_PEOPLE, PROVIDER_VISITS, VISIT_REQUEST_BYTES, millis_before, outcome,
};
use crate::Store;
use crate::database::millis;

/// How long a person is remembered who does not sign in again. All that they could begin has ended by
/// then: a browser is signed in for hours, and what it lets in ends after 90 days.
const PERSON_MEMORY: Duration = Duration::from_secs(92 * 24 * 60 * 60);

const DROP_PEOPLE: &str = "DELETE FROM provided_people WHERE signed_in_at <= ?1";

const KNOWN: &str = "SELECT groups FROM provided_people WHERE issuer = ?1 AND subject = ?2";

const NOTE: &str = "
    INSERT INTO provided_people (issuer, subject, user, groups, signed_in_at)
    VALUES (?1, ?2, ?3, ?4, ?5)
    ON CONFLICT (issuer, subject) DO UPDATE SET user = ?3, groups = ?4, signed_in_at = ?5";

const DROP_VISITS: &str = "DELETE FROM provider_visits WHERE expires_at <= ?1";

const VISIT_ROOM: &str = "
    DELETE FROM provider_visits WHERE id IN (
        SELECT id FROM provider_visits ORDER BY expires_at DESC, id LIMIT -1 OFFSET ?1)";

const KEEP_VISIT: &str = "
    INSERT INTO provider_visits (id, hash, browser, request, expires_at) VALUES (?1, ?2, ?3, ?4, ?5)
    ON CONFLICT (id) DO NOTHING";

const TAKE_VISIT: &str = "
    DELETE FROM provider_visits
    WHERE id = ?1 AND hash = ?2 AND browser = ?3 AND expires_at > ?4 RETURNING request";

impl ProvidedPeople for Store {
    fn note_provided_person(
        &self,
        person: ProvidedPerson,
        now: Timestamp,
    ) -> StoreAnswer<'_, KeepOutcome> {
        Box::pin(async move {
            let store = self.inner();
            let groups = serde_json::json!(person.groups).to_string();
            let mut connection = store.connection().await;
            let noted = async {
                let mut transaction = connection.begin_with("BEGIN IMMEDIATE").await?;
                let old = millis_before(now, PERSON_MEMORY);
                sqlx::query(DROP_PEOPLE).bind(old).execute(&mut *transaction).await?;
                let (issuer, subject) = (&person.subject.issuer, &person.subject.subject);
                let known: Option<String> = sqlx::query_scalar(KNOWN)
                    .bind(issuer)
                    .bind(subject)
                    .fetch_optional(&mut *transaction)
                    .await?;
                let count = sqlx::query_scalar("SELECT count(*) FROM provided_people");
                let count: i64 = count.fetch_one(&mut *transaction).await?;
                if known.is_none() && count >= i64::from(PROVIDED_PEOPLE) {
                    return Ok(KeepOutcome::Full);
                }
                sqlx::query(NOTE)
                    .bind(issuer)
                    .bind(subject)
                    .bind(person.user.as_str())
                    .bind(&groups)
                    .bind(millis(now))
                    .execute(&mut *transaction)
                    .await?;
                if known.is_some_and(|former| former != groups) {
                    sqlx::query(CHANGED).execute(&mut *transaction).await?;
                }
                transaction.commit().await?;
                sqlx::Result::Ok(KeepOutcome::Kept)
            };
            Ok(noted.await.map_err(|source| store.error(source))?)
        })
    }

    fn keep_visit(&self, visit: ProviderVisit, now: Timestamp) -> StoreAnswer<'_, KeepOutcome> {
        Box::pin(async move {
            if visit.request.len() > VISIT_REQUEST_BYTES {
                return Ok(KeepOutcome::Full);
            }
            let store = self.inner();
            let mut connection = store.connection().await;
            let kept = async {
                let mut transaction = connection.begin_with("BEGIN IMMEDIATE").await?;
                sqlx::query(DROP_VISITS).bind(millis(now)).execute(&mut *transaction).await?;
                let room = sqlx::query(VISIT_ROOM).bind(PROVIDER_VISITS - 1);
                room.execute(&mut *transaction).await?;
                let kept = sqlx::query(KEEP_VISIT)
                    .bind(visit.id.as_str())
                    .bind(&visit.hash.as_bytes()[..])
                    .bind(&visit.browser.as_bytes()[..])
                    .bind(&visit.request)
                    .bind(millis(visit.expires_at))
                    .execute(&mut *transaction)
                    .await?;
                transaction.commit().await?;
                sqlx::Result::Ok(outcome(&kept))
            };
            Ok(kept.await.map_err(|source| store.error(source))?)
        })
    }

    fn take_visit<'a>(
        &'a self,
        id: &'a TokenId,
        hash: Digest,
        browser: Digest,
        now: Timestamp,
    ) -> StoreAnswer<'a, Option<String>> {
        Box::pin(async move {
            let store = self.inner();
            let taken = sqlx::query_scalar(TAKE_VISIT)
                .bind(id.as_str())
                .bind(&hash.as_bytes()[..])
                .bind(&browser.as_bytes()[..])
                .bind(millis(now))
                .fetch_optional(&mut *store.connection().await)
                .await;
            Ok(taken.map_err(|source| store.error(source))?)
        })
    }
}

/// The groups beside a family, as the provider named them.
pub(crate) fn provided_groups(row: &SqliteRow) -> sqlx::Result<Vec<String>> {
    let groups: Option<String> = row.try_get("groups")?;
    let groups = groups.map(|groups| serde_json::from_str(&groups)).transpose();
    Ok(groups.map_err(|error| sqlx::Error::Decode(error.into()))?.unwrap_or_default())
}
