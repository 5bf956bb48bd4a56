//! A question of policy or of a source, put to the person at the terminal.

use std::sync::Arc;

use gatefold_catalog::by_ends;
use gatefold_dispatch::{Answer, Question, WHOLE_ARGUMENTS};
use inquire::{Confirm, InquireError, MultiSelect, Select, Text};
use serde::Deserialize;
use serde_json::value::to_raw_value;
use serde_json::{Map, Value, json};

use crate::cli::approvals::indent;
use crate::cli::output::Output;
use crate::cli::terminal::Terminal;
use crate::cli::visible::on_one_line;

/// What became of a question.
pub(super) enum Reply {
    Answer(Answer),
    /// The person pressed Ctrl-C, which is also for the turn.
    Interrupted(Answer),
}

/// What the person wants next.
enum FormStep {
    Reply(Reply),
    /// To see the arguments whole before anything counts.
    View,
}

/// What a question has (MCP, elicitation): a message, and a form or an address.
#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct Elicitation {
    message: String,
    /// Of a question that is answered at this address.
    url: Option<String>,
    requested_schema: FormSchema,
    #[serde(rename = "_meta")]
    meta: Map<String, Value>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct FormSchema {
    properties: Map<String, Value>,
    required: Vec<String>,
}

/// Asks, and waits until the person has answered.
pub(super) async fn ask(question: &Question, output: &Output) -> Reply {
    let asked: Elicitation = serde_json::from_str(question.params.get()).unwrap_or_default();
    output.line("");
    for line in asked.message.lines() {
        output.line(line);
    }
    if let Some(url) = &asked.url {
        output.line(&format!("  {url}"));
    }
    let whole = longer_arguments(&asked);
    let asked = Arc::new(asked);
    let _terminal = Terminal::kept();
    loop {
        let (asked, has_more) = (asked.clone(), whole.is_some());
        // Nobody may ever answer, so the waiting thread is one that a signal can leave behind.
        let choice = tokio::task::spawn_blocking(move || choose(&asked, has_more)).await;
        match choice {
            Ok(FormStep::Reply(reply)) => return reply,
            Ok(FormStep::View) => output.lines(&indent(whole.as_deref().unwrap_or_default())),
            Err(_) => return Reply::Answer(answer(&json!({ "action": "cancel" }))),
        }
    }
}

/// The arguments of a call that needs approval, if the message shows less of them.
fn longer_arguments(asked: &Elicitation) -> Option<String> {
    let whole = by_ends(asked.meta.get(WHOLE_ARGUMENTS)?.as_str()?, usize::MAX / 4);
    (!asked.message.contains(&whole)).then_some(whole)
}

fn choose(asked: &Elicitation, has_more: bool) -> FormStep {
    let filled = if asked.url.is_some() {
        agree("Go on, once you have opened it?", true).map(|yes| yes.then(Map::new))
    } else if has_more {
        match decide(&asked.requested_schema) {
            Ok(None) => return FormStep::View,
            decided => decided,
        }
    } else {
        fill(&asked.requested_schema).map(Some)
    };
    FormStep::Reply(match filled {
        Ok(Some(content)) => {
            Reply::Answer(answer(&json!({ "action": "accept", "content": content })))
        }
        Ok(None) => Reply::Answer(answer(&json!({ "action": "decline" }))),
        Err(InquireError::OperationInterrupted) => {
            Reply::Interrupted(answer(&json!({ "action": "cancel" })))
        }
        Err(_) => Reply::Answer(answer(&json!({ "action": "cancel" }))),
    })
}

/// The yes or no to what the message shows only a part of. None if the person wants to see all of it.
fn decide(schema: &FormSchema) -> Result<Option<Map<String, Value>>, InquireError> {
    let mut content = Map::new();
    for (name, field) in &schema.properties {
        let title = on_one_line(field["title"].as_str().unwrap_or(name));
        let typed = Text::new(&format!("{title} (y/N, v shows all arguments)")).prompt()?;
        let typed = typed.trim().to_lowercase();
        if typed == "v" {
            return Ok(None);
        }
        // Anything else means no, as Enter does.
        content.insert(name.clone(), matches!(&*typed, "y" | "yes").into());
    }
    Ok(Some(content))
}

fn answer(value: &Value) -> Answer {
    Answer(to_raw_value(value).expect("this is JSON"))
}

/// The fields with the person's answers.
fn fill(schema: &FormSchema) -> Result<Map<String, Value>, InquireError> {
    let mut content = Map::new();
    for (name, field) in &schema.properties {
        let title = field["title"].as_str().unwrap_or(name);
        let asked = match field["description"].as_str() {
            Some(more) => on_one_line(&format!("{title} ({more})")),
            None => on_one_line(title),
        };
        if let Some(value) = value(field, &asked, schema.required.contains(name))? {
            content.insert(name.clone(), value);
        }
    }
    Ok(content)
}

/// The person's value for one field. None if it was left out.
fn value(field: &Value, asked: &str, is_required: bool) -> Result<Option<Value>, InquireError> {
    let choices = choices(field);
    match field["type"].as_str() {
        Some("boolean") => Ok(Some(agree(asked, field["default"] == true)?.into())),
        Some("array") => {
            let items = self::choices(&field["items"]);
            let titles: Vec<_> = items.iter().map(|(_, title)| title.clone()).collect();
            let chosen = MultiSelect::new(asked, titles).raw_prompt()?;
            let chosen = chosen.into_iter().map(|one| items[one.index].0.clone());
            Ok(Some(chosen.collect::<Vec<_>>().into()))
        }
        _ if !choices.is_empty() => {
            let titles: Vec<_> = choices.iter().map(|(_, title)| title.clone()).collect();
            let chosen = Select::new(asked, titles).raw_prompt()?;
            Ok(Some(choices[chosen.index].0.clone().into()))
        }
        kind => ask_typed(field, asked, is_required, kind),
    }
}

/// A text or a number. It is asked for again until it is one.
fn ask_typed(
    field: &Value,
    asked: &str,
    is_required: bool,
    kind: Option<&str>,
) -> Result<Option<Value>, InquireError> {
    let default = match &field["default"] {
        Value::String(text) => on_one_line(text),
        Value::Null => String::new(),
        other => other.to_string(),
    };
    loop {
        let text = Text::new(asked).with_initial_value(&default).prompt()?;
        let read = match kind {
            _ if text.trim().is_empty() => None,
            Some("integer") => text.trim().parse::<i64>().ok().map(Value::from),
            Some("number") => text.trim().parse::<f64>().ok().map(Value::from),
            _ => Some(text.clone().into()),
        };
        if read.is_some() || (text.trim().is_empty() && !is_required) {
            return Ok(read);
        }
    }
}

/// The values that a field may have, with what people are shown of each.
fn choices(field: &Value) -> Vec<(String, String)> {
    let titled = ["oneOf", "anyOf"].into_iter().find_map(|key| field[key].as_array());
    if let Some(titled) = titled {
        let choice = |one: &Value| {
            let value = one["const"].as_str()?;
            let title = one["title"].as_str().unwrap_or(value);
            Some((value.to_owned(), on_one_line(title)))
        };
        return titled.iter().filter_map(choice).collect();
    }
    let names = &field["enumNames"];
    let values = field["enum"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let choice = |(at, value): (usize, &str)| {
        (value.to_owned(), on_one_line(names[at].as_str().unwrap_or(value)))
    };
    values.enumerate().map(choice).collect()
}

fn agree(question: &str, default: bool) -> Result<bool, InquireError> {
    Confirm::new(question).with_default(default).prompt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn choices_are_values_with_what_people_see() {
        let plain = json!({ "type": "string", "enum": ["a", "b\u{1b}"], "enumNames": ["A"] });
        let titled = json!({ "oneOf": [{ "const": "x", "title": "The x" }, { "const": "y" }] });
        let seen = |field: &Value| {
            let shown = choices(field);
            shown.iter().map(|(value, title)| format!("{value}={title}")).collect::<Vec<_>>()
        };
        assert_eq!(seen(&plain), ["a=A", "b\u{1b}=b␛"]);
        assert_eq!(seen(&titled), ["x=The x", "y=y"]);
        assert!(seen(&json!({ "type": "string" })).is_empty());
    }
}
