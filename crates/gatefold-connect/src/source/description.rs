//! What a description offers: its documents, fetched and read.

use std::time::Duration;

use bytes::Bytes;
use futures::FutureExt as _;
use futures::future::BoxFuture;
use gatefold_catalog::Manifest;
use gatefold_core::{BoxError, Timestamp};
use gatefold_egress::{HttpClient, HttpRequest};
use http::header::ACCEPT;
use http::{HeaderValue, Method};
use tokio::time::Instant;
use url::Url;

use super::{DescribedOperations, DescriptionPlace};
use crate::openapi::{
    ApiDocuments, DOCUMENT_LIMIT, DescriptionError, DescriptionNote, DescriptionOptions, Documents,
    FileDocuments,
};

/// How long one document may take to arrive. The source's own deadline is for all of them.
const DOCUMENT_DEADLINE: Duration = Duration::from_mins(1);

/// Fetches the documents and reads them on a thread that may block.
pub(super) async fn manifest(
    described: &DescribedOperations,
    base_url: Option<Url>,
    client: &HttpClient,
    now: Timestamp,
) -> Result<Manifest, BoxError> {
    let documents = match &described.place {
        DescriptionPlace::File(path) => {
            let shown = |error| format!("`{}` cannot be read: {error}", path.display());
            let (files, url) = FileDocuments::beside(path).map_err(shown)?;
            ApiDocuments::load(&url, &files).await
        }
        DescriptionPlace::Url(url) => ApiDocuments::load(url, &RemoteDocuments(client)).await,
    };
    let documents = documents.map_err(with_cause)?;
    let server_variables = described.server_variables.clone();
    let options = DescriptionOptions { base_url, server_variables };
    let overlay = described.overlay.clone();
    let read = move || {
        let mut read = documents.describe(&options)?;
        let unmatched = read.apply(&overlay).unmatched.into_iter();
        read.notes.extend(unmatched.map(|what| DescriptionNote {
            tool: None,
            what: format!("the overlay was not followed: {what}"),
        }));
        Ok(read.into_manifest(now))
    };
    tokio::task::spawn_blocking(read).await?.map_err(with_cause)
}

/// The error with its cause in one text: only the text is shown.
fn with_cause(error: DescriptionError) -> BoxError {
    match error {
        DescriptionError::Fetch(cause) => {
            format!("the description could not be had: {cause}").into()
        }
        other => other.into(),
    }
}

/// Documents from other machines, without credentials.
struct RemoteDocuments<'a>(&'a HttpClient);

impl Documents for RemoteDocuments<'_> {
    fn fetch<'a>(&'a self, url: &'a Url) -> BoxFuture<'a, Result<Bytes, BoxError>> {
        let accepted = "application/json, application/yaml;q=0.9, */*;q=0.5";
        let request = HttpRequest::new(Method::GET, url.clone())
            .header(ACCEPT, HeaderValue::from_static(accepted));
        async move {
            let answer = self.0.send(request, Instant::now() + DOCUMENT_DEADLINE).await?;
            let status = answer.status();
            if !status.is_success() {
                return Err(format!("its server answered {status}").into());
            }
            Ok(answer.read_capped(DOCUMENT_LIMIT as u64).await?)
        }
        .boxed()
    }
}
