use gatefold_builtin::SearchApi;

use super::super::allow_private;
use crate::config::key::{Key, Kind};

/// The names of the keys below.
pub(super) const NAMES: [&str; 7] =
    ["builtin", "folder", "files_write", "search_api", "search_url", "search_key", "allow_private"];

const OF_BUILTIN: Key = Key { needs: &["builtin"], ..Key::new("", Kind::Text, "") };

pub(super) const BUILTIN: &[Key] = &[
    Key {
        details: "Their names are in `docs/own-tools.md`. \"all\" is every tool that reaches nothing \
                  outside of Gatefold and that has what it needs: what reaches out has to be listed.",
        example: "[\"calculate\", \"datetime\"]",
        ..Key::new("builtin", Kind::BuiltinTools, "Tools of Gatefold's own.")
    },
    Key {
        name: "folder",
        kind: Kind::Path,
        summary: "The folder that the tool `files` works in.",
        details: "Nothing outside of it can be reached; symbolic links in it are not followed, and files \
                  with a second name (hard links) are refused.",
        unset: "none, and no tools for files",
        example: "\"notes\"",
        ..OF_BUILTIN
    },
    Key {
        name: "files_write",
        kind: Kind::Flag,
        summary: "Whether `files` may write in its folder.",
        value: |_| Some(false.into()),
        example: "true",
        ..OF_BUILTIN
    },
    Key {
        name: "search_api",
        kind: Kind::Choice(&SearchApi::WORDS),
        summary: "How the tool `web_search` asks its search engine.",
        unset: "none, and no tool for searches",
        example: "\"searxng\"",
        ..OF_BUILTIN
    },
    Key {
        name: "search_url",
        kind: Kind::Url,
        summary: "The address of that search engine's API.",
        details: "Such as `https://api.search.brave.com/res/v1/web/search`, \
                  `https://searx.example/search` or `https://api.tavily.com/search`.",
        unset: "none, and no tool for searches",
        example: "\"https://searx.example/search\"",
        ..OF_BUILTIN
    },
    Key {
        name: "search_key",
        kind: Kind::Text,
        summary: "The key of that search engine's API.",
        details: "It is never shown.",
        unset: "none",
        example: "\"${SEARCH_KEY:-key}\"",
        ..OF_BUILTIN
    },
    allow_private::key(&["builtin"]),
];
