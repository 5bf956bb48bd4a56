//! Lists of tools that stand at the top level: ids, patterns, and a word for those used most.

use gatefold_catalog::Pattern;
use gatefold_config::parsed;
use gatefold_config::schemas::or_reference;
use gatefold_disclose::Pins;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Stands for the tools that a principal used most.
pub(super) const USED: &str = "used";

/// One entry of such a list.
#[derive(JsonSchema)]
#[schemars(with = "String", extend("pattern" = or_reference(r"^(used|\S*[_*?]\S*)$"),
    "x-type" = "pattern or \"used\"", "x-types" = "patterns and \"used\"",
    "x-constraint" = "an id of a tool, a pattern in which `*` is any run of characters and `?` any one, or \"used\": \
                      the eight tools that a user's agent called most in the seven days before today"))]
pub(super) enum Pin {
    Pattern(Pattern),
    MostUsed,
}

impl Pin {
    /// An id has a `_` after its domain. Without one, and without a `*` or `?`, no tool could match.
    fn parse(text: &str) -> Option<Self> {
        if text == USED {
            return Some(Self::MostUsed);
        }
        let may_match = text.contains(['_', '*', '?']) && !text.contains(char::is_whitespace);
        may_match.then(|| Self::Pattern(Pattern::new(text)))
    }
}

impl<'de> Deserialize<'de> for Pin {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let hint = "write an id such as `github__create_issue`, a pattern such as `github__*`, or `used` for the tools used most";
        parsed(deserializer, "a tool's id, a pattern or `used`", hint, Self::parse)
    }
}

impl Serialize for Pin {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Pattern(pattern) => serializer.collect_str(pattern),
            Self::MostUsed => serializer.serialize_str(USED),
        }
    }
}

pub(super) fn pins(list: Vec<Pin>) -> Pins {
    list.into_iter().fold(Pins::default(), |mut pins, pin| {
        match pin {
            Pin::Pattern(pattern) => pins.patterns.push(pattern),
            Pin::MostUsed => pins.most_used = true,
        }
        pins
    })
}

/// The list as somebody would write it.
pub(super) fn list(pins: &Pins) -> Vec<Pin> {
    let used = pins.most_used.then_some(Pin::MostUsed);
    pins.patterns.iter().cloned().map(Pin::Pattern).chain(used).collect()
}
