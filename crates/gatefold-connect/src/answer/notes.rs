//! What headers tell that a model can use: the next page, and how many calls are left.

use std::time::Duration;

use gatefold_core::Timestamp;
use http::HeaderMap;
use url::Url;

use crate::action::{Action, ParameterPlace};

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
    next.into_iter().chain(limit.map(|limit| limit.text())).collect()
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

/// The arguments that differ in the next page's address.
fn arguments_of(action: &Action, sent: &Url, next: &Url) -> String {
    let sent: Vec<_> = sent.query_pairs().collect();
    let differing = next.query_pairs().filter(|pair| !sent.contains(pair)).filter_map(|pair| {
        let (name, value) = pair;
        let is_query = action
            .parameters
            .iter()
            .find(|parameter| parameter.place == ParameterPlace::Query && parameter.name == name);
        is_query.map(|parameter| format!("{}={value}", parameter.argument()))
    });
    differing.collect::<Vec<_>>().join(", ")
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

/// When to come back: `Retry-After` (RFC 9110, section 10.2.3), else the end of an exhausted limit.
pub(super) fn retry_after(headers: &HeaderMap, now: Timestamp) -> Option<Duration> {
    let value = headers.get("retry-after").and_then(|value| value.to_str().ok());
    let own = value.and_then(|value| {
        let time = || http_date(value).map(|time| time.since(now));
        value.trim().parse().ok().map(Duration::from_secs).or_else(time)
    });
    own.or_else(|| {
        let limit = RateLimit::of(headers, now)?;
        limit.reset.filter(|_| limit.remaining.is_none_or(|remaining| remaining == 0))
    })
}

/// Whole seconds, never too few.
pub(super) fn seconds(duration: Duration) -> u64 {
    duration.as_secs() + u64::from(duration.subsec_nanos() > 0)
}

/// `Sun, 06 Nov 1994 08:49:37 GMT`, which is the form that servers have to send.
fn http_date(text: &str) -> Option<Timestamp> {
    const MONTHS: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let (_, rest) = text.split_once(", ")?;
    let mut words = rest.split_whitespace();
    let day: u64 = words.next()?.parse().ok()?;
    let name = words.next()?;
    let month = MONTHS.iter().position(|month| *month == name)? as u64 + 1;
    let year: u64 = words.next()?.parse().ok().filter(|year| (1970..10_000).contains(year))?;
    let mut clock = words.next()?.split(':').map(|part| part.parse::<u64>().ok());
    let (hour, minute, second) = (clock.next()??, clock.next()??, clock.next()??);
    // Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms", `days_from_civil`.
    let year = if month <= 2 { year - 1 } else { year };
    let (era, of_era) = (year / 400, year % 400);
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day.checked_sub(1)?;
    let days = era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468;
    Some(Timestamp::from_millis((days * 86_400 + hour * 3600 + minute * 60 + second) * 1000))
}
