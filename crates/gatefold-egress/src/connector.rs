//! Connections: to checked addresses alone, and with a limit on what a server sends before an
//! answer.

use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use std::{fmt, future, io, vec};

use http::Uri;
use hyper_rustls::{HttpsConnector, MaybeHttpsStream};
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::client::legacy::connect::dns::Name;
use hyper_util::rt::TokioIo;
use rustls::ClientConfig;
use tokio::net::TcpStream;
use tokio::time::timeout;
use tower_service::Service;

use crate::interim::BoundedStream;
use crate::reach::literal_address;
use crate::resolve::{ADDRESSES, UnresolvedName};
use crate::settings::KEEPALIVE;
use crate::{Reach, Resolver};

pub(crate) type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// Makes connections to addresses within a reach.
#[derive(Clone)]
pub(crate) struct GuardedConnector {
    pub(crate) reach: Arc<Reach>,
    pub(crate) resolver: Arc<dyn Resolver>,
    pub(crate) tls: Arc<ClientConfig>,
    /// Covers the lookup and the TLS handshake too.
    pub(crate) limit: Duration,
    /// Where tests have every admitted connection go.
    pub(crate) detour: Option<SocketAddr>,
}

/// A server took no connection in time.
#[derive(Debug)]
pub(crate) struct SlowConnect {
    limit: Duration,
}

impl fmt::Display for SlowConnect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no connection within {:?}", self.limit)
    }
}

impl std::error::Error for SlowConnect {}

impl Service<Uri> for GuardedConnector {
    type Response = BoundedStream<MaybeHttpsStream<TokioIo<TcpStream>>>;
    type Error = BoxError;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, BoxError>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, target: Uri) -> Self::Future {
        let connector = self.clone();
        Box::pin(async move {
            let limit = connector.limit;
            let connected = timeout(limit, connector.connect(target)).await;
            Ok(BoundedStream::new(connected.map_err(|_| SlowConnect { limit })??))
        })
    }
}

impl GuardedConnector {
    async fn connect(self, target: Uri) -> Result<MaybeHttpsStream<TokioIo<TcpStream>>, BoxError> {
        let host = target.host().unwrap_or_default();
        let is_https = target.scheme_str() == Some("https");
        let port = target.port_u16().unwrap_or(if is_https { 443 } else { 80 });
        let addresses = admitted(&self.reach, &*self.resolver, host, port).await?;
        let mut http = HttpConnector::new_with_resolver(CheckedAddresses(addresses));
        http.enforce_http(false);
        http.set_nodelay(true);
        http.set_keepalive(Some(KEEPALIVE));
        http.set_connect_timeout(Some(self.limit));
        let target = match self.detour {
            Some(to) => format!("http://{to}/").parse()?,
            None => target,
        };
        HttpsConnector::from((http, self.tls)).call(target).await
    }
}

/// The addresses of a host that may be reached. One is always among them.
pub(crate) async fn admitted(
    reach: &Reach,
    resolver: &dyn Resolver,
    host: &str,
    port: u16,
) -> Result<Vec<IpAddr>, BoxError> {
    let mut addresses = match literal_address(host) {
        Some(address) => vec![address],
        None => resolver.look_up(host).await.map_err(UnresolvedName)?,
    };
    addresses.truncate(ADDRESSES);
    let mut forbidden = None;
    addresses.retain(|address| match reach.admit(host, port, *address) {
        Ok(()) => true,
        Err(reason) => {
            forbidden.get_or_insert(reason);
            false
        }
    });
    match forbidden {
        Some(forbidden) if addresses.is_empty() => Err(forbidden.into()),
        _ if addresses.is_empty() => {
            let error = io::Error::new(io::ErrorKind::NotFound, "the name has no address");
            Err(UnresolvedName(error).into())
        }
        _ => Ok(addresses),
    }
}

/// Stands for a resolver: the connection goes to exactly the checked addresses, so a name that
/// changes its address in between (DNS rebinding) gains nothing.
#[derive(Clone)]
struct CheckedAddresses(Vec<IpAddr>);

impl Service<Name> for CheckedAddresses {
    type Response = vec::IntoIter<SocketAddr>;
    type Error = io::Error;
    type Future = future::Ready<io::Result<Self::Response>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, _: Name) -> Self::Future {
        // The connector sets the port; zero stands for the scheme's default.
        let addresses: Vec<_> = self.0.iter().map(|address| SocketAddr::new(*address, 0)).collect();
        future::ready(Ok(addresses.into_iter()))
    }
}
