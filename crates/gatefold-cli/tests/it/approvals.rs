//! Calls that need a person's approval, through the real binary: who is asked, what is refused, and
//! how a person decides while a gateway runs.

use gatefold_testkit::{Exchange, RawClient};
use serde_json::{Value, json};

use crate::connect::at_a_terminal;
use crate::process::{Gateway, run, two_sources};
use crate::scratch::Scratch;

const CREATE: &str = "issues__create_issue";

const ARGUMENTS: &str = r#"{"title": "the printer is broken"}"#;

const YES: &str = r#"{"action":"accept","content":{"approve":true}}"#;

const NO: &str = r#"{"action":"decline"}"#;

/// The capabilities of a client that can be asked.
const FORMS: &str = r#"{"elicitation":{"form":{}}}"#;

struct World {
    scratch: Scratch,
    gateway: Gateway,
}

impl World {
    /// A gateway over two sources, with this `[policy]`.
    async fn new(policy: &str) -> Self {
        Self::with(|sources| sources + policy).await
    }

    async fn with(config: impl FnOnce(String) -> String) -> Self {
        let scratch = Scratch::new();
        scratch.write("gatefold.toml", config(two_sources(&scratch)));
        let gateway = Gateway::serve(&scratch).await;
        let world = Self { scratch, gateway };
        let deadline = tokio::time::Instant::now() + crate::process::LIMIT;
        let client = world.client("{}");
        let reads = execute("issues__list_issues", "{}");
        while client.call("execute_tool", &reads).await.unwrap().text().contains("Unknown tool") {
            assert!(tokio::time::Instant::now() < deadline, "nothing was learnt");
        }
        world
    }

    fn client(&self, capabilities: &str) -> RawClient {
        RawClient::new(self.gateway.url()).unwrap().with_capabilities(capabilities)
    }

    async fn in_a_session(&self, capabilities: &str) -> RawClient {
        let mut client = self.client(capabilities);
        client.initialize().await.unwrap();
        client
    }

    /// Runs `gatefold approvals`; returns the exit code and all output.
    fn approvals(&self, args: &[&str]) -> (Option<i32>, String) {
        let done = run(&self.scratch, &[&["approvals"], args].concat());
        (done.code, done.stdout + &done.stderr)
    }

    fn listed(&self) -> Vec<Value> {
        let listed = run(&self.scratch, &["approvals", "list", "--json"]).json();
        listed["approvals"].as_array().unwrap().clone()
    }
}

fn execute(tool: &str, arguments: &str) -> String {
    format!(r#"{{"tool_name":"{tool}","arguments":{arguments}}}"#)
}

async fn create(client: &RawClient, arguments: &str) -> Exchange {
    client.call("execute_tool", &execute(CREATE, arguments)).await.unwrap()
}

/// The id in a refusal that says how a person can approve.
#[track_caller]
fn refused_until_approved(exchange: &Exchange) -> String {
    let text = exchange.text();
    assert_eq!(exchange.result()["isError"], true, "{}", exchange.response);
    let (_, rest) =
        text.split_once("gatefold approvals approve ").unwrap_or_else(|| panic!("{text}"));
    assert!(text.contains("needs a person's approval"), "{text}");
    rest.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '-').collect()
}

#[track_caller]
fn succeeded(exchange: &Exchange) {
    let result = exchange.result();
    assert!(result.is_object() && result["isError"] != true, "{}", exchange.response);
    assert!(exchange.text().contains("printer"), "{}", exchange.text());
}

#[tokio::test]
async fn a_yes_at_a_terminal_serves_one_call_of_a_client_that_cannot_be_asked() {
    for has_session in [false, true] {
        let world = World::new("[policy]\nask = ['*__create_*']\n").await;
        let client = if has_session { world.in_a_session("{}").await } else { world.client("{}") };
        let id = refused_until_approved(&create(&client, ARGUMENTS).await);
        assert_eq!(
            refused_until_approved(&create(&client, ARGUMENTS).await),
            id,
            "the same request"
        );

        let listed = world.listed();
        assert_eq!(listed.len(), 1, "{listed:?}");
        assert_eq!(listed[0]["id"], id.as_str());
        assert_eq!(listed[0]["tool"], CREATE);
        assert_eq!(listed[0]["arguments"], json!({"title": "the printer is broken"}));
        let (code, table) = world.approvals(&["list"]);
        assert_eq!(code, Some(0), "{table}");
        assert!(table.contains(&id) && table.contains("the printer is broken"), "{table}");

        let (code, said) = world.approvals(&["approve", "--yes", &id]);
        assert_eq!(code, Some(0), "{said}");
        assert!(said.starts_with(&format!("approved `{id}`: one call of `{CREATE}`")), "{said}");
        assert_eq!(world.approvals(&["list"]).1, "no call waits for approval\n");

        let other = create(&client, r#"{"title": "another printer"}"#).await;
        let other = refused_until_approved(&other);
        assert_ne!(other, id, "other arguments need a yes of their own");
        succeeded(&create(&client, ARGUMENTS).await);
        let again = refused_until_approved(&create(&client, ARGUMENTS).await);
        assert_ne!(again, id, "one yes serves one call");

        let (code, said) = world.approvals(&["approve", "--yes", &id]);
        assert_eq!(code, Some(1), "{said}");
        assert!(said.contains("is used up") && said.contains("help: "), "{said}");
        assert_eq!(world.listed().len(), 2, "{other} and {again} wait");
        assert!(!world.gateway.log().contains("printer"), "arguments are in the log");
    }
}

#[tokio::test]
async fn a_program_without_a_terminal_says_yes_only_on_purpose() {
    let world = World::new("[policy]\nask = ['*__create_*']\n").await;
    let client = world.in_a_session("{}").await;
    let refused = create(&client, ARGUMENTS).await;
    assert!(refused.text().contains("tell the person to run"), "{}", refused.text());
    let id = refused_until_approved(&refused);
    for args in [&["approve", &id][..], &["approve", &id, "--json"]] {
        let (code, said) = world.approvals(args);
        assert_eq!(code, Some(2), "{said}");
        assert!(said.contains("at a terminal") && said.contains("`--yes`"), "{said}");
    }
    assert_eq!(refused_until_approved(&create(&client, ARGUMENTS).await), id, "nothing is decided");

    let line = format!("approvals approve {id}");
    let question = format!("Approve one call of `{CREATE}` with these arguments?");
    let shown = at_a_terminal(&world.scratch, &line, &[(&question, "Enter")]).await;
    assert!(shown.contains(r#""title": "the printer is broken""#), "{shown}");
    assert!(shown.contains("nothing was decided"), "{shown}");
    assert_eq!(refused_until_approved(&create(&client, ARGUMENTS).await), id, "nothing is decided");
    let keys = [(&*question, "y"), ("(y/N) y", "Enter")];
    let shown = at_a_terminal(&world.scratch, &line, &keys).await;
    assert!(shown.contains(&format!("approved `{id}`")), "{shown}");
    succeeded(&create(&client, ARGUMENTS).await);
}

#[tokio::test]
async fn no_padding_hides_what_is_approved() {
    let world = World::new("[policy]\nask = ['*__create_*']\n").await;
    let pad = "x".repeat(4000);
    let to = "b\u{202e}ob";
    let padded = format!(r#"{{"title":"{pad}printer","amount":999999,"to":"{to}","z":"{pad}"}}"#);

    let mut asked = world.client(FORMS).with_answer(NO);
    asked.initialize().await.unwrap();
    let declined = create(&asked, &padded).await;
    let question = declined.notices.iter().find(|text| text.contains("elicitation/create"));
    let question = question.expect("the person was asked");
    assert!(question.contains(r#"\"amount\":999999"#), "{question}");
    assert!(question.contains("b<U+202E>ob"), "{question}");

    let client = world.in_a_session("{}").await;
    let id = refused_until_approved(&create(&client, &padded).await);
    let (_, table) = world.approvals(&["list"]);
    assert!(table.contains(r#""amount":999999"#) && table.contains("b<U+202E>ob"), "{table}");
    let keys = [("with these arguments?", "Escape")];
    let shown = at_a_terminal(&world.scratch, &format!("approvals approve {id}"), &keys).await;
    assert!(shown.contains(r#""amount": 999999"#) && shown.contains("b<U+202E>ob"), "{shown}");

    // What cannot be shown as a whole cannot be approved.
    let long = format!(r#"{{"title":"{}"}}"#, "x".repeat(70_000));
    let id = refused_until_approved(&create(&client, &long).await);
    let (code, said) = world.approvals(&["approve", "--yes", &id]);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("too many to be shown") && said.contains("help: "), "{said}");
}

#[tokio::test]
async fn a_no_is_told_with_its_reason() {
    let world = World::new("[policy]\nask = ['*__create_*']\n").await;
    let client = world.in_a_session("{}").await;
    let id = refused_until_approved(&create(&client, ARGUMENTS).await);
    let (code, said) = world.approvals(&["deny", &id, "--reason", "call the janitor"]);
    assert_eq!(code, Some(0), "{said}");
    let refused = create(&client, ARGUMENTS).await;
    assert_eq!(refused.result()["isError"], true, "{}", refused.response);
    assert!(refused.text().contains("was not approved: call the janitor"), "{}", refused.text());
    let (code, said) = world.approvals(&["approve", "--yes", &id]);
    assert_eq!(code, Some(1));
    assert!(said.contains("was denied by"), "{said}");
    assert_eq!(world.approvals(&["deny", &id, "--reason", " "]).0, Some(2));
    let (code, said) = world.approvals(&["approve", "-y", "zzzz-zzzz"]);
    assert_eq!(code, Some(1));
    assert!(said.contains("no request for approval `zzzz-zzzz`"), "{said}");
    assert!(said.contains("`gatefold approvals list`"), "{said}");
}

#[tokio::test]
async fn a_client_that_can_be_asked_is_asked_for_what_may_write() {
    let world = World::new("[policy]\nask = 'writes'\n").await;
    let reads = execute("issues__list_issues", "{}");
    let client = world.in_a_session("{}").await;
    let listed = client.call("execute_tool", &reads).await.unwrap();
    assert!(listed.result()["isError"].is_null(), "{}", listed.text());
    refused_until_approved(&create(&client, r#"{"title": "refused"}"#).await);

    let mut asked = world.client(FORMS).with_answer(YES);
    asked.initialize().await.unwrap();
    let created = create(&asked, ARGUMENTS).await;
    succeeded(&created);
    let question = created.notices.iter().find(|text| text.contains("elicitation/create"));
    let question = question.expect("the person was asked");
    assert!(question.contains(CREATE) && question.contains("printer"), "{question}");

    asked.set_answer(Some(NO));
    let declined = create(&asked, ARGUMENTS).await;
    assert!(declined.text().contains("was not approved"), "{}", declined.text());
}

#[tokio::test]
async fn a_client_whose_requests_stand_alone_comes_back_with_its_yes() {
    // `issues` is the first of the two sources.
    let world =
        World::with(|sources| sources.replacen("args", "ask = ['create_*']\nargs", 1)).await;
    let client = world.client(FORMS);
    let answered = async |answer: &str| {
        let asked = create(&client, ARGUMENTS).await.result();
        assert_eq!(asked["resultType"], "input_required", "{asked}");
        let message = &asked["inputRequests"]["approval"]["params"]["message"];
        assert!(message.as_str().is_some_and(|text| text.contains(CREATE)), "{asked}");
        // The arguments stay the same, down to the spaces: the approval is for exactly these.
        let (arguments, state) = (execute(CREATE, ARGUMENTS), &asked["requestState"]);
        let params = format!(
            r#"{{"name":"execute_tool","arguments":{arguments},"inputResponses":{{"approval":{answer}}},"requestState":{state}}}"#
        );
        client.request_named("tools/call", "execute_tool", &params).await.unwrap()
    };
    let declined = answered(NO).await;
    assert!(declined.text().contains("was not approved"), "{}", declined.response);
    succeeded(&answered(YES).await);
}

#[tokio::test]
async fn what_has_expired_cannot_be_approved() {
    let world = World::new("[policy]\nask = ['*__create_*']\n[limits]\napproval = '1s'\n").await;
    let client = world.in_a_session("{}").await;
    let id = refused_until_approved(&create(&client, ARGUMENTS).await);
    let gone = || world.listed().is_empty();
    assert!(gatefold_testkit::wait_until(crate::process::LIMIT, gone).await);
    let (code, said) = world.approvals(&["approve", "--yes", &id]);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("has expired"), "{said}");
    assert_ne!(refused_until_approved(&create(&client, ARGUMENTS).await), id);
}
