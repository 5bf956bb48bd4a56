//! Documents of knowledge bases that are fetched over HTTP.

use std::error::Error;
use std::time::Duration;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use gatefold_documents::{Format, MAX_INPUT};
use gatefold_egress::{EgressError, HttpClient, HttpRequest, redacted};
use gatefold_knowledge::{FetchedDocument, RemoteDocuments, UnfetchedDocument};
use http::header::{
    ACCEPT, CONTENT_TYPE, ETAG, HeaderMap, HeaderName, HeaderValue, IF_MODIFIED_SINCE,
    IF_NONE_MATCH, LAST_MODIFIED,
};
use http::{Method, StatusCode};
use tokio::time::Instant;
use url::Url;

/// How long one document may take, all of its redirects included.
const FETCH_TIME: Duration = Duration::from_mins(2);

/// The longest value of a header that is given back to its server, in bytes.
const MARK: usize = 1024;

const ACCEPTED: HeaderValue = HeaderValue::from_static(
    "text/markdown, text/html;q=0.9, application/pdf;q=0.9, text/plain;q=0.8, */*;q=0.5",
);

/// The documents at some addresses, without any credentials.
pub(crate) struct AddressDocuments {
    client: HttpClient,
    addresses: Vec<String>,
    limits: FetchLimits,
}

struct FetchLimits {
    time: Duration,
    bytes: u64,
}

impl AddressDocuments {
    pub(crate) fn new(client: HttpClient, addresses: Vec<String>) -> Self {
        let limits = FetchLimits { time: FETCH_TIME, bytes: MAX_INPUT as u64 };
        Self { client, addresses, limits }
    }

    async fn fetch_one(
        &self,
        address: &str,
        mark: Option<&str>,
    ) -> Result<FetchedDocument, UnfetchedDocument> {
        let url = Url::parse(address).map_err(|error| UnfetchedDocument::Unreachable {
            reason: "its address is malformed".to_owned(),
            detail: error.to_string(),
        })?;
        let mut request = HttpRequest::new(Method::GET, url.clone()).header(ACCEPT, ACCEPTED);
        if let Some((name, value)) = mark.and_then(condition) {
            request = request.header(name, value);
        }
        let deadline = Instant::now() + self.limits.time;
        let response =
            self.client.send(request, deadline).await.map_err(|error| unfetched(&error))?;
        let status = response.status();
        match status {
            StatusCode::NOT_MODIFIED if mark.is_some() => return Ok(FetchedDocument::Same),
            StatusCode::NOT_FOUND | StatusCode::GONE => {
                return Err(UnfetchedDocument::Missing(answered(status)));
            }
            status if status.is_success() => {}
            status => {
                let detail = format!("`{}` answered {status}", redacted(response.url()));
                return Err(UnfetchedDocument::Unreachable { reason: answered(status), detail });
            }
        }
        let next_mark = mark_of(response.headers());
        let media_type = response.headers().get(CONTENT_TYPE).and_then(|own| own.to_str().ok());
        let file_name = file_name(&url, response.url(), media_type);
        let body = response.read_capped(self.limits.bytes).await;
        let bytes = body.map_err(|error| unfetched(&error))?.into();
        Ok(FetchedDocument::Bytes { bytes, file_name, mark: next_mark })
    }
}

impl RemoteDocuments for AddressDocuments {
    fn addresses(&self) -> &[String] {
        &self.addresses
    }

    fn fetch<'a>(
        &'a self,
        address: &'a str,
        mark: Option<&'a str>,
    ) -> BoxFuture<'a, Result<FetchedDocument, UnfetchedDocument>> {
        self.fetch_one(address, mark).boxed()
    }
}

fn answered(status: StatusCode) -> String {
    format!("its server answered {status}")
}

/// What a server says to tell one edition of a document from another, as the header of a request for a later one
/// (RFC 9110, section 13.1).
fn mark_of(headers: &HeaderMap) -> Option<String> {
    let kinds = [(ETAG, IF_NONE_MATCH), (LAST_MODIFIED, IF_MODIFIED_SINCE)];
    kinds.into_iter().find_map(|(said, asked)| {
        let value = headers.get(said)?.to_str().ok()?;
        (value.len() <= MARK).then(|| format!("{asked}: {value}"))
    })
}

fn condition(mark: &str) -> Option<(HeaderName, HeaderValue)> {
    let (name, value) = mark.split_once(": ")?;
    Some((name.parse().ok()?, value.parse().ok()?))
}

/// A name with the ending that the media type has, or else the end of the address. Of two addresses the one that
/// answered comes first.
fn file_name(asked: &Url, answered: &Url, media_type: Option<&str>) -> String {
    let own = |url: &Url| url.path().rsplit('/').next().unwrap_or_default().to_owned();
    let has_format = |name: &String| Format::of_name(name).is_some();
    let named = [own(answered), own(asked)].into_iter().find(has_format);
    let name = named.unwrap_or_else(|| own(answered));
    match media_type.and_then(Format::of_media_type) {
        Some(format) if Format::of_name(&name) != Some(format) => {
            format!("{name}.{}", ending(format))
        }
        _ => name,
    }
}

fn ending(format: Format) -> &'static str {
    match format {
        Format::Text => "txt",
        Format::Code => "json",
        Format::Markdown => "md",
        Format::Html => "html",
        Format::Csv => "csv",
        Format::Pdf => "pdf",
        Format::Docx => "docx",
        Format::Pptx => "pptx",
        Format::Xlsx => "xlsx",
        Format::Eml => "eml",
    }
}

fn unfetched(error: &EgressError) -> UnfetchedDocument {
    if let EgressError::TooLarge { limit, .. } = error {
        return UnfetchedDocument::TooLarge(format!("it has more than {limit} bytes"));
    }
    let (mut detail, mut cause) = (vec![error.to_string()], error.source());
    while let Some(own) = cause {
        detail.push(own.to_string());
        cause = own.source();
    }
    // Some errors repeat what caused them.
    detail.dedup_by(|later, before| before.contains(later.as_str()));
    UnfetchedDocument::Unreachable { reason: reason(error).to_owned(), detail: detail.join(": ") }
}

/// Why there was no answer, for whoever reads a list of documents: without the fix, which is for the operator.
fn reason(error: &EgressError) -> &'static str {
    match error {
        EgressError::Onward { error, .. } => match &**error {
            EgressError::Forbidden(_) => "its address leads to one that may not be reached",
            error => reason(error),
        },
        EgressError::Forbidden(_) => "its address may not be reached",
        EgressError::Redirected { .. } | EgressError::TooManyRedirects { .. } => {
            "its address leads to another one, which is not followed"
        }
        EgressError::Timeout { .. } => "its server did not answer in time",
        EgressError::Encoding { .. } => "the answer of its server cannot be decoded",
        _ => "its server could not be reached",
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use axum::Router;
    use axum::body::{Body, Bytes};
    use axum::response::{IntoResponse as _, Redirect, Response};
    use axum::routing::get;
    use futures::stream;
    use gatefold_egress::{Egress, PrivateNetworks, Reach, Settings};
    use http::header::LOCATION;

    use super::*;

    /// What a site of this machine is fetched from within.
    const LIMITS: FetchLimits = FetchLimits { time: Duration::from_secs(20), bytes: 100_000 };

    /// Takes what there is at the path of a site.
    async fn fetch(
        path: &str,
        mark: Option<&str>,
        limits: FetchLimits,
    ) -> Result<FetchedDocument, UnfetchedDocument> {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}{path}", listener.local_addr().unwrap());
        let site = tokio::spawn(async move { axum::serve(listener, site()).await.unwrap() });
        // The site itself is at a private address, and its redirects to other hosts may lead to none.
        let reach = Reach::for_source([&*address], PrivateNetworks::None);
        let egress = Egress::new(Settings::default()).unwrap().without_proxies();
        let addresses = vec![address.clone()];
        let documents = AddressDocuments { client: egress.client_for(reach), addresses, limits };
        let fetched = documents.fetch(&address, mark).await;
        site.abort();
        fetched
    }

    fn site() -> Router {
        let typed = |media_type: &'static str| {
            get(move || async move { ([(CONTENT_TYPE, media_type)], "text") })
        };
        let to = |address: &'static str| get(move || async move { Redirect::temporary(address) });
        Router::new()
            .route("/", typed("text/html; charset=utf-8"))
            .route("/page", typed("text/html"))
            .route("/notes.md", typed("text/plain"))
            .route("/read.md", typed("text/html"))
            .route("/report", typed("application/pdf"))
            .route("/data", typed("application/json"))
            .route("/plain", typed("application/octet-stream"))
            .route("/latest", to("/notes.md"))
            .route("/latest.md", to("/plain"))
            .route("/metadata", to("http://169.254.169.254/latest"))
            .route("/private", to("http://127.0.0.1:1/"))
            .route("/file", get(async || (StatusCode::FOUND, [(LOCATION, "file:///etc/passwd")])))
            .route("/round", to("/round"))
            .route("/gone", get(async || StatusCode::GONE))
            .route("/broken", get(async || StatusCode::SERVICE_UNAVAILABLE))
            .route("/tagged", get(tagged))
            .route(
                "/dated",
                get(async || ([(LAST_MODIFIED, "Wed, 21 Oct 2015 07:28:00 GMT")], "text")),
            )
            .route("/endless", get(endless))
            .route("/stuck", get(stuck))
            .route("/silent", get(async || std::future::pending::<()>().await))
    }

    async fn endless() -> Body {
        let part = || Ok::<_, Infallible>(Bytes::from_static(&[b'x'; 1000]));
        Body::from_stream(stream::repeat_with(part))
    }

    async fn stuck() -> Body {
        Body::from_stream(stream::pending::<Result<Bytes, Infallible>>())
    }

    async fn tagged(headers: HeaderMap) -> Response {
        let tag = HeaderValue::from_static("\"v1\"");
        match headers.get(IF_NONE_MATCH) {
            Some(own) if *own == tag => StatusCode::NOT_MODIFIED.into_response(),
            _ => ([(ETAG, tag)], "text").into_response(),
        }
    }

    #[tokio::test]
    async fn a_header_says_the_type_before_the_address_does() {
        for (path, expected) in [
            ("/", ".html"),
            ("/page", "page.html"),
            ("/notes.md", "notes.md"),
            ("/notes.md?of=report.pdf", "notes.md"),
            ("/read.md", "read.md.html"),
            ("/report", "report.pdf"),
            ("/data", "data.json"),
            ("/plain", "plain"),
            ("/latest", "notes.md"),
            ("/latest.md", "latest.md"),
        ] {
            let fetched = fetch(path, None, LIMITS).await;
            let Ok(FetchedDocument::Bytes { bytes, file_name, .. }) = fetched else {
                panic!("{path}: {fetched:?}")
            };
            assert_eq!((&*bytes, &*file_name), (&b"text"[..], expected), "{path}");
        }
    }

    #[tokio::test]
    async fn what_did_not_change_is_not_sent_again() {
        for (path, expected) in [
            ("/tagged", Some("if-none-match: \"v1\"")),
            ("/dated", Some("if-modified-since: Wed, 21 Oct 2015 07:28:00 GMT")),
            ("/page", None),
        ] {
            let fetched = fetch(path, None, LIMITS).await;
            let Ok(FetchedDocument::Bytes { mark, .. }) = fetched else { panic!("{fetched:?}") };
            assert_eq!(mark.as_deref(), expected, "{path}");
        }
        let same = fetch("/tagged", Some("if-none-match: \"v1\""), LIMITS).await;
        assert!(matches!(same, Ok(FetchedDocument::Same)), "{same:?}");
        let other = fetch("/tagged", Some("if-none-match: \"v0\""), LIMITS).await;
        assert!(matches!(other, Ok(FetchedDocument::Bytes { .. })), "{other:?}");
    }

    #[tokio::test]
    async fn a_page_that_is_not_there_says_so() {
        for (path, expected) in [
            ("/gone", "its server answered 410 Gone"),
            ("/nowhere", "its server answered 404 Not Found"),
        ] {
            let fetched = fetch(path, None, LIMITS).await;
            let Err(UnfetchedDocument::Missing(reason)) = fetched else {
                panic!("{path}: {fetched:?}")
            };
            assert_eq!(reason, expected);
        }
    }

    #[tokio::test]
    async fn readers_are_told_what_happened_and_operators_what_to_do() {
        for (path, reason, detail) in [
            ("/broken", "its server answered 503 Service Unavailable", "/broken` answered 503"),
            (
                "/metadata",
                "its address leads to one that may not be reached",
                "list its network in `allow_private`",
            ),
            (
                "/private",
                "its address leads to one that may not be reached",
                "`allow_private = true`",
            ),
            (
                "/file",
                "its address leads to another one, which is not followed",
                "file:///etc/passwd",
            ),
            (
                "/round",
                "its address leads to another one, which is not followed",
                "redirects more than",
            ),
        ] {
            let fetched = fetch(path, None, LIMITS).await;
            let Err(UnfetchedDocument::Unreachable { reason: own, detail: fix }) = fetched else {
                panic!("{path}: {fetched:?}")
            };
            assert_eq!(own, reason);
            assert!(fix.contains(detail), "{fix}");
        }
    }

    #[tokio::test]
    async fn a_body_without_end_and_a_server_without_hurry_end_at_the_limits() {
        let endless = fetch("/endless", None, LIMITS).await;
        let Err(UnfetchedDocument::TooLarge(reason)) = endless else { panic!("{endless:?}") };
        assert_eq!(reason, "it has more than 100000 bytes");
        for path in ["/stuck", "/silent"] {
            let limits = FetchLimits { time: Duration::from_millis(300), ..LIMITS };
            let late = fetch(path, None, limits).await;
            let Err(UnfetchedDocument::Unreachable { reason, .. }) = late else {
                panic!("{late:?}")
            };
            assert_eq!(reason, "its server did not answer in time", "{path}");
        }
    }
}
