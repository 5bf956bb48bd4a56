//! What is known of clients by the names that they give themselves.

use std::collections::BTreeMap;

use gatefold_core::ClientName;
use gatefold_disclose::ClientLimits;

use crate::audience::Choice;
use crate::{Audience, Disclosures, Scope, UnknownDisclosure};

/// How one client is shown tools.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ClientProfile {
    /// The disclosure for its requests that name none.
    pub disclosure: Option<String>,
    pub limits: ClientLimits,
}

/// The profiles of clients, by the names that they give themselves.
///
/// Anybody can claim a name. So a profile decides how tools are shown but never which: views depend
/// only on the principal.
#[derive(Debug, Clone, Default)]
pub struct ClientProfiles {
    /// As many as the configuration has.
    profiles: BTreeMap<ClientName, ClientProfile>,
}

impl ClientProfiles {
    /// Fails if a profile names a disclosure that is not registered.
    pub fn new(
        profiles: impl IntoIterator<Item = (ClientName, ClientProfile)>,
        disclosures: &Disclosures,
    ) -> Result<Self, UnknownDisclosure> {
        let profiles: BTreeMap<_, _> = profiles.into_iter().collect();
        for profile in profiles.values() {
            disclosures.audience(Scope::Everything, profile.disclosure.as_deref())?;
        }
        Ok(Self { profiles })
    }

    /// The audience for a client of this name, whose disclosure `named` looks up. A single source
    /// under its own names is shown as it is to every client.
    pub(crate) fn audience(
        &self,
        audience: &Audience,
        client: Option<&ClientName>,
        named: impl FnOnce(&str) -> Option<Audience>,
    ) -> Audience {
        let Some(profile) = client.and_then(|client| self.profiles.get(client)) else {
            return audience.clone();
        };
        let chosen = profile.disclosure.as_deref();
        let chosen = chosen.filter(|_| {
            audience.choice() == Choice::Usual && *audience.scope() == Scope::Everything
        });
        let chosen = chosen.and_then(named).map(|chosen| chosen.chosen_by(Choice::Clients));
        let chosen = chosen.map(|chosen| chosen.asked_as(audience));
        chosen.unwrap_or_else(|| audience.clone()).within(profile.limits)
    }
}
