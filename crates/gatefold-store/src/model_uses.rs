//! What models were asked, and what that came to.

use gatefold_core::{AgentId, Cost, OrganisationId, Timestamp, UserId};
use gatefold_dispatch::{
    DaySpending, Journaled, ModelLedger, ModelUseEnd, NewModelUse, OpenModelUse, UseOrigin,
    UsedTokens, UtcDay,
};
use sqlx::sqlite::SqliteRow;
use sqlx::{Connection as _, Row as _, SqliteConnection};

use crate::Store;
use crate::database::millis;
use crate::runs::{READ, unusable};

/// The largest number of a row or a sum. Two of them still fit into SQLite's integers, so no sum overflows.
const LARGEST: i64 = 4_000_000_000_000_000_000;

const BEGIN: &str = "
    INSERT INTO model_uses (
        at, user, organisation, agent, run, call, model, input, cached, output, is_estimated, cost
    )
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)
    RETURNING seq";

const END: &str = "
    UPDATE model_uses
    SET model = ?2, input = ?3, cached = ?4, output = ?5, is_estimated = ?6, cost = ?7, took_ms = ?8
    WHERE seq = ?1";

const TAKE_BACK: &str = "DELETE FROM model_uses WHERE seq = ?1";

const ADD: &str = "
    INSERT INTO model_days (day, user, model, answers, tokens, estimated, cost)
    VALUES (?1, ?2, ?3, 1, ?4, ?5, ?6)
    ON CONFLICT DO UPDATE SET
        answers = answers + 1, tokens = min(tokens + excluded.tokens, ?7),
        estimated = min(estimated + excluded.estimated, ?7), cost = min(cost + excluded.cost, ?7)";

const SUBTRACT: &str = "
    UPDATE model_days SET
        answers = answers - 1, tokens = max(tokens - ?4, 0), estimated = max(estimated - ?5, 0),
        cost = max(cost - ?6, 0)
    WHERE day = ?1 AND user = ?2 AND model = ?3";

const SPENT: &str = "SELECT * FROM model_days WHERE day = ?1 AND user = ?2 AND model = ?3";

const ALL_SPENT: &str = "
    SELECT * FROM model_days WHERE day = ?1 AND user = ?2 AND answers > 0 ORDER BY model LIMIT ?3";

/// Each takes the bound and the number of rows for one step.
pub(crate) const PRUNE_BY_AGE: &str = "
    DELETE FROM model_uses
    WHERE at < ?1 AND seq IN (SELECT seq FROM model_uses ORDER BY seq LIMIT ?2)";
pub(crate) const PRUNE_BY_COUNT: &str = "
    DELETE FROM model_uses WHERE seq IN (
        SELECT seq FROM model_uses
        WHERE seq <= (SELECT max(seq) FROM model_uses) - ?1
        ORDER BY seq LIMIT ?2
    )";
pub(crate) const PRUNE_DAYS_BY_AGE: &str = "
    DELETE FROM model_days WHERE (day, user, model) IN (
        SELECT day, user, model FROM model_days WHERE day < ?1 LIMIT ?2
    )";
/// The last day stays whole, whoever used models on it: budgets are kept by it.
pub(crate) const PRUNE_DAYS_BY_COUNT: &str = "
    DELETE FROM model_days WHERE (day, user, model) IN (
        SELECT day, user, model FROM model_days
        WHERE day < (SELECT max(day) FROM model_days)
        ORDER BY day DESC LIMIT ?2 OFFSET ?1
    )";

impl ModelLedger for Store {
    fn begin_use(&self, entry: NewModelUse) -> Journaled<'_, OpenModelUse> {
        Box::pin(async move {
            let store = self.inner();
            let at = store.now();
            let begun = begin(&mut *store.connection().await, at, &entry).await;
            let number = begun.map_err(|source| unusable(store, source))?;
            Ok(OpenModelUse { number, at, entry })
        })
    }

    fn end_use(&self, open: OpenModelUse, end: Option<ModelUseEnd>) -> Journaled<'_, ()> {
        Box::pin(async move {
            let store = self.inner();
            let ended = finish(&mut *store.connection().await, &open, end.as_ref()).await;
            ended.map_err(|source| unusable(store, source))
        })
    }

    fn spent_today<'a>(&'a self, user: &'a UserId, model: &'a str) -> Journaled<'a, DaySpending> {
        Box::pin(async move {
            let store = self.inner();
            let day = UtcDay::of(store.now());
            let query = sqlx::query(SPENT).bind(number(day)).bind(user.as_str()).bind(model);
            let row = query.fetch_optional(&mut *store.connection().await).await;
            let spent = row.and_then(|row| row.map(|row| read(day, &row)).transpose());
            let nothing =
                DaySpending { day, answers: 0, tokens: 0, estimated: 0, cost: Cost::ZERO };
            Ok(spent.map_err(|source| unusable(store, source))?.unwrap_or(nothing))
        })
    }

    fn all_spent_today<'a>(
        &'a self,
        user: &'a UserId,
    ) -> Journaled<'a, Vec<(String, DaySpending)>> {
        Box::pin(async move {
            let store = self.inner();
            let day = UtcDay::of(store.now());
            let query = sqlx::query(ALL_SPENT).bind(number(day)).bind(user.as_str()).bind(READ);
            let rows = query.fetch_all(&mut *store.connection().await).await;
            let of = |row: &SqliteRow| Ok((row.try_get("model")?, read(day, row)?));
            let all = rows.and_then(|rows| rows.iter().map(of).collect());
            all.map_err(|source| unusable(store, source))
        })
    }
}

async fn begin(
    connection: &mut SqliteConnection,
    at: Timestamp,
    entry: &NewModelUse,
) -> sqlx::Result<i64> {
    let (run, call) = match entry.origin {
        UseOrigin::Run(run) => (Some(run.to_string()), None),
        UseOrigin::Call(call, run) => (run.map(|run| run.to_string()), Some(call.to_string())),
        UseOrigin::Elsewhere => (None, None),
    };
    let UsedTokens { input, cached, output, is_estimated } = entry.tokens;
    let mut transaction = connection.begin_with("BEGIN IMMEDIATE").await?;
    let number = sqlx::query_scalar(BEGIN)
        .bind(millis(at))
        .bind(entry.user.as_str())
        .bind(entry.organisation.as_ref().map(OrganisationId::as_str))
        .bind(entry.agent.as_ref().map(AgentId::as_str))
        .bind(run)
        .bind(call)
        .bind(&entry.model)
        .bind(bounded(input))
        .bind(bounded(cached))
        .bind(bounded(output))
        .bind(is_estimated)
        .bind(entry.cost.map(|cost| bounded(cost.as_micros())))
        .fetch_one(&mut *transaction)
        .await?;
    let day = UtcDay::of(at);
    sum_up(&mut transaction, ADD, (day, &entry.user, &entry.model), entry.tokens, entry.cost)
        .await?;
    transaction.commit().await?;
    Ok(number)
}

async fn finish(
    connection: &mut SqliteConnection,
    OpenModelUse { number, at, entry }: &OpenModelUse,
    end: Option<&ModelUseEnd>,
) -> sqlx::Result<()> {
    let day = UtcDay::of(*at);
    let mut transaction = connection.begin_with("BEGIN IMMEDIATE").await?;
    let asked = (day, &entry.user, entry.model.as_str());
    sum_up(&mut transaction, SUBTRACT, asked, entry.tokens, entry.cost).await?;
    let Some(ModelUseEnd { model, tokens, cost, took }) = end else {
        sqlx::query(TAKE_BACK).bind(number).execute(&mut *transaction).await?;
        return transaction.commit().await;
    };
    sqlx::query(END)
        .bind(number)
        .bind(model)
        .bind(bounded(tokens.input))
        .bind(bounded(tokens.cached))
        .bind(bounded(tokens.output))
        .bind(tokens.is_estimated)
        .bind(cost.map(|cost| bounded(cost.as_micros())))
        .bind(bounded(u64::try_from(took.as_millis()).unwrap_or(u64::MAX)))
        .execute(&mut *transaction)
        .await?;
    sum_up(&mut transaction, ADD, (day, &entry.user, model), *tokens, *cost).await?;
    transaction.commit().await
}

/// Adds a request to the sums of a day, or subtracts it.
async fn sum_up(
    connection: &mut SqliteConnection,
    statement: &'static str,
    (day, user, model): (UtcDay, &UserId, &str),
    tokens: UsedTokens,
    cost: Option<Cost>,
) -> sqlx::Result<()> {
    let total = bounded(tokens.total());
    let query = sqlx::query(statement)
        .bind(number(day))
        .bind(user.as_str())
        .bind(model)
        .bind(total)
        .bind(if tokens.is_estimated { total } else { 0 })
        .bind(bounded(cost.unwrap_or_default().as_micros()))
        .bind(LARGEST);
    query.execute(connection).await.map(drop)
}

fn read(day: UtcDay, row: &SqliteRow) -> sqlx::Result<DaySpending> {
    let number = |column| row.try_get::<i64, _>(column).map(i64::cast_unsigned);
    Ok(DaySpending {
        day,
        answers: number("answers")?,
        tokens: number("tokens")?,
        estimated: number("estimated")?,
        cost: Cost::from_micros(number("cost")?),
    })
}

fn bounded(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(LARGEST).min(LARGEST)
}

pub(crate) fn number(day: UtcDay) -> i64 {
    i64::try_from(day.number()).unwrap_or(i64::MAX)
}
