//! A folder of skills that a person names on the command line.

use super::rendered::{Members, text};

/// A folder of skills.
#[derive(Debug)]
pub struct NewSkills {
    /// Its path.
    pub folder: String,
}

impl NewSkills {
    pub(super) fn members(&self) -> Members {
        let mut members = Members::default();
        members.put("skills", text(&self.folder));
        members
    }
}
