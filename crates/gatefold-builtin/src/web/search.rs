//! `web_search`: a search engine's API that the configuration names.

use std::fmt;
use std::fmt::Write as _;
use std::str::FromStr;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use gatefold_core::Secret;
use gatefold_egress::{HttpClient, HttpRequest, Redirects};
use http::Method;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderName, HeaderValue};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use url::Url;

use super::reach;
use crate::face::{self, ToolCategory, ToolFace};
use crate::tool::BuiltinTool;
use crate::{BuiltinAnswer, BuiltinCall, BuiltinError, arguments};

/// The longest query, in bytes.
const MAX_QUERY: usize = 400;

/// The most results, and how many without a wish.
const MAX_RESULTS: usize = 20;
const RESULTS: usize = 8;

/// The longest text of one result, in characters.
const MAX_TEXT: usize = 600;

/// Where searches go.
#[derive(Debug, Clone)]
pub struct SearchSettings {
    pub url: Url,
    pub api: SearchApi,
    pub key: Option<Secret>,
}

/// How a search engine is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SearchApi {
    /// GET with `q`, the key in `X-Subscription-Token`, results in `web.results`.
    Brave,
    /// GET with `q` and `format=json`, results in `results`.
    Searxng,
    /// POST with `query`, the key as a bearer token, results in `results`.
    Tavily,
}

impl SearchApi {
    pub const WORDS: [&str; 3] = ["brave", "searxng", "tavily"];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Brave => "brave",
            Self::Searxng => "searxng",
            Self::Tavily => "tavily",
        }
    }
}

impl fmt::Display for SearchApi {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for SearchApi {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let all = [Self::Brave, Self::Searxng, Self::Tavily];
        all.into_iter().find(|api| api.as_str() == text).ok_or(())
    }
}

pub(crate) struct WebSearch {
    settings: SearchSettings,
    client: HttpClient,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WebSearchArguments {
    query: String,
    max_results: Option<usize>,
}

#[derive(Serialize)]
struct WebSearchAnswer {
    results: Vec<FoundPage>,
}

#[derive(Serialize)]
struct FoundPage {
    title: String,
    url: String,
    text: String,
}

impl WebSearch {
    pub(crate) fn new(settings: SearchSettings, client: HttpClient) -> Self {
        Self { settings, client }
    }

    async fn answer(&self, call: &BuiltinCall) -> Result<BuiltinAnswer, BuiltinError> {
        let asked: WebSearchArguments = arguments::read(&call.arguments)?;
        let query = arguments::bounded("query", asked.query.trim(), MAX_QUERY)?;
        if query.is_empty() {
            return Err(BuiltinError::arguments("`query` is empty"));
        }
        let most = asked.max_results.unwrap_or(RESULTS).clamp(1, MAX_RESULTS);
        let request = self.request(query, most)?;
        let answer = reach::send(&self.client, request, call).await;
        // What goes wrong here is nothing that the caller chose.
        let answer = answer.map_err(|error| BuiltinError::unavailable(error.to_string()))?;
        if !answer.status.is_success() {
            let reason = format!("the search engine answered {}", answer.status);
            return Err(BuiltinError::unavailable(reason));
        }
        let body: Value = serde_json::from_slice(&answer.body)
            .map_err(|_| BuiltinError::unavailable("the search engine answered no JSON"))?;
        let results = match self.settings.api {
            SearchApi::Brave => &body["web"]["results"],
            SearchApi::Searxng | SearchApi::Tavily => &body["results"],
        };
        let results: Vec<_> = results.as_array().into_iter().flatten().filter_map(found).collect();
        let results: Vec<_> = results.into_iter().take(most).collect();
        Ok(BuiltinAnswer::new(shown(&results), &WebSearchAnswer { results }))
    }

    fn request(&self, query: &str, most: usize) -> Result<HttpRequest, BuiltinError> {
        let SearchSettings { url, api, key } = &self.settings;
        let mut url = url.clone();
        let key = key.as_ref().map(Secret::expose).unwrap_or_default();
        let header = |text: &str| {
            let value = HeaderValue::from_str(text);
            value.map_err(|_| BuiltinError::unavailable("the key for searches is no header value"))
        };
        let json = HeaderValue::from_static("application/json");
        let request = match api {
            SearchApi::Brave => {
                url.query_pairs_mut()
                    .append_pair("q", query)
                    .append_pair("count", &most.to_string());
                let mut request = HttpRequest::new(Method::GET, url);
                let name = HeaderName::from_static("x-subscription-token");
                request.credentials.insert(name, header(key)?);
                request
            }
            SearchApi::Searxng => {
                url.query_pairs_mut().append_pair("q", query).append_pair("format", "json");
                let mut request = HttpRequest::new(Method::GET, url);
                if !key.is_empty() {
                    let bearer = header(&format!("Bearer {key}"))?;
                    request.credentials.insert(AUTHORIZATION, bearer);
                }
                request
            }
            SearchApi::Tavily => {
                let body = json!({ "query": query, "max_results": most }).to_string();
                let mut request = HttpRequest::new(Method::POST, url).body(body);
                request.credentials.insert(AUTHORIZATION, header(&format!("Bearer {key}"))?);
                request.header(CONTENT_TYPE, json.clone())
            }
        };
        Ok(request.header(ACCEPT, json).redirects(Redirects::None))
    }
}

fn found(result: &Value) -> Option<FoundPage> {
    let text = |names: &[&str]| {
        let text = names.iter().find_map(|name| result[*name].as_str()).unwrap_or_default();
        // Engines mark what matched, in HTML.
        let plain = text.replace("<strong>", "").replace("</strong>", "");
        plain.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(MAX_TEXT).collect()
    };
    let url = result["url"].as_str()?.to_owned();
    Some(FoundPage { title: text(&["title"]), url, text: text(&["description", "content"]) })
}

fn shown(results: &[FoundPage]) -> String {
    let mut text = String::new();
    for (number, page) in (1..).zip(results) {
        let _ = writeln!(text, "{number}. {}\n   {}\n   {}", page.title, page.url, page.text);
    }
    if results.is_empty() { "nothing was found".to_owned() } else { text.trim_end().to_owned() }
}

impl BuiltinTool for WebSearch {
    fn face(&self) -> ToolFace {
        let page = face::object(
            &json!({
                "title": { "type": "string" },
                "url": { "type": "string" },
                "text": { "type": "string" },
            }),
            &["title", "url", "text"],
        );
        ToolFace {
            name: "web_search",
            title: "Search the web",
            description: "Search the web and get titles, addresses and short texts of pages."
                .to_owned(),
            category: ToolCategory::Web,
            hints: reach::reading_the_web(),
            input: face::object(
                &json!({
                    "query": face::bounded_text("What is looked for.", MAX_QUERY),
                    "max_results": face::count("How many at most.", MAX_RESULTS),
                }),
                &["query"],
            ),
            output: face::object(
                &json!({ "results": { "type": "array", "items": page } }),
                &["results"],
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
