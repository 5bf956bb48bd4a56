//! Keeping a request for the person who decides.

use gatefold_core::{AgentId, ClientName, OrganisationId};
use gatefold_dispatch::NewApproval;
use serde_json::value::RawValue;
use sqlx::{Connection as _, SqliteConnection};

use super::ids::random_id;
use super::{bounded, sweep};
use crate::database::millis;
use crate::store::StoreInner;
use crate::{Store, StoreError};

/// The most requests that wait for a decision, in all and for one principal.
const PENDING_IN_ALL: u32 = 1000;
const PENDING_PER_PRINCIPAL: u32 = 100;

/// The longest arguments to store, in bytes. The caller's own limit is lower; this one bounds the
/// file for any caller.
const ARGUMENTS_LIMIT: usize = 64 * 1024;

/// How many ids to try if one is taken.
const DRAWS: usize = 4;

const PENDING: &str = "
    UPDATE approvals SET requested_at = ?6, expires_at = max(expires_at, ?5)
    WHERE principal = ?1 AND tool = ?2 AND definition = ?3 AND arguments_digest = ?4
        AND state = 'pending' AND expires_at > ?6
    RETURNING id";

/// Counts the waiting requests: all of them, and those of one principal.
const COUNT: &str = "
    SELECT count(*), count(*) FILTER (WHERE principal = ?1) FROM approvals
    WHERE state = 'pending' AND expires_at > ?2";

const KEEP: &str = "
    INSERT INTO approvals (
        id, principal, tool, definition, arguments_digest, user, organisation, agent, client,
        domain, rule, arguments, arguments_bytes, requested_at, expires_at, state
    )
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, 'pending')
    ON CONFLICT DO NOTHING";

impl Store {
    pub(super) async fn keep_request(&self, request: &NewApproval) -> Result<String, StoreError> {
        let store = self.inner();
        let mut connection = store.connection().await;
        let failed = |source| store.error(source);
        // Immediate, because another process may keep the same request at the same time.
        let mut transaction = connection.begin_with("BEGIN IMMEDIATE").await.map_err(failed)?;
        let id = match pending(&mut transaction, request).await.map_err(failed)? {
            Some(id) => id,
            None => keep_new(&mut transaction, store, request).await?,
        };
        transaction.commit().await.map_err(failed)?;
        Ok(id)
    }
}

/// The open request for the same call. Its time starts again now, because the caller was just told
/// how long it lasts.
async fn pending(
    connection: &mut SqliteConnection,
    request: &NewApproval,
) -> sqlx::Result<Option<String>> {
    let key = &request.key;
    sqlx::query_scalar(PENDING)
        .bind(&key.principal.as_bytes()[..])
        .bind(key.tool.as_str())
        .bind(&key.definition.as_bytes()[..])
        .bind(&key.arguments.as_bytes()[..])
        .bind(millis(request.expires_at))
        .bind(millis(request.at))
        .fetch_optional(connection)
        .await
}

async fn keep_new(
    connection: &mut SqliteConnection,
    store: &StoreInner,
    request: &NewApproval,
) -> Result<String, StoreError> {
    let failed = |source| store.error(source);
    sweep(connection, store.aging.now()).await.map_err(failed)?;
    let counted = sqlx::query_as(COUNT)
        .bind(&request.key.principal.as_bytes()[..])
        .bind(millis(request.at))
        .fetch_one(&mut *connection);
    let (in_all, of_one): (u32, u32) = counted.await.map_err(failed)?;
    for (limit, waiting) in [(PENDING_PER_PRINCIPAL, of_one), (PENDING_IN_ALL, in_all)] {
        if waiting >= limit {
            return Err(StoreError::TooManyApprovals { limit });
        }
    }
    for _ in 0..DRAWS {
        let id = random_id()?;
        if insert(connection, &id, request).await.map_err(failed)? {
            return Ok(id);
        }
    }
    Err(failed(sqlx::Error::Protocol("no free id was found".to_owned())))
}

/// Stores a request under an id, unless the id is taken.
async fn insert(
    connection: &mut SqliteConnection,
    id: &str,
    request: &NewApproval,
) -> sqlx::Result<bool> {
    let NewApproval { key, principal, client, .. } = request;
    let arguments = kept_arguments(&request.arguments);
    let kept = sqlx::query(KEEP)
        .bind(id)
        .bind(&key.principal.as_bytes()[..])
        .bind(key.tool.as_str())
        .bind(&key.definition.as_bytes()[..])
        .bind(&key.arguments.as_bytes()[..])
        .bind(bounded(principal.user.as_str()))
        .bind(principal.organisation.as_ref().map(OrganisationId::as_str).map(bounded))
        .bind(principal.agent.as_ref().map(AgentId::as_str).map(bounded))
        .bind(client.as_ref().map(ClientName::as_str).map(bounded))
        .bind(request.domain.as_str())
        .bind(bounded(request.rule.as_str()))
        .bind(arguments)
        .bind(i64::try_from(request.arguments_bytes).unwrap_or(i64::MAX))
        .bind(millis(request.at))
        .bind(millis(request.expires_at))
        .execute(connection)
        .await?;
    Ok(kept.rows_affected() == 1)
}

/// The arguments, or the beginning of very large ones as a JSON text.
fn kept_arguments(arguments: &RawValue) -> String {
    let text = arguments.get();
    if text.len() <= ARGUMENTS_LIMIT {
        return text.to_owned();
    }
    let beginning = &text[..text.floor_char_boundary(ARGUMENTS_LIMIT)];
    serde_json::Value::String(format!("{beginning}...")).to_string()
}
