//! What models were used for, summed up.

use gatefold_core::Cost;
use gatefold_dispatch::{JournalError, RunId, UsedTokens, UtcDay};
use serde::{Deserialize, Serialize};
use sqlx::Row as _;
use sqlx::sqlite::SqliteRow;

use crate::Store;
use crate::database::millis;
use crate::runs::{READ, unusable};

/// What the rows of one group come to. `min` keeps sums of many large numbers within SQLite's integers.
const SUMS: &str = "
    count(*) AS answers, CAST(min(total(input), 4e18) AS INTEGER) AS input,
    CAST(min(total(cached), 4e18) AS INTEGER) AS cached,
    CAST(min(total(output), 4e18) AS INTEGER) AS output, max(is_estimated) AS is_estimated,
    CASE WHEN count(cost) = 0 THEN NULL ELSE CAST(min(total(cost), 4e18) AS INTEGER) END AS cost";

/// What models took, all answers together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ModelUsage {
    /// How often a model was asked.
    pub answers: u64,
    pub tokens: UsedTokens,
    /// None where no model has a price.
    pub cost: Option<Cost>,
}

/// By what costs are told apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CostGroup {
    Day,
    Person,
    Agent,
    Model,
}

impl Store {
    /// What a run took of models, with what agents took that worked for it.
    pub async fn run_usage(&self, run: RunId) -> Result<ModelUsage, JournalError> {
        let store = self.inner();
        let query = format!("SELECT {SUMS} FROM model_uses WHERE run = ?1");
        let query = sqlx::query(sqlx::AssertSqlSafe(query)).bind(run.to_string());
        let row = query.fetch_one(&mut *store.connection().await).await;
        row.and_then(|row| usage(&row)).map_err(|source| unusable(store, source))
    }

    /// What models took since a day, by what tells it apart: a date, or the name of a person, an agent or a model.
    /// Without an agent it is empty. Days are in their order, of the others the most expensive first. It knows the
    /// answers whose rows are kept.
    pub async fn model_costs(
        &self,
        by: CostGroup,
        since: UtcDay,
    ) -> Result<Vec<(String, ModelUsage)>, JournalError> {
        let store = self.inner();
        let (group, order) = match by {
            CostGroup::Day => ("date(at / 1000, 'unixepoch')", "name DESC"),
            CostGroup::Person => ("user", "cost DESC, input + output DESC"),
            CostGroup::Agent => ("ifnull(agent, '')", "cost DESC, input + output DESC"),
            CostGroup::Model => ("model", "cost DESC, input + output DESC"),
        };
        let query = format!(
            "SELECT * FROM (SELECT {group} AS name, {SUMS} FROM model_uses WHERE at >= ?1 GROUP BY 1)
            ORDER BY {order}, name LIMIT ?2"
        );
        let query = sqlx::query(sqlx::AssertSqlSafe(query)).bind(millis(since.start())).bind(READ);
        let rows = query.fetch_all(&mut *store.connection().await).await;
        let read = |row: &SqliteRow| Ok((row.try_get("name")?, usage(row)?));
        let costs = rows.and_then(|rows| rows.iter().map(read).collect());
        costs.map_err(|source| unusable(store, source))
    }
}

fn usage(row: &SqliteRow) -> sqlx::Result<ModelUsage> {
    let number = |column| row.try_get::<i64, _>(column).map(i64::cast_unsigned);
    let cost: Option<i64> = row.try_get("cost")?;
    Ok(ModelUsage {
        answers: number("answers")?,
        tokens: UsedTokens {
            input: number("input")?,
            cached: number("cached")?,
            output: number("output")?,
            is_estimated: row.try_get::<Option<i64>, _>("is_estimated")?.unwrap_or_default() != 0,
        },
        cost: cost.map(|cost| Cost::from_micros(cost.cast_unsigned())),
    })
}
