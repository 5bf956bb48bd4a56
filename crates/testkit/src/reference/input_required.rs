//! The tools that need several rounds, and those that try what a round must reject.

use rmcp::model::{CallToolResponse, InputRequests, Tool};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::call::{Call, EarlyEnd, can_answer, said};
use super::definitions::{bare_tool, unknown};
use super::elicitation::{ask_name, confirm, filled, form, roots, sample, sampled};

/// What a call knows from earlier rounds.
#[derive(Default, Deserialize, Serialize)]
struct Progress {
    name: Option<String>,
}

pub(super) fn tools() -> Vec<Tool> {
    vec![
        bare_tool("test_input_required_result_elicitation", "Asks for a name, then greets"),
        bare_tool("test_input_required_result_sampling", "Asks the client's model a question"),
        bare_tool("test_input_required_result_list_roots", "Asks for the client's roots"),
        bare_tool("test_input_required_result_request_state", "Asks, and checks its own state"),
        bare_tool("test_input_required_result_multiple_inputs", "Asks three things at once"),
        bare_tool("test_input_required_result_multi_round", "Asks one thing after another"),
        bare_tool("test_input_required_result_tampered_state", "Refuses a state it did not make"),
        bare_tool("test_input_required_result_capabilities", "Asks only what the client offers"),
    ]
}

pub(super) async fn call(call: &Call) -> Result<CallToolResponse, EarlyEnd> {
    match call.name.trim_start_matches("test_input_required_result_") {
        "elicitation" => {
            let answer = call.ask("user_name", ask_name("What is your name?"), None).await?;
            Ok(said(format!("Hello, {}!", filled(&answer, "name"))))
        }
        "sampling" => {
            let question = sample("What is the capital of France?", 100);
            let answer = call.ask("capital_question", question, None).await?;
            Ok(said(sampled(&answer)))
        }
        "list_roots" => {
            let answer = call.ask("client_roots", roots(), None).await?;
            Ok(said(format!("roots: {}", answer["roots"])))
        }
        "request_state" | "tampered_state" => with_state(call).await,
        "multiple_inputs" => multiple_inputs(call).await,
        "multi_round" => multi_round(call).await,
        "capabilities" => capabilities(call).await,
        _ => Err(unknown(&call.name)),
    }
}

async fn with_state(call: &Call) -> Result<CallToolResponse, EarlyEnd> {
    let state = call.state::<Progress>()?;
    let sealed = Some(call.seal(&Progress::default())?);
    call.ask("confirm", confirm("Please confirm", "ok"), sealed).await?;
    if state.is_none() && call.is_stateless() {
        return Err(EarlyEnd::Failure("the answer came without the state".to_owned()));
    }
    Ok(said("state-ok"))
}

async fn multiple_inputs(call: &Call) -> Result<CallToolResponse, EarlyEnd> {
    call.state::<Progress>()?;
    let questions = InputRequests::from([
        ("user_name".to_owned(), ask_name("What is your name?")),
        ("greeting".to_owned(), sample("Generate a greeting", 50)),
        ("client_roots".to_owned(), roots()),
    ]);
    let sealed = Some(call.seal(&Progress::default())?);
    let answers = call.ask_all(questions, sealed).await?;
    let (greeting, name) = (sampled(&answers["greeting"]), filled(&answers["user_name"], "name"));
    Ok(said(format!("{greeting} {name}, roots: {}", answers["client_roots"]["roots"])))
}

async fn multi_round(call: &Call) -> Result<CallToolResponse, EarlyEnd> {
    let earlier = call.state::<Progress>()?.unwrap_or_default();
    let name = if let Some(name) = earlier.name {
        name
    } else {
        let sealed = Some(call.seal(&Progress::default())?);
        let answer = call.ask("step1", ask_name("Step 1: What is your name?"), sealed).await?;
        filled(&answer, "name").to_owned()
    };
    let color = json!({ "color": { "type": "string" } });
    let question = form("Step 2: What is your favorite color?", &color, &["color"]);
    let sealed = Some(call.seal(&Progress { name: Some(name.clone()) })?);
    let answer = call.ask("step2", question, sealed).await?;
    Ok(said(format!("{name} likes {}", filled(&answer, "color"))))
}

async fn capabilities(call: &Call) -> Result<CallToolResponse, EarlyEnd> {
    let client = call.client();
    let questions: InputRequests = [
        ("user_name", ask_name("What is your name?")),
        ("greeting", sample("Generate a greeting", 50)),
        ("client_roots", roots()),
    ]
    .into_iter()
    .filter(|(_, question)| can_answer(&client, question))
    .map(|(key, question)| (key.to_owned(), question))
    .collect();
    if questions.is_empty() {
        return Ok(said("The client offers nothing to ask"));
    }
    let asked: Vec<String> = questions.keys().cloned().collect();
    call.ask_all(questions, None).await?;
    Ok(said(format!("Answered: {}", asked.join(", "))))
}
