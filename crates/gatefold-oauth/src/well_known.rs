//! Where metadata is, if nobody says so.

use reqwest::Url;

/// The places of a resource's metadata (RFC 9728, section 3.1): for its path, then for the host.
pub(crate) fn of_resource(resource: &Url) -> Vec<Url> {
    let path = resource.path().trim_end_matches('/');
    let mut places = vec![in_front(resource, "oauth-protected-resource", path)];
    if !path.is_empty() {
        places.push(in_front(resource, "oauth-protected-resource", ""));
    }
    places
}

/// The places of an issuer's metadata: OAuth's (RFC 8414, section 3.1), then OpenID's with the path
/// behind and in front.
pub(crate) fn of_issuer(issuer: &Url) -> Vec<Url> {
    let path = issuer.path().trim_end_matches('/');
    let mut places = vec![
        in_front(issuer, "oauth-authorization-server", path),
        in_front(issuer, "openid-configuration", path),
    ];
    if !path.is_empty() {
        let mut behind = bare(issuer);
        behind.set_path(&format!("{path}/.well-known/openid-configuration"));
        places.push(behind);
    }
    places
}

/// The places of an OpenID provider's metadata: with the path in front (OpenID Connect Discovery,
/// section 4), then as RFC 8414 has it, then OAuth's.
pub(crate) fn of_openid(issuer: &Url) -> Vec<Url> {
    let mut places = of_issuer(issuer);
    places.reverse();
    places
}

/// The origin of a server that names no issuer, which the version 2025-03-26 of the protocol took
/// for one.
pub(crate) fn origin(resource: &Url) -> Url {
    let mut origin = bare(resource);
    origin.set_path("");
    origin
}

fn in_front(url: &Url, name: &str, path: &str) -> Url {
    let mut place = bare(url);
    place.set_path(&format!("/.well-known/{name}{path}"));
    place
}

fn bare(url: &Url) -> Url {
    let mut bare = url.clone();
    bare.set_query(None);
    bare.set_fragment(None);
    bare
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(places: Vec<Url>) -> Vec<String> {
        places.into_iter().map(String::from).collect()
    }

    #[test]
    fn places_have_the_path_behind_the_well_known_name() {
        let url = |text: &str| text.parse::<Url>().unwrap();
        assert_eq!(
            texts(of_resource(&url("https://a.example/x/mcp?y#z"))),
            [
                "https://a.example/.well-known/oauth-protected-resource/x/mcp",
                "https://a.example/.well-known/oauth-protected-resource"
            ]
        );
        assert_eq!(
            texts(of_resource(&url("https://a.example"))),
            ["https://a.example/.well-known/oauth-protected-resource"]
        );
        assert_eq!(
            texts(of_issuer(&url("https://a.example/t/"))),
            [
                "https://a.example/.well-known/oauth-authorization-server/t",
                "https://a.example/.well-known/openid-configuration/t",
                "https://a.example/t/.well-known/openid-configuration"
            ]
        );
        assert_eq!(
            texts(of_openid(&url("https://a.example/t"))),
            [
                "https://a.example/t/.well-known/openid-configuration",
                "https://a.example/.well-known/openid-configuration/t",
                "https://a.example/.well-known/oauth-authorization-server/t"
            ]
        );
        assert_eq!(
            texts(of_issuer(&url("https://a.example/"))),
            [
                "https://a.example/.well-known/oauth-authorization-server",
                "https://a.example/.well-known/openid-configuration"
            ]
        );
    }
}
