//! Runs with a journal in a store.

use std::sync::Arc;
use std::time::Duration;

use gatefold_agent::{AgentEvent, AgentRun, Driver, RunJournal, RunLimits};
use gatefold_core::{Clock as _, Principal, SystemClock, UserId};
use gatefold_dispatch::{DataOwner, Journal, NewRun, RunId, RunKind, RunOutcome};
use gatefold_model::Api;
use gatefold_store::{Store, StoreOptions};
use gatefold_testkit::model::ScriptedModel;

use crate::asking;
use crate::driven::{SlowEcho, calling, client};

#[tokio::test]
async fn a_run_can_be_replayed_from_its_journal() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path(), StoreOptions::default()).await.unwrap();
    let journal: Arc<dyn Journal> = Arc::new(store);
    let owner = DataOwner::lasting(&Principal::user(UserId::new("ann")));
    let id = RunId::new(SystemClock.now(), 7);
    let new_run =
        NewRun { id, owner, kind: RunKind::Agent, subject: "scribe".to_owned(), parent: None };
    journal.begin(new_run).await.unwrap();
    let model = ScriptedModel::start(calling(3));
    let (client, tools) = (client(&model, Api::Anthropic), SlowEcho::taking(Duration::ZERO));
    let driver = Driver::new(&client, &tools);
    let driver = driver.with_journal(RunJournal::new(journal.clone(), id));
    let run = driver.drive(asking("Go."), RunLimits::default()).await.unwrap();

    let kept = journal.run(&owner, id).await.unwrap().unwrap();
    assert_eq!((kept.last, kept.end.unwrap().1), (5, RunOutcome::Done));
    let events = journal.events(&owner, id, 0, 100).await.unwrap();
    let (mut replayed, _) = AgentRun::begin(asking("Go."), RunLimits::default());
    for event in events {
        replayed.step(serde_json::from_str::<AgentEvent>(event.json.get()).unwrap());
    }
    assert_eq!(replayed.history(), run.history());
    assert_eq!(replayed.end_state(), run.end_state());
}
