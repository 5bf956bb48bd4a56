//! Nobody keeps notes or results here.

use futures::future::{BoxFuture, ready};
use gatefold_core::{BoxError, Timestamp};
use gatefold_dispatch::{
    DataOwner, NewResult, Note, NoteText, Notes, ResultHandle, StoredResult, StoredResults,
};

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

pub(crate) struct NoResults;

impl StoredResults for NoResults {
    fn keep(&self, _: NewResult) -> BoxFuture<'_, Result<ResultHandle, BoxError>> {
        Box::pin(ready(Err("results are not kept here".into())))
    }

    fn find<'a>(
        &'a self,
        _: DataOwner,
        _: &'a ResultHandle,
        _: Timestamp,
    ) -> BoxFuture<'a, Result<Option<StoredResult>, BoxError>> {
        Box::pin(ready(Ok(None)))
    }
}
