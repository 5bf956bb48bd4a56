//! Clients whose connections are secured, and those that should not be served for want of it.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use gatefold_http::{HTTPS_ONLY, HttpEndpoint, ListenerTls, TlsPair};
use gatefold_policy::Policy;
use libtest_mimic::Trial;
use rcgen::{CertificateParams, KeyPair};
use rustls::crypto::ring;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::version::{TLS12, TLS13};
use rustls::{ClientConfig, RootCertStore, SupportedProtocolVersion};
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use super::edge::{Edge, standing_alone, trial};
use super::scripted::ScriptedServer;
use crate::upstream::support::LONG;

/// A limit that a test waits for.
const SHORT: Duration = Duration::from_millis(200);

/// The beginning of a `ClientHello`, which says that more follows.
const HALF_HELLO: [u8; 6] = [22, 3, 1, 1, 0, 1];

pub(super) fn trials() -> Vec<Trial> {
    vec![
        trial("a_call_is_answered_over_tls_1_2_and_1_3", versions),
        trial("a_client_that_speaks_no_http_1_1_gets_no_connection", http_2),
        trial("a_new_certificate_is_for_new_connections_and_drops_none", replaced),
        trial("a_handshake_that_does_not_end_is_closed_in_time", no_end),
        trial("unfinished_handshakes_give_way_to_new_connections", unfinished),
        trial("a_secured_connection_that_sends_no_head_is_closed_in_time", no_head),
        trial("plain_http_is_told_of_https_and_never_served", plain),
        trial("an_endpoint_that_ends_waits_for_no_handshake", shutdown),
    ]
}

/// A certificate for `localhost` that stands for itself.
struct Made {
    certificate: CertificateDer<'static>,
    pair: TlsPair,
}

fn made() -> Made {
    let key = KeyPair::generate().unwrap();
    let params = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
    let certificate = params.self_signed(&key).unwrap();
    let pair = TlsPair::from_pem(certificate.pem().as_bytes(), key.serialize_pem().as_bytes());
    Made { certificate: certificate.der().clone(), pair: pair.unwrap() }
}

fn endpoint(made: &Made) -> (Arc<ListenerTls>, HttpEndpoint) {
    let tls = Arc::new(ListenerTls::new(made.pair.clone()));
    (tls.clone(), HttpEndpoint { tls: Some(tls), ..HttpEndpoint::default() })
}

async fn edge(endpoint: HttpEndpoint) -> Edge {
    Edge::with(&[], Policy::default(), endpoint).await
}

async fn tcp(edge: &Edge) -> TcpStream {
    TcpStream::connect(edge.base.trim_start_matches("http://")).await.unwrap()
}

/// How a test's client secures its connections.
struct Terms<'t> {
    trusted: &'t Made,
    version: &'static SupportedProtocolVersion,
    protocols: &'t [&'t str],
}

fn terms(trusted: &Made) -> Terms<'_> {
    Terms { trusted, version: &TLS13, protocols: &["http/1.1"] }
}

struct SecuredClient(TlsStream<TcpStream>);

impl SecuredClient {
    async fn to(edge: &Edge, terms: Terms<'_>) -> io::Result<Self> {
        let mut roots = RootCertStore::empty();
        roots.add(terms.trusted.certificate.clone()).unwrap();
        let provider = Arc::new(ring::default_provider());
        let builder = ClientConfig::builder_with_provider(provider);
        let builder = builder.with_protocol_versions(&[terms.version]).unwrap();
        let mut config = builder.with_root_certificates(roots).with_no_client_auth();
        config.alpn_protocols = terms.protocols.iter().map(|name| (*name).into()).collect();
        let connector = TlsConnector::from(Arc::new(config));
        let name = ServerName::try_from("localhost").unwrap();
        let connecting = connector.connect(name, tcp(edge).await);
        Ok(Self(timeout(LONG, connecting).await.expect("the handshake ends")?))
    }

    async fn begin(&mut self, method: &str, params: serde_json::Value) {
        let (headers, body) = standing_alone(method, params);
        let headers: Vec<_> =
            headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
        let headers = headers.concat();
        let request = format!(
            "POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n\
             accept: application/json, text/event-stream\r\n{headers}content-length: {}\r\n\r\n{body}",
            body.len()
        );
        self.0.write_all(request.as_bytes()).await.unwrap();
        self.0.flush().await.unwrap();
    }

    /// Reads until an answer has a text.
    async fn answer_with(&mut self, text: &str) -> String {
        let mut read = Vec::new();
        let whole = async {
            loop {
                let so_far = String::from_utf8_lossy(&read).into_owned();
                if so_far.contains(text) {
                    return so_far;
                }
                assert_ne!(self.0.read_buf(&mut read).await.unwrap(), 0, "closed: {so_far}");
            }
        };
        timeout(LONG, whole).await.expect("an answer comes")
    }

    async fn ping(&mut self) {
        self.begin("server/discover", json!({})).await;
        let head = self.answer_with("\r\n\r\n").await;
        assert!(head.starts_with("HTTP/1.1 200 "), "{head}");
        let (head, so_far) = head.split_once("\r\n\r\n").unwrap();
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap();
        let rest = length.parse::<usize>().unwrap() - so_far.len();
        timeout(LONG, self.0.read_exact(&mut vec![0; rest])).await.unwrap().unwrap();
    }
}

async fn is_closed(stream: &mut TcpStream) -> bool {
    timeout(LONG, stream.read_to_end(&mut Vec::new())).await.is_ok()
}

async fn versions() {
    let made = made();
    let edge = edge(endpoint(&made).1).await;
    for version in [&TLS12, &TLS13] {
        let terms = Terms { version, ..terms(&made) };
        let mut client = SecuredClient::to(&edge, terms).await.unwrap();
        let (_, connection) = client.0.get_ref();
        assert_eq!(connection.protocol_version(), Some(version.version));
        assert_eq!(connection.alpn_protocol(), Some(&b"http/1.1"[..]));
        client.ping().await;
        client.ping().await;
    }
    let without = Terms { protocols: &[], ..terms(&made) };
    SecuredClient::to(&edge, without).await.unwrap().ping().await;
}

async fn http_2() {
    let made = made();
    let edge = edge(endpoint(&made).1).await;
    let terms = Terms { protocols: &["h2"], ..terms(&made) };
    assert!(SecuredClient::to(&edge, terms).await.is_err());
}

async fn replaced() {
    let (first, second) = (made(), made());
    let (tls, endpoint) = endpoint(&first);
    let up = ScriptedServer::new("up").await;
    let edge = Edge::with(&[&up.settings], Policy::default(), endpoint).await;
    let mut old = SecuredClient::to(&edge, terms(&first)).await.unwrap();
    let held = json!({"name": "execute_tool", "arguments": {"tool_name": "up__hold"}});
    old.begin("tools/call", held).await;
    up.script.reached("tools/call", 1).await;
    tls.replace(second.pair.clone());
    SecuredClient::to(&edge, terms(&second)).await.unwrap().ping().await;
    assert!(SecuredClient::to(&edge, terms(&first)).await.is_err(), "the old one is gone");
    up.script.release();
    assert!(old.answer_with("hold {}").await.starts_with("HTTP/1.1 200 "));
    old.ping().await;
}

async fn no_end() {
    let made = made();
    let endpoint = HttpEndpoint { head_deadline: SHORT, ..endpoint(&made).1 };
    let edge = edge(endpoint).await;
    let (mut nothing, mut half) = (tcp(&edge).await, tcp(&edge).await);
    half.write_all(&HALF_HELLO).await.unwrap();
    assert!(is_closed(&mut nothing).await && is_closed(&mut half).await);
}

async fn unfinished() {
    let made = made();
    let edge = edge(HttpEndpoint { connections: 8, ..endpoint(&made).1 }).await;
    let mut silent = Vec::new();
    for _ in 0..24 {
        let mut client = tcp(&edge).await;
        client.write_all(&HALF_HELLO).await.unwrap();
        silent.push(client);
    }
    SecuredClient::to(&edge, terms(&made)).await.unwrap().ping().await;
    for one in &mut silent[..16] {
        assert!(is_closed(one).await, "the oldest are closed");
    }
}

async fn no_head() {
    let made = made();
    let edge = edge(HttpEndpoint { head_deadline: SHORT, ..endpoint(&made).1 }).await;
    let mut client = SecuredClient::to(&edge, terms(&made)).await.unwrap();
    client.0.write_all(b"POST /mcp HTTP/1.1\r\nhost: loc").await.unwrap();
    let ended = timeout(LONG, client.0.read_to_end(&mut Vec::new())).await;
    assert!(ended.is_ok(), "it is closed");
}

async fn plain() {
    let made = made();
    let edge = edge(endpoint(&made).1).await;
    let (headers, body) = standing_alone("server/discover", json!({}));
    let headers: Vec<_> = headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let reply = edge.post("/mcp", &headers, &body).await;
    assert_eq!((reply.status, reply.body.as_str()), (400, HTTPS_ONLY));
    SecuredClient::to(&edge, terms(&made)).await.unwrap().ping().await;
}

async fn shutdown() {
    let made = made();
    let mut edge = edge(endpoint(&made).1).await;
    let mut half = tcp(&edge).await;
    half.write_all(&HALF_HELLO).await.unwrap();
    SecuredClient::to(&edge, terms(&made)).await.unwrap().ping().await;
    edge.shutdown.cancel();
    // One that waited for the handshake would take two seconds.
    let ended = timeout(SHORT * 9, &mut edge.served).await;
    ended.expect("it ends at once").unwrap().unwrap();
}
