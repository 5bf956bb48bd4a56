//! What a call inherits from the calls that led to it.

use std::sync::Arc;
use std::time::Duration;

use gatefold_core::{CallId, ClientName, Label, Lineage, Target};
use tokio::time::Instant;

use crate::call::ask::QuestionCount;
use crate::limits::bulkhead::BulkheadPlace;
use crate::limits::timer::Timer;
use crate::{Caller, SharedLabel};

/// What a call inherits from the calls that led to it.
#[derive(Debug, Clone)]
pub(crate) struct Chain {
    pub(crate) lineage: Lineage,
    /// The label of what the session or the run has read. Every call of the chain raises it.
    pub(crate) label: SharedLabel,
    /// The name that the client of the outermost call gives itself.
    pub(crate) client: Option<ClientName>,
    /// The time for all of them together.
    pub(crate) timer: Arc<Timer>,
    /// That time without the pauses for questions.
    pub(crate) limit: Duration,
    /// The place of the innermost call at its source.
    pub(crate) place: Arc<BulkheadPlace>,
    /// The questions of all of them together.
    pub(crate) questions: QuestionCount,
    /// How long a question may stay open if the outermost client answers with another request.
    pub(crate) patience: Option<Duration>,
}

impl Chain {
    /// The chain of a call that no call of this dispatcher led to.
    pub(crate) fn root(limit: Duration, caller: &Caller) -> Self {
        Self {
            lineage: caller.lineage.clone(),
            label: caller.label.clone(),
            client: caller.meta.client.clone(),
            timer: Timer::until(Instant::now() + limit),
            limit,
            place: Arc::default(),
            questions: QuestionCount::default(),
            patience: None,
        }
    }

    /// The label for a call that is about to be made: its lineage's, merged with everything that
    /// the session has read in the meantime.
    pub(crate) fn label(&self) -> Label {
        self.lineage.label.merged(self.label.get())
    }

    /// The chain for calls that are made during this one.
    pub(crate) fn extended(&self, call: CallId, target: &Target) -> Self {
        let label = self.label().merged(label_of(target));
        let lineage = self.lineage.below(call, target.id.clone(), label);
        Self { lineage, ..self.clone() }
    }

    pub(crate) fn limited(&self, limit: Duration) -> Self {
        let timer = self.timer.within_this(Instant::now() + limit);
        Self { timer, limit: limit.min(self.limit), ..self.clone() }
    }
}

/// The label of a target's results.
pub(crate) fn label_of(target: &Target) -> Label {
    if target.hints.is_open_world() { Label::OpenWorld } else { Label::Clean }
}
