//! What a model is asked about one tool, and how its answer is read.

use gatefold_catalog::{Tool, ToolTexts, call_signature};
use gatefold_model::{History, ModelClient, ModelRequest, UserMessage};
use serde::Deserialize;

use crate::cli::model_options::{NoAnswer, ask};

const TASK: &str = "\
You write texts by which people find tools in a catalogue. You are given one tool. Answer with one \
JSON object and nothing else:
{\"summary\": \"...\", \"requests\": [\"...\", \"...\", \"...\"]}
summary: one sentence of at most 20 words: what the tool does, on what, in which service.
requests: three sentences that different people would say when they need this tool, in their own \
everyday words, without the tool's name. One of them names the service, one describes the situation.";

/// The most characters of a tool's description that the model reads.
const DESCRIPTION: usize = 2000;

/// Has the model write about a tool.
pub(super) async fn describe(tool: &Tool, model: &ModelClient) -> Result<ToolTexts, NoAnswer> {
    let request = UserMessage::text(about(tool)).expect("it begins with a word of ours");
    let history = History::new(request);
    let answer = ask(model, ModelRequest::new(TASK, &history)).await?;
    read(tool, &answer.message.text()).map_err(|reason| NoAnswer { reason, is_final: false })
}

/// What the model is told of a tool.
fn about(tool: &Tool) -> String {
    let definition = tool.definition();
    let described = definition.description().or(definition.title()).unwrap_or_default();
    let described: String = described.chars().take(DESCRIPTION).collect();
    let signature = call_signature(tool);
    format!(
        "Service: {}\nTool: {}\nCall: {signature}\nDescription: {described}",
        tool.domain(),
        definition.name()
    )
}

/// The model's answer, as it wrote it.
#[derive(Deserialize)]
struct WrittenAnswer {
    #[serde(default)]
    summary: String,
    #[serde(default)]
    requests: Vec<String>,
}

/// The texts in an answer: models put JSON between other words and marks.
fn read(tool: &Tool, answer: &str) -> Result<ToolTexts, String> {
    let object =
        answer.find('{').zip(answer.rfind('}')).and_then(|(from, to)| answer.get(from..=to));
    let written = object.and_then(|object| serde_json::from_str(object).ok());
    let WrittenAnswer { summary, requests } =
        written.ok_or("the model's answer is not the JSON object that it was asked for")?;
    let mut kept: Vec<String> = Vec::new();
    for request in requests.iter().map(|request| cleaned(request)) {
        if !request.is_empty() && !kept.contains(&request) && kept.len() < ToolTexts::REQUESTS {
            kept.push(request);
        }
    }
    if kept.is_empty() {
        return Err("the model's answer has no request".to_owned());
    }
    let digest = tool.definition().digest();
    Ok(ToolTexts { digest, summary: cleaned(&summary), requests: kept })
}

/// On one line, and as long as a text may be.
fn cleaned(text: &str) -> String {
    let words: Vec<_> = text.split(|c: char| c.is_whitespace() || c.is_control()).collect();
    let words: Vec<_> = words.into_iter().filter(|word| !word.is_empty()).collect();
    words.join(" ").chars().take(ToolTexts::LENGTH).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_one_line_of_limited_length() {
        assert_eq!(cleaned(" a\n\tb\u{7}c  "), "a b c");
        assert_eq!(cleaned(&"x".repeat(400)).len(), ToolTexts::LENGTH);
    }
}
