//! The command of a child: what it starts with, and what it knows.

use std::process::Stdio;

use tokio::process::Command;

use super::settings::StdioSettings;

/// Variables that every child inherits: what it takes to start a program and to find its caches,
/// and nothing that holds a credential.
const INHERITED: &[&str] = &[
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    "TZ",
    "TMPDIR",
    "XDG_CACHE_HOME",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "NODE_EXTRA_CA_CERTS",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
    "http_proxy",
    "https_proxy",
    "no_proxy",
    "UV_CACHE_DIR",
    "NPM_CONFIG_CACHE",
    "npm_config_cache",
];

/// Set for every child, and so for what it starts in turn. A Gatefold that finds it must not serve:
/// a client's file that leads back to Gatefold would start it without end.
pub const INSIDE: &str = "GATEFOLD_INSIDE";

#[expect(clippy::disallowed_methods, reason = "the child's clean environment is made here")]
pub(super) fn command(settings: &StdioSettings) -> Command {
    let mut command = Command::new(&settings.command);
    command
        .args(&settings.args)
        .env_clear()
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .process_group(0);
    let inherited = INHERITED.iter().copied();
    for name in inherited.chain(settings.inherit_env.iter().map(String::as_str)) {
        if let Some(value) = std::env::var_os(name) {
            command.env(name, value);
        }
    }
    for (name, value) in &settings.env {
        command.env(name, value.expose());
    }
    command.env(INSIDE, "1");
    if let Some(directory) = &settings.cwd {
        command.current_dir(directory);
    }
    command
}

/// The variables that a child inherits from us, if their values are UTF-8.
#[expect(clippy::disallowed_methods, reason = "a child inherits them from this process")]
pub(crate) fn inherited(names: &[String]) -> impl Iterator<Item = (&str, String)> {
    names.iter().filter_map(|name| Some((name.as_str(), std::env::var(name).ok()?)))
}
