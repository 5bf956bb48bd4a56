//! The tools that run as tasks, for clients that know the extension.

use std::time::Duration;

use rmcp::ErrorData;
use rmcp::model::{
    CallToolResponse, CallToolResult, ClientCapabilities, ContentBlock, CreateTaskResult, Tool,
};
use rmcp::task_manager::{TaskContext, TaskExit, TaskFuture, TaskOptions};
use serde_json::{Value, json};
use tokio::time::sleep;

use super::call::{Call, EarlyEnd, said};
use super::definitions::{bare_tool, tool, unknown};
use super::elicitation::{ask_name, confirm, filled};

/// The longest that `slow_compute` may take, in seconds.
const SLOW_LIMIT_S: u64 = 300;

/// How many tasks may run at once.
const TASK_LIMIT: usize = 256;

/// How often a client should ask for a task's state.
const POLL_INTERVAL_MS: u64 = 200;

const FAILURE_AFTER: Duration = Duration::from_secs(1);

const NAMES: [&str; 7] = [
    "greet",
    "slow_compute",
    "failing_job",
    "protocol_error_job",
    "confirm_delete",
    "multi_input",
    "test_tool_with_task",
];

pub(super) fn tools() -> Vec<Tool> {
    let text = json!({ "type": "string" });
    vec![
        tool("greet", "Greets, never as a task", &json!({ "name": text })),
        tool(
            "slow_compute",
            "Takes as long as it is told to",
            &json!({
                "seconds": { "type": "integer", "minimum": 0, "maximum": SLOW_LIMIT_S },
                "label": text,
            }),
        ),
        bare_tool("failing_job", "Runs as a task that fails"),
        bare_tool("protocol_error_job", "Runs as a task that ends in a protocol error"),
        tool("confirm_delete", "Asks before it would delete", &json!({ "filename": text })),
        bare_tool("multi_input", "Runs as a task that asks two things at once"),
        bare_tool("test_tool_with_task", "Asks for a name, then goes on as a task"),
    ]
}

pub(super) fn is_one(name: &str) -> bool {
    NAMES.contains(&name)
}

pub(super) async fn call(call: &Call) -> Result<CallToolResponse, EarlyEnd> {
    match call.name.as_str() {
        "greet" => Ok(said(format!("Hello, {}!", call.text_or("name", "World")))),
        "slow_compute" => slow_compute(call).await,
        "failing_job" => {
            require_tasks(call)?;
            spawn(call, |context| Box::pin(fail_later(context)))
        }
        "protocol_error_job" => {
            require_tasks(call)?;
            spawn(call, |_| {
                let error = ErrorData::internal_error("the job broke down", None);
                Box::pin(async { Err(TaskExit::Error(error)) })
            })
        }
        "confirm_delete" => confirm_delete(call).await,
        "multi_input" => {
            require_tasks(call)?;
            spawn(call, |context| Box::pin(ask_twice(context)))
        }
        "test_tool_with_task" => {
            require_tasks(call)?;
            let answer = call.ask("user_name", ask_name("What is your name?"), None).await?;
            let text = format!("Hello, {}!", filled(&answer, "name"));
            spawn(call, |_| Box::pin(async { Ok(done(text)) }))
        }
        name => Err(unknown(name)),
    }
}

fn knows_tasks(call: &Call) -> bool {
    call.client().supports_tasks()
}

fn require_tasks(call: &Call) -> Result<(), ErrorData> {
    if knows_tasks(call) {
        return Ok(());
    }
    let required = ClientCapabilities::builder().enable_tasks().build();
    Err(ErrorData::missing_required_client_capability(required))
}

fn spawn(
    call: &Call,
    work: impl FnOnce(TaskContext) -> TaskFuture,
) -> Result<CallToolResponse, EarlyEnd> {
    let tasks = &call.server.shared.tasks;
    if tasks.running_task_count() >= TASK_LIMIT {
        let text = format!("{TASK_LIMIT} tasks are running: try again when some are done");
        return Err(EarlyEnd::Failure(text));
    }
    let options = TaskOptions::new().with_poll_interval_ms(POLL_INTERVAL_MS);
    Ok(CreateTaskResult::new(tasks.spawn(options, work)).into())
}

fn done(text: impl Into<String>) -> CallToolResult {
    CallToolResult::success(vec![ContentBlock::text(text)])
}

async fn slow_compute(call: &Call) -> Result<CallToolResponse, EarlyEnd> {
    let time = Duration::from_secs(call.number("seconds", 1, SLOW_LIMIT_S)?);
    let text = format!("{} took {} s", call.text_or("label", "the work"), time.as_secs());
    if !knows_tasks(call) {
        sleep(time).await;
        return Ok(said(text));
    }
    spawn(call, move |context| {
        Box::pin(async move {
            tokio::select! {
                () = context.cancelled() => Err(TaskExit::Cancelled),
                () = sleep(time) => Ok(done(text)),
            }
        })
    })
}

async fn fail_later(context: TaskContext) -> Result<CallToolResult, TaskExit> {
    tokio::select! {
        () = context.cancelled() => Err(TaskExit::Cancelled),
        () = sleep(FAILURE_AFTER) => {
            Ok(CallToolResult::error(vec![ContentBlock::text("the job failed")]))
        }
    }
}

async fn confirm_delete(call: &Call) -> Result<CallToolResponse, EarlyEnd> {
    let file = call.text_or("filename", "the file").to_owned();
    let question = confirm(&format!("Delete {file}?"), "confirm");
    let told = move |answer: &Value| {
        let verb = if answer["content"]["confirm"] == true { "Deleted" } else { "Kept" };
        format!("{verb} {file}")
    };
    if !knows_tasks(call) {
        let answer = call.ask("confirm", question, None).await?;
        return Ok(said(told(&answer)));
    }
    spawn(call, move |context| {
        Box::pin(async move {
            let answer = context.request_input("confirm", question).await?;
            Ok(done(told(&answer)))
        })
    })
}

async fn ask_twice(context: TaskContext) -> Result<CallToolResult, TaskExit> {
    let (name, confirmed) = tokio::try_join!(
        context.request_input("name", ask_name("What is your name?")),
        context.request_input("confirm", confirm("Go on?", "confirm")),
    )?;
    let confirmed = confirmed["content"]["confirm"] == true;
    Ok(done(format!("name: {}, confirmed: {confirmed}", filled(&name, "name"))))
}
