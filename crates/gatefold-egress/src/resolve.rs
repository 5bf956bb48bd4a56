use std::io;
use std::net::IpAddr;
use std::pin::Pin;
use std::time::Duration;

use tokio::net::lookup_host;

/// The most addresses of one name that are looked at.
pub(crate) const ADDRESSES: usize = 64;
/// How long a lookup takes that only checks a name. It is far longer than any that succeeds.
pub(crate) const LOOKUP_DEADLINE: Duration = Duration::from_secs(10);

/// The answer to a lookup.
pub type Lookup = Pin<Box<dyn Future<Output = io::Result<Vec<IpAddr>>> + Send>>;

/// Looks up the addresses of names.
pub trait Resolver: Send + Sync + 'static {
    fn look_up(&self, name: &str) -> Lookup;
}

/// The resolver of the operating system.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemResolver;

impl Resolver for SystemResolver {
    fn look_up(&self, name: &str) -> Lookup {
        let name = name.to_owned();
        Box::pin(async move {
            let found = lookup_host((name.as_str(), 0)).await?;
            Ok(found.map(|address| address.ip()).take(ADDRESSES).collect())
        })
    }
}

/// The system knows no address of a name.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub(crate) struct UnresolvedName(pub(crate) io::Error);
