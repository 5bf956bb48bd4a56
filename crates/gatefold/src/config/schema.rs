//! The JSON Schema of `gatefold.toml`, for editors.
//!
//! It uses what drafts 4 and 7 have in common, which is what TOML editors understand
//! (<https://taplo.tamasfe.dev/configuration/developing-schemas.html>), and has no references to
//! its own parts, because editors drop the descriptions beside a `$ref`.

use std::collections::BTreeMap;

use gatefold_builtin::BuiltinName;
use gatefold_config::ITEM_LIMIT;
use serde_json::{Map, Value, json};

use super::keys::{ApplyMode, Emptiness, Key, Kind, Section};
use super::kinds::Kinds;
use super::kinds::allow_private::NETWORK_LIMIT;
use super::kinds::builtin::ALL as ALL_BUILTIN;
use super::kinds::credentials::WORDS;
use super::tool_modes;

/// Where the schema is published, for users who have nothing but their `gatefold.toml`.
pub(super) const ADDRESS: &str =
    concat!(env!("CARGO_PKG_REPOSITORY"), "/raw/main/schemas/gatefold.schema.json");

/// A string with a variable in it may have any form until the variable is replaced.
const VARIABLE: &str = r"\$\{";

/// The schema of a configuration with these sections.
pub fn schema(sections: &[Section]) -> Value {
    let mut properties = Map::new();
    for section in sections {
        let (name, value) = match section.path.split_once('.') {
            Some((name, _)) => (name, named(section)),
            None => (section.path, table(section)),
        };
        properties.insert(name.to_owned(), value);
    }
    json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "$id": ADDRESS,
        "title": "Gatefold",
        "description": "The configuration of Gatefold, which stands between language models and \
                        their tools.",
        "type": "object",
        "properties": properties,
        "additionalProperties": false,
    })
}

/// A table of tables whose names the user chooses.
fn named(section: &Section) -> Value {
    json!({
        "description": text(&section.summary, &section.details),
        "type": "object",
        "additionalProperties": table(section),
    })
}

fn table(section: &Section) -> Value {
    let keys = section.keys.iter();
    let properties: Map<_, _> = keys.map(|key| (key.name.to_owned(), property(key))).collect();
    let mut table = json!({
        "description": text(&section.summary, &section.details),
        "type": "object",
        "properties": properties,
        "additionalProperties": false,
    });
    let needs: Map<_, _> = section
        .keys
        .iter()
        .filter_map(|key| {
            dependency(&section.needs(key)).map(|needed| (key.name.to_owned(), needed))
        })
        .collect();
    if !needs.is_empty() {
        table["dependencies"] = needs.into();
    }
    let ways: Vec<_> = section.ways.iter().map(|way| json!({ "required": [way.key] })).collect();
    if !ways.is_empty() {
        table["oneOf"] = ways.into();
    }
    table
}

/// What a key that needs one of these keys depends on.
fn dependency(needs: &[&str]) -> Option<Value> {
    match needs {
        [] => None,
        [other] => Some(json!([other])),
        others => {
            let others: Vec<_> =
                others.iter().map(|other| json!({ "required": [other] })).collect();
            Some(json!({ "anyOf": others }))
        }
    }
}

fn property(key: &Key) -> Value {
    let mut details: Vec<String> = Vec::new();
    if !key.details.is_empty() {
        details.push(key.details.to_owned());
    }
    if key.default().is_none() && !key.unset.is_empty() {
        details.push(format!("Default: {}.", key.unset));
    }
    if key.applies == ApplyMode::Restart {
        details.push("A change takes effect at the next start.".to_owned());
    }
    let mut property = kind(&key.kind);
    property["description"] = text(key.summary, &details.join(" ")).into();
    if let Some(default) = key.default() {
        property["default"] = default;
    }
    property["examples"] = json!([example(key)]);
    property
}

/// The example as JSON.
fn example(key: &Key) -> Value {
    let text = format!("example = {}", key.example);
    let table: Map<String, Value> = toml::from_str(&text).expect("examples are TOML");
    table.into_iter().map(|(_, value)| value).next().unwrap_or_default()
}

fn text(summary: &str, details: &str) -> String {
    if details.is_empty() { summary.to_owned() } else { format!("{summary}\n\n{details}") }
}

fn pattern(pattern: &str) -> Value {
    json!({ "type": "string", "pattern": format!("{pattern}|{VARIABLE}") })
}

/// A string that matches `own`, or one that contains a variable.
fn any_of(own: &Value) -> Value {
    json!({ "anyOf": [own, { "type": "string", "pattern": VARIABLE }] })
}

fn list(items: &Value) -> Value {
    json!({ "type": "array", "items": items })
}

fn names(pattern: &str, values: &Value) -> Value {
    json!({
        "type": "object",
        "patternProperties": { pattern: values },
        "additionalProperties": false,
    })
}

/// What the reader accepts for a kind of key, as far as a schema can say it.
fn kind(kind: &Kind) -> Value {
    let filled = || json!({ "type": "string", "pattern": r"\S" });
    let loose = || json!({ "type": ["string", "number", "boolean"] });
    match kind {
        Kind::Text | Kind::Path | Kind::PathOrUrl | Kind::Encoder => filled(),
        Kind::Url => pattern("^https?://[^/]"),
        Kind::Address => pattern(r"^(\[[0-9A-Fa-f:.]+\]|[0-9.]+|localhost):[0-9]{1,5}$"),
        Kind::Domain => {
            let domain = r"^_?[a-z0-9]+(_[a-z0-9]+)*$";
            any_of(&json!({ "type": "string", "pattern": domain, "maxLength": 40 }))
        }
        Kind::Flag => json!({ "type": "boolean" }),
        Kind::FlagOrNetworks => {
            let mut networks = networks("[0-9]{1,3}");
            networks["maxItems"] = NETWORK_LIMIT.into();
            json!({ "anyOf": [{ "type": "boolean" }, networks] })
        }
        Kind::Count { max } => json!({ "type": "integer", "minimum": 1, "maximum": max }),
        // Draft 4 and draft 7 write an exclusive minimum in different ways.
        Kind::Share => json!({ "type": "number", "minimum": 0, "maximum": 1 }),
        Kind::Temperature => json!({ "type": "number", "minimum": 0, "maximum": 2 }),
        Kind::Members => json!({ "type": "object" }),
        Kind::Duration => pattern(r"^\s*[0-9.]*[1-9][0-9.]*\s*(ms|s|m|min|h|d)\s*$"),
        Kind::Size => pattern(r"^\s*[0-9.]*[1-9][0-9.]*\s*(B|KiB|K|MiB|M|GiB|G|kB|KB|MB|GB)\s*$"),
        Kind::Choice(words) => any_of(&json!({ "enum": words })),
        Kind::Texts => list(&filled()),
        Kind::PatternsOrWrites => {
            let patterns = self::kind(&Kind::Patterns(Emptiness::MayBeEmpty));
            json!({ "anyOf": [patterns, any_of(&json!({ "enum": ["writes"] }))] })
        }
        Kind::Patterns(emptiness) => {
            let mut item = filled();
            item["not"] = json!({ "pattern": "^(tool|prompt|resource):$" });
            let mut patterns = list(&item);
            if *emptiness == Emptiness::MayNotBeEmpty {
                patterns["minItems"] = 1.into();
            }
            patterns
        }
        Kind::Pins => list(&pattern(r"^(used|\S*[_*?]\S*)$")),
        Kind::Arguments => {
            let mut arguments = list(&loose());
            arguments["maxItems"] = ITEM_LIMIT.into();
            arguments
        }
        Kind::Networks => networks("[1-9][0-9]{0,2}"),
        Kind::RootKey => root_key(&filled()),
        Kind::Origins => list(&pattern("^[A-Za-z][A-Za-z0-9+.-]*://.")),
        Kind::Variables => names("^[^=\\u0000]+$", &loose()),
        Kind::Headers => names("^[!#$%&'*+.^_`|~0-9A-Za-z-]+$", &loose()),
        Kind::Rate => pattern(r"^[1-9][0-9]*/[smh]$"),
        Kind::Auth => auth(),
        Kind::OAuth => oauth(),
        Kind::Credentials => credentials(),
        Kind::TlsFiles => json!({
            "type": "object",
            "properties": { "cert": filled(), "key": filled() },
            "required": ["cert", "key"],
            "additionalProperties": false,
        }),
        Kind::Actions => list(&action()),
        Kind::Issuers => list(&issuer()),
        Kind::SignIn => sign_in(),
        Kind::BuiltinTools => builtin_tools(),
        Kind::Categories => list(&json!({ "enum": Kinds::default().categories() })),
        Kind::AgentModes => agent_modes(),
        Kind::TableNotes => names(r"\S", &table_note()),
        Kind::Groups => names(r"^[\p{L}\p{N}_ /-]{1,64}$", &list(&filled())),
    }
}

fn builtin_tools() -> Value {
    let names = BuiltinName::ALL.map(BuiltinName::as_str);
    let mut tools = list(&any_of(&json!({ "enum": names })));
    tools["minItems"] = 1.into();
    json!({ "anyOf": [tools, any_of(&json!({ "enum": [ALL_BUILTIN] }))] })
}

/// The modes in a table, or a JSON text of them.
fn agent_modes() -> Value {
    let modes = tool_modes::MODES.iter();
    let modes: Map<_, _> =
        modes.map(|mode| (mode.key.to_owned(), json!({ "enum": mode.words() }))).collect();
    any_of(&json!({
        "type": "object",
        "properties": modes,
        "additionalProperties": false,
    }))
}

fn table_note() -> Value {
    let text = || json!({ "type": "string", "pattern": r"\S" });
    json!({
        "type": "object",
        "properties": {
            "name": text(),
            "description": text(),
            "columns": names(r"\S", &text()),
            "personal": list(&text()),
        },
        "additionalProperties": false,
    })
}

fn root_key(text: &Value) -> Value {
    let mut command = list(text);
    command["minItems"] = 1.into();
    let printed = json!({
        "type": "object",
        "properties": { "command": command },
        "required": ["command"],
        "additionalProperties": false,
    });
    json!({ "anyOf": [text, printed] })
}

/// Addresses, and networks with such a length of their prefix.
fn networks(prefix: &str) -> Value {
    list(&pattern(&format!("^[0-9A-Fa-f:.]+(/{prefix})?$")))
}

/// The keys of Gatefold's client at a provider, and which need which.
fn provider_client() -> (Map<String, Value>, Value) {
    let text = || json!({ "type": "string", "pattern": r"\S" });
    let mut keys: Map<_, _> = ["client_id", "client_secret", "private_key", "key_id"]
        .map(|key| (key.to_owned(), text()))
        .into_iter()
        .collect();
    keys.insert("scopes".to_owned(), list(&text()));
    let needs = json!({
        "client_secret": ["client_id"],
        "private_key": ["client_id"],
        "key_id": ["client_id"],
    });
    (keys, needs)
}

fn oauth() -> Value {
    let grants = any_of(&json!({ "enum": ["authorization_code", "client_credentials"] }));
    let (mut keys, needs) = provider_client();
    keys.insert("client_metadata_url".to_owned(), pattern("^https?://[^/]"));
    keys.insert("redirect_url".to_owned(), redirect_url());
    keys.insert("grant".to_owned(), grants);
    json!({
        "type": "object",
        "properties": keys,
        "dependencies": needs,
        "additionalProperties": false,
    })
}

/// An address of this machine.
fn redirect_url() -> Value {
    pattern(r"^http://(localhost|127\.0\.0\.1|\[::1\])(:[1-9][0-9]*)?(/[^?#@]*)?$")
}

fn exchange() -> Value {
    let text = || json!({ "type": "string", "pattern": r"\S" });
    let (mut keys, needs) = provider_client();
    keys.insert("issuer".to_owned(), pattern("^https?://[^/]"));
    keys.insert("audience".to_owned(), text());
    keys.insert("resource".to_owned(), text());
    json!({
        "type": "object",
        "properties": keys,
        "dependencies": needs,
        "additionalProperties": false,
    })
}

fn credentials() -> Value {
    let name = json!({ "type": "string", "pattern": "^[!#$%&'*+.^_`|~0-9A-Za-z-]+$" });
    let headers = json!({
        "type": "object",
        "properties": { "client_header": name, "upstream_header": name },
        "additionalProperties": false,
    });
    let exchange = json!({
        "type": "object",
        "properties": { "exchange": exchange() },
        "required": ["exchange"],
        "additionalProperties": false,
    });
    json!({ "anyOf": [any_of(&json!({ "enum": WORDS })), headers, exchange] })
}

fn sign_in() -> Value {
    json!({
        "type": "object",
        "properties": {
            "password": { "type": "boolean" },
            "provider": provider(),
            "registration": { "type": "boolean" },
        },
        "anyOf": [
            { "required": ["provider"] },
            { "properties": { "password": { "enum": [true] } } },
        ],
        "additionalProperties": false,
    })
}

fn provider() -> Value {
    let text = || json!({ "type": "string", "pattern": r"\S" });
    json!({
        "type": "object",
        "properties": {
            "issuer": pattern("^https?://[^/]"),
            "client_id": text(),
            "client_secret": text(),
            "name": text(),
            "scopes": list(&text()),
            "groups_claim": text(),
        },
        "required": ["issuer", "client_id", "client_secret"],
        "additionalProperties": false,
    })
}

fn issuer() -> Value {
    let text = || json!({ "type": "string", "pattern": r"\S" });
    let url = || pattern("^https?://[^/]");
    json!({
        "type": "object",
        "properties": {
            "issuer": url(),
            "audience": text(),
            "jwks_uri": url(),
            "scopes": list(&text()),
            "groups_claim": text(),
            "introspection_endpoint": url(),
            "client_id": text(),
            "client_secret": text(),
        },
        "required": ["issuer"],
        "dependencies": {
            "client_id": ["client_secret"],
            "client_secret": ["client_id"],
            "introspection_endpoint": ["client_id"],
        },
        "additionalProperties": false,
    })
}

fn auth() -> Value {
    let text = || json!({ "type": "string", "pattern": r"\S" });
    let members = |members: &[(&str, Value)], required: &[&str]| {
        json!({
            "type": "object",
            "properties": members.iter().cloned().collect::<BTreeMap<_, _>>(),
            "required": required,
            "additionalProperties": false,
        })
    };
    let basic = members(
        &[("username", text()), ("password", json!({ "type": "string" }))],
        &["username", "password"],
    );
    let client_credentials = members(
        &[
            ("token_url", pattern("^https?://[^/]")),
            ("client_id", text()),
            ("client_secret", text()),
            ("scopes", list(&text())),
        ],
        &["token_url", "client_id", "client_secret"],
    );
    let code_flow = code_flow();
    let credential = json!({ "anyOf": [text(), basic] });
    let schemes =
        json!({ "type": "object", "minProperties": 1, "additionalProperties": credential });
    let ways = ["bearer", "basic", "api_key", "client_credentials", "authorization_code"];
    let mut auth = members(
        &[
            ("bearer", text()),
            ("basic", basic),
            ("api_key", text()),
            ("in", any_of(&json!({ "enum": ["header", "query", "cookie"] }))),
            ("name", text()),
            ("client_credentials", client_credentials),
            ("authorization_code", code_flow),
            ("schemes", schemes),
            ("tls", members(&[("cert", text()), ("key", text())], &["cert", "key"])),
        ],
        &[],
    );
    let with = |way: &str| json!({ "required": [way] });
    let beside = ["schemes", "tls"].map(with);
    let alone = json!({ "anyOf": beside, "not": { "anyOf": ways.map(with) } });
    let allowed = ways.map(with).into_iter().chain([alone]);
    auth["oneOf"] = allowed.collect();
    auth["dependencies"] = json!({ "in": ["api_key", "name"], "name": ["api_key", "in"] });
    auth
}

fn code_flow() -> Value {
    let text = || json!({ "type": "string", "pattern": r"\S" });
    let url = || pattern("^https?://[^/]");
    json!({
        "type": "object",
        "properties": {
            "issuer": url(),
            "authorize_url": url(),
            "token_url": url(),
            "device_url": url(),
            "revoke_url": url(),
            "client_id": text(),
            "client_secret": text(),
            "scopes": list(&text()),
            "redirect_url": redirect_url(),
            "resource": text(),
            "parameters": names(r"\S", &json!({ "type": ["string", "number", "boolean"] })),
        },
        "anyOf": [{ "required": ["authorize_url", "token_url"] }, { "required": ["issuer"] }],
        "dependencies": {
            "authorize_url": ["token_url", "client_id"],
            "token_url": ["authorize_url"],
            "device_url": ["authorize_url"],
            "revoke_url": ["authorize_url"],
            "client_secret": ["client_id"],
        },
        "additionalProperties": false,
    })
}

fn action() -> Value {
    let text = || json!({ "type": "string", "pattern": r"\S" });
    let places = any_of(&json!({ "enum": ["query", "header", "cookie"] }));
    json!({
        "type": "object",
        "properties": {
            "name": text(),
            "title": text(),
            "description": text(),
            "method": text(),
            "path": pattern("^/"),
            "parameters": { "type": ["object", "string"] },
            "in": { "type": "object", "additionalProperties": places },
            "body": text(),
            "extract": text(),
            "group": text(),
            "confirm": { "type": "boolean" },
        },
        "required": ["name", "method", "path"],
        "additionalProperties": false,
    })
}
