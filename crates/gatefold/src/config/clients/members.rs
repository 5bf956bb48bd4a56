//! What a client's file says about a server besides how to reach it.

use std::time::Duration;

use gatefold_config::{Field, Table, Text, Value};
use gatefold_policy::Effect;

use super::launch;
use super::sign_in::{self, ClientSignIn};

/// Settings of clients about reaching a server that cannot be imported.
const LEFT_BEHIND: &[&str] = &["headersHelper", "authProviderType", "sandbox"];

/// Settings about how the client itself treats a server: how it is labelled, how long the client
/// waits for it, and which of its calls need no question. They change nothing about the server.
const CLIENTS_OWN: &[&str] = &[
    "name",
    "display_name",
    "bundled",
    "source",
    "gallery",
    "timeout",
    "tool_timeout_sec",
    "connectionTimeout",
    "trust",
    "alwaysAllow",
    "autoApprove",
    // VS Code's gallery, and how it restarts a server that is being written.
    "version",
    "dev",
    // Continue's picture and the file that an entry comes from.
    "faviconUrl",
    "sourceFile",
];

/// The list of a server's tools.
const TOOLS: &str = "tools";
const ALL_TOOLS: &str = "*";

/// What a client's file says about a server besides how to reach it.
#[derive(Default)]
pub(super) struct Members {
    pub(super) is_disabled: bool,
    pub(super) effects: Vec<(Effect, String)>,
    pub(super) connect_deadline: Option<Duration>,
    pub(super) description: Option<String>,
    pub(super) sign_in: Option<ClientSignIn>,
    pub(super) left_behind: Vec<&'static str>,
    pub(super) env_file: Option<String>,
}

impl Members {
    pub(super) fn read(table: &mut Table<'_>) -> Self {
        let left_behind = LEFT_BEHIND.iter().filter(|key| table.field(key).is_some());
        let mut left_behind: Vec<_> = left_behind.copied().collect();
        let (sign_in, of_sign_in) = sign_in::read(table);
        left_behind.extend(of_sign_in);
        let mut text =
            |keys: &[&'static str]| table.field_of_any(keys).and_then(|field| plain_text(&field));
        let (description, env_file) = (text(&["description"]), text(&["envFile", "env_file"]));
        Self {
            is_disabled: is_disabled(table),
            effects: effects(table),
            connect_deadline: start_limit(table),
            description,
            sign_in,
            left_behind,
            env_file,
        }
    }
}

/// The members that were not read, except the client's own and empty ones.
pub(super) fn unread(table: &Table<'_>) -> Vec<String> {
    let says_nothing = |value: &Value| match value {
        Value::Null => true,
        Value::Text(text) => text.is_empty(),
        Value::List(items) => items.is_empty(),
        Value::Table(entries) => entries.is_empty(),
        Value::Number(_) | Value::Flag(_) | Value::Date => false,
    };
    let unread = table
        .unread()
        .filter(|(key, field)| !CLIENTS_OWN.contains(key) && !says_nothing(field.value()));
    let unread = unread.map(|(key, _)| key.to_owned());
    // Of this one, only the headers are read.
    let options = table.peek(launch::REQUEST_OPTIONS);
    let options = options.iter().flat_map(|field| match field.value() {
        Value::Table(entries) => entries.as_slice(),
        _ => &[],
    });
    let options = options.filter(|entry| !["headers", "timeout"].contains(&entry.key.as_str()));
    let options = options.map(|entry| format!("{}.{}", launch::REQUEST_OPTIONS, entry.key));
    let is_read = |key: &String| key != launch::REQUEST_OPTIONS;
    unread.filter(is_read).chain(options).collect()
}

fn is_disabled(table: &mut Table<'_>) -> bool {
    let mut says = |key, expected| {
        let field = table.field(key);
        field.is_some_and(|field| matches!(field.value(), Value::Flag(flag) if *flag == expected))
    };
    says("disabled", true) || says("enabled", false)
}

fn effects(table: &mut Table<'_>) -> Vec<(Effect, String)> {
    let mut effects = Vec::new();
    for (keys, effect) in [
        (&["includeTools", "enabledTools", "enabled_tools", "available_tools"][..], Effect::Allow),
        (&["excludeTools", "disabledTools", "disabled_tools"], Effect::Deny),
    ] {
        // Where a client's list means "all of them" when it is empty, an empty list restricts
        // nothing.
        let names = table.field_of_any(keys).filter(|field| !field.is_empty_list());
        let names = names.and_then(|field| field.read::<Vec<Text>>()).unwrap_or_default();
        // Clients have no lists of prompts and resources.
        effects.extend(names.into_iter().map(|name| (effect, format!("tool:{}", name.0))));
    }
    effects.extend(listed_tools(table));
    effects
}

/// Copilot CLI's list of the tools that a server has: `*` means all, and none means none.
fn listed_tools(table: &mut Table<'_>) -> Vec<(Effect, String)> {
    let is_list = |field: &Field<'_>| matches!(field.value(), Value::List(_) | Value::Text(_));
    if !table.peek(TOOLS).is_some_and(|field| is_list(&field)) {
        return Vec::new();
    }
    let names: Vec<Text> = match table.field(TOOLS) {
        Some(field) if matches!(field.value(), Value::Text(_)) => {
            field.read().into_iter().collect()
        }
        Some(field) => field.read().unwrap_or_default(),
        None => Vec::new(),
    };
    if names.iter().any(|name| name.0 == ALL_TOOLS) {
        return Vec::new();
    }
    if names.is_empty() {
        return vec![(Effect::Deny, format!("tool:{ALL_TOOLS}"))];
    }
    names.into_iter().map(|name| (Effect::Allow, format!("tool:{}", name.0))).collect()
}

/// Codex's limit for the start of a server. Other clients' `timeout` limits calls.
fn start_limit(table: &mut Table<'_>) -> Option<Duration> {
    const LONGEST_S: f64 = 3600.0;
    let number = |field: Field<'_>| match field.value() {
        Value::Number(number) => number.parse::<f64>().ok(),
        _ => None,
    };
    let seconds = table.field("startup_timeout_sec").and_then(number);
    let millis = table.field("startup_timeout_ms").and_then(number);
    let seconds = seconds.or(millis.map(|millis| millis / 1000.0))?;
    (seconds > 0.0 && seconds <= LONGEST_S).then(|| Duration::from_secs_f64(seconds))
}

/// A text for people; a value of another type is not worth a fault.
fn plain_text(field: &Field<'_>) -> Option<String> {
    match field.value() {
        Value::Text(text) if !text.trim().is_empty() => Some(text.trim().to_owned()),
        _ => None,
    }
}
