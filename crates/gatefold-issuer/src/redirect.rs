//! Where browsers are sent back to.

use gatefold_identity::is_this_machine;
use url::Url;

/// The longest redirect address, in bytes.
const REDIRECT_BYTES: usize = 1024;

/// Schemes without a dot that known clients have. Any program may claim a scheme; the code that it is
/// handed is of no use to it without the verifier.
const KNOWN_SCHEMES: [&str; 5] = ["claude", "cursor", "vscode", "vscode-insiders", "windsurf"];

/// How addresses of this machine begin, whose port a client chooses when it starts (RFC 8252, section
/// 7.3).
const LOOPBACK: [&str; 3] = ["http://127.0.0.1", "http://[::1]", "http://localhost"];

/// An address that a client may have itself answered at. Any other way to write it is another one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RedirectUri {
    text: String,
    url: Url,
}

impl RedirectUri {
    /// Reads an address: `https`, `http` on this machine, or a scheme of the client's own, which has
    /// a dot in its name (RFC 8252, section 7.1) unless it is a known one.
    pub fn parse(text: &str) -> Result<Self, &'static str> {
        if text.is_empty() || text.len() > REDIRECT_BYTES {
            return Err("has 1 to 1024 bytes");
        }
        let is_plain = |b: u8| b.is_ascii_graphic() && !b"\"'<>\\^`{|}*".contains(&b);
        if !text.bytes().all(is_plain) {
            return Err("has only characters that stand in addresses, and no `*`");
        }
        if text.contains('#') {
            return Err("has no fragment");
        }
        let url = Url::parse(text).map_err(|_| "is an absolute address")?;
        if !url.username().is_empty() || url.password().is_some() || has_user(text) {
            return Err("has no user name");
        }
        match url.scheme() {
            "https" if is_host_name(&url) => {}
            "https" => return Err("has a host whose name is plain"),
            // By its text, so that no other reading of it leads elsewhere.
            "http" if is_this_machine(&url) && LoopbackAddress::read(text).is_some() => {}
            "http" => {
                return Err("is `https`, or `http` with `127.0.0.1`, `[::1]` or `localhost`");
            }
            own if is_own_scheme(own) && text.starts_with(own) => {}
            _ => {
                return Err(
                    "is `https`, or has a scheme with a dot in its name or of a known client",
                );
            }
        }
        Ok(Self { text: text.to_owned(), url })
    }

    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether a request may name this address, if the client named `known`.
    pub(crate) fn is_allowed_by(&self, known: &str) -> bool {
        if self.text == known {
            return true;
        }
        match (LoopbackAddress::read(&self.text), LoopbackAddress::read(known)) {
            (Some(own), Some(known)) => own == known,
            _ => false,
        }
    }

    /// Where it leads, as a person should read it.
    pub(crate) fn shown_host(&self) -> &str {
        self.url.host_str().filter(|host| !host.is_empty()).unwrap_or(self.url.scheme())
    }

    /// Whether it leads to a program on the machine of whoever looks.
    pub(crate) fn is_on_this_machine(&self) -> bool {
        !matches!(self.url.scheme(), "https") || is_this_machine(&self.url)
    }

    /// What a page may send a form on to, in the words of a content security policy. A policy cannot
    /// name addresses of IPv6.
    pub(crate) fn form_target(&self) -> String {
        match self.url.scheme() {
            "http" | "https" if !self.text.contains('[') => self.url.origin().ascii_serialization(),
            scheme => format!("{scheme}:"),
        }
    }
}

fn is_own_scheme(scheme: &str) -> bool {
    scheme.contains('.') || KNOWN_SCHEMES.contains(&scheme)
}

/// Whether what stands before the path has a user name, even an empty one.
fn has_user(text: &str) -> bool {
    let Some((_, rest)) = text.split_once("://") else { return false };
    let host = rest.split(['/', '?']).next().unwrap_or_default();
    host.contains('@')
}

/// Whether a host is written with letters that mean nothing to a content security policy.
fn is_host_name(url: &Url) -> bool {
    let is_plain = |b: u8| b.is_ascii_alphanumeric() || b".-".contains(&b);
    url.host_str().is_some_and(|host| !host.is_empty() && host.bytes().all(is_plain))
}

/// An address of this machine without its port.
#[derive(Debug, PartialEq, Eq)]
struct LoopbackAddress<'a> {
    start: &'a str,
    rest: &'a str,
}

impl<'a> LoopbackAddress<'a> {
    fn read(text: &'a str) -> Option<Self> {
        let start = LOOPBACK.iter().find(|start| text.starts_with(**start))?;
        let after = &text[start.len()..];
        let rest = match after.strip_prefix(':') {
            Some(port) => {
                let digits = port.bytes().take_while(u8::is_ascii_digit).count();
                port[..digits].parse::<u16>().ok().filter(|port| *port > 0)?;
                &port[digits..]
            }
            None => after,
        };
        let is_whole = rest.is_empty() || rest.starts_with('/') || rest.starts_with('?');
        is_whole.then_some(Self { start, rest })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(known: &str, asked: &str, allowed: bool) {
        let judged = RedirectUri::parse(asked).is_ok_and(|asked| asked.is_allowed_by(known));
        assert_eq!(judged, allowed, "{known} {asked}");
    }

    #[test]
    fn only_a_loopback_port_may_differ() {
        let known = "http://127.0.0.1/callback";
        check(known, "http://127.0.0.1/callback", true);
        check(known, "http://127.0.0.1:49152/callback", true);
        check("http://127.0.0.1:1/callback", "http://127.0.0.1:2/callback", true);
        check("http://[::1]/callback", "http://[::1]:49152/callback", true);
        check("http://localhost:1/callback?x=1", "http://localhost:2/callback?x=1", true);
        for other in [
            "http://localhost/callback",
            "http://127.0.0.1/callback/",
            "http://127.0.0.1/Callback",
            "http://127.0.0.1/callback?x=1",
            "http://127.0.0.1:/callback",
            "http://127.0.0.1:0/callback",
            "http://127.0.0.1:99999/callback",
            "http://127.0.0.1:80@evil.example/callback",
            "http://127.0.0.1@evil.example/callback",
            "http://127.0.0.1.evil.example/callback",
            "http://127.0.0.1:1.evil.example/callback",
            "http://127.0.0.2/callback",
            "http://127.1/callback",
            "http://0x7f.0.0.1/callback",
            "http://2130706433/callback",
            "http://127.0.0.1/../callback",
            "http://127.0.0.1/%63allback",
            "https://127.0.0.1/callback",
            "HTTP://127.0.0.1/callback",
            "http:127.0.0.1/callback",
            "http:\\\\127.0.0.1/callback",
            "http://127.0.0.1/callback#",
            "http://127.0.0.1/callback#x",
            " http://127.0.0.1/callback",
            "http://127.0.0.1/call\nback",
        ] {
            check(known, other, false);
        }
    }

    #[test]
    fn other_addresses_are_compared_letter_for_letter() {
        let known = "https://app.example/cb";
        check(known, known, true);
        for other in [
            "https://app.example:443/cb",
            "https://app.example:8443/cb",
            "https://APP.example/cb",
            "https://app.example/cb/",
            "https://app.example/cb/../cb",
            "https://app.example/cb?next=https://evil.example",
            "https://app.example.evil.example/cb",
            "https://app.example@evil.example/cb",
            "https://evil.example/app.example/cb",
            "https://app.example\\@evil.example/cb",
            "https://app.example%2eevil.example/cb",
            "https://xn--pp-example/cb",
            "http://app.example/cb",
            "//app.example/cb",
            "/cb",
        ] {
            check(known, other, false);
        }
    }

    #[test]
    fn what_a_client_may_name_is_a_short_list() {
        for legal in [
            "https://app.example/cb",
            "https://app.example:8443/cb?x=1",
            "http://127.0.0.1:1/cb",
            "http://[::1]/cb",
            "http://localhost",
            "com.example.app:/cb",
            "com.example.app://cb",
            "cursor://anysphere.cursor-mcp/oauth/callback",
            "vscode-insiders://callback",
        ] {
            assert!(RedirectUri::parse(legal).is_ok(), "{legal}");
        }
        for hostile in [
            "",
            "javascript:alert(1)",
            "java.script:alert('1')",
            "data:text/html,x",
            "vbscript:x",
            "file:///etc/passwd",
            "blob:https://a.example/x",
            "ftp://a.example/",
            "myapp:/cb",
            "CURSOR://anysphere.cursor-mcp/oauth/callback",
            "cursor-evil://cb",
            "cursor://u@anysphere.cursor-mcp/oauth/callback",
            "COM.example.app:/cb",
            "http://app.example/cb",
            "http://10.0.0.1/cb",
            "https://*.example/cb",
            "https://app.example/*",
            "https://a;b.example/cb",
            "https://a,b.example/cb",
            "https://@app.example/cb",
            "https://ä.example/cb",
            "https://app.example/cb\"onload=",
            "https:///",
            "com.example.app://u@cb",
            &format!("https://app.example/{}", "x".repeat(1024)),
        ] {
            assert!(RedirectUri::parse(hostile).is_err(), "{hostile}");
        }
    }

    #[test]
    fn a_policy_names_no_more_than_the_target() {
        for (text, expected) in [
            ("https://app.example/cb", "https://app.example"),
            ("http://127.0.0.1:1/cb", "http://127.0.0.1:1"),
            ("http://[::1]:1/cb", "http:"),
            ("com.example.app:/cb", "com.example.app:"),
        ] {
            assert_eq!(RedirectUri::parse(text).map(|it| it.form_target()), Ok(expected.into()));
        }
    }
}
