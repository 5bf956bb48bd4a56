//! The tool list, and the tools that answer at once or send messages before they answer.

#![expect(deprecated, reason = "logging lives on in both eras")]

use std::sync::atomic::Ordering;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use rmcp::ErrorData;
use rmcp::model::{CallToolResponse, CallToolResult, ContentBlock, JsonObject, LoggingLevel, Tool};
use serde_json::json;
use tokio::time::sleep;

use super::audience::Change;
use super::call::{Call, EarlyEnd, said};
use super::definitions::{bare_tool, object, tool, unknown};
use super::sessions::OwnStream;
use super::shared::ServerState;
use super::{contents, elicitation, input_required, matrix, tasks};

/// The pause between messages of a tool.
const PAUSE: Duration = Duration::from_millis(50);

/// The time between the end of the stream and the answer. Well above the time after which the
/// client comes back: the SDK keeps no answer for a stream that nobody reads.
const AWAY: Duration = Duration::from_millis(400);

static TOOLS: LazyLock<Vec<Tool>> = LazyLock::new(|| {
    // The suite calls the first tool without arguments.
    let mut tools = simple_tools();
    tools.extend(input_required::tools());
    tools.extend(tasks::tools());
    tools.extend(matrix::tools());
    tools
});

pub(super) fn list(shared: &ServerState) -> Vec<Tool> {
    let mut tools = TOOLS.clone();
    if shared.passing_tool.load(Ordering::SeqCst) {
        tools.push(bare_tool("test_passing_tool", "Is there after every other change"));
    }
    let grown = (1..=shared.grown()).map(|number| {
        let schema = object(json!({ "type": "object" }));
        Tool::new(matrix::grown_tool(number), "Was added by `matrix_grow`", schema)
    });
    tools.extend(grown);
    tools
}

fn simple_tools() -> Vec<Tool> {
    let with_text = |name, description, argument: &str| {
        let schema = json!({
            "type": "object",
            "properties": { argument: { "type": "string" } },
            "required": [argument],
        });
        Tool::new(name, description, object(schema))
    };
    vec![
        bare_tool("test_simple_text", "Answers with a text"),
        bare_tool("test_image_content", "Answers with an image"),
        bare_tool("test_audio_content", "Answers with a sound"),
        bare_tool("test_embedded_resource", "Answers with a resource"),
        bare_tool("test_multiple_content_types", "Answers with a text, an image and a resource"),
        bare_tool("test_tool_with_logging", "Logs three messages on the way"),
        bare_tool("test_logging_tool", "Logs a message, if the client wants to hear of it"),
        bare_tool("test_error_handling", "Always fails"),
        bare_tool("test_tool_with_progress", "Reports progress three times"),
        with_text("test_sampling", "Asks the client's model", "prompt"),
        with_text("test_elicitation", "Asks the user for a name and an address", "message"),
        bare_tool("test_elicitation_sep1034_defaults", "Asks with a default for each type"),
        bare_tool("test_elicitation_sep1330_enums", "Asks with each way to write a choice"),
        bare_tool("test_streaming_elicitation", "Reports progress, then asks the user"),
        bare_tool("test_missing_capability", "Needs a client that offers sampling"),
        bare_tool("test_reconnection", "Ends its event stream before it answers"),
        bare_tool("test_trigger_tool_change", "Adds a tool, or takes it away again"),
        bare_tool("test_trigger_prompt_change", "Adds a prompt, or takes it away again"),
        Tool::new("json_schema_2020_12_tool", "Has a schema of many keywords", rich_schema()),
        tool(
            "test_custom_header",
            "Repeats the region, which the header `Mcp-Param-Region` must repeat too",
            &json!({ "region": { "type": "string", "x-mcp-header": "Region" } }),
        ),
    ]
}

fn rich_schema() -> Arc<JsonObject> {
    object(json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": {
            "address": {
                "$anchor": "addressDef",
                "type": "object",
                "properties": { "street": { "type": "string" }, "city": { "type": "string" } },
            },
        },
        "properties": {
            "name": { "type": "string" },
            "address": { "$ref": "#/$defs/address" },
            "contactMethod": { "type": "string", "enum": ["phone", "email"] },
            "phone": { "type": "string" },
            "email": { "type": "string" },
        },
        "allOf": [{ "anyOf": [{ "required": ["phone"] }, { "required": ["email"] }] }],
        "if": {
            "properties": { "contactMethod": { "const": "phone" } },
            "required": ["contactMethod"],
        },
        "then": { "required": ["phone"] },
        "else": { "required": ["email"] },
        "additionalProperties": false,
    }))
}

pub(super) async fn call(call: &Call) -> Result<CallToolResponse, ErrorData> {
    let name = call.name.as_str();
    let outcome = if name.starts_with("matrix_") {
        matrix::call(call).await
    } else if name.starts_with("test_input_required_result_") {
        input_required::call(call).await
    } else if tasks::is_one(name) {
        tasks::call(call).await
    } else {
        call_simple(call).await
    };
    match outcome {
        Ok(response) => Ok(response),
        Err(EarlyEnd::Input(required)) => Ok((*required).into()),
        Err(EarlyEnd::Failure(text)) => {
            Ok(CallToolResult::error(vec![ContentBlock::text(text)]).into())
        }
        Err(EarlyEnd::Fault(error)) => Err(error),
    }
}

async fn call_simple(call: &Call) -> Result<CallToolResponse, EarlyEnd> {
    let success = |content| Ok(CallToolResult::success(content).into());
    match call.name.as_str() {
        "test_simple_text" => Ok(said("This is a simple text response for testing.")),
        "test_image_content" => success(vec![contents::image()]),
        "test_audio_content" => success(vec![ContentBlock::audio(contents::WAV, "audio/wav")]),
        "test_embedded_resource" => success(vec![contents::embedded(
            "test://embedded-resource",
            "text/plain",
            "This is an embedded resource content.",
        )]),
        "test_multiple_content_types" => success(vec![
            ContentBlock::text("Multiple content types test:"),
            contents::image(),
            contents::embedded(
                "test://mixed-content-resource",
                "application/json",
                r#"{"test":"data","value":123}"#,
            ),
        ]),
        "test_error_handling" => Err(EarlyEnd::Failure(
            "This tool intentionally returns an error for testing".to_owned(),
        )),
        "json_schema_2020_12_tool" => Ok(said("The arguments were taken")),
        "test_custom_header" => Ok(said(format!("region: {}", call.text_or("region", "none")))),
        "test_passing_tool" => Ok(said("This tool may be gone soon")),
        _ => call_speaking(call).await,
    }
}

/// The tools that send or ask something before they answer.
async fn call_speaking(call: &Call) -> Result<CallToolResponse, EarlyEnd> {
    match call.name.as_str() {
        "test_tool_with_logging" => {
            call.log(LoggingLevel::Info, "Tool execution started").await;
            sleep(PAUSE).await;
            call.log(LoggingLevel::Info, "Tool processing data").await;
            sleep(PAUSE).await;
            call.log(LoggingLevel::Info, "Tool execution completed").await;
            // It travels on another stream than the answer, so it might arrive after it.
            sleep(PAUSE).await;
            Ok(said("Tool with logging executed"))
        }
        "test_logging_tool" => {
            call.log(LoggingLevel::Info, "Tool execution started").await;
            Ok(said("Logged what the client wants to hear of"))
        }
        "test_tool_with_progress" => {
            for progress in [0.0, 50.0, 100.0] {
                call.progress(progress, 100.0).await;
                sleep(PAUSE).await;
            }
            Ok(said("Progress was reported"))
        }
        "test_sampling" => {
            let question = elicitation::sample(call.text("prompt")?, 100);
            let answer = call.ask("sample", question, None).await?;
            Ok(said(format!("LLM response: {}", elicitation::sampled(&answer))))
        }
        "test_elicitation" => {
            let properties = json!({
                "username": { "type": "string", "description": "User's response" },
                "email": { "type": "string", "description": "User's email address" },
            });
            let message = call.text("message")?;
            let question = elicitation::form(message, &properties, &["username", "email"]);
            let answer = call.ask("user", question, None).await?;
            Ok(said(format!("User response: {}", elicitation::told(&answer))))
        }
        "test_elicitation_sep1034_defaults" => ask(call, elicitation::with_defaults()).await,
        "test_elicitation_sep1330_enums" => ask(call, elicitation::with_choices()).await,
        "test_streaming_elicitation" => {
            call.progress(1.0, 2.0).await;
            ask(call, elicitation::ask_name("What is your name?")).await
        }
        "test_missing_capability" => {
            let answer = call.ask("sample", elicitation::sample("Say hello", 10), None).await?;
            Ok(said(elicitation::sampled(&answer)))
        }
        "test_reconnection" => {
            if let Some(stream) = call.context.extensions.get::<OwnStream>() {
                stream.close().await;
                sleep(AWAY).await;
            }
            Ok(said("The answer came after the stream was closed"))
        }
        "test_trigger_tool_change" => {
            call.server.shared.passing_tool.fetch_not(Ordering::SeqCst);
            tell(call, Change::Tools).await
        }
        "test_trigger_prompt_change" => {
            call.server.shared.passing_prompt.fetch_not(Ordering::SeqCst);
            tell(call, Change::Prompts).await
        }
        name => Err(unknown(name)),
    }
}

async fn ask(
    call: &Call,
    question: rmcp::model::InputRequest,
) -> Result<CallToolResponse, EarlyEnd> {
    let answer = call.ask("answer", question, None).await?;
    Ok(said(format!("Elicitation completed: {}", elicitation::told(&answer))))
}

async fn tell(call: &Call, change: Change<'_>) -> Result<CallToolResponse, EarlyEnd> {
    let told = call.server.shared.audience.tell(change).await;
    Ok(said(format!("Changed the list and told {told} listeners")))
}
