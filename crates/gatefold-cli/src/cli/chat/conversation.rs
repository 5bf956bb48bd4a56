//! What was said in a chat: kept as a thread of runs, gone on with, and taken back.

use std::sync::Arc;

use anyhow::Context as _;
use gatefold::{App, RUN_CRASHES, RunClaim, RunTenure};
use gatefold_agent::{
    AgentEvent, AgentRun, EarlierTurns, KeptRun, RunJournal, Spending, ThreadHistory, Transcript,
    end_kept, is_answered, thread_title,
};
use gatefold_core::{AgentId, ApprovalId};
use gatefold_dispatch::{
    Approvals as _, DataOwner, Journal as _, NewRun, NewThread, Run, RunId, RunKind, RunPhase,
    ThreadId, Threads as _,
};
use gatefold_model::{History, Turn, UserMessage};
use gatefold_operations::{Asker, StateOperations};

use crate::cli::failure::with_help;

/// What was said so far, and where each thing that the person said stands in it.
pub(super) struct Conversation {
    app: Arc<App>,
    owner: DataOwner,
    agent: Option<AgentId>,
    /// None until something is said.
    thread: Option<ThreadId>,
    transcript: Option<Transcript>,
    said: Vec<Said>,
    /// The thread's runs as far as they were read, each with whether it had ended. As many as the store
    /// gives at most.
    runs: Vec<(RunId, bool)>,
    /// The last of them, if it did not end and nobody drives it.
    open: Option<RunId>,
}

/// A run that is gone on with.
pub(super) struct OpenRun {
    pub(super) id: RunId,
    pub(super) journal: RunJournal,
    pub(super) kept: KeptRun,
    pub(super) spent: Spending,
    /// What the person said when, in all that was said.
    pub(super) requests: Vec<usize>,
}

/// Something that the person said.
struct Said {
    /// How many turns there were before it.
    at: usize,
    /// The run that answered it.
    run: RunId,
}

/// Which conversation is gone on with.
pub(super) enum Earlier<'a> {
    Last,
    /// By its id, or the last digits of it.
    Named(&'a str),
}

impl Conversation {
    pub(super) fn new(app: &Arc<App>, agent: Option<AgentId>) -> Self {
        let owner = DataOwner::lasting(&app.local_user());
        let (app, thread, transcript, open) = (app.clone(), None, None, None);
        Self { app, owner, agent, thread, transcript, said: Vec::new(), runs: Vec::new(), open }
    }

    /// One of the person's earlier ones, with the agent that it was with.
    pub(super) async fn resume(app: &Arc<App>, earlier: Earlier<'_>) -> anyhow::Result<Self> {
        let state = StateOperations::of(app, Asker::Operator);
        let record = match earlier {
            Earlier::Named(id) => state.thread(id).await?,
            Earlier::Last => state.threads("").await?.into_iter().next().ok_or_else(|| {
                with_help("there is no conversation to go on with", "`gatefold chat` begins one")
            })?,
        };
        let mut conversation = Self::new(app, record.agent);
        conversation.thread = ThreadId::parse(&record.id);
        conversation.catch_up().await?;
        Ok(conversation)
    }

    /// Reads the thread anew if another chat has changed it. Returns whether one has.
    ///
    /// Several chats may go on with a thread at once: each run is one of its own, so nothing is lost, and
    /// what a chat says next follows all that the others have said.
    pub(super) async fn catch_up(&mut self) -> anyhow::Result<bool> {
        let Some(thread) = self.thread else { return Ok(false) };
        let store = self.app.store();
        let found = store.runs_of(&self.owner, thread).await?;
        let runs: Vec<_> = found.iter().map(|run| (run.id, run.end.is_some())).collect();
        if runs == self.runs {
            return Ok(false);
        }
        // The last such one is gone on with, if it can be.
        self.open = found.iter().rfind(|run| is_open(run)).map(|run| run.id);
        self.read(runs).await?;
        Ok(true)
    }

    /// Reads these runs of the thread, which are all that it has.
    async fn read(&mut self, runs: Vec<(RunId, bool)>) -> anyhow::Result<()> {
        let ended = runs.iter().map(|(run, _)| *run).filter(|run| self.open != Some(*run));
        let read = ThreadHistory::read(self.app.store(), &self.owner, ended).await?;
        self.said = read.said.iter().map(|&(at, run)| Said { at, run }).collect();
        if runs.is_empty() {
            self.thread = None;
        }
        (self.transcript, self.runs) = (read.transcript, runs);
        Ok(())
    }

    pub(super) fn agent(&self) -> Option<&AgentId> {
        self.agent.as_ref()
    }

    pub(super) fn thread(&self) -> Option<ThreadId> {
        self.thread
    }

    /// All of it with what the person says now, for a run to answer. It counts only once it is
    /// [answered](Self::keep).
    pub(super) fn with(&self, message: UserMessage) -> Transcript {
        match &self.transcript {
            Some(transcript) => {
                let mut transcript = transcript.clone();
                transcript.say(message);
                transcript
            }
            None => History::new(message).into(),
        }
    }

    /// The journal of a run that answers what the person says. The first one begins the thread.
    pub(super) async fn begin_run(
        &mut self,
        message: &UserMessage,
    ) -> anyhow::Result<(RunId, RunJournal)> {
        let (id, store, owner) = (self.app.next_run_id(), self.app.store(), self.owner);
        let thread = if let Some(thread) = self.thread {
            thread
        } else {
            let (id, title, agent) = (ThreadId::of(id), thread_title(message), self.agent.clone());
            store.begin_thread(NewThread { id, owner, title, agent }).await?;
            *self.thread.insert(id)
        };
        self.begin_run_of(thread, id).await
    }

    /// The journal of a run that says nothing, in a conversation that has begun.
    pub(super) async fn begin_silent_run(&self) -> anyhow::Result<(RunId, RunJournal)> {
        let thread = self.thread.context("nothing was said so far")?;
        self.begin_run_of(thread, self.app.next_run_id()).await
    }

    async fn begin_run_of(
        &self,
        thread: ThreadId,
        id: RunId,
    ) -> anyhow::Result<(RunId, RunJournal)> {
        let (store, owner) = (self.app.store(), self.owner);
        let subject = self.agent.as_ref().map(ToString::to_string).unwrap_or_default();
        let kind = RunKind::Agent;
        let new = NewRun { id, owner, kind, subject, parent: None, thread: Some(thread) };
        store.begin(new).await?;
        Ok((id, RunJournal::new(Arc::new(store.clone()), id)))
    }

    /// The run to go on with before anything else is said, if there is one and no other process has taken it.
    pub(super) async fn take_up(&mut self) -> anyhow::Result<Option<OpenRun>> {
        let (Some(id), store) = (self.open.take(), self.app.store()) else { return Ok(None) };
        let claimed = store.claim_run(&self.owner, id, RunTenure::Passing).await?;
        let RunClaim::Claimed { crashes } = claimed else { return Ok(None) };
        let kept = KeptRun::read(store, &self.owner, id, self.transcript.clone()).await?;
        // One that answers nothing was to compact, and can do so again.
        let Some(mut kept) = kept.filter(|kept| kept.run.request().is_some()) else {
            self.forget(id).await?;
            return Ok(None);
        };
        let journal = RunJournal::behind(Arc::new(store.clone()), id, kept.last);
        if crashes >= RUN_CRASHES {
            let reason = format!("{crashes} processes have died while they drove it");
            end_kept(kept, &journal, AgentEvent::GivenUp { reason }).await?;
            self.read(self.runs.clone()).await?;
            return Ok(None);
        }
        for waiting in &mut kept.waiting {
            waiting.state = store.settlement(&waiting.approval).await.unwrap_or_default();
        }
        let usage = store.run_usage(id).await?;
        let spent = Spending { tokens: usage.tokens.total(), cost: usage.cost };
        let own = self.turns().len();
        let requests = self.said.iter().map(|said| said.at).chain([own]).collect();
        Ok(Some(OpenRun { id, journal, kept, spent, requests }))
    }

    /// Whether an answer of it has still to be finished.
    pub(super) fn is_open(&self) -> bool {
        self.open.is_some()
    }

    /// Lets a run go that has not ended, for another process to go on with.
    pub(super) async fn release(
        &mut self,
        id: RunId,
        waiting: &[ApprovalId],
    ) -> anyhow::Result<()> {
        self.app.store().release_run(id, waiting).await?;
        self.open = Some(id);
        Ok(())
    }

    /// Takes over what a run made of it. Returns whether there was anything: a message that nobody
    /// answered is left out, because it would be said twice.
    pub(super) async fn keep(&mut self, id: RunId, run: AgentRun) -> anyhow::Result<bool> {
        let at = self.turns().len();
        let transcript = Some(run.into_transcript());
        let is_kept = is_answered(transcript.as_ref(), at);
        if is_kept {
            self.said.push(Said { at, run: id });
            self.runs.retain(|(own, _)| *own != id);
            self.runs.push((id, true));
            self.transcript = transcript;
        } else {
            self.forget(id).await?;
        }
        Ok(is_kept)
    }

    /// Takes back the last thing that the person said, with all that followed. Returns whether there
    /// was one.
    pub(super) async fn undo(&mut self) -> anyhow::Result<bool> {
        let Some(Said { run, .. }) = self.said.pop() else { return Ok(false) };
        self.forget(run).await?;
        if self.said.is_empty() {
            // What is left only compacted what is gone.
            for (run, _) in self.runs.clone() {
                self.forget(run).await?;
            }
        }
        // With what the run, or one after it, decided on how the rest is shown.
        self.read(self.runs.clone()).await?;
        Ok(true)
    }

    /// Takes over how a run that said nothing has it shown.
    pub(super) fn keep_compacted(&mut self, id: RunId, transcript: Transcript) {
        self.runs.push((id, true));
        self.transcript = Some(transcript);
    }

    pub(super) fn transcript(&self) -> Option<&Transcript> {
        self.transcript.as_ref()
    }

    /// Deletes a run. The store deletes the thread with its last one.
    async fn forget(&mut self, run: RunId) -> anyhow::Result<()> {
        self.app.store().delete_run(&self.owner, run).await?;
        self.runs.retain(|(own, _)| *own != run);
        if self.runs.is_empty() {
            self.thread = None;
        }
        Ok(())
    }

    /// Its turns, and which of them the person said: a run says something to its model, too.
    pub(super) fn earlier_turns(&self) -> EarlierTurns<'_> {
        let requests = self.said.iter().map(|said| said.at).collect();
        EarlierTurns { turns: self.turns(), requests }
    }

    pub(super) fn turns(&self) -> &[Turn] {
        turns_of(self.transcript.as_ref())
    }
}

fn turns_of(transcript: Option<&Transcript>) -> &[Turn] {
    transcript.map(Transcript::turns).unwrap_or_default()
}

/// Whether a run can be gone on with.
fn is_open(run: &Run) -> bool {
    matches!(run.phase, RunPhase::Interrupted | RunPhase::Waiting(_))
}
