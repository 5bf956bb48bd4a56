//! Reading the bodies of requests: how large one may be, how long it may take, and how much memory
//! all of them may take together.

use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody as _};
use bytes::BytesMut;
use http::header::RETRY_AFTER;
use http::{HeaderValue, Response, StatusCode};
use http_body_util::BodyExt as _;
use tokio::time::timeout;

use crate::budget::{BudgetShare, OverBudget, RequestBudget};
use crate::{HttpEndpoint, RefusalFormat};

/// The most bytes of a refused body that are read and thrown away.
const DISCARDED_BYTES: usize = 64 * 1024 * 1024;
/// How long that may take.
const DISCARDING: Duration = Duration::from_secs(10);

/// Reads bodies within the limits of an endpoint.
pub struct RequestBodies {
    /// The largest body, in bytes.
    limit: usize,
    deadline: Duration,
    budget: Arc<RequestBudget>,
}

/// Why a body was not read.
pub enum UnreadBody {
    TooLarge { limit: usize },
    Late { deadline: Duration },
    OverBudget,
    Broken,
}

impl RequestBodies {
    pub fn new(endpoint: &HttpEndpoint) -> Self {
        let limit = endpoint.request_body_bytes;
        let budget = RequestBudget::new(endpoint.requests_bytes, limit);
        Self { limit, deadline: endpoint.body_deadline, budget }
    }

    /// Reads a body. The share lasts as long as what was read from it.
    pub async fn read(&self, mut body: Body) -> Result<(Bytes, BudgetShare), UnreadBody> {
        let late = UnreadBody::Late { deadline: self.deadline };
        let read = if body.size_hint().lower() > self.limit as u64 {
            Err(UnreadBody::TooLarge { limit: self.limit })
        } else {
            timeout(self.deadline, self.gather(&mut body)).await.unwrap_or(Err(late))
        };
        if let Err(UnreadBody::TooLarge { .. } | UnreadBody::OverBudget) = &read {
            tokio::spawn(timeout(DISCARDING, discard(body)));
        }
        read
    }

    async fn gather(&self, body: &mut Body) -> Result<(Bytes, BudgetShare), UnreadBody> {
        let share = self.budget.share();
        let mut first = Bytes::new();
        let mut rest = BytesMut::new();
        while let Some(frame) = body.frame().await {
            let Ok(data) = frame.map_err(|_| UnreadBody::Broken)?.into_data() else { continue };
            let size = first.len() + rest.len() + data.len();
            if size > self.limit {
                return Err(UnreadBody::TooLarge { limit: self.limit });
            }
            // What was received counts, not what was announced: an announcement costs nothing.
            share.grow(size).map_err(|OverBudget| UnreadBody::OverBudget)?;
            if first.is_empty() && rest.is_empty() {
                first = data;
            } else {
                rest.extend_from_slice(&std::mem::take(&mut first));
                rest.extend_from_slice(&data);
            }
        }
        Ok((if rest.is_empty() { first } else { rest.freeze() }, share))
    }
}

/// Reads the rest of a refused body. Many clients read no answer before they have sent everything,
/// and may lose it if the connection is closed before that.
async fn discard(mut body: Body) {
    let mut left = DISCARDED_BYTES;
    while let Some(Ok(frame)) = body.frame().await {
        let size = frame.data_ref().map_or(0, Bytes::len);
        left = match left.checked_sub(size) {
            Some(left) => left,
            None => return,
        };
    }
}

impl UnreadBody {
    pub fn response(self, refusals: RefusalFormat) -> Response<Body> {
        match self {
            Self::TooLarge { limit } => {
                let text = format!("the request has more than {limit} bytes");
                refusals.response(StatusCode::PAYLOAD_TOO_LARGE, &text)
            }
            Self::Late { deadline } => {
                let seconds = deadline.as_secs_f32();
                let text = format!("the request was not complete within {seconds} s");
                refusals.response(StatusCode::REQUEST_TIMEOUT, &text)
            }
            Self::OverBudget => {
                let text = "as many large requests are under way as the gateway takes; try again \
                            later";
                let mut response = refusals.response(StatusCode::SERVICE_UNAVAILABLE, text);
                response.headers_mut().insert(RETRY_AFTER, HeaderValue::from_static("1"));
                response
            }
            Self::Broken => {
                let mut response = Response::new(Body::empty());
                *response.status_mut() = StatusCode::BAD_REQUEST;
                response
            }
        }
    }
}
