//! Moments, days and time zones as arguments.

use std::borrow::Cow;

use jiff::{Timestamp, Zoned, civil, tz::TimeZone};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, de::Error};

use crate::{
    arguments::Text,
    error::{ToolError, refuse},
};

const MAX_MOMENT_CHARS: usize = 40;
const MAX_ZONE_CHARS: usize = 60;

/// A point in time: exact when it came with an offset, else as a wall clock shows it.
#[derive(Debug, Clone, Copy)]
pub(super) enum Moment {
    Exact(Timestamp),
    WallClock(civil::DateTime),
}

/// A day of the calendar.
#[derive(Debug, Clone, Copy)]
pub(super) struct Day(pub(super) civil::Date);

/// A time zone by its IANA name.
#[derive(Debug, Clone)]
pub(super) struct Zone {
    pub(super) name: String,
    pub(super) zone: TimeZone,
}

impl Moment {
    /// The moment in a zone. A wall clock reading that a change of the clocks skips counts as
    /// later by the change; one that occurs twice is the first.
    pub(super) fn in_zone(self, zone: &Zone) -> Result<Zoned, ToolError> {
        match self {
            Self::Exact(timestamp) => Ok(timestamp.to_zoned(zone.zone.clone())),
            Self::WallClock(reading) => reading.to_zoned(zone.zone.clone()).map_err(out_of_range),
        }
    }
}

impl Zone {
    pub(super) fn utc() -> Self {
        Self { name: "UTC".to_owned(), zone: TimeZone::UTC }
    }

    pub(super) fn named(name: &str) -> Result<Self, ToolError> {
        let zone = TimeZone::get(name).map_err(|_| {
            refuse(
                format!("`{name}` is no time zone"),
                "list_time_zones gives the names, such as `Europe/Oslo`",
            )
        })?;
        // The database's spelling, whatever case the caller used.
        let name = zone.iana_name().unwrap_or(name).to_owned();
        Ok(Self { name, zone })
    }
}

/// RFC 3339 with the zone's offset, to the second.
pub(super) fn rfc3339(moment: &Zoned) -> String {
    moment.strftime("%Y-%m-%dT%H:%M:%S%:z").to_string()
}

/// The only way that arithmetic on checked moments fails.
pub(super) fn out_of_range(_: jiff::Error) -> ToolError {
    refuse("the result lies outside the years -9999 to 9999", "choose dates closer to now")
}

impl<'de> Deserialize<'de> for Moment {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Text::<1, MAX_MOMENT_CHARS>::deserialize(deserializer)?;
        let exact = text.parse().map(Self::Exact);
        let moment = exact.or_else(|_| text.parse().map(Self::WallClock));
        moment.ok().filter(|_| !text.contains('[')).ok_or_else(|| {
            D::Error::custom(format!(
                "`{}` is no date and time: write `2026-10-05T09:00` or `2026-10-05T09:00:00+02:00`",
                &*text
            ))
        })
    }
}

impl<'de> Deserialize<'de> for Day {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Text::<1, MAX_MOMENT_CHARS>::deserialize(deserializer)?;
        let day = text.parse().ok().filter(|_| text.len() == "2026-10-05".len());
        day.map(Self)
            .ok_or_else(|| D::Error::custom(format!("`{}` is no date: write `2026-10-05`", &*text)))
    }
}

impl<'de> Deserialize<'de> for Zone {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = Text::<1, MAX_ZONE_CHARS>::deserialize(deserializer)?;
        Self::named(&name).map_err(D::Error::custom)
    }
}

macro_rules! string_schema {
    ($type:ty, $name:literal, $max:expr) => {
        impl JsonSchema for $type {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> Cow<'static, str> {
                $name.into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!({ "type": "string", "maxLength": $max })
            }
        }
    };
}

string_schema!(Moment, "Moment", MAX_MOMENT_CHARS);
string_schema!(Day, "Day", MAX_MOMENT_CHARS);
string_schema!(Zone, "Zone", MAX_ZONE_CHARS);
