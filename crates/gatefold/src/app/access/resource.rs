//! What the gateway tells clients that want to come in: which issuers' tokens, for which address
//! (RFC 9728).

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::header::CACHE_CONTROL;
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;
use axum::{Json, Router};
use http::HeaderValue;
use serde::Serialize;
use url::Url;

/// Where metadata is, in front of a resource's path (RFC 9728, section 3).
const WELL_KNOWN: &str = "/.well-known/oauth-protected-resource";

/// The paths at which agents are spoken to, of `gatefold-api`.
const AGENT_FACES: [&str; 3] = ["/v1/chat/completions", "/v1/models", "/api/runs"];

/// The gateway as a protected resource.
#[derive(Debug, Clone)]
pub(in crate::app) struct ProtectedResource {
    pub(in crate::app) public_url: Url,
    /// The issuers whose tokens let in, as many as are configured.
    pub(in crate::app) issuers: Vec<String>,
    /// The scopes that their tokens need.
    pub(in crate::app) scopes: Vec<String>,
}

#[derive(Serialize)]
struct Metadata<'a> {
    resource: String,
    authorization_servers: &'a [String],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    scopes_supported: &'a [String],
    bearer_methods_supported: [&'static str; 1],
    resource_name: &'static str,
}

impl ProtectedResource {
    /// The resource at a path of ours, without a slash at its end.
    pub(super) fn at(&self, path: &str) -> Url {
        let mut url = self.public_url.clone();
        let path = format!("{}{path}", self.own_path());
        url.set_path(path.trim_end_matches('/'));
        url
    }

    /// What a proxy takes off the paths of requests.
    fn own_path(&self) -> &str {
        self.public_url.path().trim_end_matches('/')
    }

    /// Where the metadata about a path of ours is.
    fn metadata_place(&self, path: &str) -> Url {
        let mut place = self.at(path);
        let path = place.path().trim_end_matches('/').to_owned();
        place.set_path(&format!("{WELL_KNOWN}{path}"));
        place
    }

    fn metadata(&self, path: &str) -> Response {
        // An origin is written without the slash that a URL gives it, as clients compare it.
        let resource = self.at(path);
        let is_origin = resource.path() == "/";
        let text = if is_origin { origin(&resource) } else { resource.to_string() };
        let metadata = Metadata {
            resource: text,
            authorization_servers: &self.issuers,
            scopes_supported: &self.scopes,
            bearer_methods_supported: ["header"],
            resource_name: "Gatefold",
        };
        let age = [(CACHE_CONTROL, HeaderValue::from_static("max-age=300"))];
        (age, Json(metadata)).into_response()
    }

    /// The metadata of the gateway, and of each of its endpoints. Those of sources and agents are
    /// there for every name: strangers must not learn which there are.
    pub(in crate::app) fn routes(self: Arc<Self>) -> Router {
        let root = async |State(own): State<Arc<Self>>| own.metadata("");
        let whole = async |State(own): State<Arc<Self>>| own.metadata("/mcp");
        let source = async |State(own): State<Arc<Self>>, Path(name): Path<String>| {
            own.metadata(&format!("/mcp/source/{}", segment(&name)))
        };
        let agent = async |State(own): State<Arc<Self>>, Path(name): Path<String>| {
            own.metadata(&format!("/mcp/agent/{}", segment(&name)))
        };
        // Some proxies take the path off here as well.
        let below = Some(self.own_path()).filter(|path| !path.is_empty());
        let places = [Some(""), below].into_iter().flatten();
        let router = places.fold(Router::new(), |router, path| {
            let place = format!("{WELL_KNOWN}{path}");
            router
                .route(&place, get(root))
                .route(&format!("{place}/mcp"), get(whole))
                .route(&format!("{place}/mcp/source/{{name}}"), get(source))
                .route(&format!("{place}/mcp/agent/{{name}}"), get(agent))
        });
        router.with_state(self)
    }
}

/// The part of the gateway that a token has to be good for at a path: an endpoint of MCP, or all of
/// them for any other route.
pub(super) fn part_at(path: &str) -> &str {
    if is_endpoint(path) { path } else { "/mcp" }
}

/// Whether MCP is served at a path.
pub(super) fn is_endpoint(path: &str) -> bool {
    path.strip_prefix("/mcp").is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Whether what is served at a path looks up the agent through which somebody speaks: MCP, and agents over HTTP.
pub(super) fn looks_up_agents(path: &str) -> bool {
    let below = |root: &str| {
        path.strip_prefix(root).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    is_endpoint(path) || AGENT_FACES.into_iter().any(below)
}

/// What a client is told that was not let in at a path. Where somebody issues tokens, that is where the
/// metadata is, and all scopes at once, so that it does not have to come back for each.
pub(super) fn challenge(
    resource: Option<&ProtectedResource>,
    path: &str,
    error: Option<&str>,
) -> HeaderValue {
    let scopes = resource.map(|own| own.scopes.join(" ")).filter(|scopes| !scopes.is_empty());
    let parameters = [
        Some(r#"realm="gatefold""#.to_owned()),
        resource.map(|own| format!(r#"resource_metadata="{}""#, own.metadata_place(path))),
        scopes.map(|scopes| format!(r#"scope="{scopes}""#)),
        error.map(|error| format!(r#"error="{error}""#)),
    ];
    let parameters: Vec<_> = parameters.into_iter().flatten().collect();
    let text = format!("Bearer {}", parameters.join(", "));
    // The scopes were read as such, and an address has no other characters.
    HeaderValue::try_from(text).unwrap_or(HeaderValue::from_static("Bearer"))
}

fn origin(url: &Url) -> String {
    url.origin().ascii_serialization()
}

/// A name as one segment of a path.
fn segment(name: &str) -> String {
    percent_encoding::utf8_percent_encode(name, percent_encoding::NON_ALPHANUMERIC).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(public_url: &str, path: &str, resource: &str, place: &str) {
        let own = ProtectedResource {
            public_url: public_url.parse().unwrap(),
            issuers: Vec::new(),
            scopes: Vec::new(),
        };
        assert_eq!(own.at(path).as_str(), resource);
        assert_eq!(own.metadata_place(path).as_str(), place);
        let expected = format!(r#"Bearer realm="gatefold", resource_metadata="{place}""#);
        assert_eq!(challenge(Some(&own), path, None), expected);
    }

    #[test]
    fn a_route_that_is_none_of_mcp_needs_a_token_for_all_of_the_gateway() {
        for (path, part) in [
            ("/mcp", "/mcp"),
            ("/mcp/", "/mcp/"),
            ("/mcp/source/mail", "/mcp/source/mail"),
            ("/mcpx", "/mcp"),
            ("/runs", "/mcp"),
            ("/", "/mcp"),
        ] {
            assert_eq!(part_at(path), part, "{path}");
        }
    }

    #[test]
    fn an_agents_token_is_good_only_where_its_agent_is_looked_up() {
        for path in ["/mcp", "/mcp/agent/a", "/v1/models", "/v1/models/a", "/api/runs/1/events"] {
            assert!(looks_up_agents(path), "{path}");
        }
        for path in ["/", "/status", "/v1", "/v1/modelsx", "/api/run", "/x/mcp"] {
            assert!(!looks_up_agents(path), "{path}");
        }
    }

    #[test]
    fn metadata_is_in_front_of_the_path_of_the_resource() {
        let at = "https://a.example/.well-known/oauth-protected-resource";
        check("https://a.example", "/mcp/", "https://a.example/mcp", &format!("{at}/mcp"));
        check("https://a.example", "", "https://a.example/", at);
        check("https://a.example/g", "/mcp", "https://a.example/g/mcp", &format!("{at}/g/mcp"));
        check("https://a.example/g", "", "https://a.example/g", &format!("{at}/g"));
    }
}
