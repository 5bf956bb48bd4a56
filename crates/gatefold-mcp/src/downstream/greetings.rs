//! How the gateway introduces itself: by `initialize` or `server/discover`.
//!
//! A single source under its own names introduces itself, under its own name.

use std::collections::BTreeMap;

use gatefold_catalog::{DomainEntry, Manifest, ServerInfo};
use serde_json::{Map, Value, json};

use super::extensions;
use super::notices::WantedLists;
use super::results::{CachePolicy, head};
use super::server::RequestScope;
use crate::protocol::rpc::to_text;
use crate::protocol::{Era, VERSIONS};

/// The capabilities of sources that the gateway passes on. Any other would be a promise that the
/// gateway cannot keep.
const RELAYED: [&str; 6] =
    ["tools", "prompts", "resources", "completions", "logging", "extensions"];

/// The result of `initialize`, for a session of this version.
pub(super) fn initialized(scope: &RequestScope, version: &str) -> String {
    let about = Introduction::of(scope);
    let instructions =
        about.instructions.map(|text| format!(r#","instructions":{}"#, to_text(&text)));
    format!(
        r#"{{"protocolVersion":"{version}","capabilities":{},"serverInfo":{}{}}}"#,
        Value::Object(about.capabilities),
        about.server,
        instructions.unwrap_or_default()
    )
}

/// The result of `server/discover`.
pub(super) fn discovered(scope: &RequestScope) -> String {
    let about = Introduction::of(scope);
    let instructions =
        about.instructions.map(|text| format!(r#","instructions":{}"#, to_text(&text)));
    format!(
        r#"{{{}"supportedVersions":{},"capabilities":{},"_meta":{{"io.modelcontextprotocol/serverInfo":{}}}{}}}"#,
        head(scope.era, CachePolicy::Private),
        to_text(&VERSIONS),
        Value::Object(about.capabilities),
        about.server,
        instructions.unwrap_or_default()
    )
}

struct Introduction {
    capabilities: Map<String, Value>,
    server: Value,
    instructions: Option<String>,
}

impl Introduction {
    fn of(scope: &RequestScope) -> Self {
        let (own, view) = (scope.turn.audience().own_source(), scope.turn.view());
        let manifest = own.and_then(|domain| view.domain(domain.as_str())?.manifest());
        let server = manifest.and_then(|manifest| manifest.server());
        server.map_or_else(|| Self::gateway(scope), |server| Self::source(server, scope.era))
    }

    fn source(server: &ServerInfo, era: Era) -> Self {
        let whole = server.whole.as_deref().and_then(|text| serde_json::from_str(text).ok());
        let mut told = whole.unwrap_or_else(|| Map::from_iter(server.title.clone().map(titled)));
        // A server may leave out what clients ask for.
        for (key, value) in [("name", &server.name), ("version", &server.version)] {
            told.entry(key).or_insert_with(|| value.as_str().into());
        }
        let mut capabilities = declared(server);
        capabilities.retain(|key, _| RELAYED.contains(&key.as_str()));
        if let Some(Value::Object(extensions)) = capabilities.get_mut("extensions") {
            extensions.retain(|key, _| extensions::is_relayed(key, era));
        }
        let server_info = Value::Object(told);
        Self { capabilities, server: server_info, instructions: server.instructions.clone() }
    }

    fn gateway(scope: &RequestScope) -> Self {
        let server = json!({ "name": "gatefold", "version": env!("CARGO_PKG_VERSION") });
        let instructions = scope.turn.lists().surface().instructions.clone();
        let capabilities = merged(scope.turn.view().domains(), scope.era);
        Self { capabilities, server, instructions: Some(instructions).filter(|t| !t.is_empty()) }
    }
}

/// The sources' combined capabilities. A source that was never reached may have any.
///
/// A session learns them only once, and sources come and go during it, so it is told everything
/// that any source may turn out to have. A client without a session can ask again.
fn merged<'a>(domains: impl Iterator<Item = &'a DomainEntry>, era: Era) -> Map<String, Value> {
    let mut together: BTreeMap<&str, Value> = BTreeMap::new();
    together.insert("tools", json!({ "listChanged": true }));
    if era == Era::Handshake {
        together.insert("prompts", json!({ "listChanged": true }));
        together.insert("resources", json!({ "listChanged": true, "subscribe": true }));
        together.insert("completions", json!({}));
        together.insert("logging", json!({}));
    }
    let mut extensions = Map::new();
    for entry in domains {
        let Some(manifest) = entry.manifest() else {
            together.entry("prompts").or_insert_with(|| json!({ "listChanged": true }));
            together.entry("resources").or_insert_with(|| json!({ "listChanged": true }));
            continue;
        };
        let declared = manifest.server().map_or_else(|| listed(manifest), declared);
        if declared.contains_key("prompts") {
            together.entry("prompts").or_insert_with(|| json!({ "listChanged": true }));
        }
        if let Some(resources) = declared.get("resources") {
            let own = together.entry("resources").or_insert_with(|| json!({ "listChanged": true }));
            if resources.get("subscribe") == Some(&Value::Bool(true)) {
                own["subscribe"] = true.into();
            }
        }
        for key in ["completions", "logging"] {
            if declared.contains_key(key) {
                together.entry(key).or_insert_with(|| json!({}));
            }
        }
        if let Some(Value::Object(own)) = declared.get("extensions") {
            extensions.extend(own.clone());
        }
    }
    extensions.retain(|key, _| extensions::is_relayed(key, era));
    if !extensions.is_empty() {
        together.insert("extensions", Value::Object(extensions));
    }
    together.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
}

fn titled(title: String) -> (String, Value) {
    ("title".to_owned(), title.into())
}

/// The capabilities of a source whose server declares none: the lists that it has.
fn listed(manifest: &Manifest) -> Map<String, Value> {
    let has_resources = !manifest.resources().is_empty() || !manifest.templates().is_empty();
    let listed = [("prompts", !manifest.prompts().is_empty()), ("resources", has_resources)];
    let listed = listed.into_iter().filter(|(_, is_listed)| *is_listed);
    listed.map(|(key, _)| (key.to_owned(), json!({}))).collect()
}

fn declared(server: &ServerInfo) -> Map<String, Value> {
    let declared = server.capabilities.as_deref().and_then(|text| serde_json::from_str(text).ok());
    declared.unwrap_or_else(|| {
        // A manifest from before capabilities were stored: it had tools.
        Map::from_iter([("tools".to_owned(), json!({ "listChanged": true }))])
    })
}

/// Which list changes the audience is promised to be told about.
pub(super) fn offers(scope: &RequestScope) -> WantedLists {
    let capabilities = Introduction::of(scope).capabilities;
    let has = |key| capabilities.contains_key(key);
    WantedLists { tools: has("tools"), prompts: has("prompts"), resources: has("resources") }
}
