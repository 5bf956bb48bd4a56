//! Notes of principals.

use std::sync::Arc;
use std::time::Duration;

use gatefold_core::{ManualClock, Principal, UserId};
use gatefold_dispatch::{DataOwner, Note, NoteText, Notes as _};
use gatefold_store::Store;
use tempfile::tempdir;

use crate::fixture::{NOW, at};

fn text(title: &str, text: &str) -> NoteText {
    NoteText { title: title.to_owned(), text: text.to_owned() }
}

#[tokio::test]
async fn notes_outlive_the_process_and_belong_to_their_owner() {
    let directory = tempdir().unwrap();
    let clock = Arc::new(ManualClock::at(NOW));
    let ann = DataOwner::of(&Principal::user(UserId::new("ann")));
    let bob = DataOwner::of(&Principal::user(UserId::new("bob")));
    let store = Store::open(directory.path(), at(&clock)).await.unwrap();
    store.add(&ann, text("a", "first"), 2).await.unwrap().unwrap();
    store.add(&ann, text("", "second"), 2).await.unwrap().unwrap();
    assert_eq!(store.add(&ann, text("", "third"), 2).await.unwrap(), None);
    let of_bob = store.add(&bob, text("b", "own"), 2).await.unwrap().unwrap();
    assert_eq!(of_bob.id, 1);
    clock.advance(Duration::from_secs(1));
    store.update(&ann, 2, text("c", "changed")).await.unwrap().unwrap();
    assert_eq!(store.update(&bob, 2, text("", "x")).await.unwrap(), None);
    assert!(!store.delete(&bob, 2).await.unwrap());
    assert!(store.delete(&ann, 1).await.unwrap());
    store.close().await.unwrap();

    let store = Store::open(directory.path(), at(&clock)).await.unwrap();
    let kept = Note {
        id: 2,
        title: "c".to_owned(),
        text: "changed".to_owned(),
        created_at: NOW,
        updated_at: NOW.plus(Duration::from_secs(1)),
    };
    assert_eq!(store.notes(&ann).await.unwrap(), [kept]);
    assert_eq!(store.notes(&bob).await.unwrap(), [of_bob]);
}

#[tokio::test]
async fn many_who_add_at_once_stay_within_the_limit() {
    let directory = tempdir().unwrap();
    let clock = Arc::new(ManualClock::at(NOW));
    let owner = DataOwner::of(&Principal::local());
    let one = Store::open(directory.path(), at(&clock)).await.unwrap();
    let other = Store::open(directory.path(), at(&clock)).await.unwrap();
    let mut adding = tokio::task::JoinSet::new();
    for store in [&one, &other].into_iter().cycle().take(40) {
        let store = store.clone();
        adding.spawn(async move { store.add(&owner, text("", "x"), 10).await.unwrap() });
    }
    let added = adding.join_all().await.into_iter().flatten();
    let mut ids: Vec<_> = added.map(|note| note.id).collect();
    ids.sort_unstable();
    assert_eq!(ids, (1..=10).collect::<Vec<_>>());
}
