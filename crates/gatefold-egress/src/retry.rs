//! What is sent a second time: where nothing was sent the first time, or where sending twice does no
//! harm.

use std::io;
use std::time::{Duration, UNIX_EPOCH};

use gatefold_core::{Clock as _, SystemClock};
use http::header::{HeaderMap, RETRY_AFTER};
use http::{Method, StatusCode};

use crate::error::{causes, obstacle};
use crate::redirect::is_safe;
use crate::{EgressError, Obstacle};

/// How often one request is sent again.
pub(crate) const RETRIES: u32 = 2;
/// The wait before the first retry where the server names none. It doubles with each.
const FIRST_WAIT: Duration = Duration::from_millis(100);

/// How long to wait before a request is sent again that got no answer. None where it must not be.
pub(crate) fn after_error(method: &Method, error: &EgressError, tries: u32) -> Option<Duration> {
    let may_repeat = match error {
        EgressError::Connect { source, .. } => {
            let obstacle = obstacle(&**source);
            // A name or a certificate is no better a moment later.
            obstacle == Obstacle::Refused || (obstacle == Obstacle::Other && is_reset(&**source))
        }
        // The server may have closed a connection that was kept just as it was used again.
        EgressError::Failed { source, .. } => tries == 0 && is_safe(method) && is_reset(&**source),
        _ => false,
    };
    may_repeat.then(|| jittered(FIRST_WAIT * 2_u32.pow(tries.min(RETRIES))))
}

/// The same after an answer that asks for it.
pub(crate) fn after_answer(
    method: &Method,
    status: StatusCode,
    headers: &HeaderMap,
) -> Option<Duration> {
    let is_temporary = matches!(
        status,
        StatusCode::TOO_MANY_REQUESTS
            | StatusCode::BAD_GATEWAY
            | StatusCode::SERVICE_UNAVAILABLE
            | StatusCode::GATEWAY_TIMEOUT
    );
    if !is_temporary || !is_safe(method) {
        return None;
    }
    // Those who were sent away together must not come back together.
    Some(asked_wait(headers)?.saturating_add(jittered(FIRST_WAIT)))
}

/// The wait that an answer asks for, from now on.
pub fn asked_wait(headers: &HeaderMap) -> Option<Duration> {
    retry_after(headers, Duration::from_millis(SystemClock.now().as_millis()))
}

/// How long the server wants to be left alone (RFC 9110, section 10.2.3). `now` counts from 1970.
fn retry_after(headers: &HeaderMap, now: Duration) -> Option<Duration> {
    let text = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    if let Ok(seconds) = text.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let date = httpdate::parse_http_date(text).ok()?;
    Some(date.duration_since(UNIX_EPOCH).ok()?.saturating_sub(now))
}

/// Whether the connection ended before an answer began.
fn is_reset(error: &(dyn std::error::Error + 'static)) -> bool {
    causes(error).any(|cause| {
        let io = cause.downcast_ref::<io::Error>().map(io::Error::kind);
        let http = cause.downcast_ref::<hyper::Error>();
        let is_closed = matches!(
            io,
            Some(
                io::ErrorKind::ConnectionReset
                    | io::ErrorKind::ConnectionAborted
                    | io::ErrorKind::BrokenPipe
            )
        );
        is_closed || http.is_some_and(|error| error.is_incomplete_message() || error.is_canceled())
    })
}

/// Between half of a wait and the whole of it.
fn jittered(wait: Duration) -> Duration {
    wait.mul_f64(0.5 + fastrand::f64() / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &'static str, now_s: u64, expected_s: Option<u64>) {
        let headers = HeaderMap::from_iter([(RETRY_AFTER, text.parse().unwrap())]);
        let found = retry_after(&headers, Duration::from_secs(now_s));
        assert_eq!(found.map(|wait| wait.as_secs()), expected_s, "{text}");
    }

    #[test]
    fn a_server_names_a_time_in_seconds_or_as_a_date() {
        check("120", 0, Some(120));
        check("0", 0, Some(0));
        check("Thu, 01 Jan 1970 00:10:00 GMT", 540, Some(60));
        check("Thu, 01 Jan 1970 00:10:00 GMT", 700, Some(0));
        for text in ["soon", "-1", "1.5", ""] {
            check(text, 0, None);
        }
    }

    #[test]
    fn only_a_temporary_answer_to_a_safe_request_is_asked_for_again() {
        let headers = HeaderMap::from_iter([(RETRY_AFTER, "1".parse().unwrap())]);
        let all = [200, 404, 408, 425, 429, 500, 502, 503, 504];
        for (method, is_repeated) in [
            (Method::GET, true),
            (Method::HEAD, true),
            (Method::OPTIONS, true),
            (Method::POST, false),
            (Method::PUT, false),
            (Method::DELETE, false),
        ] {
            for status in all {
                let status = StatusCode::from_u16(status).unwrap();
                let is_temporary = [429, 502, 503, 504].contains(&status.as_u16());
                let wait = after_answer(&method, status, &headers);
                assert_eq!(wait.is_some(), is_repeated && is_temporary, "{method} {status}");
                assert_eq!(after_answer(&method, status, &HeaderMap::new()), None);
            }
        }
    }
}
