//! Who may be reached.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use ipnet::IpNet;
use reqwest::Url;

use crate::AddressKind;

/// The name of this machine, which leads to loopback addresses alone (RFC 6761, section 6.3).
const LOCALHOST: &str = "localhost";

/// The hosts that a client may reach: those on the public Internet, and what the source's own
/// configuration names or allows.
#[derive(Debug, Clone)]
pub struct Reach {
    is_open: bool,
    /// The hosts and ports that the configuration names by address, or as `localhost`.
    named: Vec<NamedHost>,
    private: PrivateNetworks,
}

/// The addresses that are not public and may be reached by any name, and by redirects.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum PrivateNetworks {
    #[default]
    None,
    /// All but link-local addresses and those of clouds' metadata services. These must be listed.
    All,
    Listed(Vec<IpNet>),
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct NamedHost {
    host: HostForm,
    port: u16,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum HostForm {
    Address(IpAddr),
    Localhost,
    Name,
}

/// A host that may not be reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForbiddenHost {
    host: String,
    address: IpAddr,
    kind: AddressKind,
    fix: ReachFix,
}

/// How a person can allow a host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ReachFix {
    AllowAll,
    ListNetwork,
    /// `localhost` must not lead anywhere else.
    Never,
}

impl Reach {
    /// Only hosts on the public Internet.
    pub fn public() -> Self {
        Self { is_open: false, named: Vec::new(), private: PrivateNetworks::None }
    }

    /// Every host. Only for addresses that a person gives and nobody else influences.
    pub fn any() -> Self {
        Self { is_open: true, ..Self::public() }
    }

    /// What a source may reach whose configuration has these URLs and allows these networks.
    pub fn for_source<'u>(
        urls: impl IntoIterator<Item = &'u str>,
        private: PrivateNetworks,
    ) -> Self {
        let urls = urls.into_iter().filter_map(|url| Url::parse(url).ok());
        urls.fold(Self::public().allowing(private), |reach, url| reach.naming(&url))
    }

    pub(crate) fn is_any(&self) -> bool {
        self.is_open
    }

    /// The host and port of a URL too, if the URL has a literal address or `localhost`.
    ///
    /// Only for URLs from the source's own configuration, never for one that a description or an
    /// answer contains.
    #[must_use]
    pub fn naming(mut self, url: &Url) -> Self {
        let host = HostForm::of(url.host_str().unwrap_or_default());
        if let (false, Some(port)) = (host == HostForm::Name, url.port_or_known_default()) {
            self.named.push(NamedHost { host, port });
        }
        self
    }

    /// These networks too.
    #[must_use]
    pub fn allowing(mut self, private: PrivateNetworks) -> Self {
        self.private = private;
        self
    }

    /// Judges one address of a host before a connection to it.
    pub(crate) fn admit(
        &self,
        host: &str,
        port: u16,
        address: IpAddr,
    ) -> Result<(), ForbiddenHost> {
        if self.is_open {
            return Ok(());
        }
        let (form, kind) = (HostForm::of(host), AddressKind::of(address));
        let refused = |fix| Err(ForbiddenHost { host: host.to_owned(), address, kind, fix });
        if form == HostForm::Localhost && kind != AddressKind::Loopback {
            return refused(ReachFix::Never);
        }
        let is_named = || self.named.contains(&NamedHost { host: form, port });
        if kind == AddressKind::Public || self.private.admit(address, kind) || is_named() {
            return Ok(());
        }
        refused(self.private.fix(kind))
    }

    /// Judges a redirect to another origin. Its literal address or `localhost` may be reached only
    /// if a network allows that, since the configuration does not name it for this purpose.
    pub(crate) fn admit_redirect(&self, to: &Url) -> Result<(), ForbiddenHost> {
        let unnamed = Self { named: Vec::new(), ..self.clone() };
        let host = to.host_str().unwrap_or_default();
        let port = to.port_or_known_default().unwrap_or_default();
        match HostForm::of(host) {
            HostForm::Address(address) => unnamed.admit(host, port, address),
            HostForm::Localhost => {
                let v4 = unnamed.admit(host, port, Ipv4Addr::LOCALHOST.into());
                v4.or_else(|_| unnamed.admit(host, port, Ipv6Addr::LOCALHOST.into()))
            }
            HostForm::Name => Ok(()),
        }
    }
}

impl PrivateNetworks {
    fn admit(&self, address: IpAddr, kind: AddressKind) -> bool {
        match self {
            Self::None => false,
            Self::All => !matches!(kind, AddressKind::LinkLocal | AddressKind::Metadata),
            Self::Listed(networks) => {
                let address = address.to_canonical();
                networks.iter().any(|network| network.contains(&address))
            }
        }
    }

    fn fix(&self, kind: AddressKind) -> ReachFix {
        match (self, kind) {
            (Self::None, AddressKind::LinkLocal | AddressKind::Metadata)
            | (Self::All | Self::Listed(_), _) => ReachFix::ListNetwork,
            (Self::None, _) => ReachFix::AllowAll,
        }
    }
}

impl HostForm {
    /// `Url` has already normalised forms such as `127.1` or `0x7f000001`.
    fn of(host: &str) -> Self {
        if let Some(address) = literal_address(host) {
            return Self::Address(address);
        }
        let name = host.strip_suffix('.').unwrap_or(host);
        if name.eq_ignore_ascii_case(LOCALHOST) { Self::Localhost } else { Self::Name }
    }
}

/// The IP address in a URL's host.
pub(crate) fn literal_address(host: &str) -> Option<IpAddr> {
    host.trim_start_matches('[').trim_end_matches(']').parse().ok()
}

impl ForbiddenHost {
    /// What the host is.
    pub fn fault(&self) -> String {
        let Self { host, address, kind, fix } = self;
        let kind = kind.as_str();
        let end = if *fix == ReachFix::Never { ", which is not this machine" } else { "" };
        match literal_address(host) {
            Some(_) => format!("`{host}` is a {kind} address"),
            None => format!("`{host}` leads to the {kind} address {address}{end}"),
        }
    }

    /// How a person allows it, unless nothing does.
    pub fn fix(&self) -> Option<&'static str> {
        match self.fix {
            ReachFix::AllowAll => {
                Some("set `allow_private = true` for this source if that is meant")
            }
            ReachFix::ListNetwork => {
                Some("list its network in `allow_private` for this source if that is meant")
            }
            ReachFix::Never => None,
        }
    }
}

impl fmt::Display for ForbiddenHost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.fault())?;
        self.fix().map_or(Ok(()), |fix| write!(f, "; {fix}"))
    }
}

impl std::error::Error for ForbiddenHost {}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> Url {
        Url::parse(text).unwrap()
    }

    #[track_caller]
    fn check(reach: &Reach, host: &str, port: u16, address: &str, expected: &str) {
        let judged = reach.admit(host, port, address.parse().unwrap());
        let judged = judged.err().map(|forbidden| forbidden.to_string()).unwrap_or_default();
        assert_eq!(judged, expected, "{host}:{port}");
    }

    #[test]
    fn a_url_names_its_address_and_port_alone() {
        let reach = Reach::public()
            .naming(&url("http://127.1:8080/"))
            .naming(&url("http://LOCALHOST.:8081/"))
            .naming(&url("https://mcp.internal/"));
        check(&reach, "127.0.0.1", 8080, "127.0.0.1", "");
        check(&reach, "localhost", 8081, "::1", "");
        check(&reach, "mcp.internal", 443, "8.8.8.8", "");
        let fix = "; set `allow_private = true` for this source if that is meant";
        let loopback = format!("`127.0.0.1` is a loopback address{fix}");
        check(&reach, "127.0.0.1", 8081, "127.0.0.1", &loopback);
        let other_port = format!("`localhost` leads to the loopback address ::1{fix}");
        check(&reach, "localhost", 8080, "::1", &other_port);
        let name = format!("`mcp.internal` leads to the private address 10.0.0.5{fix}");
        check(&reach, "mcp.internal", 443, "10.0.0.5", &name);
    }

    #[test]
    fn this_machine_by_name_is_no_other_one() {
        let expected =
            "`localhost` leads to the private address 10.0.0.5, which is not this machine";
        for reach in [Reach::public(), Reach::public().allowing(PrivateNetworks::All)] {
            let reach = reach.naming(&url("http://localhost:80/"));
            check(&reach, "localhost", 80, "10.0.0.5", expected);
        }
        let expected = "`localhost` leads to the public address 8.8.8.8, which is not this machine";
        check(&Reach::public(), "localhost", 80, "8.8.8.8", expected);
    }

    #[test]
    fn networks_admit_what_lies_in_them_and_metadata_only_if_listed() {
        let all = Reach::public().allowing(PrivateNetworks::All);
        for address in ["10.0.0.1", "127.0.0.1", "fd00::1", "198.18.0.1", "::ffff:10.0.0.1"] {
            check(&all, "a.example", 80, address, "");
        }
        let list = "; list its network in `allow_private` for this source if that is meant";
        for (address, kind) in [
            ("169.254.169.254", "metadata"),
            ("fe80::1", "link-local"),
            ("64:ff9b::a9fe:a9fe", "metadata"),
        ] {
            let expected = format!("`a.example` leads to the {kind} address {address}{list}");
            check(&all, "a.example", 80, address, &expected);
            check(&Reach::public(), "a.example", 80, address, &expected);
        }
        let networks = ["10.0.0.0/8", "fd00::/8", "169.254.169.254/32"];
        let networks = networks.map(|text| text.parse().unwrap()).to_vec();
        let listed = Reach::public().allowing(PrivateNetworks::Listed(networks));
        for address in ["10.9.9.9", "::ffff:10.9.9.9", "fd12::1", "169.254.169.254"] {
            check(&listed, "a.example", 80, address, "");
        }
        let expected = format!("`a.example` leads to the private address 192.168.0.1{list}");
        check(&listed, "a.example", 80, "192.168.0.1", &expected);
    }

    #[test]
    fn a_redirect_reaches_no_named_address() {
        let reach = Reach::public()
            .naming(&url("http://127.0.0.1:8080/"))
            .naming(&url("http://localhost:80"));
        let listed = vec!["127.0.0.0/8".parse().unwrap()];
        let allowing = reach.clone().allowing(PrivateNetworks::Listed(listed));
        for target in ["http://127.0.0.1:8080/", "http://localhost/", "http://2130706433:8080/"] {
            reach.admit_redirect(&url(target)).unwrap_err();
            allowing.admit_redirect(&url(target)).unwrap();
        }
        reach.admit_redirect(&url("http://a.example/")).unwrap();
        reach.admit_redirect(&url("http://8.8.8.8/")).unwrap();
    }
}
