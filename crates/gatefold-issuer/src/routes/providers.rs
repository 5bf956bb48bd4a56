//! The way of a browser to a provider and back.
//!
//! A page with a button begins it, never a link alone: so people see where they are about to sign in
//! before another page asks for their password, links that are looked at in advance begin nothing, and
//! whoever signs out is not signed in again at once as who they were.

use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::extract::State;
use gatefold_core::{DrawnToken, PresentedToken, TokenKind};
use gatefold_identity::{AccountChoice, KeepOutcome, ProvidedPerson, ProviderVisit};
use http::header::SET_COOKIE;
use http::request::Parts;
use http::{Response, StatusCode};

use super::answers::{PageFault, answered, form_text, own_form, sent_to_authorize, too_many};
use crate::IssuerError;
use crate::browser::VISIT_LIFE;
use crate::form::Parameters;
use crate::pages::Page;
use crate::provider::{IdentityProvider, ProviderFault};
use crate::state::IssuerState;

/// Sends a browser to the provider.
pub(super) async fn begin(
    State(issuer): State<Arc<IssuerState>>,
    parts: Parts,
    body: Bytes,
) -> Response<Body> {
    let begun = async {
        let form = own_form(&issuer, &parts.headers, &body)?;
        let request = form_text(&form, "request")?;
        let provider = provider(&issuer)?;
        let account = match form_text(&form, "account")? {
            "another" => AccountChoice::Another,
            _ => AccountChoice::Usual,
        };
        let address = super::address(&parts.extensions);
        if let Err(wait) = issuer.visits_of_addresses.attempt(&address, &*issuer.clock) {
            tracing::warn!(%address, "too many sign-ins were begun; others have to wait");
            return Err(too_many(&issuer, request, wait));
        }
        let (browser, cookie) = issuer.visitor(&parts.headers)?;
        let drawn = DrawnToken::draw(TokenKind::Return).map_err(IssuerError::Random)?;
        let secrets = issuer.keys.visit_secrets(drawn.text.expose(), &browser);
        // First, so that a provider that is down costs the store nothing.
        let page = provider.page(&secrets, account).await;
        let page = page.map_err(|fault| refused(&issuer, provider, request, &fault))?;
        let now = issuer.clock.now();
        let visit = ProviderVisit {
            id: drawn.id,
            hash: drawn.hash,
            browser,
            request: request.to_owned(),
            expires_at: now.plus(VISIT_LIFE),
        };
        match issuer.store.keep_visit(visit, now).await.map_err(IssuerError::Store)? {
            KeepOutcome::Kept => {}
            KeepOutcome::Full => {
                let text = "The request of the program that sent you here is too long.";
                return Err(Page::fault(StatusCode::BAD_REQUEST, text).into());
            }
            KeepOutcome::Refused => return Err(IssuerError::Busy.into()),
        }
        let mut response = Page::onward(provider.name(), page).response();
        response.headers_mut().insert(SET_COOKIE, cookie);
        Ok(response)
    };
    answered(begun.await)
}

/// Takes up a browser that comes back, and goes on with what it was asked before.
pub(super) async fn callback(
    State(issuer): State<Arc<IssuerState>>,
    parts: Parts,
) -> Response<Body> {
    let taken_up = async {
        let query = parts.uri.query().unwrap_or_default();
        let parameters = Parameters::read(query).map_err(|_| no_such_visit())?;
        let state = parameters.text("state").map_err(|_| no_such_visit())?;
        let presented = PresentedToken::read_as(TokenKind::Return, state);
        let presented = presented.ok_or_else(no_such_visit)?;
        let browser = issuer.returned_visitor(&parts.headers).ok_or_else(no_such_visit)?;
        let now = issuer.clock.now();
        let request = issuer.store.take_visit(&presented.id, presented.hash, browser, now).await;
        let request = request.map_err(IssuerError::Store)?.ok_or_else(no_such_visit)?;
        let secrets = issuer.keys.visit_secrets(state, &browser);
        let provider = provider(&issuer)?;
        let person = provider.person(&secrets, query).await;
        let person = person.map_err(|fault| refused(&issuer, provider, &request, &fault))?;
        signed_in(&issuer, &parts, person, &request).await
    };
    answered(taken_up.await)
}

async fn signed_in(
    issuer: &IssuerState,
    parts: &Parts,
    person: ProvidedPerson,
    request: &str,
) -> Result<Response<Body>, PageFault> {
    let ProvidedPerson { subject, user, .. } = person.clone();
    match issuer
        .store
        .note_provided_person(person, issuer.clock.now())
        .await
        .map_err(IssuerError::Store)?
    {
        KeepOutcome::Kept => {}
        KeepOutcome::Full | KeepOutcome::Refused => {
            let text = "Too many people have signed in here.";
            return Err(Page::fault(StatusCode::SERVICE_UNAVAILABLE, text).into());
        }
    }
    let cookie = issuer.begin_session(&parts.headers, user.clone(), Some(subject)).await?;
    tracing::info!(%user, "somebody signed in at the provider");
    // The same request again, now with somebody to ask.
    let mut response = sent_to_authorize(issuer, request)?;
    response.headers_mut().insert(SET_COOKIE, cookie);
    Ok(response)
}

fn provider(issuer: &IssuerState) -> Result<&dyn IdentityProvider, PageFault> {
    let none = || Page::fault(StatusCode::NOT_FOUND, "Nobody signs in that way here.");
    Ok(issuer.settings.provider.as_deref().ok_or_else(none)?)
}

/// The page to sign in, with what went wrong.
fn refused(
    issuer: &IssuerState,
    provider: &dyn IdentityProvider,
    request: &str,
    fault: &ProviderFault,
) -> PageFault {
    let source = std::error::Error::source(fault).map(ToString::to_string);
    tracing::warn!(%fault, source, "somebody could not sign in at the provider");
    let status = match fault {
        ProviderFault::Unreachable(_) => StatusCode::SERVICE_UNAVAILABLE,
        ProviderFault::Denied(_) | ProviderFault::Unproven(_) => StatusCode::FORBIDDEN,
    };
    let text = fault.message(provider.name());
    Page::sign_in(&issuer.settings, request, Some((status, &text))).into()
}

fn no_such_visit() -> Page {
    let text = "This sign-in was not begun in this browser, was used, or took too long.";
    Page::fault(StatusCode::BAD_REQUEST, text)
}
