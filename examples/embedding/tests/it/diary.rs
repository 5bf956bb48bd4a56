use futures::future::join;
use gatefold_core::{Principal, Timestamp};
use gatefold_dispatch::{DataOwner, Journal, NewRun, NewRunEvent, RunId, RunKind, RunOutcome};
use gatefold_embedding_example::diary;
use gatefold_store::{Store, StoreOptions};
use serde_json::value::to_raw_value;

#[tokio::test]
async fn a_reader_is_told_each_event_once_and_hears_the_end() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path(), StoreOptions::default()).await.unwrap();
    let owner = DataOwner::lasting(&Principal::local());
    let id = RunId::new(Timestamp::from_millis(1), 7);
    let (kind, subject) = (RunKind::Agent, "scribe".to_owned());
    store.begin(NewRun { id, owner, kind, subject, parent: None, thread: None }).await.unwrap();
    let mut lines = Vec::new();
    let write = async {
        for number in 0..3 {
            let json = to_raw_value(&number).unwrap();
            store.append(id, number, vec![NewRunEvent { kind: "said", json }]).await.unwrap();
            tokio::task::yield_now().await;
        }
        store.end(id, 3, RunOutcome::Done).await.unwrap();
    };
    let read = diary::read(&store, &owner, id, 0, |number, line| lines.push((number, line)));
    let (read, ()) = join(read, write).await;
    read.unwrap();
    let expected = [(1, "said 0"), (2, "said 1"), (3, "said 2")];
    assert_eq!(lines, expected.map(|(number, line)| (number, line.to_owned())));
}
