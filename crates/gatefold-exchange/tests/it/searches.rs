//! Searching a large catalogue holds nobody up, whatever triggers the search.

use std::cell::Cell;
use std::sync::Arc;
use std::time::{Duration, Instant};

use gatefold_core::{
    Completion, Operation, Principal, PromptName, Reference, ToolName, Uri, UserId,
};
use gatefold_disclose::{Disclosure, Gateway};
use gatefold_dispatch::Caller;
use gatefold_exchange::{Disclosures, Exchange, Scope, TaskSupport, ToolCall, Turn};

use crate::world::{World, raw};

/// So many that the first search takes a while.
const TOOLS: usize = 3000;

/// How long a neighbour may wait, as a fraction of the time that the search takes.
const SHARE: u32 = 4;

fn turn(world: &World, disclosure: &str) -> Turn {
    let gateway: Arc<dyn Disclosure> = Arc::new(Gateway::default());
    let exchange = Exchange::new(world.dispatcher.clone(), Disclosures::standard(&gateway));
    let audience = exchange.audience(Scope::Everything, Some(disclosure)).unwrap();
    exchange.turn(&audience, Arc::new(Principal::user(UserId::new("ann")))).unwrap()
}

async fn call(turn: &Turn, name: &str, arguments: &str) -> String {
    let (name, arguments) = (ToolName::parse(name).unwrap(), raw(arguments));
    let tasks = TaskSupport::Cannot;
    let call = ToolCall { name: &name, arguments, resume: None, tasks };
    format!("{:?}", Box::pin(turn.call(call, Caller::silent())).await)
}

/// Makes one call after another on the same thread.
struct Neighbour {
    turn: Turn,
    /// When the call under way began.
    since: Cell<Instant>,
    longest: Cell<Duration>,
}

impl Neighbour {
    fn new(turn: Turn) -> Self {
        Self { turn, since: Cell::new(Instant::now()), longest: Cell::default() }
    }

    async fn calls(&self) -> ! {
        loop {
            let answer = call(&self.turn, "execute_tool", r#"{"tool_name":"up__echo"}"#).await;
            assert!(answer.contains("up__echo"), "{answer}");
            tokio::time::sleep(Duration::from_millis(1)).await;
            self.longest.set(self.waited());
            self.since.set(Instant::now());
        }
    }

    fn waited(&self) -> Duration {
        self.longest.get().max(self.since.get().elapsed())
    }
}

/// Makes a call that has to search, next to a neighbour on the same thread.
async fn check(disclosure: &str, name: &str, arguments: &str, expected: &str) {
    let world = World::with_tools(TOOLS);
    let (own, neighbour) = (turn(&world, disclosure), Neighbour::new(turn(&world, "gateway")));
    assert!(!own.view().snapshot().searches_quickly(), "nobody has searched yet");
    let began = Instant::now();
    let answer = tokio::select! {
        biased;
        never = neighbour.calls() => never,
        answer = call(&own, name, arguments) => answer,
    };
    let (took, waited) = (began.elapsed(), neighbour.waited());
    assert!(answer.contains(expected), "{name}: {answer}");
    assert!(waited * SHARE < took, "{name}: a neighbour waited {waited:?} of {took:?}");
}

#[tokio::test]
async fn a_search_holds_up_no_neighbour() {
    check("gateway", "discover_tools", r#"{"query":"archive an invoice"}"#, "archive_linked").await;
}

#[tokio::test]
async fn an_unknown_name_holds_up_no_neighbour() {
    let meant = "up__archive_linked_invoice_77";
    let unknown = r#"{"tool_name":"up__archive_linked_invoce_77"}"#;
    check("gateway", "get_tool_schema", unknown, meant).await;
    check("gateway", "execute_tool", unknown, meant).await;
    check("flat", "up__archive_linked_invoce_77", "{}", meant).await;
}

#[tokio::test]
async fn neither_a_known_name_nor_an_unknown_entry_of_another_kind_is_searched_for() {
    let world = World::with_tools(100);
    let turn = turn(&world, "gateway");
    call(&turn, "execute_tool", r#"{"tool_name":"up__echo"}"#).await;
    call(&turn, "no_such_tool_at_the_top", "{}").await;
    let reference = Reference::Prompt(PromptName::new("up__nothing"));
    let params = raw("{}");
    for operation in [
        Operation::Complete(Completion { reference, params }),
        Operation::Resource(Uri::new("file:///nothing")),
        Operation::Prompt { name: PromptName::new("up__nothing"), arguments: raw("{}") },
    ] {
        assert!(turn.operate(operation, None, Caller::silent()).await.is_err());
    }
    assert!(!turn.view().snapshot().searches_quickly(), "nothing has built an index");
    call(&turn, "execute_tool", r#"{"tool_name":"up__nothing"}"#).await;
    assert!(turn.view().snapshot().searches_quickly(), "an unknown tool has");
}
