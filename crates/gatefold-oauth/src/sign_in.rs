//! A whole sign-in, from a server's address to a grant.

use std::sync::Arc;

use gatefold_core::{Clock, Secret};
use gatefold_egress::HttpClient;
use reqwest::Url;
use tokio::time::Instant;

use crate::authorization::{AuthorizationRequest, OFFLINE_ACCESS, RedirectAnswer};
use crate::client::{ClientSettings, OAuthClient};
use crate::device::{self, DeviceCode, DevicePoll};
use crate::discovery::{Discovery, discover};
use crate::endpoint::Endpoints;
use crate::grant::{Grant, Tokens};
use crate::provider::KnownProvider;
use crate::redirect::LocalRedirect;
use crate::registration::{self, ClientPurpose, ClientSource, Redirect};
use crate::token::TokenEndpoint;
use crate::{BearerChallenge, Refused, SignInError};

/// What a sign-in is for.
pub struct SignInOptions {
    /// The source's guarded client.
    pub client: HttpClient,
    /// The source's address.
    pub site: Url,
    pub settings: ClientSettings,
    /// Where to sign in, if the source is not asked.
    pub known: Option<KnownProvider>,
    /// What the source said when it refused a request.
    pub challenge: Option<BearerChallenge>,
    /// What the last sign-in brought, if there was one.
    pub earlier: Option<Grant>,
    pub clock: Arc<dyn Clock>,
}

/// A sign-in under way.
pub struct SignIn {
    options: SignInOptions,
    discovery: Discovery,
    scopes: Vec<String>,
}

/// Whom the provider knows us as, and where it sends a browser back to.
struct Registration {
    client: OAuthClient,
    redirect: Option<String>,
}

impl SignIn {
    /// Finds out where to sign in.
    pub async fn begin(options: SignInOptions, deadline: Instant) -> Result<Self, SignInError> {
        let SignInOptions { client, site, challenge, .. } = &options;
        let discovery = match &options.known {
            Some(known) => known.discovered(Endpoints { client, deadline }).await?,
            None => discover(client, site, challenge.as_ref(), deadline).await?,
        };
        let scopes = scopes(&options, &discovery);
        Ok(Self { options, discovery, scopes })
    }

    /// The provider's name for itself.
    pub fn issuer(&self) -> &str {
        &self.discovery.server.issuer
    }

    pub fn scopes(&self) -> &[String] {
        &self.scopes
    }

    /// Whether a person can sign in on another device.
    pub fn has_devices(&self) -> bool {
        self.discovery.server.device_authorization_endpoint.is_some()
    }

    /// Fails if the provider knows no client of ours and registers none.
    pub fn check_client(&self) -> Result<(), SignInError> {
        let (server, settings) = (&self.discovery.server, &self.options.settings);
        let has_document =
            settings.metadata_url.is_some() && server.client_id_metadata_document_supported;
        if settings.id.is_some() || has_document || server.registration_endpoint.is_some() {
            return Ok(());
        }
        Err(SignInError::NeedsClient { issuer: server.issuer.clone() })
    }

    /// Whether a person registered the client, and so may have to say where browsers come back to.
    pub fn is_configured(&self) -> bool {
        self.options.settings.id.is_some()
    }

    /// The address to come back to that the configuration names.
    pub fn configured_redirect(&self) -> Option<&LocalRedirect> {
        self.options.settings.redirect.as_ref()
    }

    /// The key that names the address to come back to.
    pub fn redirect_key(&self) -> &'static str {
        if self.options.known.is_some() {
            "auth.authorization_code.redirect_url"
        } else {
            "oauth.redirect_url"
        }
    }

    fn scopes_key(&self) -> &'static str {
        if self.options.known.is_some() { "auth.authorization_code.scopes" } else { "oauth.scopes" }
    }

    /// The address to come back to that the last sign-in registered.
    pub fn earlier_redirect(&self) -> Option<&str> {
        self.options.earlier.as_ref()?.redirect.as_deref()
    }

    /// Prepares the browser's way. It comes back to `redirect`.
    pub async fn browse(
        self,
        redirect: Redirect,
        deadline: Instant,
    ) -> Result<BrowserSignIn, SignInError> {
        let registration = self.register(&redirect, ClientPurpose::Browser, deadline).await?;
        let request = AuthorizationRequest::new(
            &self.discovery,
            &registration.client.id,
            &redirect.0,
            &self.scopes,
        )?;
        Ok(BrowserSignIn { request, registration, sign_in: self })
    }

    /// Prepares a sign-in on another device.
    pub async fn on_device(self, deadline: Instant) -> Result<DeviceSignIn, SignInError> {
        // A device comes back to nowhere, but registrations want an address.
        let redirect = Redirect("http://127.0.0.1/callback".to_owned());
        let registration = self.register(&redirect, ClientPurpose::Device, deadline).await?;
        let code = device::begin(
            self.endpoints(deadline),
            &self.discovery,
            &registration.client,
            &self.scopes,
            self.options.clock.now(),
        )
        .await
        .map_err(|error| self.explain(error, None))?;
        Ok(DeviceSignIn { code, registration, sign_in: self })
    }

    /// Signs a machine in, which proves who it is and needs no person (RFC 6749, section 4.4).
    pub(crate) async fn as_machine(&self, deadline: Instant) -> Result<Tokens, SignInError> {
        let settings = &self.options.settings;
        let server = &self.discovery.server;
        let needs_client = || SignInError::NeedsClient { issuer: server.issuer.clone() };
        let id = settings.id.as_deref().ok_or_else(needs_client)?;
        let client = OAuthClient::configured(id, settings, server);
        let scope = self.scopes.join(" ");
        let mut fields = vec![("grant_type", "client_credentials")];
        fields.extend(self.discovery.resource_field());
        if !scope.is_empty() {
            fields.push(("scope", &scope));
        }
        let now = self.options.clock.now();
        let endpoint = TokenEndpoint::of(server);
        let asked = endpoint.ask(self.endpoints(deadline), &client, &fields, now).await;
        asked.map_err(|error| self.explain(error, None))
    }

    /// Names the key that can mend a refusal, if it is about what the configuration can say.
    fn explain(&self, error: SignInError, redirect: Option<&str>) -> SignInError {
        let (SignInError::Denied(refused)
        | SignInError::Token(refused)
        | SignInError::Refusal { refused, .. }
        | SignInError::Registration { refused, .. }) = &error
        else {
            return error;
        };
        if refused.is_about_scopes() {
            let likely =
                likely_scopes(&self.scopes, &self.discovery.server.scopes_supported, refused);
            return SignInError::Scopes {
                asked: self.scopes.clone(),
                likely,
                key: self.scopes_key(),
                refused: refused.clone(),
            };
        }
        match redirect.filter(|_| refused.is_about_redirect()) {
            Some(redirect) => SignInError::Redirect {
                redirect: redirect.to_owned(),
                key: self.redirect_key(),
                refused: refused.clone(),
            },
            None => error,
        }
    }

    fn endpoints(&self, deadline: Instant) -> Endpoints<'_> {
        Endpoints { client: &self.options.client, deadline }
    }

    async fn register(
        &self,
        redirect: &Redirect,
        purpose: ClientPurpose,
        deadline: Instant,
    ) -> Result<Registration, SignInError> {
        let (client, source) = registration::client(
            self.endpoints(deadline),
            &self.discovery.server,
            &self.options.settings,
            redirect,
            purpose,
            &self.scopes,
            self.options.earlier.as_ref(),
        )
        .await
        .map_err(|error| self.explain(self.without_assumption(error), Some(&redirect.0)))?;
        let is_own = matches!(source, ClientSource::Registered | ClientSource::Earlier);
        Ok(Registration { client, redirect: is_own.then(|| redirect.0.clone()) })
    }

    /// Where a provider's addresses are only assumed, a failure at one of them says that there is no
    /// provider, unless it speaks as one.
    fn without_assumption(&self, error: SignInError) -> SignInError {
        let speaks =
            matches!(&error, SignInError::Registration { refused, .. } if refused.error.is_some());
        if !self.discovery.server.is_assumed || speaks {
            return error;
        }
        SignInError::NoServer { resource: gatefold_egress::redacted(&self.options.site) }
    }

    fn grant(&self, registration: &Registration, tokens: Tokens) -> Grant {
        let server = &self.discovery.server;
        Grant {
            site: self.options.site.to_string(),
            resource: self.discovery.resource.clone(),
            issuer: server.issuer.clone(),
            token_endpoint: server.token_endpoint.clone(),
            revocation_endpoint: server.revocation_endpoint.clone(),
            client: registration.client.clone(),
            redirect: registration.redirect.clone(),
            scopes: self.scopes.clone(),
            signed_in_at: tokens.obtained_at,
            tokens: Some(tokens),
            wanted: Vec::new(),
        }
    }
}

/// A sign-in whose person is at the provider's page.
pub struct BrowserSignIn {
    pub request: AuthorizationRequest,
    registration: Registration,
    sign_in: SignIn,
}

impl BrowserSignIn {
    /// Turns what the browser came back with into a grant.
    pub async fn redeem(
        &self,
        answer: RedirectAnswer,
        deadline: Instant,
    ) -> Result<Grant, SignInError> {
        let redeemed = self.redeem_as_registered(answer, deadline).await;
        redeemed.map_err(|error| self.sign_in.explain(error, Some(&self.request.redirect)))
    }

    async fn redeem_as_registered(
        &self,
        answer: RedirectAnswer,
        deadline: Instant,
    ) -> Result<Grant, SignInError> {
        let code: Secret = self.request.code(answer)?;
        let (sign_in, registration) = (&self.sign_in, &self.registration);
        let mut fields = vec![
            ("grant_type", "authorization_code"),
            ("code", code.expose()),
            ("redirect_uri", &self.request.redirect),
            ("code_verifier", self.request.verifier.0.expose()),
        ];
        fields.extend(sign_in.discovery.resource_field());
        let endpoint = TokenEndpoint::of(&sign_in.discovery.server);
        let (now, endpoints) = (sign_in.options.clock.now(), sign_in.endpoints(deadline));
        let client = &registration.client;
        let refused = match endpoint.ask(endpoints, client, &fields, now).await {
            Ok(tokens) => return Ok(sign_in.grant(registration, tokens)),
            Err(refused) => refused,
        };
        // Without metadata nobody knows how the provider wants clients to prove themselves. All
        // have to read the header (RFC 6749, section 2.3.1), and some read only the body.
        let may_be_for_the_proof =
            matches!(&refused, SignInError::Token(why) if why.may_be_for_the_proof());
        let in_body = client.in_body().filter(|_| sign_in.discovery.is_written);
        let Some(client) = in_body.filter(|_| may_be_for_the_proof) else { return Err(refused) };
        let tokens = endpoint.ask(endpoints, &client, &fields, now).await.map_err(|_| refused)?;
        Ok(sign_in.grant(&Registration { client, redirect: registration.redirect.clone() }, tokens))
    }
}

/// A sign-in whose person is at another device.
pub struct DeviceSignIn {
    pub code: DeviceCode,
    registration: Registration,
    sign_in: SignIn,
}

impl DeviceSignIn {
    /// Asks whether the person has signed in. `None` if not yet.
    pub async fn poll(&mut self, deadline: Instant) -> Result<Option<Grant>, SignInError> {
        let Self { code, registration, sign_in } = self;
        let server = &sign_in.discovery.server;
        let now = sign_in.options.clock.now();
        let endpoints = sign_in.endpoints(deadline);
        let polled = code.poll(endpoints, server, &registration.client, now).await;
        Ok(match polled.map_err(|error| sign_in.explain(error, None))? {
            DevicePoll::Signed(tokens) => Some(sign_in.grant(registration, tokens)),
            DevicePoll::Pending => None,
        })
    }
}

/// The scopes to ask for: those of the configuration, else those that the server names. After the
/// server wanted more for something that was tried, all earlier ones come along, so that a sign-in
/// never takes a right away.
fn scopes(options: &SignInOptions, discovery: &Discovery) -> Vec<String> {
    let mut scopes = options.settings.scopes.clone().or_else(|| discovery.scopes.clone());
    if let Some(earlier) = options.earlier.as_ref().filter(|own| !own.wanted.is_empty()) {
        let scopes = scopes.get_or_insert_default();
        for scope in earlier.all_scopes() {
            if !scopes.contains(&scope) {
                scopes.push(scope);
            }
        }
    }
    let mut scopes = scopes.unwrap_or_default();
    let offered = &discovery.server.scopes_supported;
    let is_offered = offered.iter().any(|scope| scope == OFFLINE_ACCESS);
    let is_ours = options.settings.scopes.is_none();
    if is_offered && is_ours && !scopes.iter().any(|scope| scope == OFFLINE_ACCESS) {
        scopes.push(OFFLINE_ACCESS.to_owned());
    }
    scopes
}

/// The scopes that a provider would probably take, by what it said when it refused others: with those
/// of its own that it names, or without those of ours.
fn likely_scopes(asked: &[String], offered: &[String], refused: &Refused) -> Vec<String> {
    let is_named = |scope: &&String| refused.speaks_of(scope);
    let missing = offered.iter().filter(|scope| !asked.contains(scope) && is_named(scope));
    let missing: Vec<_> = missing.cloned().collect();
    if !missing.is_empty() {
        return [asked, missing.as_slice()].concat();
    }
    let kept: Vec<_> = asked.iter().filter(|scope| !is_named(scope)).cloned().collect();
    if kept.len() < asked.len() {
        return kept;
    }
    let shared: Vec<_> = asked.iter().filter(|scope| offered.contains(scope)).cloned().collect();
    if shared.is_empty() || shared.len() == asked.len() { offered.to_vec() } else { shared }
}

#[cfg(test)]
mod tests {
    use http::StatusCode;

    use super::*;

    #[test]
    fn a_refusal_says_which_scopes_may_go_through() {
        for (asked, offered, said, likely) in [
            (&["read", "phantom"][..], &["read"][..], "unknown scope: phantom", &["read"][..]),
            (&["read", "phantom"], &["read"], "", &["read"]),
            (&[], &["openid", "email"], "The OpenID scope is required", &["openid"]),
            (&["read"], &["openid"], "", &["openid"]),
            (&["read"], &[], "", &[]),
            (&["read", "write"], &[], "scope write is not available", &["read"]),
        ] {
            let texts = |texts: &[&str]| texts.iter().map(ToString::to_string).collect::<Vec<_>>();
            let refused = Refused::new(Some("invalid_scope"), Some(said), StatusCode::BAD_REQUEST);
            assert_eq!(likely_scopes(&texts(asked), &texts(offered), &refused), likely, "{said}");
        }
    }
}
