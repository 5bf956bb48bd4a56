//! Addresses in JSON.

use reqwest::Url;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// An address as text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Address(pub(crate) Url);

impl<'de> Deserialize<'de> for Address {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map(Self).map_err(|_| serde::de::Error::custom("it has a malformed address"))
    }
}

impl Serialize for Address {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.as_str().serialize(serializer)
    }
}

pub(crate) fn required<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Url, D::Error> {
    Address::deserialize(deserializer).map(|own| own.0)
}

pub(crate) fn optional<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Url>, D::Error> {
    // An empty text is as good as none.
    let text = Option::<String>::deserialize(deserializer)?.filter(|text| !text.is_empty());
    let malformed = |_| serde::de::Error::custom("it has a malformed address");
    text.map(|text| text.parse().map_err(malformed)).transpose()
}
