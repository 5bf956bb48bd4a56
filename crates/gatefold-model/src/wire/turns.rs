//! A history as messages: what every wire has in common.

use std::borrow::Cow;
use std::collections::HashSet;

use crate::request::is_legal_name;
use crate::{
    AssistantMessage, AssistantPart, History, Origin, Round, ToolCall, ToolDefinition, ToolResult,
    Turn, UserPart,
};

/// The longest id of a call that every provider takes.
const ID_LENGTH: usize = 40;

/// The name of a call whose own has no letter that providers take.
const NAMELESS: &str = "unnamed";

pub(super) enum Step<'a> {
    /// What was said to the model between two of its messages.
    User(Vec<&'a UserPart>),
    Model(ModelStep<'a>),
}

pub(super) struct ModelStep<'a> {
    pub(super) said: &'a AssistantMessage,
    /// Whether it goes back to who wrote it.
    pub(super) is_own: bool,
    pub(super) parts: Vec<SentPart<'a>>,
    /// With the ids of their calls.
    pub(super) results: Vec<(String, &'a ToolResult)>,
}

pub(super) enum SentPart<'a> {
    Part(&'a AssistantPart),
    Call(SentCall<'a>),
}

pub(super) struct SentCall<'a> {
    pub(super) id: String,
    pub(super) name: Cow<'a, str>,
    pub(super) call: &'a ToolCall,
}

/// The messages for one endpoint. A model's message of which nothing can be sent is left out, and what
/// was said before and after it becomes one.
pub(super) fn steps<'a>(history: &'a History, origin: &Origin) -> Vec<Step<'a>> {
    let mut ids = CallIds::default();
    let mut steps = Vec::new();
    for turn in history.turns() {
        match turn {
            Turn::User(message) => match steps.last_mut() {
                Some(Step::User(parts)) => parts.extend(message.parts()),
                _ => steps.push(Step::User(message.parts().iter().collect())),
            },
            Turn::Round(round) => {
                let step = model_step(round, origin, &mut ids);
                if !step.parts.is_empty() {
                    steps.push(Step::Model(step));
                }
            }
        }
    }
    steps
}

fn model_step<'a>(round: &'a Round, origin: &Origin, ids: &mut CallIds) -> ModelStep<'a> {
    let said = round.said();
    let is_own = said.origin == *origin;
    let is_sent = |part: &&AssistantPart| match part {
        AssistantPart::Text { text, .. } => !text.trim().is_empty(),
        AssistantPart::Thinking { raw, .. } => is_own && raw.is_some(),
        AssistantPart::Call(_) => true,
        AssistantPart::Other(_) => is_own,
    };
    let mut sent: Vec<_> = said.parts.iter().filter(is_sent).collect();
    // A thought that led to nothing, because the model ran out of tokens, is refused at the end.
    let is_thought = |part: &&AssistantPart| matches!(part, AssistantPart::Thinking { .. });
    while sent.last().is_some_and(is_thought) {
        sent.pop();
    }
    let (mut parts, mut results) = (Vec::new(), Vec::new());
    let mut answers = round.results().iter();
    for part in sent {
        let AssistantPart::Call(call) = part else {
            parts.push(SentPart::Part(part));
            continue;
        };
        let id = ids.next(&call.id, is_own);
        let result = answers.next().expect("each call of a round has a result");
        results.push((id.clone(), result));
        parts.push(SentPart::Call(SentCall { id, name: sent_name(&call.name), call }));
    }
    ModelStep { said, is_own, parts, results }
}

/// A name that providers take, also of a tool that the model made up.
fn sent_name(written: &str) -> Cow<'_, str> {
    if is_legal_name(written) {
        return Cow::Borrowed(written);
    }
    let is_legal = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-');
    let letters = written.chars().map(|letter| if is_legal(letter) { letter } else { '_' });
    let name: String = letters.take(ToolDefinition::NAME_LENGTH).collect();
    if name.chars().all(|letter| letter == '_') { NAMELESS.into() } else { name.into() }
}

/// Ids of calls, each once in a conversation. The same history has the same ids each time, so that
/// what a provider has cached of it stays good.
#[derive(Default)]
struct CallIds {
    taken: HashSet<String>,
    calls: usize,
}

impl CallIds {
    /// The call's own id if the endpoint takes it, or else a new one.
    fn next(&mut self, written: &str, is_own: bool) -> String {
        self.calls += 1;
        let is_legal = written.len() <= ID_LENGTH && is_legal_id(written);
        if (is_own && !written.is_empty() || is_legal) && self.taken.insert(written.to_owned()) {
            return written.to_owned();
        }
        let mut numbers = self.calls..;
        loop {
            let id = format!("call_{}", numbers.next().expect("numbers do not end"));
            if self.taken.insert(id.clone()) {
                return id;
            }
        }
    }
}

fn is_legal_id(id: &str) -> bool {
    !id.is_empty()
        && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_calls_become_legal() {
        let long = "x".repeat(70);
        for (written, sent) in
            [("a_b-1", "a_b-1"), ("a b.c", "a_b_c"), ("é!", NAMELESS), ("", NAMELESS)]
        {
            assert_eq!(sent_name(written), sent);
        }
        assert_eq!(sent_name(&long), long[..64]);
    }

    #[test]
    fn each_id_is_there_once_and_stays_what_it_is_where_it_may() {
        let mut ids = CallIds::default();
        let written = ["a", "a", "", "call_3", "functions.x:0"];
        let sent = written.map(|id| ids.next(id, false));
        assert_eq!(sent, ["a", "call_2", "call_3", "call_4", "call_5"]);
        assert_eq!(ids.next("functions.x:0", true), "functions.x:0");
    }
}
