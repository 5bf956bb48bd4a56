//! A provider of a test: it knows whoever a code names, and says what the test wants.

use std::collections::HashMap;
use std::sync::Mutex;

use futures::future::{BoxFuture, ready};
use gatefold_core::UserId;
use gatefold_identity::{AccountChoice, IssuerSubject, ProvidedPerson, VisitSecrets};
use gatefold_issuer::{IdentityProvider, ProviderFault};

use crate::ask::Ask;
use crate::browser::{Browser, hidden, parameter};
use crate::http::Answer;

pub(crate) const ISSUER: &str = "https://id.example";

pub(crate) type FaultMaker = fn() -> ProviderFault;

#[derive(Default)]
pub(crate) struct FakeProvider {
    /// Who people are here. Others are called `SUBJECT@id.example`.
    pub(crate) names: Mutex<HashMap<&'static str, &'static str>>,
    /// What is wrong with it, if anything.
    pub(crate) fault: Mutex<Option<FaultMaker>>,
    /// The visits that it was asked about, with their secrets: state, nonce and verifier.
    pub(crate) seen: Mutex<Vec<[String; 3]>>,
}

impl FakeProvider {
    fn see(&self, visit: &VisitSecrets) -> Result<(), ProviderFault> {
        let secrets = [&visit.state, &visit.nonce, &visit.verifier];
        self.seen.lock().unwrap().push(secrets.map(|secret| secret.expose().to_owned()));
        self.fault.lock().unwrap().map_or(Ok(()), |fault| Err(fault()))
    }
}

impl IdentityProvider for FakeProvider {
    fn name(&self) -> &'static str {
        "Example <b>staff</b>"
    }

    fn issuer(&self) -> &'static str {
        ISSUER
    }

    fn user(&self, IssuerSubject { subject, .. }: &IssuerSubject) -> UserId {
        let named = self.names.lock().unwrap().get(&**subject).copied();
        named.map_or_else(|| UserId::new(format!("{subject}@id.example")), UserId::new)
    }

    fn page<'a>(
        &'a self,
        visit: &'a VisitSecrets,
        account: AccountChoice,
    ) -> BoxFuture<'a, Result<String, ProviderFault>> {
        let page = format!("{ISSUER}/in?state={}&account={account:?}", visit.state.expose());
        Box::pin(ready(self.see(visit).map(|()| page)))
    }

    fn person<'a>(
        &'a self,
        visit: &'a VisitSecrets,
        query: &'a str,
    ) -> BoxFuture<'a, Result<ProvidedPerson, ProviderFault>> {
        let subject = parameter(&format!("{ISSUER}/?{query}"), "code").unwrap_or_default();
        let subject = IssuerSubject { issuer: ISSUER.to_owned(), subject };
        let user = self.user(&subject);
        let person = ProvidedPerson { user, groups: vec!["ops".to_owned()], subject };
        Box::pin(ready(self.see(visit).map(|()| person)))
    }
}

impl Browser {
    /// Presses the button on the page to sign in.
    pub(crate) async fn leave(&mut self, ask: &Ask) -> Answer {
        let page = self.get(&ask.path()).await;
        assert!(page.body.contains("action=\"/oauth/provider\""), "{}", page.body);
        let request = hidden(&page.body, "request");
        self.post("/oauth/provider", &[("request", &request)]).await
    }

    /// Goes to the provider. Returns the state with which it comes back.
    pub(crate) async fn visit(&mut self, ask: &Ask) -> String {
        let onward = self.leave(ask).await;
        assert_eq!(onward.status, 200, "{}", onward.body);
        parameter(&onward_address(&onward), "state").expect("it has a state")
    }

    /// Comes back from the provider as somebody.
    pub(crate) async fn come_back(&mut self, state: &str, subject: &str) -> Answer {
        self.get(&format!("/oauth/callback?state={state}&code={subject}")).await
    }
}

/// Where a page sends its browser on to.
pub(crate) fn onward_address(page: &Answer) -> String {
    let (_, rest) =
        page.body.split_once("content=\"0;url=").unwrap_or_else(|| panic!("{}", page.body));
    rest.split_once('"').unwrap().0.replace("&amp;", "&")
}
