use url::{Host, Url};

/// The address at which people and clients know the gateway: an origin, such as `https://tools.example.com`, or a
/// path there, where a proxy has other applications beside it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublicUrl {
    url: Url,
    origin: String,
    /// Without a slash at its end, as issuers are written.
    text: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PublicUrlError {
    #[error("it is no URL")]
    Malformed,
    #[error("it has to be `https://HOST` or `https://HOST/PATH`, without a query or user name")]
    NotBare,
    #[error("its path may have letters, digits, `-`, `_`, `.` and `~` between single slashes")]
    Path,
    #[error("only on this machine may it be `http`")]
    Open,
}

impl PublicUrl {
    pub fn parse(text: &str) -> Result<Self, PublicUrlError> {
        let url = Url::parse(text).map_err(|_| PublicUrlError::Malformed)?;
        let is_bare = url.query().is_none()
            && url.fragment().is_none()
            && url.username().is_empty()
            && url.password().is_none();
        match url.scheme() {
            "http" | "https" if !is_bare => Err(PublicUrlError::NotBare),
            "http" if !is_this_machine(&url) => Err(PublicUrlError::Open),
            "http" | "https" if !has_plain_path(text) => Err(PublicUrlError::Path),
            "http" | "https" => Ok(Self::of(url)),
            _ => Err(PublicUrlError::NotBare),
        }
    }

    fn of(mut url: Url) -> Self {
        let origin = url.origin().ascii_serialization();
        let path = url.path().trim_end_matches('/').to_owned();
        url.set_path(&path);
        let text = format!("{origin}{path}");
        Self { url, origin, text }
    }

    pub fn as_str(&self) -> &str {
        &self.text
    }

    pub fn url(&self) -> &Url {
        &self.url
    }

    /// Scheme, host and port, as browsers name it.
    pub fn origin(&self) -> &str {
        &self.origin
    }

    /// What a proxy takes off the paths of requests. Empty, or with a slash at its beginning alone.
    pub fn path(&self) -> &str {
        &self.text[self.origin.len()..]
    }

    /// Whether browsers keep cookies for it that only travel over TLS.
    pub fn is_secure(&self) -> bool {
        self.url.scheme() == "https"
    }

    /// The address of a path below it.
    pub fn at(&self, path: &str) -> String {
        format!("{}{path}", self.text)
    }
}

/// Whether the path of an address is what it will be in requests, cookies and pages, as it is written.
fn has_plain_path(text: &str) -> bool {
    let Some((_, behind)) = text.split_once("://") else { return false };
    let Some((_, path)) = behind.split_once('/') else { return !behind.contains('\\') };
    let is_legal = |b: u8| b.is_ascii_alphanumeric() || b"-._~".contains(&b);
    let is_name = |name: &str| !matches!(name, "" | "." | "..") && name.bytes().all(is_legal);
    path.is_empty() || path.strip_suffix('/').unwrap_or(path).split('/').all(is_name)
}

/// Whether a URL's host is this machine by address or by its own name.
pub fn is_this_machine(url: &Url) -> bool {
    match url.host() {
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        Some(Host::Domain(name)) => name == "localhost",
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_public_address_is_an_origin_or_a_path_there() {
        for (text, expected) in [
            ("https://tools.example.com", Ok("https://tools.example.com")),
            ("https://Tools.Example.com:443/", Ok("https://tools.example.com")),
            ("https://tools.example.com:8443", Ok("https://tools.example.com:8443")),
            ("http://127.0.0.1:8420", Ok("http://127.0.0.1:8420")),
            ("http://localhost:8420", Ok("http://localhost:8420")),
            ("http://[::1]:8420", Ok("http://[::1]:8420")),
            ("http://tools.example.com", Err(PublicUrlError::Open)),
            ("http://127.0.0.1.example.com", Err(PublicUrlError::Open)),
            ("https://tools.example.com/gate", Ok("https://tools.example.com/gate")),
            ("https://tools.example.com/gate/", Ok("https://tools.example.com/gate")),
            (
                "https://tools.example.com:8443/a/b-c/D.e",
                Ok("https://tools.example.com:8443/a/b-c/D.e"),
            ),
            ("https://tools.example.com/gate?x=1", Err(PublicUrlError::NotBare)),
            ("https://tools.example.com/gate#f", Err(PublicUrlError::NotBare)),
            ("https://tools.example.com/?x", Err(PublicUrlError::NotBare)),
            ("https://me@tools.example.com", Err(PublicUrlError::NotBare)),
            ("https://me:pw@tools.example.com/g", Err(PublicUrlError::NotBare)),
            ("ftp://tools.example.com", Err(PublicUrlError::NotBare)),
            ("https://tools.example.com/../g", Err(PublicUrlError::Path)),
            ("https://tools.example.com/a/./g", Err(PublicUrlError::Path)),
            ("https://tools.example.com/%2e%2e/g", Err(PublicUrlError::Path)),
            ("https://tools.example.com/a//b", Err(PublicUrlError::Path)),
            ("https://tools.example.com//", Err(PublicUrlError::Path)),
            ("https://tools.example.com/a;b", Err(PublicUrlError::Path)),
            ("https://tools.example.com\\a", Err(PublicUrlError::Path)),
            ("tools.example.com", Err(PublicUrlError::Malformed)),
        ] {
            let read = PublicUrl::parse(text);
            assert_eq!(read.as_ref().map(PublicUrl::as_str).map_err(|it| *it), expected, "{text}");
            if let Ok(read) = read {
                assert_eq!(format!("{}{}", read.origin(), read.path()), read.as_str());
                assert_eq!(read.url().as_str().trim_end_matches('/'), read.as_str());
            }
        }
    }
}
