//! The calls of a conversation: a line each, and one of them whole.

use gatefold_catalog::by_ends;
use gatefold_model::{CallArguments, ToolCall, ToolResult, Turn, UserPart};

use crate::cli::approvals::indent;
use crate::cli::output::Output;
use crate::cli::table::Table;
use crate::cli::visible::on_one_line;

use super::tools::write_call;

/// The most calls in a list, the last ones.
const LISTED_CALLS: usize = 100;

/// The most bytes that are printed of a call's arguments, and of its result.
const SHOWN_BYTES: usize = 32 * 1024;

/// The calls of a conversation with their results, in order.
fn calls(turns: &[Turn]) -> impl Iterator<Item = (&ToolCall, &ToolResult)> {
    turns.iter().flat_map(|turn| {
        let round = match turn {
            Turn::Round(round) => Some(round),
            Turn::User(_) => None,
        };
        round.into_iter().flat_map(|round| round.said().calls().zip(round.results()))
    })
}

pub(super) fn list(turns: &[Turn], output: &Output) {
    let count = calls(turns).count();
    if count == 0 {
        return output.line("there are no calls");
    }
    let style = output.style();
    let mut table = Table::new(&["number", "call", "gave"]).numbers(&[0]).one_line_rows();
    let numbered = (1..).zip(calls(turns)).skip(count.saturating_sub(LISTED_CALLS));
    for (number, (call, result)) in numbered {
        let (bytes, error) = (text_of(result).len(), if result.is_error { "error, " } else { "" });
        table.row([
            style.strong(&number.to_string()),
            write_call(call),
            format!("{error}{bytes} bytes"),
        ]);
    }
    output.lines(&table.lines(style));
    output.line(&style.faint("`/show NUMBER` shows one whole"));
}

/// Shows the call with this number, or the last one.
pub(super) fn show(turns: &[Turn], number: Option<&str>, output: &Output) {
    let at = match number {
        Some(number) => number.parse::<usize>().ok().and_then(|number| number.checked_sub(1)),
        None => calls(turns).count().checked_sub(1),
    };
    let Some((call, result)) = at.and_then(|at| calls(turns).nth(at)) else {
        return output.complain("there is no such call; `/calls` lists them");
    };
    let style = output.style();
    output.line(&style.strong(&on_one_line(&call.name)));
    output.line(&style.faint("arguments"));
    match &call.arguments {
        CallArguments::Object(json) => {
            print(&indent(&by_ends(json.text(), usize::MAX / 4)).join("\n"), output);
        }
        CallArguments::Malformed { fault, .. } => print(fault, output),
    }
    output.line(&style.faint(if result.is_error { "result, an error" } else { "result" }));
    print(&text_of(result), output);
}

fn text_of(result: &ToolResult) -> String {
    let parts = result.parts.iter().map(|part| match part {
        UserPart::Text(text) => text.clone(),
        UserPart::Image(image) => format!("[image of {} bytes]", image.bytes().len()),
    });
    parts.collect::<Vec<_>>().join("\n")
}

fn print(text: &str, output: &Output) {
    let shown = &text[..text.floor_char_boundary(SHOWN_BYTES)];
    output.line(shown);
    let left = text.len() - shown.len();
    if left > 0 {
        let all = "`gatefold threads show --json` has all of it";
        output.line(&output.style().faint(&format!("[{left} bytes more: {all}]")));
    }
}
