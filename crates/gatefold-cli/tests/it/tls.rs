//! A gateway that speaks HTTPS: how it starts, follows its certificate, and is spoken of.

use std::fs;
use std::io::{self, Read as _, Write as _};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt as _;
use std::sync::Arc;

use rcgen::{Certificate, CertificateParams, KeyPair, date_time_ymd};
use rustls::crypto::ring;
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

use crate::process::{Gateway, LIMIT, run};
use crate::scratch::Scratch;

const TLS: &str = "[server]\ntls = { cert = 'cert.pem', key = 'key.pem' }\n";

/// A certificate that stands for itself.
fn made(until: i32) -> (Certificate, KeyPair) {
    let key = KeyPair::generate().unwrap();
    let mut params = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
    params.not_before = date_time_ymd(2020, 1, 1);
    params.not_after = date_time_ymd(until, 1, 1);
    (params.self_signed(&key).unwrap(), key)
}

/// Writes both files, as a program that renews certificates does: one after the other.
fn put(scratch: &Scratch, (cert, key): &(Certificate, KeyPair)) {
    scratch.write("cert.pem", cert.pem()).write("key.pem", key.serialize_pem());
    chmod(scratch, 0o600);
}

fn chmod(scratch: &Scratch, mode: u32) {
    let path = scratch.path().join("key.pem");
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

fn secured() -> (Scratch, (Certificate, KeyPair)) {
    let scratch = Scratch::new();
    scratch.write("gatefold.toml", TLS);
    let pair = made(2400);
    put(&scratch, &pair);
    (scratch, pair)
}

/// A connection to a gateway that has this certificate.
fn connect(
    gateway: &Gateway,
    trusted: &Certificate,
) -> io::Result<StreamOwned<ClientConnection, TcpStream>> {
    let mut roots = RootCertStore::empty();
    roots.add(trusted.der().clone()).unwrap();
    let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()));
    let builder = builder.with_safe_default_protocol_versions().unwrap();
    let config = builder.with_root_certificates(roots).with_no_client_auth();
    let name = ServerName::try_from("localhost").unwrap();
    let mut connection = ClientConnection::new(Arc::new(config), name).unwrap();
    let mut socket = TcpStream::connect(gateway.address())?;
    socket.set_read_timeout(Some(LIMIT))?;
    connection.complete_io(&mut socket)?;
    Ok(StreamOwned::new(connection, socket))
}

/// The head of an answer to a request that begins a session.
fn asked(stream: &mut (impl io::Read + io::Write)) -> String {
    let body = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}"#;
    let request = format!(
        "POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n\
         accept: application/json, text/event-stream\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(request.as_bytes()).unwrap();
    stream.flush().unwrap();
    let mut answer = String::new();
    let mut part = [0; 4096];
    while !answer.contains("serverInfo") {
        let count = stream.read(&mut part).unwrap();
        assert_ne!(count, 0, "closed: {answer}");
        answer.push_str(&String::from_utf8_lossy(&part[..count]));
    }
    answer.lines().next().unwrap().to_owned()
}

#[tokio::test]
async fn a_gateway_with_a_certificate_speaks_https_and_says_so() {
    let (scratch, (cert, _)) = secured();
    let gateway = Gateway::serve(&scratch).await;
    assert!(gateway.url().starts_with("https://127.0.0.1:"), "{}", gateway.log());
    assert_eq!(asked(&mut connect(&gateway, &cert).unwrap()), "HTTP/1.1 200 OK");
    let mut plain = TcpStream::connect(gateway.address()).unwrap();
    plain.write_all(b"GET /status HTTP/1.1\r\nhost: localhost\r\n\r\n").unwrap();
    let mut answer = String::new();
    plain.read_to_string(&mut answer).unwrap();
    assert!(
        answer.starts_with("HTTP/1.1 400 ") && answer.ends_with("write `https://`"),
        "{answer}"
    );

    let status = run(&scratch, &["status", "--json"]);
    assert_eq!(status.json()["url"], gateway.url().as_str());
    let address = gateway.address();
    let told = run(&scratch, &["status", "--listen", &address]);
    assert!(told.stdout.contains("speaks HTTPS"), "{}", told.stdout);
    let told = run(&scratch, &["status", "--listen", &address, "--json"]);
    assert_eq!(told.json()["url"], gateway.url().as_str());
    let taken = run(&scratch, &["serve", "--listen", &gateway.address()]);
    assert!(
        taken.stderr.contains("already in use by a Gatefold that speaks HTTPS"),
        "{}",
        taken.stderr
    );
}

#[tokio::test]
async fn a_renewed_certificate_is_taken_up_and_no_connection_is_dropped() {
    let (scratch, old) = secured();
    let gateway = Gateway::serve(&scratch).await;
    let mut open = connect(&gateway, &old.0).unwrap();
    assert_eq!(asked(&mut open), "HTTP/1.1 200 OK");
    let new = made(2400);
    put(&scratch, &new);
    let is_taken_up = || connect(&gateway, &new.0).is_ok();
    assert!(gatefold_testkit::wait_until(LIMIT, is_taken_up).await, "{}", gateway.log());
    gateway.await_log("took up the certificate and its key").await;
    assert!(connect(&gateway, &old.0).is_err());
    assert_eq!(asked(&mut open), "HTTP/1.1 200 OK");
}

#[tokio::test]
async fn a_pair_that_cannot_be_used_keeps_the_old_one() {
    let (scratch, old) = secured();
    let gateway = Gateway::serve(&scratch).await;
    let new = made(2400);
    scratch.write("key.pem", new.1.serialize_pem());
    gateway.await_log("kept the old certificate").await;
    assert_eq!(asked(&mut connect(&gateway, &old.0).unwrap()), "HTTP/1.1 200 OK");
    let log = gateway.log();
    assert!(log.contains("the key does not fit the certificate"), "{log}");
    assert!(!log.contains("PRIVATE KEY"), "{log}");
    put(&scratch, &new);
    gateway.await_log("took up the certificate and its key").await;
    assert_eq!(asked(&mut connect(&gateway, &new.0).unwrap()), "HTTP/1.1 200 OK");
}

#[tokio::test]
async fn a_hangup_reads_the_certificate_again() {
    let (scratch, (cert, _)) = secured();
    let gateway = Gateway::serve(&scratch).await;
    gateway.signal("-HUP");
    gateway.await_log("took up the certificate and its key").await;
    assert_eq!(asked(&mut connect(&gateway, &cert).unwrap()), "HTTP/1.1 200 OK");
}

/// What `serve` says when it refuses to start, and the same of `check` and `doctor`.
#[track_caller]
fn check_refusal(scratch: &Scratch, expected: &str) {
    let refused = run(scratch, &["serve", "--listen", "127.0.0.1:0"]);
    assert_eq!(refused.code, Some(2), "{}", refused.stderr);
    assert!(refused.stderr.contains(expected), "{expected}: {}", refused.stderr);
    assert!(refused.stderr.contains("help: "), "{}", refused.stderr);
    let checked = run(scratch, &["check"]);
    assert_eq!(checked.code, Some(1), "{}", checked.stdout);
    let checked = checked.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(checked.contains(expected), "{expected}: {checked}");
    let doctor = run(scratch, &["doctor", "--json"]);
    let findings = doctor.json()["findings"].clone();
    let is_it = |one: &serde_json::Value| {
        one["level"] == "fault" && one["what"].as_str().unwrap().contains(expected)
    };
    assert!(findings.as_array().unwrap().iter().any(is_it), "{findings:#}");
    for said in [&refused.stderr, &checked, &doctor.stdout] {
        assert!(!said.contains("PRIVATE KEY"), "{said}");
    }
}

#[test]
fn a_pair_that_cannot_be_used_refuses_the_start() {
    let (scratch, pair) = secured();
    let (_, another) = made(2400);
    scratch.write("key.pem", another.serialize_pem());
    check_refusal(&scratch, "the key does not fit the certificate");
    scratch.write("key.pem", "no key");
    check_refusal(&scratch, "the key's file has no private key as PEM");
    put(&scratch, &pair);
    fs::remove_file(scratch.path().join("cert.pem")).unwrap();
    check_refusal(&scratch, "cert.pem`, the certificate in `server.tls`, cannot be read");
    scratch.write("cert.pem", "x".repeat(300 * 1024));
    check_refusal(&scratch, "cert.pem`, the certificate in `server.tls`, cannot be read");
}

#[tokio::test]
async fn an_open_key_and_an_expired_certificate_are_warned_of() {
    let (scratch, _) = secured();
    put(&scratch, &made(2021));
    chmod(&scratch, 0o644);
    let warnings = ["every user of this machine can read the key", "has expired"];
    let gateway = Gateway::serve(&scratch).await;
    let (checked, doctor) =
        (run(&scratch, &["check", "--json"]), run(&scratch, &["doctor", "--json"]));
    for warning in warnings {
        gateway.await_log(warning).await;
        for said in [&checked.stdout, &doctor.stdout] {
            assert!(said.contains(warning), "{said}");
        }
    }
}

#[test]
fn tls_says_nothing_about_who_may_come_in() {
    let (scratch, _) = secured();
    let refused = run(&scratch, &["serve", "--listen", "0.0.0.0:0"]);
    assert_eq!(refused.code, Some(2), "{}", refused.stderr);
    assert!(refused.stderr.contains("can be reached from other machines"), "{}", refused.stderr);
}

#[test]
fn an_entry_in_a_client_has_the_name_of_the_certificate() {
    for (server, expected) in [
        ("", "https://127.0.0.1:8420/mcp"),
        ("allowed_hosts = ['tools.example']\n", "https://tools.example:8420/mcp"),
        (
            "public_url = 'https://our.example'\nallowed_hosts = ['tools.example']\n",
            "https://our.example:8420/mcp",
        ),
        (
            "allowed_hosts = ['tools.example:1']\nlisten = '0.0.0.0:443'\n",
            "https://tools.example/mcp",
        ),
    ] {
        let (scratch, _) = secured();
        scratch.write("gatefold.toml", format!("{TLS}{server}"));
        fs::create_dir(scratch.path().join(".cursor")).unwrap();
        scratch.write(".cursor/mcp.json", "{}");
        let connected = run(&scratch, &["connect", "cursor", "--http", "--yes"]);
        assert_eq!(connected.code, Some(0), "{}{}", connected.stdout, connected.stderr);
        let written = fs::read_to_string(scratch.path().join(".cursor/mcp.json")).unwrap();
        assert!(written.contains(&format!("\"{expected}\"")), "{expected}: {written}");
        let doctor = run(&scratch, &["doctor", "--json"]).stdout;
        assert!(
            !doctor.contains("its entry leads to `https://tools.example/mcp`, but"),
            "{doctor}"
        );
    }
    let (scratch, _) = secured();
    fs::create_dir(scratch.path().join(".cursor")).unwrap();
    let entry = r#"{"mcpServers": {"gatefold": {"url": "http://127.0.0.1:8420/mcp"}}}"#;
    scratch.write(".cursor/mcp.json", entry);
    let doctor = run(&scratch, &["doctor", "--json"]).stdout;
    assert!(doctor.contains("but Gatefold speaks HTTPS"), "{doctor}");
}

#[test]
fn a_half_pair_is_a_fault_of_the_configuration() {
    for (tls, expected) in [
        ("{ cert = 'cert.pem' }", "`server.tls` has no `key`"),
        ("{ key = 'key.pem' }", "`server.tls` has no `cert`"),
        ("'cert.pem'", "`server.tls` is a string"),
        ("{ cert = 'a', key = 'b', ca = 'c' }", "`server.tls.ca` is not a known key"),
        ("{ cert = '', key = 'b' }", "`server.tls.cert` is empty"),
    ] {
        let scratch = Scratch::new();
        scratch.write("gatefold.toml", format!("[server]\ntls = {tls}\n"));
        let checked = run(&scratch, &["config", "check"]);
        assert_eq!(checked.code, Some(2), "{tls}");
        assert!(checked.stderr.contains(expected), "{tls}: {}", checked.stderr);
    }
}
