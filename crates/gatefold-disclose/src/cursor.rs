use std::fmt::Write as _;

use sha2::{Digest as _, Sha256};

use crate::surface::UsageError;
use crate::wording::quoted;

/// The pages of one list: `{offset}-{tag}`, where the tag identifies the request and the names in
/// the list. A cursor of another request, or of a list that has changed since, is rejected, so that
/// no page silently skips or repeats a tool.
pub(crate) struct Pages {
    tag: String,
    length: usize,
}

impl Pages {
    pub(crate) fn of<'a>(request: &[&str], names: impl IntoIterator<Item = &'a str>) -> Self {
        let mut hash = Sha256::new();
        let mut length = 0;
        for part in request {
            hash.update(part);
            hash.update([0]);
        }
        for name in names {
            hash.update(name);
            hash.update([0]);
            length += 1;
        }
        let mut tag = String::new();
        for byte in &hash.finalize()[..4] {
            // Writing to a string cannot fail.
            let _ = write!(tag, "{byte:02x}");
        }
        Self { tag, length }
    }

    /// Where the page of a cursor starts. Without a cursor, that is the first page.
    pub(crate) fn start(&self, cursor: Option<&str>) -> Result<usize, UsageError> {
        let Some(cursor) = cursor else { return Ok(0) };
        let offset = cursor.trim().split_once('-').filter(|(_, tag)| *tag == self.tag);
        let offset = offset.and_then(|(offset, _)| offset.parse().ok());
        offset.filter(|offset| (1..self.length).contains(offset)).ok_or_else(|| {
            UsageError::new(format!(
                "Unknown cursor {}. Pass next_cursor of the last answer along with the same \
                 arguments, or leave it out to start over.",
                quoted(cursor)
            ))
        })
    }

    /// How many entries are left from `offset`, unless the list ends there.
    pub(crate) fn left(&self, offset: usize) -> Option<usize> {
        self.length.checked_sub(offset).filter(|left| *left > 0)
    }

    /// The cursor of the page that starts at `offset`, unless the list ends there.
    pub(crate) fn cursor(&self, offset: usize) -> Option<String> {
        (offset < self.length).then(|| format!("{offset}-{}", self.tag))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_belongs_to_one_request_and_one_list() {
        let pages = Pages::of(&["domain", "a"], ["x", "y", "z"]);
        let cursor = pages.cursor(2).unwrap();
        assert_eq!(pages.start(Some(&cursor)), Ok(2));
        assert_eq!(pages.start(None), Ok(0));
        assert_eq!(pages.cursor(3), None);
        assert!(Pages::of(&["domain", "b"], ["x", "y", "z"]).start(Some(&cursor)).is_err());
        assert!(Pages::of(&["domain", "a"], ["x", "z"]).start(Some(&cursor)).is_err());
        for forged in ["", "2", "-", &cursor[1..], &format!("3{}", &cursor[1..])] {
            assert!(pages.start(Some(forged)).is_err(), "{forged}");
        }
    }
}
