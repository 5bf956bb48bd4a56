//! Metadata documents of clients (draft-ietf-oauth-client-id-metadata-document).

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use gatefold_core::{Clock, RecentMap};
use gatefold_egress::{HttpRequest, Redirects};
use http::header::{ACCEPT, HeaderValue};
use http::{Method, StatusCode};
use serde::Deserialize;
use tokio::sync::Semaphore;
use tokio::time::{Instant, timeout};
use url::Url;

use crate::clients::{Client, REDIRECTS, shown_name, takes_codes};
use crate::redirect::RedirectUri;
use crate::settings::DocumentAccess;

/// The longest document, in bytes.
const DOCUMENT_BYTES: u64 = 16 * 1024;
/// How long fetching one may take.
const FETCH_LIMIT: Duration = Duration::from_secs(5);
/// How many are fetched at once.
const FETCHES: usize = 8;
/// How many are kept.
const KEPT: usize = 256;
/// How long one is kept. A client that changes its addresses waits as long.
const KEPT_FOR: Duration = Duration::from_secs(5 * 60);

/// Fetches documents, and keeps them for a while.
pub(crate) struct DocumentCache {
    access: DocumentAccess,
    turns: Semaphore,
    /// At most [`KEPT`].
    known: Mutex<RecentMap<Url, KnownDocument>>,
}

#[derive(Clone)]
struct KnownDocument {
    client: Client,
    fetched_at: Duration,
}

/// Why a document does not say who a client is, for a person to read.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct DocumentFault(pub(crate) String);

/// What of a document counts here.
#[derive(Deserialize)]
struct DocumentText {
    client_id: String,
    client_name: Option<String>,
    redirect_uris: Vec<String>,
    token_endpoint_auth_method: Option<String>,
    grant_types: Option<Vec<String>>,
    response_types: Option<Vec<String>>,
    client_secret: Option<serde_json::Value>,
}

impl DocumentCache {
    pub(crate) fn new(access: DocumentAccess) -> Self {
        let known = Mutex::new(RecentMap::new(KEPT));
        Self { access, turns: Semaphore::new(FETCHES), known }
    }

    pub(crate) fn allows_loopback(&self) -> bool {
        self.access.allows_loopback
    }

    /// The client whose document lies at an address.
    pub(crate) async fn client(
        &self,
        url: &Url,
        clock: &dyn Clock,
    ) -> Result<Client, DocumentFault> {
        let now = clock.uptime();
        {
            let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
            let kept = known.get(url).filter(|it| now.saturating_sub(it.fetched_at) < KEPT_FOR);
            if let Some(kept) = kept {
                return Ok(kept.client.clone());
            }
        }
        let client = read(url, &self.fetch(url).await?)?;
        let document = KnownDocument { client: client.clone(), fetched_at: now };
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.insert(url.clone(), document);
        Ok(client)
    }

    async fn fetch(&self, url: &Url) -> Result<Vec<u8>, DocumentFault> {
        let deadline = Instant::now() + FETCH_LIMIT;
        let busy =
            || DocumentFault("Too many clients are looked up at once: try again.".to_owned());
        let turn = timeout(FETCH_LIMIT, self.turns.acquire()).await;
        let _turn = turn.map_err(|_| busy())?.map_err(|_| busy())?;
        // A redirect is not followed: the document has to lie where the id says.
        let request = HttpRequest::new(Method::GET, url.clone())
            .header(ACCEPT, HeaderValue::from_static("application/json"))
            .redirects(Redirects::None);
        let failed = |error: &dyn std::error::Error| {
            // The details tell about networks that only we can reach.
            tracing::info!(url = %gatefold_egress::redacted(url), %error, "a client's metadata document could not be fetched");
            DocumentFault("Its metadata document could not be fetched.".to_owned())
        };
        let answer = self.access.client.send(request, deadline).await.map_err(|it| failed(&it))?;
        if answer.status() != StatusCode::OK {
            let status = answer.status().as_u16();
            let why = format!("Its metadata document was answered with the status {status}.");
            return Err(DocumentFault(why));
        }
        let body = answer.read_capped(DOCUMENT_BYTES).await.map_err(|it| failed(&it))?;
        Ok(body.to_vec())
    }
}

/// Reads a document: it is about its own address, and its client needs nothing that is not offered.
fn read(url: &Url, body: &[u8]) -> Result<Client, DocumentFault> {
    let fault = |why: &str| DocumentFault(format!("Its metadata document {why}."));
    let text: DocumentText = serde_json::from_slice(body)
        .map_err(|_| fault("is no JSON with `client_id` and `redirect_uris`"))?;
    if text.client_id != url.as_str() {
        return Err(fault("is about another client"));
    }
    if text.client_secret.is_some()
        || text.token_endpoint_auth_method.is_some_and(|method| method != "none")
    {
        return Err(fault("wants to prove itself with more than PKCE, which is not offered here"));
    }
    if !takes_codes(text.grant_types.as_deref(), text.response_types.as_deref()) {
        return Err(fault("asks for no codes"));
    }
    if text.redirect_uris.is_empty() || text.redirect_uris.len() > REDIRECTS {
        return Err(fault(&format!("has no redirect addresses, or more than {REDIRECTS}")));
    }
    // Those that are not taken here may be for another kind of provider.
    let legal = |uri: &String| RedirectUri::parse(uri).is_ok();
    let redirects: Vec<_> = text.redirect_uris.into_iter().filter(legal).collect();
    if redirects.is_empty() {
        return Err(fault("has no redirect address that is safe"));
    }
    let host = url.host_str().unwrap_or_default().to_owned();
    let name = text.client_name.as_deref().map(shown_name).filter(|name| !name.is_empty());
    let name = name.unwrap_or_else(|| host.clone());
    Ok(Client { id: text.client_id, name, host: Some(host), redirects })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_is_about_its_own_address_and_a_public_client() {
        let own =
            r#""client_id": "https://a.example/c", "redirect_uris": ["https://a.example/cb"]"#;
        for (body, legal) in [
            (format!("{{{own}}}"), true),
            (
                format!(r#"{{{own}, "client_name": "A", "token_endpoint_auth_method": "none"}}"#),
                true,
            ),
            (format!(r#"{{{own}, "token_endpoint_auth_method": "private_key_jwt"}}"#), false),
            (format!(r#"{{{own}, "client_secret": "x"}}"#), false),
            (format!(r#"{{{own}, "grant_types": ["implicit"]}}"#), false),
            (format!(r#"{{{own}, "response_types": ["token"]}}"#), false),
            (own.replace("a.example/c\"", "b.example/c\""), false),
            (format!("{{{}}}", own.replace("a.example/c\"", "b.example/c\"")), false),
            (format!("{{{}}}", own.replace("a.example/c\"", "a.example/c/\"")), false),
            (format!("{{{}}}", own.replace("https://a.example/cb", "javascript:x")), false),
            (r#"{"client_id": "https://a.example/c", "redirect_uris": []}"#.to_owned(), false),
            (r#"{"client_id": "https://a.example/c"}"#.to_owned(), false),
            ("[]".to_owned(), false),
            (String::new(), false),
        ] {
            let url = Url::parse("https://a.example/c").expect("it is an address");
            assert_eq!(read(&url, body.as_bytes()).is_ok(), legal, "{body}");
        }
    }
}
