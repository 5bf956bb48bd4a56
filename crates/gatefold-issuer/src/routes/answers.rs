//! What the answers to people's browsers have in common.

use std::time::Duration;

use axum::body::Body;
use http::header::{CACHE_CONTROL, HeaderValue, LOCATION, RETRY_AFTER};
use http::{HeaderMap, Response, StatusCode};

use crate::IssuerError;
use crate::browser::is_own_form;
use crate::form::Parameters;
use crate::pages::Page;
use crate::state::IssuerState;

/// Why somebody gets no page of the usual kind.
pub(super) enum PageFault {
    Page(Page),
    /// The same with more headers.
    Response(Box<Response<Body>>),
    Issuer(IssuerError),
}

impl From<IssuerError> for PageFault {
    fn from(error: IssuerError) -> Self {
        Self::Issuer(error)
    }
}

impl From<Page> for PageFault {
    fn from(page: Page) -> Self {
        Self::Page(page)
    }
}

pub(super) fn answered(result: Result<Response<Body>, PageFault>) -> Response<Body> {
    match result {
        Ok(response) => response,
        Err(PageFault::Page(page)) => page.response(),
        Err(PageFault::Response(response)) => *response,
        Err(PageFault::Issuer(error)) => {
            super::log(&error);
            let text = "Something is wrong here. Try again in a moment.";
            Page::fault(StatusCode::SERVICE_UNAVAILABLE, text).response()
        }
    }
}

/// The form of a page of ours.
pub(super) fn own_form(
    issuer: &IssuerState,
    headers: &HeaderMap,
    body: &[u8],
) -> Result<Parameters, PageFault> {
    if !is_own_form(headers, &issuer.settings.public_url) {
        return Err(foreign_form().into());
    }
    let text = super::form(headers, body).ok_or_else(foreign_form)?;
    Ok(Parameters::read(&text).map_err(|_| foreign_form())?)
}

pub(super) fn form_text<'a>(
    form: &'a Parameters,
    name: &'static str,
) -> Result<&'a str, PageFault> {
    form.text(name).map_err(|_| foreign_form().into())
}

pub(super) fn foreign_form() -> Page {
    Page::fault(
        StatusCode::FORBIDDEN,
        "This form was not sent from the page that was shown to you.",
    )
}

/// The page to sign in for somebody who has to wait.
pub(super) fn too_many(issuer: &IssuerState, request: &str, wait: Duration) -> PageFault {
    let minutes = wait.as_secs().div_ceil(60).max(1);
    let text = format!("Too many attempts. Try again in {minutes} minutes.");
    let said = Some((StatusCode::TOO_MANY_REQUESTS, text.as_str()));
    let mut response = Page::sign_in(&issuer.settings, request, said).response();
    response.headers_mut().insert(RETRY_AFTER, wait.as_secs().max(1).into());
    PageFault::Response(Box::new(response))
}

/// Sends a browser to the page that a client's request leads to.
pub(super) fn sent_to_authorize(
    issuer: &IssuerState,
    request: &str,
) -> Result<Response<Body>, PageFault> {
    let path = issuer.settings.public_url.path();
    sent_to(&format!("{path}/oauth/authorize?{request}"))
}

/// Sends a browser on. It asks for the new address with GET, whatever it asked with before.
pub(super) fn sent_to(address: &str) -> Result<Response<Body>, PageFault> {
    let location = HeaderValue::try_from(address).map_err(|_| foreign_form())?;
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::SEE_OTHER;
    response.headers_mut().insert(LOCATION, location);
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    Ok(response)
}
