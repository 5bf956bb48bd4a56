//! Who asks for access: a client that publishes a document about itself, or one that registered.

use gatefold_core::is_hidden;
use gatefold_identity::{ClientRecord, is_this_machine};
use url::Url;

use crate::redirect::RedirectUri;

/// The longest id of a client, in bytes.
const CLIENT_ID_BYTES: usize = 1024;
/// The most characters of a client's name that are shown.
pub(crate) const NAME_CHARS: usize = 64;
/// The most redirect addresses of one client.
pub(crate) const REDIRECTS: usize = 16;

/// A client as far as it is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Client {
    pub(crate) id: String,
    pub(crate) name: String,
    /// The host that vouches for it. None for one that registered itself.
    pub(crate) host: Option<String>,
    /// At most [`REDIRECTS`].
    pub(crate) redirects: Vec<String>,
}

/// An id by its form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ClientId {
    /// The address of a metadata document.
    Document(Url),
    Registered(String),
}

impl ClientId {
    /// Reads an id. An address is written as it is read, so that no two texts are one client.
    pub(crate) fn read(text: &str, allows_loopback: bool) -> Result<Self, &'static str> {
        if text.is_empty() || text.len() > CLIENT_ID_BYTES {
            return Err("has 1 to 1024 bytes");
        }
        if !text.contains(':') {
            let is_plain = |b: u8| b.is_ascii_alphanumeric() || b"-_".contains(&b);
            if !text.bytes().all(is_plain) {
                return Err("has other characters than ids of ours");
            }
            return Ok(Self::Registered(text.to_owned()));
        }
        let url = Url::parse(text).map_err(|_| "is no address")?;
        let is_open = url.scheme() == "http" && allows_loopback && is_this_machine(&url);
        if url.scheme() != "https" && !is_open {
            return Err("is no `https` address");
        }
        if url.as_str() != text {
            return Err("is an address in another form than its plain one");
        }
        if !url.username().is_empty() || url.password().is_some() || url.fragment().is_some() {
            return Err("is an address with a user name or a fragment");
        }
        if url.path() == "/" {
            return Err("is an address without a path");
        }
        Ok(Self::Document(url))
    }
}

impl Client {
    pub(crate) fn allows(&self, redirect: &RedirectUri) -> bool {
        self.redirects.iter().any(|known| redirect.is_allowed_by(known))
    }
}

impl From<ClientRecord> for Client {
    fn from(record: ClientRecord) -> Self {
        let ClientRecord { id, name, redirects, .. } = record;
        let redirects = redirects.into_iter().take(REDIRECTS).collect();
        Self { id, name, host: None, redirects }
    }
}

/// Whether what a client says of itself leaves room for the one flow that is offered. What it does not
/// say is that flow (RFC 7591, section 2).
pub(crate) fn takes_codes(grants: Option<&[String]>, responses: Option<&[String]>) -> bool {
    let has = |list: Option<&[String]>, wanted: &str| {
        list.is_none_or(|list| list.iter().any(|own| own == wanted))
    };
    has(grants, "authorization_code") && has(responses, "code")
}

/// A client's name as it may be shown: nothing in it changes how the text around it reads.
pub(crate) fn shown_name(name: &str) -> String {
    let is_unseen = |c: char| c.is_control() || is_hidden(c);
    let plain: String = name.chars().filter(|c| !is_unseen(*c)).collect();
    plain.trim().chars().take(NAME_CHARS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_written_as_it_is_read() {
        for (text, legal) in [
            ("https://app.example/client.json", true),
            ("https://app.example:8443/oauth/client?v=1", true),
            ("abc-123", true),
            ("https://app.example/", false),
            ("https://app.example", false),
            ("https://APP.example/client", false),
            ("https://app.example:443/client", false),
            ("https://app.example/x/../client", false),
            ("https://app.example/./client", false),
            ("https://app.example\\client", false),
            ("https://me@app.example/client", false),
            ("https://app.example/client#x", false),
            ("https://ä.example/client", false),
            (" https://app.example/client", false),
            ("http://app.example/client", false),
            ("http://127.0.0.1:1/client", false),
            ("file:///etc/passwd", false),
            ("javascript:alert(1)", false),
            ("a b", false),
            ("<b>", false),
            ("", false),
        ] {
            assert_eq!(ClientId::read(text, false).is_ok(), legal, "{text}");
        }
        assert!(ClientId::read("http://127.0.0.1:1/client", true).is_ok());
        assert!(ClientId::read("http://app.example/client", true).is_err());
    }

    #[test]
    fn a_name_changes_nothing_around_it() {
        assert_eq!(shown_name(" Nice\u{202e}App\u{200b}\n "), "NiceApp");
        assert_eq!(shown_name(&"é".repeat(100)).chars().count(), NAME_CHARS);
        for unseen in ["\u{feff}\t", "\u{3164}", "\u{115f}\u{fe0f}", "\u{ad}\u{34f}\u{e0041}"] {
            assert_eq!(shown_name(unseen), "", "{unseen:?}");
        }
    }
}
