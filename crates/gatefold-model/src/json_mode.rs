//! Calls for models whose API has none: as a JSON object in their text.

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::arguments::without_fence;
use crate::{
    AssistantMessage, AssistantPart, CallArguments, Fields, History, ModelAnswer, ModelRequest,
    RawJson, Round, StopReason, ToolCall, ToolChoice, ToolResult, Turn, UserMessage, UserPart,
};

/// How far an endpoint forces the form of an answer, the strictest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Constraint {
    /// The arguments of each tool too.
    Arguments,
    /// The names of the tools, and that the arguments are an object.
    Names,
    None,
}

/// The name of the schema in requests.
pub(crate) const SCHEMA_NAME: &str = "next_step";

/// The instructions with the tools in them.
pub(crate) fn system(request: &ModelRequest<'_>) -> String {
    let mut text = request.system.trim_end().to_owned();
    if !text.is_empty() {
        text.push_str("\n\n");
    }
    text.push_str("You can use these tools:\n");
    for tool in request.tools {
        let schema = RawJson::of(tool.schema());
        let (name, description) = (tool.name(), tool.description());
        let _ = writeln!(text, "- {name}: {description}\n  arguments: {}", schema.text());
    }
    text.push_str("\nAnswer with one JSON object and nothing else.");
    text.push_str("\nTo use a tool: {\"tool\": \"NAME\", \"arguments\": {...}}");
    match request.tool_choice {
        ToolChoice::Auto | ToolChoice::None => {
            text.push_str("\nTo answer without one: {\"answer\": \"...\"}");
        }
        ToolChoice::Required => text.push_str("\nUse one of the tools now."),
        ToolChoice::Tool(name) => {
            let _ = write!(text, "\nUse the tool {name} now.");
        }
    }
    text
}

/// The schema of an answer, if it is to be forced.
pub(crate) fn schema(request: &ModelRequest<'_>, constraint: Constraint) -> Option<RawJson> {
    let object = |properties: Value, required: Value| {
        json!({
            "type": "object",
            "properties": properties,
            "required": required,
            "additionalProperties": false,
        })
    };
    let is_offered = |name: &str| match request.tool_choice {
        ToolChoice::Tool(only) => only == name,
        _ => true,
    };
    let offered: Vec<_> = request.tools.iter().filter(|tool| is_offered(tool.name())).collect();
    let keys = json!(["tool", "arguments"]);
    let mut forms: Vec<Value> = match constraint {
        Constraint::None => return None,
        Constraint::Arguments => {
            let form = |tool: &&crate::ToolDefinition| {
                let name = json!({ "type": "string", "enum": [tool.name()] });
                object(json!({ "tool": name, "arguments": tool.schema() }), keys.clone())
            };
            offered.iter().map(form).collect()
        }
        Constraint::Names => {
            let names: Vec<_> = offered.iter().map(|tool| tool.name()).collect();
            let name = json!({ "type": "string", "enum": names });
            vec![object(json!({ "tool": name, "arguments": { "type": "object" } }), keys)]
        }
    };
    if request.tool_choice == ToolChoice::Auto {
        forms.push(object(json!({ "answer": { "type": "string" } }), json!(["answer"])));
    }
    Some(RawJson::of(&json!({ "anyOf": forms })))
}

/// The same history in texts alone: calls as the model has to write them, and results as what it is
/// told.
pub(crate) fn in_texts(history: &History) -> History {
    let mut turns = history.turns().iter();
    let Some(Turn::User(first)) = turns.next() else {
        unreachable!("a history begins with what a person says")
    };
    let mut texts = History::new(first.clone());
    for turn in turns {
        match turn {
            Turn::User(message) => texts.say(message.clone()),
            Turn::Round(round) => {
                let said = round.said();
                let parts = said.parts.iter().map(part_in_text);
                let said = AssistantMessage {
                    origin: said.origin.clone(),
                    parts: parts.collect(),
                    extra: Fields::default(),
                };
                push(&mut texts, said);
                if let Some(results) = results_in_text(round) {
                    texts.say(results);
                }
            }
        }
    }
    texts
}

/// Adds what a model said without calls, which always follows what it was told.
pub(crate) fn push(history: &mut History, said: AssistantMessage) {
    let round = Round::new(said, Vec::new()).expect("texts make no calls");
    history.push(round).expect("the history that this one is made from had somebody ask");
}

fn part_in_text(part: &AssistantPart) -> AssistantPart {
    match part {
        AssistantPart::Call(call) => {
            let arguments = call.arguments.object();
            let written = json!({ "tool": call.name, "arguments": arguments });
            AssistantPart::text(format!("{written}\n"))
        }
        other => other.clone(),
    }
}

fn results_in_text(round: &Round) -> Option<UserMessage> {
    let of_call = |(call, result): (&ToolCall, &ToolResult)| {
        let what = if result.is_error { "Error" } else { "Result" };
        let title = UserPart::Text(format!("{what} of {}:", call.name));
        [title].into_iter().chain(result.parts.iter().cloned()).collect::<Vec<_>>()
    };
    let parts = round.said().calls().zip(round.results()).flat_map(of_call);
    // Without calls there are no parts.
    UserMessage::new(parts).ok()
}

/// An answer with its text read: a call, or the text that the model means.
pub(crate) fn read(answer: ModelAnswer, request: &ModelRequest<'_>) -> Result<ModelAnswer, String> {
    let text = answer.message.text();
    let may_answer = matches!(request.tool_choice, ToolChoice::Auto | ToolChoice::None);
    let Some(object) = object_of(&text) else {
        // Nothing about it looks like a call.
        let is_plain = may_answer && !text.contains('{') && !text.trim().is_empty();
        return if is_plain { Ok(answer) } else { Err("it is not one JSON object".to_owned()) };
    };
    let said = if let Some(name) = object.read::<String>("tool") {
        if !request.tools.iter().any(|tool| tool.name() == name) {
            return Err(format!("there is no tool `{name}`"));
        }
        let arguments = object.get("arguments").map_or("{}", RawJson::text);
        let arguments = CallArguments::read(arguments);
        if let CallArguments::Malformed { fault, .. } = arguments {
            return Err(fault);
        }
        AssistantPart::Call(ToolCall {
            id: String::new(),
            name,
            arguments,
            extra: Fields::default(),
        })
    } else if let Some(text) = object.read::<String>("answer").filter(|_| may_answer) {
        AssistantPart::text(text)
    } else {
        return Err("it has no `tool`".to_owned());
    };
    let stop = match (&said, answer.stop) {
        (AssistantPart::Call(_), _) => StopReason::Calls,
        (_, stop) => stop,
    };
    let is_thought = |part: &AssistantPart| matches!(part, AssistantPart::Thinking { .. });
    let mut parts: Vec<_> = answer.message.parts.into_iter().filter(is_thought).collect();
    parts.push(said);
    Ok(ModelAnswer { message: AssistantMessage { parts, ..answer.message }, stop, ..answer })
}

/// The JSON object in a text, which models put between other words and marks.
fn object_of(text: &str) -> Option<Fields> {
    let text = without_fence(text.trim());
    let (from, to) = (text.find('{')?, text.rfind('}')?);
    match CallArguments::read(text.get(from..=to)?) {
        CallArguments::Object(object) => object.read(),
        CallArguments::Malformed { .. } => None,
    }
}

/// What a model is told whose answer cannot be read.
pub(crate) fn repair(fault: &str) -> UserMessage {
    let text = format!(
        "Your answer cannot be read: {fault}. Give it again as one JSON object and nothing else."
    );
    UserMessage::text(text).expect("this is not blank")
}
