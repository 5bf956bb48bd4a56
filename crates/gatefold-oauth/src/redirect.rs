//! Where a provider sends a browser back to, if a person registered that.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// An address of this machine that a provider knows, letter for letter.
///
/// Without a port it stands for the same address with any port (RFC 8252, section 7.3).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LocalRedirect {
    host: LocalHost,
    port: Option<u16>,
    /// Empty, or with its first slash.
    path: String,
}

/// The names of this machine that browsers lead nowhere else (RFC 8252, section 8.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LocalHost {
    Name,
    V4,
    V6,
}

impl LocalHost {
    const ALL: [Self; 3] = [Self::Name, Self::V4, Self::V6];

    fn text(self) -> &'static str {
        match self {
            Self::Name => "localhost",
            Self::V4 => "127.0.0.1",
            Self::V6 => "[::1]",
        }
    }
}

impl LocalRedirect {
    /// Reads an address. The error says what is wrong with it.
    pub fn parse(text: &str) -> Result<Self, &'static str> {
        let rest = text.strip_prefix("http://").ok_or("does not begin with `http://`")?;
        if !rest.bytes().all(|b| b.is_ascii_graphic()) || rest.contains(['?', '#', '@']) {
            return Err("has more than a host, a port and a path");
        }
        let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        let host = LocalHost::ALL.into_iter().find_map(|host| {
            let after = authority.strip_prefix(host.text())?;
            (after.is_empty() || after.starts_with(':')).then_some((host, after))
        });
        let (host, after) = host.ok_or("is not on this machine")?;
        let port = match after.strip_prefix(':') {
            None => None,
            Some(port) => match port.parse() {
                Ok(0) | Err(_) => return Err("has a malformed port"),
                Ok(port) => Some(port),
            },
        };
        Ok(Self { host, port, path: path.to_owned() })
    }

    /// The port that it names, if it does.
    pub fn port(&self) -> Option<u16> {
        self.port
    }

    /// The path of the requests that come back to it.
    pub fn path(&self) -> &str {
        if self.path.is_empty() { "/" } else { &self.path }
    }

    /// Where to listen: a browser may read the name as either family.
    pub fn addresses(&self) -> &'static [IpAddr] {
        const V4: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);
        const V6: IpAddr = IpAddr::V6(Ipv6Addr::LOCALHOST);
        match self.host {
            LocalHost::Name => &[V4, V6],
            LocalHost::V4 => &[V4],
            LocalHost::V6 => &[V6],
        }
    }

    /// The address with a port.
    pub fn at(&self, port: u16) -> String {
        format!("http://{}:{port}{}", self.host.text(), self.path)
    }
}

/// The address as it was written.
impl std::fmt::Display for LocalRedirect {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let host = self.host.text();
        match self.port {
            Some(port) => write!(f, "http://{host}:{port}{}", self.path),
            None => write!(f, "http://{host}{}", self.path),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_redirect_stays_as_the_provider_knows_it() {
        for (text, at, path) in [
            ("http://localhost:3118/callback", "http://localhost:3118/callback", "/callback"),
            ("http://localhost/oauth/done", "http://localhost:7/oauth/done", "/oauth/done"),
            ("http://[::1]/callback", "http://[::1]:7/callback", "/callback"),
            ("http://127.0.0.1:80", "http://127.0.0.1:80", "/"),
            ("http://localhost/", "http://localhost:7/", "/"),
        ] {
            let redirect = LocalRedirect::parse(text).unwrap();
            assert_eq!(redirect.at(redirect.port().unwrap_or(7)), at, "{text}");
            assert_eq!((redirect.path(), redirect.to_string().as_str()), (path, text));
        }
    }

    #[test]
    fn a_redirect_leads_to_this_machine_alone() {
        for (text, why) in [
            ("https://localhost/callback", "does not begin with `http://`"),
            ("cursor://host/callback", "does not begin with `http://`"),
            ("http://localhost.evil.example/callback", "is not on this machine"),
            ("http://10.0.0.1/callback", "is not on this machine"),
            ("http://me@localhost/callback", "has more than a host, a port and a path"),
            ("http://localhost/callback?x=1", "has more than a host, a port and a path"),
            ("http://localhost:0/", "has a malformed port"),
            ("http://localhost:70000/", "has a malformed port"),
            ("http://localhost:/", "has a malformed port"),
        ] {
            assert_eq!(LocalRedirect::parse(text), Err(why), "{text}");
        }
    }
}
