//! The limits that no key changes, for the reference.

use std::fmt::Write as _;
use std::time::Duration;

use gatefold_config::{duration_text, size_text};
use gatefold_dispatch::call_limits::{
    FIRST_LISTS, PARKED, PARKED_EACH, RECORD_WAIT, TASKS, TASKS_EACH,
};
use gatefold_mcp::client_limits::{SESSION_REQUESTS, SESSIONS, SESSIONS_OF_CLIENT};
use gatefold_mcp::source_limits::{
    GATHERING, KEPT_BYTES, KEPT_LINES, LATE_CALLS, LINE_BYTES, LIST_BYTES, LOGGED_BYTES,
    LOGGED_LINES, LONGEST_GATHERING, PAGES, PING_DEADLINE, SESSIONS_OF_USER, SESSIONS_OF_USERS,
};
use gatefold_store::StoreOptions;
use gatefold_store::record_limits::{CATCH_UP, KEPT_PER_DOMAIN, LINGER, ROUND};

/// The section of the reference, in Markdown.
pub(super) fn reference() -> String {
    let mut text = INTRODUCTION.to_owned();
    for (what, limit) in of_sources().into_iter().chain(of_clients()).chain(of_records()) {
        let _ = writeln!(text, "| {what} | {limit} |");
    }
    text
}

const INTRODUCTION: &str = "
## Fixed limits

No key changes these. They keep one source, client or mishap from costing the others anything, and they are far from
what normal use needs.

| what | limit |
|---|---|
";

fn of_sources() -> [(&'static str, String); 8] {
    let quota = StoreOptions::default().manifest_bytes;
    [
        (
            "Asking for a source's list again after it changed",
            format!(
                "{} later; each time twice as long while it keeps changing, up to {}",
                time(GATHERING),
                time(LONGEST_GATHERING)
            ),
        ),
        (
            "The list of one source",
            format!("{} pages, {}", number(PAGES), size_text(LIST_BYTES as u64)),
        ),
        (
            "What the state directory keeps of one source's lists",
            format!(
                "{}, of at most {KEPT_PER_DOMAIN} configurations of it; the latest is always kept",
                size_text(quota)
            ),
        ),
        (
            "Waiting for the first lists of sources, in a search or a look at a schema",
            format!("{} from the first that asks", time(FIRST_LISTS)),
        ),
        (
            "A program that answers neither calls nor pings",
            format!(
                "ended {} after the {LATE_CALLS} calls in a row that met their deadlines",
                time(PING_DEADLINE)
            ),
        ),
        (
            "Sessions at sources where each user has their own (`credentials` other than `shared`)",
            format!(
                "{SESSIONS_OF_USER} of one user and {} in all; one more closes the one that was unused the longest",
                number(SESSIONS_OF_USERS)
            ),
        ),
        (
            "What one source adds to Gatefold's own log",
            format!(
                "{LOGGED_LINES} lines and {} a second; the rest is counted",
                size_text(LOGGED_BYTES as u64)
            ),
        ),
        (
            "What `gatefold logs` can show of one source",
            format!(
                "its last {} lines, {} in all and {} of each; `--follow` shows them as they come",
                number(KEPT_LINES),
                size_text(KEPT_BYTES as u64),
                size_text(LINE_BYTES as u64)
            ),
        ),
    ]
}

fn of_clients() -> [(&'static str, String); 5] {
    [
        (
            "Open sessions",
            format!("{}; one more closes a silent one of whoever has most", number(SESSIONS)),
        ),
        (
            "Open sessions of one client",
            format!(
                "{}; one more closes the one that was silent the longest",
                number(SESSIONS_OF_CLIENT)
            ),
        ),
        (
            "Requests under way in one session",
            format!("{}; one more is refused", number(SESSION_REQUESTS)),
        ),
        (
            "Parked calls, which wait for an answer of their client",
            format!("{}, and {} of one user", number(PARKED), number(PARKED_EACH)),
        ),
        (
            "Calls of Gatefold's own sources that go on as tasks, with their results",
            format!("{}, and {} of one user", number(TASKS), number(TASKS_EACH)),
        ),
    ]
}

fn of_records() -> [(&'static str, String); 4] {
    [
        (
            "Until the end of a call is on record",
            format!(
                "before it is answered; in the database with the next call, or after {}",
                time(LINGER)
            ),
        ),
        (
            "How long an answer waits for that",
            format!("{}, if the disk is that slow; then it goes out", time(RECORD_WAIT)),
        ),
        ("Deleting old records", format!("every {}", time(ROUND))),
        (
            "Following a jump of the system's date, for `audit.retention`",
            format!("{CATCH_UP} hours of it for each hour that Gatefold runs"),
        ),
    ]
}

fn time(limit: Duration) -> String {
    duration_text(limit)
}

/// Digits in groups of three.
fn number(limit: usize) -> String {
    let digits = limit.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}
