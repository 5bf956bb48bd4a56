//! A time as people and programs write it.

use std::sync::LazyLock;

use gatefold_core::Timestamp;
use jiff::Zoned;
use jiff::civil::Time;
use jiff::fmt::temporal::Pieces;
use jiff::tz::{AmbiguousOffset, TimeZone, TimeZoneDatabase};

use crate::BuiltinError;

/// How alike a zone's name has to be to be suggested.
const LIKENESS: f64 = 0.8;

/// The zones that are compiled in, the same on every machine.
static ZONES: LazyLock<TimeZoneDatabase> = LazyLock::new(TimeZoneDatabase::bundled);

/// A time, and what is not obvious about it.
pub(super) struct ReadMoment {
    pub(super) zoned: Zoned,
    pub(super) note: Option<&'static str>,
}

/// Reads a time. One that names no zone is in `zone`, or in UTC.
pub(super) fn read(
    text: &str,
    zone: Option<&TimeZone>,
    now: Timestamp,
) -> Result<ReadMoment, BuiltinError> {
    let text = text.trim();
    let plain = |zoned| Ok(ReadMoment { zoned, note: None });
    let own_zone = || zone.cloned().unwrap_or(TimeZone::UTC);
    if text.eq_ignore_ascii_case("now") {
        let now = i64::try_from(now.as_millis()).ok();
        let now = now.and_then(|now| jiff::Timestamp::from_millisecond(now).ok());
        let now = now.ok_or_else(|| BuiltinError::unavailable("the clock is wrong"))?;
        return plain(now.to_zoned(own_zone()));
    }
    if let Some(seconds) = text.strip_prefix('@') {
        let moment = seconds.parse().ok().and_then(|it| jiff::Timestamp::from_second(it).ok());
        let moment = moment.ok_or_else(|| unreadable(text))?;
        return plain(moment.to_zoned(own_zone()));
    }
    let pieces = Pieces::parse(text).map_err(|_| unreadable(text))?;
    let annotated = pieces.to_time_zone_with(&ZONES).map_err(|_| unreadable(text))?;
    let local = pieces.date().to_datetime(pieces.time().unwrap_or(Time::midnight()));
    if let Some(offset) = pieces.to_numeric_offset() {
        let moment = offset.to_timestamp(local).map_err(|_| unreadable(text))?;
        let shown_in = annotated.or_else(|| zone.cloned());
        return plain(moment.to_zoned(shown_in.unwrap_or_else(|| TimeZone::fixed(offset))));
    }
    if pieces.offset().is_some() {
        // `Z` says when, and not where.
        let moment = TimeZone::UTC.to_timestamp(local).map_err(|_| unreadable(text))?;
        return plain(moment.to_zoned(annotated.unwrap_or_else(own_zone)));
    }
    let ambiguous = annotated.unwrap_or_else(own_zone).to_ambiguous_zoned(local);
    let note = match ambiguous.offset() {
        AmbiguousOffset::Unambiguous { .. } => None,
        AmbiguousOffset::Gap { .. } => {
            Some("clocks skip this time there, so the later one is used")
        }
        AmbiguousOffset::Fold { .. } => {
            Some("clocks show this time twice there, so the earlier one is used")
        }
    };
    let zoned = ambiguous.compatible().map_err(|_| unreadable(text))?;
    Ok(ReadMoment { zoned, note })
}

/// The zone with this name.
pub(super) fn zone(name: &str) -> Result<TimeZone, BuiltinError> {
    let name = name.trim();
    if name.eq_ignore_ascii_case("utc") || name.eq_ignore_ascii_case("z") {
        return Ok(TimeZone::UTC);
    }
    ZONES.get(name).map_err(|_| {
        let nearest = ZONES
            .available()
            .map(|known| (likeness(known.as_str(), name), known))
            .filter(|(likeness, _)| *likeness >= LIKENESS)
            .max_by(|(a, _), (b, _)| a.total_cmp(b));
        let hint = match nearest {
            Some((_, known)) => format!("did you mean `{known}`?"),
            None => "write an IANA name such as `Europe/Berlin`".to_owned(),
        };
        BuiltinError::arguments(format!("there is no time zone `{name}`; {hint}"))
    })
}

/// How alike a zone and a text are. People name the city alone.
fn likeness(known: &str, name: &str) -> f64 {
    let name = name.replace(' ', "_").to_lowercase();
    let known = known.to_lowercase();
    let city = known.rsplit('/').next().unwrap_or_default();
    strsim::jaro_winkler(&known, &name).max(strsim::jaro_winkler(city, &name))
}

fn unreadable(text: &str) -> BuiltinError {
    BuiltinError::arguments(format!(
        "`{text}` is no time; write `now`, `2026-03-01`, `2026-03-01T12:00:00`, the same with an offset \
         such as `+01:00` or a zone such as `[Europe/Berlin]`, or `@` and Unix seconds"
    ))
}
