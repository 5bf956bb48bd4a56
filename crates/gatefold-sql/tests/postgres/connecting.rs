use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::path::PathBuf;
use std::time::Duration;

use futures::FutureExt as _;
use gatefold_core::Secret;
use gatefold_sql::{
    Database as _, DatabaseAddress, DatabaseError, DatabaseSettings, ReadQuery, ServerPlace,
    TlsMode,
};
use serde_json::json;

use crate::server::{Claim, TestDatabase, open, query, read_query, run};

pub(crate) const ALL: &[(&str, Claim)] = &[
    ("what_is_wrong_with_a_connection_is_said", |it| what_is_wrong_is_said(it).boxed()),
    ("a_refused_password_is_said_and_not_shown", |it| a_refused_password_is_said(it).boxed()),
    ("a_unix_socket_is_spoken_over", |it| a_unix_socket_is_spoken_over(it).boxed()),
    ("connections_are_limited", |it| connections_are_limited(it).boxed()),
    ("a_lost_connection_is_replaced", |it| a_lost_connection_is_replaced(it).boxed()),
    ("a_closed_source_answers_no_more", |it| a_closed_source_answers_no_more(it).boxed()),
];

async fn reason(settings: &DatabaseSettings) -> String {
    match query(&open(settings), "SELECT 1").await {
        Err(error @ DatabaseError::Unreachable { .. }) => {
            let shown = format!("{error} {error:?} {:?}", open(settings));
            assert!(!shown.contains("hunter2"), "{shown}");
            error.to_string()
        }
        other => panic!("{other:?}"),
    }
}

fn at(address: &str) -> DatabaseSettings {
    DatabaseSettings {
        connect_timeout: Duration::from_secs(2),
        ..DatabaseSettings::new(DatabaseAddress::parse(address).expect(address))
    }
}

async fn what_is_wrong_is_said(it: &TestDatabase) {
    let closed = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let port = closed.local_addr().expect("it has one").port();
    drop(closed);
    let nothing = reason(&at(&format!("postgres://u:hunter2@127.0.0.1:{port}/d"))).await;
    assert_eq!(
        nothing,
        format!("the database cannot be reached: nothing listens at `127.0.0.1:{port}`")
    );
    let no_socket = reason(&at("postgres://u:hunter2@%2Fno%2Fsuch/d")).await;
    assert!(no_socket.ends_with("there is no `/no/such/.s.PGSQL.5432`"), "{no_socket}");
    let mut settings = it.settings();
    let DatabaseAddress::Server(address) = &mut settings.address else { panic!("a server") };
    address.database = Some("gatefold_absent".to_owned());
    let absent = reason(&settings).await;
    assert!(absent.contains("\"gatefold_absent\" does not exist"), "{absent}");

    let silent = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let port = silent.local_addr().expect("it has one").port();
    let silent_reason = reason(&at(&format!("postgres://u:hunter2@127.0.0.1:{port}/d"))).await;
    assert!(silent_reason.ends_with("it did not answer within 2 s"), "{silent_reason}");

    if it.read("SHOW ssl").await == "off" {
        let mut settings = it.settings();
        settings.tls.mode = Some(TlsMode::Require);
        let reason = reason(&settings).await;
        assert!(reason.contains("no secure connection") && reason.contains("TLS"), "{reason}");
    }
    let nameless = DatabaseAddress::parse("postgres://127.0.0.1/d").expect("it can be read");
    let settings = DatabaseSettings::new(nameless);
    let DatabaseAddress::Server(address) = &settings.address else { panic!("a server") };
    let error = gatefold_sql::Postgres::new(address, &settings).expect_err("it has no user");
    assert!(error.to_string().contains("names no user"), "{error}");
}

pub(crate) async fn a_certificate_is_verified(it: &TestDatabase, ca: Option<PathBuf>) {
    let ca = ca.expect("the test is ignored without it");
    let encrypted = "SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()";
    let read = async |mode, ca: Option<&PathBuf>, host: &str| {
        let mut settings = it.settings();
        settings.tls.mode = mode;
        settings.tls.ca = ca.cloned();
        let DatabaseAddress::Server(address) = &mut settings.address else { panic!("a server") };
        address.place = ServerPlace::Host(host.to_owned());
        query(&open(&settings), encrypted).await.map(|result| result.rows[0][0].clone())
    };
    let is_encrypted = |read: Result<_, DatabaseError>| read.expect("it connects") == json!(true);
    let (known, other) = ("127.0.0.1", "localhost");
    assert!(is_encrypted(read(None, None, known).await));
    assert!(!is_encrypted(read(Some(TlsMode::Disable), None, known).await));
    assert!(is_encrypted(read(Some(TlsMode::Require), None, other).await));
    assert!(is_encrypted(read(Some(TlsMode::VerifyCa), Some(&ca), other).await));
    assert!(is_encrypted(read(Some(TlsMode::VerifyFull), Some(&ca), known).await));
    let missing = PathBuf::from("/no/such.pem");
    for (mode, ca, host, reason) in [
        (TlsMode::VerifyCa, None, known, "UnknownIssuer"),
        (TlsMode::VerifyFull, None, known, "UnknownIssuer"),
        (TlsMode::VerifyFull, Some(&ca), other, "not valid for name"),
        (TlsMode::VerifyFull, Some(&missing), known, "a file of its TLS settings does not exist"),
    ] {
        let error = read(Some(mode), ca, host).await.expect_err("it does not connect");
        assert!(matches!(error, DatabaseError::Unreachable { .. }), "{error:?}");
        assert!(error.to_string().contains(reason), "{error}");
    }
}

/// By a server that refuses every password, since the real one may not ask for any.
async fn a_refused_password_is_said(_: &TestDatabase) {
    let server = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let port = server.local_addr().expect("it has one").port();
    let server = std::thread::spawn(move || {
        let (mut peer, _) = server.accept().expect("somebody comes");
        let mut heard = [0; 512];
        let mut hear = |peer: &mut std::net::TcpStream| {
            let length = peer.read(&mut heard).expect("it speaks");
            String::from_utf8_lossy(&heard[..length]).into_owned()
        };
        // A request for TLS, which is declined, then the name of the user.
        hear(&mut peer);
        peer.write_all(b"N").expect("it listens");
        let start = hear(&mut peer);
        // A pooler takes no other settings at the start.
        let known = ["user", "database", "DateStyle", "client_encoding", "TimeZone"];
        let names: Vec<_> = start.get(8..).unwrap_or_default().split('\0').step_by(2).collect();
        let mut names = names.iter().filter(|name| !name.is_empty());
        let is_known = |name: &&str| known.contains(name) || *name == "application_name";
        assert!(names.all(is_known), "{start:?}");
        peer.write_all(b"R\0\0\0\x08\0\0\0\x03").expect("it listens");
        let password = hear(&mut peer);
        let fields = b"SFATAL\0VFATAL\0C28P01\0Mpassword authentication failed\0\0";
        let length = u32::try_from(fields.len() + 4).expect("it is short").to_be_bytes();
        peer.write_all(&[b"E", &length[..], fields].concat()).expect("it listens");
        password
    });
    let mut settings = at(&format!("postgres://reader:other@127.0.0.1:{port}/d"));
    settings.password = Some(Secret::new("hunter2"));
    let reason = reason(&settings).await;
    assert!(reason.ends_with("the server refuses the password of `reader`"), "{reason}");
    assert!(server.join().expect("it ends").contains("hunter2"));
}

async fn a_unix_socket_is_spoken_over(it: &TestDatabase) {
    let folders = it.read("SHOW unix_socket_directories").await;
    let folder = PathBuf::from(folders.split(',').next().unwrap_or_default().trim());
    assert!(folder.is_absolute(), "the server listens at no Unix socket: {folders}");
    let mut settings = it.settings();
    let DatabaseAddress::Server(address) = &mut settings.address else { panic!("a server") };
    address.place = ServerPlace::Socket(folder);
    match query(&open(&settings), "SELECT inet_client_addr() IS NULL").await {
        Ok(result) => assert_eq!(result.rows, [[json!(true)]]),
        // The server takes the word of the operating system for who it is, and said so over it.
        Err(error) => assert!(error.to_string().contains("eer authentication"), "{error}"),
    }
}

async fn connections_are_limited(it: &TestDatabase) {
    let mut settings = it.settings();
    settings.connections = 1;
    settings.connect_timeout = Duration::from_millis(500);
    let database = open(&settings);
    let long = ReadQuery { timeout: Duration::from_secs(60), ..read_query("SELECT pg_sleep(60)") };
    tokio::select! {
        result = database.query(long) => panic!("{result:?}"),
        () = async {
            it.wait_for(&it.running(), "1").await;
            let busy = query(&database, "SELECT 1").await;
            assert!(matches!(busy, Err(DatabaseError::Busy(1))), "{busy:?}");
        } => {}
    }
    // What was dropped gives its place back, once it has ended.
    it.wait_for(&it.running(), "0").await;
    query(&database, "SELECT 1").await.expect("there is room");

    // Many at once wait for each other.
    settings.connect_timeout = Duration::from_secs(10);
    settings.connections = 3;
    let database = open(&settings);
    let pids = (0..40).map(|_| query(&database, "SELECT pg_backend_pid()"));
    let pids = futures::future::try_join_all(pids).await.expect("each has its turn");
    let pids: std::collections::BTreeSet<_> =
        pids.iter().map(|result| result.rows[0][0].to_string()).collect();
    assert!(pids.len() <= 3, "{pids:?}");
}

async fn a_lost_connection_is_replaced(it: &TestDatabase) {
    let database = it.open();
    let pid = "SELECT pg_backend_pid()";
    let first = query(&database, pid).await.expect("it reads").rows;
    assert_eq!(query(&database, pid).await.expect("it reads").rows, first);
    let reader = &it.reader;
    let end = format!(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '{reader}'"
    );
    run(&it.admin, end).await;
    it.wait_for(
        &format!("SELECT count(*)::text FROM pg_stat_activity WHERE usename = '{reader}'"),
        "0",
    )
    .await;
    assert_ne!(query(&database, pid).await.expect("it reads").rows, first);
}

async fn a_closed_source_answers_no_more(it: &TestDatabase) {
    let database = it.open();
    query(&database, "SELECT 1").await.expect("it reads");
    database.close().await;
    let count =
        format!("SELECT count(*)::text FROM pg_stat_activity WHERE usename = '{}'", it.reader);
    it.wait_for(&count, "0").await;
    let after = query(&database, "SELECT 1").await;
    assert!(matches!(after, Err(DatabaseError::Unreachable { .. })), "{after:?}");
}
