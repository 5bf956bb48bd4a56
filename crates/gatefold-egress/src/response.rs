use std::time::Duration;

use bytes::Bytes;
use http::StatusCode;
use http::header::{HeaderMap, WWW_AUTHENTICATE};
use reqwest::{Response, Url};
use tokio::time::{Instant, timeout_at};

use crate::decode::{BodyDecoder, Coding, DecodeFault};
use crate::{EgressError, retry};

/// The most of a body that is decoded at a time, in bytes: a compressed one may become a thousand
/// times as long.
const PART_BYTES: usize = 4096;

/// What was read of a body.
#[derive(Debug)]
pub struct PartialBody {
    pub bytes: Bytes,
    pub end: BodyEnd,
}

/// Where the reading of a body ended.
#[derive(Debug)]
pub enum BodyEnd {
    /// At its end.
    Whole,
    /// At the deadline.
    Late,
    /// At the limit of bytes.
    Full,
    /// Where the connection broke.
    Broken(EgressError),
}

/// The head of an answer, and its body to be read. The head of a compressed one says neither its
/// coding nor its length.
#[derive(Debug)]
pub struct HttpResponse {
    /// Where the answer came from, after all redirects.
    url: Url,
    response: Response,
    coding: Coding,
    deadline: Instant,
    /// The longest silence of the server.
    silence: Option<Duration>,
}

impl HttpResponse {
    pub(crate) fn new(
        url: Url,
        mut response: Response,
        deadline: Instant,
        silence: Option<Duration>,
    ) -> Self {
        let coding = Coding::take(response.headers_mut());
        Self { url, response, coding, deadline, silence }
    }

    pub fn status(&self) -> StatusCode {
        self.response.status()
    }

    pub fn headers(&self) -> &HeaderMap {
        self.response.headers()
    }

    /// How long the server wants to be left alone, if it says so (RFC 9110, section 10.2.3).
    pub fn retry_after(&self) -> Option<Duration> {
        retry::asked_wait(self.headers())
    }

    /// Where the answer came from, after all redirects. It may contain credentials.
    pub fn url(&self) -> &Url {
        &self.url
    }

    /// Reads the body, of at most `limit` bytes, also once it is decoded.
    ///
    /// A longer one is an error: at once if the server announces its size, otherwise as soon as the
    /// limit is passed. At most the limit and one chunk are held.
    pub async fn read_capped(self, limit: u64) -> Result<Bytes, EgressError> {
        self.read_admitted(limit, |_| std::future::ready(true)).await
    }

    /// The same, but after each part it waits for `admit`, which is told how many decoded bytes
    /// there are so far and says whether more may come. If not, the body is too large.
    pub async fn read_admitted<F: Future<Output = bool>>(
        mut self,
        limit: u64,
        admit: impl Fn(usize) -> F,
    ) -> Result<Bytes, EgressError> {
        let size = self.response.content_length();
        if size.is_some_and(|size| size > limit) {
            return Err(EgressError::TooLarge { size, limit });
        }
        let mut decoder =
            BodyDecoder::new(self.coding, limit).map_err(|it| self.fault(it, limit))?;
        while let Some(chunk) = self.chunk().await? {
            // A body in chunks of one byte must not keep its thread from others.
            tokio::task::consume_budget().await;
            for part in chunk.chunks(PART_BYTES) {
                decoder.push(part).map_err(|fault| self.fault(fault, limit))?;
                if !admit(decoder.decoded()).await {
                    return Err(self.fault(DecodeFault::TooLarge, limit));
                }
            }
        }
        decoder.finish().map_err(|fault| self.fault(fault, limit))
    }

    /// The next part of the body, as soon as it is there; None at its end. The limit of a body that is
    /// read like this is the caller's. A compressed one is an error.
    pub async fn read_part(&mut self) -> Result<Option<Bytes>, EgressError> {
        if self.coding != Coding::Plain {
            return Err(EgressError::undecodable(&self.url, "a stream must not be compressed"));
        }
        self.chunk().await
    }

    /// The same answer, whose body has to end earlier.
    #[must_use]
    pub fn ending_by(self, deadline: Instant) -> Self {
        Self { deadline: self.deadline.min(deadline), ..self }
    }

    /// Reads a body that may have no end: what comes of it within the deadline and `limit` bytes, also
    /// if the connection breaks meanwhile. Waits for `admit` as
    /// [`read_admitted`](Self::read_admitted) does.
    pub async fn read_stream<F: Future<Output = ()>>(
        mut self,
        limit: u64,
        admit: impl Fn(usize) -> F,
    ) -> Result<PartialBody, EgressError> {
        let mut decoder =
            BodyDecoder::new(self.coding, limit).map_err(|it| self.fault(it, limit))?;
        let end = 'read: loop {
            let chunk = match self.chunk().await {
                Ok(Some(chunk)) => chunk,
                Ok(None) => break BodyEnd::Whole,
                Err(EgressError::Timeout { .. }) => break BodyEnd::Late,
                Err(error) => break BodyEnd::Broken(error),
            };
            tokio::task::consume_budget().await;
            // There is always more of a stream without pauses, so the time is looked at here too.
            if Instant::now() >= self.deadline {
                break BodyEnd::Late;
            }
            for part in chunk.chunks(PART_BYTES) {
                match decoder.push(part) {
                    Ok(()) => admit(decoder.decoded()).await,
                    Err(DecodeFault::TooLarge) => break 'read BodyEnd::Full,
                    Err(fault) => return Err(self.fault(fault, limit)),
                }
            }
        };
        let bytes = match end {
            BodyEnd::Whole => decoder.finish().map_err(|fault| self.fault(fault, limit))?,
            _ => decoder.into_partial(),
        };
        Ok(PartialBody { bytes, end })
    }

    fn fault(&self, fault: DecodeFault, limit: u64) -> EgressError {
        match fault {
            DecodeFault::TooLarge => EgressError::TooLarge { size: None, limit },
            DecodeFault::Malformed => {
                EgressError::undecodable(&self.url, "it is cut off or malformed")
            }
            DecodeFault::Unknown => {
                EgressError::undecodable(&self.url, "it is neither plain, nor `gzip`, nor `br`")
            }
        }
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

/// The most challenges of one answer that are handed on.
const CHALLENGES: usize = 8;

/// What a server wants instead of what it refused (RFC 9110, section 11.6.1).
pub fn challenges(headers: &HeaderMap) -> Vec<String> {
    let values = headers.get_all(WWW_AUTHENTICATE).iter().take(CHALLENGES);
    values.filter_map(|value| value.to_str().ok()).map(str::to_owned).collect()
}

/// The deadline, or the end of the longest silence.
pub(crate) fn earlier(deadline: Instant, silence: Option<Duration>) -> Instant {
    let silent = silence.map(|silence| Instant::now() + silence);
    silent.map_or(deadline, |silent| silent.min(deadline))
}
