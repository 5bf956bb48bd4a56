use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http::StatusCode;
use http::header::HeaderMap;
use reqwest::{Response, Url};
use tokio::time::{Instant, timeout_at};

use crate::EgressError;

/// The head of an answer, and its body to be read.
#[derive(Debug)]
pub struct HttpResponse {
    /// Where the answer came from, after all redirects.
    url: Url,
    response: Response,
    deadline: Instant,
    /// The longest silence of the server.
    silence: Option<Duration>,
}

impl HttpResponse {
    pub(crate) fn new(
        url: Url,
        response: Response,
        deadline: Instant,
        silence: Option<Duration>,
    ) -> Self {
        Self { url, response, deadline, silence }
    }

    pub fn status(&self) -> StatusCode {
        self.response.status()
    }

    pub fn headers(&self) -> &HeaderMap {
        self.response.headers()
    }

    /// Where the answer came from, after all redirects. It may contain credentials.
    pub fn url(&self) -> &Url {
        &self.url
    }

    /// Reads the body, of at most `limit` bytes.
    ///
    /// A longer one is an error: at once if the server announces its size, otherwise as soon as the
    /// limit is passed. At most the limit and one chunk are held.
    pub async fn read_capped(mut self, limit: u64) -> Result<Bytes, EgressError> {
        let size = self.response.content_length();
        if size.is_some_and(|size| size > limit) {
            return Err(EgressError::TooLarge { size, limit });
        }
        let Some(first) = self.chunk().await? else { return Ok(Bytes::new()) };
        let mut body = BytesMut::from(first);
        while body.len() as u64 <= limit {
            // A body in chunks of one byte must not keep its thread from others.
            tokio::task::consume_budget().await;
            match self.chunk().await? {
                Some(chunk) => body.extend_from_slice(&chunk),
                None => return Ok(body.freeze()),
            }
        }
        Err(EgressError::TooLarge { size: None, limit })
    }

    async fn chunk(&mut self) -> Result<Option<Bytes>, EgressError> {
        let end = earlier(self.deadline, self.silence);
        match timeout_at(end, self.response.chunk()).await {
            Ok(Ok(chunk)) => Ok(chunk),
            Ok(Err(error)) => Err(EgressError::failed(&self.url, error.without_url().into())),
            Err(_) => Err(EgressError::late(&self.url)),
        }
    }
}

/// The deadline, or the end of the longest silence.
pub(crate) fn earlier(deadline: Instant, silence: Option<Duration>) -> Instant {
    let silent = silence.map(|silence| Instant::now() + silence);
    silent.map_or(deadline, |silent| silent.min(deadline))
}
