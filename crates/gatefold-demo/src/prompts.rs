//! Prompts: requests that a person starts with one click, worded so that they lead to this server's
//! tools.

use rmcp::{
    ErrorData,
    model::{GetPromptResult, JsonObject, Prompt, PromptArgument, PromptMessage, Role},
};
use serde_json::Value;

/// A text with one gap in it.
struct Template {
    server: &'static str,
    name: &'static str,
    about: &'static str,
    argument: &'static str,
    argument_about: &'static str,
    before: &'static str,
}

const TEMPLATES: [Template; 2] = [
    Template {
        server: "calendar",
        name: "plan_meeting",
        about: "Find a time for a meeting and put it into the calendar",
        argument: "topic",
        argument_about: "What the meeting is about",
        before: "Find an hour next week that is free in my calendar, propose it to me, and create \
                 the event when I agree. The meeting is about: ",
    },
    Template {
        server: "text",
        name: "proofread",
        about: "Correct a text and say what was changed",
        argument: "text",
        argument_about: "The text to correct",
        before: "Correct spelling and grammar, keep the tone, and list each change. The text: ",
    },
];

pub(crate) fn list(server: &str) -> Vec<Prompt> {
    let templates = TEMPLATES.iter().filter(|template| template.server == server);
    let prompt = |template: &Template| {
        let argument = PromptArgument::new(template.argument)
            .with_description(template.argument_about)
            .with_required(true);
        Prompt::new(template.name, Some(template.about), Some(vec![argument]))
    };
    templates.map(prompt).collect()
}

pub(crate) fn get(
    server: &str,
    name: &str,
    arguments: &JsonObject,
) -> Result<GetPromptResult, ErrorData> {
    let wrong = |message: String| ErrorData::invalid_params(message, None);
    let is_meant = |template: &&Template| template.server == server && template.name == name;
    let template =
        TEMPLATES.iter().find(is_meant).ok_or_else(|| wrong(format!("unknown prompt `{name}`")))?;
    let given = arguments
        .get(template.argument)
        .and_then(Value::as_str)
        .ok_or_else(|| wrong(format!("missing argument `{}`", template.argument)))?;
    let text = format!("{}{given}", template.before);
    Ok(GetPromptResult::new(vec![PromptMessage::new_text(Role::User, text)]))
}
