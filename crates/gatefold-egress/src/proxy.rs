//! Requests through the proxies that the environment names (`HTTP_PROXY`, `HTTPS_PROXY`,
//! `ALL_PROXY`, except hosts in `NO_PROXY`).
//!
//! A proxy looks up names itself, so we cannot see which address is reached. What we can check, we
//! do before the proxy hears of a host:
//!
//! - A literal address is judged as it is without a proxy.
//! - A name is looked up here too, and every address of it must be within reach.
//! - A name that this machine cannot look up goes to the proxy only if the caller's own URL has it:
//!   networks with proxies often leave all names to them. A redirect to such a name is refused.
//!
//! The proxy itself is where the environment says, whatever its address.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use reqwest::redirect::Policy;
use reqwest::{Client, Url};
use rustls::ClientConfig;
use tokio::time::{Instant, timeout};

use crate::connector::{BoxError, admitted};
use crate::resolve::{LOOKUP_DEADLINE, UnresolvedName};
use crate::settings::{AGENT, IDLE_TIMEOUT, KEEPALIVE};
use crate::{EgressError, Reach, Resolver, Settings};

/// How long a checked host is not looked up again.
const CHECK_LIFE: Duration = Duration::from_secs(30);

/// Who wrote a URL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum UrlOrigin {
    /// Whoever sends the request.
    Caller,
    /// The server that redirects to it.
    Redirect,
}

/// Checks a host before a proxy is asked for it.
pub(crate) struct ProxyGuard {
    pub(crate) reach: Arc<Reach>,
    pub(crate) resolver: Arc<dyn Resolver>,
    /// The last host that passed, until when, and who named it. A source mostly has one host.
    pub(crate) last: Mutex<Option<CheckedHost>>,
}

pub(crate) struct CheckedHost {
    host: String,
    port: u16,
    origin: UrlOrigin,
    until: Instant,
}

impl ProxyGuard {
    pub(crate) fn new(reach: Arc<Reach>, resolver: Arc<dyn Resolver>) -> Self {
        Self { reach, resolver, last: Mutex::default() }
    }

    pub(crate) async fn check(&self, url: &Url, origin: UrlOrigin) -> Result<(), BoxError> {
        if self.reach.is_any() {
            return Ok(());
        }
        let host = url.host_str().unwrap_or_default();
        let port = url.port_or_known_default().unwrap_or_default();
        if self.passed_lately(host, port, origin) {
            return Ok(());
        }
        let looked_up = admitted(&self.reach, &*self.resolver, host, port);
        let found = match timeout(LOOKUP_DEADLINE, looked_up).await {
            Ok(found) => found.map(drop),
            Err(elapsed) => Err(UnresolvedName(elapsed.into()).into()),
        };
        match found {
            Err(error) if origin == UrlOrigin::Caller && error.is::<UnresolvedName>() => {}
            found => found?,
        }
        let until = Instant::now() + CHECK_LIFE;
        let checked = CheckedHost { host: host.to_owned(), port, origin, until };
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Some(checked);
        Ok(())
    }

    fn passed_lately(&self, host: &str, port: u16, origin: UrlOrigin) -> bool {
        let last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        last.as_ref().is_some_and(|last| {
            let is_same = last.host == host && last.port == port && last.origin == origin;
            is_same && Instant::now() < last.until
        })
    }
}

/// The client for requests through proxies. What a server sends before an answer is not limited
/// there, since the library gives no access to its connections.
pub(crate) fn proxied_client(
    settings: &Settings,
    tls: ClientConfig,
) -> Result<Client, EgressError> {
    #[expect(clippy::disallowed_methods, reason = "the one place that makes such clients")]
    let builder = Client::builder();
    let builder = builder
        .user_agent(AGENT)
        .connect_timeout(settings.connect_timeout)
        .pool_max_idle_per_host(settings.idle_connections)
        .pool_idle_timeout(IDLE_TIMEOUT)
        .tcp_nodelay(true)
        .tcp_keepalive(KEEPALIVE)
        .referer(false)
        .redirect(Policy::none())
        .tls_backend_preconfigured(tls);
    builder.build().map_err(EgressError::Setup)
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::net::IpAddr;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::{ForbiddenHost, Lookup};

    /// Knows two names, and counts lookups.
    #[derive(Default)]
    struct TwoNames(AtomicUsize);

    impl Resolver for TwoNames {
        fn look_up(&self, name: &str) -> Lookup {
            self.0.fetch_add(1, Ordering::SeqCst);
            let address: Option<IpAddr> = match name {
                "public.example" => Some([93, 184, 216, 34].into()),
                "private.example" => Some([10, 0, 0, 5].into()),
                _ => None,
            };
            Box::pin(async move { Ok(vec![address.ok_or(io::ErrorKind::NotFound)?]) })
        }
    }

    /// Whether a proxy may be asked for a host, and how often the name was looked up for two
    /// requests.
    async fn check(reach: Reach, host: &str, origin: UrlOrigin, expected: Result<usize, bool>) {
        let names = Arc::new(TwoNames::default());
        let guard = ProxyGuard::new(Arc::new(reach), names.clone());
        let url = Url::parse(&format!("http://{host}/")).unwrap();
        let first = guard.check(&url, origin).await;
        let outcome = match (first, guard.check(&url, origin).await) {
            (Ok(()), Ok(())) => Ok(names.0.load(Ordering::SeqCst)),
            (Err(error), Err(_)) => Err(error.is::<ForbiddenHost>()),
            other => panic!("{host}: {other:?}"),
        };
        assert_eq!(outcome, expected, "{host} from {origin:?}");
    }

    #[tokio::test]
    async fn a_proxy_is_asked_for_what_was_checked_here() {
        use UrlOrigin::{Caller, Redirect};
        for origin in [Caller, Redirect] {
            check(Reach::public(), "public.example", origin, Ok(1)).await;
            check(Reach::public(), "8.8.8.8", origin, Ok(0)).await;
            check(Reach::public(), "private.example", origin, Err(true)).await;
            check(Reach::public(), "169.254.169.254", origin, Err(true)).await;
            check(Reach::any(), "private.example", origin, Ok(0)).await;
        }
        // Networks with proxies often leave names to them, but no redirect may use that.
        check(Reach::public(), "unknown.example", Caller, Ok(1)).await;
        check(Reach::public(), "unknown.example", Redirect, Err(false)).await;
    }
}
