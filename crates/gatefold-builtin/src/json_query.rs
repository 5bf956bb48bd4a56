//! `json_query`: a jq program over a given text of JSON.
//!
//! Kept results have a tool of their own that runs such programs, so none is read by its handle here.

use std::borrow::Cow;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use gatefold_results::run_jq;
use serde::{Deserialize, Serialize};
use serde_json::json;
use serde_json::value::RawValue;

use crate::compute::ComputePlaces;
use crate::face::{self, ToolCategory, ToolFace};
use crate::tool::BuiltinTool;
use crate::{BuiltinAnswer, BuiltinCall, BuiltinError, arguments};

/// The longest text of JSON, in bytes. Its values take some fifty times as much.
const MAX_JSON: usize = 1024 * 1024;

/// The longest program, in bytes.
const MAX_FILTER: usize = 4000;

/// The longest result, in bytes.
const MAX_RESULT: usize = 512 * 1024;

pub(crate) struct JsonQuery {
    places: ComputePlaces,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct QueryArguments {
    json: Box<RawValue>,
    filter: String,
}

#[derive(Serialize)]
struct QueryAnswer {
    result: String,
    count: usize,
}

impl JsonQuery {
    pub(crate) fn new(places: ComputePlaces) -> Self {
        Self { places }
    }

    async fn answer(&self, call: &BuiltinCall) -> Result<BuiltinAnswer, BuiltinError> {
        let asked: QueryArguments = arguments::read(&call.arguments)?;
        arguments::bounded("json", asked.json.get(), MAX_JSON)?;
        arguments::bounded("filter", &asked.filter, MAX_FILTER)?;
        self.places.run(move |_| queried(&asked)).await?
    }
}

fn queried(asked: &QueryArguments) -> Result<BuiltinAnswer, BuiltinError> {
    let given = asked.json.get();
    // A string is the text of some JSON; any other value is meant itself.
    let text = match serde_json::from_str::<String>(given) {
        Ok(text) => Cow::Owned(text),
        Err(_) => Cow::Borrowed(given),
    };
    let outcome = run_jq(&text, &asked.filter);
    let outcome = outcome.map_err(|error| BuiltinError::Arguments(error.to_string()))?;
    let (mut result, count) = (outcome.text, outcome.values);
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
                    "filter": face::bounded_text("The jq program.", MAX_FILTER),
                }),
                &["json", "filter"],
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
