//! What a prompt holds, and what each part of it costs.

use gatefold_agent::ToolOffer;
use gatefold_model::{AssistantPart, CallArguments, RawJson, Turn, UserPart};

use crate::cli::output::Output;
use crate::cli::table::Table;
use crate::cli::tokens;

/// The texts of one part of a prompt.
struct PromptPart {
    title: String,
    texts: Vec<String>,
}

/// Counts the parts of the next prompt and prints them.
pub(super) async fn print(
    offer: &ToolOffer,
    turns: &[Turn],
    context_tokens: Option<u64>,
    output: &Output,
) -> anyhow::Result<()> {
    let parts = parts(offer, turns);
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
    Ok(())
}

fn parts(offer: &ToolOffer, turns: &[Turn]) -> Vec<PromptPart> {
    let part = |title: &str, texts: Vec<String>| PromptPart { title: title.to_owned(), texts };
    let mut parts = vec![part("instructions", vec![offer.instructions.clone()])];
    parts.extend(offer.tools.iter().map(|tool| {
        let schema = RawJson::of(tool.schema());
        let text = format!("{} {} {}", tool.name(), tool.description(), schema.text());
        part(&format!("tool {}", tool.name()), vec![text])
    }));
    let (mut said, mut answered, mut told) = (Vec::new(), Vec::new(), Vec::new());
    for turn in turns {
        match turn {
            Turn::User(message) => said.extend(message.parts().iter().map(text_of)),
            Turn::Round(round) => {
                answered.extend(round.said().parts.iter().map(write_part));
                let results = round.results().iter().flat_map(|result| &result.parts);
                told.extend(results.map(text_of));
            }
        }
    }
    parts.push(part("your messages", said));
    parts.push(part("the model's answers and calls", answered));
    parts.push(part("results of calls", told));
    parts
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
