//! Runs that wait for a person.

use gatefold_testkit::model::{Move, ScriptedModel};
use gatefold_testkit::{Fixture, serve_http, wait_until};
use libtest_mimic::Failed;
use serde_json::json;

use crate::ledger::Ledger;
use crate::process::{Gateway, LIMIT, run};
use crate::scratch::Scratch;
use crate::{hosted, state};

/// A rule under which the first call of each pair waits.
const ASK: &str = "[policy]\nask = ['bills__pay']\n";

/// The approval that waits for a person.
async fn pending(scratch: &Scratch) -> String {
    let mut id = String::new();
    let is_there = wait_until(LIMIT, || {
        let listed = run(scratch, &["approvals", "list", "--json"]).json();
        listed["approvals"][0]["id"].as_str().unwrap_or_default().clone_into(&mut id);
        !id.is_empty()
    });
    assert!(is_there.await, "nothing waits");
    id
}

/// Begins a run whose process ends once it waits: nothing of it is in any memory then.
async fn begin_waiting(scratch: &Scratch) {
    let mut first = Gateway::of(hosted::command(scratch, "Go"));
    assert_eq!(first.ended().await, Some(0), "{}", first.log());
    assert_eq!(state(scratch), "waiting");
}

pub(crate) fn a_run_waits_for_an_approval_without_its_process() -> Result<(), Failed> {
    tokio::runtime::Runtime::new()?.block_on(async {
        let scratch = Scratch::new();
        let ledger = Ledger::start(&scratch, ASK);
        begin_waiting(&scratch).await;
        assert_eq!(ledger.calls(), [], "nothing was made");
        let gateway = Gateway::serve(&scratch).await;
        let mut approved = Vec::new();
        while state(&scratch) != "done" && approved.len() < 20 {
            let id = pending(&scratch).await;
            let decided = run(&scratch, &["approvals", "approve", &id, "--yes"]);
            assert_eq!(decided.code, Some(0), "{}", decided.stderr);
            approved.push(id);
            let goes_on = wait_until(LIMIT, || {
                let listed = run(&scratch, &["approvals", "list", "--json"]).json();
                state(&scratch) == "done" || listed["approvals"][0]["id"].is_string()
            });
            assert!(goes_on.await, "{}: {}", state(&scratch), gateway.log());
        }
        let pays = ledger.calls().iter().filter(|(tool, _)| tool == "pay").count();
        assert_eq!((pays, approved.len()), (13, 13), "{}", gateway.log());
        assert_eq!(ledger.check(0), 0, "each was made, and once");
        Ok(())
    })
}

pub(crate) fn a_denied_call_is_not_made() -> Result<(), Failed> {
    tokio::runtime::Runtime::new()?.block_on(async {
        let scratch = Scratch::new();
        let ledger = Ledger::start(&scratch, ASK);
        begin_waiting(&scratch).await;
        let id = pending(&scratch).await;
        run(&scratch, &["approvals", "deny", &id, "--reason", "too dear"]);
        let gateway = Gateway::serve(&scratch).await;
        let is_told = wait_until(LIMIT, || ledger.last_request().contains("too dear")).await;
        assert!(is_told, "{}: {}", state(&scratch), gateway.log());
        assert!(!ledger.calls().contains(&("pay".to_owned(), 0)));
        Ok(())
    })
}

pub(crate) fn a_run_is_cancelled_from_elsewhere() -> Result<(), Failed> {
    tokio::runtime::Runtime::new()?.block_on(async {
        let scratch = Scratch::new();
        let ledger = Ledger::start(&scratch, ASK);
        // One that waits, which nobody drives.
        begin_waiting(&scratch).await;
        let listed = run(&scratch, &["runs", "list", "--json"]).json();
        let id = listed["runs"][0]["id"].as_str().unwrap().to_owned();
        let cancelled = run(&scratch, &["runs", "cancel", &id[24..]]);
        assert_eq!((cancelled.code, state(&scratch).as_str()), (Some(0), "cancelled"));
        let again = run(&scratch, &["runs", "cancel", &id]);
        assert_eq!(again.code, Some(1), "{}", again.stdout);
        assert_eq!(ledger.calls(), []);
        let shown = run(&scratch, &["runs", "show", &id, "--json"]).json();
        assert_eq!(shown["run"]["request"], "Go");
        Ok(())
    })
}

/// Nobody can send the credentials of a source of that kind within a run that nobody is connected to.
pub(crate) fn a_source_whose_client_is_gone_says_what_it_wants() -> Result<(), Failed> {
    tokio::runtime::Runtime::new()?.block_on(async {
        let scratch = Scratch::new();
        let server = serve_http(Fixture::new(&["--bearer", "own"]).unwrap()).unwrap();
        let model = ScriptedModel::start(|prompt| match prompt.told().len() {
            0 => Move::call(
                "mcp",
                &json!({ "subcommand": "call", "server": "up", "tool": "echo", "parameters": {} }),
            ),
            _ => Move::say("Sign in, please."),
        });
        let config = format!(
            "[sources.up]\nurl = '{}'\ncredentials = 'client'\n[models.fast]\napi = 'openai-chat'\nurl = '{}'\n\
             model = 'scripted'\n",
            server.url,
            model.url()
        );
        scratch.write("gatefold.toml", config);
        let mut first = Gateway::of(hosted::command(&scratch, "Go"));
        assert_eq!(first.ended().await, Some(0), "{}", first.log());
        let last = model.requests().pop().unwrap();
        assert!(last.contains("which the client has to send in the header"), "{last}");
        assert_eq!(state(&scratch), "done");
        Ok(())
    })
}
