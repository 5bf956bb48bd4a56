//! Sources as text for a `gatefold.toml`.

use std::fmt::{self, Write as _};
use std::path::Path;
use std::time::Duration;

use gatefold::config::ClientSignIn;
use gatefold::config::kinds::mcp::McpConnection;
use gatefold_clients::toml_key;
use gatefold_config::duration_text;
use gatefold_core::Secret;
use gatefold_policy::Effect;
use toml::Value;

use super::import::{ImportPlan, PlannedSource};
use super::{SetupError, files};

/// The shortest deadline that can be written.
const LEAST: Duration = Duration::from_millis(1);

/// What a new file begins with.
pub(super) const HEAD: &str = "\
# Gatefold's sources. `gatefold config explain` says what else can go here; `gatefold check`
# connects every source and reports how it does.
";

/// The configuration with the planned sources appended. What was there stays unchanged.
pub fn append(
    existing: Option<&str>,
    plan: &ImportPlan,
    path: &Path,
) -> Result<String, SetupError> {
    let mut text = existing.unwrap_or(HEAD).to_owned();
    // New lines end like the file's own.
    let end = if text.contains("\r\n") { "\r\n" } else { "\n" };
    if !text.is_empty() && !text.ends_with('\n') {
        text.push_str(end);
    }
    for source in &plan.sources {
        text.push_str(end);
        text.push_str(&block(source).replace('\n', end));
    }
    if let Some(file) = plan.secrets_file.as_ref().filter(|_| !plan.secrets.is_empty()) {
        let file = self::text(&file.display().to_string().replace("${", "$${"));
        text.push_str(&format!("\n[secrets]\nfile = {file}\n").replace('\n', end));
    }
    match toml::from_str::<toml::Table>(&text) {
        Ok(_) => Ok(text),
        Err(error) => {
            let fault = error.message().to_owned();
            Err(SetupError::NotAppendable { path: path.to_owned(), fault })
        }
    }
}

/// Writes the configuration, unless somebody else changed it in the meantime.
pub fn write(path: &Path, existing: Option<&str>, text: &str) -> Result<(), SetupError> {
    files::replace(path, existing, Some(text))
}

/// Settings with which clients sign in.
const SIGN_INS: [&str; 3] = ["oauth", "auth", "authProviderType"];

fn block(source: &PlannedSource) -> String {
    let PlannedSource { key, client, server, .. } = source;
    // A line break in a folder's name would end the comment.
    let file = server.origin.file.display().to_string().replace(char::is_control, "?");
    let mut members = server.connection.as_ref().map(Members::of).unwrap_or_default();
    if let Some(description) = &server.description {
        members.put_description(description);
    }
    if let Some(sign_in) = &server.sign_in {
        members.put("oauth", sign_in_value(sign_in));
    }
    for (key, wanted) in [("allow", Effect::Allow), ("deny", Effect::Deny)] {
        let patterns = server.effects.iter().filter(|(effect, _)| *effect == wanted);
        let patterns: Vec<_> = patterns.map(|(_, pattern)| pattern.clone()).collect();
        members.put_list(key, &patterns);
    }
    for (key, deadline) in
        [("connect_deadline", server.connect_deadline), ("call_deadline", server.call_deadline)]
    {
        if let Some(deadline) = deadline {
            members.put(key, text(&duration_text(deadline.max(LEAST))));
        }
    }
    if !server.is_enabled {
        members.put("enabled", Value::Boolean(false));
    }
    let mut block = format!("# From {client}: {file}\n[sources.{}]\n{members}", toml_key(key));
    for setting in server.not_taken_over() {
        let shown = setting.replace(char::is_control, "?");
        let signs_in = SIGN_INS.contains(&setting);
        if server.sign_in.is_some() && signs_in {
            let _ = writeln!(block, "# {client} has more in `{shown}` than was imported.");
            continue;
        }
        let _ = writeln!(block, "# {client} also has `{shown}` here, which was not imported.");
        if signs_in {
            let _ = writeln!(block, "# If the server asks for a sign-in: gatefold login {key}");
        }
    }
    for note in &server.notes {
        let _ = writeln!(block, "# {}", note.replace(char::is_control, "?"));
    }
    block
}

/// The provider's client, as `oauth` has it.
fn sign_in_value(sign_in: &ClientSignIn) -> Value {
    let ClientSignIn { id, secret, scopes, redirect_url } = sign_in;
    let mut keys = toml::Table::new();
    keys.insert("client_id".to_owned(), text(id));
    if let Some(secret) = secret {
        keys.insert("client_secret".to_owned(), text(secret.expose()));
    }
    if let Some(url) = redirect_url {
        keys.insert("redirect_url".to_owned(), text(url));
    }
    if let Some(scopes) = scopes {
        let scopes = scopes.iter().map(|scope| text(scope)).collect();
        keys.insert("scopes".to_owned(), Value::Array(scopes));
    }
    Value::Table(keys)
}

/// The keys of a source with their values, in the order in which they are written. `Display` prints
/// a line for each.
#[derive(Debug, Default)]
pub(super) struct Members(pub(super) Vec<(&'static str, Value)>);

impl Members {
    /// How a source is reached.
    pub(super) fn of(connection: &McpConnection) -> Self {
        let mut members = Self::default();
        match connection {
            McpConnection::Stdio { command, args, env, inherit_env, cwd } => {
                members.put("command", text(command));
                members.put_list("args", args);
                members.put_pairs("env", env);
                members.put_list("inherit_env", inherit_env);
                if let Some(cwd) = cwd {
                    members.put("cwd", text(&cwd.display().to_string()));
                }
            }
            McpConnection::Http { url, headers } => {
                members.put("url", text(url));
                members.put_pairs("headers", headers);
            }
        }
        members
    }

    /// A text from elsewhere, in which nothing counts as a reference.
    pub(super) fn put_description(&mut self, description: &str) {
        self.put("description", text(&description.replace("${", "$${")));
    }

    pub(super) fn put_list(&mut self, key: &'static str, items: &[String]) {
        if !items.is_empty() {
            self.put(key, Value::Array(items.iter().map(|item| text(item)).collect()));
        }
    }

    pub(super) fn put_pairs(&mut self, key: &'static str, pairs: &[(String, Secret)]) {
        if !pairs.is_empty() {
            let pairs = pairs.iter().map(|(name, value)| (name.clone(), text(value.expose())));
            self.put(key, Value::Table(pairs.collect()));
        }
    }

    pub(super) fn put(&mut self, key: &'static str, value: Value) {
        self.0.push((key, value));
    }
}

impl fmt::Display for Members {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|(key, value)| writeln!(f, "{key} = {value}"))
    }
}

pub(super) fn text(text: &str) -> Value {
    Value::String(text.to_owned())
}
