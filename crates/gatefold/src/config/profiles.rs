//! `[clients.NAME]` of `gatefold.toml`.

use std::collections::BTreeMap;

use gatefold_config::{Field, Size, Text};
use gatefold_core::ClientName;
use gatefold_disclose::ClientLimits;
use gatefold_exchange::{ClientProfile, Disclosures};
use schemars::JsonSchema;
use serde::Deserialize;

use super::kinds::Kinds;

/// Names that a file may use and that differ between builds.
pub(super) struct RegisteredNames<'k> {
    pub(super) kinds: &'k Kinds,
    pub(super) disclosures: &'k DisclosureNames,
}

/// The names of the disclosures that a configuration may choose.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DisclosureNames(Vec<String>);

impl Default for DisclosureNames {
    /// Those that Gatefold has.
    fn default() -> Self {
        Self(Disclosures::OURS.map(str::to_owned).to_vec())
    }
}

impl DisclosureNames {
    /// The same names and one that an embedder adds to the app.
    #[must_use]
    pub fn with(mut self, name: impl Into<String>) -> Self {
        self.0.push(name.into());
        self
    }

    /// Notes a fault unless there is a disclosure of this name.
    pub(super) fn check(&self, name: &str, field: &Field<'_>) {
        if self.0.iter().any(|known| known == name) {
            return;
        }
        let known: Vec<_> = self.0.iter().map(|name| format!("`{name}`")).collect();
        let message = format!("is not a disclosure: {name}");
        field.fault(message, format!("use one of {}", known.join(", ")));
    }
}

/// How one client is shown tools.
///
/// `NAME` is what the client calls itself when it connects, such as `claude-code`: `gatefold status` and the records
/// have it. Any client can call itself anything, so this decides how tools are shown and never which.
#[derive(Deserialize, JsonSchema, Default)]
pub(super) struct ProfileKeys {
    /// The disclosure that it gets.
    ///
    /// A request that names a disclosure in its address, as `/mcp?disclosure=flat` does, gets that one.
    #[schemars(extend("examples" = ["flat"], "x-unset" = "`disclosure.default`"))]
    disclosure: Option<Text>,
    /// The longest instructions that it takes.
    ///
    /// Where they would be longer, domains are described in fewer words, then by their names alone. What the
    /// instructions say beside that stays.
    #[schemars(extend("examples" = ["8 KiB"], "x-unset" = "2 KiB, which every known client takes"))]
    instructions_size: Option<Size>,
}

pub(super) fn read(
    clients: &Field<'_>,
    disclosures: &DisclosureNames,
) -> BTreeMap<ClientName, ClientProfile> {
    let Some(table) = clients.table() else {
        return BTreeMap::new();
    };
    let mut profiles = BTreeMap::new();
    for (name, field) in table.fields() {
        let Some(mut table) = field.table() else { continue };
        let keys: ProfileKeys = table.read().unwrap_or_default();
        let disclosure = keys.disclosure.map(|name| name.0);
        if let Some((name, field)) = disclosure.as_ref().zip(table.peek("disclosure")) {
            disclosures.check(name, &field);
        }
        table.finish();
        let mut limits = ClientLimits::default();
        if let Some(Size(bytes)) = keys.instructions_size {
            limits.instructions_bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
        }
        profiles.insert(ClientName::new(name), ClientProfile { disclosure, limits });
    }
    profiles
}
