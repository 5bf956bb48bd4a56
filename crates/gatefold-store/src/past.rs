//! Past queries of tools: bounded, and losing half their weight every thirty days.

use std::sync::Weak;

use futures::future::BoxFuture;
use gatefold_core::{BoxError, Tenant, Timestamp, ToolId};
use gatefold_dispatch::{KeptQuery, PastQueries, PastUse};
use serde::{Deserialize, Serialize};
use sqlx::{Connection as _, SqliteConnection};
use tokio::sync::mpsc;

use crate::database::millis;
use crate::store::StoreInner;
use crate::{Store, StoreError};

/// The time after which a past query has half its weight.
const HALF_LIFE_MS: f64 = 30.0 * 24.0 * 60.0 * 60.0 * 1000.0;

/// Past queries below this weight are forgotten: one use, ninety days ago.
const LEAST_WEIGHT: f64 = 0.125;

/// The most past queries to keep for a tool, for a tenant and in total. The lightest are deleted
/// first.
const PER_TOOL: u32 = 20;
const PER_TENANT: u32 = 2000;
/// The same of searches that led to no tool.
const MISSED_PER_TENANT: u32 = 200;
const IN_ALL: u32 = 100_000;

/// Uses that wait to be written. If the queue is full, a new one is lost.
pub(crate) const QUEUED_USES: usize = 64;

/// What stands for the tool of a search that led to none. No tool is called so.
const NO_TOOL: &str = "";

const KEPT: &str =
    "SELECT tool, query, strength FROM past_queries WHERE tenant = ?1 AND tool <> ''";

const LISTED: &str = "
    SELECT tenant, tool, query, strength, last_used FROM past_queries
    WHERE (?1 IS NULL AND tool <> '') OR tool = ?1
    ORDER BY tool, strength DESC, tenant, query LIMIT ?2";

const STRENGTH: &str =
    "SELECT strength FROM past_queries WHERE tenant = ?1 AND tool = ?2 AND query = ?3";

const KEEP: &str = "
    INSERT INTO past_queries (tenant, tool, query, strength, last_used)
    VALUES (?1, ?2, ?3, ?4, ?5)
    ON CONFLICT DO UPDATE
    SET strength = excluded.strength, last_used = max(last_used, excluded.last_used)";

/// A new query gets the chance to be used again, so it is never the one that is deleted.
const TRIM_TOOL: &str = "
    DELETE FROM past_queries WHERE tenant = ?1 AND tool = ?2 AND query <> ?3 AND query IN (
        SELECT query FROM past_queries WHERE tenant = ?1 AND tool = ?2 AND query <> ?3
        ORDER BY strength DESC, query LIMIT -1 OFFSET ?4
    )";

const TRIM_TENANT: &str = "
    DELETE FROM past_queries WHERE tenant = ?1 AND (tool, query) IN (
        SELECT tool, query FROM past_queries
        WHERE tenant = ?1 AND NOT (tool = ?2 AND query = ?3)
        ORDER BY strength DESC, tool, query LIMIT -1 OFFSET ?4
    )";

const PRUNE: &str = "
    DELETE FROM past_queries WHERE strength < ?1 OR (tenant, tool, query) IN (
        SELECT tenant, tool, query FROM past_queries ORDER BY strength DESC LIMIT -1 OFFSET ?2
    )";

const FORGET: &str = "DELETE FROM past_queries WHERE ?1 IS NULL OR tool = ?1";

const CHANGED: &str = "UPDATE past_changes SET changes = changes + 1";

const CHANGES: &str = "SELECT changes FROM past_changes";

/// A past query on record, for people.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
pub struct PastQueryRecord {
    /// `organisation:NAME` or `user:NAME`.
    pub tenant: String,
    /// The tool's id.
    pub tool: String,
    pub query: String,
    /// How often it led to a use, decayed to now.
    pub weight: f64,
    /// When it was last used, in milliseconds since 1970.
    pub last_used: Timestamp,
}

/// Which past queries to select.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PastQueryFilter {
    Every,
    /// A tool, by its id.
    Tool(String),
    /// Searches that led to no call.
    Missed,
}

impl PastQueryFilter {
    fn tool(&self) -> Option<&str> {
        match self {
            Self::Every => None,
            Self::Tool(tool) => Some(tool),
            Self::Missed => Some(NO_TOOL),
        }
    }
}

impl Store {
    /// The past queries on record, of all tenants, by tool and then by weight, heaviest first; at
    /// most `limit`.
    pub async fn past_queries(
        &self,
        of: &PastQueryFilter,
        limit: u32,
    ) -> Result<Vec<PastQueryRecord>, StoreError> {
        type Row = (String, String, String, f64, i64);
        let store = self.inner();
        let rows: Vec<Row> = sqlx::query_as(LISTED)
            .bind(of.tool())
            .bind(limit)
            .fetch_all(&mut *store.connection().await)
            .await
            .map_err(|source| store.error(source))?;
        let now = store.clock.now();
        let record = |(tenant, tool, query, strength, last_used): Row| PastQueryRecord {
            tenant,
            tool,
            query,
            weight: weight(strength, now),
            last_used: Timestamp::from_millis(last_used.cast_unsigned()),
        };
        Ok(rows.into_iter().map(record).collect())
    }

    /// Erases past queries, of all tenants, and returns how many there were.
    pub async fn forget_past_queries(&self, of: &PastQueryFilter) -> Result<u64, StoreError> {
        let store = self.inner();
        let forget = sqlx::query(FORGET).bind(of.tool());
        let mut connection = store.connection().await;
        let forgotten = delete(&mut connection, forget).await;
        forgotten.map_err(|source| store.error(source))
    }
}

impl PastQueries for Store {
    fn note(&self, used: PastUse) {
        if self.inner().uses.try_send(used).is_err() {
            tracing::debug!("a past query was not kept: too many came at once");
        }
    }

    fn version(&self) -> BoxFuture<'_, Result<u64, BoxError>> {
        Box::pin(async {
            let store = self.inner();
            let changes = sqlx::query_scalar::<_, i64>(CHANGES);
            let changes = changes.fetch_one(&mut *store.connection().await).await;
            Ok(changes.map_err(|source| store.error(source))?.cast_unsigned())
        })
    }

    fn kept<'a>(&'a self, tenant: &'a Tenant) -> BoxFuture<'a, Result<Vec<KeptQuery>, BoxError>> {
        Box::pin(async move {
            let store = self.inner();
            let rows = sqlx::query_as::<_, (String, String, f64)>(KEPT).bind(tenant.as_str());
            let rows = rows.fetch_all(&mut *store.connection().await).await;
            let now = store.clock.now();
            let kept = |(tool, query, strength): (String, String, f64)| KeptQuery {
                tool: ToolId::new(tool),
                query,
                weight: narrow(weight(strength, now)),
            };
            Ok(rows.map_err(|source| store.error(source))?.into_iter().map(kept).collect())
        })
    }
}

/// Writes uses as they come, for as long as the store exists.
pub(crate) async fn keep(store: Weak<StoreInner>, mut uses: mpsc::Receiver<PastUse>) {
    while let Some(used) = uses.recv().await {
        let Some(store) = store.upgrade() else { return };
        let written = write(&mut *store.connection().await, &used).await;
        if let Err(source) = written {
            let error = store.error(source);
            tracing::warn!(%error, "a past query could not be kept");
        }
    }
}

async fn write(connection: &mut SqliteConnection, used: &PastUse) -> sqlx::Result<()> {
    let PastUse { tenant, tool, query, at } = used;
    let tenant = tenant.as_str();
    let (tool, most) = match tool {
        Some(tool) => (tool.as_str(), PER_TOOL),
        None => (NO_TOOL, MISSED_PER_TENANT),
    };
    // Immediate, because another process may write the same row at the same time.
    let mut transaction = connection.begin_with("BEGIN IMMEDIATE").await?;
    let known: Option<f64> = sqlx::query_scalar(STRENGTH)
        .bind(tenant)
        .bind(tool)
        .bind(query)
        .fetch_optional(&mut *transaction)
        .await?;
    let weight = known.map_or(0.0, |strength| weight(strength, *at)) + 1.0;
    sqlx::query(KEEP)
        .bind(tenant)
        .bind(tool)
        .bind(query)
        .bind(strength(weight, *at))
        .bind(millis(*at))
        .execute(&mut *transaction)
        .await?;
    for (trim, others) in [(TRIM_TOOL, most - 1), (TRIM_TENANT, PER_TENANT - 1)] {
        let trim = sqlx::query(trim).bind(tenant).bind(tool).bind(query).bind(others);
        trim.execute(&mut *transaction).await?;
    }
    if tool != NO_TOOL {
        sqlx::query(CHANGED).execute(&mut *transaction).await?;
    }
    transaction.commit().await
}

/// Deletes past queries that weigh too little by now, and the lightest ones beyond the limit.
pub(crate) async fn prune(store: &StoreInner, now: Timestamp) -> Result<u64, StoreError> {
    let least = strength(LEAST_WEIGHT, now);
    let prune = sqlx::query(PRUNE).bind(least).bind(IN_ALL);
    let mut connection = store.connection().await;
    delete(&mut connection, prune).await.map_err(|source| store.error(source))
}

type Query<'q> = sqlx::query::Query<'q, sqlx::Sqlite, sqlx::sqlite::SqliteArguments>;

async fn delete(connection: &mut SqliteConnection, query: Query<'_>) -> sqlx::Result<u64> {
    let mut transaction = connection.begin_with("BEGIN IMMEDIATE").await?;
    let deleted = query.execute(&mut *transaction).await?.rows_affected();
    if deleted > 0 {
        sqlx::query(CHANGED).execute(&mut *transaction).await?;
    }
    transaction.commit().await?;
    Ok(deleted)
}

/// The value for the column `strength`.
fn strength(weight: f64, at: Timestamp) -> f64 {
    weight.log2() + half_lives(at)
}

fn weight(strength: f64, now: Timestamp) -> f64 {
    (strength - half_lives(now)).exp2()
}

#[expect(clippy::cast_precision_loss, reason = "milliseconds stay exact for 285,000 years")]
fn half_lives(at: Timestamp) -> f64 {
    at.as_millis() as f64 / HALF_LIFE_MS
}

#[expect(clippy::cast_possible_truncation, reason = "a weight is a small number")]
fn narrow(weight: f64) -> f32 {
    weight as f32
}
