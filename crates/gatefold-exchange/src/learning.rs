//! Learning from use: when a search is followed by a successful call of a tool it found, the
//! search's words become a past query of that tool, by which later searches rank.

mod discretion;
mod mending;
mod overlay;
mod recall;
mod used;

use std::sync::Arc;

use gatefold_catalog::{PastIndex, Request, ResolvedEntry};
use gatefold_core::{
    BoxError, CallError, Clock, Operation, Outcome, Payload, Principal, Tenant, ToolId,
};
use gatefold_dispatch::{Caller, PinnedTurn};
use tokio::runtime::Handle;

use self::discretion::worth_keeping;
use self::mending::FailedCalls;
use self::overlay::Overlays;
use self::recall::{LapsedSearch, RecentSearches, Searcher, ServedSearch};
use self::used::UsedToolsCache;
use crate::{LearningPorts, PastUse};

/// What use has taught, and what it is about to teach.
pub(crate) struct Learning {
    ports: LearningPorts,
    clock: Arc<dyn Clock>,
    /// Recent searches that may still lead to a call.
    recall: RecentSearches,
    failed: FailedCalls,
    /// Past queries of tenants, ready for ranking.
    overlays: Overlays,
    /// The tools that principals used most.
    used: UsedToolsCache,
}

/// A tool's call whose outcome may teach something, and who makes it.
pub(crate) struct Lesson {
    entry: ResolvedEntry,
    searcher: Searcher,
}

impl Learning {
    pub(crate) fn new(ports: LearningPorts, clock: Arc<dyn Clock>) -> Arc<Self> {
        let (recall, failed) = (RecentSearches::default(), FailedCalls::default());
        let (overlays, used) = (Overlays::default(), UsedToolsCache::default());
        Arc::new(Self { ports, clock, recall, failed, overlays, used })
    }

    /// The turn, whose searches rank by what was learnt.
    pub(crate) fn with_past(self: &Arc<Self>, pinned: PinnedTurn) -> PinnedTurn {
        let past = pinned.learns().then(|| self.past(&pinned.principal().tenant())).flatten();
        match past {
            Some(past) => pinned.with_past(past),
            None => pinned,
        }
    }

    /// The turn, whose view knows which tools its principal used most, as far as
    /// [`Learning::recall_used`] has read them.
    pub(crate) fn with_used(&self, pinned: PinnedTurn) -> PinnedTurn {
        let used = self.used.get(pinned.principal());
        pinned.with_used(used)
    }

    /// Reads what was learnt for a tenant, so that the tenant's next turn ranks by it. A turn also
    /// starts this by itself, and does without until it is done.
    pub(crate) async fn recollect(&self, tenant: &Tenant) -> Result<(), BoxError> {
        self.overlays.refresh(&*self.ports.past, tenant, self.clock.uptime()).await
    }

    /// What was learnt for a tenant and already read. Newer changes are read in the background.
    fn past(self: &Arc<Self>, tenant: &Tenant) -> Option<Arc<PastIndex>> {
        let (past, is_due) = self.overlays.get(tenant, self.clock.uptime());
        let runtime = Handle::try_current().ok().filter(|_| is_due);
        if let Some(runtime) = runtime {
            let (learning, tenant) = (self.clone(), tenant.clone());
            runtime.spawn(async move {
                if let Err(error) = learning.recollect(&tenant).await {
                    tracing::debug!(%error, "past queries could not be read");
                }
            });
        }
        past
    }

    /// Remembers a search's words and the tools that it showed, so that a successful call of one of
    /// them teaches later searches.
    pub(crate) fn found(
        &self,
        pinned: &PinnedTurn,
        query: &str,
        tools: Vec<ToolId>,
        caller: &Caller,
    ) {
        if !pinned.learns() {
            return;
        }
        // Words that may not be kept are not remembered either.
        if let Some(query) = worth_keeping(query, []) {
            let searcher = searcher(pinned.principal(), caller);
            self.recall.found(searcher, &query, tools, self.clock.uptime());
        }
        self.note_lapsed(pinned);
    }

    /// Keeps the searches that led nowhere: they say what the catalogue lacks.
    fn note_lapsed(&self, pinned: &PinnedTurn) {
        for LapsedSearch { tenant, query } in self.recall.take_lapsed() {
            pinned.counters().missed();
            let (query, at) = (query.to_string(), self.clock.now());
            self.ports.past.note(PastUse { tenant, tool: None, query, at });
        }
    }

    /// What a call may teach, told before it is made. Only calls of tools that the turn shows teach.
    pub(crate) fn expect(
        pinned: &PinnedTurn,
        request: &Request,
        caller: &Caller,
    ) -> Option<Lesson> {
        let Operation::Tool { name, .. } = &*request.operation else { return None };
        let known = request.entry.clone();
        let entry = known.or_else(|| pinned.view().find_tool(name.as_str()))?;
        Some(Lesson { entry, searcher: searcher(pinned.principal(), caller) })
    }

    /// Notes what the outcome of a tool's call says about how it was found and made.
    pub(crate) fn note_outcome(
        &self,
        pinned: &PinnedTurn,
        lesson: Lesson,
        outcome: &Result<Outcome, CallError>,
    ) {
        let Lesson { entry, searcher } = lesson;
        let tool = pinned.view().tool_of(&entry).map(|tool| tool.id().clone());
        let Some(tool) = tool else { return };
        let at = self.clock.uptime();
        match outcome {
            Ok(Outcome::Done(Payload { is_error: false, .. })) => {
                if self.failed.is_mended(&searcher, &tool, at) {
                    pinned.counters().mended();
                }
                if pinned.learns() {
                    self.note_served(pinned, &entry, &searcher);
                }
            }
            Ok(Outcome::Done(_))
            | Err(
                CallError::InvalidArguments { .. }
                | CallError::AnsweredElsewhere { .. }
                | CallError::Refused { .. },
            ) => {
                self.failed.failed(searcher, tool, at);
            }
            _ => {}
        }
    }

    /// Notes what a successful call has taught, if a search led to it.
    fn note_served(&self, pinned: &PinnedTurn, entry: &ResolvedEntry, searcher: &Searcher) {
        let Some(tool) = pinned.view().tool_of(entry) else { return };
        let id = tool.id().clone();
        let served = self.recall.served(searcher, &id, self.clock.uptime());
        let Some(ServedSearch { query, is_first }) = served else { return };
        if is_first {
            pinned.counters().led();
        }
        let names = [id.as_str(), tool.alias(), tool.definition().name()];
        if let Some(query) = worth_keeping(&query, names) {
            let (tenant, at) = (pinned.principal().tenant(), self.clock.now());
            self.ports.past.note(PastUse { tenant, tool: Some(id), query, at });
        }
    }
}

fn searcher(principal: &Arc<Principal>, caller: &Caller) -> Searcher {
    Searcher {
        principal: principal.clone(),
        client: caller.meta.client.clone(),
        connection: caller.peer.client(),
    }
}
