//! Tools that reach out: `fetch`, `http_request` and `web_search`.
//!
//! All of them use the guarded client, which refuses addresses that are not on the Internet unless the
//! configuration allows them, behind redirects too.

mod fetch;
mod http_request;
mod reach;
mod search;

pub(crate) use fetch::{Fetch, show_page};
pub(crate) use http_request::HttpRequestTool;
pub(crate) use search::WebSearch;
pub use search::{SearchApi, SearchSettings};
