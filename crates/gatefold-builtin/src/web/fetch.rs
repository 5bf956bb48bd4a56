//! `fetch`: one page, as a text.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use futures::FutureExt as _;
use futures::future::BoxFuture;
use gatefold_documents::{DocumentFault, Format, Hints, READING_TIME, is_document, read_document};
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
        let media_type = answer.media_type();
        // What begins as a document is one whatever its media type says: many servers have no other for all files.
        let is_document = is_document(&answer.body) || is_read(&media_type);
        if !is_document && !answer.is_text() {
            let message = format!(
                "this is `{media_type}` of {} bytes, which cannot be shown as a text",
                answer.body.len()
            );
            return Err(BuiltinError::Arguments(message));
        }
        let page = FetchedPage { url: answer.url.to_string(), media_type, is_document, asked };
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
    /// Whether it is something else than a page or a text.
    is_document: bool,
    asked: FetchArguments,
}

/// Whether a media type is that of a document that is read and no text.
fn is_read(media_type: &str) -> bool {
    use Format::{Docx, Eml, Pdf, Pptx, Xlsx};
    Format::of_media_type(media_type)
        .is_some_and(|format| matches!(format, Pdf | Docx | Pptx | Xlsx | Eml))
}

impl FetchedPage {
    /// How long it may take to read.
    fn time(&self) -> Duration {
        if self.is_document { READING_TIME } else { compute::TIME }
    }
}

/// What a worker does.
pub(crate) fn show_page(page: &FetchedPage, body: &[u8]) -> Result<BuiltinAnswer, BuiltinError> {
    let is_shown_as_it_is = match Format::of_media_type(&page.media_type) {
        Some(Format::Html | Format::Csv) => page.asked.raw,
        _ => true,
    };
    if !page.is_document && is_shown_as_it_is {
        return part(page, &page.media_type, None, &reach::text_of(body));
    }
    let address = reach::url(&page.url)?;
    let hints = Hints {
        name: Some(address.path()),
        media_type: Some(&page.media_type),
        address: Some(&address),
    };
    let read = read_document(body, &hints, Instant::now() + page.time());
    let document = match read {
        // A page of nothing but pictures or scripts is no failure.
        Err(DocumentFault::NoText(Format::Html | Format::Csv)) => {
            return part(page, &page.media_type, None, "");
        }
        read => read.map_err(|fault| BuiltinError::Arguments(fault.to_string()))?,
    };
    let media_type = if page.is_document { document.format.media_type() } else { &page.media_type };
    part(page, media_type, document.title.clone(), &document.annotated_text())
}

/// The part of a text that is asked for.
fn part(
    page: &FetchedPage,
    media_type: &str,
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
    // Many documents begin with their title.
    let is_said = |title: &&String| whole.lines().next() == Some(&format!("# {title}"));
    if let Some(title) = title.as_ref().filter(|title| asked.start == 0 && !is_said(title)) {
        said = format!("# {title}\n\n");
    }
    said.push_str(&text);
    if let Some(next) = next_start {
        let _ = write!(said, "\n[{total_length} characters in all; go on with start={next}]");
    }
    let (url, media_type) = (page.url.clone(), media_type.to_owned());
    let answer = FetchAnswer { url, media_type, title, text, total_length, next_start };
    Ok(BuiltinAnswer::new(said, &answer))
}

impl BuiltinTool for Fetch {
    fn face(&self) -> ToolFace {
        ToolFace {
            name: "fetch",
            title: "Fetch a page",
            description:
                "Read a page of the web as Markdown, its main text first, the text of a document (PDF, \
                 DOCX, PPTX, XLSX, CSV, mail), or any other text, by its address."
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
