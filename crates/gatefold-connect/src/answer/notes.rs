//! What headers tell that a model can use: the next page, and how many calls are left.

use std::time::{Duration, UNIX_EPOCH};

use gatefold_core::Timestamp;
use http::HeaderMap;
use url::Url;

use crate::action::{Action, ParameterPlace, Style};

use super::{AnswerReading, ReceivedAnswer};

/// A limit is told from this share of calls left on: one in ten.
const LOW_SHARE: u64 = 10;

/// And where an API does not say how many there are, from this number of calls left on.
const LOW_COUNT: u64 = 3;

/// The longest list of arguments for the next page, in bytes.
const MAX_ARGUMENTS_BYTES: usize = 1024;

/// The most links of an answer that are looked at.
const MAX_LINKS: usize = 32;

/// From here on a number of seconds is a time, not a delay.
const EPOCH_FROM: u64 = 1_000_000_000;
/// And from here on it is in milliseconds.
const EPOCH_MILLIS_FROM: u64 = 100_000_000_000;

pub(super) fn of(answer: &ReceivedAnswer, reading: &AnswerReading<'_>) -> Vec<String> {
    let next = next_page(answer, reading);
    let limit = RateLimit::of(&answer.headers, reading.now).filter(RateLimit::is_low);
    // An answer that is not there yet: `202 Accepted`.
    let later = retry_after(&answer.headers, reading.now);
    let later = later.map(|later| format!("come back in {} s", seconds(later)));
    next.into_iter().chain(later).chain(limit.map(|limit| limit.text())).collect()
}

fn next_page(answer: &ReceivedAnswer, reading: &AnswerReading<'_>) -> Option<String> {
    let links = answer.headers.get_all("link").iter().filter_map(|value| value.to_str().ok());
    let next = links.flat_map(links_of).take(MAX_LINKS).find(|(_, is_next)| *is_next);
    let arguments = match next {
        Some((target, _)) => {
            let target = reading.url.join(target).ok()?;
            arguments_of(reading.action, reading.url, &target)
        }
        None => page_header(answer, reading.action)?,
    };
    if arguments.is_empty() || arguments.len() > MAX_ARGUMENTS_BYTES {
        return Some("there is a next page".to_owned());
    }
    Some(format!("next page: call again with {arguments}"))
}

/// The targets of a `Link` header, and whether each is the next page (RFC 8288, section 3).
fn links_of(value: &str) -> impl Iterator<Item = (&str, bool)> {
    value.split('<').skip(1).filter_map(|link| {
        let (target, parameters) = link.split_once('>')?;
        let is_next = parameters.split(';').any(|parameter| {
            let (name, value) = parameter.split_once('=').unwrap_or_default();
            let value = value.trim().trim_end_matches(',').trim().trim_matches('"');
            let is_rel = name.trim().eq_ignore_ascii_case("rel");
            is_rel && value.split(' ').any(|relation| relation.eq_ignore_ascii_case("next"))
        });
        Some((target, is_next))
    })
}

/// The arguments that differ in the next page's address, and those that it does not have.
fn arguments_of(action: &Action, sent: &Url, next: &Url) -> String {
    let pairs: Vec<_> = sent.query_pairs().collect();
    let differing = next.query_pairs().filter(|pair| !pairs.contains(pair));
    let differing =
        differing.filter_map(|(name, value)| Some(format!("{}={value}", argument(action, &name)?)));
    let mut arguments: Vec<_> = differing.collect();
    if !arguments.is_empty() {
        let gone = pairs.iter().filter(|(name, _)| !next.query_pairs().any(|pair| pair.0 == *name));
        let gone = gone.filter_map(|(name, _)| argument(action, name));
        arguments.extend(gone.map(|name| format!("without {name}")));
        arguments.dedup();
    }
    arguments.join(", ")
}

/// The argument that a name in a query belongs to. A member of an object keeps its brackets.
fn argument(action: &Action, name: &str) -> Option<String> {
    let mut queries = action.parameters.iter().filter(|it| it.place == ParameterPlace::Query);
    let (object, member) = name.find('[').map_or((name, ""), |at| name.split_at(at));
    queries.find_map(|parameter| {
        let is_object = parameter.style() == Style::DeepObject && parameter.name == object;
        if parameter.name == name {
            return Some(parameter.argument().to_owned());
        }
        is_object.then(|| format!("{}{member}", parameter.argument()))
    })
}

/// What GitLab and others say instead of a link.
fn page_header(answer: &ReceivedAnswer, action: &Action) -> Option<String> {
    let page = answer.header("x-next-page").filter(|page| !page.is_empty())?;
    let mut parameters = action.parameters.iter();
    let parameter = parameters
        .find(|parameter| parameter.place == ParameterPlace::Query && parameter.name == "page")?;
    Some(format!("{}={page}", parameter.argument()))
}

/// How many calls an API still allows.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct RateLimit {
    limit: Option<u64>,
    remaining: Option<u64>,
    pub(super) reset: Option<Duration>,
}

impl RateLimit {
    /// What the headers say, in the old forms and in those of the IETF's draft "RateLimit header fields".
    pub(super) fn of(headers: &HeaderMap, now: Timestamp) -> Option<Self> {
        let number = |suffix: &str| {
            ["x-ratelimit-", "x-rate-limit-", "ratelimit-"].iter().find_map(|prefix| {
                let value = headers.get(format!("{prefix}{suffix}"))?.to_str().ok()?;
                leading_number(value)
            })
        };
        let field = |header: &str, names: [&str; 2]| {
            let value = headers.get(header)?.to_str().ok()?;
            let mut pairs = value.split([';', ',']).filter_map(|pair| pair.split_once('='));
            let (_, value) = pairs.find(|(name, _)| names.contains(&name.trim()))?;
            leading_number(value)
        };
        let limit = number("limit")
            .or_else(|| field("ratelimit", ["limit", "q"]))
            .or_else(|| field("ratelimit-policy", ["limit", "q"]));
        let remaining = number("remaining").or_else(|| field("ratelimit", ["remaining", "r"]));
        let reset = number("reset").or_else(|| field("ratelimit", ["reset", "t"]));
        let reset = reset.map(|reset| delay(reset, now));
        (remaining.is_some() || reset.is_some()).then_some(Self { limit, remaining, reset })
    }

    fn is_low(&self) -> bool {
        match (self.remaining, self.limit) {
            (Some(remaining), Some(limit)) => remaining.saturating_mul(LOW_SHARE) <= limit,
            (Some(remaining), None) => remaining <= LOW_COUNT,
            (None, _) => false,
        }
    }

    fn text(&self) -> String {
        let left = match (self.remaining, self.limit) {
            (Some(0) | None, _) => "no calls left".to_owned(),
            (Some(1), None) => "1 call left".to_owned(),
            (Some(remaining), None) => format!("{remaining} calls left"),
            (Some(remaining), Some(limit)) => format!("{remaining} of {limit} calls left"),
        };
        match self.reset {
            Some(reset) => format!("rate limit: {left}, more in {} s", seconds(reset)),
            None => format!("rate limit: {left}"),
        }
    }
}

fn leading_number(value: &str) -> Option<u64> {
    let value = value.trim();
    let end = value.find(|c: char| !c.is_ascii_digit()).unwrap_or(value.len());
    value[..end].parse().ok()
}

/// APIs say when in three ways: in seconds from now, and as a time in seconds or milliseconds.
fn delay(reset: u64, now: Timestamp) -> Duration {
    match reset {
        EPOCH_MILLIS_FROM.. => Timestamp::from_millis(reset).since(now),
        EPOCH_FROM.. => Timestamp::from_millis(reset.saturating_mul(1000)).since(now),
        seconds => Duration::from_secs(seconds),
    }
}

/// When to come back: `Retry-After`, else the end of an exhausted limit.
pub(super) fn come_back(headers: &HeaderMap, now: Timestamp) -> Option<Duration> {
    retry_after(headers, now).or_else(|| {
        let limit = RateLimit::of(headers, now)?;
        limit.reset.filter(|_| limit.remaining.is_none_or(|remaining| remaining == 0))
    })
}

/// A delay in seconds, or a time (RFC 9110, section 10.2.3).
fn retry_after(headers: &HeaderMap, now: Timestamp) -> Option<Duration> {
    let value = headers.get("retry-after")?.to_str().ok()?.trim();
    if let Ok(seconds) = value.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let time = httpdate::parse_http_date(value).ok()?.duration_since(UNIX_EPOCH).ok()?;
    Some(Timestamp::from_millis(0).plus(time).since(now))
}

/// Whole seconds, never too few.
pub(super) fn seconds(duration: Duration) -> u64 {
    duration.as_secs() + u64::from(duration.subsec_nanos() > 0)
}
