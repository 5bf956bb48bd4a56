//! What is known of clients by the names that they give themselves.

use std::collections::BTreeMap;

use gatefold_core::ClientName;
use gatefold_disclose::ClientLimits;

use crate::audience::Choice;
use crate::{Audience, Disclosures, Scope, UnknownDisclosure};

/// How one client is shown tools.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ClientProfile {
    /// The disclosure that it gets where its request asks for none by name.
    pub disclosure: Option<String>,
    pub limits: ClientLimits,
}

/// The profiles of clients, by the names that they give themselves.
///
/// A name is a claim that anybody can make. So a profile decides how tools are shown and never
/// which: views come of the principal alone.
#[derive(Debug, Clone, Default)]
pub struct ClientProfiles {
    /// As many as a configuration has.
    profiles: BTreeMap<ClientName, ClientProfile>,
}

impl ClientProfiles {
    /// Fails where a profile names a disclosure that is not registered.
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

    /// The audience as a client of this name is shown it. One source by itself is shown as it is,
    /// whatever the client.
    pub(crate) fn audience(
        &self,
        audience: &Audience,
        client: Option<&ClientName>,
        disclosures: &Disclosures,
    ) -> Audience {
        let Some(profile) = client.and_then(|client| self.profiles.get(client)) else {
            return audience.clone();
        };
        let chosen = profile.disclosure.as_deref();
        let chosen = chosen.filter(|_| {
            audience.choice() == Choice::Usual && *audience.scope() == Scope::Everything
        });
        let chosen =
            chosen.and_then(|name| disclosures.audience(Scope::Everything, Some(name)).ok());
        chosen.unwrap_or_else(|| audience.clone()).within(profile.limits)
    }
}
