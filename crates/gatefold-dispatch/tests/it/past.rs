//! Learning from use, and who learns from whom.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::future::BoxFuture;
use gatefold_catalog::{Hit, Scope, SearchMode, search};
use gatefold_core::{BoxError, OrganisationId, Principal, Tenant, ToolId};
use gatefold_dispatch::{Caller, KeptQuery, PastQueries, PastUse};
use gatefold_policy::Effect;

use crate::source::FakeSource;
use crate::world::{World, ann, bob, rule, until};

/// Keeps past queries in memory.
#[derive(Default)]
pub(crate) struct MemoryPast {
    uses: Mutex<Vec<PastUse>>,
    version: AtomicU64,
}

impl MemoryPast {
    /// The queries kept so far, each with its tenant and tool.
    fn uses(&self) -> Vec<String> {
        let uses = self.uses.lock().unwrap();
        let shown = |used: &PastUse| {
            let tool = used.tool.as_ref().map_or("no tool", ToolId::as_str);
            format!("{} {tool}: {}", used.tenant, used.query)
        };
        uses.iter().map(shown).collect()
    }

    fn clear(&self) {
        self.uses.lock().unwrap().clear();
        self.version.fetch_add(1, Ordering::SeqCst);
    }
}

impl PastQueries for MemoryPast {
    fn note(&self, used: PastUse) {
        self.uses.lock().unwrap().push(used);
        self.version.fetch_add(1, Ordering::SeqCst);
    }

    fn version(&self) -> BoxFuture<'_, Result<u64, BoxError>> {
        Box::pin(async { Ok(self.version.load(Ordering::SeqCst)) })
    }

    fn kept<'a>(&'a self, tenant: &'a Tenant) -> BoxFuture<'a, Result<Vec<KeptQuery>, BoxError>> {
        Box::pin(async move {
            let uses = self.uses.lock().unwrap();
            let own = uses.iter().filter(|used| used.tenant == *tenant);
            let kept = own.filter_map(|PastUse { tool, query, .. }| {
                let (tool, query) = (tool.clone()?, query.clone());
                Some(KeptQuery { tool, query, weight: 1.0 })
            });
            Ok(kept.collect())
        })
    }
}

const FILE: &str = "notes__file";
const SEND: &str = "notes__send";

fn source() -> Arc<FakeSource> {
    FakeSource::with_tools("notes", &["file", "send"])
}

fn learning(source: &Arc<FakeSource>) -> World {
    let world = World { learns: true, ..World::new(&[source]) };
    world.install(&[source], &[]);
    world
}

fn member(organisation: &str, user: Principal) -> Principal {
    Principal { organisation: Some(OrganisationId::new(organisation)), ..user }
}

impl World {
    fn searched(&self, principal: &Principal, query: &str, shown: &[&str]) {
        let pinned = self.dispatcher.pin(Arc::new(principal.clone()));
        pinned.found(
            query,
            shown.iter().map(|tool| ToolId::new(*tool)).collect(),
            &Caller::silent(),
        );
    }

    /// What a search finds once everything learnt has been read.
    async fn finds(&self, principal: &Principal, query: &str) -> Vec<String> {
        self.dispatcher.recollect(&principal.tenant()).await.unwrap();
        let pinned = self.dispatcher.pin(Arc::new(principal.clone()));
        let hits = search(pinned.view(), query, &Scope::default(), SearchMode::Keyword, 9);
        let hits = hits.iter().filter(|hit| hit.fits());
        hits.map(|hit| hit.tool.id().to_string()).collect()
    }
}

const QUERY: &str = "umbrella for tomorrow";

#[tokio::test]
async fn a_call_that_went_well_teaches_the_search_that_led_to_it() {
    let source = source();
    let world = learning(&source);
    assert!(world.finds(&ann(), QUERY).await.is_empty());
    world.searched(&ann(), QUERY, &[FILE, SEND]);
    world.call_as(&ann(), SEND, "{}").await.unwrap();
    world.call_as(&ann(), SEND, "{}").await.unwrap();
    assert_eq!(world.past.uses(), [format!("user:ann {SEND}: {QUERY}")]);
    assert_eq!(world.finds(&ann(), "the umbrella of tomorrow").await, [SEND]);
}

#[tokio::test]
async fn a_search_that_nothing_fits_is_kept_as_one_that_led_nowhere() {
    let source = source();
    let world = learning(&source);
    world.searched(&ann(), QUERY, &[]);
    world.searched(&ann(), "password=hunter2 for tomorrow", &[]);
    assert_eq!(world.past.uses(), [format!("user:ann no tool: {QUERY}")]);
    let found = world.dispatcher.counters().discovery();
    assert_eq!((found.missed, found.led), (1, 0));
    let world = World { learns: false, ..World::new(&[&source]) };
    world.searched(&ann(), QUERY, &[]);
    assert!(world.past.uses().is_empty());
}

#[tokio::test]
async fn a_call_that_failed_teaches_nothing() {
    let source = FakeSource::with_tools("notes", &["fail", "refuse"]);
    let world = learning(&source);
    let tools = ["notes__fail", "notes__refuse", "notes__missing"];
    world.searched(&ann(), QUERY, &tools);
    for tool in tools {
        drop(world.call_as(&ann(), tool, "{}").await);
    }
    assert!(world.past.uses().is_empty(), "{:?}", world.past.uses());
}

#[tokio::test]
async fn a_tenant_learns_together_and_nobody_else_with_them() {
    let source = source();
    let world = learning(&source);
    let (ann, bob_of_acme) = (member("acme", ann()), member("acme", bob()));
    world.searched(&ann, QUERY, &[SEND]);
    world.call_as(&ann, SEND, "{}").await.unwrap();
    assert_eq!(world.finds(&bob_of_acme, QUERY).await, [SEND]);
    assert!(world.finds(&bob(), QUERY).await.is_empty());
    assert!(world.finds(&member("other", bob()), QUERY).await.is_empty());
}

#[tokio::test]
async fn a_hidden_tool_gets_nothing_by_what_others_learnt() {
    let source = source();
    let world = learning(&source);
    world.searched(&ann(), QUERY, &[SEND]);
    world.call_as(&ann(), SEND, "{}").await.unwrap();
    world.install(&[&source], &[rule(Effect::Deny, "notes", "*send")]);
    assert!(world.finds(&ann(), QUERY).await.is_empty());
}

#[tokio::test]
async fn the_view_stays_the_same_whatever_was_learnt() {
    let source = source();
    let world = learning(&source);
    let pin = || world.dispatcher.pin(Arc::new(ann()));
    let before = pin();
    world.searched(&ann(), QUERY, &[SEND]);
    world.call_as(&ann(), SEND, "{}").await.unwrap();
    assert_eq!(world.finds(&ann(), QUERY).await, [SEND]);
    assert!(pin().view().is_same(before.view()));
}

#[tokio::test]
async fn secrets_and_names_are_not_learnt() {
    let source = source();
    let world = learning(&source);
    for query in ["log in, password=hunter2", "notes send", "Send", &"word ".repeat(41)] {
        world.searched(&ann(), query, &[SEND]);
        world.call_as(&ann(), SEND, "{}").await.unwrap();
    }
    assert!(world.past.uses().is_empty(), "{:?}", world.past.uses());
}

#[tokio::test]
async fn what_is_switched_off_neither_learns_nor_uses() {
    let source = source();
    let mut world = learning(&source);
    world.searched(&ann(), QUERY, &[SEND]);
    world.call_as(&ann(), SEND, "{}").await.unwrap();
    world.learns = false;
    world.install(&[&source], &[]);
    assert!(world.finds(&ann(), QUERY).await.is_empty());
    world.searched(&ann(), "another thing", &[FILE]);
    world.call_as(&ann(), FILE, "{}").await.unwrap();
    assert_eq!(world.past.uses().len(), 1);
}

#[tokio::test]
async fn a_turn_notices_after_a_while_what_was_forgotten() {
    let source = source();
    let world = learning(&source);
    world.searched(&ann(), QUERY, &[SEND]);
    world.call_as(&ann(), SEND, "{}").await.unwrap();
    assert_eq!(world.finds(&ann(), QUERY).await, [SEND]);
    world.past.clear();
    world.clock.advance(Duration::from_secs(3));
    let finds_nothing = || {
        let pinned = world.dispatcher.pin(Arc::new(ann()));
        let hits = search(pinned.view(), QUERY, &Scope::default(), SearchMode::Keyword, 9);
        !hits.iter().any(Hit::fits)
    };
    until("the past is read anew", finds_nothing).await;
}
