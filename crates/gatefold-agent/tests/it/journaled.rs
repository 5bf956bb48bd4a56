//! Runs with a journal in a store.

use std::sync::Arc;
use std::time::Duration;

use gatefold_agent::{AgentEvent, AgentRun, Driver, RunJournal, RunLimits, replay};
use gatefold_core::{Clock as _, Principal, SystemClock, UserId};
use gatefold_dispatch::{DataOwner, Journal, NewRun, RunId, RunKind, RunOutcome};
use gatefold_model::{Api, Turn, UserMessage};
use gatefold_store::{Store, StoreOptions};
use gatefold_testkit::model::{Move, ScriptedModel};

use crate::asking;
use crate::driven::{SlowEcho, calling, client};

pub(crate) async fn begin(journal: &Arc<dyn Journal>, owner: &DataOwner, number: u128) -> RunId {
    let id = RunId::new(SystemClock.now(), number);
    let subject = "scribe".to_owned();
    let (kind, owner) = (RunKind::Agent, *owner);
    let new = NewRun { id, owner, kind, subject, parent: None, thread: None };
    journal.begin(new).await.unwrap();
    id
}

#[tokio::test]
async fn a_run_can_be_replayed_from_its_journal() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path(), StoreOptions::default()).await.unwrap();
    let journal: Arc<dyn Journal> = Arc::new(store);
    let owner = DataOwner::lasting(&Principal::user(UserId::new("ann")));
    let id = begin(&journal, &owner, 7).await;
    let model = ScriptedModel::start(calling(3));
    let (client, tools) = (client(&model, Api::Anthropic), SlowEcho::taking(Duration::ZERO));
    let driver = Driver::new(&client, &tools);
    let driver = driver.with_journal(RunJournal::new(journal.clone(), id));
    let run = driver.drive(asking("Go."), RunLimits::default()).await.unwrap();

    let kept = journal.run(&owner, id).await.unwrap().unwrap();
    assert_eq!((kept.last, kept.end.unwrap().1), (6, RunOutcome::Done));
    let events = journal.events(&owner, id, 1, 100).await.unwrap();
    let (mut replayed, _) = AgentRun::begin(asking("Go."), RunLimits::default());
    for event in events {
        replayed.step(serde_json::from_str::<AgentEvent>(event.json.get()).unwrap());
    }
    assert_eq!(replayed.history(), run.history());
    assert_eq!(replayed.end_state(), run.end_state());
    let replayed = replay(&*journal, &owner, [id]).await.unwrap();
    assert_eq!(replayed.as_ref(), Some(run.transcript()));
}

/// Two runs, the second one after a crash in the midst of its calls.
#[tokio::test]
async fn a_conversation_is_whole_again_from_the_journals_of_its_runs() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path(), StoreOptions::default()).await.unwrap();
    let journal: Arc<dyn Journal> = Arc::new(store);
    let owner = DataOwner::lasting(&Principal::user(UserId::new("ann")));
    let first = begin(&journal, &owner, 1).await;
    let model = ScriptedModel::start(calling(3));
    let (client, tools) = (client(&model, Api::OpenAiChat), SlowEcho::taking(Duration::ZERO));
    let driver = Driver::new(&client, &tools);
    let driver = driver.with_journal(RunJournal::new(journal.clone(), first));
    let run = driver.drive(asking("Go."), RunLimits::default()).await.unwrap();
    let mut history = run.into_transcript().into_history();

    history.say(UserMessage::text("Again.").unwrap());
    let second = begin(&journal, &owner, 2).await;
    let twice = |at: usize| ("echo".to_owned(), format!(r#"{{"n":{at}}}"#));
    let model = ScriptedModel::start(move |_| Move::Call((0..2).map(twice).collect()));
    let (client, tools) = (self::client(&model, Api::OpenAiChat), SlowEcho::taking(Duration::MAX));
    let driver = Driver::new(&client, &tools);
    let driver = driver.with_journal(RunJournal::new(journal.clone(), second));
    let crash = tokio::time::timeout(
        Duration::from_millis(500),
        driver.drive(history.clone(), RunLimits::default()),
    );
    crash.await.unwrap_err();

    let replayed = replay(&*journal, &owner, [first, second]).await.unwrap().unwrap();
    assert_eq!(replayed.turns()[..history.turns().len()], *history.turns());
    let Some(Turn::Round(round)) = replayed.turns().last() else { panic!("{replayed:?}") };
    assert_eq!(round.results().len(), 2);
    for result in round.results() {
        let told = format!("{:?}", result.parts);
        assert!(result.is_error && told.contains("may still take effect"), "{told}");
    }
    let others = DataOwner::lasting(&Principal::user(UserId::new("bea")));
    assert!(replay(&*journal, &others, [first]).await.is_err());
    assert_eq!(replay(&*journal, &owner, []).await.unwrap(), None);
}

/// Two chats go on with one conversation at once, and one of them compacts what it knows of it.
#[tokio::test]
async fn a_compaction_counts_only_where_the_conversation_is_as_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path(), StoreOptions::default()).await.unwrap();
    let journal: Arc<dyn Journal> = Arc::new(store);
    let owner = DataOwner::lasting(&Principal::user(UserId::new("ann")));
    let long = format!(r#"{{"text":"{}"}}"#, "word ".repeat(2000));
    let model = ScriptedModel::start(move |prompt| match prompt.told().len() {
        0..6 => Move::Call(vec![("echo".to_owned(), long.clone())]),
        _ => Move::say("Done."),
    });
    let (client, tools) = (client(&model, Api::OpenAiChat), SlowEcho::taking(Duration::ZERO));
    let driver =
        |run| Driver::new(&client, &tools).with_journal(RunJournal::new(journal.clone(), run));
    let (other, own) = (begin(&journal, &owner, 1).await, begin(&journal, &owner, 2).await);
    let compacting = begin(&journal, &owner, 3).await;
    driver(other).drive(asking("Go."), RunLimits::default()).await.unwrap();
    let run = driver(own).drive(asking("Go."), RunLimits::default()).await.unwrap();
    let said = run.into_transcript();
    let compacted = driver(compacting).compact(said, RunLimits::default()).await.unwrap();
    assert!(compacted.is_compacted());

    let alone = replay(&*journal, &owner, [own, compacting]).await.unwrap();
    assert_eq!(alone.as_ref(), Some(&compacted));
    let both = replay(&*journal, &owner, [other, own, compacting]).await.unwrap().unwrap();
    assert!(!both.is_compacted() && both.turns().len() == 2 * compacted.turns().len());
}
