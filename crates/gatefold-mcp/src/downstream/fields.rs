//! Members of a request's parameters that several methods read, within their bounds.

use super::message::RequestParams;
use crate::protocol::RpcError;

/// The longest URI that is looked up, in bytes.
pub(super) const URI_BYTES: usize = 16 * 1024;

pub(super) fn bounded_uri(params: &RequestParams) -> Result<&str, RpcError> {
    let uri = required(params.uri.as_deref(), "uri")?;
    if uri.len() > URI_BYTES {
        return Err(RpcError::invalid_params(format!("`uri` has more than {URI_BYTES} bytes")));
    }
    Ok(uri)
}

pub(super) fn required<'a>(value: Option<&'a str>, name: &str) -> Result<&'a str, RpcError> {
    value.ok_or_else(|| missing(name))
}

pub(super) fn missing(name: &str) -> RpcError {
    RpcError::invalid_params(format!("`{name}` is missing"))
}
