//! MCP servers: programs that talk over standard input and output, and servers over HTTP.

mod keys;
mod section;
mod values;

use std::sync::Arc;

use gatefold_catalog::{Action, Command, KindName, MetaTool, Parts, StubForm, ToolPlace};
use gatefold_config::{FilePath, ForeignKey, LimitedItems, Pairs, Table, Text};
use gatefold_mcp::EraChoice;
use serde::Deserialize;

use super::oauth::SignInKeys;
use super::shared_values::ServerAddress;
use super::{AllowPrivate, ConnectionMethod, KindSection, SourceKind};
use crate::config::key::Key;

pub use section::McpConnection;
use section::McpSection;
pub(crate) use values::{
    Argument, HeaderName, HeaderValue, ProgramName, VariableName, address, headers, variables,
};

/// The kind of sources that are MCP servers.
pub struct McpKind;

impl McpKind {
    pub const NAME: KindName = KindName::at("mcp", &PLACE);
}

const PLACE: ToolPlace = ToolPlace::Behind(MetaTool {
    name: "mcp",
    order: 3,
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

/// The keys of both.
#[derive(Deserialize, Default)]
#[serde(default)]
struct EraKeys {
    era: Option<EraWord>,
}

#[derive(Deserialize, Clone, Copy)]
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

/// The keys of a program on this machine.
#[derive(Deserialize, Default)]
#[serde(default)]
struct ProgramKeys {
    command: Option<ProgramName>,
    args: LimitedItems<Vec<Argument>>,
    env: LimitedItems<Pairs<VariableName, Argument>>,
    cwd: Option<FilePath>,
    inherit_env: Vec<Text>,
}

/// The keys of a server over HTTP.
#[derive(Deserialize, Default)]
#[serde(default)]
struct RemoteKeys {
    url: Option<ServerAddress>,
    headers: LimitedItems<Pairs<HeaderName, HeaderValue>>,
    allow_private: AllowPrivate,
}

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

    fn keys(&self) -> &'static [Key] {
        keys::KEYS
    }

    fn foreign_keys(&self) -> &'static [ForeignKey] {
        keys::FOREIGN_KEYS
    }

    fn read(&self, table: &mut Table<'_>) -> Option<Arc<dyn KindSection>> {
        table.know(&[
            "command",
            "url",
            "args",
            "env",
            "cwd",
            "inherit_env",
            "headers",
            "allow_private",
            "oauth",
            "credentials",
            "era",
        ]);
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
    let headers = values::headers(keys.headers.0);
    Some((McpConnection::Http { url: keys.url?.0, headers }, keys.allow_private))
}
