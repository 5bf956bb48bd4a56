//! Notes of principals.

use futures::future::BoxFuture;
use gatefold_core::{BoxError, Timestamp};
use gatefold_dispatch::{DataOwner, Note, NoteText, Notes};
use sqlx::Row as _;
use sqlx::sqlite::SqliteRow;

use crate::database::millis;
use crate::{Store, StoreError};

/// The most notes of one owner that are read, whatever limit they were added under.
const READ: u32 = 10_000;

const LIST: &str = "SELECT * FROM notes WHERE owner = ?1 ORDER BY id LIMIT ?2";

/// One statement, so that two processes never pass the limit together.
const ADD: &str = "
    INSERT INTO notes (owner, id, title, text, created_at, updated_at)
    SELECT ?1, coalesce(max(id), 0) + 1, ?2, ?3, ?4, ?4 FROM notes WHERE owner = ?1
    HAVING count(*) < ?5
    RETURNING *";

const UPDATE: &str = "
    UPDATE notes SET title = ?3, text = ?4, updated_at = ?5 WHERE owner = ?1 AND id = ?2
    RETURNING *";

const DELETE: &str = "DELETE FROM notes WHERE owner = ?1 AND id = ?2";

impl Notes for Store {
    fn notes<'a>(&'a self, owner: &'a DataOwner) -> BoxFuture<'a, Result<Vec<Note>, BoxError>> {
        Box::pin(async move {
            let store = self.inner();
            let query = sqlx::query(LIST).bind(owner.as_bytes()).bind(READ);
            let rows = query.fetch_all(&mut *store.connection().await).await;
            let notes = rows.and_then(|rows| rows.iter().map(note).collect());
            Ok(notes.map_err(|source| store.error(source))?)
        })
    }

    fn add<'a>(
        &'a self,
        owner: &'a DataOwner,
        text: NoteText,
        limit: usize,
    ) -> BoxFuture<'a, Result<Option<Note>, BoxError>> {
        Box::pin(async move {
            let store = self.inner();
            let query = sqlx::query(ADD)
                .bind(owner.as_bytes())
                .bind(text.title)
                .bind(text.text)
                .bind(millis(store.now()))
                .bind(i64::try_from(limit).unwrap_or(i64::MAX));
            let row = query.fetch_optional(&mut *store.connection().await).await;
            let note = row.and_then(|row| row.as_ref().map(note).transpose());
            Ok(note.map_err(|source| store.error(source))?)
        })
    }

    fn update<'a>(
        &'a self,
        owner: &'a DataOwner,
        id: i64,
        text: NoteText,
    ) -> BoxFuture<'a, Result<Option<Note>, BoxError>> {
        Box::pin(async move {
            let store = self.inner();
            let query = sqlx::query(UPDATE)
                .bind(owner.as_bytes())
                .bind(id)
                .bind(text.title)
                .bind(text.text)
                .bind(millis(store.now()));
            let row = query.fetch_optional(&mut *store.connection().await).await;
            let note = row.and_then(|row| row.as_ref().map(note).transpose());
            Ok(note.map_err(|source| store.error(source))?)
        })
    }

    fn delete<'a>(
        &'a self,
        owner: &'a DataOwner,
        id: i64,
    ) -> BoxFuture<'a, Result<bool, BoxError>> {
        Box::pin(async move {
            let store = self.inner();
            let query = sqlx::query(DELETE).bind(owner.as_bytes()).bind(id);
            let deleted = query.execute(&mut *store.connection().await).await;
            let deleted: Result<_, StoreError> = deleted.map_err(|source| store.error(source));
            Ok(deleted?.rows_affected() == 1)
        })
    }
}

fn note(row: &SqliteRow) -> sqlx::Result<Note> {
    let moment = |name| {
        let millis: sqlx::Result<i64> = row.try_get(name);
        millis.map(|millis| Timestamp::from_millis(millis.cast_unsigned()))
    };
    Ok(Note {
        id: row.try_get("id")?,
        title: row.try_get("title")?,
        text: row.try_get("text")?,
        created_at: moment("created_at")?,
        updated_at: moment("updated_at")?,
    })
}
