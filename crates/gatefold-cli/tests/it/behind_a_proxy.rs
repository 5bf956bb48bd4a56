//! Limits on addresses where requests come through a proxy.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use serde_json::json;

use crate::process::{Gateway, LIMIT, two_sources};
use crate::scratch::Scratch;

const PUBLIC: &str = "https://tools.example";

/// How many registrations one address may make in an hour.
const REGISTRATIONS: usize = 10;

/// The status of a registration that came from there, as the header says.
fn register(gateway: &Gateway, from: &str) -> u16 {
    let mut stream = TcpStream::connect(gateway.address()).unwrap();
    stream.set_read_timeout(Some(LIMIT)).unwrap();
    let body = json!({"redirect_uris": ["http://127.0.0.1/back"], "client_name": "x"}).to_string();
    let request = format!(
        "POST /oauth/register HTTP/1.1\r\nhost: tools.example\r\nx-forwarded-for: {from}\r\n\
         content-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer.split(' ').nth(1).unwrap().parse().unwrap()
}

async fn serve(further: &str) -> (Scratch, Gateway) {
    let scratch = Scratch::new();
    let server = format!(
        "[server]\nauthentication = 'token'\npublic_url = '{PUBLIC}'\n\
         sign_in = {{ registration = true }}\n{further}\n"
    );
    scratch.write("gatefold.toml", format!("{server}{}", two_sources(&scratch)));
    let gateway = Gateway::serve(&scratch).await;
    (scratch, gateway)
}

#[tokio::test(flavor = "multi_thread")]
async fn each_address_behind_a_trusted_proxy_has_limits_of_its_own() {
    let (_scratch, gateway) = serve("trusted_proxies = ['127.0.0.1', '10.0.0.0/8']").await;
    for made in 0..REGISTRATIONS {
        let made_up = format!("198.51.100.{made}, 203.0.113.9");
        assert_eq!(register(&gateway, &made_up), 201, "{made}");
    }
    assert_eq!(register(&gateway, "203.0.113.9"), 429);
    assert_eq!(register(&gateway, "203.0.113.10, 203.0.113.9, 10.0.0.1"), 429);
    assert_eq!(register(&gateway, "203.0.113.10"), 201);
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_else_is_believed() {
    let (_scratch, gateway) = serve("").await;
    for made in 0..REGISTRATIONS {
        assert_eq!(register(&gateway, &format!("203.0.113.{made}")), 201, "{made}");
    }
    assert_eq!(register(&gateway, "203.0.113.200"), 429);
}
