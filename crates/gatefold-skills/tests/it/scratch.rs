use std::fs;
use std::path::{Path, PathBuf};

use gatefold_skills::{SkillFolder, SkillSet};

/// A folder of skills in a folder of its own, which also holds a secret.
pub(crate) struct Scratch(tempfile::TempDir);

pub(crate) const SECRET: &str = "the secret outside";

impl Scratch {
    pub(crate) fn new() -> Self {
        let scratch = Self(tempfile::tempdir().unwrap());
        fs::create_dir(scratch.root()).unwrap();
        fs::write(scratch.outside(), SECRET).unwrap();
        fs::create_dir(scratch.0.path().join("other")).unwrap();
        scratch.put("../other/SKILL.md", skill_text("other", "Outside"));
        scratch
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.0.path().join("skills")
    }

    /// A file that nobody may read.
    pub(crate) fn outside(&self) -> PathBuf {
        self.0.path().join("secret.txt")
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.root().join(path)
    }

    pub(crate) fn put(&self, path: &str, content: impl AsRef<[u8]>) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    /// A skill with nothing wrong.
    pub(crate) fn put_skill(&self, name: &str) {
        self.put(&format!("{name}/SKILL.md"), skill_text(name, "Do it"));
    }

    pub(crate) fn read(&self) -> SkillSet {
        SkillSet::read(&SkillFolder::at(self.root())).unwrap()
    }
}

pub(crate) fn skill_text(name: &str, description: &str) -> String {
    format!("---\nname: {name}\ndescription: {description}\n---\n# {name}\nDo this.\n")
}

pub(crate) fn names(set: &SkillSet) -> Vec<&str> {
    set.skills().iter().map(|skill| skill.name.as_str()).collect()
}

pub(crate) fn findings(set: &SkillSet) -> Vec<String> {
    set.findings().iter().map(ToString::to_string).collect()
}

/// Everything that can be read of a set.
pub(crate) fn contents(set: &SkillSet) -> Vec<u8> {
    let mut all = Vec::new();
    for skill in set.skills() {
        for file in &skill.files {
            all.extend(file.content(1 << 30).unwrap_or_default());
        }
    }
    all
}

pub(crate) fn link(target: impl AsRef<Path>, path: impl AsRef<Path>) {
    std::os::unix::fs::symlink(target, path).unwrap();
}
