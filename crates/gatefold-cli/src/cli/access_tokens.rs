//! `gatefold token`: who may reach the gateway, for whom, and how much of it.

mod lifetime;
mod report;

use std::process::ExitCode;

use clap::Subcommand;
use gatefold::Environment;
use gatefold::config::{AuthenticationMode, Config, load};
use gatefold_core::{AgentId, Clock as _, EntryKind, SystemClock, UserId};
use gatefold_operations::{
    AccessTokenRecord, CreatedAccessToken, NAME_BYTES, NewAccessToken, RevokedAccess,
    StateOperations, TOKEN_PATTERN_BYTES, TOKEN_PATTERNS,
};
use serde_json::json;

use super::arguments::{Format, SharedOptions};
use super::failure::usage;
use super::output::Output;
use super::{session, stop};
use lifetime::Lifetime;

/// The longest name of an agent, as the configuration reads it.
const AGENT_BYTES: usize = 64;

#[derive(Debug, Subcommand)]
pub(crate) enum AccessTokens {
    /// Create an access token, and print it this once
    ///
    /// Whoever has the token is the user that `--for` names. The other options only narrow what that
    /// user sees. The token goes to standard output, everything else to standard error; only its hash
    /// is kept.
    #[command(
        after_long_help = "Examples:\n  gatefold token create --name ann-laptop --for ann\n  \
                                 gatefold token create --name ci --for ci --tools 'tickets__*' \
                                 --read-only --expires 30d > token.txt"
    )]
    Create {
        /// What to call the token
        #[arg(long, value_parser = name)]
        name: String,
        /// The user who has it: sessions, results, notes and records are theirs
        #[arg(long = "for", value_name = "USER", value_parser = name)]
        user: String,
        /// Good only for this agent of the configuration, at `/mcp/agent/NAME`
        #[arg(long, value_name = "NAME", value_parser = agent)]
        agent: Option<String>,
        /// Leave only tools that match one of these patterns, and the prompts and resources of sources
        /// that a pattern names; separated by commas, or given more than once
        #[arg(long, value_name = "PATTERNS", value_delimiter = ',', value_parser = pattern)]
        tools: Vec<String>,
        /// Leave only tools that declare themselves read-only
        #[arg(long)]
        read_only: bool,
        /// How long the token is good for, such as `12h` or `30d`, or `never`
        #[arg(long, value_name = "TIME", default_value = lifetime::DEFAULT, value_parser = Lifetime::read)]
        expires: Lifetime,
        #[command(flatten)]
        format: Format,
    },
    /// List the access tokens, and the clients that people let in
    ///
    /// What would let anybody in is not shown.
    #[command(after_long_help = "Example:\n  gatefold token list --json")]
    List {
        #[command(flatten)]
        format: Format,
    },
    /// Revoke an access token or a client's access: within two seconds nothing runs with it any more
    #[command(after_long_help = "Example:\n  gatefold token revoke ann-laptop")]
    Revoke {
        /// The token's name or id
        #[arg(value_name = "NAME|ID")]
        named: String,
        #[command(flatten)]
        format: Format,
    },
}

impl AccessTokens {
    pub(crate) fn format(&self) -> &Format {
        match self {
            Self::Create { format, .. } | Self::List { format } | Self::Revoke { format, .. } => {
                format
            }
        }
    }
}

/// Reads the name of a token or a user.
pub(super) fn name(text: &str) -> Result<String, String> {
    if text.is_empty() || text.len() > NAME_BYTES {
        return Err(format!("use 1 to {NAME_BYTES} bytes"));
    }
    if text.trim() != text || text.chars().any(char::is_control) {
        return Err("leave out spaces around it and control characters".to_owned());
    }
    Ok(text.to_owned())
}

fn agent(text: &str) -> Result<String, String> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    let is_legal = (1..=AGENT_BYTES).contains(&text.len()) && text.chars().all(is_plain);
    let hint = || format!("use up to {AGENT_BYTES} letters, digits, `-` and `_`");
    is_legal.then(|| text.to_owned()).ok_or_else(hint)
}

fn pattern(text: &str) -> Result<String, String> {
    let text = text.trim();
    if text.len() > TOKEN_PATTERN_BYTES {
        return Err(format!("a pattern has at most {TOKEN_PATTERN_BYTES} bytes"));
    }
    if EntryKind::of_pattern(text).1.is_empty() {
        return Err("write a pattern, such as `mail__*`".to_owned());
    }
    Ok(text.to_owned())
}

/// Works on the files of the state directory. A gateway that runs on them looks there for changes.
pub(super) async fn run(
    tokens: &AccessTokens,
    shared: &SharedOptions,
    environment: &Environment,
    output: &Output,
) -> anyhow::Result<ExitCode> {
    let new = match tokens {
        AccessTokens::Create { .. } => Some(new(tokens)?),
        _ => None,
    };
    let inputs = shared.inputs().located(environment);
    let config = inputs.and_then(|inputs| load(&inputs, environment)).ok();
    let state_dir = session::state_dir_alone(shared, environment)?;
    stop::unless_stopped(async {
        session::with_state(&state_dir, async |state| match (tokens, new) {
            (AccessTokens::Revoke { named, .. }, _) => revoke(state, named, output).await,
            (_, Some(new)) => create(state, new, config.as_ref(), output).await,
            (_, None) => list(state, output).await,
        })
        .await
    })
    .await
}

/// The token that a command line asks for.
fn new(tokens: &AccessTokens) -> anyhow::Result<NewAccessToken> {
    let AccessTokens::Create { name, user, agent, tools, read_only, expires, .. } = tokens else {
        return Err(usage("no token is asked for"));
    };
    if tools.len() > TOKEN_PATTERNS {
        return Err(usage(format!("`--tools` has more than {TOKEN_PATTERNS} patterns")));
    }
    Ok(NewAccessToken {
        name: name.clone(),
        user: UserId::new(user.as_str()),
        agent: agent.as_deref().map(AgentId::new),
        tools: tools.clone(),
        read_only: *read_only,
        expires_at: expires.from(SystemClock.now()),
    })
}

async fn create(
    state: &StateOperations,
    new: NewAccessToken,
    config: Option<&Config>,
    output: &Output,
) -> anyhow::Result<()> {
    let created = state.create_access_token(new).await?;
    if output.is_json() {
        output.json(&created);
    } else {
        output.verbatim(created.token.expose());
        said(&created, output);
    }
    warn(&created.access_token, config, output);
    Ok(())
}

/// What to know about a new token, beside the token.
fn said(created: &CreatedAccessToken, output: &Output) {
    let CreatedAccessToken { token, access_token: record } = created;
    let AccessTokenRecord { id, name, user, .. } = record;
    let until = report::until(record);
    let kind: String = token.expose().chars().take(4).collect();
    output.complain(&format!("created `{name}`, id {id}, for `{user}`: {until}"));
    output.complain("  it is shown this once; whoever has it is that user here");
    output.complain(&format!("  clients send it as `Authorization: Bearer {kind}...`"));
}

fn warn(record: &AccessTokenRecord, config: Option<&Config>, output: &Output) {
    let Some(config) = config else { return };
    if config.server.authentication != Some(AuthenticationMode::Token) {
        output.warning(
            "the configuration does not ask for tokens: write `authentication = \"token\"` under \
             `[server]`, and restart the gateway",
        );
    }
    if let Some(agent) = &record.agent
        && !config.agents.contains_key(agent)
    {
        output.warning(&format!(
            "the configuration has no agent `{agent}`: until it has, the token is good for nothing"
        ));
    }
}

async fn list(state: &StateOperations, output: &Output) -> anyhow::Result<()> {
    let listed = state.access_tokens().await?;
    if output.is_json() {
        output.json(&listed);
    } else {
        let now = SystemClock.now();
        output.lines(&report::lines(&listed.access_tokens, now, output.style()));
        if !listed.clients.is_empty() {
            output.line("");
            output.lines(&report::client_lines(&listed.clients, output.style()));
        }
    }
    Ok(())
}

async fn revoke(state: &StateOperations, named: &str, output: &Output) -> anyhow::Result<()> {
    match state.revoke_access(named).await? {
        RevokedAccess::Client(id) if output.is_json() => {
            output.json(&json!({ "revoked": { "id": id } }));
        }
        RevokedAccess::Client(id) => {
            output.line(&format!("ended the access of the client with id {id}"));
        }
        RevokedAccess::Token(record) if output.is_json() => {
            output.json(&json!({ "revoked": record }));
        }
        RevokedAccess::Token(AccessTokenRecord { id, name, user, .. }) => {
            output.line(&format!("revoked `{name}`, id {id}, of `{user}`"));
        }
    }
    Ok(())
}
