//! One surface, printed whole.

use serde_json::json;

use super::counted::CountedSurface;
use super::limits::excesses;
use crate::cli::output::Output;
use crate::cli::table::number_of;

pub(super) fn print(one: &CountedSurface, client: Option<&str>, output: &Output) {
    if output.is_json() {
        print_json(one, client, output);
        return;
    }
    let style = output.style();
    let for_client = client.map(|client| format!(" for {client}")).unwrap_or_default();
    let (tools, at_rest) = (number_of(one.tools.len(), "tool"), one.at_rest());
    output.line(&format!("{}{for_client}: {tools}, {at_rest}", style.strong(&one.name)));
    for excess in excesses(&one.shown, one.limits) {
        output.warning(&format!("beyond what some clients take: {excess}"));
    }
    output.line(&format!("\n{} ({})", style.strong("instructions"), one.instructions));
    one.shown.instructions.lines().for_each(|line| output.line(&format!("  {line}")));
    for (tool, tokens) in one.shown.tools.iter().zip(&one.tools) {
        output.line(&format!("\n{} ({tokens})", style.strong(&tool.name)));
        output.line(&format!("  {}", tool.definition.get()));
    }
}

fn print_json(one: &CountedSurface, client: Option<&str>, output: &Output) {
    let tools = one.shown.tools.iter().zip(&one.tools).map(|(tool, tokens)| {
        json!({
            "definition": tool.definition, "tokens": tokens.o200k, "cl100k": tokens.cl100k,
        })
    });
    let at_rest = one.at_rest();
    output.json(&json!({
        "disclosure": one.name,
        "client": client,
        "tokens": at_rest.o200k,
        "cl100k": at_rest.cl100k,
        "instructions": {
            "text": one.shown.instructions,
            "tokens": one.instructions.o200k,
            "cl100k": one.instructions.cl100k,
        },
        "tools": tools.collect::<Vec<_>>(),
        "exceeds": excesses(&one.shown, one.limits),
    }));
}
