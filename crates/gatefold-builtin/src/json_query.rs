//! `json_query`: a jq program over a given text of JSON, or over a kept result.

use std::sync::Arc;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use gatefold_core::Clock;
use gatefold_dispatch::{
    DataOwner, MISSING_RESULT, ResultHandle, StoredResults, UNREADABLE_RESULTS,
};
use gatefold_results::run_jq;
use serde::{Deserialize, Serialize};
use serde_json::json;
use serde_json::value::RawValue;

use crate::face::{self, ToolCategory, ToolFace};
use crate::tool::BuiltinTool;
use crate::workers::{CallerWork, WorkKind, Workers};
use crate::{BuiltinAnswer, BuiltinCall, BuiltinError, arguments};

/// The longest text of JSON, in bytes. Its values take some fifty times as much.
const MAX_JSON: usize = 1024 * 1024;

/// The longest program, in bytes.
const MAX_FILTER: usize = 4000;

/// The longest result, in bytes.
const MAX_RESULT: usize = 512 * 1024;

pub(crate) struct JsonQuery {
    workers: Workers,
    results: Arc<dyn StoredResults>,
    clock: Arc<dyn Clock>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct QueryArguments {
    #[serde(default)]
    json: Option<Box<RawValue>>,
    /// The handle of a kept result.
    #[serde(default)]
    result: Option<String>,
    filter: String,
}

#[derive(Serialize)]
struct QueryAnswer {
    result: String,
    count: usize,
}

impl JsonQuery {
    pub(crate) fn new(
        workers: Workers,
        results: Arc<dyn StoredResults>,
        clock: Arc<dyn Clock>,
    ) -> Self {
        Self { workers, results, clock }
    }

    async fn answer(&self, call: &BuiltinCall) -> Result<BuiltinAnswer, BuiltinError> {
        let QueryArguments { json, result, filter } = arguments::read(&call.arguments)?;
        arguments::bounded("filter", &filter, MAX_FILTER)?;
        let text = match (json, result) {
            (Some(given), None) => {
                arguments::bounded("json", given.get(), MAX_JSON)?;
                // A string is the text of some JSON; any other value is meant itself.
                let text = serde_json::from_str::<String>(given.get());
                text.unwrap_or_else(|_| given.get().to_owned())
            }
            (None, Some(handle)) => self.kept(&handle, call).await?,
            _ => return Err(BuiltinError::arguments("give either `json` or `result`")),
        };
        let work = CallerWork::new(WorkKind::JsonQuery, &filter)?;
        self.workers.run(&call.principal, &work, text.as_bytes()).await
    }

    /// What was kept under a handle of the caller's.
    async fn kept(&self, handle: &str, call: &BuiltinCall) -> Result<String, BuiltinError> {
        let (owner, handle) = (DataOwner::of(&call.principal), ResultHandle::new(handle));
        let found = self.results.find(owner, &handle, self.clock.now()).await;
        let found = found.map_err(|source| BuiltinError::Unavailable {
            reason: UNREADABLE_RESULTS.to_owned(),
            source: Some(source),
        })?;
        found.map(|found| found.text).ok_or_else(|| BuiltinError::arguments(MISSING_RESULT))
    }
}

/// What a worker does.
pub(crate) fn query(text: &str, filter: &str) -> Result<BuiltinAnswer, BuiltinError> {
    let outcome = run_jq(text, filter);
    let outcome = outcome.map_err(|error| BuiltinError::Arguments(error.to_string()))?;
    let count = outcome.values;
    let mut result = outcome.into_text();
    // A single string is its text, line breaks included; after anything else one more is too many.
    let is_lines = count != 1 || serde_json::from_str::<&RawValue>(&result).is_ok();
    if is_lines && result.ends_with('\n') {
        result.pop();
    }
    if result.len() > MAX_RESULT {
        let size = result.len();
        let message = format!("the result has {size} bytes, more than the limit: {MAX_RESULT}");
        return Err(BuiltinError::Arguments(message));
    }
    Ok(BuiltinAnswer::new(result.clone(), &QueryAnswer { result, count }))
}

impl BuiltinTool for JsonQuery {
    fn face(&self) -> ToolFace {
        ToolFace {
            name: "json_query",
            title: "Query JSON",
            description:
                "Select, change and sum up JSON with a jq program: `.items[] | select(.price > \
                          10) | .name`, `group_by(.city) | map({city: .[0].city, count: length})`."
                    .to_owned(),
            category: ToolCategory::Computation,
            hints: face::reading(),
            input: face::object(
                &json!({
                    "json": { "description": "The JSON itself, or its text." },
                    "result": face::text("In place of `json`, the handle of a large result."),
                    "filter": face::bounded_text("The jq program.", MAX_FILTER),
                }),
                &["filter"],
            ),
            output: face::object(
                &json!({
                    "result": face::text("One value a line, as JSON. A single string is its text."),
                    "count": { "type": "integer", "description": "How many values." },
                }),
                &["result", "count"],
            ),
        }
    }

    fn call<'a>(
        &'a self,
        call: &'a BuiltinCall,
    ) -> BoxFuture<'a, Result<BuiltinAnswer, BuiltinError>> {
        self.answer(call).boxed()
    }
}
