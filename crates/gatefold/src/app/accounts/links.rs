//! Links at which a client's user signs in during a call.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures::FutureExt as _;
use gatefold_dispatch::{CredentialError, SignInLink};
use gatefold_identity::GrantPlace;
use gatefold_oauth::{BrowserSignIn, Grant, SignInError, SiteSettings};
use tokio::sync::watch;
use tokio::time::{Instant, timeout};

use super::SourceAccounts;
use crate::redirect::RedirectListener;

/// How long a provider may take to answer one question.
const ANSWER_DEADLINE: Duration = Duration::from_secs(30);

/// How long a link is good.
const LINK_LASTS: Duration = Duration::from_secs(600);

/// The most links that wait for their users at once.
const LINKS: usize = 64;

/// The links that wait for their users.
///
/// A link leads back to a port of this machine. So it is offered only where the client's user sits at
/// this machine: whoever else opens it cannot finish, and so cannot sign somebody else's calls in
/// with an account of their own.
#[derive(Default)]
pub(super) struct SignInLinks {
    is_offered: AtomicBool,
    /// At most [`LINKS`].
    waiting: Mutex<HashMap<GrantPlace, WaitingLink>>,
}

/// A link, the same for everybody who waits for one sign-in.
#[derive(Clone)]
struct WaitingLink {
    url: String,
    id: String,
    /// Whether somebody has signed in. Closed once that is settled.
    signed_in: watch::Receiver<bool>,
}

impl WaitingLink {
    fn is_settled(&self) -> bool {
        self.signed_in.has_changed().is_err()
    }

    fn link(&self) -> SignInLink {
        let mut signed_in = self.signed_in.clone();
        let done = async move {
            // It ends with an error when nobody signed in.
            signed_in.wait_for(|is_done| *is_done).await.is_ok()
        };
        SignInLink { url: self.url.clone(), id: self.id.clone(), done: done.boxed() }
    }
}

impl SignInLinks {
    pub(super) fn offer(&self) {
        self.is_offered.store(true, Ordering::Relaxed);
    }

    /// The link for a place. One that waits already is given again.
    pub(super) async fn link(
        self: &Arc<Self>,
        accounts: &SourceAccounts,
        site: &SiteSettings,
        place: &GrantPlace,
    ) -> Result<SignInLink, CredentialError> {
        if !self.is_offered.load(Ordering::Relaxed) {
            return Err(CredentialError::new("no links are offered here"));
        }
        if let Some(waiting) = self.lock().get(place).filter(|waiting| !waiting.is_settled()) {
            return Ok(waiting.link());
        }
        let (listener, sign_in) = begin(accounts, site, place).await.map_err(told)?;
        let (sender, signed_in) = watch::channel(false);
        let url = sign_in.request.url.to_string();
        let waiting = WaitingLink { url, id: random_id(), signed_in };
        {
            let mut all = self.lock();
            all.retain(|_, own| !own.is_settled());
            if all.len() >= LINKS {
                return Err(CredentialError::new("too many sign-ins are under way"));
            }
            all.insert(place.clone(), waiting.clone());
        }
        let (accounts, place) = (accounts.clone(), place.clone());
        tokio::spawn(async move {
            let grant = timeout(LINK_LASTS, finished(listener, &sign_in)).await;
            let kept = match grant.unwrap_or(Err(SignInError::Late)) {
                Ok(grant) => accounts.keep(&place, &grant).await,
                Err(error) => Err(error),
            };
            match kept {
                Ok(()) => {
                    tracing::info!(domain = %place.domain, "somebody signed in by a link");
                    // Nobody may be waiting any more.
                    let _ = sender.send(true);
                }
                Err(error) => {
                    tracing::warn!(domain = %place.domain, %error, "a link led to no sign-in");
                }
            }
        });
        Ok(waiting.link())
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<GrantPlace, WaitingLink>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn begin(
    accounts: &SourceAccounts,
    site: &SiteSettings,
    place: &GrantPlace,
) -> Result<(RedirectListener, BrowserSignIn), SignInError> {
    let deadline = Instant::now() + ANSWER_DEADLINE;
    let begun = accounts.begin(site, place, deadline).await?;
    let sign_in = begun.ok_or_else(|| SignInError::NoServer { resource: site.name.clone() })?;
    let listener = RedirectListener::bind(&sign_in).await?;
    let sign_in = sign_in.browse(listener.redirect(), deadline).await?;
    Ok((listener, sign_in))
}

/// Waits for the browser, and turns what it brings into a grant.
async fn finished(
    mut listener: RedirectListener,
    sign_in: &BrowserSignIn,
) -> Result<Grant, SignInError> {
    loop {
        let answer = listener.next().await;
        // Any page can send a browser here.
        if !answer.is_for(&sign_in.request) {
            listener.reply(false);
            continue;
        }
        return listener.redeem(sign_in, answer).await;
    }
}

fn told(error: SignInError) -> CredentialError {
    let reason = error.to_string();
    CredentialError { source: Some(error.into()), ..CredentialError::new(reason) }
}

/// Tells one question from another, and nothing else.
fn random_id() -> String {
    format!("sign-in-{:016x}", fastrand::u64(..))
}
