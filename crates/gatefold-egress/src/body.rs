use bytes::{Bytes, BytesMut};
use reqwest::Response;

use crate::EgressError;

/// Reads a body of at most `limit` bytes.
///
/// A longer one is an error: at once if the server announces its size, otherwise as soon as the
/// limit is passed. At most the limit and one chunk are held.
pub async fn read_capped(mut response: Response, limit: u64) -> Result<Bytes, EgressError> {
    let size = response.content_length();
    if size.is_some_and(|size| size > limit) {
        return Err(EgressError::TooLarge { size, limit });
    }
    let url = response.url().clone();
    let failed = |error| EgressError::new(&url, error);
    let Some(first) = response.chunk().await.map_err(failed)? else { return Ok(Bytes::new()) };
    let mut body = BytesMut::from(first);
    while body.len() as u64 <= limit {
        // A body in chunks of one byte must not keep its thread from others.
        tokio::task::consume_budget().await;
        match response.chunk().await.map_err(failed)? {
            Some(chunk) => body.extend_from_slice(&chunk),
            None => return Ok(body.freeze()),
        }
    }
    Err(EgressError::TooLarge { size: None, limit })
}
