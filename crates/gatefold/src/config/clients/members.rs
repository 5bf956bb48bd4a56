//! What a client's file says about a server besides how to reach it.

use std::time::Duration;

use gatefold_config::{Field, Table, Text};
use gatefold_located::Value;
use gatefold_policy::Effect;

use super::launch;
use super::sign_in::{self, ClientSignIn};

/// Settings of clients about reaching a server that cannot be imported.
const LEFT_BEHIND: &[&str] = &["headersHelper", "authProviderType", "sandbox"];

/// Settings about how the client itself treats a server: how long it waits, and which calls need no
/// question. They change nothing about the server, but whoever wrote them wants to know where they
/// went.
const CLIENTS_OWN: &[&str] = &[
    "timeout",
    "tool_timeout_sec",
    "startup_timeout_sec",
    "startup_timeout_ms",
    "connectionTimeout",
    "trust",
    "alwaysAllow",
    "autoApprove",
    // How VS Code restarts a server that is being written.
    "dev",
];

/// Settings about how the client shows a server.
const SHOWN: &[&str] = &[
    "name",
    "serverName",
    "display_name",
    "displayName",
    "title",
    "icon",
    "iconPath",
    "faviconUrl",
    "bundled",
    "source",
    "sourceFile",
    "gallery",
    "version",
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
    pub(super) call_deadline: Option<Duration>,
    pub(super) description: Option<String>,
    pub(super) sign_in: Option<ClientSignIn>,
    pub(super) left_behind: Vec<&'static str>,
    pub(super) env_file: Option<String>,
}

impl Members {
    pub(super) fn read(table: &mut Table<'_>, timeout: Timeout) -> Self {
        let (connect_deadline, call_deadline) = deadlines(table, timeout);
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
            connect_deadline,
            call_deadline,
            description,
            sign_in,
            left_behind,
            env_file,
        }
    }
}

/// The members that were not read, except empty ones.
#[derive(Default)]
pub(super) struct Unread {
    /// Their meaning is not known here.
    pub(super) unknown: Vec<String>,
    /// They concern what the client does with the server.
    pub(super) clients_own: Vec<String>,
    /// They concern how the client shows the server.
    pub(super) shown: Vec<String>,
}

impl Unread {
    pub(super) fn of(table: &Table<'_>, name: &str) -> Self {
        let mut unread = Self::default();
        for (key, field) in table.unread().filter(|(_, field)| !says_nothing(field.value())) {
            let is_off = matches!(field.value(), Value::Flag(false));
            if SHOWN.contains(&key) {
                let is_name = matches!(field.value(), Value::Text(text) if text.trim() == name);
                if !is_off && !is_name {
                    unread.shown.push(key.to_owned());
                }
            } else if CLIENTS_OWN.contains(&key) {
                if !is_off {
                    unread.clients_own.push(key.to_owned());
                }
            } else if key != launch::REQUEST_OPTIONS {
                unread.unknown.push(key.to_owned());
            }
        }
        unread.add_options(table);
        unread
    }

    pub(super) fn add(&mut self, other: Option<Self>) {
        let other = other.unwrap_or_default();
        self.unknown.extend(other.unknown);
        self.clients_own.extend(other.clients_own);
        self.shown.extend(other.shown);
    }

    /// Continue's options of requests, of which only the headers are read.
    fn add_options(&mut self, table: &Table<'_>) {
        let options = table.peek(launch::REQUEST_OPTIONS);
        let options = options.iter().flat_map(|field| match field.value() {
            Value::Table(entries) => entries.as_slice(),
            _ => &[],
        });
        for entry in options.filter(|entry| !says_nothing(&entry.node.value)) {
            let key = format!("{}.{}", launch::REQUEST_OPTIONS, entry.key);
            match entry.key.as_str() {
                "headers" => {}
                "timeout" => self.clients_own.push(key),
                _ => self.unknown.push(key),
            }
        }
    }
}

fn says_nothing(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Text(text) => text.is_empty(),
        Value::List(items) => items.is_empty(),
        Value::Table(entries) => entries.is_empty(),
        Value::Number(_) | Value::Flag(_) | Value::Date => false,
    }
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

/// What a client means by `timeout`, which each counts in its own way.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Timeout {
    /// The limit of a call, in seconds: Goose and Cline.
    CallSeconds,
    /// The limit of a call, in milliseconds: Gemini CLI.
    CallMillis,
    /// The limit of the start, in milliseconds: opencode.
    StartMillis,
    /// The file may be that of a client that counts either way.
    Unclear,
}

/// The limits of a server's start and of its calls. What is not taken over stays unread.
fn deadlines(table: &mut Table<'_>, timeout: Timeout) -> (Option<Duration>, Option<Duration>) {
    let (call_unit, start_unit) = match timeout {
        Timeout::CallSeconds => (Some(1.0), None),
        Timeout::CallMillis => (Some(MILLIS), None),
        Timeout::StartMillis => (None, Some(MILLIS)),
        Timeout::Unclear => (None, None),
    };
    let starts = [
        ("startup_timeout_sec", Some(1.0)),
        ("startup_timeout_ms", Some(MILLIS)),
        ("connectionTimeout", Some(MILLIS)),
        ("timeout", start_unit),
    ];
    let calls = [("tool_timeout_sec", Some(1.0)), ("timeout", call_unit)];
    let mut first = |keys: &[(&'static str, Option<f64>)]| {
        keys.iter().find_map(|(key, unit)| limit(table, key, (*unit)?))
    };
    (first(&starts), first(&calls))
}

/// How many milliseconds are a second.
const MILLIS: f64 = 1000.0;

/// A number of units as a time, if Gatefold can wait that long.
fn limit(table: &mut Table<'_>, key: &'static str, per_second: f64) -> Option<Duration> {
    const LONGEST_S: f64 = 3600.0;
    let Value::Number(number) = table.peek(key)?.value() else { return None };
    let seconds = number.parse::<f64>().ok()? / per_second;
    let is_usable = seconds > 0.0 && seconds <= LONGEST_S;
    let limit = is_usable.then(|| Duration::from_secs_f64(seconds))?;
    table.field(key);
    Some(limit)
}

/// A text for people; a value of another type is not worth a fault.
fn plain_text(field: &Field<'_>) -> Option<String> {
    match field.value() {
        Value::Text(text) if !text.trim().is_empty() => Some(text.trim().to_owned()),
        _ => None,
    }
}
