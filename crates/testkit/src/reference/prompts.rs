//! The prompts, and completions of their arguments.

use std::sync::atomic::Ordering;

use rmcp::ErrorData;
use rmcp::model::{
    CompleteRequestParams, CompleteResult, CompletionInfo, ContentBlock, GetPromptResponse,
    GetPromptResult, Prompt, PromptArgument, PromptMessage, Role,
};
use serde_json::json;

use super::call::{Call, EarlyEnd};
use super::contents;
use super::elicitation::{filled, form};
use super::shared::ServerState;

/// The completions of any argument.
const WORDS: [&str; 6] = ["paris", "park", "party", "test", "testValue1", "testValue2"];

pub(super) fn list(shared: &ServerState) -> Vec<Prompt> {
    let argument = |name: &str, description: &str| {
        PromptArgument::new(name).with_description(description).with_required(true)
    };
    let arguments = vec![argument("arg1", "First word"), argument("arg2", "Second word")];
    let uri = vec![argument("resourceUri", "Address of the resource to embed")];
    let mut prompts = vec![
        Prompt::new("test_simple_prompt", Some("A prompt of one message"), None),
        Prompt::new("test_prompt_with_arguments", Some("Repeats its arguments"), Some(arguments)),
        Prompt::new("test_prompt_with_embedded_resource", Some("Embeds a resource"), Some(uri)),
        Prompt::new("test_prompt_with_image", Some("Shows an image"), None),
        Prompt::new("test_input_required_result_prompt", Some("Asks for its context"), None),
    ];
    if shared.passing_prompt.load(Ordering::SeqCst) {
        prompts.push(Prompt::new(PASSING, Some("Is there after every other change"), None));
    }
    let grown = (1..=shared.grown())
        .map(|number| Prompt::new(grown_prompt(number), Some("Was added by `matrix_grow`"), None));
    prompts.extend(grown);
    prompts
}

const PASSING: &str = "test_passing_prompt";

fn grown_prompt(number: usize) -> String {
    format!("matrix_grown_prompt_{number}")
}

pub(super) async fn get(call: &Call) -> Result<GetPromptResponse, ErrorData> {
    match messages(call).await {
        Ok(messages) => Ok(GetPromptResult::new(messages).into()),
        Err(EarlyEnd::Input(required)) => Ok((*required).into()),
        Err(EarlyEnd::Failure(text)) => Err(ErrorData::internal_error(text, None)),
        Err(EarlyEnd::Fault(error)) => Err(error),
    }
}

async fn messages(call: &Call) -> Result<Vec<PromptMessage>, EarlyEnd> {
    let user = |content| PromptMessage::new(Role::User, content);
    let text = |text: &str| user(ContentBlock::text(text));
    Ok(match call.name.as_str() {
        "test_simple_prompt" => vec![text("This is a simple prompt for testing.")],
        "test_prompt_with_arguments" => {
            let (first, second) = (call.text("arg1")?, call.text("arg2")?);
            vec![text(&format!("Prompt with arguments: arg1='{first}', arg2='{second}'"))]
        }
        "test_prompt_with_embedded_resource" => vec![
            user(contents::embedded(
                call.text("resourceUri")?,
                "text/plain",
                "Embedded resource content for testing.",
            )),
            text("Please process the embedded resource above."),
        ],
        "test_prompt_with_image" => {
            vec![user(contents::image()), text("Please analyze the image above.")]
        }
        "test_input_required_result_prompt" => {
            let context = json!({ "context": { "type": "string" } });
            let question = form("What context should the prompt use?", &context, &["context"]);
            let answer = call.ask("user_context", question, None).await?;
            vec![text(&format!("Use this context: {}", filled(&answer, "context")))]
        }
        name if list(&call.server.shared).iter().any(|prompt| prompt.name == name) => {
            vec![text("This prompt was added later.")]
        }
        name => {
            let error = ErrorData::invalid_params(format!("unknown prompt `{name}`"), None);
            return Err(error.into());
        }
    })
}

pub(super) fn complete(request: &CompleteRequestParams) -> Result<CompleteResult, ErrorData> {
    let begun = &request.argument.value;
    let words = WORDS.iter().filter(|word| word.starts_with(begun.as_str()));
    let words = words.map(|word| (*word).to_owned()).collect();
    let completion = CompletionInfo::with_all_values(words)
        .map_err(|error| ErrorData::internal_error(error, None))?;
    Ok(CompleteResult::new(completion))
}
