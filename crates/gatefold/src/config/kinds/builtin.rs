//! Tools of our own.

mod names;
mod section;

use std::collections::BTreeSet;
use std::sync::Arc;

use gatefold_builtin::{
    BuiltinName, BuiltinSettings, FolderSettings, FolderWrites, PathResolution, SearchApi,
    SearchSettings, ToolCategory,
};
use gatefold_catalog::KindName;
use gatefold_config::{Field, FilePath, Table, Text, parsed};
use gatefold_core::Secret;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer};

use super::shared_values::ServerAddress;
use super::{AllowPrivate, ConnectionMethod, KindSection, SourceKind};
use crate::config::SourceSection;
use crate::config::key::{Key, keys_of};

pub(in crate::config) use names::LoopTool;

use names::ChosenTools;
use section::BuiltinSection;

/// The kind of sources that are tools of our own.
#[derive(Debug)]
pub struct BuiltinKind;

const CATEGORIES: [&str; ToolCategory::ALL.len()] = {
    let mut words = [""; ToolCategory::ALL.len()];
    let mut at = 0;
    while at < words.len() {
        words[at] = ToolCategory::ALL[at].as_str();
        at += 1;
    }
    words
};

impl BuiltinKind {
    pub const NAME: KindName = KindName::new("builtin");

    /// These tools without settings, for a configuration that is made in code. `None` if there is no
    /// such tool.
    pub fn tools(names: &[&str]) -> Option<SourceSection> {
        let names = names.iter().map(|name| name.parse::<BuiltinName>().ok());
        let settings =
            BuiltinSettings { names: names.collect::<Option<_>>()?, ..BuiltinSettings::default() };
        Some(BuiltinSection { settings }.into())
    }
}

impl SourceKind for BuiltinKind {
    fn name(&self) -> KindName {
        Self::NAME
    }

    fn noun(&self) -> &'static str {
        "set of built-in tools"
    }

    fn details(&self) -> &'static str {
        "Built-in tools need no server (`builtin`)."
    }

    fn ways(&self) -> &'static [ConnectionMethod] {
        &[ConnectionMethod {
            key: "builtin",
            purpose: "for built-in tools",
            heading: "Built-in tools:",
            example: "builtin",
        }]
    }

    fn categories(&self) -> &'static [&'static str] {
        &CATEGORIES
    }

    fn keys(&self) -> Vec<Key> {
        keys_of::<BuiltinKeys>()
    }

    fn read(&self, table: &mut Table<'_>) -> Option<Arc<dyn KindSection>> {
        if let Some(field) = table.peek("builtin").filter(Field::is_empty_list) {
            field.fault("is empty", "list tools, or write \"all\"");
            return None;
        }
        let keys: BuiltinKeys = table.read()?;
        let writes = if keys.files_write { FolderWrites::Allow } else { FolderWrites::Refuse };
        let folder = keys.folder.map(|FilePath(path)| FolderSettings {
            path,
            writes,
            resolution: PathResolution::default(),
        });
        let search = keys.search_url.and_then(|ServerAddress(url)| {
            let SearchApiWord(api) = keys.search_api?;
            Some(SearchSettings {
                url: url.parse().ok()?,
                api,
                key: keys.search_key.map(Secret::new),
            })
        });
        let private = keys.allow_private.0;
        let mut settings =
            BuiltinSettings { folder, search, private, ..BuiltinSettings::default() };
        settings.names = keys.builtin.names(&settings);
        for (name, lacks) in needs(&settings) {
            if settings.names.contains(&name) && lacks.is_missing {
                let field = table.peek("builtin")?;
                field.fault(format!("has `{name}`, which needs `{}`", lacks.key), lacks.hint);
                return None;
            }
        }
        Some(Arc::new(BuiltinSection { settings }))
    }
}

#[derive(Deserialize, JsonSchema)]
struct BuiltinKeys {
    /// Tools of Gatefold's own.
    ///
    /// Their names are in `docs/own-tools.md`. "all" is every tool that reaches nothing outside of Gatefold and
    /// that has what it needs: what reaches out has to be listed.
    #[schemars(extend("examples" = [["calculate", "datetime"]]))]
    builtin: ChosenTools,
    /// The folder that the tool `files` works in.
    ///
    /// Nothing outside of it can be reached; symbolic links in it are not followed, and files with a second
    /// name (hard links) are refused.
    #[schemars(extend("examples" = ["notes"], "x-unset" = "none, and no tools for files"))]
    folder: Option<FilePath>,
    /// Whether `files` may write in its folder.
    #[schemars(extend("examples" = [true]))]
    #[serde(default)]
    files_write: bool,
    /// How the tool `web_search` asks its search engine.
    #[schemars(extend("examples" = ["searxng"], "x-unset" = "none, and no tool for searches"))]
    search_api: Option<SearchApiWord>,
    /// The address of that search engine's API.
    ///
    /// Such as `https://api.search.brave.com/res/v1/web/search`, `https://searx.example/search` or
    /// `https://api.tavily.com/search`.
    #[schemars(extend("examples" = ["https://searx.example/search"], "x-unset" = "none, and no tool for searches"))]
    search_url: Option<ServerAddress>,
    /// The key of that search engine's API.
    ///
    /// It is never shown.
    #[schemars(with = "Text", extend("examples" = ["${SEARCH_KEY:-key}"], "x-unset" = "none"))]
    search_key: Option<String>,
    #[serde(default)]
    allow_private: AllowPrivate,
}

#[derive(JsonSchema)]
#[schemars(with = "String", extend("enum" = SearchApi::WORDS))]
struct SearchApiWord(SearchApi);

impl<'de> Deserialize<'de> for SearchApiWord {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let words = SearchApi::WORDS.map(|word| format!("\"{word}\"")).join(", ");
        let hint = format!("write one of {words}");
        parsed(deserializer, "a search API", &hint, |text| text.parse().ok()).map(Self)
    }
}

/// A key without which a tool cannot be.
struct NeededKey {
    key: &'static str,
    hint: &'static str,
    is_missing: bool,
}

/// The tools that need a key, with the keys.
fn needs(settings: &BuiltinSettings) -> [(BuiltinName, NeededKey); 2] {
    let folder = NeededKey {
        key: "folder",
        hint: "write `folder = \"PATH\"` beside it: only files in it can be reached",
        is_missing: settings.folder.is_none(),
    };
    let search = NeededKey {
        key: "search_url",
        hint: "write `search_url` and `search_api` beside it, and `search_key` if it takes one",
        is_missing: settings.search.is_none(),
    };
    [(BuiltinName::Files, folder), (BuiltinName::WebSearch, search)]
}

impl ChosenTools {
    /// The tools, where the word for all stands for those that reach nothing outside of Gatefold and
    /// have what they need.
    fn names(self, settings: &BuiltinSettings) -> BTreeSet<BuiltinName> {
        match self {
            Self::All => {
                let names = BuiltinName::ALL.into_iter().filter(|name| !name.reaches_out());
                let mut names: BTreeSet<_> = names.collect();
                for (name, _) in needs(settings).iter().filter(|(_, needed)| needed.is_missing) {
                    names.remove(name);
                }
                names
            }
            Self::Listed(names) => names,
        }
    }
}
