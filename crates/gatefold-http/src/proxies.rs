//! Where a request comes from, as far as proxies say it that are trusted to.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use gatefold_egress::IpNet;
use http::HeaderMap;

/// What proxies add the address to from which a request came to them.
const HEADER: &str = "x-forwarded-for";

/// The most addresses of the header that are looked at. No request passes as many proxies.
const HOPS: usize = 32;

/// The other end of a connection.
pub(crate) struct ConnectionPeer {
    pub(crate) address: SocketAddr,
    pub(crate) trusted: Arc<[IpNet]>,
}

impl ConnectionPeer {
    /// Where a request comes from: the last address on its way that is no trusted proxy's. What
    /// stands before it in the header may be made up.
    pub(crate) fn client(&self, headers: &HeaderMap) -> SocketAddr {
        let mut address = self.address.ip().to_canonical();
        let said = headers.get_all(HEADER).iter().rev();
        let hops = said.flat_map(|value| value.as_bytes().rsplit(|byte| *byte == b',')).take(HOPS);
        for hop in hops {
            let is_proxy = self.trusted.iter().any(|network| network.contains(&address));
            let Some(before) = hop_address(hop).filter(|_| is_proxy) else { break };
            address = before.to_canonical();
        }
        SocketAddr::new(address, self.address.port())
    }
}

/// An address, with or without a port.
fn hop_address(hop: &[u8]) -> Option<IpAddr> {
    let text = std::str::from_utf8(hop).ok()?.trim();
    let with_port = || text.parse::<SocketAddr>().ok().map(|address| address.ip());
    let bare = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(text);
    bare.parse().ok().or_else(with_port)
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    #[track_caller]
    fn check(trusted: &[&str], peer: &str, said: &[&str], expected: &str) {
        let trusted = trusted.iter().map(|network| network.parse().unwrap()).collect();
        let peer = ConnectionPeer { address: SocketAddr::new(peer.parse().unwrap(), 1), trusted };
        let mut headers = HeaderMap::new();
        for value in said {
            headers.append(HEADER, HeaderValue::from_str(value).unwrap());
        }
        assert_eq!(peer.client(&headers).ip().to_string(), expected, "{said:?}");
    }

    #[test]
    fn nobody_but_a_trusted_proxy_says_where_a_request_comes_from() {
        check(&[], "127.0.0.1", &["203.0.113.9"], "127.0.0.1");
        check(&["10.0.0.0/8"], "192.0.2.1", &["203.0.113.9"], "192.0.2.1");
        check(&["10.0.0.0/8"], "10.1.2.3", &[], "10.1.2.3");
        check(&["10.0.0.0/8"], "10.1.2.3", &["203.0.113.9"], "203.0.113.9");
        check(&["10.0.0.0/8"], "::ffff:10.1.2.3", &["203.0.113.9"], "203.0.113.9");
    }

    #[test]
    fn what_a_client_writes_itself_counts_for_nothing() {
        let trusted = ["127.0.0.1/32", "10.0.0.0/8"];
        check(&trusted, "127.0.0.1", &["198.51.100.1, 203.0.113.9"], "203.0.113.9");
        check(&trusted, "127.0.0.1", &["198.51.100.1", "203.0.113.9"], "203.0.113.9");
        check(&trusted, "127.0.0.1", &["198.51.100.1, 203.0.113.9, 10.0.0.7"], "203.0.113.9");
        check(&trusted, "127.0.0.1", &["203.0.113.9", "10.0.0.8,10.0.0.7"], "203.0.113.9");
        check(&trusted, "127.0.0.1", &["10.0.0.8, 10.0.0.7"], "10.0.0.8");
        check(&trusted, "127.0.0.1", &["203.0.113.9, unknown, 10.0.0.7"], "10.0.0.7");
        check(&trusted, "127.0.0.1", &["203.0.113.9, "], "127.0.0.1");
        let long = vec!["10.0.0.7"; 100].join(",");
        check(&trusted, "127.0.0.1", &["203.0.113.9", &long], "10.0.0.7");
    }

    #[test]
    fn an_address_is_read_as_proxies_write_it() {
        let trusted = ["127.0.0.1/32"];
        check(&trusted, "127.0.0.1", &["203.0.113.9:4711"], "203.0.113.9");
        check(&trusted, "127.0.0.1", &["2001:db8::1"], "2001:db8::1");
        check(&trusted, "127.0.0.1", &["[2001:db8::1]"], "2001:db8::1");
        check(&trusted, "127.0.0.1", &["[2001:db8::1]:443"], "2001:db8::1");
        check(&trusted, "127.0.0.1", &["::ffff:203.0.113.9"], "203.0.113.9");
    }
}
