//! The proxy that requests go through, as environment variables name it.

use std::time::Duration;

use gatefold::Environment;
use tokio::net::TcpStream;
use tokio::time::timeout;

/// How long a proxy may take to accept a connection.
const CONNECT_DEADLINE: Duration = Duration::from_secs(2);

/// A proxy that does not accept connections.
pub(super) struct DeadProxy {
    /// Host and port, without credentials.
    pub(super) address: String,
    pub(super) variable: &'static str,
}

/// The proxy for a URL, if there is one and nobody answers there. Loopback and other addresses are
/// treated alike, as the client does.
pub(super) async fn dead(url: &str, environment: &Environment) -> Option<DeadProxy> {
    let (variable, address) = chosen(url, environment)?;
    let connected = timeout(CONNECT_DEADLINE, TcpStream::connect(&address)).await;
    let is_dead = !matches!(connected, Ok(Ok(_)));
    is_dead.then_some(DeadProxy { address, variable })
}

/// The variable that holds the proxy for a URL, and the proxy's address.
fn chosen(url: &str, environment: &Environment) -> Option<(&'static str, String)> {
    let url = url.parse::<http::Uri>().ok()?;
    let own = match url.scheme_str() {
        Some("https") => ["HTTPS_PROXY", "https_proxy"],
        _ => ["HTTP_PROXY", "http_proxy"],
    };
    let set = |name: &'static str| Some((name, environment.get_filled(name)?));
    let (variable, proxy) = own.into_iter().chain(["ALL_PROXY", "all_proxy"]).find_map(set)?;
    let exceptions = environment.get("NO_PROXY").or_else(|| environment.get("no_proxy"));
    if is_excepted(url.host().unwrap_or_default(), exceptions.unwrap_or_default()) {
        return None;
    }
    Some((variable, address(proxy)?))
}

/// Host and port of a proxy. One without a scheme speaks HTTP.
fn address(proxy: &str) -> Option<String> {
    let (scheme, rest) = proxy.split_once("://").unwrap_or(("http", proxy));
    let authority = rest.split(['/', '?', '#']).next()?;
    let authority = authority.rsplit('@').next()?;
    let port = match scheme {
        "https" => 443,
        "http" => 80,
        _ => 1080,
    };
    let has_port = authority.rsplit(':').next().is_some_and(|port| port.parse::<u16>().is_ok());
    let is_bare_ipv6 = authority.ends_with(']');
    let is_whole = has_port && authority.contains(':') && !is_bare_ipv6;
    Some(if is_whole { authority.to_owned() } else { format!("{authority}:{port}") })
}

/// Whether a host is reached without the proxy. A range of addresses counts as an exception, so
/// that a proxy is only blamed if it is certainly used.
fn is_excepted(host: &str, exceptions: &str) -> bool {
    let host = host.trim_matches(['[', ']']).to_ascii_lowercase();
    exceptions.split(',').map(|one| one.trim().to_ascii_lowercase()).any(|one| {
        let domain = one.trim_start_matches('.');
        let is_range = one.contains('/') && host.parse::<std::net::IpAddr>().is_ok();
        one == "*"
            || is_range
            || !domain.is_empty() && (host == domain || host.ends_with(&format!(".{domain}")))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_proxy_is_the_one_that_requests_take() {
        for (variables, url, expected) in [
            (
                &[("HTTPS_PROXY", "http://u:p@proxy.example:3128/")][..],
                "https://h/mcp",
                "proxy.example:3128",
            ),
            (&[("https_proxy", "proxy.example")], "https://h/mcp", "proxy.example:80"),
            (&[("HTTPS_PROXY", "http://p:1")], "http://h/mcp", ""),
            (&[("ALL_PROXY", "socks5://p")], "http://h/mcp", "p:1080"),
            (&[("HTTP_PROXY", "http://[::1]")], "http://h/mcp", "[::1]:80"),
            (
                &[("HTTP_PROXY", "http://p:1"), ("NO_PROXY", "a, .h.example")],
                "http://x.h.example/",
                "",
            ),
            (&[("HTTP_PROXY", "http://p:1"), ("no_proxy", "*")], "http://h/", ""),
            (&[("HTTP_PROXY", "http://p:1"), ("NO_PROXY", "10.0.0.0/8")], "http://10.1.2.3/", ""),
            (&[("HTTP_PROXY", "http://p:1"), ("NO_PROXY", "other")], "http://h/", "p:1"),
            (&[], "http://h/", ""),
        ] {
            let environment = Environment::new(variables.iter().copied(), "/");
            let found = chosen(url, &environment).map(|(_, address)| address);
            assert_eq!(found.unwrap_or_default(), expected, "{variables:?} {url}");
        }
    }
}
