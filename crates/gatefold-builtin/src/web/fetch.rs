//! `fetch`: one page, as a text.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use futures::FutureExt as _;
use futures::future::BoxFuture;
use gatefold_documents::{PDF_MEDIA_TYPE, PDF_TIME, is_pdf, markdown_of_html, pdf_text};
use gatefold_egress::{HttpClient, HttpRequest};
use http::Method;
use http::header::{ACCEPT, HeaderValue};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::reach;
use crate::compute;
use crate::face::{self, ToolCategory, ToolFace};
use crate::tool::BuiltinTool;
use crate::workers::{CallerWork, WorkKind, Workers};
use crate::{BuiltinAnswer, BuiltinCall, BuiltinError, arguments};

/// The most text of one answer, and how much without a wish, in characters.
const MAX_LENGTH: usize = 100_000;
const LENGTH: usize = 20_000;

const ACCEPTED: HeaderValue = HeaderValue::from_static(
    "text/markdown, text/html;q=0.9, text/plain;q=0.8, application/json;q=0.8, application/pdf;q=0.7, \
     */*;q=0.1",
);

pub(crate) struct Fetch {
    client: HttpClient,
    workers: Workers,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FetchArguments {
    url: String,
    #[serde(default)]
    start: usize,
    max_length: Option<usize>,
    #[serde(default)]
    raw: bool,
}

#[derive(Serialize)]
struct FetchAnswer {
    url: String,
    media_type: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<String>,
    text: String,
    /// In characters.
    total_length: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_start: Option<usize>,
}

impl Fetch {
    pub(crate) fn new(client: HttpClient, workers: Workers) -> Self {
        Self { client, workers }
    }

    async fn answer(&self, call: &BuiltinCall) -> Result<BuiltinAnswer, BuiltinError> {
        let asked: FetchArguments = arguments::read(&call.arguments)?;
        let request =
            HttpRequest::new(Method::GET, reach::url(&asked.url)?).header(ACCEPT, ACCEPTED);
        let answer = reach::send(&self.client, request, call).await?;
        if !answer.status.is_success() {
            let message = format!("the server answered {}", answer.status);
            return Err(BuiltinError::Arguments(message));
        }
        let is_pdf = is_pdf(&answer.body) || answer.media_type() == PDF_MEDIA_TYPE;
        if !is_pdf && !answer.is_text() {
            let message = format!(
                "this is `{}` of {} bytes, which cannot be shown as a text",
                answer.media_type(),
                answer.body.len()
            );
            return Err(BuiltinError::Arguments(message));
        }
        let media_type = if is_pdf { PDF_MEDIA_TYPE.to_owned() } else { answer.media_type() };
        let page = FetchedPage { url: answer.url.to_string(), media_type, asked };
        let time = page.time();
        let work = CallerWork::new(WorkKind::Page, &page)?.within(time);
        self.workers.run(&call.principal, &work, &answer.body).await
    }
}

/// A page whose text is asked for. Its bytes are beside it.
#[derive(Serialize, Deserialize)]
pub(crate) struct FetchedPage {
    url: String,
    media_type: String,
    asked: FetchArguments,
}

impl FetchedPage {
    /// How long it may take to read.
    fn time(&self) -> Duration {
        if self.media_type == PDF_MEDIA_TYPE { PDF_TIME } else { compute::TIME }
    }
}

/// What a worker does.
pub(crate) fn show_page(page: &FetchedPage, body: &[u8]) -> Result<BuiltinAnswer, BuiltinError> {
    if page.media_type == PDF_MEDIA_TYPE {
        let read = pdf_text(body, Instant::now() + page.time());
        let read = read.map_err(|fault| BuiltinError::Arguments(fault.to_string()))?;
        return part(page, read.title, &read.text);
    }
    let is_html = matches!(&page.media_type[..], "text/html" | "application/xhtml+xml");
    if !is_html || page.asked.raw {
        return part(page, None, &reach::text_of(body));
    }
    let read = markdown_of_html(&reach::text_of(body), &reach::url(&page.url)?);
    part(page, read.title, &read.text)
}

/// The part of a text that is asked for.
fn part(
    page: &FetchedPage,
    title: Option<String>,
    whole: &str,
) -> Result<BuiltinAnswer, BuiltinError> {
    let asked = &page.asked;
    let total_length = whole.chars().count();
    if asked.start > total_length {
        let message = format!("the text has only {total_length} characters");
        return Err(BuiltinError::Arguments(message));
    }
    let most = asked.max_length.unwrap_or(LENGTH).clamp(1, MAX_LENGTH);
    let text: String = whole.chars().skip(asked.start).take(most).collect();
    let end = asked.start + most;
    let next_start = (end < total_length).then_some(end);
    let mut said = String::new();
    if let Some(title) = title.as_ref().filter(|_| asked.start == 0) {
        said = format!("# {title}\n\n");
    }
    said.push_str(&text);
    if let Some(next) = next_start {
        let _ = write!(said, "\n[{total_length} characters in all; go on with start={next}]");
    }
    let (url, media_type) = (page.url.clone(), page.media_type.clone());
    let answer = FetchAnswer { url, media_type, title, text, total_length, next_start };
    Ok(BuiltinAnswer::new(said, &answer))
}

impl BuiltinTool for Fetch {
    fn face(&self) -> ToolFace {
        ToolFace {
            name: "fetch",
            title: "Fetch a page",
            description:
                "Read a page of the web as Markdown, its main text first, the text of a PDF, or any \
                 other text, by its address."
                    .to_owned(),
            category: ToolCategory::Web,
            hints: reach::reading_the_web(),
            input: face::object(
                &json!({
                    "url": face::text("With `https://` or `http://`."),
                    "start": {
                        "type": "integer",
                        "minimum": 0,
                        "description": "From which character on; `next_start` of the answer before.",
                    },
                    "max_length": face::count("How many characters at most.", MAX_LENGTH),
                    "raw": face::flag("The page's own HTML."),
                }),
                &["url"],
            ),
            output: face::object(
                &json!({
                    "url": face::text("Where it came from, after redirects."),
                    "media_type": { "type": "string" },
                    "title": { "type": "string" },
                    "text": { "type": "string" },
                    "total_length": { "type": "integer", "description": "In characters." },
                    "next_start": { "type": "integer", "description": "Where to read on." },
                }),
                &["url", "media_type", "text", "total_length"],
            ),
        }
    }

    fn call<'a>(
        &'a self,
        call: &'a BuiltinCall,
    ) -> BoxFuture<'a, Result<BuiltinAnswer, BuiltinError>> {
        self.answer(call).boxed()
    }
}
