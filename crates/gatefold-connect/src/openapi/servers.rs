//! Where an API is.

use std::collections::BTreeMap;

use url::Url;

use super::library::{Library, Node};
use super::parameters::placeholders;

/// The URL of an operation's server, without a slash at its end: the operation's own, its path's, else the
/// description's. Of several the first that can be used counts, but one with TLS before one without.
pub(super) fn base<'a>(
    library: &'a Library,
    levels: &[Node<'a>],
    variables: &BTreeMap<String, String>,
) -> Option<String> {
    let of_level = |level: &Node<'a>| {
        let servers = level.get("servers").into_iter().flat_map(Node::items);
        preferred(servers.filter_map(|server| server_url(library, server, variables)))
    };
    levels.iter().find_map(of_level).or_else(|| document_base(library))
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

fn server_url<'a>(
    library: &'a Library,
    server: Node<'a>,
    overrides: &BTreeMap<String, String>,
) -> Option<String> {
    let template = server.text("url")?.trim();
    let mut url = template.to_owned();
    for name in placeholders(template) {
        let variable = server.get("variables").and_then(|variables| variables.get(name));
        let first = || variable?.get("enum")?.items().next()?.value.as_str();
        let default = variable.and_then(|variable| variable.value.get("default"));
        let default = default.and_then(|default| match default {
            serde_json::Value::String(text) => Some(text.clone()),
            serde_json::Value::Number(number) => Some(number.to_string()),
            _ => None,
        });
        let value =
            overrides.get(name).cloned().or(default).or_else(|| first().map(str::to_owned))?;
        url = url.replace(&format!("{{{name}}}"), &value);
    }
    let whole = library.url_of(server).join(&url).ok()?;
    usable(whole.as_str()).filter(|_| is_web(&whole))
}

fn preferred(urls: impl Iterator<Item = String>) -> Option<String> {
    let urls: Vec<String> = urls.collect();
    let secure = urls.iter().find(|url| url.starts_with("https:"));
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
