use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use gatefold_core::{Clock, UserId};
use gatefold_identity::{IssuerSubject, People, ProvidedPeople, RegisteredClients, TokenFamilies};

use crate::documents::DocumentCache;
use crate::keys::IssuerKeys;
use crate::passwords::PasswordHashes;
use crate::settings::{IssuerSettings, PasswordSignIn};
use crate::throttle::Throttle;

/// How often somebody may be wrong about a password before others have to wait, in [`GUESSING_SPAN`].
const GUESSES_PER_USER: u32 = 10;
/// The same for one address.
const GUESSES_PER_ADDRESS: u32 = 100;
/// How often browsers at one address may be sent to the provider, in the same time.
const VISITS_PER_ADDRESS: u32 = 100;
const GUESSING_SPAN: Duration = Duration::from_secs(15 * 60);

/// How many clients may register from one address in an hour, and from all together.
const REGISTRATIONS_PER_ADDRESS: u32 = 10;
pub(crate) const REGISTRATIONS: u32 = 30;
const REGISTRATION_SPAN: Duration = Duration::from_secs(60 * 60);

/// What an issuer keeps.
pub trait IssuerStore: People + ProvidedPeople + RegisteredClients + TokenFamilies {}

impl<T: People + ProvidedPeople + RegisteredClients + TokenFamilies> IssuerStore for T {}

/// What all routes share.
pub(crate) struct IssuerState {
    pub(crate) settings: IssuerSettings,
    pub(crate) store: Arc<dyn IssuerStore>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) keys: IssuerKeys,
    pub(crate) documents: DocumentCache,
    pub(crate) passwords: PasswordHashes,
    pub(crate) guesses_of_users: Throttle<String>,
    pub(crate) guesses_of_addresses: Throttle<IpAddr>,
    pub(crate) visits_of_addresses: Throttle<IpAddr>,
    pub(crate) registrations_of_addresses: Throttle<IpAddr>,
    pub(crate) registrations: Throttle<()>,
}

impl IssuerState {
    /// Whether the way in which a user signed in is still one.
    pub(crate) fn admits(&self, user: &UserId, provided: Option<&IssuerSubject>) -> bool {
        match (provided, &self.settings.provider) {
            (None, _) => self.settings.password == PasswordSignIn::On,
            (Some(_), None) => false,
            (Some(named), Some(own)) => named.issuer == own.issuer() && own.user(named) == *user,
        }
    }

    pub(crate) fn new(
        settings: IssuerSettings,
        store: Arc<dyn IssuerStore>,
        clock: Arc<dyn Clock>,
    ) -> Self {
        Self {
            keys: IssuerKeys::new(settings.key),
            documents: DocumentCache::new(settings.documents.clone()),
            passwords: PasswordHashes::new(),
            guesses_of_users: Throttle::new(GUESSES_PER_USER, GUESSING_SPAN),
            guesses_of_addresses: Throttle::new(GUESSES_PER_ADDRESS, GUESSING_SPAN),
            visits_of_addresses: Throttle::new(VISITS_PER_ADDRESS, GUESSING_SPAN),
            registrations_of_addresses: Throttle::new(REGISTRATIONS_PER_ADDRESS, REGISTRATION_SPAN),
            registrations: Throttle::new(REGISTRATIONS, REGISTRATION_SPAN),
            settings,
            store,
            clock,
        }
    }
}
