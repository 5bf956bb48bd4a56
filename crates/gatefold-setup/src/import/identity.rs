//! Which servers are the same: they reach the same thing, as the same user, and allow the same
//! tools.

use std::collections::HashSet;

use gatefold::Environment;
use gatefold::config::ClientServer;
use gatefold::config::kinds::mcp::McpConnection;
use gatefold_clients::Client;
use gatefold_config::{Part, parts, resolved};
use gatefold_core::{Domain, Secret};
use gatefold_policy::Effect;

use super::SkipReason;

/// Everything that makes a server what it is, as texts that can be compared one by one.
type Identity = Vec<String>;

/// The sources of the configuration, and those added by this import.
pub(super) struct KnownSources<'e> {
    environment: &'e Environment,
    existing: Vec<(String, Identity)>,
    added: Vec<(String, Identity)>,
}

impl<'e> KnownSources<'e> {
    /// The sources of a configuration's text.
    pub(super) fn of(existing: &str, environment: &'e Environment) -> Self {
        let mut existing = written_sources(existing);
        for (_, identity) in &mut existing {
            put_in_home(identity, environment);
        }
        Self { environment, existing, added: Vec::new() }
    }

    /// Why a server needs no source of its own: it already has one.
    pub(super) fn same(&self, server: &ClientServer) -> Option<SkipReason> {
        let identity = self.identity(server);
        if let Some((key, _)) = self.added.iter().find(|(_, known)| *known == identity) {
            return Some(SkipReason::SameAs(key.clone()));
        }
        // A server that is off adds nothing to a source that is on, so that difference does not
        // count.
        let from = usize::from(!server.is_enabled);
        let certainty = |known: &Identity| self.certainty(&known[from..], &identity[from..]);
        let existing = self.existing.iter().map(|(key, known)| (key, certainty(known)));
        let best = existing.max_by_key(|(_, certainty)| *certainty)?;
        match best {
            (key, MatchCertainty::Same) => Some(SkipReason::AlreadyThere(key.clone())),
            (key, MatchCertainty::Perhaps) => Some(SkipReason::MayBeThere(key.clone())),
            (_, MatchCertainty::Different) => None,
        }
    }

    fn certainty(&self, known: &[String], texts: &[String]) -> MatchCertainty {
        let nothing = |_: &str| None;
        let could_be = known.len() == texts.len()
            && known.iter().zip(texts).all(|(known, text)| {
                stands_for(known, text, &nothing) != MatchCertainty::Different
            });
        if !could_be {
            return MatchCertainty::Different;
        }
        // The keyring is only asked if everything else matches.
        let value = |inner: &str| resolved(inner, self.environment);
        let all = known.iter().zip(texts).map(|(known, text)| stands_for(known, text, &value));
        all.min().unwrap_or(MatchCertainty::Same)
    }

    fn identity(&self, server: &ClientServer) -> Identity {
        let mut identity = of_server(server);
        put_in_home(&mut identity, self.environment);
        identity
    }

    /// Adds a server as a source, and gives the source's name.
    pub(super) fn add(&mut self, server: &ClientServer, client: Client) -> String {
        let key = self.free_key(&server.name, client);
        self.added.push((key.clone(), self.identity(server)));
        key
    }

    /// The server's own name if no source has its domain, else the name with the client's.
    fn free_key(&self, name: &str, client: Client) -> String {
        let domains: HashSet<_> =
            self.existing.iter().chain(&self.added).map(|(key, _)| Domain::from_key(key)).collect();
        let with_client = format!("{name}-{}", client.id());
        let numbered = (2..).map(|n| format!("{with_client}-{n}"));
        let mut keys = [name.to_owned(), with_client.clone()].into_iter().chain(numbered);
        let key = keys.find(|key| !domains.contains(&Domain::from_key(key)));
        // Truncating a name that is too long would cut off what distinguishes it, so its numbered
        // domain becomes the name.
        key.filter(|key| key.len() <= Domain::MAX_LENGTH).unwrap_or_else(|| {
            let domain = Domain::from_key(name);
            let mut free = (1..).map(|n| if n == 1 { domain.clone() } else { domain.numbered(n) });
            let free = free.find(|domain| !domains.contains(domain));
            free.expect("there are more numbers than sources").as_str().to_owned()
        })
    }
}

/// How surely two texts mean the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum MatchCertainty {
    Different,
    /// They do if a reference has the right value.
    Perhaps,
    Same,
}

/// Whether a text of the configuration means the same as `text`. A reference in it stands for its
/// value, or for any text if `value` does not know it. Both are in Gatefold's notation.
fn stands_for(written: &str, text: &str, value: &dyn Fn(&str) -> Option<String>) -> MatchCertainty {
    if written == text {
        return MatchCertainty::Same;
    }
    let mut literals = vec![String::new()];
    for part in parts(written) {
        let last = literals.last_mut().expect("there is always one");
        match part {
            Part::Plain(text) | Part::Unclosed(text) => last.push_str(text),
            Part::Reference(inner) => match value(inner) {
                Some(value) => last.push_str(&value),
                None => literals.push(String::new()),
            },
        }
    }
    let text = put_in(text, value);
    let is_like = match literals.as_slice() {
        [whole] if *whole == text => return MatchCertainty::Same,
        [first, middle @ .., last] => fits(first, middle, last, &text),
        _ => false,
    };
    if is_like { MatchCertainty::Perhaps } else { MatchCertainty::Different }
}

/// Whether a text has these pieces in this order, and something in the last gap.
fn fits(first: &str, middle: &[String], last: &str, text: &str) -> bool {
    let Some(mut rest) = text.strip_prefix(first) else { return false };
    for literal in middle {
        let Some((_, after)) = rest.split_once(literal.as_str()) else { return false };
        rest = after;
    }
    rest.len() > last.len() && rest.ends_with(last)
}

/// Puts the home folder in: some clients write `${HOME}/notes`, others the path.
fn put_in_home(identity: &mut Identity, environment: &Environment) {
    let home = environment.home().map(|home| home.display().to_string());
    let value = |inner: &str| home.clone().filter(|_| inner == "HOME");
    for text in identity.iter_mut().filter(|text| text.contains("${HOME}")) {
        *text = put_in(text, &value);
    }
}

fn put_in(text: &str, value: &dyn Fn(&str) -> Option<String>) -> String {
    let part = |part| match part {
        Part::Plain(text) | Part::Unclosed(text) => text.to_owned(),
        Part::Reference(inner) => value(inner).unwrap_or_else(|| format!("${{{inner}}}")),
    };
    parts(text).map(part).collect()
}

fn of_server(server: &ClientServer) -> Identity {
    let (mut allow, mut deny) = (Vec::new(), Vec::new());
    for (effect, pattern) in &server.effects {
        if *effect == Effect::Allow { &mut allow } else { &mut deny }.push(pattern.clone());
    }
    let connection = server.connection.as_ref().map_err(|why| why.on_one_line());
    identity(connection, server.is_enabled, [allow, deny])
}

/// `connection` may be the reason why there is none.
fn identity(
    connection: Result<&McpConnection, String>,
    is_enabled: bool,
    patterns: [Vec<String>; 2],
) -> Identity {
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
        Ok(McpConnection::Stdio { command, args, env, inherit_env, cwd }) => {
            pairs(env, str::to_owned);
            let cwd = cwd.as_ref().map(|cwd| cwd.display().to_string());
            add(cwd.into_iter().collect(), false);
            add(inherit_env.clone(), true);
            add(std::iter::once(command).chain(args).cloned().collect(), false);
        }
        Ok(McpConnection::Http { url, headers }) => {
            pairs(headers, str::to_lowercase);
            add(vec![url.clone()], false);
        }
        Err(why) if why.is_empty() => {}
        Err(why) => add(vec![why], false),
    }
    identity
}

/// The sources of a configuration's text, their references left as they are. A text that cannot be
/// read has none.
fn written_sources(text: &str) -> Vec<(String, Identity)> {
    let root = toml::from_str::<toml::Table>(text).unwrap_or_default();
    let sources = root.get("sources").and_then(toml::Value::as_table).cloned();
    let sources = sources.unwrap_or_default().into_iter();
    sources.map(|(key, source)| (key, of_written(&source))).collect()
}

fn of_written(source: &toml::Value) -> Identity {
    let connection = connection_as_written(source);
    let is_enabled = source.get("enabled").and_then(toml::Value::as_bool).unwrap_or(true);
    let patterns = [texts_at(source, "allow"), texts_at(source, "deny")];
    identity(connection.as_ref().ok_or_else(String::new), is_enabled, patterns)
}

/// How a source is reached, its references left as they are.
pub(crate) fn connection_as_written(source: &toml::Value) -> Option<McpConnection> {
    let text = |key: &str| source.get(key).and_then(toml::Value::as_str).map(str::to_owned);
    let pairs = |key: &str| {
        let table = source.get(key).and_then(toml::Value::as_table);
        let pair = |(name, value): (&String, &toml::Value)| {
            Some((name.clone(), Secret::new(loose_text(value)?)))
        };
        table.into_iter().flatten().filter_map(pair).collect()
    };
    match (text("command"), text("url")) {
        (Some(command), _) => Some(McpConnection::Stdio {
            command,
            args: texts_at(source, "args"),
            env: pairs("env"),
            inherit_env: texts_at(source, "inherit_env"),
            cwd: text("cwd").map(Into::into),
        }),
        (None, Some(url)) => Some(McpConnection::Http { url, headers: pairs("headers") }),
        (None, None) => None,
    }
}

fn texts_at(source: &toml::Value, key: &str) -> Vec<String> {
    let list = source.get(key).and_then(toml::Value::as_array);
    list.into_iter().flatten().filter_map(loose_text).collect()
}

/// The text that a program or a header gets for a value.
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
    fn a_reference_stands_for_its_value_or_else_for_any_text() {
        use MatchCertainty::{Different, Perhaps, Same};
        let value = |inner: &str| (inner == "KNOWN").then(|| "hunter2".to_owned());
        for (written, text, expected) in [
            ("a", "a", Same),
            ("a", "b", Different),
            ("${secret:A}", "hunter2", Perhaps),
            ("${secret:A}", "", Different),
            ("Bearer ${A}", "Bearer hunter2", Perhaps),
            ("Bearer ${A}", "Basic hunter2", Different),
            ("postgres://a:${A}@${H}/d", "postgres://a:p@h/d", Perhaps),
            ("postgres://a:${A}@h/d", "postgres://a:p@h/e", Different),
            ("$${A}", "x", Different),
            ("$${A}${B}", "$${A}b", Perhaps),
            ("Bearer ${KNOWN}", "Bearer hunter2", Same),
            ("Bearer ${KNOWN}", "Bearer hunter3", Different),
            ("${KNOWN}:${A}", "hunter2:x", Perhaps),
            ("${KNOWN}:${A}", "hunter3:x", Different),
            ("${KNOWN}", "${KNOWN}", Same),
        ] {
            assert_eq!(stands_for(written, text, &value), expected, "{written} {text}");
        }
    }
}
