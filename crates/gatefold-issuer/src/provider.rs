//! A provider at which people may sign in instead of with a password, as a port.

use futures::future::BoxFuture;
use gatefold_core::{BoxError, UserId};
use gatefold_identity::{AccountChoice, IssuerSubject, ProvidedPerson, VisitSecrets};

/// The longest text of a provider that is shown to people, in characters.
const SAID_CHARS: usize = 200;

/// An OpenID provider that says who somebody is.
pub trait IdentityProvider: Send + Sync + 'static {
    /// What people call it.
    fn name(&self) -> &str;

    /// What it calls itself. What another one vouched for is good for nothing.
    fn issuer(&self) -> &str;

    /// Who somebody is here whom it knows. The answer may change while people are signed in; then they
    /// have to do so again.
    fn user(&self, subject: &IssuerSubject) -> UserId;

    /// The address of its page for one visit.
    fn page<'a>(
        &'a self,
        visit: &'a VisitSecrets,
        account: AccountChoice,
    ) -> BoxFuture<'a, Result<String, ProviderFault>>;

    /// Who somebody is whose browser came back with this query.
    fn person<'a>(
        &'a self,
        visit: &'a VisitSecrets,
        query: &'a str,
    ) -> BoxFuture<'a, Result<ProvidedPerson, ProviderFault>>;
}

/// Why a provider lets nobody in.
#[derive(Debug, thiserror::Error)]
pub enum ProviderFault {
    #[error("the provider cannot be asked")]
    Unreachable(#[source] BoxError),
    /// In its own words.
    #[error("the provider let nobody in: {0}")]
    Denied(String),
    /// What came from there is not for this visit, or does not hold.
    #[error("what the provider says proves nothing")]
    Unproven(#[source] BoxError),
}

impl ProviderFault {
    /// What the person is told, who may have been led here by somebody else.
    pub(crate) fn message(&self, name: &str) -> String {
        match self {
            Self::Unreachable(_) => {
                format!("{name} cannot be asked at the moment. Try again later.")
            }
            Self::Denied(said) => {
                let is_unseen = |c: &char| c.is_control() || gatefold_core::is_hidden(*c);
                let said: String =
                    said.chars().filter(|c| !is_unseen(c)).take(SAID_CHARS).collect();
                format!("{name} did not let you in. It says: {said}")
            }
            Self::Unproven(_) => format!(
                "What came back from {name} does not hold, so nobody was signed in. Whoever runs \
                 this gateway finds the reason in its log."
            ),
        }
    }
}
