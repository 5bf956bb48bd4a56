use bytes::Bytes;
use http::HeaderValue;

use super::error::RequestError;

/// The media type of bytes that nobody describes.
pub(super) const OCTETS: &str = "application/octet-stream";

/// A body as it is sent.
#[derive(Debug)]
pub(super) struct EncodedBody {
    pub(super) content_type: HeaderValue,
    pub(super) bytes: Bytes,
}

impl EncodedBody {
    /// A body of a media type that the description wrote, so it can be malformed.
    pub(super) fn new(
        argument: &str,
        media_type: &str,
        bytes: impl Into<Bytes>,
    ) -> Result<Self, RequestError> {
        let content_type = HeaderValue::from_str(media_type).map_err(|_| {
            let fault = format!("has the malformed media type `{}`", media_type.escape_debug());
            RequestError::argument(argument, fault)
        })?;
        Ok(Self { content_type, bytes: bytes.into() })
    }
}
