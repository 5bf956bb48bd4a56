//! Tricks that lead inside. Each is first shown to arrive without the guard, and then to reach
//! nothing with it: a listener, to which every admitted connection goes, counts them.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use gatefold_egress::{
    Egress, EgressError, HttpRequest, IpNet, Lookup, PrivateNetworks, Reach, Resolver,
};
use http::Method;
use reqwest::Url;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

use crate::{chain, egress, soon};

/// Where redirects come from.
const ENTRY: &str = "http://public.example/";

/// Hosts that are inside, as a URL may write them.
const INSIDE: [&str; 78] = [
    // This machine: dotted, short, as one number, octal, hexadecimal, mixed.
    "127.0.0.1",
    "127.9.9.9",
    "127.1",
    "127.0.1",
    "127.0.0.1.",
    "2130706433",
    "017700000001",
    "0x7f000001",
    "0X7F000001",
    "0177.0.0.1",
    "0x7f.0x0.0x0.0x1",
    "0x7F.1",
    "0177.1",
    "127.0x1",
    "00000177.0.0.01",
    // Digits and dots of other scripts, percent signs, invisible characters.
    "①②⑦.0.0.1",
    "１２７.０.０.１",
    "127。0。0。1",
    "127．0．0．1",
    "127｡0｡0｡1",
    "%31%32%37.0.0.1",
    "127.0.0.%31",
    "127\u{ad}.0.0.1",
    "0x7f%2e1",
    // No address at all, which Linux takes for this machine.
    "0",
    "0.0.0.0",
    "0x0",
    "[::]",
    // IPv6, and IPv4 within it.
    "[::1]",
    "[0:0:0:0:0:0:0:1]",
    "[0000::0001]",
    "[::ffff:127.0.0.1]",
    "[::ffff:7f00:1]",
    "[::FFFF:7F00:0001]",
    "[0:0:0:0:0:ffff:127.0.0.1]",
    "[::127.0.0.1]",
    "[::ffff:0:127.0.0.1]",
    "[64:ff9b::7f00:1]",
    "[64:ff9b::127.0.0.1]",
    "[64:ff9b:1::a00:1]",
    "[2002:7f00:1::]",
    "[2002:a00:5::1]",
    "[2001:0:4136:e378:8000:63bf:80ff:fffe]",
    // Private and shared networks.
    "10.0.0.5",
    "0xa000005",
    "012.0.0.5",
    "172.16.0.1",
    "172.31.255.254",
    "192.168.1.1",
    "3232235777",
    "100.64.0.1",
    "[fc00::1]",
    "[fd12:3456::1]",
    "[::ffff:10.0.0.5]",
    // Metadata services and link-local addresses.
    "169.254.169.254",
    "2852039166",
    "0xa9fea9fe",
    "0251.0376.0251.0376",
    "169.254.43518",
    "[::ffff:169.254.169.254]",
    "[64:ff9b::a9fe:a9fe]",
    "169.254.170.2",
    "168.63.129.16",
    "100.100.100.200",
    "[fd00:ec2::254]",
    "[fd20:ce::254]",
    "[fe80::1]",
    "169.254.0.1",
    // Reserved addresses.
    "192.0.2.1",
    "198.18.0.1",
    "224.0.0.1",
    "240.0.0.1",
    "255.255.255.255",
    "[ff02::1]",
    "[fec0::1]",
    "[2001:db8::1]",
    "[100::1]",
    "[2002:c000:201::]",
];

/// Names, and the addresses that they lead to.
const NAMES: [(&str, &[&str]); 20] = [
    ("localhost", &["127.0.0.1"]),
    ("LOCALHOST", &["::1"]),
    ("localhost.", &["127.0.0.1"]),
    ("ｌｏｃａｌｈｏｓｔ", &["127.0.0.1"]),
    ("%6cocalhost", &["127.0.0.1"]),
    ("a.localhost", &["127.0.0.1"]),
    ("localtest.example", &["127.0.0.1"]),
    ("127.0.0.1.nip.example", &["127.0.0.1"]),
    ("zero.example", &["0.0.0.0"]),
    ("six.example", &["::1"]),
    ("mapped.example", &["::ffff:127.0.0.1"]),
    ("nat64.example", &["64:ff9b::7f00:1"]),
    ("sixtofour.example", &["2002:a9fe:a9fe::"]),
    ("private.example", &["10.0.0.5"]),
    ("PRIVATE.example.", &["192.168.1.1"]),
    ("bücher.example", &["172.16.0.1"]),
    ("unique.example", &["fd12::1"]),
    ("metadata.google.internal", &["169.254.169.254"]),
    ("link.example", &["fe80::1"]),
    ("many.example", &["10.0.0.1", "127.0.0.1", "169.254.169.254"]),
];

/// URLs around a host, which must not hide it.
const AROUND: [&str; 9] = [
    "http://HOST/",
    "http://public.example@HOST/",
    "http://public.example:80@HOST/",
    "http://public.example%2f@HOST/",
    "http://HOST/\\@public.example/",
    "http://HOST\\@public.example/",
    "http:\\\\HOST/",
    "\thtt\np://HOST/#@public.example/",
    "http:///HOST/?http://public.example/",
];

/// What is never sent, whoever may be reached.
const NEVER: [&str; 14] = [
    "file:///etc/passwd",
    "file://127.0.0.1/etc/passwd",
    "gopher://127.0.0.1:70/_GET",
    "ftp://127.0.0.1/",
    "dict://127.0.0.1:11211/stats",
    "ldap://127.0.0.1/",
    "ws://127.0.0.1/",
    "unix:///run/docker.sock",
    "data:text/plain,x",
    "javascript:alert(1)",
    "http://[fe80::1%25eth0]/",
    "http://[::1%251]/",
    "http://127.0.0.1:99999/",
    "http://256.256.256.256/",
];

/// Knows the names of the table, and one that is public at first and moves inside.
#[derive(Clone, Default)]
struct TestResolver {
    rebound: Arc<AtomicUsize>,
    lookups: Arc<AtomicUsize>,
}

impl Resolver for TestResolver {
    fn look_up(&self, name: &str) -> Lookup {
        self.lookups.fetch_add(1, Ordering::SeqCst);
        let found: Vec<&str> = match name {
            "public.example" => vec!["93.184.216.34"],
            "rebinding.example" if self.rebound.fetch_add(1, Ordering::SeqCst) == 0 => {
                vec!["93.184.216.34"]
            }
            "rebinding.example" => vec!["127.0.0.1"],
            name => {
                let same = |known: &str| {
                    let url = Url::parse(&format!("http://{known}/")).unwrap();
                    url.host_str() == Some(name)
                };
                let known = NAMES.iter().find(|(known, _)| same(known));
                known.map(|(_, addresses)| addresses.to_vec()).unwrap_or_default()
            }
        };
        let found: Vec<IpAddr> = found.iter().map(|text| text.parse().unwrap()).collect();
        let unknown = found.is_empty();
        Box::pin(
            async move { if unknown { Err(io::ErrorKind::NotFound.into()) } else { Ok(found) } },
        )
    }
}

/// A server that every connection leads to. It closes each after one answer.
#[derive(Clone)]
struct Trap {
    address: SocketAddr,
    connections: Arc<AtomicUsize>,
    arrivals: Arc<AtomicUsize>,
}

impl Trap {
    async fn open() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let trap = Self {
            address: listener.local_addr().unwrap(),
            connections: Arc::default(),
            arrivals: Arc::default(),
        };
        let opened = trap.clone();
        tokio::spawn(async move {
            loop {
                let (mut stream, _) = listener.accept().await.unwrap();
                opened.connections.fetch_add(1, Ordering::SeqCst);
                let answer = opened.answer(&read_head(&mut stream).await);
                stream.write_all(answer.as_bytes()).await.unwrap();
            }
        });
        trap
    }

    /// `/STATUS` redirects to what follows `?`; anything else has arrived.
    fn answer(&self, head: &str) -> String {
        let target = head.split(' ').nth(1).unwrap_or_default();
        let redirect = target.strip_prefix("/redirect/").and_then(|rest| rest.split_once('?'));
        if let Some((status, to)) = redirect {
            let to = percent_decoded(to);
            let rest = "content-length: 0\r\nconnection: close\r\n\r\n";
            return format!("HTTP/1.1 {status} Moved\r\nlocation: {to}\r\n{rest}");
        }
        self.arrivals.fetch_add(1, Ordering::SeqCst);
        "HTTP/1.1 200 OK\r\ncontent-length: 6\r\nconnection: close\r\n\r\nsecret".to_owned()
    }

    fn egress(&self, resolver: &TestResolver) -> Egress {
        egress().with_resolver(resolver.clone()).with_detour(self.address)
    }

    /// Connections and arrivals since the last question.
    fn counts(&self) -> (usize, usize) {
        (self.connections.swap(0, Ordering::SeqCst), self.arrivals.swap(0, Ordering::SeqCst))
    }
}

async fn read_head(stream: &mut tokio::net::TcpStream) -> String {
    let mut head = Vec::new();
    let mut part = [0; 4096];
    while !head.windows(4).any(|end| end == b"\r\n\r\n") {
        let read = stream.read(&mut part).await.unwrap();
        if read == 0 {
            break;
        }
        head.extend_from_slice(&part[..read]);
    }
    String::from_utf8_lossy(&head).into_owned()
}

fn percent_decoded(text: &str) -> String {
    let pairs: Vec<_> = text.split('-').filter(|pair| !pair.is_empty()).collect();
    let bytes = pairs.iter().map(|pair| u8::from_str_radix(pair, 16).unwrap()).collect();
    String::from_utf8(bytes).unwrap()
}

/// A URL that redirects to another one, letter for letter.
fn redirecting(status: u16, to: &str) -> Url {
    let hex: Vec<_> = to.bytes().map(|byte| format!("{byte:02x}")).collect();
    Url::parse(&format!("{ENTRY}redirect/{status}?{}", hex.join("-"))).unwrap()
}

async fn sent(
    egress: &Egress,
    reach: Reach,
    method: &Method,
    url: &Url,
) -> Result<u16, EgressError> {
    let request = HttpRequest::new(method.clone(), url.clone());
    let answer = egress.client_for(reach).send(request, soon()).await?;
    Ok(answer.status().as_u16())
}

/// The URL arrives without the guard, after `hops` redirects, and reaches nothing with it.
async fn check(trap: &Trap, method: &Method, url: &Url, hops: usize, shown: &str) {
    let egress = trap.egress(&TestResolver::default());
    let open = sent(&egress, Reach::any(), method, url).await;
    assert_eq!(open.map_err(|error| chain(&error)), Ok(200), "{shown}");
    assert_eq!(trap.counts(), (hops + 1, 1), "{shown} without the guard");
    let error = sent(&egress, Reach::public(), method, url).await.expect_err(shown);
    assert!(error.forbidden().is_some(), "{shown}: {}", chain(&error));
    assert_eq!(error.is_unsent(), hops == 0, "{shown}");
    assert_eq!(trap.counts(), (hops, 0), "{shown} with the guard");
}

fn hosts() -> impl Iterator<Item = &'static str> {
    INSIDE.into_iter().chain(NAMES.into_iter().map(|(name, _)| name))
}

#[tokio::test]
async fn no_spelling_of_a_host_leads_inside() {
    let trap = Trap::open().await;
    let mut tricks = 0;
    for host in hosts() {
        let url = Url::parse(&format!("http://{host}/")).unwrap_or_else(|_| panic!("{host}"));
        check(&trap, &Method::GET, &url, 0, host).await;
        tricks += 1;
    }
    for around in AROUND {
        for host in ["127.0.0.1", "private.example", "[::1]"] {
            let text = around.replace("HOST", host);
            check(&trap, &Method::POST, &Url::parse(&text).unwrap(), 0, &text).await;
            tricks += 1;
        }
    }
    assert_eq!(tricks, 125);
}

#[tokio::test]
async fn no_redirect_leads_inside() {
    let trap = Trap::open().await;
    let mut tricks = 0;
    for (status, step) in [(301, 5), (302, 1), (303, 5), (307, 5), (308, 5)] {
        for host in hosts().step_by(step) {
            // A header has no letters of other scripts.
            let url = Url::parse(&format!("http://{host}/")).unwrap();
            let shown = format!("{status} to {host}");
            check(&trap, &Method::GET, &redirecting(status, url.as_str()), 1, &shown).await;
            tricks += 1;
        }
    }
    for around in AROUND.into_iter().filter(|around| !around.contains('\n')) {
        let to = around.replace("HOST", "127.0.0.1");
        check(&trap, &Method::HEAD, &redirecting(302, "http://127.0.0.1/"), 1, &to).await;
        check(&trap, &Method::GET, &redirecting(302, &to), 1, &to).await;
        tricks += 1;
    }
    check(&trap, &Method::POST, &redirecting(303, "http://127.0.0.1/"), 1, "a form").await;
    let again = redirecting(302, redirecting(307, "http://10.0.0.5/").as_str());
    check(&trap, &Method::GET, &again, 2, "a chain").await;
    assert_eq!(tricks, 186);
}

#[tokio::test]
async fn what_is_not_http_or_no_url_is_never_sent() {
    let trap = Trap::open().await;
    let egress = trap.egress(&TestResolver::default());
    for text in NEVER {
        if let Ok(url) = Url::parse(text) {
            let error = sent(&egress, Reach::any(), &Method::GET, &url).await.unwrap_err();
            assert!(matches!(error, EgressError::Url { .. }), "{text}: {}", chain(&error));
            assert_eq!(trap.counts(), (0, 0), "{text}");
        }
        let url = redirecting(302, text);
        match sent(&egress, Reach::any(), &Method::GET, &url).await {
            Err(EgressError::Redirected { .. }) => assert!(Url::parse(text).is_ok(), "{text}"),
            // What is no URL makes the redirect itself the answer.
            Ok(302) => assert!(Url::parse(text).is_err(), "{text}"),
            other => panic!("{text}: {other:?}"),
        }
        assert_eq!(trap.counts(), (1, 0), "{text}");
    }
}

#[tokio::test]
async fn a_name_that_moves_inside_is_followed_no_further() {
    let trap = Trap::open().await;
    let url = Url::parse("http://rebinding.example/").unwrap();
    for (reach, arrivals) in [(Reach::any(), 3), (Reach::public(), 1)] {
        let resolver = TestResolver::default();
        let egress = trap.egress(&resolver);
        let client = egress.client_for(reach);
        for _ in 0..3 {
            let request = HttpRequest::new(Method::GET, url.clone());
            if let Ok(answer) = client.send(request, soon()).await {
                answer.read_capped(100).await.unwrap();
            }
        }
        assert_eq!(trap.counts().1, arrivals);
        // One lookup for each connection: nothing looks the name up again after the check.
        assert_eq!(resolver.lookups.load(Ordering::SeqCst), 3);
    }
}

/// Whether a source whose configuration has these URLs and networks reaches a URL.
async fn check_source(urls: &[&str], networks: &PrivateNetworks, url: &str, is_reached: bool) {
    let trap = Trap::open().await;
    let egress = trap.egress(&TestResolver::default());
    let reach = Reach::for_source(urls.iter().copied(), networks.clone());
    let outcome = sent(&egress, reach, &Method::GET, &Url::parse(url).unwrap()).await;
    assert_eq!(outcome.is_ok(), is_reached, "{url} for {urls:?} {networks:?}: {outcome:?}");
    assert_eq!(trap.counts().1, usize::from(is_reached), "{url} for {urls:?}");
}

#[tokio::test]
async fn a_source_names_a_host_with_its_port_and_for_itself_alone() {
    let named = ["http://127.0.0.1:8080/mcp", "http://localhost:9090/", "http://private.example/"];
    let check = |url: &'static str, is_reached| {
        check_source(&named, &PrivateNetworks::None, url, is_reached)
    };
    check("http://127.0.0.1:8080/", true).await;
    check("http://127.1:8080/other", true).await;
    check("http://localhost:9090/", true).await;
    check("http://LocalHost.:9090/", true).await;
    for url in [
        "http://127.0.0.1:8081/",
        "http://127.0.0.1/",
        "http://127.0.0.2:8080/",
        "http://localhost:8080/",
        "http://a.localhost:9090/",
        "http://[::1]:9090/",
        "http://[::ffff:127.0.0.1]:8080/",
        "http://localtest.example:9090/",
        "http://private.example/",
    ] {
        check(url, false).await;
    }
    for to in ["http://127.0.0.1:8080/", "http://localhost:9090/", "http://private.example/"] {
        let entry = redirecting(302, to);
        check_source(&named, &PrivateNetworks::None, entry.as_str(), false).await;
        let has_address = !to.contains("private");
        let entry = Url::parse(to).unwrap().join("/redirect/302?2f61").unwrap();
        // Within its own origin, a named server redirects as it likes.
        let entry = entry.as_str().replace("2f61", "2f-61");
        check_source(&named, &PrivateNetworks::None, &entry, has_address).await;
    }
}

#[tokio::test]
async fn networks_open_names_and_redirects_and_no_metadata() {
    let listed = |texts: &[&str]| -> PrivateNetworks {
        PrivateNetworks::Listed(texts.iter().map(|text| text.parse::<IpNet>().unwrap()).collect())
    };
    let ten = listed(&["10.0.0.0/8", "fd00::/8"]);
    for (url, by_list, by_all) in [
        ("http://private.example/", true, true),
        ("http://unique.example/", true, true),
        ("http://10.0.0.5/", true, true),
        ("http://many.example/", true, true),
        ("http://bücher.example/", false, true),
        ("http://localtest.example/", false, true),
        ("http://127.0.0.1/", false, true),
        ("http://metadata.google.internal/", false, false),
        ("http://169.254.169.254/", false, false),
        ("http://[fe80::1]/", false, false),
        ("http://sixtofour.example/", false, false),
    ] {
        let redirected = redirecting(302, Url::parse(url).unwrap().as_str());
        for url in [url, redirected.as_str()] {
            check_source(&[], &PrivateNetworks::None, url, false).await;
            check_source(&[], &ten, url, by_list).await;
            check_source(&[], &PrivateNetworks::All, url, by_all).await;
        }
    }
    let metadata = listed(&["169.254.169.254/32"]);
    check_source(&[], &metadata, "http://metadata.google.internal/", true).await;
    check_source(
        &["http://169.254.169.254/"],
        &PrivateNetworks::None,
        "http://169.254.169.254/",
        true,
    )
    .await;
}
