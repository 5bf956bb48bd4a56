//! One key of a configuration: its name, its values and its purpose.

use std::fmt;
use std::time::Duration;

use serde_json::Value;

use super::Config;

/// One key of a section.
pub struct Key {
    pub name: &'static str,
    pub kind: Kind,
    /// One sentence.
    pub summary: &'static str,
    /// Further details. May be empty.
    pub details: &'static str,
    /// A value in TOML that differs from the default.
    pub example: &'static str,
    /// The value in a configuration, if it can be given as one value.
    pub value: fn(&Config) -> Option<Value>,
    /// The behaviour without the key, if the default is not a single value.
    pub unset: &'static str,
    /// Keys of which one must be set as well, if there are any.
    pub needs: &'static [&'static str],
    pub applies: ApplyMode,
}

/// When a change of a key takes effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ApplyMode {
    Reload,
    Restart,
}

/// What a key's value may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Text,
    Path,
    Url,
    /// A file or a URL.
    PathOrUrl,
    /// "builtin", "none", or the path of an encoder.
    Encoder,
    Address,
    Domain,
    Flag,
    /// A boolean, or a list of IP networks.
    FlagOrNetworks,
    Networks,
    RootKey,
    /// A whole number above zero.
    Count {
        max: u64,
    },
    /// A number above 0, up to 1.
    Share,
    /// A number from 0 to 2.
    Temperature,
    Duration,
    Size,
    Choice(&'static [&'static str]),
    /// Strings, none of them empty.
    Texts,
    /// A program's arguments: strings, numbers and booleans.
    Arguments,
    /// Patterns over names.
    Patterns(Emptiness),
    /// Patterns over names, or "writes" for every tool that may change something.
    PatternsOrWrites,
    /// Ids of tools and patterns over them, and "used" for the tools used most.
    Pins,
    Origins,
    /// A program's variables, by name.
    Variables,
    /// HTTP headers, by name.
    Headers,
    /// Lists of patterns, by the names of groups.
    Groups,
    /// So many calls in a second, a minute or an hour.
    Rate,
    /// A way to sign in at an HTTP API.
    Auth,
    /// How Gatefold signs in at a server, by OAuth.
    OAuth,
    /// Whose credentials calls use.
    Credentials,
    /// Issuers of tokens, in tables.
    Issuers,
    /// The files of a certificate and of its key.
    TlsFiles,
    /// How people sign in here, in a table.
    SignIn,
    /// Operations of an HTTP API, in tables.
    Actions,
    /// What is said about tables, by their names.
    TableNotes,
    /// Names of tools of our own, or "all".
    BuiltinTools,
    /// Categories of tools.
    Categories,
    /// Modes of kinds of sources, in a table or a JSON text.
    AgentModes,
    /// Members of a request, in a table.
    Members,
}

/// Whether a list may be empty.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Emptiness {
    MayBeEmpty,
    MayNotBeEmpty,
}

impl Key {
    /// A key without a single default value, compatible with any other key, which a reload applies.
    pub const fn new(name: &'static str, kind: Kind, summary: &'static str) -> Self {
        Self {
            name,
            kind,
            summary,
            details: "",
            example: "",
            value: |_| None,
            unset: "",
            needs: &[],
            applies: ApplyMode::Reload,
        }
    }

    /// The default, if it can be given as one value.
    pub fn default(&self) -> Option<Value> {
        (self.value)(&Config::default())
    }

    /// The default in TOML, or in words.
    pub fn default_text(&self) -> String {
        self.default().map_or_else(|| self.unset.to_owned(), |value| value.to_string())
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Key").field("name", &self.name).finish_non_exhaustive()
    }
}

/// What `auth` of an API may have.
const AUTH: &str = "`bearer`, `basic = { username, password }`, `api_key` with `in` (\"header\", \"query\" or \
     \"cookie\") and `name`, `client_credentials = { token_url, client_id, client_secret, \
     scopes }`, or `authorization_code` with `authorize_url` and `token_url` or an `issuer`, \
     `client_id`, and as needed `client_secret`, `scopes`, `redirect_url`, `device_url`, \
     `revoke_url`, `resource` and `parameters`; alone or beside each, `schemes`, with a text or \
     `{ username, password }` for each security scheme of the description by its name, and \
     `tls = { cert, key }`, with files or PEM text";

impl Kind {
    /// The kind in a few words.
    pub fn name(&self) -> String {
        let name = match self {
            Self::Text => "string",
            Self::Path => "path",
            Self::Url => "URL",
            Self::PathOrUrl => "path or URL",
            Self::Encoder => "\"builtin\", \"none\" or path",
            Self::Address => "address and port",
            Self::Domain => "domain",
            Self::Share | Self::Temperature => "number",
            Self::Flag => "boolean",
            Self::FlagOrNetworks => "boolean or list of networks",
            Self::Networks => "list of networks",
            Self::RootKey => "string or table",
            Self::Count { .. } => "whole number",
            Self::Duration => "duration",
            Self::Size => "size",
            Self::Choice(words) => {
                let words: Vec<_> = words.iter().map(|word| format!("\"{word}\"")).collect();
                return words.join(" or ");
            }
            Self::Texts | Self::Arguments => "list of strings",
            Self::Patterns(_) => "list of patterns",
            Self::PatternsOrWrites => "\"writes\" or list of patterns",
            Self::Pins => "list of patterns and \"used\"",
            Self::Origins => "list of origins",
            Self::Variables | Self::Headers => "table of strings",
            Self::Groups => "table of lists of patterns",
            Self::Auth => "table with a way to sign in",
            Self::Credentials => "\"shared\", \"per_user\", \"client\", \"exchange\" or table",
            Self::OAuth | Self::SignIn | Self::TlsFiles | Self::Members => "table",
            Self::Rate => "rate",
            Self::Actions | Self::Issuers => "list of tables",
            Self::TableNotes => "table of tables",
            Self::BuiltinTools => "\"all\" or list of tools",
            Self::Categories => "list of categories",
            Self::AgentModes => "table of modes, or a JSON text of it",
        };
        name.to_owned()
    }

    /// How to write such a value, if its name does not say everything.
    pub fn constraint(&self) -> Option<&'static str> {
        Some(match self {
            Self::Text | Self::Choice(_) | Self::Flag | Self::BuiltinTools => return None,
            Self::Path => "relative to the file that names it; `~/` is the home directory",
            Self::Url => "with `http` or `https`, and a host",
            Self::PathOrUrl | Self::Encoder => "a path is relative to the file that names it",
            Self::Address => "such as \"127.0.0.1:8420\", \"[::1]:8420\" or \"localhost:8420\"",
            Self::Domain => "1 to 40 of `a-z`, `0-9` and `_`, without `__` or a `_` at the end",
            Self::Count { .. } => "above zero",
            Self::Share => "above zero, at most 1",
            Self::Temperature => "from 0 to 2",
            Self::Members => "as the provider's API has them",
            Self::RootKey => "a table has `command`, a program and its arguments",
            Self::FlagOrNetworks | Self::Networks => {
                "a network is an address and the length of its prefix"
            }
            Self::Duration => "a number and `ms`, `s`, `m`, `h` or `d`, above zero",
            Self::Size => "a number and `B`, `KiB`, `MiB`, `GiB`, `kB`, `MB` or `GB`, above zero",
            Self::Texts => "none of them empty",
            Self::Arguments => "numbers and booleans are taken as their text",
            Self::Patterns(Emptiness::MayBeEmpty) => "`*` is any run of characters, `?` any one",
            Self::PatternsOrWrites => {
                "\"writes\" is every tool that does not say `readOnlyHint: true`; in a pattern, `*` \
                 is any run of characters, `?` any one"
            }
            Self::Patterns(Emptiness::MayNotBeEmpty) => {
                "`*` is any run of characters, `?` any one; the list may not be empty"
            }
            Self::Pins => {
                "an id of a tool, a pattern in which `*` is any run of characters and `?` any one, or \"used\": \
                 the eight tools that a user's agent called most in the seven days before today"
            }
            Self::Origins => "scheme, host and port as a browser sends them",
            Self::Variables => "the names of variables and their values",
            Self::Headers => "the names of headers and their values",
            Self::Groups => "names of 1 to 64 letters, digits, `_`, `-`, `/` and spaces",
            Self::Rate => "a count and `/s`, `/m` or `/h`",
            Self::Auth => AUTH,
            Self::OAuth => {
                "`client_id`, `client_secret`, `private_key` with `key_id` (a file or PEM text), \
                 `client_metadata_url`, `redirect_url`, `scopes` and `grant` (\"authorization_code\" or \
                 \"client_credentials\"), as needed"
            }
            Self::Credentials => {
                "a table has `client_header` and `upstream_header`, as needed, or `exchange`, a table \
                 with `client_id`, `client_secret` or `private_key` (and `key_id`), `issuer`, \
                 `audience`, `resource` and `scopes`, as needed"
            }
            Self::Issuers => {
                "`issuer`, and as needed `audience`, `jwks_uri`, `scopes`, `groups_claim`, \
                 `introspection_endpoint`, `client_id` and `client_secret`"
            }
            Self::TlsFiles => "`cert` and `key`, both files with PEM",
            Self::SignIn => "`password`, `provider` and `registration`, as needed",
            Self::Actions => {
                "`name`, `method` and `path`, and as needed `title`, `description`, `parameters`, `in`, \
                 `body`, `extract`, `group` and `confirm`"
            }
            Self::Categories => {
                "`computation`, `web`, `filesystem`, `knowledge` and `general` are those of built-in tools; \
                 `connector`, `database` and `mcp` are kinds of sources"
            }
            Self::AgentModes => "other members of a JSON text are left alone",
            Self::TableNotes => {
                "each with `name`, `description`, `columns` and `personal`, as needed"
            }
        })
    }

    /// Whether references (`${VAR}`) are replaced in it: true for every kind that contains strings.
    pub fn takes_variables(&self) -> bool {
        !matches!(self, Self::Flag | Self::Count { .. } | Self::Share | Self::Temperature)
    }

    /// Whether the value is a table with keys of the user's choice.
    pub fn is_table(&self) -> bool {
        matches!(
            self,
            Self::Variables
                | Self::Headers
                | Self::Groups
                | Self::Auth
                | Self::OAuth
                | Self::TlsFiles
                | Self::Actions
                | Self::Issuers
                | Self::SignIn
                | Self::TableNotes
                | Self::Members
        )
    }
}

/// The largest integer in TOML, for counts that the code does not bound more closely.
const COUNT_LIMIT: u64 = i64::MAX as u64;

pub(super) const fn count() -> Kind {
    Kind::Count { max: COUNT_LIMIT }
}

pub(super) fn duration(duration: Duration) -> Value {
    gatefold_config::duration_text(duration).into()
}

pub(super) fn size(bytes: u64) -> Value {
    gatefold_config::size_text(bytes).into()
}
