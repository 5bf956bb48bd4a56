//! How clients of either era begin.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::Arc;

use gatefold_core::{ClientName, Principal};
use gatefold_dispatch::ClientCapabilities;
use gatefold_exchange::Audience;

use super::client::{Client, ClientState};
use super::greetings;
use super::message::{ClientInfo, MetaMembers, RequestParams};
use super::server::Server;
use super::sessions::ClientSession;
use crate::protocol::{Era, RpcError, negotiated};

/// The longest client name that is kept, in bytes. The client can choose anything.
const CLIENT_NAME_BYTES: usize = 64;

/// A session for a client that sent `initialize`, and the answer.
pub(super) async fn opened(
    server: &Arc<Server>,
    audience: Audience,
    principal: Arc<Principal>,
    params: &RequestParams,
    meta: &MetaMembers,
) -> Result<(Arc<ClientSession>, String), RpcError> {
    let name = client_name(params.client_info.as_ref());
    let shown = server.for_client(&audience, name.as_ref());
    let asked = meta.asked.as_deref().filter(|_| shown.request().is_none());
    let shown = match asked {
        Some(asked) => shown.for_request(asked),
        None => shown,
    };
    let capabilities = params.capabilities.as_deref().map(ClientCapabilities::read);
    let capabilities = capabilities.unwrap_or_default();
    let shown = shown.of_client(capabilities.abilities());
    let scope = server.informed_scope(&shown, principal.clone(), Era::Handshake).await;
    let scope = scope.ok_or_else(|| RpcError::invalid_request("there is no such source"))?;
    let version = negotiated(params.protocol_version.as_deref());
    let result = greetings::initialized(&scope, version);
    let subscriptions = server.subscriptions(principal.clone());
    let session =
        ClientSession::new(audience, principal, name, capabilities, version, subscriptions);
    if let Some(asked) = asked {
        session.set_request(asked);
    }
    Ok((session, result))
}

/// A client whose request says everything that is known about it.
pub(super) fn standing_alone(principal: Arc<Principal>, meta: &MetaMembers) -> Client {
    let name = client_name(meta.client.as_ref());
    let capabilities = meta.capabilities.as_deref().map(ClientCapabilities::read);
    let standing = ClientState::Stateless(Arc::new(capabilities.unwrap_or_default()));
    let mut hasher = DefaultHasher::new();
    (&principal, &name).hash(&mut hasher);
    Client { connection: Some(hasher.finish()), principal, name, standing }
}

/// The name that a client gives itself, unless it is too long.
fn client_name(client: Option<&ClientInfo>) -> Option<ClientName> {
    let name = client.map(|client| client.name.as_str());
    name.filter(|name| name.len() <= CLIENT_NAME_BYTES).map(ClientName::new)
}
