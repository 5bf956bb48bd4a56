//! What the live view shows, as lines of text.

use std::net::SocketAddr;

use gatefold_core::{Clock as _, SystemClock};
use serde_json::Value;

use crate::cli::output::Style;
use crate::cli::status;
use crate::cli::table::{Table, grouped, shortened};

/// What the gateway says, or why it says nothing.
type Asked = Result<Value, String>;

/// The lines for a window of so many rows, each within the style's width.
pub(super) fn lines(address: SocketAddr, asked: &Asked, style: Style, rows: usize) -> Vec<String> {
    let foot = style.faint("q leaves");
    let running = match asked {
        Ok(running) => running,
        Err(why) => {
            let waiting = format!("waiting for a gateway on {address}");
            let lines = vec![cut(&waiting, style), style.faint(&cut(why, style)), foot];
            return lines.into_iter().take(rows).collect();
        }
    };
    let mut lines = head(address, running, style);
    lines.push(String::new());
    let tail = tail(running, style);
    let room = rows.saturating_sub(lines.len() + tail.len() + 1);
    lines.extend(sources(running, style, room));
    lines.extend(tail);
    lines.push(foot);
    lines.truncate(rows);
    lines
}

/// The same in one line.
pub(super) fn summary(address: SocketAddr, asked: &Asked) -> String {
    let running = match asked {
        Ok(running) => running,
        Err(why) => return format!("waiting for a gateway on {address}: {why}"),
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

fn head(address: SocketAddr, running: &Value, style: Style) -> Vec<String> {
    let started = running["started_at"].as_u64().unwrap_or_default();
    let up = SystemClock.now().as_millis().saturating_sub(started) / 1000;
    let (days, hours, minutes, seconds) = (up / 86400, up / 3600 % 24, up / 60 % 60, up % 60);
    let up = match days {
        0 => format!("{hours}:{minutes:02}:{seconds:02}"),
        days => format!("{days} d {hours}:{minutes:02}:{seconds:02}"),
    };
    let version = running["version"].as_str().unwrap_or_default();
    let line = format!("gatefold {version} on http://{address}/mcp, up {up}");
    vec![style.strong(&cut(&line, style))]
}

fn tail(running: &Value, style: Style) -> Vec<String> {
    let calls = format!("calls: {}", status::counts(&running["calls"]));
    let mut lines = vec![String::new(), calls];
    lines.extend(status::token_lines(&running["tokens"]));
    lines.iter().map(|line| cut(line, style)).collect()
}

/// The table of sources, failing ones first, in so many rows, its heads included.
fn sources(running: &Value, style: Style, room: usize) -> Vec<String> {
    let mut sources: Vec<_> = running["sources"].as_array().into_iter().flatten().collect();
    sources.sort_by_key(|source| !is_failing(source));
    let rows = room.saturating_sub(1);
    let shown = if sources.len() > rows { rows.saturating_sub(1) } else { sources.len() };
    let heads =
        ["domain", "state", "tools", "calls", "now", "queue", "errors", "p50", "p99", "last error"];
    let mut table = Table::new(&heads)
        .numbers(&[2, 3, 4, 5, 6, 7, 8])
        .spare(&[5, 7, 2, 8, 4, 9, 6, 3])
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

fn row(source: &Value, style: Style) -> [String; 10] {
    let traffic = &source["traffic"];
    let count = |value: &Value| grouped(number(value));
    let last = traffic["last_error"]["message"].as_str();
    let error = source["error"].as_str().or(last).unwrap_or_default();
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
        error.to_owned(),
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

fn cut(line: &str, style: Style) -> String {
    style.width().map_or(line.to_owned(), |width| shortened(line, width))
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use unicode_width::UnicodeWidthStr as _;

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

    fn address() -> SocketAddr {
        "127.0.0.1:8420".parse().unwrap()
    }

    #[test]
    fn a_frame_fits_its_window_and_what_fails_stands_first() {
        for (columns, rows) in [(40, 10), (80, 24), (200, 60), (80, 3), (10, 5)] {
            let style = Style::plain().within(columns);
            let lines = lines(address(), &Ok(running(50)), style, rows);
            assert!(lines.len() <= rows, "{columns}x{rows}: {}", lines.len());
            assert!(lines.iter().all(|line| line.width() <= columns), "{lines:#?}");
        }
        let lines = lines(address(), &Ok(running(50)), Style::plain().within(80), 24);
        assert!(lines[3].starts_with("source_49  failing"), "{lines:#?}");
        assert!(lines.iter().any(|line| line.starts_with('+')), "{lines:#?}");
        assert!(!lines.concat().contains('\u{1b}'));
    }

    #[test]
    fn without_a_gateway_the_view_waits() {
        let lines = lines(address(), &Err("nobody".into()), Style::plain().within(80), 24);
        assert_eq!(lines, ["waiting for a gateway on 127.0.0.1:8420", "nobody", "q leaves"]);
    }
}
