//! Clients that register themselves (RFC 7591), where that is switched on.

use std::net::IpAddr;
use std::time::Duration;

use gatefold_core::Timestamp;
use gatefold_identity::limits::{REGISTERED_CLIENTS, UNUSED_LIFE};
use gatefold_identity::{ClientRecord, KeepOutcome};
use serde::{Deserialize, Serialize};

use crate::IssuerError;
use crate::clients::{REDIRECTS, shown_name, takes_codes};
use crate::redirect::RedirectUri;
use crate::state::{IssuerState, REGISTRATIONS};

// So fast nobody fills all places with clients that are never used.
const _: () =
    assert!(REGISTRATIONS as u64 * UNUSED_LIFE.as_secs() / 3600 < REGISTERED_CLIENTS as u64);

/// The longest request to register, in bytes.
pub(crate) const REGISTRATION_BYTES: usize = 16 * 1024;

/// 128 bits: ids are not guessed, though nothing depends on it.
const ID_BYTES: usize = 16;

/// What a client says of itself.
#[derive(Deserialize)]
pub(crate) struct RegistrationRequest {
    redirect_uris: Option<Vec<String>>,
    client_name: Option<String>,
    grant_types: Option<Vec<String>>,
    response_types: Option<Vec<String>>,
}

/// What it is registered as.
#[derive(Serialize)]
pub(crate) struct RegistrationAnswer {
    client_id: String,
    client_id_issued_at: u64,
    client_name: String,
    redirect_uris: Vec<String>,
    grant_types: [&'static str; 2],
    response_types: [&'static str; 1],
    token_endpoint_auth_method: &'static str,
}

/// Why nothing is registered.
#[derive(Debug)]
pub(crate) enum RegistrationFault {
    Refused {
        error: &'static str,
        why: String,
    },
    /// Too many did, for this long.
    TooMany(Duration),
    Issuer(IssuerError),
}

impl RegistrationFault {
    fn metadata(why: String) -> Self {
        Self::Refused { error: "invalid_client_metadata", why }
    }
}

impl IssuerState {
    pub(crate) async fn register(
        &self,
        body: &[u8],
        address: IpAddr,
    ) -> Result<RegistrationAnswer, RegistrationFault> {
        let request: RegistrationRequest = serde_json::from_slice(body).map_err(|_| {
            RegistrationFault::metadata("the body is no JSON of client metadata".to_owned())
        })?;
        let now = self.clock.now();
        let record = record(request, now)?;
        self.registrations_of_addresses
            .attempt(&address, &*self.clock)
            .map_err(RegistrationFault::TooMany)?;
        self.registrations.attempt(&(), &*self.clock).map_err(RegistrationFault::TooMany)?;
        let kept = self.store.register_client(record.clone(), now).await;
        match kept.map_err(|error| RegistrationFault::Issuer(IssuerError::Store(error)))? {
            KeepOutcome::Kept => {}
            KeepOutcome::Full => return Err(RegistrationFault::TooMany(UNUSED_LIFE)),
            KeepOutcome::Refused => return Err(RegistrationFault::Issuer(IssuerError::Busy)),
        }
        Ok(RegistrationAnswer {
            client_id: record.id,
            client_id_issued_at: now.as_millis() / 1000,
            client_name: record.name,
            redirect_uris: record.redirects,
            grant_types: ["authorization_code", "refresh_token"],
            response_types: ["code"],
            token_endpoint_auth_method: "none",
        })
    }
}

fn record(request: RegistrationRequest, now: Timestamp) -> Result<ClientRecord, RegistrationFault> {
    if !takes_codes(request.grant_types.as_deref(), request.response_types.as_deref()) {
        let why = "only `authorization_code` with `code` is offered".to_owned();
        return Err(RegistrationFault::metadata(why));
    }
    let redirects = request.redirect_uris.unwrap_or_default();
    let uri = |why: String| RegistrationFault::Refused { error: "invalid_redirect_uri", why };
    if redirects.is_empty() || redirects.len() > REDIRECTS {
        return Err(uri(format!("`redirect_uris` has 1 to {REDIRECTS} addresses")));
    }
    for (index, redirect) in redirects.iter().enumerate() {
        let read = RedirectUri::parse(redirect);
        read.map_err(|expected| {
            uri(format!("an address {expected}; number {} is other", index + 1))
        })?;
    }
    let mut id = [0; ID_BYTES];
    let filled = getrandom::fill(&mut id);
    filled.map_err(|error| RegistrationFault::Issuer(IssuerError::Random(error)))?;
    let name = request.client_name.as_deref().map(shown_name).unwrap_or_default();
    let name = if name.is_empty() { "a program without a name".to_owned() } else { name };
    let id = format!("{:032x}", u128::from_be_bytes(id));
    Ok(ClientRecord { id, name, redirects, created_at: now, used_at: None })
}
