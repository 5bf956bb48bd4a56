//! Runs of a chat, while its person is there and after they have closed the window.

use std::pin::pin;
use std::process::ExitCode;
use std::time::Duration;

use gatefold::App;
use gatefold_agent::{
    AgentRun, AgentTools as _, Driver, EarlierTurns, RunFault, RunJournal, RunLimits,
};
use gatefold_dispatch::{RunId, Settlement};
use tokio_util::sync::CancellationToken;

use super::Chat;
use crate::cli::chat::context;
use crate::cli::chat::conversation::OpenRun;
use crate::cli::chat::form::{self, Reply};
use crate::cli::chat::peer::TerminalPeer;
use crate::cli::chat::screen::ChatScreen;
use crate::cli::chat::tools::ChatTools;
use crate::cli::stop::{HUNG_UP, INTERRUPTED};

/// How often a chat looks whether its run is to end.
const LOOK: Duration = Duration::from_secs(1);

/// Whether the person is at the terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Presence {
    Here,
    Left,
}

impl Chat<'_> {
    /// Goes on with what was interrupted, before anything else is said. Returns the exit code if the chat ends with it.
    pub(super) async fn finish_open(&mut self) -> anyhow::Result<Option<ExitCode>> {
        let Some(OpenRun { id, journal, mut kept, spent, requests }) =
            self.conversation.take_up().await?
        else {
            return Ok(None);
        };
        self.output.warning("the last answer was interrupted: it goes on now");
        if self.peer.is_some() {
            // The person can be asked here and now.
            for waiting in kept.waiting.iter_mut().filter(|one| one.state == Settlement::Open) {
                waiting.state = Settlement::Decided;
            }
        }
        let said = EarlierTurns { turns: kept.run.history().turns(), requests };
        self.tools.surface.choose_again(said).await;
        self.tools.offer().await.map_err(|error| anyhow::anyhow!(error))?;
        self.drive(id, journal, async |driver| driver.resume(kept, spent).await).await
    }

    /// Drives a run, and takes over what came of it. Returns the exit code if the chat ends with it.
    pub(super) async fn drive(
        &mut self,
        id: RunId,
        journal: RunJournal,
        run: impl AsyncFnOnce(&Driver<'_>) -> Result<AgentRun, RunFault>,
    ) -> anyhow::Result<Option<ExitCode>> {
        let screen = ChatScreen::new(self.output, self.model.origin());
        let Some((run, presence)) = self.drive_on(id, journal, &screen, run).await? else {
            self.conversation.release(id, &[]).await?;
            return Ok(Some(INTERRUPTED.into()));
        };
        screen.end_line();
        let Some(end) = run.end_state().cloned() else {
            self.conversation.release(id, &screen.waiting()).await?;
            return Ok(Some(HUNG_UP.into()));
        };
        let is_kept = self.conversation.keep(id, run).await?;
        if is_kept {
            self.files.clear();
        }
        screen.tell_end(Some(&end), is_kept);
        Ok((presence == Presence::Left).then(|| HUNG_UP.into()))
    }

    /// Drives a run, and meanwhile asks the person what policy and sources want to know. None if the chat is to end
    /// at once.
    async fn drive_on(
        &mut self,
        id: RunId,
        journal: RunJournal,
        screen: &ChatScreen<'_>,
        run: impl AsyncFnOnce(&Driver<'_>) -> Result<AgentRun, RunFault>,
    ) -> anyhow::Result<Option<(AgentRun, Presence)>> {
        let asked = &self.model.runs;
        let (cancel, mut presence) = (CancellationToken::new(), Presence::Here);
        let driver = Driver::new(&asked.client, &self.tools)
            .with_watcher(screen)
            .with_clock(self.world.clock())
            .with_journal(journal)
            .with_meter(self.world.meter(&self.stance, &self.model, id))
            .with_budget(self.spent.clone())
            .with_cancellation(cancel.clone());
        let mut driving = pin!(run(&driver));
        let mut cancelled = pin!(cancelled_elsewhere(&self.world.app, id));
        loop {
            tokio::select! {
                run = &mut driving => return Ok(Some((run?, presence))),
                () = &mut cancelled, if !cancel.is_cancelled() => cancel.cancel(),
                // The run stands still while the person thinks, so nothing is printed in between.
                Some(open) = self.questions.recv() => {
                    // What a call that has ended wanted to know is nobody's question any more.
                    if open.answer.is_closed() {
                        continue;
                    }
                    if presence == Presence::Left {
                        open.leave();
                        continue;
                    }
                    screen.end_line();
                    tokio::select! {
                        reply = form::ask(&open.question, self.output) => {
                            if matches!(reply, Reply::Interrupted(_)) {
                                self.is_interrupted = true;
                                cancel.cancel();
                            }
                            let (Reply::Answer(answer) | Reply::Interrupted(answer)) = reply;
                            // A call that has ended meanwhile needs no answer.
                            let _ = open.answer.send(answer);
                        }
                        _ = self.signals.terminate.recv() => return Ok(None),
                        _ = self.signals.hangup.recv() => {
                            presence = leave(&self.tools, self.peer.as_deref());
                            open.leave();
                        }
                    }
                }
                _ = self.signals.interrupt.recv() => {
                    if self.is_interrupted {
                        return Ok(None);
                    }
                    self.is_interrupted = true;
                    cancel.cancel();
                }
                _ = self.signals.terminate.recv() => return Ok(None),
                _ = self.signals.hangup.recv() => {
                    presence = leave(&self.tools, self.peer.as_deref());
                }
            }
        }
    }

    /// Compacts the conversation to half. A signal stops that where it is, and one that ends the chat gives its exit code.
    pub(super) async fn compact(&mut self) -> anyhow::Result<Option<ExitCode>> {
        self.catch_up().await?;
        if self.conversation.is_open() {
            self.output
                .line("an answer of this conversation is not finished, so nothing is compacted");
            return Ok(None);
        }
        let transcript = self.conversation.transcript().filter(|said| said.is_compactable());
        let Some(transcript) = transcript.cloned() else {
            self.output.line("there is nothing to compact");
            return Ok(None);
        };
        let before = context::count_shown(&transcript).await?;
        let offer = self.tools.offer().await.map_err(|error| anyhow::anyhow!(error))?;
        let asked = &self.model.runs;
        let limits = RunLimits::for_model(&asked.room, &offer, &asked.limits);
        let (id, journal) = self.conversation.begin_silent_run().await?;
        let cancel = CancellationToken::new();
        let driver = Driver::new(&asked.client, &self.tools)
            .with_journal(journal)
            .with_meter(self.world.meter(&self.stance, &self.model, id))
            .with_budget(self.spent.clone())
            .with_cancellation(cancel.clone());
        let mut compacting = pin!(driver.compact(transcript, limits));
        let mut ended = None;
        let compacted = loop {
            tokio::select! {
                compacted = &mut compacting => break compacted?,
                _ = self.signals.interrupt.recv() => cancel.cancel(),
                _ = self.signals.terminate.recv() => {
                    ended = Some(INTERRUPTED.into());
                    cancel.cancel();
                }
            }
        };
        let after = context::count_shown(&compacted).await?;
        self.conversation.keep_compacted(id, compacted);
        let line =
            format!("the conversation took {before} tokens of a prompt, and takes {after} now");
        self.output.line(&line);
        Ok(ended)
    }
}

/// Nobody is asked from here on: what needs an approval waits for one from elsewhere.
fn leave(tools: &ChatTools<'_>, peer: Option<&TerminalPeer>) -> Presence {
    tools.leave_alone();
    if let Some(peer) = peer {
        peer.leave();
    }
    Presence::Left
}

/// Waits until somebody asks elsewhere for the end of a run: `gatefold runs cancel`.
pub(in crate::cli::chat) async fn cancelled_elsewhere(app: &App, run: RunId) {
    loop {
        tokio::time::sleep(LOOK).await;
        if app.store().cancelled_runs().await.is_ok_and(|runs| runs.contains(&run)) {
            return;
        }
    }
}
