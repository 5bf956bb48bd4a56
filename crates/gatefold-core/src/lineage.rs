use serde::{Deserialize, Serialize};

use crate::{CallId, ToolId};

/// The calls that led to a call.
///
/// It can be serialised, so that a run that continues elsewhere or later keeps its limits.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lineage {
    /// The call during which this one is made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<CallId>,
    /// How many calls this one is nested in.
    pub depth: usize,
    /// The tools of those calls, outermost first. None of them may be called again.
    pub tools: Vec<ToolId>,
    /// The label of everything read so far.
    pub label: Label,
}

impl Lineage {
    /// The lineage of the calls made during a call with this lineage.
    #[must_use]
    pub fn below(&self, call: CallId, tool: ToolId, label: Label) -> Self {
        let mut below = self.clone();
        below.parent = Some(call);
        below.depth += 1;
        below.tools.push(tool);
        below.label = self.label.merged(label);
        below
    }
}

/// What may be in the text that a chain of calls, a session or a run has read so far.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum Label {
    #[default]
    Clean,
    /// Text from the open world, which anybody may have written: it may be an attack.
    OpenWorld,
}

impl Label {
    /// The label of both together.
    #[must_use]
    pub fn merged(self, other: Self) -> Self {
        self.max(other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Timestamp;

    #[test]
    fn a_lineage_survives_its_text() {
        let call = CallId::new(Timestamp::from_millis(7), 9);
        let nested = Lineage::default().below(call, ToolId::new("web__browse"), Label::OpenWorld);
        let deeper = nested.below(call, ToolId::new("mail__send"), Label::Clean);
        assert_eq!((deeper.depth, deeper.label), (2, Label::OpenWorld));
        let text = serde_json::to_string(&deeper).unwrap();
        assert_eq!(serde_json::from_str::<Lineage>(&text).unwrap(), deeper);
    }
}
