//! What people's browsers ask: to sign in, to let a client in, to set a password.

use std::net::IpAddr;
use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::extract::State;
use gatefold_core::{PresentedToken, Secret, TokenKind, UserId};
use gatefold_identity::limits::NAME_BYTES;
use gatefold_identity::{BrowserSession, NewPassword, Scopes};
use http::header::SET_COOKIE;
use http::request::Parts;
use http::{HeaderMap, Response, StatusCode};

use super::answers::{
    PageFault, answered, foreign_form, form_text, own_form, sent_to, sent_to_authorize, too_many,
};
use crate::IssuerError;
use crate::authorization::AuthorizationFault;
use crate::form::Parameters;
use crate::keys::is_same;
use crate::pages::Page;
use crate::passwords::{self, PASSWORD_BYTES};
use crate::state::IssuerState;

/// What a seal is for.
const CONSENT: &str = "consent";
const SIGN_OUT: &str = "sign-out";

/// Shows who asks for what, to whoever is signed in; to others the page to sign in.
pub(super) async fn authorize(
    State(issuer): State<Arc<IssuerState>>,
    parts: Parts,
) -> Response<Body> {
    let query = parts.uri.query().unwrap_or_default();
    answered(asked(&issuer, &parts.headers, query).await)
}

async fn asked(
    issuer: &IssuerState,
    headers: &HeaderMap,
    query: &str,
) -> Result<Response<Body>, PageFault> {
    let public = &issuer.settings.public_url;
    let Some(session) = issuer.session(headers).await? else {
        return match issuer.judge_asker(query).await {
            Ok(()) => Ok(Page::sign_in(&issuer.settings, query, None).response()),
            Err(fault) => refused(fault),
        };
    };
    let request = match issuer.authorization(query).await {
        Ok(request) => request,
        Err(fault) => return refused(fault),
    };
    let seal = |what| issuer.keys.form_seal(&session.hash, what, query);
    let (consent, leave) = (seal(CONSENT), seal(SIGN_OUT));
    let page = Page::consent(public, &request, &session.user, query, &consent, &leave);
    Ok(page.response())
}

fn refused(fault: AuthorizationFault) -> Result<Response<Body>, PageFault> {
    match fault {
        AuthorizationFault::Page(text) => Err(Page::fault(StatusCode::BAD_REQUEST, &text).into()),
        AuthorizationFault::Answer(address) => sent_to(&address),
        AuthorizationFault::Issuer(error) => Err(error.into()),
    }
}

pub(super) async fn sign_in(
    State(issuer): State<Arc<IssuerState>>,
    parts: Parts,
    body: Bytes,
) -> Response<Body> {
    let signed_in = async {
        let form = own_form(&issuer, &parts.headers, &body)?;
        let request = form_text(&form, "request")?;
        let user = form_text(&form, "user")?.trim();
        let password = form_text(&form, "password")?;
        let address = super::address(&parts.extensions);
        let user = known_user(&issuer, user, password, address, request).await?;
        let cookie = issuer.begin_session(&parts.headers, user, None).await?;
        // The same request again, now with somebody to ask.
        let mut response = sent_to_authorize(&issuer, request)?;
        response.headers_mut().insert(SET_COOKIE, cookie);
        Ok(response)
    };
    answered(signed_in.await)
}

/// The user with this password. Everybody else gets the same answer after the same time.
async fn known_user(
    issuer: &IssuerState,
    user: &str,
    password: &str,
    address: IpAddr,
    request: &str,
) -> Result<UserId, PageFault> {
    let again = |status, text: &str| Page::sign_in(&issuer.settings, request, Some((status, text)));
    let wrong = || again(StatusCode::UNAUTHORIZED, "The name or the password is wrong.");
    if user.is_empty() || user.len() > NAME_BYTES || password.len() > PASSWORD_BYTES {
        return Err(wrong().into());
    }
    // Counted before it is judged: as many at once are as many.
    let (by_user, by_address) = (&issuer.guesses_of_users, &issuer.guesses_of_addresses);
    let key = user.to_owned();
    let attempt = by_address.attempt(&address, &*issuer.clock);
    let attempt = attempt.and_then(|()| by_user.attempt(&key, &*issuer.clock));
    if let Err(wait) = attempt {
        tracing::warn!(%address, "too many wrong passwords; others have to wait");
        return Err(too_many(issuer, request, wait));
    }
    let user = UserId::new(user);
    let known = issuer.store.password(&user).await.map_err(IssuerError::Store)?;
    let is_right = issuer.passwords.is_right(Secret::new(password), known).await;
    match is_right {
        Ok(false) => {
            tracing::info!(%address, "somebody could not sign in");
            Err(wrong().into())
        }
        Ok(true) => {
            by_user.forgive(&key);
            by_address.forgive(&address);
            tracing::info!(%user, %address, "somebody signed in");
            Ok(user)
        }
        Err(error) => {
            by_user.forgive(&key);
            by_address.forgive(&address);
            Err(error.into())
        }
    }
}

pub(super) async fn sign_out(
    State(issuer): State<Arc<IssuerState>>,
    parts: Parts,
    body: Bytes,
) -> Response<Body> {
    let signed_out = async {
        let form = own_form(&issuer, &parts.headers, &body)?;
        let request = form_text(&form, "request")?;
        let session = sealed_session(&issuer, &parts.headers, &form, SIGN_OUT).await?;
        let mut response = sent_to_authorize(&issuer, request)?;
        if let Some(session) = session {
            let cookie = issuer.end_session(&session).await?;
            response.headers_mut().insert(SET_COOKIE, cookie);
        }
        Ok(response)
    };
    answered(signed_out.await)
}

pub(super) async fn consent(
    State(issuer): State<Arc<IssuerState>>,
    parts: Parts,
    body: Bytes,
) -> Response<Body> {
    let decided = async {
        let form = own_form(&issuer, &parts.headers, &body)?;
        let query = form_text(&form, "request")?;
        let Some(session) = sealed_session(&issuer, &parts.headers, &form, CONSENT).await? else {
            return sent_to_authorize(&issuer, query);
        };
        let request = match issuer.authorization(query).await {
            Ok(request) => request,
            Err(fault) => return refused(fault),
        };
        match form_text(&form, "decision")? {
            "allow" => {
                let reads = form_text(&form, "read_only")? == "on";
                let scopes = if reads { Scopes::Read } else { request.scopes };
                sent_to(&request.granted(&issuer, &session, scopes).await?)
            }
            _ => sent_to(&request.refused(&issuer, "access_denied", "the user did not allow it")),
        }
    };
    answered(decided.await)
}

/// The session that a form was shown in. None if it has ended since; a page if the form is another
/// session's, or about another request.
async fn sealed_session(
    issuer: &IssuerState,
    headers: &HeaderMap,
    form: &Parameters,
    what: &str,
) -> Result<Option<BrowserSession>, PageFault> {
    let Some(session) = issuer.session(headers).await? else { return Ok(None) };
    let expected = issuer.keys.form_seal(&session.hash, what, form_text(form, "request")?);
    if !is_same(form_text(form, "seal")?, &expected) {
        return Err(foreign_form().into());
    }
    Ok(Some(session))
}

/// Shows whose password a link sets. Whatever looks at links on their way does not use them up.
pub(super) async fn show_link(
    State(issuer): State<Arc<IssuerState>>,
    parts: Parts,
) -> Response<Body> {
    let shown = async {
        let query = Parameters::read(parts.uri.query().unwrap_or_default());
        let query = query.map_err(|_| no_such_link())?;
        let link = form_text(&query, "link")?;
        let presented = PresentedToken::read_as(TokenKind::Link, link);
        let presented = presented.ok_or_else(no_such_link)?;
        let user =
            issuer.store.password_link(&presented.id, presented.hash, issuer.clock.now()).await;
        let user = user.map_err(IssuerError::Store)?.ok_or_else(no_such_link)?;
        Ok(Page::password(&issuer.settings.public_url, &user, link, None).response())
    };
    answered(shown.await)
}

pub(super) async fn set_password(
    State(issuer): State<Arc<IssuerState>>,
    parts: Parts,
    body: Bytes,
) -> Response<Body> {
    let set = async {
        let form = own_form(&issuer, &parts.headers, &body)?;
        let text = form_text(&form, "link")?;
        let (password, again) = (form_text(&form, "password")?, form_text(&form, "again")?);
        let link = PresentedToken::read_as(TokenKind::Link, text).ok_or_else(no_such_link)?;
        let now = issuer.clock.now();
        let user = issuer
            .store
            .password_link(&link.id, link.hash, now)
            .await
            .map_err(IssuerError::Store)?;
        let user = user.ok_or_else(no_such_link)?;
        if let Err(fault) = passwords::check(password, again) {
            return Ok(Page::password(
                &issuer.settings.public_url,
                &user,
                text,
                Some(&fault.message()),
            )
            .response());
        }
        let password = issuer.passwords.hash(Secret::new(password)).await?;
        let new = NewPassword { link: link.id, link_hash: link.hash, password };
        // Another browser may have been first.
        let user = issuer.store.set_password(new, now).await.map_err(IssuerError::Store)?;
        let user = user.ok_or_else(no_such_link)?;
        tracing::info!(%user, "a password was set");
        Ok(Page::password_is_set(&user).response())
    };
    answered(set.await)
}

fn no_such_link() -> Page {
    let text = "This link was used, has expired, or was never made. Ask for another one.";
    Page::fault(StatusCode::NOT_FOUND, text)
}
