//! Sources as text for a `gatefold.toml`.

use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

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
const HEAD: &str = "\
# Gatefold's sources. `gatefold config explain` says what else can go here; `gatefold check`
# connects every source and reports how it does.
";

/// The configuration with the planned sources appended. What it has stays as it is.
pub fn append(
    existing: Option<&str>,
    plan: &ImportPlan,
    path: &Path,
) -> Result<String, SetupError> {
    let mut text = existing.unwrap_or(HEAD).to_owned();
    // New lines end as the file's own do.
    let end = if text.contains("\r\n") { "\r\n" } else { "\n" };
    if !text.is_empty() && !text.ends_with('\n') {
        text.push_str(end);
    }
    for source in &plan.sources {
        text.push_str(end);
        text.push_str(&block(source).replace('\n', end));
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

fn block(source: &PlannedSource) -> String {
    let PlannedSource { key, client, server, .. } = source;
    // A line break in a folder's name would end the comment.
    let file = server.origin.file.display().to_string().replace(char::is_control, "?");
    let mut block = format!("# From {client}: {file}\n[sources.{}]\n", toml_key(key));
    let mut put = |key: &str, value: &Value| {
        let _ = writeln!(block, "{key} = {value}");
    };
    match &server.connection {
        Ok(McpConnection::Stdio { command, args, env, inherit_env, cwd }) => {
            put("command", &text(command));
            put_list(&mut put, "args", args);
            put_pairs(&mut put, "env", env);
            put_list(&mut put, "inherit_env", inherit_env);
            if let Some(cwd) = cwd {
                put("cwd", &text(&cwd.display().to_string()));
            }
        }
        Ok(McpConnection::Http { url, headers }) => {
            put("url", &text(url));
            put_pairs(&mut put, "headers", headers);
        }
        Err(_) => {}
    }
    if let Some(description) = &server.description {
        put("description", &text(&description.replace("${", "$${")));
    }
    for (key, wanted) in [("allow", Effect::Allow), ("deny", Effect::Deny)] {
        let patterns = server.effects.iter().filter(|(effect, _)| *effect == wanted);
        let patterns: Vec<_> = patterns.map(|(_, pattern)| pattern.clone()).collect();
        put_list(&mut put, key, &patterns);
    }
    if let Some(deadline) = server.connect_deadline {
        put("connect_deadline", &text(&duration_text(deadline.max(LEAST))));
    }
    if !server.is_enabled {
        put("enabled", &Value::Boolean(false));
    }
    for setting in &server.left_behind {
        let _ = writeln!(block, "# {client} also has `{setting}` here, which was not imported.");
    }
    block
}

fn text(text: &str) -> Value {
    Value::String(text.to_owned())
}

fn put_list(put: &mut impl FnMut(&str, &Value), key: &str, items: &[String]) {
    if !items.is_empty() {
        put(key, &Value::Array(items.iter().map(|item| text(item)).collect()));
    }
}

fn put_pairs(put: &mut impl FnMut(&str, &Value), key: &str, pairs: &[(String, Secret)]) {
    if !pairs.is_empty() {
        let pairs = pairs.iter().map(|(name, value)| (name.clone(), text(value.expose())));
        put(key, &Value::Table(pairs.collect()));
    }
}
