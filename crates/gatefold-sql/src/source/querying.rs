//! `query` and `explain`.

use std::sync::Arc;
use std::time::Duration;

use gatefold_core::Payload;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::known::KnownSchema;
use super::questions::{self, SchemaQuestion};
use super::{DatabaseSource, REREAD_PAUSE, ToolCall, ToolError};
use super::{advice, arguments, json_answer};
use crate::{
    CheckedStatement, Database, DatabaseError, Dialect, Guard, GuardError, QueryRows, ReadQuery,
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
        let sql = questions::strip_wrapping(&asked.sql);
        if let Some(question) = questions::question(sql) {
            return self.answer_question(call, question).await;
        }
        let (checked, rows) = self.read(call.database, sql, &bounds).await?;
        match rows {
            Ok(rows) => {
                let dialect = call.database.dialect();
                Ok(json_answer(&query_answer(rows, &checked, dialect)))
            }
            Err(DatabaseError::Timeout(_)) => {
                let known = self.schema().await?;
                let is_open =
                    !checked.calls_own && checked.tables.iter().all(|name| known.is_open(name));
                let plan = if is_open {
                    advice::estimated_plan(call.database, &checked.sql).await
                } else {
                    None
                };
                Err(ToolError::Arguments(advice::too_slow(timeout, plan)))
            }
            Err(error) => Err(self.mended(error, sql, &checked).await),
        }
    }

    /// Answers from what may be seen what the tools for the schema would answer too.
    async fn answer_question(
        &self,
        call: &ToolCall<'_>,
        question: SchemaQuestion,
    ) -> Result<Payload, ToolError> {
        match question {
            SchemaQuestion::Tables => self.all_tables(call).await,
            SchemaQuestion::Table(name) => self.described_table(call, &name, false).await,
            // Whoever bars `explain` does not want its answer to come another way.
            SchemaQuestion::Plan(sql) => Err(questions::plan_elsewhere(&sql)),
            SchemaQuestion::Elsewhere(message, calls) => Err(ToolError::Elsewhere(message, calls)),
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
        let checked = guarded(known.clone(), sql, GuardedUse::Read).await;
        let checked = checked.map_err(|error| refusal(&error, sql, &known))?;
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
        let written = questions::strip_wrapping(&asked.sql);
        // The word that asks for a plan is not needed here.
        let sql = match questions::question(written) {
            Some(SchemaQuestion::Plan(sql)) => sql,
            _ => written.to_owned(),
        };
        let checked = self.checked(&sql, GuardedUse::Read).await?;
        let known = self.schema().await?;
        if let Some(view) = checked.tables.iter().find(|name| !known.is_open(name)) {
            let message = format!("the plan of the view `{view}` would tell what it is made of");
            return Err(ToolError::Arguments(message));
        }
        if checked.calls_own {
            let message = "the plan of a function that is not built in would tell what it reads";
            return Err(ToolError::Arguments(message.to_owned()));
        }
        match call.database.explain(checked.sql.clone(), call.timeout()).await {
            Ok(plan) => Ok(json_answer(&PlanAnswer { plan })),
            Err(error) => Err(self.mended(error, &sql, &checked).await),
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
            return checked.map_err(|error| refusal(&error, sql, &known));
        }
        match self.read_schema(REREAD_PAUSE).await {
            Ok(again) if !Arc::ptr_eq(&again, &known) => {
                let checked = guarded(again.clone(), sql, purpose).await;
                checked.map_err(|error| refusal(&error, sql, &again))
            }
            _ => checked.map_err(|error| refusal(&error, sql, &known)),
        }
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
                && let Err(error) = guarded(known.clone(), written, purpose).await
            {
                return refusal(&error, written, &known);
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

fn refusal(error: &GuardError, sql: &str, known: &KnownSchema) -> ToolError {
    advice::of_guard(error, sql, known)
}

async fn guarded(
    known: Arc<KnownSchema>,
    sql: &str,
    purpose: GuardedUse,
) -> Result<CheckedStatement, GuardError> {
    let check = move |known: &KnownSchema, sql: &str| {
        let guard = Guard::new(&known.visible);
        match purpose {
            GuardedUse::Read => guard.with_catalogue().check(sql),
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

fn query_answer(rows: QueryRows, checked: &CheckedStatement, dialect: Dialect) -> QueryAnswer {
    let QueryRows { columns, rows, stopped } = rows;
    let row_count = rows.len();
    let next = stopped.map(|stopped| advice::next_page(stopped, row_count, checked, dialect));
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
