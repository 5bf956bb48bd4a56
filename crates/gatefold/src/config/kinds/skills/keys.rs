use crate::config::key::{Key, Kind};

/// The names of the keys below.
pub(super) const NAMES: [&str; 3] = ["skills", "follow_links_to", "for"];

const OF_SKILLS: Key = Key { needs: &["skills"], ..Key::new("", Kind::Text, "") };

pub(super) const SKILLS: &[Key] = &[
    Key {
        details: "A folder with a `SKILL.md` is a skill, wherever it lies, and so is a Markdown file with \
                  front matter right in the folder. Links are followed only into `follow_links_to`, and nothing is run. Named \
                  `skills`, the source has the tool `skills__read_skill`.",
        example: "\"./skills\"",
        ..Key::new("skills", Kind::Path, "A folder of skills in the open Agent Skills format.")
    },
    Key {
        name: "follow_links_to",
        kind: Kind::Texts,
        summary: "The folders that links in it may lead into.",
        details: "A link to a skill, to its `SKILL.md` or to one of its files is followed if it ends in one of \
                  these folders, and left out otherwise. The paths are relative to the file.",
        unset: "none",
        example: "[\"~/.agents/skills\"]",
        ..OF_SKILLS
    },
    Key {
        name: "for",
        kind: Kind::Texts,
        summary: "The domains that its skills are for.",
        details: "A skill may name more of them, with `for` below `metadata` in its front matter.",
        unset: "none",
        example: "[\"tickets\"]",
        ..OF_SKILLS
    },
];
