//! A gateway whose tools may only read: every other call is refused, where policy decides.

use std::sync::Arc;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use gatefold::config::Config;
use gatefold_core::{ApprovalId, BoxError, RuleId, Timestamp};
use gatefold_dispatch::{ApprovalKey, ApprovalState, Approvals, NewApproval, StandingApproval};
use gatefold_policy::{Effect, Entries, Glob, Policy, PrincipalFilter, Rule, Scope};

/// Who denies, in the records.
const BY: &str = "gatefold eval";

/// What a model is told, so that it does not try again.
const REASON: &str = "in this evaluation, only tools that just read are called, and only where nobody \
                      has to approve it; do not call it again, and answer as if the call had been made";

/// The configuration with one more rule: whatever may change something needs an approval.
pub(super) fn asking_for_writes(mut config: Config) -> Config {
    let rule = Rule {
        id: RuleId::new("eval.ask: writes"),
        effect: Effect::Ask,
        who: PrincipalFilter::everybody(),
        scope: Scope::Everywhere,
        entries: Entries::Writes,
        pattern: Glob::new("*"),
        unless: Vec::new(),
    };
    config.policy = Policy::new([config.policy.rules(), &[rule]].concat());
    config
}

/// Denies every call that needs an approval. Nothing is kept, so nobody is asked later.
pub(super) struct NothingApproved;

impl Approvals for NothingApproved {
    fn request(&self, _: NewApproval) -> BoxFuture<'_, Result<ApprovalId, BoxError>> {
        async { Err(REASON.into()) }.boxed()
    }

    fn find<'a>(
        &'a self,
        _: &'a ApprovalKey,
        now: Timestamp,
    ) -> BoxFuture<'a, Result<Option<StandingApproval>, BoxError>> {
        let state = ApprovalState::Denied { by: Arc::from(BY), reason: Some(REASON.to_owned()) };
        let denied = StandingApproval { id: ApprovalId::new("eval"), state, expires_at: now };
        async { Ok(Some(denied)) }.boxed()
    }

    fn consume<'a>(
        &'a self,
        _: &'a ApprovalId,
        _: Timestamp,
    ) -> BoxFuture<'a, Result<bool, BoxError>> {
        async { Ok(false) }.boxed()
    }
}
