//! The provider of `server.sign_in`: whom it knows, and who that is here.

use std::sync::Arc;

use futures::future::BoxFuture;
use gatefold_core::{Clock, UserId};
use gatefold_egress::{Egress, Reach};
use gatefold_identity::{AccountChoice, IssuerSubject, ProvidedPerson, VisitSecrets};
use gatefold_issuer::{CALLBACK_PATH, IdentityProvider, ProviderFault};
use gatefold_oauth::{OpenIdProvider, OpenIdSettings, SignInError, TokenFault};
use http::StatusCode;
use url::Url;

use crate::app::people::{self, ConfiguredPeople};
use crate::config::ServerConfig;

/// An OpenID provider, with the people of the configuration in force.
pub(super) struct ConfiguredProvider {
    name: String,
    openid: OpenIdProvider,
    people: Arc<ConfiguredPeople>,
}

impl ConfiguredProvider {
    /// The one of a configuration, if it has one.
    pub(super) fn of(
        server: &ServerConfig,
        egress: &Egress,
        clock: &Arc<dyn Clock>,
        people: Arc<ConfiguredPeople>,
    ) -> Option<Arc<dyn IdentityProvider>> {
        let name = server.sign_in_provider()?.name.clone();
        Some(Arc::new(Self { name, openid: openid(server, egress, clock)?, people }))
    }
}

/// The provider at which people sign in. It is asked nothing yet.
pub(in crate::app) fn openid(
    server: &ServerConfig,
    egress: &Egress,
    clock: &Arc<dyn Clock>,
) -> Option<OpenIdProvider> {
    let config = server.sign_in_provider()?;
    let public = server.public_url.as_ref()?;
    let named = config.issuer.parse::<Url>();
    let reach = named.iter().fold(Reach::public(), Reach::naming);
    let settings = OpenIdSettings {
        issuer: config.issuer.as_str().into(),
        client_id: config.client_id.clone(),
        client_secret: config.client_secret.clone(),
        scopes: config.scopes.clone(),
        groups_claim: config.groups_claim.clone(),
        redirect: format!("{}{CALLBACK_PATH}", public.as_str()),
        client: egress.client_for(reach),
    };
    Some(OpenIdProvider::new(settings, clock.clone()))
}

impl IdentityProvider for ConfiguredProvider {
    fn name(&self) -> &str {
        &self.name
    }

    fn issuer(&self) -> &str {
        self.openid.issuer()
    }

    fn user(&self, subject: &IssuerSubject) -> UserId {
        self.people.user(subject)
    }

    fn page<'a>(
        &'a self,
        visit: &'a VisitSecrets,
        account: AccountChoice,
    ) -> BoxFuture<'a, Result<String, ProviderFault>> {
        Box::pin(async move {
            let page = self.openid.page(visit, account).await;
            page.map(String::from).map_err(fault)
        })
    }

    fn person<'a>(
        &'a self,
        visit: &'a VisitSecrets,
        query: &'a str,
    ) -> BoxFuture<'a, Result<ProvidedPerson, ProviderFault>> {
        Box::pin(async move {
            let holder = self.openid.holder(visit, query).await.map_err(fault)?;
            let subject = people::subject(&holder);
            let user = self.people.user(&subject);
            Ok(ProvidedPerson { subject, user, groups: holder.groups })
        })
    }
}

fn fault(error: SignInError) -> ProviderFault {
    match error {
        SignInError::Token(ref refused)
            if refused.status.is_server_error()
                || refused.status == StatusCode::TOO_MANY_REQUESTS =>
        {
            ProviderFault::Unreachable(error.into())
        }
        SignInError::Denied(refused) => ProviderFault::Denied(refused.to_string()),
        SignInError::OtherState
        | SignInError::WrongIssuer { .. }
        | SignInError::NoIssuer { .. }
        | SignInError::NoCode
        | SignInError::Token(_)
        | SignInError::TokenAnswer(_) => ProviderFault::Unproven(error.into()),
        SignInError::Identity(fault) if fault != TokenFault::Unavailable => {
            ProviderFault::Unproven(error.into())
        }
        _ => ProviderFault::Unreachable(error.into()),
    }
}
