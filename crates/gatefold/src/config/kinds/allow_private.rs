//! The key `allow_private`, for every kind of source that is reached over HTTP.

use std::fmt;
use std::net::IpAddr;

use gatefold_config::schemas::or_reference;
use gatefold_config::{ExpectedValue, fault, parsed};
use gatefold_egress::{IpNet, PrivateNetworks};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Deserialize, Deserializer, Error, Expected, SeqAccess, Visitor};
use serde_json::Value as Json;

use super::DigestParts;

/// The most networks of one source.
pub(crate) const NETWORK_LIMIT: usize = 64;

/// Whether names may lead to private networks, or to which.
///
/// Addresses that are not on the Internet are refused where a name leads to them, even by a redirect.
/// `true` allows loopback, private and reserved addresses; those of links and of clouds' metadata services
/// have to be listed. An address or `localhost` in the source's own URL needs no permission at that port.
#[derive(Debug, Clone, Default, PartialEq, Eq, JsonSchema)]
#[schemars(schema_with = "networks_schema", extend("examples" = [["10.0.0.0/8", "fd00::/8"]], "x-unset" = "none"))]
pub struct AllowPrivate(pub PrivateNetworks);

fn networks_schema(generator: &mut SchemaGenerator) -> Schema {
    let mut networks = generator.subschema_for::<Vec<Network>>();
    networks.insert("maxItems".to_owned(), NETWORK_LIMIT.into());
    json_schema!({
        "anyOf": [{ "type": "boolean" }, networks],
        "x-type": "boolean or list of networks",
        "x-constraint": NETWORK_FORM,
    })
}

const NETWORK_FORM: &str = "a network is an address and the length of its prefix";

impl AllowPrivate {
    /// Adds it to a source's digest. Without it, the digest is that of a version that did not know
    /// the key.
    pub fn digest(&self, parts: &mut DigestParts) {
        match &self.0 {
            PrivateNetworks::None => {}
            PrivateNetworks::All => {
                parts.add("allow_private");
                parts.add("true");
            }
            PrivateNetworks::Listed(networks) => {
                let mut texts: Vec<_> = networks.iter().map(ToString::to_string).collect();
                texts.sort_unstable();
                parts.add("allow_private");
                parts.add_list(&texts, |parts, text| parts.add(text));
            }
        }
    }

    /// The value as JSON. None if the key has no effect.
    pub fn shown(&self) -> Option<Json> {
        match &self.0 {
            PrivateNetworks::None => None,
            PrivateNetworks::All => Some(true.into()),
            PrivateNetworks::Listed(networks) => {
                Some(networks.iter().map(ToString::to_string).collect())
            }
        }
    }
}

impl<'de> Deserialize<'de> for AllowPrivate {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AllowPrivateVisitor).map(Self)
    }
}

struct AllowPrivateVisitor;

const ALLOWED: ExpectedValue<'_> = ExpectedValue {
    what: "a boolean or a list of networks",
    hint: "write `true`, or list networks: [\"10.0.0.0/8\"]",
};

impl<'de> Visitor<'de> for AllowPrivateVisitor {
    type Value = PrivateNetworks;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Expected::fmt(&ALLOWED, f)
    }

    fn visit_bool<E: Error>(self, is_allowed: bool) -> Result<Self::Value, E> {
        Ok(if is_allowed { PrivateNetworks::All } else { PrivateNetworks::None })
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
        let mut networks = Vec::new();
        let mut is_too_long = false;
        while let Some(Network(network)) = items.next_element()? {
            is_too_long = networks.len() == NETWORK_LIMIT;
            if !is_too_long {
                networks.push(network);
            }
        }
        if is_too_long {
            let message = format_args!("lists more than {NETWORK_LIMIT} networks");
            return Err(fault(message, "list larger ones"));
        }
        Ok(PrivateNetworks::Listed(networks))
    }
}

/// A network, or one address.
#[derive(JsonSchema)]
#[schemars(with = "String", extend("pattern" = or_reference("^[0-9A-Fa-f:.]+(/[0-9]{1,3})?$"),
    "x-type" = "network", "x-constraint" = NETWORK_FORM))]
pub(crate) struct Network(pub(crate) IpNet);

impl<'de> Deserialize<'de> for Network {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let hint = "write an address and the length of its prefix: \"10.0.0.0/8\"";
        let network = |text: &str| {
            let one = || text.parse::<IpAddr>().ok().map(IpNet::from);
            text.parse().ok().or_else(one)
        };
        parsed(deserializer, "a network", hint, network).map(Self)
    }
}
