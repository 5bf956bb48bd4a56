//! The messages that a raw client sends, as text.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::HANDSHAKE_VERSION;
use crate::fixture::{Era, STATELESS_VERSION, quoted};

/// What all messages of one client have in common.
#[derive(Clone, Debug)]
pub(super) struct MessageWriter {
    pub(super) era: Era,
    /// What the client offers, JSON text.
    pub(super) capabilities: String,
    /// What it calls itself.
    pub(super) name: String,
}

impl Default for MessageWriter {
    fn default() -> Self {
        Self {
            era: Era::Stateless,
            capabilities: r#"{"elicitation":{}}"#.to_owned(),
            name: "gatefold-raw-client".to_owned(),
        }
    }
}

impl MessageWriter {
    /// A message with parameters given as the JSON text of an object.
    pub(super) fn request(&self, id: u64, method: &str, params: &str) -> String {
        let (method, params) = (quoted(method), self.with_meta(params));
        format!(r#"{{"jsonrpc":"2.0","id":{id},"method":{method},"params":{params}}}"#)
    }

    pub(super) fn notification(&self, method: &str, params: &str) -> String {
        let (method, params) = (quoted(method), self.with_meta(params));
        format!(r#"{{"jsonrpc":"2.0","method":{method},"params":{params}}}"#)
    }

    pub(super) fn initialize_params(&self) -> String {
        let (capabilities, name) = (&self.capabilities, quoted(&self.name));
        format!(
            r#"{{"protocolVersion":"{HANDSHAKE_VERSION}","capabilities":{capabilities},"clientInfo":{{"name":{name},"version":"1"}}}}"#
        )
    }

    /// Adds what every stateless request carries, and changes no other byte.
    fn with_meta(&self, params: &str) -> String {
        #[derive(Deserialize)]
        struct MessageParams<'a> {
            #[serde(rename = "_meta", borrow, default)]
            meta: Option<&'a RawValue>,
        }
        if self.era == Era::Handshake {
            return params.to_owned();
        }
        let (capabilities, name) = (&self.capabilities, quoted(&self.name));
        let meta = format!(
            r#""io.modelcontextprotocol/protocolVersion":"{STATELESS_VERSION}","io.modelcontextprotocol/clientInfo":{{"name":{name},"version":"1"}},"io.modelcontextprotocol/clientCapabilities":{capabilities}"#
        );
        let given =
            serde_json::from_str::<MessageParams<'_>>(params).ok().and_then(|params| params.meta);
        match given {
            Some(given) => {
                let start = given.get().as_ptr() as usize - params.as_ptr() as usize;
                let (before, given_on) = params.split_at(start);
                format!("{before}{}", with_members(given_on, &meta))
            }
            None => with_members(params, &format!(r#""_meta":{{{meta}}}"#)),
        }
    }
}

/// The answer to a request of the server; `id` and `result` are JSON text.
pub(super) fn response(id: &str, result: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#)
}

pub(super) fn call_params(tool: &str, arguments: &str) -> String {
    format!(r#"{{"name":{},"arguments":{arguments}}}"#, quoted(tool))
}

/// Inserts members at the beginning of the object in `object`.
fn with_members(object: &str, members: &str) -> String {
    let rest = object.trim_start().strip_prefix('{').unwrap_or(object);
    let comma = if rest.trim_start().starts_with('}') { "" } else { "," };
    format!("{{{members}{comma}{rest}")
}
