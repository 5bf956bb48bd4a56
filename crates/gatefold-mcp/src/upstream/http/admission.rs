//! A request that the server refuses for its credentials.

use ::http::StatusCode;
use ::http::header::WWW_AUTHENTICATE;
use bytes::Bytes;
use gatefold_dispatch::RefusalCause;
use reqwest::Response;

use super::super::request::{WireError, WireRequest};
use super::HttpWire;

impl HttpWire {
    /// Posts a request, and once more if the server wants other credentials and there are some.
    pub(super) async fn post_admitted(
        &self,
        body: Bytes,
        request: &WireRequest,
    ) -> Result<Response, WireError> {
        let (response, carried) = self.post_carrying(body.clone(), Some(request)).await?;
        let cause = match response.status() {
            StatusCode::UNAUTHORIZED => RefusalCause::Unknown,
            StatusCode::FORBIDDEN if response.headers().contains_key(WWW_AUTHENTICATE) => {
                RefusalCause::Forbidden
            }
            _ => return Ok(response),
        };
        match self.credentials.refused(carried, cause, response.headers()).await {
            Ok(()) => self.post(body, Some(request)).await,
            Err(error) if error.needs_sign_in => Err(WireError::NeedsSignIn(error.reason)),
            Err(_) => Ok(response),
        }
    }
}
