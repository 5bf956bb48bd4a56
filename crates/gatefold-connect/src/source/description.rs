//! What a description offers: its documents, fetched and read.

use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;
use futures::FutureExt as _;
use futures::future::BoxFuture;
use gatefold_catalog::Manifest;
use gatefold_core::{BoxError, Timestamp};
use gatefold_egress::{HttpClient, HttpRequest};
use gatefold_secrecy::KnownSecrets;
use http::header::ACCEPT;
use http::{HeaderValue, Method};
use serde_json::value::RawValue;
use tokio::time::Instant;
use url::Url;

use super::{DescribedOperations, DescriptionPlace};
use crate::auth::SignIn;
use crate::openapi::{
    ApiDocuments, BudgetSpent, DOCUMENT_LIMIT, DescriptionError, DescriptionOptions,
    DocumentBudget, Documents, FileDocuments,
};

mod credentials;

/// How long one document may take to arrive. The source's own deadline is for all of them.
const DOCUMENT_DEADLINE: Duration = Duration::from_mins(1);

/// How a description is read.
pub(super) struct DescriptionReading<'a> {
    pub(super) described: &'a DescribedOperations,
    pub(super) base_url: Option<Url>,
    pub(super) sign_in: SignIn<'a>,
    /// Whether whoever calls brings the credentials.
    pub(super) has_callers_credentials: bool,
    pub(super) client: &'a HttpClient,
    /// Masked in whatever the description says: its server may repeat what it was asked with.
    pub(super) secrets: Arc<KnownSecrets>,
}

impl DescriptionReading<'_> {
    /// Fetches the documents and reads them on a thread that may block.
    pub(super) async fn manifest(self, now: Timestamp) -> Result<Manifest, BoxError> {
        let documents = self.documents().await.map_err(|error| self.masked(error))?;
        let Self { described, base_url, sign_in, secrets, .. } = self;
        let server_variables = described.server_variables.clone();
        let options = DescriptionOptions { base_url, server_variables };
        let overlay = described.overlay.clone();
        let read = move || {
            let mut reading = documents.read(&options, &overlay)?;
            let tools = reading
                .by_ref()
                .fold(Manifest::builder(now), |tools, draft| tools.tool(draft.into_spec()));
            Ok::<_, DescriptionError>((reading.finish(), tools))
        };
        let (mut read, tools) = tokio::task::spawn_blocking(read).await?.map_err(with_cause)?;
        if !self.has_callers_credentials {
            read.notes.splice(0..0, credentials::notes(&read, sign_in));
        }
        // They name addresses.
        for note in &mut read.notes {
            note.what = secrets.mask(&note.what).into_owned();
        }
        Ok(tokio::task::spawn_blocking(move || read.into_manifest(tools)).await?)
    }

    async fn documents(&self) -> Result<ApiDocuments, BoxError> {
        let loaded = match &self.described.place {
            DescriptionPlace::File(path) => {
                let shown = |error| format!("`{}` cannot be read: {error}", path.display());
                let (files, url) = FileDocuments::beside(path).map_err(shown)?;
                ApiDocuments::load(&url, &files).await
            }
            DescriptionPlace::Url(url) => {
                let remote =
                    RemoteDocuments { client: self.client, first: url, secrets: &self.secrets };
                ApiDocuments::load(url, &remote).await
            }
        };
        loaded.map_err(with_cause)
    }

    fn masked(&self, error: BoxError) -> BoxError {
        match self.secrets.mask(&error.to_string()) {
            Cow::Borrowed(_) => error,
            Cow::Owned(masked) => masked.into(),
        }
    }
}

/// The error with its cause, and where it all began, in one text: only the text is shown.
fn with_cause(error: DescriptionError) -> BoxError {
    match error {
        DescriptionError::Fetch(cause) => {
            let mut first = cause.source();
            while let Some(before) = first.and_then(|error| error.source()) {
                first = Some(before);
            }
            let first = first.map(|error| format!(": {error}")).unwrap_or_default();
            format!("the description could not be had: {cause}{first}").into()
        }
        other => other.into(),
    }
}

/// Documents from other machines, without credentials. A client certificate is shown at the description's
/// own origin alone.
struct RemoteDocuments<'a> {
    client: &'a HttpClient,
    /// The description itself.
    first: &'a Url,
    secrets: &'a KnownSecrets,
}

impl Documents for RemoteDocuments<'_> {
    fn fetch<'a>(
        &'a self,
        url: &'a Url,
        budget: &'a DocumentBudget,
    ) -> BoxFuture<'a, Result<Bytes, BoxError>> {
        let accepted = "application/json, application/yaml;q=0.9, */*;q=0.5";
        let request = HttpRequest::new(Method::GET, url.clone())
            .header(ACCEPT, HeaderValue::from_static(accepted));
        let is_own = url.origin() == self.first.origin();
        let client = if is_own { self.client } else { self.client.anonymous() };
        async move {
            let answer = client.send(request, Instant::now() + DOCUMENT_DEADLINE).await?;
            let status = answer.status();
            if !status.is_success() {
                return Err(format!("its server answered {status}").into());
            }
            let (taken, is_spent) = (AtomicUsize::new(0), AtomicBool::new(false));
            let admit = |bytes: usize| {
                let new = bytes - taken.swap(bytes, Ordering::Relaxed);
                let is_admitted = budget.take(new).is_ok();
                is_spent.store(!is_admitted, Ordering::Relaxed);
                std::future::ready(is_admitted)
            };
            let read = answer.read_admitted(DOCUMENT_LIMIT as u64, admit).await;
            if is_spent.into_inner() {
                return Err(BudgetSpent.into());
            }
            Ok(masked(read?, self.secrets))
        }
        .boxed()
    }
}

/// A document without the secrets that its server repeats.
fn masked(bytes: Bytes, secrets: &KnownSecrets) -> Bytes {
    if !secrets.may_be_in(&bytes) {
        return bytes;
    }
    let text = String::from_utf8_lossy(&bytes);
    // Escapes in JSON must not hide a secret.
    let is_json = serde_json::from_str::<&RawValue>(&text).is_ok();
    let masked = if is_json { secrets.mask_json(&text) } else { secrets.mask(&text) };
    masked.into_owned().into()
}
