//! Fetches a server's lists page by page.

use std::time::Duration;

use gatefold_catalog::{EntryDefinition, Listing, Manifest};
use gatefold_core::Timestamp;
use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::time::timeout;

use super::super::log_budget::NAMED;
use super::super::message::Reply;
use super::super::mirrored_arguments;
use super::super::params::OutgoingParams;
use super::super::request::WireError;
use super::UpstreamSession;
use crate::protocol::codes::METHOD_NOT_FOUND;
use crate::protocol::{Era, RpcError, methods};

/// The largest page of a list that is read, in bytes.
const PAGE_BYTES: u64 = 16 * 1024 * 1024;
/// The most pages of one list, for servers whose cursors never end.
pub const PAGES: usize = 1000;
/// The largest list that is read, all its pages together, in bytes.
pub const LIST_BYTES: usize = 64 * 1024 * 1024;

/// Why a list could not be fetched.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ListError {
    #[error(transparent)]
    Wire(#[from] WireError),
    #[error("`{method}` was refused: {}", error.message)]
    Refused { method: &'static str, error: RpcError },
    #[error("`{0}` gave more than {PAGES} pages")]
    Endless(&'static str),
    #[error("`{0}` gave more than {LIST_BYTES} bytes")]
    TooLarge(&'static str),
    #[error("`{0}` took longer than a connection may")]
    Late(&'static str),
    #[error("`{0}` gave the cursor it was asked with")]
    Circular(&'static str),
}

type Pages = Vec<Box<RawValue>>;

/// What a list held when it was last fetched.
struct FormerEntries<'a> {
    /// The member of a page that holds its entries.
    member: &'static str,
    entries: &'a [EntryDefinition],
}

impl FormerEntries<'_> {
    /// The entries as a page of the list.
    fn pages(&self) -> Pages {
        let entries: Vec<_> = self.entries.iter().map(EntryDefinition::raw).collect();
        let page = format!(r#"{{"{}":[{}]}}"#, self.member, entries.join(","));
        RawValue::from_string(page).into_iter().collect()
    }
}

impl UpstreamSession {
    /// Fetches everything that the server lists. Without its tools this fails. Any other list that
    /// cannot be fetched stays as it was in the former manifest, so that what is shown does not
    /// depend on what runs.
    pub(crate) async fn list(
        &self,
        former: Option<&Manifest>,
        now: Timestamp,
        limit: Duration,
    ) -> Result<Manifest, ListError> {
        let offered = self.greeting.offered;
        let tools = async {
            match offered.tools {
                Some(_) => self.pages(methods::TOOLS_LIST).await,
                None => Ok(Pages::new()),
            }
        };
        let (has_prompts, has_resources) = (offered.prompts.is_some(), offered.resources.is_some());
        let of_former =
            |entries: fn(&Manifest) -> &[EntryDefinition]| former.map_or(&[][..], entries);
        let prompts = FormerEntries { member: "prompts", entries: of_former(Manifest::prompts) };
        let resources =
            FormerEntries { member: "resources", entries: of_former(Manifest::resources) };
        let templates =
            FormerEntries { member: "resourceTemplates", entries: of_former(Manifest::templates) };
        let (tools, prompts, resources, templates) = tokio::join!(
            tools,
            self.pages_if(has_prompts, methods::PROMPTS_LIST, limit, prompts),
            self.pages_if(has_resources, methods::RESOURCES_LIST, limit, resources),
            self.pages_if(has_resources, methods::TEMPLATES_LIST, limit, templates),
        );
        let tools: Pages = tools?.into_iter().map(|page| self.usable(page)).collect();
        let listing = Listing {
            tools: &tools,
            prompts: &prompts,
            resources: &resources,
            templates: &templates,
        };
        Ok(Manifest::from_listing(self.greeting.server.clone(), listing, now))
    }

    /// A page of tools without those that the protocol forbids to call over HTTP.
    fn usable(&self, page: Box<RawValue>) -> Box<RawValue> {
        if self.era() == Era::Handshake || !self.wire.has_headers() {
            return page;
        }
        let server = &self.greeting.server.name;
        let mut left_out = 0_usize;
        let page = mirrored_arguments::without_unusable(page, |tool, why| {
            left_out += 1;
            if left_out <= NAMED {
                tracing::warn!(server, tool, why, "a tool was left out");
            }
        });
        if left_out > NAMED {
            tracing::warn!(server, others = left_out - NAMED, "further tools were left out");
        }
        page
    }

    async fn pages_if(
        &self,
        is_offered: bool,
        method: &'static str,
        limit: Duration,
        former: FormerEntries<'_>,
    ) -> Pages {
        if !is_offered {
            return Pages::new();
        }
        let listed = timeout(limit, self.pages(method)).await;
        listed.unwrap_or(Err(ListError::Late(method))).unwrap_or_else(|error| match error {
            ListError::Refused { error: RpcError { code: METHOD_NOT_FOUND, .. }, .. } => {
                Pages::new()
            }
            error => {
                // A connection that ended is logged elsewhere, once, unless Gatefold ended it.
                if self.wire.ended().is_none() {
                    let (server, kept) = (&self.greeting.server.name, former.entries.len());
                    tracing::warn!(server, %error, kept, "a list could not be had");
                }
                former.pages()
            }
        })
    }

    async fn pages(&self, method: &'static str) -> Result<Pages, ListError> {
        let mut pages = Vec::new();
        let mut cursor = None;
        let mut bytes = 0_usize;
        loop {
            if pages.len() == PAGES {
                return Err(ListError::Endless(method));
            }
            let (page, next) = self.page(method, cursor.as_deref()).await?;
            bytes = bytes.saturating_add(page.get().len());
            if bytes > LIST_BYTES {
                return Err(ListError::TooLarge(method));
            }
            pages.push(page);
            match next {
                None => return Ok(pages),
                Some(next) if Some(&next) == cursor.as_ref() => {
                    return Err(ListError::Circular(method));
                }
                next => cursor = next,
            }
        }
    }

    async fn page(
        &self,
        method: &'static str,
        cursor: Option<&str>,
    ) -> Result<(Box<RawValue>, Option<String>), ListError> {
        #[derive(Deserialize)]
        struct PageCursor {
            #[serde(rename = "nextCursor", default)]
            next: Option<String>,
        }
        let params = OutgoingParams { cursor, ..OutgoingParams::default() };
        match self.request(method, params, PAGE_BYTES).await? {
            Reply::Result(page) => {
                let next = serde_json::from_str::<PageCursor>(page.get()).ok().and_then(|p| p.next);
                Ok((page, next.filter(|cursor| !cursor.is_empty())))
            }
            Reply::Error(error) => Err(ListError::Refused { method, error }),
        }
    }
}
