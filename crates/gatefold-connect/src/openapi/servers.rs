//! Where an API is.

use std::collections::BTreeMap;

use url::{ParseError, Url};

use super::library::{Library, Node};
use super::parameters::placeholders;
use super::value::DocumentValue;

/// The URL of an operation's server, without a slash at its end: the operation's own, its path's, else the
/// description's. Of several the first that can be used counts, but one with TLS before one without. `levels`
/// begins with the innermost.
pub(super) fn base<'a>(
    library: &'a Library,
    levels: &[Node<'a>],
    variables: &BTreeMap<String, String>,
) -> Option<String> {
    let mut outer: Option<Url> = None;
    for level in levels.iter().rev() {
        let servers = level.get("servers").into_iter().flat_map(Node::items);
        let urls = servers.filter_map(|server| {
            let text = filled(server, variables)?;
            // An operation's own path is meant where the API is, wherever its description is.
            let from = outer.as_ref().unwrap_or_else(|| library.url_of(server));
            from.join(&text).ok().filter(is_web)
        });
        outer = preferred(urls).or(outer);
    }
    match outer {
        Some(url) => usable(url.as_str()),
        None => document_base(library),
    }
}

/// The path of an operation's own server at the configured one. None where it has none.
pub(super) fn path_at<'a>(
    configured: &Url,
    levels: &[Node<'a>],
    variables: &BTreeMap<String, String>,
) -> Option<String> {
    let of_level = |level: &Node<'a>| {
        let mut servers = level.get("servers").into_iter().flat_map(Node::items);
        servers.find_map(|server| {
            let text = filled(server, variables)?;
            let is_relative = Url::parse(&text) == Err(ParseError::RelativeUrlWithoutBase);
            let url = configured.join(&text).ok().filter(|_| is_relative && !text.is_empty())?;
            (url.origin() == configured.origin()).then(|| url.path().to_owned())
        })
    };
    let path = levels.iter().find_map(of_level)?;
    // A path that ends with a slash ends with the path of the operation.
    Some(format!("/{}", path.trim_matches('/')))
}

/// The URL in Swagger 2: its host, base path and schemes, else the description's own.
pub(super) fn swagger_base(
    library: &Library,
    root: Node<'_>,
    operation: Node<'_>,
) -> Option<String> {
    let own = library.url();
    let schemes = operation.get("schemes").or_else(|| root.get("schemes"));
    let schemes: Vec<&str> =
        schemes.into_iter().flat_map(Node::items).filter_map(|one| one.value.as_str()).collect();
    let fallback = if own.scheme() == "http" { "http" } else { "https" };
    let scheme = match &schemes[..] {
        _ if schemes.contains(&"https") => "https",
        _ if schemes.contains(&"http") => "http",
        _ => fallback,
    };
    let path = root.text("basePath").unwrap_or_default();
    let path = path.trim_start_matches('/');
    let host = match root.text("host").map(str::trim).filter(|host| !host.is_empty()) {
        Some(host) => host.to_owned(),
        None if is_web(own) => own[url::Position::BeforeHost..url::Position::AfterPort].to_owned(),
        None => return None,
    };
    // Some write a whole URL for the host.
    let host = host
        .split_once("://")
        .map_or(host.as_str(), |(_, host)| host)
        .trim_end_matches('/')
        .to_owned();
    usable(&format!("{scheme}://{host}/{path}"))
}

/// OpenAPI 3: without servers there is one at the root of where the description is.
fn document_base(library: &Library) -> Option<String> {
    let own = library.url();
    usable(&own[..url::Position::AfterPort])
}

/// The address of a server, with the values of its variables.
fn filled(server: Node<'_>, overrides: &BTreeMap<String, String>) -> Option<String> {
    let template = server.text("url")?.trim();
    let mut url = template.to_owned();
    for name in placeholders(template) {
        let variable = server.get("variables").and_then(|variables| variables.get(name));
        let first = || variable?.get("enum")?.items().next()?.value.as_str();
        let default = variable.and_then(|variable| variable.value.get("default"));
        let default = default.and_then(|default| match default {
            DocumentValue::String(text) => Some((**text).to_owned()),
            DocumentValue::Number(number) => Some(number.to_string()),
            _ => None,
        });
        let value =
            overrides.get(name).cloned().or(default).or_else(|| first().map(str::to_owned))?;
        url = url.replace(&format!("{{{name}}}"), &value);
    }
    Some(url)
}

fn preferred(urls: impl Iterator<Item = Url>) -> Option<Url> {
    let urls: Vec<Url> = urls.collect();
    let secure = urls.iter().find(|url| url.scheme() == "https");
    secure.or(urls.first()).cloned()
}

fn usable(url: &str) -> Option<String> {
    let mut url = Url::parse(url).ok().filter(is_web)?;
    url.set_fragment(None);
    url.set_query(None);
    // Tools show it, so what signs in at the description stays out. Both fail only for URLs without a host.
    let _ = url.set_username("");
    let _ = url.set_password(None);
    Some(url.as_str().trim_end_matches('/').to_owned())
}

fn is_web(url: &Url) -> bool {
    matches!(url.scheme(), "http" | "https") && url.has_host()
}
