//! What a source over HTTP may reach.

use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use gatefold_egress::{Lookup, PrivateNetworks, Reach, Resolver};
use libtest_mimic::Trial;
use tokio::net::TcpListener;

use super::support::{http, trial};
use super::world::{World, WorldOptions, egress};

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial("a_source_reaches_nothing_inside_that_its_configuration_does_not_name", inside),
        trial("a_source_reaches_what_its_configuration_names_or_allows", named),
    ]
}

/// Every name leads here, as `localhost` does.
struct Inside;

impl Resolver for Inside {
    fn look_up(&self, _: &str) -> Lookup {
        Box::pin(async { Ok(vec![IpAddr::from([127, 0, 0, 1])]) })
    }
}

/// Counts connections, and closes each.
async fn listening() -> (u16, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let count = Arc::new(AtomicUsize::new(0));
    let counter = count.clone();
    tokio::spawn(async move {
        while listener.accept().await.is_ok() {
            counter.fetch_add(1, Ordering::SeqCst);
        }
    });
    (port, count)
}

/// Greets the server at `http://HOST:PORT/mcp`, and counts connections to the port.
async fn greeted(host: &str, port: u16, count: &AtomicUsize, reach: Reach) -> (usize, String) {
    let client = egress().with_resolver(Inside).client_for(reach);
    let settings = http("up", &format!("http://{host}:{port}/mcp"));
    let options = WorldOptions { client: Some(client), ..WorldOptions::default() };
    let world = World::made(&[&settings], &options);
    let (_, outcome) = world.refresh().await.remove(0);
    (count.swap(0, Ordering::SeqCst), outcome.expect_err("nobody speaks MCP there"))
}

const INSIDE: [&str; 14] = [
    "127.0.0.1",
    "127.1",
    "2130706433",
    "0x7f000001",
    "0177.0.0.1",
    "127.0.0.1.",
    "user:pass@127.0.0.1",
    "0.0.0.0",
    "localhost",
    "LOCALHOST.",
    "mcp.internal",
    "metadata.google.internal",
    "a.localhost",
    "xn--bcher-kva.example",
];

async fn inside() {
    let (port, count) = listening().await;
    for host in INSIDE {
        let (reached, _) = greeted(host, port, &count, Reach::any()).await;
        assert!(reached > 0, "{host} without the guard");
        let (reached, error) = greeted(host, port, &count, Reach::public()).await;
        assert_eq!(reached, 0, "{host}: {error}");
        assert!(error.contains("allow_private"), "{host}: {error}");
        assert!(!error.contains("user") && !error.contains("pass"), "{error}");
    }
}

async fn named() {
    let (port, count) = listening().await;
    for (url, host, private, is_reached) in [
        ("http://127.0.0.1", "127.0.0.1", PrivateNetworks::None, true),
        ("http://localhost", "localhost", PrivateNetworks::None, true),
        ("http://mcp.internal", "mcp.internal", PrivateNetworks::None, false),
        ("http://mcp.internal", "mcp.internal", PrivateNetworks::All, true),
        ("http://localhost", "127.0.0.1", PrivateNetworks::None, false),
    ] {
        let url = format!("{url}:{port}/");
        let reach = Reach::for_source([url.as_str()], private);
        let (reached, error) = greeted(host, port, &count, reach).await;
        assert_eq!(reached > 0, is_reached, "{host} for {url}: {error}");
    }
}
