//! One skill of two files in two directories.

use rmcp::ErrorData;
use rmcp::model::{
    DIRECTORY_MIME_TYPE, GetSkillResult, ReadResourceDirectoryResult, Resource, Skill,
    SkillFrontmatter, SkillResource, SkillResources,
};
use serde_json::json;

const NAME: &str = "tree-care";
const DESCRIPTION: &str = "Says when to prune and water fruit trees";
const ROOT: &str = "skill://tree-care";
const REFERENCES: &str = "skill://tree-care/references";
const MARKDOWN: &str = "text/markdown";

const MAIN: File = File {
    uri: "skill://tree-care/SKILL.md",
    name: "SKILL.md",
    mime_type: MARKDOWN,
    text: "---\nname: tree-care\ndescription: Says when to prune and water fruit trees\n---\n\n\
           # Tree care\n\nRead `references/pruning.md` before you advise anybody to cut.\n",
};
const PRUNING: File = File {
    uri: "skill://tree-care/references/pruning.md",
    name: "pruning.md",
    mime_type: MARKDOWN,
    text: "# Pruning\n\nPrune apple trees in late winter, while they are dormant.\n",
};

#[derive(Clone, Copy)]
pub(super) struct File {
    uri: &'static str,
    name: &'static str,
    pub(super) mime_type: &'static str,
    pub(super) text: &'static str,
}

impl File {
    fn resource(self) -> Resource {
        Resource::new(self.uri, self.name).with_mime_type(self.mime_type)
    }
}

/// The skill's main file as the resource list shows it.
pub(super) fn resource() -> Resource {
    Resource::new(MAIN.uri, NAME).with_description(DESCRIPTION).with_mime_type(MARKDOWN)
}

pub(super) fn file(uri: &str) -> Option<File> {
    [MAIN, PRUNING].into_iter().find(|file| file.uri == uri)
}

pub(super) fn list() -> Vec<Skill> {
    vec![skill()]
}

fn skill() -> Skill {
    let files =
        [MAIN, PRUNING].map(|file| SkillResource::from_bytes(file.uri, file.text.as_bytes()));
    let frontmatter = SkillFrontmatter::new(NAME, DESCRIPTION);
    Skill::new(MAIN.uri, frontmatter, SkillResources::Files(files.to_vec()))
}

pub(super) fn get(uri: &str) -> Result<GetSkillResult, ErrorData> {
    if uri != MAIN.uri {
        return Err(not_served(uri, "is not a skill here"));
    }
    Ok(GetSkillResult::new(skill()))
}

pub(super) fn directory(uri: &str) -> Result<ReadResourceDirectoryResult, ErrorData> {
    let children = match uri {
        ROOT => vec![
            MAIN.resource(),
            Resource::new(REFERENCES, "references").with_mime_type(DIRECTORY_MIME_TYPE),
        ],
        REFERENCES => vec![PRUNING.resource()],
        _ => return Err(not_served(uri, "is not a directory here")),
    };
    Ok(ReadResourceDirectoryResult::with_all_items(children))
}

fn not_served(uri: &str, why: &str) -> ErrorData {
    ErrorData::invalid_params(format!("{uri} {why}"), Some(json!({ "uri": uri })))
}
