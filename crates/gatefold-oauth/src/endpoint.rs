//! Requests to a provider, each with a limit on its answer.

use bytes::Bytes;
use gatefold_egress::{EgressError, HttpClient, HttpRequest, Redirects};
use http::header::{ACCEPT, CONTENT_TYPE, HeaderValue};
use http::{Method, StatusCode};
use reqwest::Url;
use tokio::time::Instant;

use crate::SignInError;
use crate::client::ClientProof;

/// The longest answer that is read, in bytes.
const ANSWER_LIMIT: u64 = 256 * 1024;

/// A client and the time by which everything must be over.
#[derive(Clone, Copy)]
pub(crate) struct Endpoints<'a> {
    pub(crate) client: &'a HttpClient,
    pub(crate) deadline: Instant,
}

pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) body: Bytes,
}

impl Endpoints<'_> {
    /// Reads a document. `None` if it is not there.
    pub(crate) async fn document(
        &self,
        what: &'static str,
        url: &Url,
    ) -> Result<Option<Bytes>, SignInError> {
        let request = HttpRequest::new(Method::GET, url.clone())
            .header(ACCEPT, HeaderValue::from_static("application/json"));
        let answer = self.send(what, request).await?;
        Ok(answer.status.is_success().then_some(answer.body))
    }

    /// The status with which an address answers a question without parameters.
    pub(crate) async fn status(
        &self,
        what: &'static str,
        url: &Url,
    ) -> Result<StatusCode, SignInError> {
        let request = HttpRequest::new(Method::GET, url.clone()).redirects(Redirects::None);
        let failed = |source: EgressError| SignInError::Unreachable { what, source };
        let answer = self.client.send(request, self.deadline).await.map_err(failed)?;
        Ok(answer.status())
    }

    pub(crate) async fn post_json(
        &self,
        what: &'static str,
        url: &Url,
        body: String,
    ) -> Result<Answer, SignInError> {
        self.send(what, post(url, "application/json", body)).await
    }

    /// Sends a form on behalf of a client. A redirect is an answer like any other: what the form
    /// holds goes nowhere else.
    pub(crate) async fn post_form(
        &self,
        what: &'static str,
        url: &Url,
        fields: &[(&str, &str)],
        proof: &ClientProof,
    ) -> Result<Answer, SignInError> {
        let mut request = post(url, "application/x-www-form-urlencoded", form(fields, proof));
        request
            .credentials
            .extend(proof.header.iter().map(|(name, value)| (Some(name.clone()), value.clone())));
        self.send(what, request).await
    }

    async fn send(&self, what: &'static str, request: HttpRequest) -> Result<Answer, SignInError> {
        let failed = |source: EgressError| SignInError::Unreachable { what, source };
        let answer = self.client.send(request, self.deadline).await.map_err(failed)?;
        let status = answer.status();
        let body = answer.read_capped(ANSWER_LIMIT).await.map_err(failed)?;
        Ok(Answer { status, body })
    }
}

fn form(fields: &[(&str, &str)], proof: &ClientProof) -> String {
    let mut form = url::form_urlencoded::Serializer::new(String::new());
    form.extend_pairs(fields);
    form.extend_pairs(proof.fields.iter().map(|(name, value)| (*name, value.expose())));
    form.finish()
}

fn post(url: &Url, kind: &'static str, body: String) -> HttpRequest {
    HttpRequest::new(Method::POST, url.clone())
        .header(CONTENT_TYPE, HeaderValue::from_static(kind))
        .header(ACCEPT, HeaderValue::from_static("application/json"))
        .redirects(Redirects::None)
        .body(body)
}
