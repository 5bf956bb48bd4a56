//! Lists of tools that stand at the top level: ids, patterns, and a word for those used most.

use gatefold_catalog::Pattern;
use gatefold_config::parsed;
use gatefold_disclose::Pins;
use serde::{Deserialize, Deserializer};

/// Stands for the tools that a principal used most.
pub(super) const USED: &str = "used";

/// One entry of such a list.
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
pub(super) fn texts(pins: &Pins) -> Vec<String> {
    let used = pins.most_used.then(|| USED.to_owned());
    pins.patterns.iter().map(ToString::to_string).chain(used).collect()
}
