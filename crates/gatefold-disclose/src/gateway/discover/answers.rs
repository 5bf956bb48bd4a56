//! What the answers of `discover_tools` hold.

use std::borrow::Cow;

use gatefold_catalog::{Hit, Tool};
use serde::Serialize;

#[derive(Serialize)]
pub(super) struct Summary<'a> {
    pub(super) domains: &'a [DomainLine<'a>],
    pub(super) total_tools: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) next_cursor: Option<String>,
    /// Sources that never listed their tools.
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    pub(super) not_known_yet: &'a [String],
}

#[derive(Serialize)]
pub(super) struct DomainLine<'a> {
    pub(super) name: &'a str,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(super) description: String,
    pub(super) tool_count: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) groups: Option<Vec<&'a str>>,
}

#[derive(Serialize)]
pub(super) struct DomainTools<'a> {
    pub(super) domain: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) group: Option<&'a str>,
    pub(super) tools: &'a [ToolLine<'a>],
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) groups: Option<Vec<GroupLine<'a>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) more_groups: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) next_cursor: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) note: Option<String>,
    /// Skills that are for the domain.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) skills: Vec<SkillLine<'a>>,
}

#[derive(Serialize)]
pub(super) struct SkillLine<'a> {
    pub(super) name: &'a str,
    pub(super) description: String,
    /// The tool that reads it.
    pub(super) tool: &'a str,
}

#[derive(Serialize)]
pub(super) struct GroupLine<'a> {
    pub(super) name: &'a str,
    pub(super) tool_count: usize,
}

#[derive(Serialize)]
pub(super) struct Page<'a> {
    pub(super) query: &'a str,
    /// How well the best result fits.
    pub(super) fit: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) note: Option<&'a str>,
    #[serde(rename = "nearest_domains", skip_serializing_if = "Option::is_none")]
    pub(super) nearest: Option<&'a [DomainLine<'a>]>,
    pub(super) results: &'a [ToolLine<'a>],
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) more: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) next_cursor: Option<String>,
    /// Sources that never listed their tools, which may be what was looked for.
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    pub(super) not_known_yet: &'a [String],
}

#[derive(Serialize)]
pub(super) struct ToolLine<'a> {
    pub(super) name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) domain: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) group: Option<&'a str>,
    pub(super) description: &'a str,
    /// What the tool knows about that fits the query.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) r#match: Option<&'a str>,
    /// What tells the tool from another one on the page that is easily taken for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) unlike: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) signature: Option<Cow<'a, str>>,
}

impl<'a> ToolLine<'a> {
    pub(super) fn of(tool: &'a Tool) -> Self {
        let name = tool.id().as_str();
        Self {
            name,
            domain: None,
            group: None,
            description: tool.line(),
            r#match: None,
            unlike: None,
            signature: None,
        }
    }

    pub(super) fn grouped(tool: &'a Tool) -> Self {
        Self { group: Some(tool.group()), ..Self::of(tool) }
    }

    pub(super) fn found(hit: &Hit<'a>) -> Self {
        let domain = Some(hit.tool.domain().as_str());
        Self { domain, r#match: hit.topic, ..Self::grouped(hit.tool) }
    }
}
