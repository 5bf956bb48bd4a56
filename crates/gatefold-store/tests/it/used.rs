//! The tools used most: counted over whole days, and the same for a day whatever happens.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use gatefold_core::{
    AgentId, CallId, Clock as _, ManualClock, OrganisationId, Principal, Timestamp, ToolId, UserId,
};
use gatefold_dispatch::{AuditLog as _, AuditOutcome, CallOpened};
use gatefold_dispatch::{UsedTools as _, UtcDay};
use gatefold_store::Store;
use tempfile::tempdir;

use crate::fixture::{NOW, at, closed, opened_as};

const DAY: Duration = Duration::from_hours(24);

struct Uses {
    store: Store,
    clock: Arc<ManualClock>,
    made: u128,
}

impl Uses {
    async fn open(directory: &Path) -> Self {
        let clock = Arc::new(ManualClock::at(NOW));
        Self { store: Store::open(directory, at(&clock)).await.unwrap(), clock, made: 0 }
    }

    /// Records a call of a tool.
    async fn call(&mut self, who: &Principal, tool: &str, when: Timestamp) {
        self.record(who, tool, when, AuditOutcome::Done, |call| call).await;
    }

    async fn record(
        &mut self,
        who: &Principal,
        tool: &str,
        when: Timestamp,
        outcome: AuditOutcome,
        change: impl FnOnce(CallOpened) -> CallOpened,
    ) {
        self.made += 1;
        let id = CallId::new(when, self.made);
        let (principal, tool) = (Arc::new(who.clone()), Some(ToolId::new(tool)));
        let call = change(CallOpened { principal, tool, ..opened_as(id, when) });
        self.store.open(call).await.unwrap().close(closed(id, outcome)).await;
    }

    async fn of(&self, who: &Principal) -> Vec<String> {
        self.on(who, UtcDay::of(self.clock.now())).await
    }

    async fn on(&self, who: &Principal, day: UtcDay) -> Vec<String> {
        let tools = self.store.most_used(who, day).await.unwrap();
        tools.iter().map(ToString::to_string).collect()
    }
}

fn ann() -> Principal {
    Principal::user(UserId::new("ann"))
}

/// So many days before the first moment of today.
fn days_ago(days: u64) -> Timestamp {
    UtcDay::of(NOW).before(days).start()
}

#[tokio::test]
async fn the_most_used_of_the_last_seven_whole_days_come_first_and_ties_go_by_id() {
    let directory = tempdir().unwrap();
    let mut uses = Uses::open(directory.path()).await;
    uses.call(&ann(), "b_often", days_ago(7)).await;
    uses.call(&ann(), "b_often", days_ago(1)).await;
    uses.call(&ann(), "z_once", days_ago(3)).await;
    uses.call(&ann(), "a_once", days_ago(2)).await;
    let (just_before, today) = (Timestamp::from_millis(days_ago(7).as_millis() - 1), days_ago(0));
    for _ in 0..5 {
        uses.call(&ann(), "c_too_old", just_before).await;
        uses.call(&ann(), "d_today", today).await;
    }
    assert_eq!(uses.of(&ann()).await, ["b_often", "a_once", "z_once"]);
}

#[tokio::test]
async fn only_calls_of_tools_that_went_well_and_were_asked_for_count() {
    let directory = tempdir().unwrap();
    let (mut uses, when) = (Uses::open(directory.path()).await, days_ago(1));
    for outcome in [AuditOutcome::ToolError, AuditOutcome::Cancelled, AuditOutcome::Task] {
        uses.record(&ann(), "a_failed", when, outcome, |call| call).await;
    }
    let nested = |call| CallOpened { parent: Some(CallId::new(when, 9999)), ..call };
    uses.record(&ann(), "a_nested", when, AuditOutcome::Done, nested).await;
    let prompt = |call| CallOpened { operation: "prompt", ..call };
    uses.record(&ann(), "a_prompt", when, AuditOutcome::Done, prompt).await;
    uses.call(&ann(), "a_tool", when).await;
    assert_eq!(uses.of(&ann()).await, ["a_tool"]);
}

#[tokio::test]
async fn each_user_organisation_and_agent_has_its_own_and_there_are_at_most_eight() {
    let directory = tempdir().unwrap();
    let (mut uses, when) = (Uses::open(directory.path()).await, days_ago(1));
    let agent = Principal { agent: Some(AgentId::new("sales")), ..ann() };
    let member = Principal { organisation: Some(OrganisationId::new("ac\"me é")), ..ann() };
    let bob = Principal::user(UserId::new("bob"));
    for (who, tool) in [(&ann(), "a_own"), (&agent, "a_agents"), (&member, "a_members")] {
        uses.call(who, tool, when).await;
    }
    for number in 0..9 {
        uses.call(&bob, &format!("b_{number}"), when).await;
    }
    assert_eq!(uses.of(&ann()).await, ["a_own"]);
    assert_eq!(uses.of(&agent).await, ["a_agents"]);
    assert_eq!(uses.of(&member).await, ["a_members"]);
    let expected: Vec<_> = (0..8).map(|number| format!("b_{number}")).collect();
    assert_eq!(uses.of(&bob).await, expected);
    let nobody = Principal::user(UserId::new("x".repeat(600)));
    assert!(uses.of(&nobody).await.is_empty(), "records cut such a name");
}

#[tokio::test]
async fn what_is_recorded_or_deleted_later_changes_nothing_for_the_day() {
    let directory = tempdir().unwrap();
    let mut uses = Uses::open(directory.path()).await;
    uses.call(&ann(), "a_first", days_ago(1)).await;
    assert_eq!(uses.of(&ann()).await, ["a_first"]);
    uses.call(&ann(), "a_late", days_ago(1)).await;
    uses.call(&ann(), "a_late", days_ago(1)).await;
    assert_eq!(uses.of(&ann()).await, ["a_first"]);
    uses.store.close().await.unwrap();
    // After a restart too, and in another process.
    let mut uses = Uses::open(directory.path()).await;
    uses.made = 100;
    assert_eq!(uses.of(&ann()).await, ["a_first"]);
    assert!(uses.of(&Principal::user(UserId::new("bob"))).await.is_empty());
    uses.store.prune().await.unwrap();
    assert_eq!(uses.of(&ann()).await, ["a_first"]);
    uses.clock.advance(DAY);
    assert_eq!(uses.of(&ann()).await, ["a_late", "a_first"]);
    uses.clock.advance(5 * DAY);
    assert_eq!(uses.of(&ann()).await, ["a_late", "a_first"]);
    uses.clock.advance(DAY);
    assert!(uses.of(&ann()).await.is_empty(), "eight days ago");
}

#[tokio::test]
async fn a_day_that_a_wrong_clock_counted_is_counted_anew_when_it_comes() {
    let directory = tempdir().unwrap();
    let mut uses = Uses::open(directory.path()).await;
    uses.call(&ann(), "a_tool", days_ago(1)).await;
    let (today, tomorrow) = (UtcDay::of(NOW), UtcDay::of(NOW.plus(DAY)));
    assert_eq!(uses.on(&ann(), tomorrow).await, ["a_tool"]);
    assert_eq!(uses.on(&ann(), today).await, ["a_tool"]);
    uses.call(&ann(), "b_tool", NOW).await;
    assert_eq!(uses.on(&ann(), tomorrow).await, ["a_tool", "b_tool"]);
}

#[tokio::test]
async fn what_was_counted_for_a_day_goes_when_the_day_is_over() {
    let directory = tempdir().unwrap();
    let mut uses = Uses::open(directory.path()).await;
    uses.call(&ann(), "a_tool", days_ago(1)).await;
    assert_eq!(uses.of(&ann()).await, ["a_tool"]);
    uses.store.flush().await.unwrap();
    let rows = async || {
        let mut connection = crate::fixture::connect(directory.path()).await;
        let rows = "SELECT (SELECT count(*) FROM used_tools) + (SELECT count(*) FROM used_days)";
        sqlx::query_scalar::<_, i64>(rows).fetch_one(&mut connection).await.unwrap()
    };
    assert_eq!(rows().await, 2);
    uses.clock.advance(DAY);
    uses.store.prune().await.unwrap();
    assert_eq!(rows().await, 0);
}
