//! How long a decision takes among very many rules:
//! `cargo run --release -p gatefold-policy --example admission_speed`.

#![expect(clippy::print_stdout, reason = "it prints what it measured")]

use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

use gatefold_core::{
    AgentId, Call, CallId, Digest, Domain, EntryKind, Hints, Operation, Principal, RuleId, Target,
    Timestamp, ToolId, ToolName, UserId,
};
use gatefold_policy::{
    Effect, Entries, Facts, Glob, Policy, PrincipalFilter, ResolvedCall, Rule, Scope,
};
use serde_json::value::RawValue;

/// As many domains as agents, and a rule of each agent about each domain.
const EACH: [usize; 3] = [1, 10, 32];
const DECISIONS: u32 = 20_000;

fn rules(each: usize) -> Vec<Rule> {
    let rule = |domain: usize, agent: usize| Rule {
        id: RuleId::new(format!("{agent}:{domain}")),
        effect: Effect::Deny,
        who: PrincipalFilter {
            agents: vec![AgentId::new(format!("agent{agent}"))],
            ..PrincipalFilter::default()
        },
        scope: Scope::Domain(Domain::from_key(&format!("domain{domain}"))),
        entries: Entries::Every,
        pattern: Glob::new("delete_*"),
        unless: Vec::new(),
    };
    (0..each).flat_map(|domain| (0..each).map(move |agent| rule(domain, agent))).collect()
}

fn call(principal: &Arc<Principal>, target: &Arc<Target>) -> ResolvedCall {
    let arguments = RawValue::from_string("{}".to_owned()).expect("an empty object is JSON");
    let operation = Operation::Tool { name: ToolName::of(&target.id), arguments };
    let call = Call {
        id: CallId::new(Timestamp::from_millis(1), 7),
        parent: None,
        principal: principal.clone(),
        operation: Arc::new(operation),
        resume: None,
    };
    ResolvedCall::new(call, target.clone(), Digest::new([2; 32]))
}

fn main() {
    let domain = Domain::from_key("domain0");
    let target = Arc::new(Target {
        kind: EntryKind::Tool,
        id: ToolId::of(&domain, "read"),
        domain,
        name: "read".into(),
        digest: Digest::new([1; 32]),
        hints: Hints::default(),
    });
    let agent = Some(AgentId::new("agent0"));
    let principal = Arc::new(Principal { agent, ..Principal::user(UserId::new("ann")) });
    let facts = Facts::at(Timestamp::from_millis(1));
    for each in EACH {
        let policy = Policy::new(rules(each));
        let calls: Vec<_> = (0..DECISIONS).map(|_| call(&principal, &target)).collect();
        let began = Instant::now();
        for call in calls {
            let _ = black_box(policy.admit(black_box(call), &facts));
        }
        let took = began.elapsed() / DECISIONS;
        println!("{} rules: {took:?} a decision", policy.rules().len());
    }
}
