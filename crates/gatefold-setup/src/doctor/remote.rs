//! Servers over HTTP that did not connect: what their address answers, and what that means.

use std::error::Error as _;
use std::time::Duration;

use gatefold::Environment;
use gatefold::config::SourceConfig;
use gatefold::config::kinds::{KindSection, ServerNeed};
use gatefold_core::Secret;
use gatefold_egress::{
    Egress, EgressError, HttpClient, HttpRequest, Obstacle, Reach, Redirects, Settings,
};
use http::header::{ACCEPT, CONTENT_TYPE};
use http::{HeaderName, HeaderValue, Method};
use tokio::time::Instant;

use super::proxy::{self, DeadProxy};
use super::{Finding, Level, QUESTION_DEADLINE, Section};

const HANDSHAKE: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"gatefold-doctor","version":"0"}}}"#;

/// The parts of an answer that matter here.
struct ProbeAnswer {
    status: u16,
    kind: String,
    /// Where a redirect leads, without anything that may be secret.
    location: String,
    /// How it wants its caller to authenticate.
    challenge: String,
}

const MALFORMED: EgressError = EgressError::Url { reason: "a header is malformed" };

/// Where a server says who signs its callers in: RFC 9728 in current versions of MCP, RFC 8414 in
/// version 2025-03-26.
const SIGN_IN_PATHS: [&str; 2] =
    ["/.well-known/oauth-protected-resource", "/.well-known/oauth-authorization-server"];

/// The result of asking an address.
pub(super) enum ProbeOutcome {
    /// Why the source cannot be reached.
    Fault(Finding),
    /// It answers a handshake like a server.
    Answer { host: String, status: u16 },
}

/// Asks a source's address as a client would. `None` when nothing can be asked from here.
pub(super) async fn diagnose(
    source: &SourceConfig,
    server: ServerNeed<'_>,
    environment: &Environment,
) -> Option<ProbeOutcome> {
    let ServerNeed { url, headers, private } = server;
    let settings = Settings {
        connect_timeout: QUESTION_DEADLINE,
        read_timeout: Some(QUESTION_DEADLINE),
        ..Settings::default()
    };
    let client = Egress::new(settings).ok()?.client_for(Reach::for_source([url], private.clone()));
    let fault = |what: String, fix: String| {
        Finding::new(Section::Sources, Level::Fault, format!("{}: {what}", source.domain))
            .at(&source.origin)
            .fix(fix)
    };
    let answer = match ask(&client, Method::POST, url, headers).await {
        Ok(answer) => answer,
        Err(error) => {
            let (what, fix) = match proxy::dead(url, environment).await {
                Some(proxy) => behind(&proxy, url),
                None => unreachable(error.as_ref(), url),
            };
            return Some(ProbeOutcome::Fault(fault(what, fix)));
        }
    };
    let is_events = if matches!(answer.status, 400 | 404 | 405) {
        let events = ask(&client, Method::GET, url, headers).await;
        events.is_ok_and(|it| it.status == 200 && it.kind.starts_with("text/event-stream"))
    } else {
        false
    };
    let may_sign_in = source.section.usable().and_then(KindSection::sign_in).is_some();
    if answer.status == 401 && may_sign_in && offers_sign_in(&client, &answer, url).await {
        let what = format!("`{}` needs a sign-in", host_of(url));
        let fix = format!("sign in: `gatefold login {}`", source.origin.key);
        return Some(ProbeOutcome::Fault(fault(what, fix)));
    }
    Some(match judged(&answer, is_events, url, headers) {
        Some((what, fix)) => ProbeOutcome::Fault(fault(what, fix)),
        None => ProbeOutcome::Answer { host: host_of(url), status: answer.status },
    })
}

async fn ask(
    client: &HttpClient,
    method: Method,
    url: &str,
    headers: &[(String, Secret)],
) -> Result<ProbeAnswer, Option<EgressError>> {
    let url = url.parse().map_err(|_| None)?;
    let is_post = method == Method::POST;
    let mut request = HttpRequest::new(method, url).redirects(Redirects::None);
    for (name, value) in headers {
        let name = HeaderName::from_bytes(name.as_bytes()).map_err(|_| Some(MALFORMED))?;
        let value = HeaderValue::from_str(value.expose()).map_err(|_| Some(MALFORMED))?;
        request.credentials.append(name, value);
    }
    let accept = if is_post {
        request = request.header(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        request = request.body(HANDSHAKE);
        "application/json, text/event-stream"
    } else {
        "text/event-stream"
    };
    let request = request.header(ACCEPT, HeaderValue::from_static(accept));
    let deadline = Instant::now() + QUESTION_DEADLINE + Duration::from_secs(1);
    let answer = client.send(request, deadline).await.map_err(Some)?;
    let text = |name: &str| {
        let value = answer.headers().get(name).and_then(|value| value.to_str().ok());
        value.unwrap_or_default().to_owned()
    };
    let location = answer.url().join(&text("location"));
    Ok(ProbeAnswer {
        status: answer.status().as_u16(),
        kind: text("content-type"),
        location: location.map(|url| gatefold_egress::redacted(&url)).unwrap_or_default(),
        challenge: text("www-authenticate"),
    })
}

/// Whether a server that refuses a caller says where to sign in (MCP 2025-11-25, authorization).
async fn offers_sign_in(client: &HttpClient, answer: &ProbeAnswer, url: &str) -> bool {
    if answer.challenge.contains("resource_metadata=") {
        return true;
    }
    let Ok(uri) = url.parse::<http::Uri>() else { return false };
    let Some(authority) = uri.authority() else { return false };
    let host = authority.as_str().rsplit('@').next().unwrap_or_default();
    let scheme = uri.scheme_str().unwrap_or("https");
    for path in SIGN_IN_PATHS {
        let place = format!("{scheme}://{host}{path}");
        let found = ask(client, Method::GET, &place, &[]).await;
        if found.is_ok_and(|it| it.status == 200 && it.kind.starts_with("application/json")) {
            return true;
        }
    }
    false
}

/// The proxy blocks whatever is behind it.
fn behind(proxy: &DeadProxy, url: &str) -> (String, String) {
    let DeadProxy { address, variable } = proxy;
    let host = host_of(url);
    (
        format!("the proxy `{address}`, which `{variable}` names, does not answer"),
        format!("start it, correct or unset `{variable}`, or put `{host}` into `NO_PROXY`"),
    )
}

/// Nobody answered, because of the name, the port, TLS or time.
fn unreachable(error: Option<&EgressError>, url: &str) -> (String, String) {
    let host = host_of(url);
    let Some(error) = error else {
        let what = format!("`{host}` did not answer in time");
        return (what, "check whether the server is up, and whether a proxy is needed".to_owned());
    };
    if let EgressError::NoRoots = error {
        let what = format!("no secure connection to `{host}`: this machine has no CA certificates");
        return (what, "install `ca-certificates`, or set `SSL_CERT_FILE`".to_owned());
    }
    if let Some(forbidden) = error.forbidden() {
        let fix = forbidden.fix().unwrap_or("correct the name on this machine: `/etc/hosts`");
        return (forbidden.fault(), fix.to_owned());
    }
    let mut causes = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        causes = cause.to_string();
        next = cause.source();
    }
    let (what, fix) = match error.obstacle() {
        Obstacle::Name => (
            format!("the name in `{host}` does not resolve"),
            "check the spelling of `url`, and the network",
        ),
        Obstacle::Refused => (
            format!("nothing listens on `{host}`"),
            "start that server, or correct the port in `url`",
        ),
        Obstacle::Tls => (
            format!("no secure connection to `{host}`: {causes}"),
            "check whether it is `https://` or `http://`, and the server's certificate",
        ),
        Obstacle::Other => (
            format!("`{host}` cannot be reached: {causes}"),
            "check `url` and the network; `HTTPS_PROXY` and `NO_PROXY` are honoured",
        ),
    };
    (what, fix.to_owned())
}

/// Host and port, without credentials.
fn host_of(url: &str) -> String {
    let uri = url.parse::<http::Uri>().ok();
    let host = uri.as_ref().and_then(|uri| uri.authority()).map(http::uri::Authority::as_str);
    host.and_then(|host| host.rsplit('@').next()).unwrap_or("the server").to_owned()
}

/// What an answer to a handshake says about the address, and the fix.
fn judged(
    answer: &ProbeAnswer,
    is_events: bool,
    url: &str,
    headers: &[(String, Secret)],
) -> Option<(String, String)> {
    let status = answer.status;
    let says = |what: &str| format!("the server answers {status}: {what}");
    let (what, fix) = match status {
        200..=299 => return None,
        300..=399 if answer.location.is_empty() => {
            (says("it redirects to nowhere"), "ask whoever runs it for its address".to_owned())
        }
        300..=399 => (
            says("it moved, and redirects are not followed with credentials"),
            format!("write `url = \"{}\"` if you trust it", answer.location),
        ),
        401 | 403 => {
            let sent = headers.iter().find(|(name, _)| {
                let name = name.to_ascii_lowercase();
                name == "authorization" || name.contains("key") || name.contains("token")
            });
            match sent {
                Some((name, _)) => (
                    says("it rejects the credentials"),
                    format!("renew the value of the header `{name}`"),
                ),
                None => (
                    says("it wants credentials but gets none"),
                    "write `headers = { Authorization = \"Bearer ${secret:NAME}\" }`, and store \
                     it: `gatefold secret set NAME`"
                        .to_owned(),
                ),
            }
        }
        _ if is_events => (
            "the server speaks only HTTP+SSE, which Gatefold does not support".to_owned(),
            format!("use its streamable HTTP address, often `{}`", other_path(url)),
        ),
        404 | 405 => {
            (says("no MCP server is at this path"), format!("try `url = \"{}\"`", other_path(url)))
        }
        500..=599 => (
            says("it failed internally"),
            "try again later, or look at that server's log".to_owned(),
        ),
        _ => (says("it accepts no handshake"), "check `url`".to_owned()),
    };
    Some((what, fix))
}

/// The more usual path of MCP: `/mcp`, replacing `/sse` if the path ends in that. Neither
/// credentials nor query are repeated.
fn other_path(url: &str) -> String {
    let Ok(uri) = url.parse::<http::Uri>() else {
        return "https://HOST/mcp".to_owned();
    };
    let authority = uri.authority().map_or("HOST", http::uri::Authority::as_str);
    let host = authority.rsplit('@').next().unwrap_or(authority);
    let path = uri.path().trim_end_matches('/');
    let base = path.strip_suffix("/sse").or_else(|| path.strip_suffix("/mcp")).unwrap_or(path);
    let base = if path.ends_with("/mcp") { base.to_owned() } else { format!("{base}/mcp") };
    format!("{}://{host}{base}", uri.scheme_str().unwrap_or("https"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(status: u16, is_events: bool, headers: &[&str], what: &str, fix: &str) {
        let headers: Vec<_> =
            headers.iter().map(|name| ((*name).to_owned(), Secret::new("hunter2"))).collect();
        let location = "https://b.example/mcp".to_owned();
        let answer =
            ProbeAnswer { status, kind: String::new(), location, challenge: String::new() };
        let url = "https://u:pw@a.example/v1/sse?key=hunter2";
        let (said, cure) = judged(&answer, is_events, url, &headers).unwrap();
        assert!(said.contains(what) && cure.contains(fix), "{said}: {cure}");
        assert!(!cure.contains("hunter2") && !cure.contains("pw@"), "{cure}");
    }

    #[tokio::test]
    async fn an_address_that_is_refused_is_told_with_the_key_that_allows_it() {
        let settings = Settings::default();
        let client = Egress::new(settings).unwrap().client_for(Reach::public());
        for (url, what, fix) in [
            ("http://127.0.0.1:9/", "`127.0.0.1` is a loopback address", "`allow_private = true`"),
            ("http://169.254.169.254/", "is a metadata address", "list its network"),
        ] {
            let error = ask(&client, Method::POST, url, &[]).await.err().flatten().unwrap();
            let (said, cure) = unreachable(Some(&error), url);
            assert!(said.contains(what) && cure.contains(fix), "{said}: {cure}");
        }
    }

    #[test]
    fn each_status_has_its_fix() {
        check(401, false, &[], "wants credentials but gets none", "gatefold secret set NAME");
        check(403, false, &["X-Api-Key"], "rejects", "the header `X-Api-Key`");
        check(404, false, &[], "no MCP server", "url = \"https://a.example/v1/mcp\"");
        check(405, true, &[], "only HTTP+SSE", "`https://a.example/v1/mcp`");
        check(308, false, &[], "moved", "url = \"https://b.example/mcp\"");
        check(503, false, &[], "failed internally", "try again later");
        check(418, false, &[], "accepts no handshake", "check `url`");
    }
}
