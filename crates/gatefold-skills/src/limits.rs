//! The bounds of what is read.

/// The longest name of a skill, in characters (Agent Skills, `name`).
pub const NAME_LENGTH: usize = 64;
/// How much of a longer name is kept, in characters: other clients load such a skill too.
pub(crate) const KEPT_NAME_LENGTH: usize = 256;
/// The longest description, in characters (Agent Skills, `description`).
pub const DESCRIPTION_LENGTH: usize = 1024;
/// The longest note about what a skill needs, in characters (Agent Skills, `compatibility`).
pub(crate) const COMPATIBILITY_LENGTH: usize = 500;

/// The longest front matter, in bytes.
pub const FRONT_MATTER_BYTES: usize = 16 << 10;
/// The largest `SKILL.md` or single Markdown file, in bytes.
pub const MAIN_BYTES: u64 = 1 << 20;

/// The most files of one skill, `SKILL.md` included (SEP-2640, Limits).
pub const FILES: usize = 512;
/// The most bytes of one skill's files together (SEP-2640, Limits).
pub const SKILL_BYTES: u64 = 16 << 20;
/// How deep folders may nest within a skill.
pub const FILE_DEPTH: usize = 16;

/// The most skills of one source.
pub const SKILLS: usize = 1000;
/// The most bytes that all skills of a source have together.
pub const TOTAL_BYTES: u64 = 256 << 20;
/// How deep below the configured folder skills are looked for.
pub const SEARCH_DEPTH: usize = 8;
/// The most folders that are looked into, those of skills included.
pub const FOLDERS: usize = 10_000;
/// The most entries of one folder, and of all folders together.
pub const FOLDER_ENTRIES: usize = 10_000;
pub const ENTRIES: usize = 200_000;

/// The most findings that are reported.
pub(crate) const FINDINGS: usize = 1000;
/// The most headings of a skill that a search knows.
pub(crate) const HEADINGS: usize = 50;
