use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier, Mutex};

use gatefold_catalog::{Request, View};
use gatefold_core::{AgentId, CallError, ClientName, Outcome, Principal, ToolName, UserId};
use gatefold_disclose::{
    ClientLimits, Disclosure, Gateway, Reply, Step, Surface, TOOLS_LIMIT, UsageError,
};
use gatefold_dispatch::Caller;
use gatefold_exchange::{
    AgentProfile, AgentProfiles, Audience, CallObserver, ClientProfile, ClientProfiles,
    Disclosures, Exchange, List, NamingScheme, Scope, TaskSupport, ToolAnswer, ToolCall, Turn,
};
use serde_json::value::RawValue;

use crate::world::{ELSEWHERE, World, raw};

pub(crate) fn standard() -> Disclosures {
    let gateway: Arc<dyn Disclosure> = Arc::new(Gateway::default());
    Disclosures::standard(&gateway)
}

fn someone(user: &str) -> Arc<Principal> {
    Arc::new(Principal::user(UserId::new(user)))
}

/// A turn of one user to whom a disclosure shows everything.
pub(crate) fn turn(exchange: &Arc<Exchange>, user: &str, disclosure: &str) -> Turn {
    let audience = exchange.audience(Scope::Everything, Some(disclosure)).unwrap();
    exchange.turn(&audience, someone(user)).unwrap()
}

pub(crate) async fn call(
    turn: &Turn,
    name: &str,
    arguments: &str,
) -> Result<ToolAnswer, CallError> {
    let (name, arguments) = (ToolName::parse(name).unwrap(), raw(arguments));
    let tasks = TaskSupport::Cannot;
    let call = ToolCall { name: &name, arguments, resume: None, tasks };
    turn.call(call, Caller::silent()).await
}

#[track_caller]
pub(crate) fn text(answer: Result<ToolAnswer, CallError>) -> String {
    match answer.unwrap() {
        ToolAnswer::Reply(reply) => reply.content[0].get().to_owned(),
        ToolAnswer::Result(payload) => payload.json.get().to_owned(),
        other => panic!("not an answer: {other:?}"),
    }
}

#[tokio::test]
async fn a_suggested_call_is_one_that_the_client_can_make() {
    let world = World::new();
    let exchange = Exchange::new(world.dispatcher.clone(), standard());
    let flat = call(&turn(&exchange, "ann", "flat"), "up__echo", ELSEWHERE).await;
    let Err(CallError::InvalidArguments { message, .. }) = flat else { panic!("{flat:?}") };
    assert_eq!(message, r#"not here; call `up__echo` with {"n":1}"#);
    let arguments = format!(r#"{{"tool_name":"up__echo","arguments":{ELSEWHERE}}}"#);
    let told = text(call(&turn(&exchange, "ann", "gateway"), "execute_tool", &arguments).await);
    let suggested = r#"{"tool_name":"up__echo","arguments":{"n":1}}"#;
    let expected = format!("not here; call `execute_tool` with {suggested}");
    // An error in a JSON text in a block in JSON.
    assert!(told.replace('\\', "").contains(&expected), "{told}");
}

#[tokio::test]
async fn a_turn_finds_calls_and_words_what_came_of_it() {
    let world = World::new();
    let exchange = Exchange::new(world.dispatcher.clone(), standard());
    let turn = turn(&exchange, "ann", "gateway");
    assert!(turn.lists().get(List::Tools).contains("execute_tool"));
    let found = text(call(&turn, "discover_tools", r#"{"query":"echo"}"#).await);
    assert!(found.contains("up__echo"), "{found}");
    assert_eq!(world.discoveries(), 1);
    let arguments = r#"{"tool_name":"up__echo","arguments":{"n":1.50}}"#;
    let told = text(call(&turn, "execute_tool", arguments).await);
    assert!(told.contains("up__echo") && told.contains("1.50"), "{told}");
    let unknown = r#"{"tool_name":"up__nothing","arguments":{}}"#;
    let told = text(call(&turn, "execute_tool", unknown).await);
    assert!(told.contains("Unknown tool"), "{told}");
    assert_eq!(world.calls(), 1);
}

#[tokio::test]
async fn a_transparent_disclosure_hands_on_results_and_errors() {
    let world = World::new();
    let exchange = Exchange::new(world.dispatcher.clone(), standard());
    let turn = turn(&exchange, "ann", "flat");
    let answer = call(&turn, "up__echo", r#"{"n":1.50}"#).await;
    assert!(matches!(answer, Ok(ToolAnswer::Result(_))), "{answer:?}");
    let unknown = call(&turn, "up__nothing", "{}").await;
    assert!(matches!(unknown, Err(CallError::UnknownTool { .. })), "{unknown:?}");
}

/// Keeps the tools that were called, and how each call ended.
#[derive(Default)]
struct CalledTools(Mutex<Vec<String>>);

impl CallObserver for CalledTools {
    fn called(&self, request: &Request, result: &Result<Outcome, CallError>) {
        let end = result.as_ref().map_or_else(|error| error.kind().as_str(), |_| "done");
        self.0.lock().unwrap().push(format!("{} {end}", request.operation.subject()));
    }
}

#[tokio::test]
async fn an_observer_hears_of_calls_and_not_of_what_only_discovers() {
    let world = World::new();
    let exchange = Exchange::new(world.dispatcher.clone(), standard());
    for (disclosure, tool, arguments) in [
        ("gateway", "execute_tool", r#"{"tool_name":"up__echo","arguments":{}}"#),
        ("flat", "up__echo", "{}"),
    ] {
        let called = Arc::<CalledTools>::default();
        let turn = turn(&exchange, "ann", disclosure).observed_by(called.clone());
        let _ = call(&turn, "discover_tools", r#"{"query":"echo"}"#).await;
        call(&turn, tool, arguments).await.unwrap();
        let called = called.0.lock().unwrap();
        assert_eq!(called.last().unwrap(), "up__echo done", "{disclosure}");
        assert_eq!(called.len(), if disclosure == "gateway" { 1 } else { 2 }, "{called:?}");
    }
}

/// Counts how often its surface is built, and waits while building until all askers have arrived.
struct CountingDisclosure {
    gateway: Gateway,
    built: AtomicUsize,
}

impl Disclosure for CountingDisclosure {
    fn surface(&self, view: &View, limits: &ClientLimits) -> Surface {
        self.built.fetch_add(1, Ordering::SeqCst);
        self.gateway.surface(view, limits)
    }

    fn interpret(
        &self,
        view: &View,
        name: &ToolName,
        arguments: &RawValue,
    ) -> Result<Step, UsageError> {
        self.gateway.interpret(view, name, arguments)
    }

    fn render(
        &self,
        view: &View,
        name: &ToolName,
        request: &Request,
        result: Result<Outcome, CallError>,
    ) -> Reply {
        self.gateway.render(view, name, request, result)
    }
}

#[tokio::test]
async fn equal_rights_share_one_surface_that_is_built_once() {
    const ASKERS: usize = 8;
    let world = World::new();
    let counting =
        Arc::new(CountingDisclosure { gateway: Gateway::default(), built: AtomicUsize::default() });
    let own: Arc<dyn Disclosure> = counting.clone();
    let disclosures = standard().with("counting", NamingScheme::Public, |_| own.clone());
    let exchange = Exchange::new(world.dispatcher.clone(), disclosures);
    let turns: Vec<_> =
        (0..ASKERS).map(|at| turn(&exchange, &format!("user{at}"), "counting")).collect();
    let start = Barrier::new(ASKERS);
    let lists: Vec<_> = std::thread::scope(|scope| {
        let asking = turns.iter().map(|turn| {
            scope.spawn(|| {
                start.wait();
                turn.lists()
            })
        });
        let asking: Vec<_> = asking.collect();
        asking.into_iter().map(|asked| asked.join().unwrap()).collect()
    });
    assert!(lists.iter().all(|own| Arc::ptr_eq(own, &lists[0])));
    assert_eq!(counting.built.load(Ordering::SeqCst), 1);
    let other = turn(&exchange, "ann", "gateway");
    assert!(!Arc::ptr_eq(&other.lists(), &lists[0]), "another disclosure, another surface");
}

#[tokio::test]
async fn one_source_is_shown_under_its_own_names_and_a_hidden_one_not_at_all() {
    let world = World::new();
    let exchange = Exchange::new(world.dispatcher.clone(), standard());
    let of = |domain: &str| -> Audience {
        let domain = gatefold_core::Domain::parse(domain).unwrap();
        exchange.audience(Scope::Source(domain), None).unwrap()
    };
    let turn = exchange.turn(&of("up"), someone("ann")).unwrap();
    assert!(turn.lists().get(List::Tools).contains(r#""name":"echo""#));
    assert!(text(call(&turn, "echo", r#"{"number":1}"#).await).contains("number"));
    assert!(exchange.turn(&of("down"), someone("ann")).is_none());
}

#[tokio::test]
async fn a_clients_limits_make_a_surface_of_their_own() {
    let world = World::new();
    let exchange = Exchange::new(world.dispatcher.clone(), standard());
    let short = ClientLimits { instructions_bytes: 10 };
    let profile = ClientProfile { disclosure: Some("flat".to_owned()), limits: short };
    let profiles = [(ClientName::new("terse"), profile)];
    exchange.set_clients(ClientProfiles::new(profiles, exchange.disclosures()).unwrap());
    let flat = exchange.audience(Scope::Everything, Some("flat")).unwrap();
    let instructions = |name: &str| {
        let audience = exchange.for_client(&flat, Some(&ClientName::new(name)));
        let turn = exchange.turn(&audience, someone("ann")).unwrap();
        turn.lists().surface().instructions.clone()
    };
    assert_eq!(instructions("other"), "Tools of these sources: up");
    assert_eq!(instructions("terse"), "Tools of these sources: +1 more");
    assert_eq!(instructions("other"), "Tools of these sources: up");
}

#[tokio::test]
async fn a_profile_of_a_disclosure_that_nobody_registered_is_refused() {
    let profile = ClientProfile { disclosure: Some("loud".to_owned()), ..ClientProfile::default() };
    let error = ClientProfiles::new([(ClientName::new("x"), profile)], &standard()).unwrap_err();
    assert_eq!(error.to_string(), "there is no disclosure `loud`: use `gateway` or `flat`");
}

#[tokio::test]
async fn what_changes_after_an_audience_was_resolved_counts_for_its_next_turn() {
    let world = World::new();
    let exchange = Exchange::new(world.dispatcher.clone(), standard());
    let audience = exchange.audience(Scope::Everything, None).unwrap();
    let name = || {
        let turn = exchange.turn(&audience, someone("ann")).unwrap();
        turn.audience().disclosure_name().to_string()
    };
    assert_eq!(name(), "gateway");
    exchange.disclosures().set_default("flat").unwrap();
    assert_eq!(name(), "flat");
    let agent = AgentId::new("helper");
    let profile = AgentProfile {
        instructions: "Help.".into(),
        visible_to: Vec::new(),
        disclosure: None,
        disclosures: standard(),
    };
    exchange.set_agents(AgentProfiles::new([(agent.clone(), profile)]).unwrap());
    let audience = exchange.agent_audience(&agent, None).unwrap().unwrap();
    assert!(exchange.turn(&audience, someone("ann")).is_some());
    exchange.set_agents(AgentProfiles::default());
    assert!(exchange.turn(&audience, someone("ann")).is_none(), "it is gone");
}

#[tokio::test]
async fn what_a_loop_is_said_to_have_loaded_is_among_its_tools_up_to_the_last() {
    let world = World::with_tools(200);
    let exchange = Exchange::new(world.dispatcher.clone(), standard());
    let audience = exchange.audience(Scope::Everything, Some("flat")).unwrap().in_loop();
    let audience = audience.for_request("echo");
    let next_turn = || {
        let turn = exchange.turn(&audience, someone("ann")).unwrap();
        turn.keep_shown();
        turn
    };
    let listed = |turn: &Turn| -> BTreeSet<String> {
        turn.lists().surface().tools.iter().map(|tool| tool.name.clone()).collect()
    };
    let mut before = BTreeSet::new();
    let mut has_room = true;
    for first in (0..200).step_by(20) {
        let turn = next_turn();
        assert!(before.is_subset(&listed(&turn)), "none goes");
        before = listed(&turn);
        let number = |at| format!("up__archive_linked_invoice_{at}");
        let names: Vec<_> = (first..first + 20).map(number).collect();
        let arguments = serde_json::json!({ "tool_names": names }).to_string();
        let told = text(call(&turn, "request_tools", &arguments).await);
        let block: serde_json::Value = serde_json::from_str(&told).unwrap();
        let told = block["text"].as_str().unwrap();
        let answer: serde_json::Value = serde_json::from_str(told).unwrap();
        let loaded: Vec<String> = serde_json::from_value(answer["loaded"].clone()).unwrap();
        before.extend(loaded);
        has_room = answer.get("left_out").is_none();
    }
    let last = listed(&next_turn());
    assert!(before.is_subset(&last) && !has_room, "{last:?}");
    assert_eq!(last.len(), TOOLS_LIMIT - 1, "the room of `execute_tool` stays free");
}
