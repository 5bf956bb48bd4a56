//! Access tokens as people are shown them.

use gatefold_core::Timestamp;
use gatefold_operations::{AccessTokenRecord, SignedInClient};

use crate::cli::output::Style;
use crate::cli::table::Table;

/// A table of tokens.
pub(super) fn lines(records: &[AccessTokenRecord], now: Timestamp, style: Style) -> Vec<String> {
    if records.is_empty() {
        return vec!["no access tokens; `gatefold token create` makes one".to_owned()];
    }
    let heads = ["name", "id", "for", "agent", "sees", "expires", "last used"];
    let mut table = Table::new(&heads).spare(&[3, 6, 4]);
    for record in records {
        let expires = match record.expires_at {
            Some(at) if record.has_expired(now) => style.bad(&format!("{}, over", day(at))),
            Some(at) => day(at),
            None => "never".to_owned(),
        };
        table.row([
            style.strong(&record.name),
            record.id.to_string(),
            record.user.to_string(),
            record.agent.as_ref().map(ToString::to_string).unwrap_or_default(),
            sees(record),
            expires,
            record.last_used.map_or_else(|| "never".to_owned(), hour),
        ]);
    }
    table.lines(style)
}

/// A table of clients.
pub(super) fn client_lines(clients: &[SignedInClient], style: Style) -> Vec<String> {
    let heads = ["client", "id", "of", "may use", "until", "last used"];
    let mut table = Table::new(&heads).spare(&[3, 5]);
    for client in clients {
        // Its name is what it says of itself.
        let name: String = client.name.chars().filter(|c| !c.is_control()).collect();
        let reads = if client.read_only { ", only reading" } else { "" };
        table.row([
            style.strong(&name),
            client.id.to_string(),
            client.user.to_string(),
            format!("{}{reads}", client.resource),
            day(client.expires_at),
            client.last_used.map_or_else(|| "never".to_owned(), hour),
        ]);
    }
    table.lines(style)
}

/// Until when a token is good.
pub(super) fn until(record: &AccessTokenRecord) -> String {
    match record.expires_at {
        Some(at) => format!("good until {}", minute(at)),
        None => "good until it is revoked".to_owned(),
    }
}

/// What a token leaves of what its user sees.
fn sees(record: &AccessTokenRecord) -> String {
    let tools = match record.tools.as_slice() {
        [] => "all".to_owned(),
        patterns => patterns.join(", "),
    };
    if record.read_only { format!("{tools}; read-only tools") } else { tools }
}

fn day(at: Timestamp) -> String {
    cut(at, "2026-11-21".len())
}

fn hour(at: Timestamp) -> String {
    cut(at, "2026-11-21T09".len()).replace('T', " ") + ":00Z"
}

fn minute(at: Timestamp) -> String {
    cut(at, "2026-11-21T09:57".len()).replace('T', " ") + "Z"
}

/// The beginning of an RFC 3339 time.
fn cut(at: Timestamp, length: usize) -> String {
    at.to_string().chars().take(length).collect()
}

#[cfg(test)]
mod tests {
    use gatefold_core::{AgentId, TokenId, UserId};

    use super::*;

    const NOW: Timestamp = Timestamp::from_millis(1_795_255_020_000);

    fn record(name: &str) -> AccessTokenRecord {
        AccessTokenRecord {
            id: TokenId::new("7hq2-m4xk"),
            name: name.to_owned(),
            user: UserId::new("ann"),
            agent: None,
            tools: Vec::new(),
            read_only: false,
            created_at: NOW,
            expires_at: None,
            last_used: None,
        }
    }

    #[test]
    fn a_list_says_what_each_token_sees_and_until_when() {
        let narrow = AccessTokenRecord {
            agent: Some(AgentId::new("sales")),
            tools: vec!["mail__*".to_owned(), "crm__find".to_owned()],
            read_only: true,
            expires_at: Some(NOW),
            last_used: Some(NOW),
            ..record("ci")
        };
        let shown = lines(&[record("laptop"), narrow], NOW, Style::plain()).join("\n");
        for part in [
            "laptop",
            "7hq2-m4xk",
            "all",
            "never",
            "sales",
            "mail__*, crm__find; read-only tools",
            "2026-11-21, over",
            "2026-11-21 09:00Z",
        ] {
            assert!(shown.contains(part), "no `{part}` in\n{shown}");
        }
        for width in [80, 120] {
            let lines = lines(&[record("laptop")], NOW, Style::plain().within(width));
            assert!(lines.iter().all(|line| line.chars().count() <= width), "{lines:#?}");
        }
        assert_eq!(lines(&[], NOW, Style::plain()).len(), 1);
    }
}
