//! The first exchange with a server: `server/discover` in the stateless era, `initialize` in the
//! other.

use std::borrow::Cow;
use std::sync::Arc;

use gatefold_catalog::{ServerInfo, object_fields};
use gatefold_core::ClientAbilities;
use gatefold_dispatch::ClientCapabilities;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::message::{Reply, whole};
use super::params::{GatewayInfo, OutgoingMeta, OutgoingParams, RequestSender, SenderIdentity};
use super::request::{RequestKind, WireError, WireRequest};
use super::roots::SessionRoots;
use super::wire::Wire;
use crate::protocol::{
    Era, HANDSHAKE_VERSION, RpcError, STATELESS_VERSION, VERSIONS, codes, methods, rpc,
};

mod offered;

pub(crate) use self::offered::{AnnouncedLists, OfferedCapabilities};

/// The longest greeting that is read, in bytes. Instructions may be long.
const GREETING_BYTES: u64 = 4 * 1024 * 1024;

/// Our client capabilities in the handshake era: whatever some client behind us may answer. A
/// question that the call's client cannot answer gets an error. In the stateless era each call
/// declares what its own client can do, and our own requests accept no questions.
const RELAYED: &str = r#"{"elicitation":{"form":{},"url":{}},"sampling":{"tools":{},"context":{}},"roots":{"listChanged":true}}"#;
/// The members of it, in the order of [`ClientAbilities::SINGLE`].
const RELAYED_MEMBERS: [&str; 3] = ["elicitation", "sampling", ROOTS];
const ROOTS: &str = "roots";

/// What a server said about itself.
pub(crate) struct Greeting {
    pub(crate) server: ServerInfo,
    pub(crate) offered: OfferedCapabilities,
    /// Whether a server that was greeted in the stateless era says that it speaks the other one too.
    /// Not all that do say so.
    pub(crate) names_handshake: bool,
    /// Present in the stateless era, where every request says who sends it.
    pub(crate) client: Option<Arc<SenderIdentity>>,
}

/// Why there was no greeting.
#[derive(Debug)]
pub(crate) enum GreetingError {
    Late,
    /// The server answered with an error, so it is there and listens.
    Refused(RpcError),
    /// The server answered, but not with a greeting.
    Unreadable(String),
    Wire(WireError),
}

/// Greets a server in one era.
pub(crate) async fn greet(
    wire: &Wire,
    era: Era,
    roots: &SessionRoots,
) -> Result<Greeting, GreetingError> {
    match era {
        Era::Stateless => discover(wire).await,
        Era::Handshake => initialize(wire, roots).await,
    }
}

async fn discover(wire: &Wire) -> Result<Greeting, GreetingError> {
    let protocol_version = STATELESS_VERSION.to_owned();
    let client = SenderIdentity { protocol_version, client_info: GatewayInfo::OWN };
    let sender = RequestSender { greeting: &client, capabilities: None };
    let meta = OutgoingMeta { client: Some(sender), ..OutgoingMeta::default() };
    let params = OutgoingParams { meta, ..OutgoingParams::default() };
    let answer = match ask(wire, methods::DISCOVER, &params).await {
        // The protocol expects a client to choose from the list and ask again. We have only one
        // choice.
        Err(GreetingError::Refused(error)) if offers_our_version(&error) => {
            ask(wire, methods::DISCOVER, &params).await?
        }
        answer => answer?,
    };
    let about: GreetingAnswer<'_> = read(methods::DISCOVER, &answer)?;
    let Some(versions) = about.supported_versions else {
        return Err(unreadable(methods::DISCOVER, "names no `supportedVersions`"));
    };
    if !versions.iter().any(|version| version == STATELESS_VERSION) {
        let reason = format!("it does not speak version {STATELESS_VERSION} of the protocol");
        return Err(GreetingError::Unreadable(reason));
    }
    let server = about.meta.and_then(|meta| meta.server);
    let greeting = greeting(server, about.capabilities, about.instructions, STATELESS_VERSION);
    let names_handshake = versions
        .iter()
        .any(|version| VERSIONS.contains(&version.as_str()) && Era::of(version) == Era::Handshake);
    Ok(Greeting { client: Some(Arc::new(client)), names_handshake, ..greeting })
}

/// Whether a server that rejected our version lists it as supported anyway.
fn offers_our_version(error: &RpcError) -> bool {
    #[derive(Deserialize)]
    struct Refusal {
        supported: Vec<String>,
    }
    let listed = error.data.as_deref().map(|data| serde_json::from_str::<Refusal>(data.get()));
    error.code == codes::UNSUPPORTED_VERSION
        && listed.is_some_and(|listed| {
            listed.is_ok_and(|refusal| refusal.supported.iter().any(|own| own == STATELESS_VERSION))
        })
}

async fn initialize(wire: &Wire, roots: &SessionRoots) -> Result<Greeting, GreetingError> {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct InitializeParams<'a> {
        protocol_version: &'static str,
        capabilities: &'a RawValue,
        client_info: GatewayInfo,
    }
    let sole = roots.sole_capabilities().map(ClientCapabilities::raw);
    let capabilities = relayed(sole.map_or(RELAYED, RawValue::get), roots.are_offered());
    let capabilities = serde_json::from_str(&capabilities).expect("the capabilities are JSON");
    let (protocol_version, client_info) = (HANDSHAKE_VERSION, GatewayInfo::OWN);
    let opening = InitializeParams { protocol_version, capabilities, client_info };
    let answer = ask(wire, methods::INITIALIZE, &opening).await?;
    let about: GreetingAnswer<'_> = read(methods::INITIALIZE, &answer)?;
    let Some(version) = about.protocol_version else {
        return Err(unreadable(methods::INITIALIZE, "names no `protocolVersion`"));
    };
    wire.settle(&version);
    wire.notify(rpc::notice(methods::INITIALIZED, "{}")).await.map_err(GreetingError::Wire)?;
    Ok(greeting(about.server_info, about.capabilities, about.instructions, &version))
}

/// Our capabilities, as far as we relay what is declared. If there is only one client, a server must
/// see what that one can do: some list other tools to clients that cannot be asked.
fn relayed(declared: &str, has_roots: bool) -> String {
    let members = object_fields(declared).unwrap_or_default().into_iter();
    let members = members.filter(|(key, value)| {
        let is_relayed = RELAYED_MEMBERS.contains(&&**key) && *value != "null";
        is_relayed && (has_roots || &**key != ROOTS)
    });
    let members: Vec<_> = members.map(|(key, value)| format!(r#""{key}":{value}"#)).collect();
    format!("{{{}}}", members.join(","))
}

/// What a client with these abilities declares.
pub(crate) fn declared_by(client: ClientAbilities) -> Box<RawValue> {
    let own = RELAYED_MEMBERS.iter().zip(ClientAbilities::SINGLE);
    let own: Vec<_> = own.filter(|(_, one)| client.has(*one)).map(|(member, _)| *member).collect();
    let members = object_fields(RELAYED).unwrap_or_default().into_iter();
    let members = members.filter(|(key, _)| own.contains(&&**key));
    let members: Vec<_> = members.map(|(key, value)| format!(r#""{key}":{value}"#)).collect();
    RawValue::from_string(format!("{{{}}}", members.join(","))).expect("the members are JSON")
}

async fn ask(
    wire: &Wire,
    method: &'static str,
    params: &impl Serialize,
) -> Result<Box<RawValue>, GreetingError> {
    let id = wire.next_id();
    let text = rpc::request(id, method, params);
    let request = WireRequest::of_ours(id, RequestKind::Greeting, method, text, GREETING_BYTES);
    match wire.request(request).await.map_err(GreetingError::Wire)? {
        Reply::Result(result) => Ok(whole(&result)),
        Reply::Error(error) => Err(GreetingError::Refused(error)),
    }
}

/// What both greetings say, each in its own place.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct GreetingAnswer<'a> {
    #[serde(default)]
    protocol_version: Option<String>,
    #[serde(default)]
    supported_versions: Option<Vec<String>>,
    #[serde(borrow, default)]
    capabilities: Option<&'a RawValue>,
    #[serde(borrow, default)]
    server_info: Option<&'a RawValue>,
    #[serde(default)]
    instructions: Option<String>,
    #[serde(borrow, default, rename = "_meta")]
    meta: Option<GreetingMeta<'a>>,
}

#[derive(Deserialize)]
struct GreetingMeta<'a> {
    #[serde(borrow, default, rename = "io.modelcontextprotocol/serverInfo")]
    server: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
struct ServerName {
    #[serde(default)]
    name: String,
    #[serde(default)]
    version: String,
    #[serde(default)]
    title: Option<String>,
    #[serde(default)]
    description: Option<String>,
}

fn read<'a>(method: &str, answer: &'a RawValue) -> Result<GreetingAnswer<'a>, GreetingError> {
    serde_json::from_str(answer.get()).map_err(|_| unreadable(method, "cannot be read"))
}

fn unreadable(method: &str, what: &str) -> GreetingError {
    GreetingError::Unreadable(format!("its answer to `{method}` {what}"))
}

fn greeting(
    server: Option<&RawValue>,
    capabilities: Option<&RawValue>,
    instructions: Option<String>,
    version: &str,
) -> Greeting {
    let named = server.and_then(|raw| serde_json::from_str(raw.get()).ok());
    let ServerName { name, version: own_version, title, description } = named.unwrap_or_default();
    let capabilities = capabilities.map(|raw| {
        without_nulls(raw, |_, value| match value {
            // Programs that do not tell maps from lists write an empty map so.
            "[]" => "{}".into(),
            value => value.into(),
        })
    });
    Greeting {
        offered: capabilities.as_deref().map(OfferedCapabilities::read).unwrap_or_default(),
        server: ServerInfo {
            name,
            version: own_version,
            title,
            description,
            instructions,
            protocol: version.to_owned(),
            capabilities,
            whole: server.map(|raw| without_nulls(raw, |_, value| value.into())),
        },
        names_handshake: true,
        client: None,
    }
}

/// What a server says, as a client that checks takes it from its own face: `null` is absent.
fn without_nulls(
    said: &RawValue,
    change: impl for<'a> Fn(&str, &'a str) -> Cow<'a, str>,
) -> String {
    let fields = object_fields(said.get()).unwrap_or_default();
    let is_as_it_should_be =
        fields.iter().all(|(key, value)| *value != "null" && change(key, value) == *value);
    if is_as_it_should_be {
        return said.get().to_owned();
    }
    let fields = fields.iter().filter(|(_, value)| *value != "null");
    let fields = fields.map(|(key, value)| {
        format!("{}:{}", serde_json::Value::from(key.as_ref()), change(key, value))
    });
    format!("{{{}}}", fields.collect::<Vec<_>>().join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_sees_what_is_relayed_and_of_an_only_client_what_that_one_can_do() {
        assert_eq!(relayed(RELAYED, true), RELAYED);
        for (declared, has_roots, expected) in [
            (r#"{"elicitation":{},"extensions":{"a":{}}}"#, true, r#"{"elicitation":{}}"#),
            (
                r#"{"roots":{"listChanged":true},"sampling":null}"#,
                true,
                r#"{"roots":{"listChanged":true}}"#,
            ),
            (r#"{"roots":{},"sampling":{ "tools":{}}}"#, false, r#"{"sampling":{ "tools":{}}}"#),
            ("{}", true, "{}"),
            ("7", true, "{}"),
        ] {
            assert_eq!(relayed(declared, has_roots), expected, "{declared}");
        }
    }

    #[test]
    fn a_client_declares_what_it_can_be_asked() {
        for (client, expected) in [
            (ClientAbilities::NONE, "{}"),
            (ClientAbilities::ELICITATION, r#"{"elicitation":{"form":{},"url":{}}}"#),
            (ClientAbilities::ROOTS, r#"{"roots":{"listChanged":true}}"#),
            (ClientAbilities::ALL, RELAYED),
        ] {
            assert_eq!(declared_by(client).get(), expected);
        }
    }

    #[test]
    fn an_empty_list_of_a_greeting_is_a_map_and_null_is_absent() {
        let raw = |text: &str| RawValue::from_string(text.to_owned()).unwrap();
        let server = raw(r#"{"name":"s","version":"1","title":null,"icons":[]}"#);
        let offers = raw(r#"{"tools":[],"prompts":null,"resources":{"listChanged":true}}"#);
        let greeting = greeting(Some(&server), Some(&offers), None, HANDSHAKE_VERSION);
        let server = greeting.server;
        assert_eq!(server.whole.as_deref(), Some(r#"{"name":"s","version":"1","icons":[]}"#));
        assert_eq!(
            server.capabilities.as_deref(),
            Some(r#"{"tools":{},"resources":{"listChanged":true}}"#)
        );
    }

    #[test]
    fn a_server_that_lists_our_version_is_asked_again() {
        let check = |code, data: &str, expected| {
            let data = RawValue::from_string(data.to_owned()).unwrap();
            let error = RpcError { data: Some(data), ..RpcError::new(code, "no") };
            assert_eq!(offers_our_version(&error), expected, "{error:?}");
        };
        check(-32022, r#"{"supported":["2099-01-01","2026-07-28"],"requested":"x"}"#, true);
        check(-32022, r#"{"supported":["2025-11-25"]}"#, false);
        check(-32022, "7", false);
        check(-32602, r#"{"supported":["2026-07-28"]}"#, false);
        assert!(!offers_our_version(&RpcError::new(-32022, "no")));
    }
}
