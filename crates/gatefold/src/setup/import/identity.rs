//! Which servers are the same: those that reach the same, as the same, and show the same of it.

use std::collections::HashSet;

use gatefold_clients::Client;
use gatefold_core::{Domain, Secret};
use gatefold_policy::Effect;

use super::Why;
use crate::config::{ClientServer, Connection};

/// All that makes a server what it is, in a form that can be compared text by text.
type Identity = Vec<String>;

/// The sources that there are already, and those that come to them.
pub(super) struct Known {
    existing: Vec<(String, Identity)>,
    added: Vec<(String, Identity)>,
}

impl Known {
    /// The sources of a configuration's text.
    pub(super) fn of(existing: &str) -> Self {
        Self { existing: written_sources(existing), added: Vec::new() }
    }

    /// The source that a server is already.
    pub(super) fn same(&self, server: &ClientServer) -> Option<Why> {
        let identity = of_server(server);
        // Where the configuration refers to a secret, the client may have the secret itself.
        let is_same = |(_, known): &&(String, Identity)| {
            known.len() == identity.len()
                && known.iter().zip(&identity).all(|(known, text)| stands_for(known, text))
        };
        let added = self.added.iter().find(|(_, known)| *known == identity);
        let existing = self.existing.iter().find(is_same);
        let existing = existing.map(|(key, _)| Why::AlreadyThere(key.clone()));
        existing.or_else(|| added.map(|(key, _)| Why::SameAs(key.clone())))
    }

    /// Takes note of a server that becomes a source, and gives the source's name.
    pub(super) fn add(&mut self, server: &ClientServer, client: Client) -> String {
        let key = self.free_key(&server.name, client);
        self.added.push((key.clone(), of_server(server)));
        key
    }

    /// The server's own name if it gives a domain that no source has, else with the client's.
    fn free_key(&self, name: &str, client: Client) -> String {
        let domains: HashSet<_> =
            self.existing.iter().chain(&self.added).map(|(key, _)| Domain::from_key(key)).collect();
        let with_client = format!("{name}-{}", client.id());
        let numbered = (2..).map(|n| format!("{with_client}-{n}"));
        let mut keys = [name.to_owned(), with_client.clone()].into_iter().chain(numbered);
        let key = keys.find(|key| !domains.contains(&Domain::from_key(key)));
        // A name so long that what tells it apart is cut off takes its number as a domain.
        key.filter(|key| key.len() <= Domain::MAX_LENGTH).unwrap_or_else(|| {
            let domain = Domain::from_key(name);
            let mut free = (1..).map(|n| if n == 1 { domain.clone() } else { domain.numbered(n) });
            let free = free.find(|domain| !domains.contains(domain));
            free.expect("there are more numbers than sources").as_str().to_owned()
        })
    }
}

/// Whether a text of the configuration is this one, each reference in it being any text at all.
/// Both are in Gatefold's notation.
fn stands_for(written: &str, text: &str) -> bool {
    if written == text {
        return true;
    }
    let mut literals = vec![String::new()];
    let mut rest = written;
    while let Some(start) = rest.find("${") {
        let (before, reference) = rest.split_at(start);
        let last = literals.last_mut().expect("there is always one");
        last.push_str(before);
        rest = &reference[2..];
        if before.ends_with('$') {
            last.push_str("${");
        } else if let Some((_, after)) = rest.split_once('}') {
            literals.push(String::new());
            rest = after;
        }
    }
    literals.last_mut().expect("there is always one").push_str(rest);
    let [first, middle @ .., last] = literals.as_slice() else { return false };
    let Some(mut rest) = text.strip_prefix(first.as_str()) else { return false };
    for literal in middle {
        let Some((_, after)) = rest.split_once(literal.as_str()) else { return false };
        rest = after;
    }
    rest.len() > last.len() && rest.ends_with(last.as_str())
}

fn of_server(server: &ClientServer) -> Identity {
    let (mut allow, mut deny) = (Vec::new(), Vec::new());
    for (effect, pattern) in &server.effects {
        if *effect == Effect::Allow { &mut allow } else { &mut deny }.push(pattern.clone());
    }
    identity(&server.connection, server.is_enabled, [allow, deny])
}

fn identity(connection: &Connection, is_enabled: bool, patterns: [Vec<String>; 2]) -> Identity {
    let mut identity = vec![is_enabled.to_string()];
    // Each list begins with its length, so that no item can be taken for another list's.
    let mut add = |mut items: Vec<String>, is_sorted: bool| {
        if is_sorted {
            items.sort();
        }
        identity.push(items.len().to_string());
        identity.append(&mut items);
    };
    for patterns in patterns {
        add(patterns, true);
    }
    let mut pairs = |pairs: &[(String, Secret)], fold: fn(&str) -> String| {
        let mut pairs: Vec<_> =
            pairs.iter().map(|(name, value)| (fold(name), value.expose().to_owned())).collect();
        pairs.sort();
        add(pairs.into_iter().flat_map(|(name, value)| [name, value]).collect(), false);
    };
    match connection {
        Connection::Stdio { command, args, env, inherit_env, cwd } => {
            pairs(env, str::to_owned);
            let cwd = cwd.as_ref().map(|cwd| cwd.display().to_string());
            add(cwd.into_iter().collect(), false);
            add(inherit_env.clone(), true);
            add(std::iter::once(command).chain(args).cloned().collect(), false);
        }
        Connection::Http { url, headers } => {
            pairs(headers, str::to_lowercase);
            add(vec![url.clone()], false);
        }
        Connection::Disabled => {}
        Connection::Unusable(why) => add(vec![why.on_one_line()], false),
    }
    identity
}

/// The sources of a configuration's text, their references left as they are. What cannot be read
/// is the same as nothing.
fn written_sources(text: &str) -> Vec<(String, Identity)> {
    let root = toml::from_str::<toml::Table>(text).unwrap_or_default();
    let sources = root.get("sources").and_then(toml::Value::as_table).cloned();
    let sources = sources.unwrap_or_default().into_iter();
    sources.map(|(key, source)| (key, of_written(&source))).collect()
}

fn of_written(source: &toml::Value) -> Identity {
    let text = |key: &str| source.get(key).and_then(toml::Value::as_str).map(str::to_owned);
    let list = |key: &str| {
        let list = source.get(key).and_then(toml::Value::as_array);
        list.into_iter().flatten().filter_map(loose_text).collect::<Vec<_>>()
    };
    let pairs = |key: &str| {
        let table = source.get(key).and_then(toml::Value::as_table);
        let pair = |(name, value): (&String, &toml::Value)| {
            Some((name.clone(), Secret::new(loose_text(value)?)))
        };
        table.into_iter().flatten().filter_map(pair).collect()
    };
    let connection = match (text("command"), text("url")) {
        (Some(command), _) => Connection::Stdio {
            command,
            args: list("args"),
            env: pairs("env"),
            inherit_env: list("inherit_env"),
            cwd: text("cwd").map(Into::into),
        },
        (None, Some(url)) => Connection::Http { url, headers: pairs("headers") },
        (None, None) => Connection::Disabled,
    };
    let is_enabled = source.get("enabled").and_then(toml::Value::as_bool).unwrap_or(true);
    identity(&connection, is_enabled, [list("allow"), list("deny")])
}

/// What a program or a header is given for a value.
fn loose_text(value: &toml::Value) -> Option<String> {
    match value {
        toml::Value::String(text) => Some(text.clone()),
        toml::Value::Integer(_) | toml::Value::Float(_) | toml::Value::Boolean(_) => {
            Some(value.to_string())
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reference_stands_for_any_text() {
        for (written, text, expected) in [
            ("a", "a", true),
            ("a", "b", false),
            ("${secret:A}", "hunter2", true),
            ("${secret:A}", "", false),
            ("Bearer ${A}", "Bearer hunter2", true),
            ("Bearer ${A}", "Basic hunter2", false),
            ("postgres://a:${A}@${H}/d", "postgres://a:p@h/d", true),
            ("postgres://a:${A}@h/d", "postgres://a:p@h/e", false),
            ("$${A}", "x", false),
            ("$${A}${B}", "$${A}b", true),
        ] {
            assert_eq!(stands_for(written, text), expected, "{written} {text}");
        }
    }
}
