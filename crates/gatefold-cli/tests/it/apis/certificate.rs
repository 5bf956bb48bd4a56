//! An API that wants a client certificate, over real TLS.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;

use rcgen::{BasicConstraints, Certificate, CertificateParams, IsCa, KeyPair};
use rustls::crypto::ring;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig, ServerConnection, StreamOwned};
use serde_json::Value;

use crate::process::{Run, command, ended};
use crate::scratch::Scratch;

/// Issues certificates to servers and clients.
struct Authority {
    cert: Certificate,
    key: KeyPair,
}

impl Authority {
    fn new() -> Self {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        Self { cert: params.self_signed(&key).unwrap(), key }
    }

    fn issue(&self, name: &str) -> (Certificate, KeyPair) {
        let key = KeyPair::generate().unwrap();
        let params = CertificateParams::new(vec![name.to_owned()]).unwrap();
        (params.signed_by(&key, &self.cert, &self.key).unwrap(), key)
    }

    /// What a server needs that asks for certificates, and refuses clients without one or not.
    fn server(&self, is_required: bool) -> Arc<ServerConfig> {
        let provider = Arc::new(ring::default_provider());
        let mut roots = RootCertStore::empty();
        roots.add(self.cert.der().clone()).unwrap();
        let verifier =
            WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider.clone());
        let verifier = if is_required { verifier } else { verifier.allow_unauthenticated() };
        let (cert, key) = self.issue("localhost");
        let builder = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_client_cert_verifier(verifier.build().unwrap());
        let key = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
        let chain: Vec<CertificateDer<'static>> = vec![cert.der().clone()];
        Arc::new(builder.with_single_cert(chain, key).unwrap())
    }
}

/// An API on a free port. `/away/PORT` redirects there; anything else says who called.
fn serve(config: Arc<ServerConfig>) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for socket in listener.incoming() {
            let config = config.clone();
            // A client that is refused ends its connection.
            std::thread::spawn(move || answer(socket?, config));
        }
    });
    port
}

fn answer(socket: TcpStream, config: Arc<ServerConfig>) -> std::io::Result<()> {
    let connection = ServerConnection::new(config).unwrap();
    let mut stream = BufReader::new(StreamOwned::new(connection, socket));
    let mut head = Vec::new();
    loop {
        let mut line = String::new();
        stream.read_line(&mut line)?;
        if line.trim().is_empty() {
            break;
        }
        head.push(line.trim().to_owned());
    }
    let stream = stream.get_mut();
    let path = head[0].split(' ').nth(1).unwrap().to_owned();
    let away = path.strip_prefix("/away/");
    let extra = match away {
        Some("here") => "location: /who\r\n".to_owned(),
        Some(port) => format!("location: https://localhost:{port}/who\r\n"),
        None => "content-type: application/json\r\n".to_owned(),
    };
    let authorization = head.iter().find_map(|line| line.strip_prefix("authorization: "));
    let has_certificate = stream.conn.peer_certificates().is_some();
    let body =
        serde_json::json!({ "certificate": has_certificate, "authorization": authorization });
    let (status, body) = match away {
        Some(_) => ("302 Found", String::new()),
        None => ("200 OK", body.to_string()),
    };
    let length = body.len();
    write!(
        stream,
        "HTTP/1.1 {status}\r\n{extra}connection: close\r\ncontent-length: {length}\r\n\r\n{body}"
    )?;
    stream.conn.send_close_notify();
    stream.flush()
}

/// A folder with the certificates of an authority and of one client.
fn scratch(authority: &Authority) -> (Scratch, KeyPair) {
    let scratch = Scratch::new();
    let (cert, key) = authority.issue("client");
    scratch
        .write("ca.pem", authority.cert.pem())
        .write("client.pem", cert.pem())
        .write("client.key", key.serialize_pem());
    (scratch, key)
}

/// Runs the binary with the test's authority among those that the machine trusts.
fn run(scratch: &Scratch, key: &KeyPair, args: &[&str]) -> Run {
    let mut command = command(scratch, args);
    command.env("SSL_CERT_FILE", scratch.path().join("ca.pem"));
    command.env("CLIENT_KEY", key.serialize_pem());
    ended(command)
}

fn source(name: &str, port: u16, rest: &str) -> String {
    format!(
        "[sources.{name}]\nbase_url = 'https://localhost:{port}'\n{rest}\n\
         actions = [{{ name = 'who', method = 'GET', path = '/who' }}, \
         {{ name = 'away', method = 'GET', path = '/away/{{to}}' }}]\n"
    )
}

/// What the API says of who called it.
fn who(run: &Run) -> Value {
    let value = run.json();
    assert_eq!(value["is_error"], false, "{value}");
    value["result"]["structuredContent"].clone()
}

#[test]
fn an_api_that_wants_a_client_certificate_gets_it() {
    let authority = Authority::new();
    let (scratch, key) = scratch(&authority);
    let port = serve(authority.server(true));
    let files = "tls = { cert = 'client.pem', key = 'client.key' }";
    let config = [
        source("files", port, &format!("auth = {{ {files} }}")),
        source("beside", port, &format!("auth = {{ bearer = '${{TOKEN}}', {files} }}")),
        source("inline", port, "auth = { tls = { cert = 'client.pem', key = '${CLIENT_KEY}' } }"),
        source("without", port, ""),
    ];
    scratch.write("gatefold.toml", config.concat());
    let call = |tool: &str| run(&scratch, &key, &["tools", "call", tool, "--json"]);
    for (tool, authorization) in [
        ("files__who", Value::Null),
        ("beside__who", "Bearer s3cret".into()),
        ("inline__who", Value::Null),
    ] {
        let expected = serde_json::json!({ "certificate": true, "authorization": authorization });
        let called = call(tool);
        // The API repeats the token, which is masked.
        let shown = expected.to_string().replace("s3cret", "[redacted]");
        assert_eq!(who(&called).to_string(), shown, "{tool}");
    }
    let refused = call("without__who");
    assert_eq!(refused.code, Some(1), "{}", refused.stdout);
    assert_eq!(refused.json()["kind"], "unavailable", "{}", refused.stdout);

    let shown = run(&scratch, &key, &["config", "show"]);
    assert!(shown.stdout.contains("bearer=*** tls=***"), "{}", shown.stdout);
    let secret = key.serialize_pem();
    let secret = secret.lines().nth(1).unwrap();
    let said = shown.stdout + &run(&scratch, &key, &["check", "--json"]).stdout;
    assert!(!said.contains(secret), "{said}");
}

#[test]
fn a_client_certificate_is_shown_to_no_other_origin() {
    let authority = Authority::new();
    let (scratch, key) = scratch(&authority);
    let (own, other) = (serve(authority.server(true)), serve(authority.server(false)));
    let auth = "auth = { tls = { cert = 'client.pem', key = 'client.key' } }\nallow_private = true";
    let config = source("own", own, auth) + &source("other", other, auth);
    scratch.write("gatefold.toml", config);
    let away = |domain: &str, to: &str| {
        let (tool, argument) = (format!("{domain}__away"), format!("to={to}"));
        let run = run(&scratch, &key, &["tools", "call", &tool, "--arg", &argument, "--json"]);
        who(&run)["certificate"].clone()
    };
    assert_eq!(away("own", "here"), true);
    assert_eq!(away("other", "here"), true);
    assert_eq!(away("own", &other.to_string()), false);
}

#[test]
fn a_client_certificate_that_cannot_be_used_is_a_fault() {
    let authority = Authority::new();
    let (scratch, key) = scratch(&authority);
    let (_, another) = authority.issue("another");
    scratch.write("another.key", another.serialize_pem()).write("no.key", "s3cret");
    for (tls, said) in [
        ("cert = 'client.pem'", "`sources.a.auth.tls` has no `key`"),
        ("cert = 'client.pem', key = 'away.key'", "`sources.a.auth.tls.key` cannot be read"),
        ("cert = 'client.key', key = 'client.key'", "it contains no certificate"),
        ("cert = 'client.pem', key = 'no.key'", "it has no private key as PEM"),
        ("cert = 'client.pem', key = 'another.key'", "its key does not fit it"),
        (
            "cert = 'client.pem', key = 'client.key', ca = 'x'",
            "`sources.a.auth.tls.ca` is not a known key",
        ),
    ] {
        let config = source("a", 1, &format!("auth = {{ tls = {{ {tls} }} }}"));
        scratch.write("gatefold.toml", config);
        let run = run(&scratch, &key, &["config", "check"]);
        let told = run.stdout + &run.stderr;
        assert!(run.code == Some(2) && told.contains(said), "{tls}: {:?} {told}", run.code);
        assert!(!told.contains("s3cret") && !told.contains("PRIVATE KEY"), "{told}");
    }
}
