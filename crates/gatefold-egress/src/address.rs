use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use reqwest::Url;

/// Which addresses may be reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AddressPolicy {
    /// All of them: for URLs that the operator wrote.
    Any,
    /// Only those on the public Internet: for URLs that a model or a stranger may influence.
    PublicOnly,
}

impl AddressPolicy {
    pub fn allows(self, address: IpAddr) -> bool {
        match (self, address) {
            (Self::Any, _) => true,
            (Self::PublicOnly, IpAddr::V4(address)) => is_public_v4(address),
            (Self::PublicOnly, IpAddr::V6(address)) => is_public_v6(address),
        }
    }

    /// Whether a URL's own IP address may be reached. A host name is checked when it is resolved.
    pub(crate) fn allows_host(self, url: &Url) -> bool {
        literal_address(url).is_none_or(|address| self.allows(address))
    }
}

/// The IP address in a URL. `Url` has already normalised forms such as `127.1` or `0x7f000001`.
fn literal_address(url: &Url) -> Option<IpAddr> {
    url.host_str()?.trim_start_matches('[').trim_end_matches(']').parse().ok()
}

/// Non-public addresses: IANA's special-purpose registry (RFC 6890 and its updates), multicast, and
/// one public address on which a cloud serves its machines' metadata.
const SPECIAL_V4: [(Ipv4Addr, u32); 17] = [
    (Ipv4Addr::UNSPECIFIED, 8),
    (Ipv4Addr::new(10, 0, 0, 0), 8),
    (Ipv4Addr::new(100, 64, 0, 0), 10),
    (Ipv4Addr::new(127, 0, 0, 0), 8),
    // Link-local, and the metadata service of most clouds.
    (Ipv4Addr::new(169, 254, 0, 0), 16),
    // Azure's platform service.
    (Ipv4Addr::new(168, 63, 129, 16), 32),
    (Ipv4Addr::new(172, 16, 0, 0), 12),
    (Ipv4Addr::new(192, 0, 0, 0), 24),
    (Ipv4Addr::new(192, 0, 2, 0), 24),
    // Relays from IPv4 to IPv6, withdrawn by RFC 7526.
    (Ipv4Addr::new(192, 88, 99, 0), 24),
    (Ipv4Addr::new(192, 168, 0, 0), 16),
    (Ipv4Addr::new(198, 18, 0, 0), 15),
    (Ipv4Addr::new(198, 51, 100, 0), 24),
    (Ipv4Addr::new(203, 0, 113, 0), 24),
    (Ipv4Addr::new(224, 0, 0, 0), 4),
    (Ipv4Addr::new(240, 0, 0, 0), 4),
    (Ipv4Addr::BROADCAST, 32),
];

/// The parts of 2000::/3 that are not public, or that lead to IPv4 addresses by another route.
const SPECIAL_V6: [(Ipv6Addr, u32); 4] = [
    // Protocol assignments, including Teredo and ORCHID.
    (Ipv6Addr::new(0x2001, 0, 0, 0, 0, 0, 0, 0), 23),
    (Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 0), 32),
    // 6to4 carries an IPv4 address.
    (Ipv6Addr::new(0x2002, 0, 0, 0, 0, 0, 0, 0), 16),
    (Ipv6Addr::new(0x3fff, 0, 0, 0, 0, 0, 0, 0), 20),
];

/// All global unicast addresses assigned by IANA. Mapped, unique-local, link-local, multicast and
/// translated addresses lie outside.
const GLOBAL_V6: (Ipv6Addr, u32) = (Ipv6Addr::new(0x2000, 0, 0, 0, 0, 0, 0, 0), 3);

/// NAT64 (RFC 6052): on IPv6-only networks, this is how the public IPv4 is reached.
const NAT64: (Ipv6Addr, u32) = (Ipv6Addr::new(0x64, 0xff9b, 0, 0, 0, 0, 0, 0), 96);

fn is_public_v4(address: Ipv4Addr) -> bool {
    !SPECIAL_V4.iter().any(|&(network, length)| {
        let mask = u32::MAX << (Ipv4Addr::BITS - length);
        address.to_bits() & mask == network.to_bits()
    })
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    let lies_in = |(network, length): (Ipv6Addr, u32)| {
        let mask = u128::MAX << (Ipv6Addr::BITS - length);
        address.to_bits() & mask == network.to_bits()
    };
    if lies_in(NAT64) {
        let [.., a, b, c, d] = address.octets();
        return is_public_v4(Ipv4Addr::new(a, b, c, d));
    }
    lies_in(GLOBAL_V6) && !SPECIAL_V6.into_iter().any(lies_in)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(allowed: bool, addresses: &[&str]) {
        for text in addresses {
            let address: IpAddr = text.parse().unwrap();
            assert_eq!(AddressPolicy::PublicOnly.allows(address), allowed, "{text}");
            assert!(AddressPolicy::Any.allows(address), "{text}");
        }
    }

    #[test]
    fn public_addresses_may_be_reached() {
        check(
            true,
            &[
                "1.1.1.1",
                "8.8.8.8",
                "100.63.255.255",
                "100.128.0.0",
                "128.0.0.1",
                "169.253.255.255",
                "172.15.255.255",
                "172.32.0.1",
                "192.0.1.1",
                "192.167.1.1",
                "198.17.0.1",
                "198.20.0.1",
                "223.255.255.255",
                "2606:4700:4700::1111",
                "2001:4860:4860::8888",
                "2a00:1450::1",
                "64:ff9b::808:808",
            ],
        );
    }

    #[test]
    fn internal_addresses_are_refused() {
        check(
            false,
            &[
                "0.0.0.0",
                "0.1.2.3",
                "10.0.0.1",
                "10.255.255.255",
                "100.64.0.1",
                "100.100.100.200",
                "127.0.0.1",
                "127.255.255.254",
                "168.63.129.16",
                "169.254.169.254",
                "172.16.0.1",
                "172.31.255.255",
                "192.0.0.192",
                "192.0.2.1",
                "192.88.99.1",
                "192.168.1.1",
                "198.18.0.1",
                "198.19.255.255",
                "198.51.100.1",
                "203.0.113.1",
                "224.0.0.1",
                "239.255.255.255",
                "240.0.0.1",
                "255.255.255.255",
            ],
        );
    }

    #[test]
    fn internal_addresses_are_refused_in_ipv6_too() {
        check(
            false,
            &[
                "::",
                "::1",
                "::127.0.0.1",
                "::ffff:127.0.0.1",
                "::ffff:10.0.0.1",
                "::ffff:8.8.8.8",
                "64:ff9b::7f00:1",
                "64:ff9b::a9fe:a9fe",
                "64:ff9b:1::808:808",
                "100::1",
                "2001::1",
                "2001:10::1",
                "2001:db8::1",
                "2002:7f00:1::",
                "2002:808:808::1",
                "3fff::1",
                "4000::1",
                "fc00::1",
                "fd00:ec2::254",
                "fe80::1",
                "fec0::1",
                "ff02::1",
            ],
        );
    }

    #[test]
    fn an_address_is_seen_however_it_is_written() {
        for url in [
            "http://127.0.0.1/",
            "http://127.1/",
            "http://127.0.0.1./",
            "http://2130706433/",
            "http://0x7f000001/",
            "http://0177.0.0.1/",
            "http://[::1]:8080/",
            "http://[::ffff:127.0.0.1]/",
            "http://user@10.0.0.1/",
            "http://①②⑦.0.0.1/",
        ] {
            let parsed = Url::parse(url).unwrap();
            assert!(!AddressPolicy::PublicOnly.allows_host(&parsed), "{url}");
            assert!(AddressPolicy::Any.allows_host(&parsed), "{url}");
        }
        let named = Url::parse("http://example.com/").unwrap();
        assert!(AddressPolicy::PublicOnly.allows_host(&named));
    }
}
