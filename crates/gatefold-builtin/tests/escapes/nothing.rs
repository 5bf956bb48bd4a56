//! Nobody keeps notes here.

use futures::future::{BoxFuture, ready};
use gatefold_core::BoxError;
use gatefold_dispatch::{DataOwner, Note, NoteText, Notes};

pub(crate) struct NoNotes;

impl Notes for NoNotes {
    fn notes<'a>(&'a self, _: &'a DataOwner) -> BoxFuture<'a, Result<Vec<Note>, BoxError>> {
        Box::pin(ready(Ok(Vec::new())))
    }

    fn add<'a>(
        &'a self,
        _: &'a DataOwner,
        _: NoteText,
        _: usize,
    ) -> BoxFuture<'a, Result<Option<Note>, BoxError>> {
        Box::pin(ready(Ok(None)))
    }

    fn update<'a>(
        &'a self,
        _: &'a DataOwner,
        _: i64,
        _: NoteText,
    ) -> BoxFuture<'a, Result<Option<Note>, BoxError>> {
        Box::pin(ready(Ok(None)))
    }

    fn delete<'a>(&'a self, _: &'a DataOwner, _: i64) -> BoxFuture<'a, Result<bool, BoxError>> {
        Box::pin(ready(Ok(false)))
    }
}
