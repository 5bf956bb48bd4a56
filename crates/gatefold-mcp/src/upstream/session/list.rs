//! Fetches a server's lists page by page.

use std::time::Duration;

use gatefold_catalog::{EntryDefinition, Listing, Manifest, object_fields};
use gatefold_core::{AnswerFault, Timestamp};
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

use listed_tools::ListedTools;

mod listed_tools;

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
    /// An object without the list, or with `null` in its place.
    #[error("`{method}` gave no `{member}`")]
    Absent { method: &'static str, member: &'static str },
    #[error("`{method}` gave something else than a list of `{member}`")]
    Malformed { method: &'static str, member: &'static str },
}

impl ListError {
    /// What the server answered instead of a list, if it answered.
    pub(crate) fn fault(&self) -> Option<AnswerFault> {
        match self {
            Self::Wire(WireError::Refused(refusal) | WireError::TurnedAway(refusal)) => {
                Some(refusal.fault())
            }
            Self::Wire(WireError::NeedsSignIn(_)) => Some(AnswerFault::Status(401)),
            Self::Refused { .. } => Some(AnswerFault::RefusedList),
            Self::Wire(WireError::Broken(_) | WireError::TooLarge(_))
            | Self::Endless(_)
            | Self::TooLarge(_)
            | Self::Circular(_)
            | Self::Absent { .. }
            | Self::Malformed { .. } => Some(AnswerFault::Unreadable),
            Self::Wire(_) | Self::Late(_) => None,
        }
    }
}

pub(super) type Pages = Vec<Box<RawValue>>;

/// What a server listed.
pub(crate) struct ServerLists {
    pub(crate) manifest: Manifest,
    /// Why one of the lists beside its tools could not be had, if so. The manifest has the former one.
    pub(crate) failure: Option<ListError>,
}

/// A list of a server's.
#[derive(Clone, Copy)]
pub(super) struct ServerList {
    method: &'static str,
    /// The member of a page that holds its entries.
    member: &'static str,
}

pub(super) const TOOLS: ServerList = ServerList { method: methods::TOOLS_LIST, member: "tools" };
const PROMPTS: ServerList = ServerList { method: methods::PROMPTS_LIST, member: "prompts" };
const RESOURCES: ServerList = ServerList { method: methods::RESOURCES_LIST, member: "resources" };
const TEMPLATES: ServerList =
    ServerList { method: methods::TEMPLATES_LIST, member: "resourceTemplates" };

impl ServerList {
    /// Entries as a page of the list.
    fn page_of(self, entries: &[EntryDefinition]) -> Pages {
        let entries: Vec<_> = entries.iter().map(EntryDefinition::raw).collect();
        let page = format!(r#"{{"{}":[{}]}}"#, self.member, entries.join(","));
        RawValue::from_string(page).into_iter().collect()
    }

    /// What is wrong with a page that has no list, not even an empty one.
    fn fault_of(self, page: &RawValue) -> Option<ListError> {
        let Self { method, member } = self;
        let fields = object_fields(page.get());
        let entries = fields.as_ref().and_then(|fields| {
            let own = fields.iter().find(|(key, _)| key == member);
            own.map(|(_, value)| *value)
        });
        match entries {
            Some(entries) if entries.starts_with('[') => None,
            None | Some("null") if fields.is_some() => Some(ListError::Absent { method, member }),
            _ => Some(ListError::Malformed { method, member }),
        }
    }
}

impl UpstreamSession {
    /// Fetches everything that the server lists. Without its tools this fails. Any other list that
    /// cannot be fetched stays as it was in the former manifest, so that what is shown does not
    /// depend on what runs. Only a list whose method the server does not know is an empty one.
    pub(crate) async fn list(
        &self,
        former: Option<&Manifest>,
        now: Timestamp,
        limit: Duration,
    ) -> Result<ServerLists, ListError> {
        let offered = self.greeting.offered;
        let tools = async {
            match offered.tools {
                // Some servers write an empty list so. One that is known to have tools may as well be
                // at fault.
                Some(_) => match self.listed_tools().await {
                    Err(ListError::Absent { .. })
                        if former.is_none_or(|former| former.tools().is_empty()) =>
                    {
                        Ok(ListedTools::default())
                    }
                    listed => listed,
                },
                None => Ok(ListedTools::default()),
            }
        };
        let (has_prompts, has_resources) = (offered.prompts.is_some(), offered.resources.is_some());
        let of_former =
            |entries: fn(&Manifest) -> &[EntryDefinition]| former.map_or(&[][..], entries);
        let (tools, prompts, resources, templates) = tokio::join!(
            tools,
            self.pages_if(has_prompts, PROMPTS, limit, of_former(Manifest::prompts)),
            self.pages_if(has_resources, RESOURCES, limit, of_former(Manifest::resources)),
            self.pages_if(has_resources, TEMPLATES, limit, of_former(Manifest::templates)),
        );
        let ListedTools { pages, clients } = tools?;
        let tools: Pages = pages.into_iter().map(|page| self.usable(page)).collect();
        let [(prompts, no_prompts), (resources, no_resources), (templates, no_templates)] =
            [prompts, resources, templates];
        let listing = Listing {
            tools: &tools,
            prompts: &prompts,
            resources: &resources,
            templates: &templates,
        };
        let manifest = Manifest::from_listing(self.greeting.server.clone(), listing, now);
        let manifest = if clients.is_empty() {
            manifest
        } else {
            manifest.with_clients(|tool| clients.get(tool.name()).copied().unwrap_or_default())
        };
        Ok(ServerLists { manifest, failure: no_prompts.or(no_resources).or(no_templates) })
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

    /// The pages of a list, or of the former one and why there is no other.
    async fn pages_if(
        &self,
        is_offered: bool,
        list: ServerList,
        limit: Duration,
        former: &[EntryDefinition],
    ) -> (Pages, Option<ListError>) {
        if !is_offered {
            return (Pages::new(), None);
        }
        let listed = timeout(limit, self.pages(list)).await;
        match listed.unwrap_or(Err(ListError::Late(list.method))) {
            Ok(pages) => (pages, None),
            Err(ListError::Refused { error: RpcError { code: METHOD_NOT_FOUND, .. }, .. }) => {
                (Pages::new(), None)
            }
            // A connection that ended is logged elsewhere, once, unless Gatefold ended it.
            Err(_) if self.wire.ended().is_some() => (list.page_of(former), None),
            Err(error) => {
                let (server, kept) = (&self.greeting.server.name, former.len());
                tracing::warn!(server, %error, kept, "a list could not be had");
                (list.page_of(former), Some(error))
            }
        }
    }

    async fn pages(&self, list: ServerList) -> Result<Pages, ListError> {
        self.pages_as(None, list).await
    }

    /// The pages of a list as a client gets them that declares this.
    pub(super) async fn pages_as(
        &self,
        capabilities: Option<&RawValue>,
        list: ServerList,
    ) -> Result<Pages, ListError> {
        let method = list.method;
        let mut pages = Vec::new();
        let mut cursor = None;
        let mut bytes = 0_usize;
        loop {
            if pages.len() == PAGES {
                return Err(ListError::Endless(method));
            }
            let (page, next) = self.page(capabilities, list, cursor.as_deref()).await?;
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
        capabilities: Option<&RawValue>,
        list: ServerList,
        cursor: Option<&str>,
    ) -> Result<(Box<RawValue>, Option<String>), ListError> {
        #[derive(Deserialize)]
        struct PageCursor {
            #[serde(rename = "nextCursor", default)]
            next: Option<String>,
        }
        let params = OutgoingParams { cursor, ..OutgoingParams::default() };
        match self.request_as(capabilities, list.method, params, PAGE_BYTES).await? {
            Reply::Result(page) => {
                if let Some(fault) = list.fault_of(&page) {
                    return Err(fault);
                }
                let next = serde_json::from_str::<PageCursor>(page.get()).ok().and_then(|p| p.next);
                Ok((page, next.filter(|cursor| !cursor.is_empty())))
            }
            Reply::Error(error) => Err(ListError::Refused { method: list.method, error }),
        }
    }
}
