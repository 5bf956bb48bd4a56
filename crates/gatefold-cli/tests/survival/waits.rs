//! Runs that wait for a person.

use gatefold_testkit::model::{Move, ScriptedModel};
use gatefold_testkit::{Fixture, serve_http, wait_until};
use libtest_mimic::Failed;
use serde_json::json;

use crate::ledger::Ledger;
use crate::process::{Gateway, LIMIT, run};
use crate::scratch::Scratch;
use crate::{hosted, run_id, state};

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
        let id = run_id(&scratch);
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

/// Nobody can send the credential of such a source within a run that nobody is connected to.
pub(crate) fn a_run_ends_that_needs_what_only_a_client_can_send() -> Result<(), Failed> {
    let server = serve_http(Fixture::new(&["--bearer", "own"]).unwrap()).unwrap();
    let source = format!("url = '{}'", server.url);
    let call = json!({ "subcommand": "call", "server": "up", "tool": "echo", "parameters": {} });
    end_without_its_client(&source, &Move::call("mcp", &call))
}

/// An approval is bound to the credential, so one without it would be good for nothing.
pub(crate) fn no_approval_is_asked_for_what_only_a_client_can_send() -> Result<(), Failed> {
    let source = "base_url = 'http://127.0.0.1:9'\nask = ['*']\n\
                  actions = [{ name = 'look', method = 'GET', path = '/look' }]";
    let call = json!({ "subcommand": "execute", "connector": "up", "action": "look" });
    end_without_its_client(source, &Move::call("connector", &call))
}

fn end_without_its_client(source: &str, first: &Move) -> Result<(), Failed> {
    tokio::runtime::Runtime::new()?.block_on(async {
        let scratch = Scratch::new();
        let first = first.clone();
        let model = ScriptedModel::start(move |prompt| match prompt.told().len() {
            0 => first.clone(),
            _ => Move::say("Sign in, please."),
        });
        let config = format!(
            "[sources.up]\n{source}\ncredentials = 'client'\n[models.fast]\napi = 'openai-chat'\nurl = '{}'\n\
             model = 'scripted'\n",
            model.url()
        );
        scratch.write("gatefold.toml", config);
        let mut hosted = Gateway::of(hosted::command(&scratch, "Go"));
        assert_eq!(hosted.ended().await, Some(0), "{}", hosted.log());
        let id = run_id(&scratch);
        let shown = run(&scratch, &["runs", "show", &id]).stdout;
        assert!(shown.contains("`up` needs a sign-in: only a client can send"), "{shown}");
        assert_eq!((state(&scratch).as_str(), model.requests().len()), ("failed", 1));
        let asked = run(&scratch, &["approvals", "list", "--json"]).json();
        assert_eq!(asked["approvals"], json!([]));
        Ok(())
    })
}
