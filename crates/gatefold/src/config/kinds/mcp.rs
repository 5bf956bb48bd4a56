//! MCP servers: programs that talk over standard input and output, and servers over HTTP.

mod section;
mod values;

use std::sync::Arc;

use gatefold_catalog::{
    Action, AssemblyStep, Command, KindName, MetaTool, Parts, StubForm, ToolPlace,
};
use gatefold_config::{FilePath, ForeignKey, HandRead, LimitedItems, Pairs, Table, Text};
use gatefold_mcp::EraChoice;
use schemars::JsonSchema;
use serde::Deserialize;

use super::credentials::SourceCredentials;
use super::oauth::{OAuthTable, SignInKeys};
use super::shared_values::ServerAddress;
use super::{AllowPrivate, ConnectionMethod, KindSection, SourceKind};
use crate::config::key::{Key, keys_of};

pub use section::McpConnection;
use section::McpSection;
pub(crate) use values::{
    Argument, ProgramName, RequestHeaders, VariableName, address, headers, variables,
};

/// The kind of sources that are MCP servers.
pub struct McpKind;

impl McpKind {
    pub const NAME: KindName = KindName::at("mcp", &PLACE);
}

const PLACE: ToolPlace = ToolPlace::Behind(MetaTool {
    name: "mcp",
    step: AssemblyStep::Mcp,
    summary: "Interact with MCP servers.",
    noun: "server",
    part: "tool",
    parts: Parts::Tools,
    named_parts: usize::MAX,
    stub: StubForm::Counted,
    commands: &[
        Command {
            name: "discover",
            line: "discover <server> [tool] -- list tools with full parameter schemas",
            action: Action::Describe,
        },
        Command {
            name: "call",
            line: r#"call <server> <tool> {"param": "value"} -- invoke an MCP tool"#,
            action: Action::CallNamed,
        },
    ],
    parameters: &[
        ("tool", r#"{"type":"string","description":"For discover, omit it to see all tools."}"#),
        ("parameters", r#"{"type":"object","description":"Matching the tool's schema."}"#),
    ],
    is_bound: false,
});

/// The keys of a program on this machine.
#[derive(Deserialize, JsonSchema, Default)]
#[serde(default)]
struct ProgramKeys {
    /// The program to start.
    ///
    /// Only the program: its arguments go into `args`. A name without `/` is looked up in `PATH`.
    #[schemars(extend("examples" = ["npx"]))]
    command: Option<ProgramName>,
    /// The program's arguments.
    #[schemars(extend("examples" = [["-y", "@modelcontextprotocol/server-filesystem", "notes"]], "x-unset" = "none",
        "x-needs" = ["command"]))]
    args: LimitedItems<Vec<Argument>>,
    /// Environment variables for the program.
    ///
    /// Otherwise it only gets `PATH`, `HOME`, the locale, proxies, caches and what `inherit_env` names. Take
    /// secrets from variables: `${VAR}`. The values are never shown.
    #[schemars(extend("examples" = [{"NAME": "value"}], "x-unset" = "none", "x-needs" = ["command"]))]
    env: LimitedItems<Pairs<VariableName, Argument>>,
    /// Names of variables to pass on from Gatefold's own environment.
    #[schemars(extend("examples" = [["DISPLAY"]], "x-unset" = "none", "x-needs" = ["command"]))]
    inherit_env: Vec<Text>,
    /// The directory that the program starts in.
    #[schemars(extend("examples" = ["."], "x-unset" = "Gatefold's own", "x-needs" = ["command"]))]
    cwd: Option<FilePath>,
}

/// The keys of a server over HTTP.
#[derive(Deserialize, JsonSchema, Default)]
#[serde(default)]
struct RemoteKeys {
    /// The address of a server over HTTP.
    ///
    /// The server speaks streamable HTTP there. Parts that may be secret are never shown.
    #[schemars(extend("examples" = ["https://host.example/mcp"]))]
    url: Option<ServerAddress>,
    #[schemars(extend("x-needs" = ["url"]))]
    headers: RequestHeaders,
    #[schemars(extend("x-needs" = ["url"]))]
    allow_private: AllowPrivate,
    /// How Gatefold signs in at the server.
    ///
    /// Most servers need none of it: `gatefold login NAME` finds out where to sign in and registers Gatefold
    /// there. A provider that registers no programs needs the `client_id` that it gave you, and perhaps a
    /// `client_secret` or a `private_key`. `client_metadata_url` is where a client-id metadata document
    /// describes your Gatefold. `redirect_url` is the address that the provider sends browsers back to, if it
    /// knows only that: `localhost`, `127.0.0.1` or `[::1]` with a port and a path, or without a port for any
    /// free one. With `grant = "client_credentials"` nobody signs in: Gatefold proves itself. The secrets are
    /// never shown.
    #[schemars(extend("examples" = [{"client_id": "my-client", "scopes": ["read"]}],
        "x-unset" = "found out at `gatefold login`", "x-needs" = ["url"],
        "x-constraint" = "`client_id`, `client_secret`, `private_key` with `key_id` (a file or PEM text), \
                          `client_metadata_url`, `redirect_url`, `scopes` and `grant` (\"authorization_code\" or \
                          \"client_credentials\"), as needed"))]
    oauth: HandRead<OAuthTable>,
    #[schemars(extend("x-needs" = ["url"]))]
    credentials: HandRead<SourceCredentials>,
}

/// The keys of both.
#[derive(Deserialize, JsonSchema, Default)]
#[serde(default)]
struct EraKeys {
    /// In which era of the protocol the server is spoken to.
    ///
    /// `handshake`: a session that begins with `initialize`, in versions up to 2025-11-25. `stateless`: version
    /// 2026-07-28. `auto` finds out what the server speaks; one that speaks both is called in the era of the
    /// client.
    #[schemars(extend("examples" = ["handshake"], "x-unset" = "`auto`"))]
    era: Option<EraWord>,
}

#[derive(Deserialize, JsonSchema, Clone, Copy)]
#[serde(rename_all = "lowercase")]
enum EraWord {
    Auto,
    Handshake,
    Stateless,
}

impl From<EraWord> for EraChoice {
    fn from(word: EraWord) -> Self {
        match word {
            EraWord::Auto => Self::Auto,
            EraWord::Handshake => Self::Handshake,
            EraWord::Stateless => Self::Stateless,
        }
    }
}

/// Other programs' names for the keys.
const FOREIGN_KEYS: &[ForeignKey] = &[
    ForeignKey { name: "serverUrl", own: "url", hint: "write `url`" },
    ForeignKey { name: "httpUrl", own: "url", hint: "write `url`" },
    ForeignKey { name: "type", own: "command", hint: REACHED },
    ForeignKey { name: "transport", own: "command", hint: REACHED },
    ForeignKey { name: "environment", own: "env", hint: "write `env`" },
    ForeignKey { name: "workingDirectory", own: "cwd", hint: "write `cwd`" },
];

const REACHED: &str = "remove it: `command` or `url` says how a source is reached";

impl SourceKind for McpKind {
    fn name(&self) -> KindName {
        Self::NAME
    }

    fn noun(&self) -> &'static str {
        "MCP server"
    }

    fn details(&self) -> &'static str {
        "A source is either a program that talks over its standard input and output (`command`), or \
         a server over streamable HTTP (`url`)."
    }

    fn ways(&self) -> &'static [ConnectionMethod] {
        &[
            ConnectionMethod {
                key: "command",
                purpose: "for a program on this machine",
                heading: "A program on this machine:",
                example: "example",
            },
            ConnectionMethod {
                key: "url",
                purpose: "for a server over HTTP",
                heading: "A server over HTTP, which may have all keys above except the first five:",
                example: "remote",
            },
        ]
    }

    fn keys(&self) -> Vec<Key> {
        [keys_of::<ProgramKeys>(), keys_of::<RemoteKeys>(), keys_of::<EraKeys>()].concat()
    }

    fn foreign_keys(&self) -> &'static [ForeignKey] {
        FOREIGN_KEYS
    }

    fn read(&self, table: &mut Table<'_>) -> Option<Arc<dyn KindSection>> {
        let (connection, private, sign_in) = match (table.peek("command"), table.peek("url")) {
            (Some(_), Some(url)) => {
                url.key_fault("is set beside `command`", "keep one of the two");
                return None;
            }
            (Some(_), None) => {
                for key in ["headers", "allow_private", "oauth", "credentials"] {
                    if let Some(field) = table.peek(key) {
                        field.key_fault("belongs to `url`, not to `command`", "remove it");
                    }
                }
                (program(table.read()?), AllowPrivate::default(), None)
            }
            (None, _) => {
                for key in ["args", "env", "cwd", "inherit_env"] {
                    if let Some(field) = table.peek(key) {
                        field.key_fault("belongs to `command`, not to `url`", "remove it");
                    }
                }
                let (connection, private) = server(table.read()?)?;
                let sign_in = sign_in(table, &connection);
                (connection, private, sign_in)
            }
        };
        let era = table.read::<EraKeys>()?.era.map_or(EraChoice::Auto, EraChoice::from);
        Some(Arc::new(McpSection { connection, private, sign_in, era }))
    }
}

fn program(keys: ProgramKeys) -> McpConnection {
    McpConnection::Stdio {
        command: keys.command.map(|command| command.0).unwrap_or_default(),
        args: keys.args.0.into_iter().map(|argument| argument.0).collect(),
        env: values::variables(keys.env.0),
        inherit_env: keys.inherit_env.into_iter().map(|name| name.0).collect(),
        cwd: keys.cwd.map(|path| path.0),
    }
}

/// How users sign in. None if the configuration has what signs in.
fn sign_in(table: &mut Table<'_>, connection: &McpConnection) -> Option<SignInKeys> {
    let keys = SignInKeys::read(table)?;
    let McpConnection::Http { headers, .. } = connection else { return None };
    if connection.may_sign_in() {
        keys.credentials().check(table, headers)?;
        return Some(keys);
    }
    let set = ["oauth", "credentials"].into_iter().find_map(|key| table.peek(key));
    if let Some(field) = set.filter(|_| keys.is_set()) {
        let problem = "is set beside the header `Authorization`, which signs in already";
        field.key_fault(problem, "keep one of the two");
    }
    None
}

fn server(keys: RemoteKeys) -> Option<(McpConnection, AllowPrivate)> {
    let headers = values::headers(keys.headers);
    Some((McpConnection::Http { url: keys.url?.0, headers }, keys.allow_private))
}
