//! The demonstration's printed report.

use std::net::SocketAddr;
use std::path::Path;

use serde_json::json;

use super::walk::{Step, Tour};
use crate::cli::loopback;
use crate::cli::output::Output;
use crate::cli::table::{Table, grouped};

/// How wide text may be, and how many lines of an answer are shown.
const WIDTH: usize = 92;
const ANSWER_LINES: usize = 7;

pub(super) fn tour(tour: &Tour, address: SocketAddr, output: &Output) {
    let style = output.style();
    let (servers, apis) = (gatefold_demo::servers().len(), gatefold_demo::apis().len());
    let databases = gatefold_demo::databases().len();
    let folders = gatefold_demo::skill_folders().len();
    let handbook = if cfg!(feature = "knowledge") { ", a handbook" } else { "" };
    let title = format!(
        "{servers} MCP servers, each a process of its own, {apis} HTTP API, {databases} database, {folders} \
         folder of skills{handbook} and built-in tools behind one gateway"
    );
    output.line(&style.strong(&title));
    output.line("");
    let mut table = Table::new(&["domain", "tools", "tokens", "about"]).numbers(&[1, 2]);
    for domain in &tour.domains {
        table.row([
            style.strong(&domain.name),
            grouped(domain.tools),
            grouped(domain.tokens),
            domain.description.clone(),
        ]);
    }
    for line in table.lines(style) {
        output.line(&line);
    }
    output.line("");
    before_and_now(tour, output);
    output.line("");
    let url = url(address);
    output.line(&format!("What a model does with it, over {}", style.accent(&url)));
    for (number, one) in (1..).zip(&tour.steps) {
        output.line("");
        step(number, one, output);
    }
    output.line("");
}

fn before_and_now(tour: &Tour, output: &Output) {
    let style = output.style();
    let tools: usize = tour.domains.iter().map(|domain| domain.tools).sum();
    let flat: usize = tour.domains.iter().map(|domain| domain.tokens).sum();
    let now = tour.first_tokens;
    let walk: usize = tour.steps.iter().map(|step| step.request_tokens + step.answer_tokens).sum();
    let times = flat / now.max(1);
    let flat = style.bad(&grouped(flat));
    output.line(&format!("Shown to a model as they are:   {flat} tokens for {tools} tools"));
    let (now, names) = (style.good(&grouped(now)), tour.first_tools.join(", "));
    output.line(&format!("Through Gatefold it sees first: {now} tokens, {times} times fewer"));
    output
        .line(&style.faint(&format!("                                ({names} and instructions)")));
    output.line(&format!("The whole walk below costs:     {} tokens", grouped(walk)));
}

fn step(number: usize, step: &Step, output: &Output) {
    let style = output.style();
    let cost = format!("{} + {} tokens", step.request_tokens, grouped(step.answer_tokens));
    output.line(&format!("{number}. {}  {}", style.strong(step.title), style.faint(&cost)));
    let arguments = wrapped(&step.arguments.to_string());
    for (at, line) in arguments.iter().enumerate() {
        let head = if at == 0 { style.accent(step.tool) } else { String::new() };
        let gap = if at == 0 { " " } else { "  " };
        output.line(&format!("   {head}{gap}{line}"));
    }
    let answer = wrapped(&step.answer);
    for line in answer.iter().take(ANSWER_LINES) {
        output.line(&format!("   {} {line}", style.faint("|")));
    }
    if answer.len() > ANSWER_LINES {
        let more = format!("| ... {} more lines", answer.len() - ANSWER_LINES);
        output.line(&format!("   {}", style.faint(&more)));
    }
}

/// Cuts text into lines, preferably after a comma or a space.
fn wrapped(text: &str) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = String::new();
    let mut break_at = 0;
    for c in text.chars().map(|c| if c.is_control() { ' ' } else { c }) {
        line.push(c);
        if matches!(c, ',' | ' ') {
            break_at = line.len();
        }
        if line.chars().count() >= WIDTH {
            let at = if break_at > line.len() / 2 { break_at } else { line.len() };
            let rest = line.split_off(at);
            lines.push(std::mem::replace(&mut line, rest));
            break_at = 0;
        }
    }
    lines.push(line);
    lines
}

/// How to use the gateway that keeps running. `description` is the address of its API's, `state` its
/// state directory as a shell takes it.
pub(super) fn invitation(
    address: SocketAddr,
    description: &str,
    scratch: &Path,
    state: &str,
    output: &Output,
) {
    let style = output.style();
    let url = url(address);
    let add = format!("claude mcp add --transport http gatefold {url}");
    let json = json!({ "mcpServers": { "gatefold": { "type": "http", "url": url } } });
    output.line("It keeps running. Add it to a client:");
    output.line(&format!("   {}", style.accent(&add)));
    output.line("or in a client's configuration:");
    output.line(&format!("   {}", style.accent(&json.to_string())));
    output.line("Look at it from another shell:");
    for command in ["tools list", "calls --follow", "status --watch"] {
        let line = format!("gatefold {command} --state-dir {state}");
        output.line(&format!("   {}", style.accent(&line)));
    }
    output.line("Add its API to a configuration of your own:");
    let add = format!("gatefold add shop --openapi {description}");
    output.line(&format!("   {}", style.accent(&add)));
    output.line("");
    let data = format!("Its data is in {}; `--fresh` starts over.", scratch.display());
    output.line(&style.faint(&data));
    output.line(&style.faint("Ctrl-C stops it."));
}

fn url(address: SocketAddr) -> String {
    format!("http://{}/mcp", loopback::reachable(address))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_breaks_behind_commas_and_loses_nothing() {
        let text = "{\"é\":1},".repeat(40);
        let lines = wrapped(&text);
        assert_eq!(lines.concat(), text);
        assert!(lines.iter().all(|line| line.chars().count() <= WIDTH));
        assert!(lines[0].ends_with(','));
    }
}
