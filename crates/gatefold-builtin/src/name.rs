use std::fmt;
use std::str::FromStr;

use crate::ToolCategory;

/// What a configuration may choose: one tool, or a few that belong together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum BuiltinName {
    Calculate,
    Datetime,
    JsonQuery,
    Text,
    /// The two tools for notes.
    Memory,
    Todo,
    AskUser,
    /// The tools for files in one folder.
    Files,
    Fetch,
    HttpRequest,
    WebSearch,
}

impl BuiltinName {
    /// All of them, in the order in which documents list them.
    pub const ALL: [Self; 11] = [
        Self::Calculate,
        Self::Datetime,
        Self::JsonQuery,
        Self::Text,
        Self::Memory,
        Self::Todo,
        Self::AskUser,
        Self::Files,
        Self::Fetch,
        Self::HttpRequest,
        Self::WebSearch,
    ];

    /// Whether it reaches out to whatever a caller names. Such a tool has to be asked for by its name.
    pub const fn reaches_out(self) -> bool {
        matches!(self, Self::Fetch | Self::HttpRequest)
    }

    /// Whether it works without anything configured, and reaches nothing outside of Gatefold.
    pub const fn needs_nothing(self) -> bool {
        !self.reaches_out() && !matches!(self, Self::Files | Self::WebSearch)
    }

    /// The category of its tools.
    pub const fn category(self) -> ToolCategory {
        match self {
            Self::Calculate | Self::Datetime | Self::JsonQuery | Self::Text => {
                ToolCategory::Computation
            }
            Self::Memory => ToolCategory::Knowledge,
            Self::Todo | Self::AskUser => ToolCategory::General,
            Self::Files => ToolCategory::Filesystem,
            Self::Fetch | Self::HttpRequest | Self::WebSearch => ToolCategory::Web,
        }
    }

    /// The names of its tools.
    pub const fn tools(self) -> &'static [&'static str] {
        match self {
            Self::Calculate => &["calculate"],
            Self::Datetime => &["datetime"],
            Self::JsonQuery => &["json_query"],
            Self::Text => &["text"],
            Self::Memory => &["recall", "remember"],
            Self::Todo => &["todo"],
            Self::AskUser => &["ask_user"],
            Self::Files => &[
                "read_file",
                "list_files",
                "find_files",
                "search_files",
                "write_file",
                "patch_file",
            ],
            Self::Fetch => &["fetch"],
            Self::HttpRequest => &["http_request"],
            Self::WebSearch => &["web_search"],
        }
    }

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Calculate => "calculate",
            Self::Datetime => "datetime",
            Self::JsonQuery => "json_query",
            Self::Text => "text",
            Self::Memory => "memory",
            Self::Todo => "todo",
            Self::AskUser => "ask_user",
            Self::Files => "files",
            Self::Fetch => "fetch",
            Self::HttpRequest => "http_request",
            Self::WebSearch => "web_search",
        }
    }
}

impl fmt::Display for BuiltinName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for BuiltinName {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        Self::ALL.into_iter().find(|name| name.as_str() == text).ok_or(())
    }
}
