//! What a token is for: which part of the gateway, and how much there.

use std::fmt;

use percent_encoding::percent_decode_str;
use url::Url;

use crate::PublicUrl;

/// The longest name of a source or an agent in an address, in bytes.
const FACE_NAME_BYTES: usize = 128;

/// A part of the gateway (RFC 8707): all of it, or the address of one face, without a slash at its
/// end. One covers what lies below it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Resource(String);

impl Resource {
    /// The face with everything, for clients that name none.
    pub fn everything(public: &PublicUrl) -> Self {
        Self(public.at("/mcp"))
    }

    /// Reads what a client names. None for anything that is not ours.
    pub fn read(public: &PublicUrl, text: &str) -> Option<Self> {
        let url = Url::parse(text).ok()?;
        let is_bare = url.query().is_none()
            && url.fragment().is_none()
            && url.username().is_empty()
            && url.password().is_none();
        if !is_bare || url.origin() != public.url().origin() {
            return None;
        }
        // Metadata may write a name with escapes, and is the same address then.
        let path = percent_decode_str(url.path()).decode_utf8().ok()?;
        let path = path.strip_suffix('/').unwrap_or(&path).strip_prefix(public.path())?;
        let is_face = match path {
            "" | "/mcp" => true,
            path => ["/mcp/source/", "/mcp/agent/"]
                .iter()
                .any(|face| path.strip_prefix(face).is_some_and(is_name)),
        };
        is_face.then(|| Self(public.at(path)))
    }

    /// The face that a path leads to. None for a path that leads to none.
    pub fn at(public: &PublicUrl, path: &str) -> Option<Self> {
        Self::read(public, &public.at(path))
    }

    /// One that was kept.
    pub fn kept(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether a token for this one is good for another one.
    pub fn covers(&self, other: &Self) -> bool {
        other.0.strip_prefix(&self.0).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }

    /// The part as a person reads it: a kind, and a name if it has one.
    pub fn shown(&self) -> (&'static str, Option<&str>) {
        if let Some((_, name)) = self.0.rsplit_once("/mcp/source/") {
            ("the source", Some(name))
        } else if let Some((_, name)) = self.0.rsplit_once("/mcp/agent/") {
            ("the agent", Some(name))
        } else {
            ("everything that you may use here", None)
        }
    }
}

fn is_name(text: &str) -> bool {
    let is_legal = |b: u8| b.is_ascii_alphanumeric() || b"-._~".contains(&b);
    (1..=FACE_NAME_BYTES).contains(&text.len()) && text.bytes().all(is_legal)
}

const READ: &str = "mcp:read";
const WRITE: &str = "mcp:write";

/// All scopes that there are.
pub const SCOPES: [&str; 2] = [READ, WRITE];

/// How much a token lets its client do. There is never none at all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scopes {
    Read,
    /// Without reading on the list: a client that asks for this alone gets this alone.
    Write,
    ReadAndWrite,
}

impl Scopes {
    /// Reads a list of scopes. None if ours are not among them. Others are left out (RFC 6749, section
    /// 3.3), because clients ask for all that a gateway names, those of its other issuers too.
    pub fn read(text: &str) -> Option<Self> {
        let (mut reads, mut writes) = (false, false);
        for scope in text.split(' ').filter(|scope| !scope.is_empty()) {
            match scope {
                READ => reads = true,
                WRITE => writes = true,
                _ => {}
            }
        }
        match (reads, writes) {
            (true, true) => Some(Self::ReadAndWrite),
            (true, false) => Some(Self::Read),
            (false, true) => Some(Self::Write),
            (false, false) => None,
        }
    }

    /// Those that were kept. What is none of ours allows the least.
    pub fn kept(text: &str) -> Self {
        Self::read(text).unwrap_or(Self::Read)
    }

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Read => "mcp:read",
            Self::Write => "mcp:write",
            Self::ReadAndWrite => "mcp:read mcp:write",
        }
    }

    /// Whether only what reads may be called.
    pub fn is_read_only(self) -> bool {
        self == Self::Read
    }

    /// Whether these are all among the others.
    pub fn is_within(self, others: Self) -> bool {
        self == others || others == Self::ReadAndWrite
    }
}

impl fmt::Display for Scopes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_faces_of_this_gateway_are_resources() {
        let public = PublicUrl::parse("https://tools.example.com").expect("it is an origin");
        for (text, expected) in [
            ("https://tools.example.com", Some("")),
            ("https://TOOLS.example.com:443/", Some("")),
            ("https://tools.example.com/mcp", Some("/mcp")),
            ("https://tools.example.com/mcp/", Some("/mcp")),
            ("https://tools.example.com/mcp/source/mail", Some("/mcp/source/mail")),
            ("https://tools.example.com/mcp/agent/sales", Some("/mcp/agent/sales")),
            ("https://tools.example.com/x/../mcp", Some("/mcp")),
            ("https://tools.example.com/mcp/source/my%2Dmail", Some("/mcp/source/my-mail")),
            ("https://tools.example.com/mcp/source/%2e%2e", Some("/mcp")),
            ("https://tools.example.com/mcp/source/%2e%2e%2fagent%2fx", None),
            ("https://tools.example.com/mcp//", None),
            ("https://tools.example.com/mcp?x=1", None),
            ("https://tools.example.com/mcp#x", None),
            ("https://tools.example.com/mcp/source/", None),
            ("https://tools.example.com/mcp/source/a/b", None),
            ("https://tools.example.com/mcp/source/a%2fb", None),
            ("https://tools.example.com/oauth/token", None),
            ("https://tools.example.com:8443/mcp", None),
            ("http://tools.example.com/mcp", None),
            ("https://tools.example.com.evil.example/mcp", None),
            ("https://tools.example.com@evil.example/mcp", None),
            ("https://me@tools.example.com/mcp", None),
            ("/mcp", None),
            ("", None),
        ] {
            let expected = expected.map(|path| public.at(path));
            let read = Resource::read(&public, text);
            assert_eq!(read.as_ref().map(Resource::as_str), expected.as_deref(), "{text}");
        }
    }

    #[test]
    fn below_a_path_only_what_is_there_is_a_face() {
        let public = PublicUrl::parse("https://tools.example.com/gate").expect("it is an address");
        for (text, expected) in [
            ("https://tools.example.com/gate", Some("")),
            ("https://tools.example.com/gate/mcp/", Some("/mcp")),
            ("https://tools.example.com/gate/mcp/source/mail", Some("/mcp/source/mail")),
            ("https://tools.example.com/mcp", None),
            ("https://tools.example.com/gatemcp", None),
            ("https://tools.example.com/gate/../mcp", None),
            ("https://tools.example.com", None),
        ] {
            let expected = expected.map(|path| public.at(path));
            let read = Resource::read(&public, text);
            assert_eq!(read.as_ref().map(Resource::as_str), expected.as_deref(), "{text}");
        }
        let face = Resource::at(&public, "/mcp/source/mail").expect("it is a face");
        assert_eq!(face.shown(), ("the source", Some("mail")));
    }

    #[test]
    fn a_resource_covers_what_lies_below_it() {
        for (one, other, covers) in [
            ("https://a.example", "https://a.example/mcp", true),
            ("https://a.example/mcp", "https://a.example/mcp", true),
            ("https://a.example/mcp", "https://a.example/mcp/source/x", true),
            ("https://a.example/mcp/source/x", "https://a.example/mcp", false),
            ("https://a.example/mcp/source/x", "https://a.example/mcp/source/xy", false),
            ("https://a.example", "https://a.example.evil.example/mcp", false),
        ] {
            assert_eq!(Resource::kept(one).covers(&Resource::kept(other)), covers, "{one} {other}");
        }
    }

    #[test]
    fn scopes_are_a_set_of_two() {
        for (text, expected) in [
            ("mcp:read", Some(Scopes::Read)),
            ("mcp:write", Some(Scopes::Write)),
            ("mcp:write  mcp:read mcp:read", Some(Scopes::ReadAndWrite)),
            ("", None),
            ("mcp:admin", None),
            ("mcp:read openid", Some(Scopes::Read)),
            ("MCP:READ", None),
        ] {
            assert_eq!(Scopes::read(text), expected, "{text}");
        }
        assert!(Scopes::Read.is_within(Scopes::ReadAndWrite));
        assert!(!Scopes::ReadAndWrite.is_within(Scopes::Read));
        assert!(!Scopes::Write.is_within(Scopes::Read));
    }
}
