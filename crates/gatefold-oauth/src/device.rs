//! Signing in without a browser on this machine: the device flow (RFC 8628).

use std::time::Duration;

use gatefold_core::{Secret, Timestamp};
use reqwest::Url;
use serde::Deserialize;

use crate::address::Address;
use crate::client::OAuthClient;
use crate::discovery::Discovery;
use crate::endpoint::Endpoints;
use crate::grant::Tokens;
use crate::metadata::ServerMetadata;
use crate::token::TokenEndpoint;
use crate::{Refused, SignInError, address, lenient};

/// What a token for a device is asked for with, and what its client is registered for.
pub(crate) const GRANT_TYPE: &str = "urn:ietf:params:oauth:grant-type:device_code";

/// The pause between two questions, if the provider names none (RFC 8628, section 3.2).
const PAUSE: Duration = Duration::from_secs(5);

/// The shortest pause that a provider can ask for: with none, we would ask without end.
const SHORTEST_PAUSE: Duration = Duration::from_secs(1);

/// How long a code is good, if the provider does not say.
const LASTS: Duration = Duration::from_secs(600);

/// The longest pause that a provider can ask for.
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

/// What a person types at the provider's page, on any device.
#[derive(Debug, Clone)]
pub struct DeviceCode {
    pub user_code: String,
    pub page: Url,
    /// The page with the code in its address.
    pub whole_page: Option<Url>,
    /// How long the code is good.
    pub lasts: Duration,
    /// How long to wait before the next question.
    pub pause: Duration,
    code: Secret,
}

/// What a question brought.
#[derive(Debug)]
pub(crate) enum DevicePoll {
    Signed(Tokens),
    /// Nobody has signed in yet.
    Pending,
}

#[derive(Deserialize)]
struct DeviceAnswer {
    device_code: Secret,
    user_code: String,
    #[serde(alias = "verification_url")]
    verification_uri: Address,
    #[serde(default, deserialize_with = "address::optional")]
    verification_uri_complete: Option<Url>,
    #[serde(default, deserialize_with = "lenient::seconds")]
    expires_in: Option<u64>,
    #[serde(default, deserialize_with = "lenient::seconds")]
    interval: Option<u64>,
}

#[derive(Deserialize, Default)]
struct DeviceRefusal {
    #[serde(default, deserialize_with = "lenient::text")]
    error: Option<String>,
    #[serde(default, deserialize_with = "lenient::text")]
    error_description: Option<String>,
}

pub(crate) async fn begin(
    endpoints: Endpoints<'_>,
    discovery: &Discovery,
    client: &OAuthClient,
    scopes: &[String],
    now: Timestamp,
) -> Result<DeviceCode, SignInError> {
    let server = &discovery.server;
    let Some(url) = &server.device_authorization_endpoint else {
        return Err(SignInError::NoDevices { issuer: server.issuer.clone() });
    };
    let scope = scopes.join(" ");
    let parameters = discovery.parameters.iter();
    let parameters = parameters.map(|(name, value)| (name.as_str(), value.as_str()));
    let mut fields: Vec<_> = discovery.resource_field().into_iter().chain(parameters).collect();
    if !scopes.is_empty() {
        fields.push(("scope", &scope));
    }
    let proof = client.proof(&server.issuer, now)?;
    let answer = endpoints.post_form("code for this device", url, &fields, &proof).await?;
    if !answer.status.is_success() {
        let said: DeviceRefusal = serde_json::from_slice(&answer.body).unwrap_or_default();
        let (error, description) = (said.error.as_deref(), said.error_description.as_deref());
        let refused = Refused::new(error, description, answer.status);
        return Err(SignInError::Refusal { what: "code for a device", refused });
    }
    let said: DeviceAnswer = serde_json::from_slice(&answer.body)
        .map_err(|error| SignInError::metadata(url, error.to_string()))?;
    let is_page = |url: &Url| matches!(url.scheme(), "http" | "https");
    if !is_page(&said.verification_uri.0) {
        return Err(SignInError::metadata(url, "its page is not an HTTP address"));
    }
    Ok(DeviceCode {
        user_code: crate::error::said(&said.user_code),
        page: said.verification_uri.0,
        whole_page: said.verification_uri_complete.filter(is_page),
        lasts: said.expires_in.map_or(LASTS, Duration::from_secs),
        pause: said
            .interval
            .map_or(PAUSE, Duration::from_secs)
            .clamp(SHORTEST_PAUSE, LONGEST_PAUSE),
        code: said.device_code,
    })
}

impl DeviceCode {
    /// Asks whether somebody has signed in. The pause grows if the provider wants it to.
    pub(crate) async fn poll(
        &mut self,
        endpoints: Endpoints<'_>,
        server: &ServerMetadata,
        client: &OAuthClient,
        now: Timestamp,
    ) -> Result<DevicePoll, SignInError> {
        let fields = [("grant_type", GRANT_TYPE), ("device_code", self.code.expose())];
        match TokenEndpoint::of(server).ask(endpoints, client, &fields, now).await {
            Ok(tokens) => Ok(DevicePoll::Signed(tokens)),
            Err(SignInError::Token(refused)) if refused.is("authorization_pending") => {
                Ok(DevicePoll::Pending)
            }
            Err(SignInError::Token(refused)) if refused.is("slow_down") => {
                self.pause = (self.pause + PAUSE).min(LONGEST_PAUSE);
                Ok(DevicePoll::Pending)
            }
            Err(SignInError::Token(refused)) if refused.is("expired_token") => {
                Err(SignInError::Late)
            }
            Err(error) => Err(error),
        }
    }
}
