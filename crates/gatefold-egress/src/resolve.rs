use std::{fmt, io};

use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use tokio::net::lookup_host;

use crate::AddressPolicy;

/// The system's resolver, without addresses that may not be reached.
///
/// The connection goes to exactly the checked addresses, so a name that changes its address in
/// between (DNS rebinding) gains nothing.
pub(crate) struct Resolver(pub(crate) AddressPolicy);

/// All addresses of a name or URL are forbidden.
#[derive(Debug)]
pub(crate) struct NonPublicHost {
    pub(crate) host: String,
}

impl fmt::Display for NonPublicHost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` is not on the public Internet", self.host)
    }
}

impl std::error::Error for NonPublicHost {}

/// The system knows no address of a name.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub(crate) struct UnresolvedName(pub(crate) io::Error);

impl Resolve for Resolver {
    fn resolve(&self, name: Name) -> Resolving {
        let policy = self.0;
        Box::pin(async move {
            // The connector sets the port; zero stands for the scheme's default.
            let found = lookup_host((name.as_str(), 0)).await.map_err(UnresolvedName)?;
            let allowed: Vec<_> = found.filter(|address| policy.allows(address.ip())).collect();
            if allowed.is_empty() {
                return Err(NonPublicHost { host: name.as_str().to_owned() }.into());
            }
            let addresses: Addrs = Box::new(allowed.into_iter());
            Ok(addresses)
        })
    }
}
