use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use gatefold::config::{DEFAULT_LISTEN, Inputs};

/// Gatefold stands between language models and their tools: a model sees three small tools
/// instead of hundreds of schemas, finds the right one and calls it.
///
/// Exit codes: 0 when all went well, 1 when something failed, 2 when the command line or the
/// configuration is wrong.
#[derive(Debug, Parser)]
#[command(name = "gatefold", version, propagate_version = true)]
pub(crate) struct Arguments {
    #[command(flatten)]
    pub(crate) shared: Shared,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Args)]
pub(crate) struct Shared {
    /// Configuration; without it `./gatefold.toml`, then `~/.config/gatefold/gatefold.toml`
    #[arg(long, value_name = "FILE", global = true)]
    pub(crate) config: Option<PathBuf>,
    /// An MCP client's configuration, as it is; may be given more than once
    #[arg(long, value_name = "FILE", global = true)]
    pub(crate) mcp_config: Vec<PathBuf>,
    /// Directory for audit records and manifests; without it `~/.local/state/gatefold`
    #[arg(long, value_name = "DIR", env = "GATEFOLD_STATE_DIR", global = true)]
    pub(crate) state_dir: Option<PathBuf>,
    /// Which logs go to standard error, such as `info` or `gatefold_mcp=debug,warn`
    #[arg(long, value_name = "FILTER", env = "GATEFOLD_LOG", global = true)]
    pub(crate) log: Option<String>,
}

impl Shared {
    pub(crate) fn inputs(&self) -> Inputs {
        Inputs { config: self.config.clone(), mcp_configs: self.mcp_config.clone() }
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Serve MCP over streamable HTTP
    Serve(Serve),
    /// Serve MCP to one client over standard input and output
    Stdio,
    /// Connect every source and say how each fares
    Check(Check),
    /// Look at tools, and call them
    #[command(subcommand)]
    Tools(Tools),
    /// Say what is on record and what a running gateway does
    Status(Status),
    /// Try Gatefold with six small servers of its own; needs no configuration and no network
    Demo(Demo),
    /// One of the demonstration's servers
    #[command(hide = true)]
    DemoServer {
        name: String,
        #[arg(long)]
        scratch: PathBuf,
    },
    /// Reads JSON strings, one a line, and prints how many o200k tokens each has
    #[command(hide = true)]
    CountTokens,
}

impl Command {
    pub(crate) fn is_json(&self) -> bool {
        match self {
            Self::Check(check) => check.format.json,
            Self::Status(status) => status.format.json,
            Self::Tools(tools) => tools.format().json,
            _ => false,
        }
    }

    /// Long-lived commands log what happens; one-shot ones only what needs attention; `check` and
    /// `demo` tell what there is to tell themselves.
    pub(crate) fn default_log(&self) -> &'static str {
        match self {
            Self::Serve(_) => "info",
            Self::Check(_) | Self::Demo(_) => "error",
            _ => "warn",
        }
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
    /// Address and port to listen on; without it the configuration's, else 127.0.0.1:8420
    #[arg(long, value_name = "ADDR", value_parser = listen_address)]
    pub(crate) listen: Option<SocketAddr>,
}

#[derive(Debug, Args)]
pub(crate) struct Check {
    #[command(flatten)]
    pub(crate) format: Format,
}

#[derive(Debug, Args)]
pub(crate) struct Status {
    /// Where the running gateway listens, if not where the configuration says
    #[arg(long, value_name = "ADDR", value_parser = listen_address)]
    pub(crate) listen: Option<SocketAddr>,
    #[command(flatten)]
    pub(crate) format: Format,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Tools {
    /// List all tools
    List {
        /// Of this domain only
        #[arg(long)]
        domain: Option<String>,
        #[command(flatten)]
        format: Format,
    },
    /// Find tools by what they do
    Search {
        /// Words for what the tool is to do
        #[arg(required = true)]
        query: Vec<String>,
        /// The most tools to show
        #[arg(long, default_value_t = 10)]
        limit: usize,
        #[command(flatten)]
        format: Format,
    },
    /// Show tools with their schemas
    Schema {
        /// Ids, or own names that no other tool has
        #[arg(required = true, value_name = "NAME")]
        names: Vec<String>,
        #[command(flatten)]
        format: Format,
    },
    /// Call a tool
    Call(Call),
}

impl Tools {
    fn format(&self) -> &Format {
        match self {
            Self::List { format, .. }
            | Self::Search { format, .. }
            | Self::Schema { format, .. }
            | Self::Call(Call { format, .. }) => format,
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct Call {
    /// The tool's id, or its own name when no other tool has it
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
    /// Address and port to listen on; a free port is taken when it is in use
    #[arg(long, value_name = "ADDR", value_parser = listen_address, default_value_t = DEFAULT_LISTEN)]
    pub(crate) listen: SocketAddr,
    /// Exit after the walk instead of staying up
    #[arg(long)]
    pub(crate) once: bool,
    /// Begin with empty servers instead of what earlier runs left
    #[arg(long)]
    pub(crate) fresh: bool,
}

fn listen_address(text: &str) -> Result<SocketAddr, &'static str> {
    gatefold::config::listen_address(text)
        .ok_or("write an address and a port, such as 127.0.0.1:8420")
}

fn pair(text: &str) -> Result<(String, String), &'static str> {
    let (key, value) = text.split_once('=').ok_or("write it as KEY=VALUE")?;
    Ok((key.to_owned(), value.to_owned()))
}
