//! `query` and `explain`.

use std::sync::Arc;
use std::time::Duration;

use gatefold_core::Payload;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::known::KnownSchema;
use super::{DatabaseSource, REREAD_PAUSE, ToolCall, ToolError};
use super::{advice, arguments, json_answer};
use crate::{
    CheckedStatement, Database, DatabaseError, Guard, GuardError, QueryRows, ReadQuery,
    ResultColumn, Stop,
};

/// What an answer needs besides its rows, in bytes.
const ANSWER_FRAME: u64 = 4 * 1024;

/// What the rows of an answer may take. They stand in a text in JSON, where each quote takes two bytes.
const ROWS_SHARE: u64 = 2;

/// A longer statement is read on a thread that may block.
const SHORT_STATEMENT: usize = 4 * 1024;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct QueryArguments {
    sql: String,
    #[serde(default)]
    max_rows: Option<usize>,
}

/// What one query may take.
pub(super) struct QueryBounds {
    pub(super) max_rows: usize,
    pub(super) max_bytes: usize,
    pub(super) timeout: Duration,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ExplainArguments {
    sql: String,
}

#[derive(Serialize)]
struct QueryAnswer {
    columns: Vec<ResultColumn>,
    rows: Vec<Vec<Value>>,
    row_count: usize,
    truncated: bool,
    /// How to read on.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<String>,
}

#[derive(Serialize)]
struct PlanAnswer {
    plan: String,
}

impl DatabaseSource {
    pub(super) async fn query(&self, call: &ToolCall<'_>) -> Result<Payload, ToolError> {
        let asked: QueryArguments = arguments::read(call.arguments)?;
        let most = call.settings.rows;
        let max_rows = asked.max_rows.unwrap_or(most).min(most);
        if max_rows == 0 {
            return Err(ToolError::Arguments("`max_rows` must be at least 1".to_owned()));
        }
        let limit = call.context.result_bytes.saturating_sub(ANSWER_FRAME) / ROWS_SHARE;
        let max_bytes = usize::try_from(limit).unwrap_or(usize::MAX);
        let timeout = call.timeout();
        let bounds = QueryBounds { max_rows, max_bytes, timeout };
        let (checked, rows) = self.read(call.database, &asked.sql, &bounds).await?;
        match rows {
            Ok(rows) => Ok(json_answer(&query_answer(rows, &checked))),
            Err(DatabaseError::Timeout(_)) => {
                let known = self.schema().await?;
                let is_open = checked.tables.iter().all(|name| known.is_open(name));
                let plan = if is_open {
                    advice::estimated_plan(call.database, &checked.sql).await
                } else {
                    None
                };
                Err(ToolError::Arguments(advice::too_slow(timeout, plan)))
            }
            Err(error) => Err(self.mended(error, &asked.sql, &checked).await),
        }
    }

    /// Runs a statement that the guard lets pass. If its result has a column that may not be seen, the
    /// tables are read again first: they have changed.
    pub(super) async fn read(
        &self,
        database: &dyn Database,
        sql: &str,
        bounds: &QueryBounds,
    ) -> Result<(CheckedStatement, Result<QueryRows, DatabaseError>), ToolError> {
        let checked = self.checked(sql, GuardedUse::Read).await?;
        let rows = self.rows(database, &checked, bounds).await;
        if !rows.as_ref().is_ok_and(|rows| self.may_show_hidden(rows, &checked)) {
            return Ok((checked, rows));
        }
        let known = self.read_schema(Duration::ZERO).await?;
        let checked = guarded(known, sql, GuardedUse::Read).await;
        let checked = checked.map_err(|error| ToolError::Arguments(error.to_string()))?;
        let rows = self.rows(database, &checked, bounds).await;
        if rows.as_ref().is_ok_and(|rows| self.may_show_hidden(rows, &checked)) {
            let message = "the result has columns that may not be seen; name those you need";
            return Err(ToolError::Arguments(message.to_owned()));
        }
        Ok((checked, rows))
    }

    async fn rows(
        &self,
        database: &dyn Database,
        checked: &CheckedStatement,
        bounds: &QueryBounds,
    ) -> Result<QueryRows, DatabaseError> {
        let query = ReadQuery {
            sql: checked.sql.clone(),
            masked: checked.masked.clone(),
            max_rows: bounds.max_rows,
            max_bytes: bounds.max_bytes,
            timeout: bounds.timeout,
        };
        database.query(query).await
    }

    /// Whether `*` has shown a column that a table had not when it was read, and that a rule hides or
    /// masks by its name.
    fn may_show_hidden(&self, rows: &QueryRows, checked: &CheckedStatement) -> bool {
        let rules = &self.settings.rules;
        let is_known = |name: &str| checked.columns.iter().any(|known| known == name);
        let is_ruled =
            |name: &str| rules.hide.iter().chain(&rules.mask).any(|rule| rule.names(name));
        rows.columns.len() != checked.columns.len()
            && rows.columns.iter().any(|column| !is_known(&column.name) && is_ruled(&column.name))
    }

    pub(super) async fn explain(&self, call: &ToolCall<'_>) -> Result<Payload, ToolError> {
        let asked: ExplainArguments = arguments::read(call.arguments)?;
        let checked = self.checked(&asked.sql, GuardedUse::Read).await?;
        let known = self.schema().await?;
        if let Some(view) = checked.tables.iter().find(|name| !known.is_open(name)) {
            let message = format!("the plan of the view `{view}` would tell what it is made of");
            return Err(ToolError::Arguments(message));
        }
        match call.database.explain(checked.sql.clone(), call.timeout()).await {
            Ok(plan) => Ok(json_answer(&PlanAnswer { plan })),
            Err(error) => Err(self.mended(error, &asked.sql, &checked).await),
        }
    }

    /// Has the guard read a statement. If it names something unknown, the tables are read again first:
    /// they may have changed.
    pub(super) async fn checked(
        &self,
        sql: &str,
        purpose: GuardedUse,
    ) -> Result<CheckedStatement, ToolError> {
        let known = self.schema().await?;
        let checked = guarded(known.clone(), sql, purpose).await;
        let is_missing = matches!(
            checked,
            Err(GuardError::UnknownTable { .. } | GuardError::UnknownColumn { .. })
        );
        if !is_missing {
            return checked.map_err(|error| ToolError::Arguments(error.to_string()));
        }
        let again = match self.read_schema(REREAD_PAUSE).await {
            Ok(again) if !Arc::ptr_eq(&again, &known) => guarded(again, sql, purpose).await,
            _ => checked,
        };
        again.map_err(|error| ToolError::Arguments(error.to_string()))
    }

    /// What to tell the caller of a statement that the database refused.
    pub(super) async fn mended(
        &self,
        error: DatabaseError,
        written: &str,
        checked: &CheckedStatement,
    ) -> ToolError {
        let DatabaseError::Statement { missing, .. } = &error else { return error.into() };
        if missing.is_some() {
            // What is known is no longer true. The guard's own message names what is near.
            let purpose = GuardedUse::of(checked);
            if let Ok(known) = self.read_schema(REREAD_PAUSE).await
                && let Err(error) = guarded(known, written, purpose).await
            {
                return ToolError::Arguments(error.to_string());
            }
        }
        ToolError::Arguments(advice::of_statement(&error, &checked.sql))
    }
}

/// What a statement is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum GuardedUse {
    Read,
    Write,
}

impl GuardedUse {
    fn of(checked: &CheckedStatement) -> Self {
        match checked.kind {
            crate::StatementKind::Read => Self::Read,
            crate::StatementKind::Write { .. } => Self::Write,
        }
    }
}

async fn guarded(
    known: Arc<KnownSchema>,
    sql: &str,
    purpose: GuardedUse,
) -> Result<CheckedStatement, GuardError> {
    let check = move |known: &KnownSchema, sql: &str| {
        let guard = Guard::new(&known.visible);
        match purpose {
            GuardedUse::Read => guard.check(sql),
            GuardedUse::Write => guard.with_writes().check(sql),
        }
    };
    if sql.len() <= SHORT_STATEMENT {
        return check(&known, sql);
    }
    let sql = sql.to_owned();
    let read = tokio::task::spawn_blocking(move || check(&known, &sql)).await;
    read.unwrap_or_else(|error| std::panic::resume_unwind(error.into_panic()))
}

fn query_answer(rows: QueryRows, checked: &CheckedStatement) -> QueryAnswer {
    let QueryRows { columns, rows, stopped } = rows;
    let row_count = rows.len();
    let next = stopped.map(|stopped| advice::next_page(stopped, row_count, checked));
    QueryAnswer { columns, row_count, truncated: stopped.is_some(), rows, next }
}

impl Stop {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Rows => "the most rows of one answer",
            Self::Bytes => "the most bytes of one answer",
        }
    }
}
