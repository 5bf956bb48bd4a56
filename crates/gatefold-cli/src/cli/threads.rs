//! `gatefold threads`: conversations with agents.

use std::process::ExitCode;

use gatefold::Environment;
use gatefold_agent::parts_without_date;
use gatefold_model::{AssistantPart, History, Turn, UserPart};
use gatefold_operations::{StateOperations, ThreadRecord};
use serde_json::json;

use super::arguments::{SharedOptions, ThreadAct, Threads};
use super::control;
use super::output::{Output, Style};
use super::table::Table;
use super::visible::on_one_line;

/// How many digits of an id are shown.
const SHOWN_DIGITS: usize = 8;

pub(super) async fn run(
    threads: &Threads,
    shared: &SharedOptions,
    environment: &Environment,
    output: &Output,
) -> anyhow::Result<ExitCode> {
    control::on_record(shared, environment, async |state| match &threads.act {
        None => list(state, &threads.search, output).await,
        Some(ThreadAct::Show { id, .. }) => show(state, id, output).await,
        Some(ThreadAct::Rename { id, title, .. }) => {
            let thread = state.rename_thread(id, title).await?;
            tell(&thread, "renamed", output);
            Ok(())
        }
        Some(ThreadAct::Delete { id, .. }) => {
            let thread = state.delete_thread(id).await?;
            tell(&thread, "deleted", output);
            Ok(())
        }
    })
    .await
}

async fn list(state: &StateOperations, words: &str, output: &Output) -> anyhow::Result<()> {
    let threads = state.threads(words).await?;
    if output.is_json() {
        output.json(&json!({ "threads": threads }));
    } else {
        output.lines(&lines(&threads, output.style()));
    }
    Ok(())
}

fn tell(thread: &ThreadRecord, what: &str, output: &Output) {
    if output.is_json() {
        output.json(&json!({ what: thread }));
    } else {
        output.line(&format!("{what}: {}", on_one_line(&thread.title)));
    }
}

async fn show(state: &StateOperations, id: &str, output: &Output) -> anyhow::Result<()> {
    let (thread, history) = state.conversation(id).await?;
    if output.is_json() {
        output.json(&json!({ "thread": thread, "turns": history }));
        return Ok(());
    }
    let style = output.style();
    output.line(&style.strong(&on_one_line(&thread.title)));
    for turn in history.as_ref().map(History::turns).unwrap_or_default() {
        match turn {
            Turn::User(message) => said(parts_without_date(message), "> ", output),
            Turn::Round(round) => {
                for part in &round.said().parts {
                    match part {
                        AssistantPart::Text { text, .. } => output.verbatim(text.trim_end()),
                        AssistantPart::Call(call) => {
                            let line = on_one_line(&format!("call {}", call.name));
                            output.line(&style.faint(&line));
                        }
                        AssistantPart::Thinking { .. } | AssistantPart::Other(_) => {}
                    }
                }
            }
        }
    }
    Ok(())
}

fn said<'a>(parts: impl Iterator<Item = &'a UserPart>, start: &str, output: &Output) {
    for part in parts {
        match part {
            UserPart::Text(text) => {
                for line in text.lines() {
                    output.line(&format!("{start}{}", on_one_line(line)));
                }
            }
            UserPart::Image(image) => {
                output.line(&format!("{start}[image of {} bytes]", image.bytes().len()));
            }
        }
    }
}

/// So many digits of an id as tell a person's conversations apart.
pub(super) fn last_digits(id: &str) -> &str {
    &id[id.len().saturating_sub(SHOWN_DIGITS)..]
}

/// The lines printed for people.
fn lines(threads: &[ThreadRecord], style: Style) -> Vec<String> {
    if threads.is_empty() {
        return vec!["there are no conversations; `gatefold chat` begins one".to_owned()];
    }
    let mut table = Table::new(&["id", "title", "agent", "last used"]).spare(&[2, 3]);
    for ThreadRecord { id, title, agent, used_at, .. } in threads {
        let digits = last_digits(id);
        let agent = agent.as_ref().map(ToString::to_string).unwrap_or_default();
        let used = used_at.to_string();
        let minute = used.get(..16).unwrap_or(&used).replace('T', " ");
        table.row([style.strong(digits), on_one_line(title), agent, minute]);
    }
    table.lines(style)
}
