//! What was said in a thread, run after run.

use gatefold_dispatch::{DataOwner, Journal, RunId};
use gatefold_model::{Turn, UserMessage, UserPart};

use crate::Transcript;
use crate::replay::{ReplayError, replay_run};

/// What was said in the runs of a thread, and where each of its person's messages stands in it.
#[derive(Debug, Clone, Default)]
pub struct ThreadHistory {
    /// Nothing if nothing was answered.
    pub transcript: Option<Transcript>,
    /// The answered messages, each with how many turns there were before it and the run that answered it.
    pub said: Vec<(usize, RunId)>,
}

impl ThreadHistory {
    /// Reads these runs of one thread. A message that no model answered is left out, because whoever wrote it will
    /// say it again.
    pub async fn read(
        journal: &dyn Journal,
        owner: &DataOwner,
        runs: impl IntoIterator<Item = RunId>,
    ) -> Result<Self, ReplayError> {
        let mut thread = Self::default();
        for run in runs {
            let at = thread.turns().len();
            let after = replay_run(journal, owner, run, thread.transcript.clone()).await?;
            if is_answered(after.as_ref(), at) {
                thread.transcript = after;
                thread.said.push((at, run));
            } else if turns_of(after.as_ref()).len() == at {
                // It said nothing, and may have compacted.
                thread.transcript = after;
            }
        }
        Ok(thread)
    }

    pub fn turns(&self) -> &[Turn] {
        turns_of(self.transcript.as_ref())
    }
}

fn turns_of(transcript: Option<&Transcript>) -> &[Turn] {
    transcript.map(Transcript::turns).unwrap_or_default()
}

/// Whether a model said anything from that turn on.
pub fn is_answered(transcript: Option<&Transcript>, at: usize) -> bool {
    turns_of(transcript).iter().skip(at).any(|turn| matches!(turn, Turn::Round(_)))
}

/// What a thread is called after what was said first in it: the first line.
pub fn thread_title(message: &UserMessage) -> String {
    let text = message.parts().iter().find_map(|part| match part {
        UserPart::Text(text) => text.lines().map(str::trim).find(|line| !line.is_empty()),
        UserPart::Image(_) => None,
    });
    text.unwrap_or("an image").to_owned()
}
