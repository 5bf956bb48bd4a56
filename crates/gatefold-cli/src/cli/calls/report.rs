//! Calls as people are shown them.

use gatefold_operations::{CallRecord, DiscoveryReport};

use crate::cli::output::Style;
use crate::cli::table::{Table, grouped};
use crate::cli::visible;

/// How many of an id's last digits to show. Those are random.
const DIGITS: usize = 8;

/// The width of the column of names in the details.
const NAME_COLUMNS: usize = 12;

/// A table of calls, the latest last.
pub(super) fn table(records: &[CallRecord], style: Style) -> Vec<String> {
    if records.is_empty() {
        return vec!["no calls on record".to_owned()];
    }
    let heads = ["when", "tool", "outcome", "took", "client", "id"];
    let mut table = Table::new(&heads).numbers(&[3]).spare(&[4, 3]);
    for record in records {
        table.row([
            record.opened_at.to_string(),
            style.strong(tool(record)),
            outcome(record, style),
            took(record),
            record.client.clone().unwrap_or_default(),
            last_digits(&record.id).to_owned(),
        ]);
    }
    table.lines(style)
}

/// A table of what models looked up, the latest last.
pub(super) fn discoveries(found: &[DiscoveryReport], style: Style) -> Vec<String> {
    if found.is_empty() {
        return vec!["no discoveries on record".to_owned()];
    }
    let heads = ["when", "by", "schemas", "bytes", "user", "client"];
    let mut table = Table::new(&heads).numbers(&[3]).spare(&[5, 3, 4]);
    for one in found {
        let schemas = match one.shown.as_slice() {
            [] if one.is_error => style.bad("an error"),
            [] => "none".to_owned(),
            shown => foreign(&shown.join(", ")),
        };
        let user = match &one.agent {
            Some(agent) => format!("{} as {agent}", one.user),
            None => one.user.clone(),
        };
        table.row([
            one.at.to_string(),
            style.strong(&foreign(&one.meta_tool)),
            schemas,
            grouped(usize::try_from(one.result_bytes).unwrap_or(usize::MAX)),
            user,
            one.client.clone().unwrap_or_default(),
        ]);
    }
    table.lines(style)
}

/// A call on one line.
pub(super) fn line(record: &CallRecord, style: Style) -> String {
    let mut parts = vec![
        record.opened_at.to_string(),
        last_digits(&record.id).to_owned(),
        style.strong(&foreign(tool(record))),
        outcome(record, style),
    ];
    parts.extend(Some(took(record)).filter(|took| !took.is_empty()));
    parts.extend(record.client.as_deref().map(foreign));
    parts.join("  ")
}

/// Everything on record about a call.
pub(super) fn details(record: &CallRecord, style: Style) -> Vec<String> {
    let bytes = |bytes: u64| grouped(usize::try_from(bytes).unwrap_or(usize::MAX)) + " bytes";
    let organisations = record.organisations.join(", ");
    let arguments =
        format!("{}, digest {}", bytes(record.arguments_bytes), record.arguments_digest);
    let rows = [
        ("id", Some(record.id.clone())),
        ("part of", record.parent.clone()),
        ("operation", Some(record.operation.clone())),
        ("called as", Some(record.subject.clone())),
        ("source", record.domain.clone()),
        ("outcome", Some(outcome(record, style))),
        ("because", record.error_reason.clone()),
        ("opened", Some(record.opened_at.to_string())),
        ("ended", record.closed_at.map(|at| at.to_string())),
        ("expires", record.expires_at.map(|at| at.to_string())),
        ("took", Some(took(record)).filter(|took| !took.is_empty())),
        ("client", record.client.clone()),
        ("user", Some(record.user.clone())),
        ("for", Some(organisations).filter(|names| !names.is_empty())),
        ("agent", record.agent.clone()),
        ("token", record.token.clone()),
        ("rule", record.rule.clone()),
        ("decided by", record.decided_by.clone()),
        ("arguments", Some(arguments)),
        ("result", record.result_bytes.map(bytes)),
        ("definition", record.tool_digest.as_ref().map(|digest| format!("SHA-256 {digest}"))),
    ];
    let rows = rows.into_iter().filter_map(|(name, value)| Some((name, value?)));
    let lines = rows.flat_map(|(name, value)| {
        let value = if name == "outcome" { value } else { foreign(&value) };
        let name = style.faint(&format!("{name:NAME_COLUMNS$}"));
        style.sentence(&format!("  {name}{value}"), NAME_COLUMNS + 2)
    });
    std::iter::once(style.strong(&foreign(tool(record)))).chain(lines).collect()
}

/// A value that somebody else may have chosen: it takes no line of its own and has no colour.
fn foreign(value: &str) -> String {
    visible::on_one_line(&visible::unpainted(value).0)
}

fn tool(record: &CallRecord) -> &str {
    record.tool.as_deref().unwrap_or(&record.subject)
}

fn outcome(record: &CallRecord, style: Style) -> String {
    let outcome = match &record.error_kind {
        Some(kind) => format!("{}: {kind}", record.outcome),
        None => record.outcome.clone(),
    };
    if record.has_failed() { style.bad(&outcome) } else { outcome }
}

fn took(record: &CallRecord) -> String {
    let millis = record.took_ms.and_then(|millis| usize::try_from(millis).ok());
    millis.map(|millis| grouped(millis) + " ms").unwrap_or_default()
}

fn last_digits(id: &str) -> &str {
    id.get(id.len().saturating_sub(DIGITS)..).unwrap_or(id)
}
