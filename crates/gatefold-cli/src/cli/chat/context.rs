//! What a prompt holds, and what each part of it costs.

use gatefold_agent::{HiddenParts, ToolOffer, Transcript};
use gatefold_model::{AssistantPart, CallArguments, RawJson, Turn, UserMessage, UserPart};

use crate::cli::output::Output;
use crate::cli::table::{Table, number_of};
use crate::cli::tokens;

/// The texts of one part of a prompt.
struct PromptPart {
    title: String,
    texts: Vec<String>,
}

/// Counts the parts of the next prompt and prints them.
pub(super) async fn print(
    offer: &ToolOffer,
    transcript: Option<&Transcript>,
    context_tokens: Option<u64>,
    output: &Output,
) -> anyhow::Result<()> {
    let mut parts = offer_parts(offer);
    parts.extend(conversation_parts(transcript));
    let texts: Vec<_> = parts.iter().flat_map(|part| part.texts.iter().cloned()).collect();
    let mut counts = tokens::count(&texts).await?.into_iter();
    let mut table = Table::new(&["part", "tokens"]).numbers(&[1]);
    let mut sum = 0;
    for part in &parts {
        let tokens: usize = counts.by_ref().take(part.texts.len()).sum();
        sum += tokens;
        table.row([part.title.clone(), tokens.to_string()]);
    }
    table.row([output.style().strong("all"), sum.to_string()]);
    output.lines(&table.lines(output.style()));
    let note = match context_tokens {
        Some(context) => {
            let percent = (sum as u64).saturating_mul(100).div_ceil(context.max(1));
            format!("{percent} % of the model's {context} tokens, counted with o200k")
        }
        None => {
            "counted with o200k; `context_tokens` of the model says how many it takes".to_owned()
        }
    };
    output.line(&output.style().faint(&note));
    if let Some(note) = transcript.and_then(hidden_note) {
        output.line(&output.style().faint(&note));
    }
    Ok(())
}

/// Counts what a conversation has of a prompt.
pub(super) async fn count_shown(transcript: &Transcript) -> anyhow::Result<usize> {
    let parts = conversation_parts(Some(transcript));
    let texts: Vec<_> = parts.into_iter().flat_map(|part| part.texts).collect();
    Ok(tokens::count(&texts).await?.into_iter().sum())
}

/// What of the conversation the model does not see as it was.
fn hidden_note(transcript: &Transcript) -> Option<String> {
    let HiddenParts { offloaded_results, replaced_rounds } = transcript.hidden();
    let mut hidden = Vec::new();
    if replaced_rounds > 0 {
        hidden.push(format!("a work card for {}", number_of(replaced_rounds, "older answer")));
    }
    if offloaded_results > 0 {
        hidden.push(format!("previews of {}", number_of(offloaded_results, "older result")));
    }
    let hidden = hidden.join(" and ");
    (!hidden.is_empty()).then(|| {
        format!("compacted: the model sees {hidden}, and reads the rest where it needs to")
    })
}

fn part(title: &str, texts: Vec<String>) -> PromptPart {
    PromptPart { title: title.to_owned(), texts }
}

fn offer_parts(offer: &ToolOffer) -> Vec<PromptPart> {
    let mut parts = vec![part("instructions", vec![offer.instructions.clone()])];
    parts.extend(offer.tools.iter().map(|tool| {
        let schema = RawJson::of(tool.schema());
        let text = format!("{} {} {}", tool.name(), tool.description(), schema.text());
        part(&format!("tool {}", tool.name()), vec![text])
    }));
    parts
}

fn conversation_parts(transcript: Option<&Transcript>) -> Vec<PromptPart> {
    let shown = transcript.map(Transcript::prompt_history);
    let card = transcript.and_then(Transcript::card_text);
    let (mut said, mut answered, mut told) = (Vec::new(), Vec::new(), Vec::new());
    for turn in shown.as_ref().map(|shown| shown.turns()).unwrap_or_default() {
        match turn {
            // It is said where a person speaks, but is counted by itself.
            Turn::User(message) if card.is_some_and(|card| is_text(message, card)) => {}
            Turn::User(message) => said.extend(message.parts().iter().map(text_of)),
            Turn::Round(round) => {
                answered.extend(round.said().parts.iter().map(write_part));
                let results = round.results().iter().flat_map(|result| &result.parts);
                told.extend(results.map(text_of));
            }
        }
    }
    let card = card.map(|card| part("work card", vec![card.to_owned()]));
    let spoken = [
        part("your messages", said),
        part("the model's answers and calls", answered),
        part("results of calls", told),
    ];
    card.into_iter().chain(spoken).collect()
}

fn is_text(message: &UserMessage, text: &str) -> bool {
    matches!(message.parts(), [UserPart::Text(own)] if own == text)
}

fn text_of(part: &UserPart) -> String {
    match part {
        UserPart::Text(text) => text.clone(),
        UserPart::Image(_) => "[an image]".to_owned(),
    }
}

fn write_part(part: &AssistantPart) -> String {
    match part {
        AssistantPart::Text { text, .. } | AssistantPart::Thinking { text, .. } => text.clone(),
        AssistantPart::Call(call) => match &call.arguments {
            CallArguments::Object(json) => format!("{} {}", call.name, json.text()),
            CallArguments::Malformed { .. } => call.name.clone(),
        },
        AssistantPart::Other(json) => json.text().to_owned(),
    }
}
