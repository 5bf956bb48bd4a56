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

/// The address of a source's resource or resource template: the source's own text, unchanged, after
/// its domain.
pub fn address(domain: &Domain, uri: &str) -> String {
    match uri.strip_prefix(UI_SCHEME) {
        Some(rest) => format!("{UI_AUTHORITY}{domain}/{rest}"),
        None => format!("{SCHEME}{domain}/{uri}"),
    }
}

/// The domain and the URI of an address that [`address`] made; `None` for any other text.
///
/// A resource has exactly one address, so a hidden one cannot be reached by spelling its address in
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

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
