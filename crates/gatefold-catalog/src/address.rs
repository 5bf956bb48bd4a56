//! Addresses of resources behind the gateway.
//!
//! Two sources may offer the same URI, so each gets an address of its own that names the source.
//! Hosts of MCP Apps insist on the scheme `ui`, so a URI with that scheme keeps it.

use gatefold_core::Domain;

/// The longest URI that a source's resource may have, in bytes.
pub(crate) const MAX_URI: usize = 8 << 10;

const SCHEME: &str = "gatefold://";
const UI_SCHEME: &str = "ui://";
const UI_AUTHORITY: &str = "ui://gatefold/";

/// The address of a source's resource or resource template: the source's own text, letter for
/// letter, behind its domain.
pub fn address(domain: &Domain, uri: &str) -> String {
    match uri.strip_prefix(UI_SCHEME) {
        Some(rest) => format!("{UI_AUTHORITY}{domain}/{rest}"),
        None => format!("{SCHEME}{domain}/{uri}"),
    }
}

/// The domain and the URI of an address that [`address`] made; `None` for any other text.
///
/// A resource has exactly one address: a hidden one cannot be reached by spelling its address
/// another way.
pub fn read_address(address: &str) -> Option<(Domain, String)> {
    let (rest, is_ui) = match address.strip_prefix(UI_AUTHORITY) {
        Some(rest) => (rest, true),
        None => (address.strip_prefix(SCHEME)?, false),
    };
    let (domain, rest) = rest.split_once('/')?;
    let domain = Domain::parse(domain).ok()?;
    if is_ui {
        return Some((domain, format!("{UI_SCHEME}{rest}")));
    }
    (!rest.starts_with(UI_SCHEME)).then(|| (domain, rest.to_owned()))
}

/// Whether a text can be a URI at all.
pub(crate) fn is_uri(text: &str) -> bool {
    !text.is_empty() && text.len() <= MAX_URI && !text.chars().any(char::is_control)
}

/// Whether a URI has the spelling in which it can be compared (RFC 3986, section 6.2.2): lower-case
/// scheme, no `.` or `..` between slashes, nothing percent-encoded that need not be, and neither
/// backslashes nor empty segments, which many servers treat as slashes.
pub fn is_normal_uri(uri: &str) -> bool {
    let (scheme, rest) = uri.split_once(':').unwrap_or(("", uri));
    let rest = rest.strip_prefix("//").unwrap_or(rest);
    let is_unreserved = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    let mut encoded = rest.match_indices('%').map(|(at, _)| {
        let digits = rest.get(at + 1..at + 3);
        digits.and_then(|digits| u8::from_str_radix(digits, 16).ok())
    });
    let path = rest.split(['?', '#']).next().unwrap_or_default();
    !scheme.bytes().any(|byte| byte.is_ascii_uppercase())
        && !rest.contains('\\')
        && encoded.all(|byte| byte.is_some_and(|byte| !is_unreserved(byte) && byte != b'/'))
        && !path.split('/').skip(1).any(|segment| matches!(segment, "." | ".."))
        && !path.trim_start_matches('/').contains("//")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_uri_is_normal_when_it_is_written_in_the_one_way() {
        for uri in ["file:///a/b", "file:///a%20b", "test://x/1?a=../b", "note:7", "a://b.c/d..e"] {
            assert!(is_normal_uri(uri), "{uri}");
        }
        for uri in [
            "file:///a/./b",
            "file:///a/../b",
            "file:///a/..",
            "file:///%61",
            "file:///a%2fb",
            "file:///a%2",
            "file:///%2e%2e/a",
            "FILE:///a",
            "file:///a//b",
            "file:///a\\b",
        ] {
            assert!(!is_normal_uri(uri), "{uri}");
        }
    }

    fn check(domain: &str, uri: &str, expected: &str) {
        let domain = Domain::parse(domain).unwrap();
        let made = address(&domain, uri);
        assert_eq!(made, expected);
        assert_eq!(read_address(&made), Some((domain, uri.to_owned())), "{made}");
    }

    #[test]
    fn an_address_says_whose_resource_it_is_and_keeps_the_scheme_of_apps() {
        check("files", "file:///a b/ü?x#y", "gatefold://files/file:///a b/ü?x#y");
        check("files", "file:///{path}", "gatefold://files/file:///{path}");
        check("maps", "ui://view/main.html", "ui://gatefold/maps/view/main.html");
        check("maps", "ui://{+path}", "ui://gatefold/maps/{+path}");
        check("maps", "ui://", "ui://gatefold/maps/");
        check("maps", "UI://x", "gatefold://maps/UI://x");
        check("a", "gatefold://b/x", "gatefold://a/gatefold://b/x");
        check("a", "ui://gatefold/b/x", "ui://gatefold/a/gatefold/b/x");
        check("a", "", "gatefold://a/");
    }

    #[test]
    fn a_text_that_is_never_made_is_no_address() {
        for text in [
            "file:///a",
            "ui://view/main.html",
            "ui://gatefold/a",
            "gatefold://a",
            "gatefold:///x",
            "gatefold://A/x",
            "gatefold://a__b/x",
            "GATEFOLD://a/x",
            "gatefold://a/ui://x",
            "",
        ] {
            assert_eq!(read_address(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn every_address_leads_back(
            key in any::<String>(),
            scheme in prop::sample::select(&["", "ui://", "ui://gatefold/", "gatefold://", "file:///"][..]),
            rest in any::<String>(),
        ) {
            let (domain, uri) = (Domain::from_key(&key), format!("{scheme}{rest}"));
            prop_assert_eq!(read_address(&address(&domain, &uri)), Some((domain, uri)));
        }

        #[test]
        fn an_address_is_spelt_in_one_way(
            text in "(gatefold://|ui://gatefold/|ui://)(a|b_c|A)?/?(ui://|/)?[a-z/:]{0,4}",
        ) {
            if let Some((domain, uri)) = read_address(&text) {
                prop_assert_eq!(address(&domain, &uri), text);
            }
        }
    }
}
