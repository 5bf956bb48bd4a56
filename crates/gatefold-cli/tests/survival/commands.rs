//! What the commands about runs do with those whose process has died.

use std::io::Write as _;
use std::process::{Command, Stdio};

use gatefold_testkit::model::{Move, ScriptedModel};
use gatefold_testkit::wait_until;
use libtest_mimic::Failed;
use serde_json::Value;

use crate::ledger::Ledger;
use crate::process::{Gateway, LIMIT, command, run};
use crate::scratch::Scratch;
use crate::{hosted, numbers_from, run_id, state};

/// How many processes a run may take with it.
const CRASHES: usize = 3;

/// Begins a run and kills its process in the midst of it.
async fn begin_and_kill(scratch: &Scratch, ledger: &Ledger) {
    let mut first = Gateway::of(hosted::command(scratch, "Go"));
    let is_there = wait_until(LIMIT, || ledger.asked() >= 3).await;
    assert!(is_there, "{}", first.log());
    first.signal("-KILL");
    first.ended().await;
}

pub(crate) fn a_run_is_resumed_and_deleted_by_command() -> Result<(), Failed> {
    tokio::runtime::Runtime::new()?.block_on(async {
        let scratch = Scratch::new();
        let ledger = Ledger::start(&scratch, "");
        begin_and_kill(&scratch, &ledger).await;
        let id = run_id(&scratch);
        let early = run(&scratch, &["runs", "delete", &id]);
        assert_eq!(early.code, Some(1), "it has not ended: {}", early.stdout);
        let resumed = run(&scratch, &["runs", "resume", &id[24..]]);
        assert_eq!(
            (resumed.code, state(&scratch).as_str()),
            (Some(0), "done"),
            "{}",
            resumed.stderr
        );
        ledger.check(0);
        let again = run(&scratch, &["runs", "resume", &id]);
        assert_eq!(again.code, Some(1), "{}", again.stdout);

        let deleted = run(&scratch, &["runs", "delete", &id]);
        assert_eq!(deleted.code, Some(0), "{}", deleted.stderr);
        let listed = run(&scratch, &["runs", "list", "--json"]).json();
        assert_eq!(listed["runs"], Value::Array(Vec::new()));
        assert_eq!(run(&scratch, &["runs", "show", &id]).code, Some(1));
        Ok(())
    })
}

/// A reader that stays sees each event once, from the process that dies and from the one that goes on.
pub(crate) fn a_reader_follows_a_run_over_the_end_of_its_process() -> Result<(), Failed> {
    tokio::runtime::Runtime::new()?.block_on(async {
        let scratch = Scratch::new();
        let ledger = Ledger::start(&scratch, "");
        let mut first = Gateway::of(hosted::command(&scratch, "Go"));
        let has_begun = wait_until(LIMIT, || ledger.asked() >= 1).await;
        assert!(has_begun, "{}", first.log());
        let id = run_id(&scratch);
        let output = std::fs::File::create(scratch.path().join("followed"))?;
        let mut follow = command(&scratch, &["runs", "follow", &id, "--json"]);
        let mut reader = follow.stdout(output).spawn()?;
        let is_further = wait_until(LIMIT, || ledger.asked() >= 4).await;
        assert!(is_further, "{}", first.log());
        first.signal("-KILL");
        first.ended().await;

        let gateway = Gateway::serve(&scratch).await;
        let mut status = None;
        let has_ended = wait_until(LIMIT, || {
            status = reader.try_wait().unwrap();
            status.is_some()
        });
        assert!(has_ended.await, "{}: {}", state(&scratch), gateway.log());
        assert!(status.is_some_and(|status| status.success()));
        let followed = numbers_from(&std::fs::read_to_string(scratch.path().join("followed"))?);
        assert_eq!(followed, (1..=followed.len() as u64).collect::<Vec<_>>());
        let all = run(&scratch, &["runs", "follow", &id, "--json"]).stdout;
        assert_eq!(followed.len(), numbers_from(&all).len(), "none is missed");
        Ok(())
    })
}

/// It may be the reason that they died.
pub(crate) fn a_run_is_ended_that_processes_die_with() -> Result<(), Failed> {
    tokio::runtime::Runtime::new()?.block_on(async {
        let scratch = Scratch::new();
        let model = ScriptedModel::start(|_| Move::Hang);
        let config = format!(
            "[models.fast]\napi = 'openai-chat'\nurl = '{}'\nmodel = 'scripted'\n",
            model.url()
        );
        scratch.write("gatefold.toml", config);
        for crash in 1..=CRASHES {
            let mut process = match crash {
                1 => Gateway::of(hosted::command(&scratch, "Go")),
                _ => Gateway::serve(&scratch).await,
            };
            let is_asked = wait_until(LIMIT, || model.requests().len() >= crash).await;
            assert!(is_asked, "{}", process.log());
            process.signal("-KILL");
            process.ended().await;
        }
        let gateway = Gateway::serve(&scratch).await;
        let has_ended = wait_until(LIMIT, || state(&scratch) == "failed").await;
        assert!(has_ended, "{}: {}", state(&scratch), gateway.log());
        let shown = run(&scratch, &["runs", "show", &run_id(&scratch)]).stdout;
        assert!(shown.contains("3 processes have died while they drove it"), "{shown}");
        assert_eq!(model.requests().len(), CRASHES);
        Ok(())
    })
}

/// Its window is gone, and its conversation can be gone on with.
pub(crate) fn a_chat_whose_window_is_closed_finishes_its_answer() -> Result<(), Failed> {
    tokio::runtime::Runtime::new()?.block_on(async {
        let scratch = Scratch::new();
        let ledger = Ledger::start(&scratch, "");
        let mut chat = command(&scratch, &["chat"]).stdin(Stdio::piped()).spawn()?;
        let mut keys = chat.stdin.take().unwrap();
        keys.write_all(b"Go\n")?;
        assert!(wait_until(LIMIT, || ledger.asked() >= 3).await, "nothing is asked");
        let hung_up = Command::new("kill").args(["-HUP", &chat.id().to_string()]).status()?;
        assert!(hung_up.success());
        let has_ended = wait_until(LIMIT, || chat.try_wait().unwrap().is_some()).await;
        assert!(has_ended, "it stays");
        assert_eq!((state(&scratch).as_str(), ledger.check(0)), ("done", 0));
        Ok(())
    })
}
