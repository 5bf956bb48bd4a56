//! From an action and arguments to a request.

mod address;
mod body;
mod encoded;
mod error;
mod escape;
mod fields;
mod files;
mod forms;
mod limits;
mod multipart;
mod operation_paths;
mod readings;
mod template;
mod values;

#[cfg(test)]
mod tests;

use bytes::Bytes;
use http::{HeaderMap, Method, header};
use serde_json::{Map, Value};
use url::Url;

use crate::action::Action;

pub use error::RequestError;
pub use limits::{MAX_HEADER_BYTES, MAX_URL_BYTES};
pub use operation_paths::{OperationPath, OperationPaths, Routing};

/// A request that is complete but for credentials.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutgoingRequest {
    pub method: Method,
    pub url: Url,
    pub headers: HeaderMap,
    /// None where nothing is sent, which differs from an empty body.
    pub body: Option<Bytes>,
}

impl OutgoingRequest {
    /// Writes arguments into a request below the server's URL, which may have a path and a query.
    ///
    /// Arguments that the action does not know are left out, and so are those that are `null`, except within a
    /// body. The caller limits the size of a body.
    pub fn new(
        action: &Action,
        base: &Url,
        arguments: &Map<String, Value>,
    ) -> Result<Self, RequestError> {
        let method = Method::from_bytes(action.method.as_bytes())
            .map_err(|_| RequestError::action(action, "its method is malformed"))?;
        let url = address::url(action, base, arguments)?;
        let mut headers = fields::headers(action, arguments)?;
        let body = action.body.as_ref().map(|body| body::encoded(body, arguments)).transpose()?;
        let Some(body) = body.flatten() else {
            return Ok(Self { method, url, headers, body: None });
        };
        // A parameter of this name cannot know the boundary.
        headers.insert(header::CONTENT_TYPE, body.content_type);
        Ok(Self { method, url, headers, body: Some(body.bytes) })
    }
}
