//! The tools that try each era, transport and direction, one thing each.

#![expect(deprecated, reason = "logging lives on in both eras")]

use std::sync::atomic::Ordering;
use std::time::Duration;

use rmcp::model::{CallToolResponse, LoggingLevel, Tool};
use serde_json::json;
use tokio::time::sleep;

use super::audience::Change;
use super::call::{Call, EarlyEnd, said};
use super::definitions::{bare_tool, tool, unknown};
use super::elicitation::{ask_name, roots, sample, sampled, told};
use super::shared::{GROWTH_LIMIT, ServerState};

/// The most steps of `matrix_progress`, and the length of each.
const STEP_LIMIT: u64 = 100;
const STEP: Duration = Duration::from_millis(10);

/// How long `matrix_wait` waits for its cancellation.
const WAIT_LIMIT: Duration = Duration::from_secs(60);

/// How long `matrix_log` waits before it answers. In a session over HTTP the SDK sends log messages
/// on the session's own stream, which may be slower than the answer's.
const LOG_LEAD: Duration = Duration::from_millis(100);

const LEVELS: [LoggingLevel; 8] = [
    LoggingLevel::Debug,
    LoggingLevel::Info,
    LoggingLevel::Notice,
    LoggingLevel::Warning,
    LoggingLevel::Error,
    LoggingLevel::Critical,
    LoggingLevel::Alert,
    LoggingLevel::Emergency,
];

pub(super) fn tools() -> Vec<Tool> {
    let text = json!({ "type": "string" });
    vec![
        tool("matrix_elicit", "Asks the user for a name", &json!({ "message": text })),
        tool("matrix_sample", "Asks the client's model", &json!({ "prompt": text })),
        bare_tool("matrix_roots", "Asks for the client's roots"),
        tool(
            "matrix_progress",
            "Reports progress at each step",
            &json!({ "steps": { "type": "integer", "minimum": 0, "maximum": STEP_LIMIT } }),
        ),
        bare_tool("matrix_wait", "Waits until it is cancelled"),
        bare_tool("matrix_waiting", "Says how many calls of `matrix_wait` are under way"),
        bare_tool("matrix_cancelled", "Says how many calls of `matrix_wait` were cancelled"),
        bare_tool("matrix_grow", "Adds a tool, a prompt and a resource, and tells of each"),
        tool("matrix_touch", "Tells the resource's subscribers of it", &json!({ "uri": text })),
        bare_tool("matrix_meta", "Answers with the request's `_meta` as JSON"),
        bare_tool("matrix_log", "Logs a message at each level"),
    ]
}

pub(super) async fn call(call: &Call) -> Result<CallToolResponse, EarlyEnd> {
    let shared = &call.server.shared;
    match call.name.as_str() {
        "matrix_elicit" => {
            let message = call.text_or("message", "What is your name?");
            let answer = call.ask("matrix_elicit", ask_name(message), None).await?;
            Ok(said(told(&answer)))
        }
        "matrix_sample" => {
            let question = sample(call.text_or("prompt", "Say hello"), 100);
            let answer = call.ask("matrix_sample", question, None).await?;
            Ok(said(format!("model={}, text={}", answer["model"], sampled(&answer))))
        }
        "matrix_roots" => {
            let answer = call.ask("matrix_roots", roots(), None).await?;
            let roots = answer["roots"].as_array().map(Vec::as_slice).unwrap_or_default();
            let uris: Vec<&str> = roots.iter().filter_map(|root| root["uri"].as_str()).collect();
            Ok(said(uris.join("\n")))
        }
        "matrix_progress" => progress(call).await,
        "matrix_wait" => wait(call).await,
        "matrix_waiting" => Ok(said(shared.waiting.load(Ordering::SeqCst).to_string())),
        "matrix_cancelled" => Ok(said(shared.cancelled.load(Ordering::SeqCst).to_string())),
        "matrix_grow" => grow(shared).await,
        "matrix_touch" => {
            let told = shared.audience.tell(Change::Resource(call.text("uri")?)).await;
            Ok(said(format!("told {told}")))
        }
        "matrix_meta" => Ok(said(json!(call.context.meta).to_string())),
        "matrix_log" => {
            for level in LEVELS {
                call.log(level, &format!("at level {}", json!(level))).await;
            }
            sleep(LOG_LEAD).await;
            Ok(said("logged"))
        }
        name if is_grown(name, shared.grown()) => Ok(said(format!("{name} was added later"))),
        name => Err(unknown(name)),
    }
}

pub(super) fn grown_tool(number: usize) -> String {
    format!("matrix_grown_{number}")
}

fn is_grown(name: &str, grown: usize) -> bool {
    (1..=grown).any(|number| grown_tool(number) == name)
}

async fn progress(call: &Call) -> Result<CallToolResponse, EarlyEnd> {
    let steps = call.number("steps", 3, STEP_LIMIT)?;
    let total = u32::try_from(steps).map_or(f64::MAX, f64::from);
    let mut reached = 0.0;
    for _ in 0..steps {
        sleep(STEP).await;
        reached += 1.0;
        call.progress(reached, total).await;
    }
    Ok(said(format!("took {steps} steps")))
}

async fn wait(call: &Call) -> Result<CallToolResponse, EarlyEnd> {
    let mut waiting = WaitGuard::begin(&call.server.shared);
    tokio::select! {
        () = call.context.ct.cancelled() => Err(EarlyEnd::Failure("cancelled".to_owned())),
        () = sleep(WAIT_LIMIT) => {
            waiting.ended = true;
            Err(EarlyEnd::Failure(format!("not cancelled within {} s", WAIT_LIMIT.as_secs())))
        }
    }
}

/// Counts a call while it waits and, if it ended early, whether it was cancelled or just dropped.
struct WaitGuard<'a> {
    shared: &'a ServerState,
    ended: bool,
}

impl<'a> WaitGuard<'a> {
    fn begin(shared: &'a ServerState) -> Self {
        shared.waiting.fetch_add(1, Ordering::SeqCst);
        Self { shared, ended: false }
    }
}

impl Drop for WaitGuard<'_> {
    fn drop(&mut self) {
        self.shared.waiting.fetch_sub(1, Ordering::SeqCst);
        if !self.ended {
            self.shared.cancelled.fetch_add(1, Ordering::SeqCst);
        }
    }
}

async fn grow(shared: &ServerState) -> Result<CallToolResponse, EarlyEnd> {
    let Some(number) = shared.grow() else {
        return Err(EarlyEnd::Failure(format!("grown {GROWTH_LIMIT} times already")));
    };
    let mut told = 0;
    for change in [Change::Tools, Change::Prompts, Change::Resources] {
        told += shared.audience.tell(change).await;
    }
    Ok(said(format!("{} was added, {told} notices were sent", grown_tool(number))))
}
