use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// What an address is for. Only public ones are reached unless a person says otherwise.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AddressKind {
    Public,
    /// This machine.
    Loopback,
    /// A network that is not on the Internet.
    Private,
    /// Only the machines on the same cable, so to speak.
    LinkLocal,
    /// A cloud's service that gives its machines their credentials.
    Metadata,
    /// Reserved for documentation, tests, multicast, translation or the future.
    Reserved,
}

impl AddressKind {
    pub fn of(address: IpAddr) -> Self {
        match address {
            IpAddr::V4(address) => kind_of_v4(address),
            IpAddr::V6(address) => kind_of_v6(address),
        }
    }

    /// An adjective for messages.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Public => "public",
            Self::Loopback => "loopback",
            Self::Private => "private",
            Self::LinkLocal => "link-local",
            Self::Metadata => "metadata",
            Self::Reserved => "reserved",
        }
    }
}

type NetworkV4 = (Ipv4Addr, u32);
type NetworkV6 = (Ipv6Addr, u32);

/// Where clouds serve their machines' metadata, beside link-local addresses.
const METADATA_V4: [Ipv4Addr; 5] = [
    Ipv4Addr::new(169, 254, 169, 254),
    // AWS, for containers.
    Ipv4Addr::new(169, 254, 170, 2),
    // Azure's platform service, on a public address.
    Ipv4Addr::new(168, 63, 129, 16),
    // Alibaba.
    Ipv4Addr::new(100, 100, 100, 200),
    // Oracle.
    Ipv4Addr::new(192, 0, 0, 192),
];

const METADATA_V6: [Ipv6Addr; 3] = [
    // AWS, for machines and for containers.
    Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254),
    Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x23),
    // Google.
    Ipv6Addr::new(0xfd20, 0xce, 0, 0, 0, 0, 0, 0x254),
];

const LOOPBACK_V4: NetworkV4 = (Ipv4Addr::new(127, 0, 0, 0), 8);
const LINK_LOCAL_V4: NetworkV4 = (Ipv4Addr::new(169, 254, 0, 0), 16);
const LINK_LOCAL_V6: NetworkV6 = (Ipv6Addr::new(0xfe80, 0, 0, 0, 0, 0, 0, 0), 10);

/// RFC 1918, and the networks behind a provider's translation (RFC 6598).
const PRIVATE_V4: [NetworkV4; 4] = [
    (Ipv4Addr::new(10, 0, 0, 0), 8),
    (Ipv4Addr::new(100, 64, 0, 0), 10),
    (Ipv4Addr::new(172, 16, 0, 0), 12),
    (Ipv4Addr::new(192, 168, 0, 0), 16),
];

/// Unique local addresses (RFC 4193).
const PRIVATE_V6: NetworkV6 = (Ipv6Addr::new(0xfc00, 0, 0, 0, 0, 0, 0, 0), 7);

/// What else IANA's special-purpose registry names (RFC 6890 and its updates), and multicast.
const RESERVED_V4: [NetworkV4; 9] = [
    (Ipv4Addr::UNSPECIFIED, 8),
    (Ipv4Addr::new(192, 0, 0, 0), 24),
    (Ipv4Addr::new(192, 0, 2, 0), 24),
    // Relays from IPv4 to IPv6, withdrawn by RFC 7526.
    (Ipv4Addr::new(192, 88, 99, 0), 24),
    (Ipv4Addr::new(198, 18, 0, 0), 15),
    (Ipv4Addr::new(198, 51, 100, 0), 24),
    (Ipv4Addr::new(203, 0, 113, 0), 24),
    (Ipv4Addr::new(224, 0, 0, 0), 4),
    (Ipv4Addr::new(240, 0, 0, 0), 4),
];

/// The parts of 2000::/3 that are not public.
const RESERVED_V6: [NetworkV6; 3] = [
    // Protocol assignments, including ORCHID.
    (Ipv6Addr::new(0x2001, 0, 0, 0, 0, 0, 0, 0), 23),
    (Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 0), 32),
    (Ipv6Addr::new(0x3fff, 0, 0, 0, 0, 0, 0, 0), 20),
];

/// All global unicast addresses assigned by IANA. Mapped, unique-local, link-local, multicast and
/// translated addresses lie outside.
const GLOBAL_V6: NetworkV6 = (Ipv6Addr::new(0x2000, 0, 0, 0, 0, 0, 0, 0), 3);

/// NAT64 (RFC 6052): on IPv6-only networks, this is how the public IPv4 is reached.
const NAT64: NetworkV6 = (Ipv6Addr::new(0x64, 0xff9b, 0, 0, 0, 0, 0, 0), 96);
/// The same for networks of one's own (RFC 8215), where it leads to private addresses too.
const LOCAL_NAT64: NetworkV6 = (Ipv6Addr::new(0x64, 0xff9b, 1, 0, 0, 0, 0, 0), 48);
/// IPv4 addresses written as IPv6 (RFC 4291, section 2.5.5).
const COMPATIBLE: NetworkV6 = (Ipv6Addr::UNSPECIFIED, 96);
const MAPPED: NetworkV6 = (Ipv6Addr::new(0, 0, 0, 0, 0, 0xffff, 0, 0), 96);
/// The withdrawn form of the same, for stateless translation.
const TRANSLATED: NetworkV6 = (Ipv6Addr::new(0, 0, 0, 0, 0xffff, 0, 0, 0), 96);
/// The next two carry an IPv4 address in their middle, the second one inverted.
const SIX_TO_FOUR: NetworkV6 = (Ipv6Addr::new(0x2002, 0, 0, 0, 0, 0, 0, 0), 16);
const TEREDO: NetworkV6 = (Ipv6Addr::new(0x2001, 0, 0, 0, 0, 0, 0, 0), 32);

fn kind_of_v4(address: Ipv4Addr) -> AddressKind {
    let lies_in = |(network, length): NetworkV4| {
        let mask = u32::MAX << (Ipv4Addr::BITS - length);
        address.to_bits() & mask == network.to_bits()
    };
    if METADATA_V4.contains(&address) {
        AddressKind::Metadata
    } else if lies_in(LOOPBACK_V4) {
        AddressKind::Loopback
    } else if lies_in(LINK_LOCAL_V4) {
        AddressKind::LinkLocal
    } else if PRIVATE_V4.into_iter().any(lies_in) {
        AddressKind::Private
    } else if RESERVED_V4.into_iter().any(lies_in) {
        AddressKind::Reserved
    } else {
        AddressKind::Public
    }
}

fn kind_of_v6(address: Ipv6Addr) -> AddressKind {
    let lies_in = |network: NetworkV6| lies_in_v6(address, network);
    if address == Ipv6Addr::LOCALHOST {
        AddressKind::Loopback
    } else if METADATA_V6.contains(&address) {
        AddressKind::Metadata
    } else if let Some(within) = address_within(address) {
        match kind_of_v4(within) {
            // Every other such form leads there by a way that nobody needs any more.
            AddressKind::Public if !lies_in(NAT64) => AddressKind::Reserved,
            kind => kind,
        }
    } else if lies_in(LINK_LOCAL_V6) {
        AddressKind::LinkLocal
    } else if lies_in(PRIVATE_V6) {
        AddressKind::Private
    } else if lies_in(GLOBAL_V6) && !RESERVED_V6.into_iter().any(lies_in) {
        AddressKind::Public
    } else {
        AddressKind::Reserved
    }
}

/// The IPv4 address to which an IPv6 address leads.
fn address_within(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let lies_in = |network: NetworkV6| lies_in_v6(address, network);
    let octets = address.octets();
    let [.., a, b, c, d] = octets;
    if [NAT64, LOCAL_NAT64, COMPATIBLE, MAPPED, TRANSLATED].into_iter().any(lies_in) {
        Some(Ipv4Addr::new(a, b, c, d))
    } else if lies_in(SIX_TO_FOUR) {
        Some(Ipv4Addr::new(octets[2], octets[3], octets[4], octets[5]))
    } else if lies_in(TEREDO) {
        Some(Ipv4Addr::new(!a, !b, !c, !d))
    } else {
        None
    }
}

fn lies_in_v6(address: Ipv6Addr, (network, length): NetworkV6) -> bool {
    let mask = u128::MAX << (Ipv6Addr::BITS - length);
    address.to_bits() & mask == network.to_bits()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(is_public: bool, addresses: &[&str]) {
        for text in addresses {
            let kind = AddressKind::of(text.parse().unwrap());
            assert_eq!(kind == AddressKind::Public, is_public, "{text}: {kind:?}");
        }
    }

    #[track_caller]
    fn check_kind(expected: AddressKind, addresses: &[&str]) {
        for text in addresses {
            assert_eq!(AddressKind::of(text.parse().unwrap()), expected, "{text}");
        }
    }

    #[test]
    fn an_address_has_a_kind_however_it_is_wrapped() {
        let loopback = ["127.0.0.1", "::1", "::ffff:127.0.0.1", "::127.0.0.1", "64:ff9b::7f00:1"];
        check_kind(AddressKind::Loopback, &loopback);
        check_kind(AddressKind::Loopback, &["2002:7f00:1::", "2001::80ff:fffe"]);
        let private = ["10.0.0.1", "fc00::1", "64:ff9b:1::a00:1", "::ffff:0:10.0.0.1"];
        check_kind(AddressKind::Private, &private);
        let metadata = ["169.254.169.254", "168.63.129.16", "fd00:ec2::254", "64:ff9b::a9fe:a9fe"];
        check_kind(AddressKind::Metadata, &metadata);
        check_kind(AddressKind::LinkLocal, &["169.254.1.1", "fe80::1", "2002:a9fe:101::"]);
        let reserved = ["0.0.0.0", "::", "240.0.0.1", "::ffff:8.8.8.8", "2002:808:808::1"];
        check_kind(AddressKind::Reserved, &reserved);
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
}
