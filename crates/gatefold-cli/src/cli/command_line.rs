//! The command line as a whole. The arguments of single commands are in
//! [`arguments`](super::arguments) and with the commands themselves.

use std::path::PathBuf;

use clap::{Parser, Subcommand};
use clap_complete::Shell;

use super::access_tokens::AccessTokens;
use super::accounts::{AccountList, Login, Logout};
use super::approvals::Approvals;
use super::arguments::{
    Check, Connect, Demo, Disconnect, Doctor, Import, Queries, Secret, Serve, SharedOptions,
    Status, Stdio, Threads, Tools,
};
use super::calls::Calls;
use super::chat::ChatArguments;
use super::config::ConfigCommand;
use super::eval::Eval;
use super::index::Index;
use super::init::Init;
#[cfg(feature = "knowledge")]
use super::knowledge::Knowledge;
use super::logs::Logs;
use super::model::Model;
use super::models::Models;
use super::runs::Runs;
use super::skills::Skills;
use super::sources::{Add, NamedSource, SourceList};
use super::surface::SurfaceArguments;
use super::tokens::Vocabulary;
use super::users::Users;

/// Gatefold stands between language models and their tools: a model sees three small tools
/// instead of hundreds of schemas, finds the right one and calls it.
#[derive(Debug, Parser)]
#[command(name = "gatefold", version = env!("GATEFOLD_VERSION"), propagate_version = true, after_help = EXIT_CODES)]
pub(crate) struct CommandLine {
    #[command(flatten)]
    pub(crate) shared: SharedOptions,
    #[command(subcommand)]
    pub(crate) command: Command,
}

const EXIT_CODES: &str = "\
Exit codes:
  0    all went well
  1    something failed: a source, a call
  2    the command line or the configuration is wrong
  130  interrupted by Ctrl-C or a signal

`gatefold COMMAND --help` shows an example.";

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Serve MCP over streamable HTTP
    #[command(after_long_help = "Example:\n  gatefold serve --mcp-config ~/.cursor/mcp.json")]
    Serve(Serve),
    /// Serve MCP to one client over standard input and output
    #[command(after_long_help = "Example:\n  claude mcp add gatefold -- gatefold stdio")]
    Stdio(Stdio),
    /// Add a source: a server's address, or the command that starts one
    ///
    /// Writes it into `gatefold.toml` and changes nothing else there; without one, begins one. A
    /// secret goes into the keyring first (`gatefold secret set NAME`) and is then referred to.
    #[command(after_long_help = "Examples:\n  gatefold add files -- npx -y \
        @modelcontextprotocol/server-filesystem ~/notes\n  gatefold add tickets \
        https://host.example/mcp --auth 'bearer:${secret:TICKETS_TOKEN}'")]
    Add(Box<Add>),
    /// List the sources of the configuration; connects to nothing
    #[command(after_long_help = "Example:\n  gatefold list --json")]
    List(SourceList),
    /// Remove a source from the configuration
    #[command(after_long_help = "Example:\n  gatefold remove files")]
    Remove(NamedSource),
    /// Serve a source again that was disabled
    #[command(after_long_help = "Example:\n  gatefold enable files")]
    Enable(NamedSource),
    /// Keep a source in the configuration without serving it
    #[command(after_long_help = "Example:\n  gatefold disable files")]
    Disable(NamedSource),
    /// Import the servers of your MCP clients
    ///
    /// Reads the files of Claude Code, Claude Desktop, Cursor, VS Code, Windsurf, Codex, Zed,
    /// Gemini CLI, Goose, LM Studio, opencode and Crush, shows the servers in them, asks, and writes
    /// sources. Secrets go to the keyring, or become variables. The clients' files are not changed.
    #[command(after_long_help = "Example:\n  gatefold import claude-code --dry-run")]
    Import(Import),
    /// Add Gatefold to a client's configuration; without a client, show where it is
    #[command(after_long_help = "Example:\n  gatefold connect claude-code")]
    Connect(Connect),
    /// Remove Gatefold from a client's configuration and put back what was there
    #[command(after_long_help = "Example:\n  gatefold disconnect claude-code")]
    Disconnect(Disconnect),
    /// Sign in at a remote server
    ///
    /// Finds out where the server's users sign in, opens the browser there, and keeps what it comes
    /// back with, sealed, in the state directory. A running gateway goes on with it at once.
    #[command(after_long_help = "Examples:\n  gatefold login tickets\n  \
                               gatefold login tickets --no-browser")]
    Login(Login),
    /// Sign out at a remote server
    #[command(after_long_help = "Example:\n  gatefold logout tickets")]
    Logout(Logout),
    /// List who is signed in where
    #[command(after_long_help = "Example:\n  gatefold accounts --json")]
    Accounts(AccountList),
    /// Connect every source and report how each one does
    #[command(after_long_help = "Example:\n  gatefold check --mcp-config ~/.cursor/mcp.json")]
    Check(Check),
    /// Find what is wrong, with the fix for each: configuration, sources, port, state, clients
    #[command(after_long_help = "Example:\n  gatefold doctor --offline")]
    Doctor(Doctor),
    /// List, search and call tools
    #[command(subcommand, after_long_help = "Example:\n  gatefold tools search create an issue")]
    Tools(Tools),
    /// Measure how well tools are found, what makes them hard to find, and how a model uses them
    #[command(subcommand, after_long_help = "Example:\n  gatefold eval catalog")]
    Eval(Eval),
    /// Approve or deny calls that wait for a person
    ///
    /// A rule under `ask` in the configuration makes a call need a person's approval. Where the
    /// client cannot ask its user, the call is refused and waits here. An approval is good for one
    /// call with the same arguments.
    #[command(subcommand, after_long_help = "Example:\n  gatefold approvals list")]
    Approvals(Approvals),
    /// Show the record of calls, and follow it
    ///
    /// Every call is on record, whichever gateway of the state directory made it. Its arguments and
    /// its result are not kept, only their sizes and a digest of the arguments.
    #[command(
        args_conflicts_with_subcommands = true,
        after_long_help = "Examples:\n  gatefold calls --follow --failed\n  \
                           gatefold calls --tool 'tickets__*' --limit 100"
    )]
    Calls(Calls),
    /// Show what a source wrote to its log
    ///
    /// The last lines of a local server's standard error, and the log messages that a server sent,
    /// as a running gateway keeps them. Secrets that the source was given are masked.
    #[command(after_long_help = "Example:\n  gatefold logs tickets --follow")]
    Logs(Logs),
    /// Show what searches have learnt from use, and erase it
    ///
    /// When a search leads to a successful call of a tool, its words are kept. They make that tool
    /// easier to find.
    #[command(
        args_conflicts_with_subcommands = true,
        after_long_help = "Example:\n  gatefold queries --tool tickets__create_ticket"
    )]
    Queries(Queries),
    /// List your conversations of `gatefold chat`, show, rename and delete them
    #[command(
        args_conflicts_with_subcommands = true,
        after_long_help = "Examples:\n  gatefold threads --search orders\n  gatefold threads show 3f9a61"
    )]
    Threads(Threads),
    /// List your runs of agents, follow, cancel and resume them, and report what they cost
    ///
    /// A run goes on when whoever began it is gone, and after a restart of the gateway.
    #[command(
        subcommand,
        after_long_help = "Examples:\n  gatefold runs list\n  gatefold runs follow 3f9a61\n  \
                           gatefold runs cost --by model"
    )]
    Runs(Runs),
    /// Print what a model is shown, to the byte, and what it costs in tokens
    #[command(after_long_help = "Examples:\n  gatefold surface --table\n  \
                               gatefold surface --diff gateway typed")]
    Surface(SurfaceArguments),
    /// List, check and show the skills of folders that are sources
    #[command(subcommand, after_long_help = "Example:\n  gatefold skills check ./skills")]
    Skills(Skills),
    /// List, check, search and tend knowledge bases, and check the quotes of an answer
    ///
    /// A command first reads the documents that are new or changed. Where a gateway runs, it reads them, and the
    /// command works with what that one has read.
    #[cfg(feature = "knowledge")]
    #[command(
        subcommand,
        after_long_help = "Examples:\n  gatefold knowledge add ./handbook\n  \
                           gatefold knowledge search how much may a hotel cost"
    )]
    Knowledge(Knowledge),
    /// Have a model write texts by which tools are found
    #[command(
        subcommand,
        after_long_help = "Example:\n  gatefold index describe --model-url \
            http://127.0.0.1:8080/v1 --model qwen3"
    )]
    Index(Index),
    /// Talk to a model that has the tools of the configured sources
    ///
    /// At a terminal, `/help` lists what can be done beside talking. Each call goes the way of every
    /// client's: under policy, with approvals, which you are asked for, and on record.
    #[command(
        after_long_help = "Examples:\n  gatefold chat --demo\n  gatefold chat --model ollama:qwen3\n  \
                           git diff | gatefold chat -p 'Write a commit message'"
    )]
    Chat(ChatArguments),
    /// List the language models that can be talked to, and try them
    #[command(
        args_conflicts_with_subcommands = true,
        after_long_help = "Examples:\n  gatefold models\n  gatefold models check"
    )]
    Models(Models),
    /// Get another sentence encoder for searches
    #[command(subcommand, after_long_help = "Example:\n  gatefold model get")]
    Model(Model),
    /// Show what is on record and what a running gateway does
    #[command(after_long_help = "Example:\n  gatefold status --watch")]
    Status(Status),
    /// Create, list and revoke access tokens to the gateway
    ///
    /// Where the configuration has `authentication = "token"` under `[server]`, every request over
    /// HTTP needs one. A token says who its owner is, and may narrow what they see. No gateway has to
    /// run, and one that does follows within two seconds.
    #[command(
        subcommand,
        after_long_help = "Example:\n  gatefold token create --name ann-laptop --for ann"
    )]
    Token(AccessTokens),
    /// Give people a password with which they sign in at the gateway, and list and remove them
    ///
    /// Where the configuration has `sign_in` under `[server]`, people sign in in a browser and let
    /// clients in. No gateway has to run, and one that does follows within two seconds.
    #[command(subcommand, after_long_help = "Example:\n  gatefold user link ann")]
    User(Users),
    /// Keep secrets in the system's keyring, for `${secret:NAME}` in `gatefold.toml`
    #[command(subcommand, after_long_help = "Example:\n  gatefold secret set GITHUB_TOKEN")]
    Secret(Secret),
    /// Write a commented starter `gatefold.toml`
    #[command(after_long_help = "Example:\n  gatefold init --user")]
    Init(Init),
    /// Explain, check and show the configuration
    #[command(subcommand, after_long_help = "Example:\n  gatefold config explain limits")]
    Config(ConfigCommand),
    /// Try Gatefold with servers, an API, a database and skills of its own; needs no configuration and no network
    #[command(after_long_help = "Example:\n  gatefold demo --once")]
    Demo(Demo),
    /// Write a shell's completions to standard output
    #[command(after_long_help = "Example:\n  gatefold completions bash > \\\n    \
        ~/.local/share/bash-completion/completions/gatefold")]
    Completions { shell: Shell },
    /// Write the manual page to standard output, or a page for each command to a directory
    #[command(after_long_help = "Example:\n  gatefold man --dir ~/.local/share/man/man1")]
    Man {
        /// Where to write the pages; created if missing
        #[arg(long)]
        dir: Option<PathBuf>,
    },
    /// One of the demonstration's servers
    #[command(hide = true)]
    DemoServer {
        name: String,
        #[arg(long)]
        scratch: PathBuf,
    },
    /// Reads JSON strings, one a line, and prints how many tokens each has in each vocabulary
    #[command(hide = true)]
    CountTokens {
        #[arg(value_enum, default_value = "o200k")]
        vocabularies: Vec<Vocabulary>,
    },
}

impl Command {
    pub(crate) fn is_json(&self) -> bool {
        match self {
            Self::Add(add) => add.format.json,
            Self::List(list) => list.format.json,
            Self::Remove(it) | Self::Enable(it) | Self::Disable(it) => it.format.json,
            Self::Import(import) => import.format.json,
            Self::Connect(connect) => connect.format.json,
            Self::Disconnect(disconnect) => disconnect.format.json,
            Self::Check(check) => check.format.json,
            Self::Doctor(doctor) => doctor.format.json,
            Self::Login(login) => login.format.json,
            Self::Logout(logout) => logout.format.json,
            Self::Accounts(accounts) => accounts.format.json,
            Self::Approvals(approvals) => approvals.format().json,
            Self::Calls(calls) => calls.is_json(),
            Self::Logs(logs) => logs.format.json,
            Self::Queries(queries) => queries.is_json(),
            Self::Threads(threads) => threads.is_json(),
            Self::Runs(runs) => runs.format().json,
            Self::Surface(surface) => surface.format.json,
            Self::Index(index) => index.format().json,
            Self::Chat(chat) => chat.json,
            Self::Models(models) => models.is_json(),
            Self::Model(model) => model.format().json,
            Self::Skills(skills) => skills.format().json,
            #[cfg(feature = "knowledge")]
            Self::Knowledge(knowledge) => knowledge.format().json,
            Self::Status(status) => status.format.json,
            Self::Token(tokens) => tokens.format().json,
            Self::User(users) => users.format().json,
            Self::Tools(tools) => tools.format().json,
            Self::Eval(eval) => eval.format().json,
            Self::Secret(Secret::List { format }) => format.json,
            Self::Config(config) => config.is_json(),
            _ => false,
        }
    }

    /// `serve` logs what happens; `stdio` only what needs attention, because its log ends up in a
    /// client's; the other commands print their results themselves.
    pub(crate) fn default_log(&self) -> &'static str {
        match self {
            Self::Serve(_) => "info",
            Self::Stdio(_) => "warn",
            _ => "error",
        }
    }

    /// Whether it answers calls of others until it is stopped.
    pub(crate) fn serves(&self) -> bool {
        matches!(self, Self::Serve(_) | Self::Stdio(_) | Self::Demo(_))
    }
}
