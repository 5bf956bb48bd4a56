//! `execute`: one statement that writes, if a person agrees to the number of rows it changed.

use std::fmt;
use std::time::Duration;

use gatefold_catalog::marked;
use gatefold_core::Payload;
use gatefold_dispatch::{AskError, Question, QuestionMode};
use serde::{Deserialize, Serialize};
use serde_json::json;
use serde_json::value::to_raw_value;

use super::querying::GuardedUse;
use super::{DatabaseSource, ToolCall, ToolError};
use super::{arguments, json_answer, questions};
use crate::{CheckedStatement, DatabaseError, OpenWrite, StatementKind, WriteVerb};

/// How long a transaction stays open while a person is asked. It holds locks that others may wait for.
const QUESTION_TIMEOUT: Duration = Duration::from_mins(2);

/// The longest statement that a person is asked about, in characters: all of it is shown.
const SHOWN_STATEMENT: usize = 8000;

/// The field of the form that agrees.
const COMMIT: &str = "commit";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ExecuteArguments {
    sql: String,
}

#[derive(Serialize)]
struct ExecuteAnswer {
    committed: bool,
    rows_changed: u64,
}

#[derive(Deserialize)]
struct FormAnswer {
    action: String,
    #[serde(default)]
    content: serde_json::Value,
}

impl DatabaseSource {
    pub(super) async fn execute(&self, call: &ToolCall<'_>) -> Result<Payload, ToolError> {
        let asked: ExecuteArguments = arguments::read(call.arguments)?;
        let sql = questions::strip_wrapping(&asked.sql);
        let checked = self.checked(sql, GuardedUse::Write).await?;
        let StatementKind::Write { verb, table } = &checked.kind else {
            let message = "this statement only reads; use `query` for it";
            return Err(ToolError::Arguments(message.to_owned()));
        };
        if checked.sql.chars().nth(SHOWN_STATEMENT).is_some() {
            let reason = format!(
                "a person has to read the statement, and it is longer than {SHOWN_STATEMENT} characters; nothing was \
                 run; split it"
            );
            return Err(ToolError::NotWritten(reason));
        }
        // Nothing is locked for a client that cannot be asked.
        let question = |rows| question(&checked, &format!("{verb} {table}"), rows);
        can_be_asked(call, &question(0))?;
        let open = match call.database.write(checked.sql.clone(), call.timeout()).await {
            Ok(open) => open,
            Err(error) => return Err(self.mended(error, sql, &checked).await),
        };
        let rows_changed = open.rows_affected();
        match agreed(call, question(rows_changed)).await {
            Ok(()) => commit(open).await?,
            Err(reason) => {
                open.roll_back().await;
                let reason = format!("{reason}, so nothing was changed");
                return Err(ToolError::NotWritten(reason));
            }
        }
        Ok(json_answer(&ExecuteAnswer { committed: true, rows_changed }))
    }
}

/// Keeps a change. Only a refusal of the database's own says that it did not.
pub(super) async fn commit(open: Box<dyn OpenWrite>) -> Result<(), ToolError> {
    open.commit().await.map_err(|error| match error {
        DatabaseError::Statement { .. } | DatabaseError::Write => ToolError::Database(error),
        error => ToolError::Uncertain(error),
    })
}

fn can_be_asked(call: &ToolCall<'_>, question: &Question) -> Result<(), ToolError> {
    let peer = &call.context.caller.peer;
    let lacks = peer.capabilities().lacks(question);
    if peer.question_mode() == QuestionMode::Live && lacks.is_none() {
        return Ok(());
    }
    let reason = "a person has to agree to the number of changed rows while the transaction is open, \
                  and this client cannot ask one during a call; nothing was run";
    Err(ToolError::NotWritten(reason.to_owned()))
}

/// Asks the person behind the call. An `Err` is a reason to roll back.
async fn agreed(call: &ToolCall<'_>, question: Question) -> Result<(), String> {
    let _pause = call.context.caller.peer.pause();
    let asking = call.context.caller.peer.ask(question);
    let answer = match tokio::time::timeout(QUESTION_TIMEOUT, asking).await {
        Ok(Ok(answer)) => answer,
        Ok(Err(AskError::Deadline)) | Err(_) => {
            return Err("the person who was asked did not answer in time".to_owned());
        }
        Ok(Err(error)) => return Err(error.to_string()),
    };
    let answer: Option<FormAnswer> = serde_json::from_str(answer.0.get()).ok();
    match answer {
        Some(FormAnswer { action, content })
            if action == "accept" && content[COMMIT] == serde_json::Value::Bool(true) =>
        {
            Ok(())
        }
        _ => Err("the person who was asked did not agree".to_owned()),
    }
}

fn question(checked: &CheckedStatement, act: &str, rows: u64) -> Question {
    let shown = marked(&checked.sql);
    let noun = if rows == 1 { "row" } else { "rows" };
    let message = format!("{act}: {rows} {noun} changed. Keep the change?\n\nStatement: {shown}");
    let params = json!({
        "mode": "form",
        "message": message,
        "requestedSchema": {
            "type": "object",
            "properties": { COMMIT: { "type": "boolean", "title": "Keep this change" } },
            "required": [COMMIT],
        },
    });
    let params = to_raw_value(&params).expect("a JSON value is valid JSON");
    Question { method: "elicitation/create".to_owned(), params }
}

impl fmt::Display for WriteVerb {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Insert => "INSERT into",
            Self::Update => "UPDATE of",
            Self::Delete => "DELETE from",
        })
    }
}
