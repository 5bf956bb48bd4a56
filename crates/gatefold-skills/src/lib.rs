//! Folders of skills as sources.
//!
//! A skill is a procedure that somebody wrote down: a folder with a `SKILL.md` in the open Agent Skills
//! format (<https://agentskills.io/specification>), or a single Markdown file with the same front
//! matter. [`SkillSet::read`] reads and checks a folder of them, [`SkillSource`] serves them: by the
//! tool `read_skill`, as resources, and through the skills extension of MCP (SEP-2640).
//!
//! Nothing outside the configured folder is ever read, but for the folders that links may lead into
//! ([`SkillFolder::link_targets`]). Nothing in it is run. This crate knows no
//! protocol library, no HTTP, no section of a configuration and no storage.

mod finding;
mod folder;
mod front_matter;
mod kinds_of_files;
mod limits;
mod names;
mod reading;
mod skill;
mod source;
mod uris;
mod watch;

pub use finding::{Finding, Severity};
pub use kinds_of_files::{language, media_type};
pub use limits::{
    DESCRIPTION_LENGTH, ENTRIES, FILE_DEPTH, FILES, FOLDER_ENTRIES, FOLDERS, FRONT_MATTER_BYTES,
    MAIN_BYTES, NAME_LENGTH, SEARCH_DEPTH, SKILL_BYTES, SKILLS, TOTAL_BYTES,
};
pub use reading::{SkillFolder, SkillFolderError, SkillSet};
pub use skill::{Skill, SkillFile, SkillText};
pub use source::{READ_SKILL, SeenByAll, SkillSource, SkillSourceSettings};
