use std::ffi::OsString;
use std::net::SocketAddr;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand, ValueEnum};
use gatefold::config::{DEFAULT_LISTEN, Inputs};
use gatefold_catalog::SearchMode;

use super::output::ColourChoice;

/// The position of the shared options in each command's help: after the command's own.
const SHARED_ORDER: usize = 900;

#[derive(Debug, Clone, Args)]
pub(crate) struct SharedOptions {
    /// Configuration file [default: `./gatefold.toml`, then `~/.config/gatefold/gatefold.toml`]
    #[arg(long, value_name = "FILE", global = true, display_order = SHARED_ORDER)]
    pub(crate) config: Option<PathBuf>,
    /// An MCP client's configuration file, used as it is; may be given more than once
    #[arg(long, value_name = "FILE", global = true, display_order = SHARED_ORDER)]
    pub(crate) mcp_config: Vec<PathBuf>,
    /// Directory for audit records and manifests [default: `~/.local/state/gatefold`]
    #[arg(long, value_name = "DIR", env = "GATEFOLD_STATE_DIR", global = true, display_order = SHARED_ORDER)]
    pub(crate) state_dir: Option<PathBuf>,
    /// Which logs go to standard error, such as `info` or `gatefold_mcp=debug,warn`
    #[arg(long, value_name = "FILTER", env = "GATEFOLD_LOG", global = true, display_order = SHARED_ORDER)]
    pub(crate) log: Option<String>,
    /// When to use colours
    #[arg(long, value_name = "WHEN", value_enum, default_value_t, global = true, display_order = SHARED_ORDER)]
    pub(crate) color: ColourChoice,
}

impl SharedOptions {
    pub(crate) fn inputs(&self) -> Inputs {
        let (config, mcp_configs) = (self.config.clone(), self.mcp_config.clone());
        Inputs { config, mcp_configs, ..Inputs::default() }
    }
}

#[derive(Debug, Args)]
pub(crate) struct Format {
    /// Print one JSON object instead
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Serve {
    /// Address and port to listen on [default: the configuration's, else 127.0.0.1:8420]
    #[arg(long, value_name = "ADDR", value_parser = listen_address)]
    pub(crate) listen: Option<SocketAddr>,
}

#[derive(Debug, Args)]
pub(crate) struct Stdio {
    /// Show only this source, as if there were no gateway: its own tools, under their own names
    #[arg(long, value_name = "DOMAIN")]
    pub(crate) source: Option<String>,
    /// Act through this agent of the configuration
    #[arg(long, value_name = "NAME", conflicts_with = "source")]
    pub(crate) agent: Option<String>,
    /// How tools are shown: `gateway`, `namespace`, `typed`, `intent`, `flat` or `auto` [default: the
    /// agent's, the client's or the configuration's]
    #[arg(long, value_name = "NAME")]
    pub(crate) disclosure: Option<String>,
    /// What the model is asked to do: of many tools those that it needs are shown, and
    /// `request_tools` for the others
    #[arg(long = "for", value_name = "TEXT")]
    pub(crate) request: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Import {
    /// Clients to read, such as `claude-code` [default: all]
    #[arg(value_name = "CLIENT")]
    pub(crate) clients: Vec<String>,
    /// Only the server of this name; may be given more than once
    #[arg(long, value_name = "NAME")]
    pub(crate) only: Vec<String>,
    /// Also the servers of the project in the working directory
    #[arg(long)]
    pub(crate) project: bool,
    /// Where secrets go
    #[arg(long, value_enum, default_value_t)]
    pub(crate) secrets: SecretTarget,
    /// Secrets go to a file that only you can read: this one, the one that the configuration names,
    /// or `secrets.toml` beside it
    #[arg(
        long,
        value_name = "PATH",
        num_args = 0..=1,
        default_missing_value = "",
        conflicts_with = "secrets"
    )]
    pub(crate) secrets_file: Option<SecretsFile>,
    #[command(flatten)]
    pub(crate) caution: WriteOptions,
    #[command(flatten)]
    pub(crate) format: Format,
}

/// Whether to write files, and whether to ask first.
#[derive(Debug, Args)]
pub(crate) struct WriteOptions {
    /// Show what would be done, and write nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Answer every question with yes; required with `--json`, which asks no questions
    #[arg(long, short)]
    pub(crate) yes: bool,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum SecretTarget {
    /// To the configuration's file of secrets if it has one, else to the keyring if there is one,
    /// otherwise to variables
    #[default]
    Auto,
    /// To the operating system's keyring: `${secret:NAME}`
    Keyring,
    /// To variables, which you set where Gatefold runs: `${NAME}`
    Variables,
}

/// Which file secrets go to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum SecretsFile {
    Usual,
    Named(PathBuf),
}

impl From<OsString> for SecretsFile {
    fn from(path: OsString) -> Self {
        if path.is_empty() { Self::Usual } else { Self::Named(path.into()) }
    }
}

#[derive(Debug, Args)]
pub(crate) struct Connect {
    /// Clients, such as `claude-code`
    #[arg(value_name = "CLIENT")]
    pub(crate) clients: Vec<String>,
    /// In the configuration of the project in the working directory
    #[arg(long)]
    pub(crate) project: bool,
    /// Have the client connect to a running `gatefold serve` instead of starting its own
    #[arg(long)]
    pub(crate) http: bool,
    /// Keep the client's own entries for servers that Gatefold serves
    #[arg(long)]
    pub(crate) keep: bool,
    /// The name of the entry for Gatefold
    #[arg(long, value_name = "NAME", default_value = "gatefold")]
    pub(crate) name: String,
    #[command(flatten)]
    pub(crate) caution: WriteOptions,
    #[command(flatten)]
    pub(crate) format: Format,
}

#[derive(Debug, Args)]
pub(crate) struct Disconnect {
    /// Clients, such as `claude-code`
    #[arg(value_name = "CLIENT", required = true)]
    pub(crate) clients: Vec<String>,
    /// From the configuration of the project in the working directory
    #[arg(long)]
    pub(crate) project: bool,
    /// Take the entry out even if there is no record of what it replaced
    #[arg(long)]
    pub(crate) force: bool,
    /// Show what would be done, and write nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    #[command(flatten)]
    pub(crate) format: Format,
}

#[derive(Debug, Args)]
pub(crate) struct Check {
    /// Show the last lines that a server wrote which failed
    #[arg(long, short)]
    pub(crate) verbose: bool,
    #[command(flatten)]
    pub(crate) format: Format,
}

#[derive(Debug, Args)]
pub(crate) struct Doctor {
    /// Start and connect nothing
    #[arg(long)]
    pub(crate) offline: bool,
    /// Show what is in order as well, and the last lines that a server wrote which failed
    #[arg(long, short)]
    pub(crate) verbose: bool,
    #[command(flatten)]
    pub(crate) format: Format,
}

#[derive(Debug, Args)]
pub(crate) struct Status {
    /// Keep showing what the gateway does; `q` or Ctrl-C leaves
    #[arg(long)]
    pub(crate) watch: bool,
    /// How often to refresh, such as `500ms`, `1s` or `1m`
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = interval)]
    #[arg(requires = "watch")]
    pub(crate) interval: Duration,
    /// The running gateway's address, if it differs from the configuration's
    #[arg(long, value_name = "ADDR", value_parser = listen_address)]
    pub(crate) listen: Option<SocketAddr>,
    #[command(flatten)]
    pub(crate) format: Format,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Tools {
    /// List all tools
    #[command(after_long_help = "Example:\n  gatefold tools list --domain files")]
    List {
        /// Of this domain only
        #[arg(long)]
        domain: Option<String>,
        #[command(flatten)]
        format: Format,
    },
    /// Find tools by what they do
    #[command(after_long_help = "Example:\n  gatefold tools search create an issue --limit 3")]
    Search {
        /// What the tool should do, in words
        #[arg(required = true)]
        query: Vec<String>,
        /// The most tools to show
        #[arg(long, default_value_t = 10)]
        limit: usize,
        /// How tools are ranked
        #[arg(long, value_enum, default_value_t)]
        mode: ModeName,
        #[command(flatten)]
        format: Format,
    },
    /// Show tools with their schemas
    #[command(after_long_help = "Example:\n  gatefold tools schema tickets__create_ticket")]
    Schema {
        /// Ids, or own names that are unique
        #[arg(required = true, value_name = "NAME")]
        names: Vec<String>,
        #[command(flatten)]
        format: Format,
    },
    /// Call a tool
    #[command(
        after_long_help = "Example:\n  gatefold tools call tickets__create_ticket --arg title=Smoke"
    )]
    Call(Call),
}

impl Tools {
    pub(super) fn format(&self) -> &Format {
        match self {
            Self::List { format, .. }
            | Self::Search { format, .. }
            | Self::Schema { format, .. }
            | Self::Call(Call { format, .. }) => format,
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct Queries {
    #[command(subcommand)]
    pub(crate) forget: Option<Forget>,
    /// Of this tool only, by its id
    #[arg(long, value_name = "NAME")]
    pub(crate) tool: Option<String>,
    /// Searches that led to no call: what the catalogue lacks
    #[arg(long, conflicts_with = "tool")]
    pub(crate) missed: bool,
    #[command(flatten)]
    pub(crate) format: Format,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Forget {
    /// Erase what was learnt
    #[command(after_long_help = "Example:\n  gatefold queries forget --all")]
    Forget {
        /// Of this tool, by its id
        #[arg(long, value_name = "NAME", required_unless_present = "all")]
        tool: Option<String>,
        /// Of all tools
        #[arg(long, conflicts_with = "tool")]
        all: bool,
        #[command(flatten)]
        format: Format,
    },
}

impl Queries {
    pub(super) fn is_json(&self) -> bool {
        match &self.forget {
            Some(Forget::Forget { format, .. }) => format.json,
            None => self.format.json,
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct Threads {
    #[command(subcommand)]
    pub(crate) act: Option<ThreadAct>,
    /// Only those with this in their titles
    #[arg(long, value_name = "WORDS", default_value = "")]
    pub(crate) search: String,
    #[command(flatten)]
    pub(crate) format: Format,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ThreadAct {
    /// Print what was said
    #[command(after_long_help = "Example:\n  gatefold threads show 3f9a61")]
    Show {
        /// Its id, or the last digits of it
        id: String,
        #[command(flatten)]
        format: Format,
    },
    /// Give one another title
    #[command(after_long_help = "Example:\n  gatefold threads rename 3f9a61 'Orders of May'")]
    Rename {
        /// Its id, or the last digits of it
        id: String,
        title: String,
        #[command(flatten)]
        format: Format,
    },
    /// Delete one with all that was said
    #[command(after_long_help = "Example:\n  gatefold threads delete 3f9a61")]
    Delete {
        /// Its id, or the last digits of it
        id: String,
        #[command(flatten)]
        format: Format,
    },
}

impl Threads {
    pub(super) fn is_json(&self) -> bool {
        match &self.act {
            Some(
                ThreadAct::Show { format, .. }
                | ThreadAct::Rename { format, .. }
                | ThreadAct::Delete { format, .. },
            ) => format.json,
            None => self.format.json,
        }
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum Secret {
    /// Store a secret; its value is asked for, or read from standard input
    #[command(after_long_help = "Example:\n  gatefold secret set GITHUB_TOKEN")]
    Set { name: String },
    /// Print the names of all secrets, never a value
    #[command(after_long_help = "Example:\n  gatefold secret list")]
    List {
        #[command(flatten)]
        format: Format,
    },
    /// Take a secret out of the keyring
    #[command(after_long_help = "Example:\n  gatefold secret remove GITHUB_TOKEN")]
    Remove { name: String },
    /// Seal the kept sign-ins under new keys
    ///
    /// Makes a new data key, and a new root key if that is Gatefold's own file. After a change of
    /// `root_key`, keep the old one as `previous_root_key` until this has run.
    #[command(after_long_help = "Example:\n  gatefold secret rotate")]
    Rotate,
}

#[derive(Debug, Args)]
pub(crate) struct Call {
    /// The tool's id, or its own name if that is unique
    pub(crate) name: String,
    /// All arguments as one JSON object; `-` reads it from standard input
    #[arg(long, value_name = "JSON", conflicts_with = "arg")]
    pub(crate) arguments: Option<String>,
    /// One argument; may be given more than once. The value is JSON, or a plain string
    #[arg(long, value_name = "KEY=VALUE", value_parser = pair)]
    pub(crate) arg: Vec<(String, String)>,
    #[command(flatten)]
    pub(crate) format: Format,
}

#[derive(Debug, Args)]
pub(crate) struct Demo {
    /// Address and port to listen on; a free port is used if this one is taken
    #[arg(long, value_name = "ADDR", value_parser = listen_address, default_value_t = DEFAULT_LISTEN)]
    pub(crate) listen: SocketAddr,
    /// Exit after the walk instead of keeping the gateway running
    #[arg(long)]
    pub(crate) once: bool,
    /// Begin with empty servers instead of the data of earlier runs
    #[arg(long)]
    pub(crate) fresh: bool,
}

fn listen_address(text: &str) -> Result<SocketAddr, &'static str> {
    gatefold::config::listen_address(text)
        .ok_or("write an address and a port, such as 127.0.0.1:8420")
}

/// The shortest and the longest time between two refreshes.
const INTERVALS: RangeInclusive<Duration> = Duration::from_millis(100)..=Duration::from_secs(3600);

fn interval(text: &str) -> Result<Duration, &'static str> {
    let unit_at = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(unit_at);
    let unit_millis = match unit {
        "ms" => 1,
        "s" => 1000,
        "m" => 60_000,
        _ => return Err("write a number and `ms`, `s` or `m`, such as 500ms"),
    };
    let number =
        number.parse::<u64>().map_err(|_| "write a whole number and a unit, such as 1s")?;
    let interval = Duration::from_millis(number.saturating_mul(unit_millis));
    let is_right = INTERVALS.contains(&interval);
    is_right.then_some(interval).ok_or("choose a time from 100ms to 60m")
}

fn pair(text: &str) -> Result<(String, String), &'static str> {
    let (key, value) = text.split_once('=').ok_or("write it as KEY=VALUE")?;
    Ok((key.to_owned(), value.to_owned()))
}

/// How tools are ranked, in the command line's words.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum ModeName {
    /// By words and by meaning
    #[default]
    Hybrid,
    /// By the words they share with the request
    Keyword,
    /// By their meaning
    Semantic,
}

impl ModeName {
    /// Whether an encoder counts.
    pub(crate) fn ranks_by_meaning(self) -> bool {
        matches!(self, Self::Hybrid | Self::Semantic)
    }
}

impl From<ModeName> for SearchMode {
    fn from(name: ModeName) -> Self {
        match name {
            ModeName::Hybrid => Self::Hybrid,
            ModeName::Keyword => Self::Keyword,
            ModeName::Semantic => Self::Semantic,
        }
    }
}
