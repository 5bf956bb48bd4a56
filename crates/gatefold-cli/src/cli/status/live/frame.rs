//! What the live view shows, as lines of text.

use gatefold_core::{Clock as _, SystemClock};
use serde_json::Value;
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

use crate::cli::output::Style;
use crate::cli::status;
use crate::cli::status::inquiry::{ReportedStatus, StatusUnavailable};
use crate::cli::table::{Table, grouped, shortened};
use crate::cli::visible;

/// The gateway's report, or why there is none.
type StatusAnswer = Result<Value, StatusUnavailable>;

/// The lines for a window with this many rows, each within the style's width.
pub(super) fn lines(reported: &ReportedStatus, style: Style, rows: usize) -> Vec<String> {
    let foot = style.faint("q quits");
    let running = match &reported.running {
        Ok(running) => running,
        Err(silence) => {
            let waiting = "waiting for a gateway".to_owned();
            let help = silence.help.map(|help| format!("help: {help}"));
            let why = std::iter::once(silence.why.clone()).chain(help);
            let why = why.map(|line| style.faint(&cut(&line, style)));
            let lines = std::iter::once(cut(&waiting, style)).chain(why).chain([foot]);
            return lines.take(rows).collect();
        }
    };
    let mut lines = head(reported.url.as_deref(), running, style);
    lines.push(String::new());
    let tail = tail(running, style);
    let room = rows.saturating_sub(lines.len() + tail.len() + 1);
    let heads_and_sources = 1 + running["sources"].as_array().map_or(0, Vec::len);
    let table_room = heads_and_sources.min(room.div_ceil(2));
    let errors = errors(running, style, room.saturating_sub(table_room));
    lines.extend(sources(running, style, room.saturating_sub(errors.len())));
    lines.extend(errors);
    lines.extend(tail);
    lines.push(foot);
    lines.truncate(rows);
    lines
}

/// The same in one line.
pub(super) fn summary(asked: &StatusAnswer) -> String {
    let running = match asked {
        Ok(running) => running,
        Err(StatusUnavailable { why, help, .. }) => {
            let help = help.map(|help| format!("; help: {help}")).unwrap_or_default();
            return format!("waiting for a gateway: {why}{help}");
        }
    };
    let sources = running["sources"].as_array().map(Vec::as_slice).unwrap_or_default();
    let failing = sources.iter().filter(|source| is_failing(source)).count();
    let sum = |key: &str| sources.iter().map(|source| number(&source[key])).sum::<usize>();
    let traffic = |key: &str| sources.iter().map(|s| number(&s["traffic"][key])).sum::<usize>();
    format!(
        "running, {} sources, {failing} failing, {} calls, {} in flight, {} errors, {}",
        sources.len(),
        grouped(traffic("calls")),
        sum("calls_in_flight"),
        grouped(traffic("errors")),
        status::saved(&running["tokens"]),
    )
}

fn head(url: Option<&str>, running: &Value, style: Style) -> Vec<String> {
    let started = running["started_at"].as_u64().unwrap_or_default();
    let up = SystemClock.now().as_millis().saturating_sub(started) / 1000;
    let (days, hours, minutes, seconds) = (up / 86400, up / 3600 % 24, up / 60 % 60, up % 60);
    let up = match days {
        0 => format!("{hours}:{minutes:02}:{seconds:02}"),
        days => format!("{days} d {hours}:{minutes:02}:{seconds:02}"),
    };
    let version = running["version"].as_str().unwrap_or_default();
    let place = url.map_or("over stdio".to_owned(), |url| format!("on {url}"));
    let line = format!("gatefold {version} {place}, up {up}");
    vec![style.strong(&cut(&line, style))]
}

fn tail(running: &Value, style: Style) -> Vec<String> {
    let calls = format!("calls: {}", status::counts(&running["calls"]));
    let mut lines = vec![String::new(), calls];
    lines.extend(status::token_lines(&running["tokens"]));
    lines.iter().map(|line| cut(line, style)).collect()
}

/// Failing sources first.
fn in_order(running: &Value) -> Vec<&Value> {
    let mut sources: Vec<_> = running["sources"].as_array().into_iter().flatten().collect();
    sources.sort_by_key(|source| !is_failing(source));
    sources
}

/// Why sources fail, and the last errors of the others, in full if there is room.
fn errors(running: &Value, style: Style, room: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for source in in_order(running) {
        let domain = source["domain"].as_str().unwrap_or_default();
        let last = source["traffic"]["last_error"]["message"].as_str();
        let (head, error) = match (source["error"].as_str(), last) {
            (Some(error), _) => (style.bad("failing"), error),
            (None, Some(error)) => ("last error of".to_owned(), error),
            (None, None) => continue,
        };
        let text = format!("{head} {domain}: {}", visible::on_one_line(error));
        lines.extend(style.sentence(&text, 2).iter().flat_map(|line| folded(line, style)));
    }
    if lines.len() == 1 || room < 2 {
        return Vec::new();
    }
    if lines.len() > room {
        lines.truncate(room - 1);
        lines.push(style.faint(&cut("and more; a taller window shows it", style)));
    }
    lines
}

/// The table of sources in this many rows, including its headings.
fn sources(running: &Value, style: Style, room: usize) -> Vec<String> {
    let sources = in_order(running);
    let rows = room.saturating_sub(1);
    let shown = if sources.len() > rows { rows.saturating_sub(1) } else { sources.len() };
    let heads = ["domain", "state", "tools", "calls", "now", "queue", "errors", "p50", "p99"];
    let mut table = Table::new(&heads)
        .numbers(&[2, 3, 4, 5, 6, 7, 8])
        .spare(&[5, 7, 2, 8, 4, 6, 3])
        .one_line_rows();
    for source in &sources[..shown] {
        table.row(row(source, style));
    }
    let mut lines = table.lines(style);
    if shown < sources.len() {
        lines.push(style.faint(&format!("+{} more", sources.len() - shown)));
    }
    lines.truncate(room);
    lines
}

fn row(source: &Value, style: Style) -> [String; 9] {
    let traffic = &source["traffic"];
    let count = |value: &Value| grouped(number(value));
    [
        style.strong(source["domain"].as_str().unwrap_or_default()),
        status::state(source, style),
        count(&source["tools"]),
        count(&traffic["calls"]),
        count(&source["calls_in_flight"]),
        count(&source["calls_waiting"]),
        count(&traffic["errors"]),
        latency(&traffic["median_us"]),
        latency(&traffic["p99_us"]),
    ]
}

fn is_failing(source: &Value) -> bool {
    source["state"] == "failing" || source["breaker"] == "open"
}

fn latency(micros: &Value) -> String {
    match micros.as_u64() {
        None => String::new(),
        Some(micros) if micros < 10_000 => {
            format!("{}.{} ms", micros / 1000, micros % 1000 / 100)
        }
        Some(micros) if micros < 10_000_000 => format!("{} ms", micros / 1000),
        Some(micros) => format!("{} s", micros / 1_000_000),
    }
}

fn number(value: &Value) -> usize {
    value.as_u64().and_then(|number| usize::try_from(number).ok()).unwrap_or_default()
}

/// The line, broken to the width: long words must not be lost.
fn folded(line: &str, style: Style) -> Vec<String> {
    let width = style.width().unwrap_or(usize::MAX).max(1);
    if visible::unpainted(line).0.width() <= width {
        return vec![line.to_owned()];
    }
    let mut lines = vec![String::new()];
    let mut taken = 0;
    for c in visible::unpainted(line).0.chars() {
        let columns = c.width().unwrap_or(0);
        if taken + columns > width {
            lines.push(String::new());
            taken = 0;
        }
        taken += columns;
        lines.last_mut().expect("there is a first line").push(c);
    }
    lines
}

fn cut(line: &str, style: Style) -> String {
    style.width().map_or(line.to_owned(), |width| shortened(line, width))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn running(sources: usize) -> Value {
        let source = |at: usize| {
            let is_failing = at + 1 == sources;
            json!({
                "domain": format!("source_{at}"),
                "state": if is_failing { "failing" } else { "running" },
                "error": is_failing.then_some("exited with code 3; it last wrote: \u{1b}[31moops"),
                "tools": 12, "calls_in_flight": 1, "calls_waiting": 0,
                "traffic": { "calls": 1234, "errors": 2, "median_us": 4_321, "p99_us": 61_000 },
            })
        };
        json!({
            "version": "1.2.3", "started_at": 0,
            "sources": (0..sources).map(source).collect::<Vec<_>>(),
            "calls": { "done": 1234 },
            "tokens": { "definitions": 12_345, "surface": 400, "saved": 11_945 },
        })
    }

    fn reported(running: StatusAnswer) -> ReportedStatus {
        let url = Some("http://127.0.0.1:8420/mcp".to_owned());
        ReportedStatus { url, running, gateway: None, others: Vec::new(), silent: Vec::new() }
    }

    #[test]
    fn a_frame_fits_its_window_and_what_fails_stands_first() {
        for (columns, rows) in [(40, 10), (80, 24), (200, 60), (80, 3), (10, 5)] {
            let style = Style::plain().within(columns);
            let lines = lines(&reported(Ok(running(50))), style, rows);
            assert!(lines.len() <= rows, "{columns}x{rows}: {}", lines.len());
            assert!(lines.iter().all(|line| line.width() <= columns), "{lines:#?}");
        }
        let lines = lines(&reported(Ok(running(50))), Style::plain().within(80), 24);
        assert!(lines[3].starts_with("source_49  failing"), "{lines:#?}");
        assert!(lines.iter().any(|line| line.starts_with('+')), "{lines:#?}");
        assert!(!lines.concat().contains('\u{1b}'));
    }

    #[test]
    fn errors_stand_whole_below_the_table() {
        let path = "/a/path/of/many/folders/".repeat(5);
        let mut running = running(3);
        running["sources"][2]["error"] = format!("`{path}` was not found; install it").into();
        running["sources"][0]["traffic"]["last_error"] =
            json!({ "message": "`source_0` gave no answer within 60 s" });
        for columns in [20, 40, 80, 200] {
            let lines = lines(&reported(Ok(running.clone())), Style::plain().within(columns), 60);
            let last_row = lines.iter().rposition(|line| line.starts_with("source_")).unwrap();
            let below = lines[last_row + 1..].concat().replace(' ', "");
            assert!(below.contains(&format!("failingsource_2:`{path}`wasnotfound;installit")));
            assert!(below.contains("lasterrorofsource_0:`source_0`gavenoanswerwithin60s"));
        }
    }

    #[test]
    fn without_a_gateway_the_view_waits() {
        let mut silence = StatusUnavailable::new("nobody", None);
        let waiting = |silence| lines(&reported(Err(silence)), Style::plain().within(80), 24);
        let head = "waiting for a gateway";
        assert_eq!(waiting(silence), [head, "nobody", "q quits"]);
        silence = StatusUnavailable::new("somebody", Some("look"));
        assert_eq!(waiting(silence), [head, "somebody", "help: look", "q quits"]);
    }
}
