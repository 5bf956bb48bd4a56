//! Notes that a principal keeps.

use futures::future::BoxFuture;
use gatefold_core::{BoxError, Timestamp};

use crate::DataOwner;

/// One note.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// Unique among its owner's.
    pub id: i64,
    pub title: String,
    pub text: String,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

/// What is written into a note.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoteText {
    pub title: String,
    pub text: String,
}

/// Where notes are kept. Nobody sees or changes the notes of another owner.
pub trait Notes: Send + Sync + 'static {
    /// All notes of one owner, by their ids. Whoever adds them bounds their number.
    fn notes<'a>(&'a self, owner: &'a DataOwner) -> BoxFuture<'a, Result<Vec<Note>, BoxError>>;

    /// Adds a note, unless its owner has as many as the limit.
    fn add<'a>(
        &'a self,
        owner: &'a DataOwner,
        text: NoteText,
        limit: usize,
    ) -> BoxFuture<'a, Result<Option<Note>, BoxError>>;

    /// Replaces a note's text. None if there is no such note.
    fn update<'a>(
        &'a self,
        owner: &'a DataOwner,
        id: i64,
        text: NoteText,
    ) -> BoxFuture<'a, Result<Option<Note>, BoxError>>;

    /// Deletes a note, and says whether it was there.
    fn delete<'a>(&'a self, owner: &'a DataOwner, id: i64)
    -> BoxFuture<'a, Result<bool, BoxError>>;
}
