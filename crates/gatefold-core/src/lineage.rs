use serde::{Deserialize, Serialize};

use crate::{CallId, ToolId};

/// Where a call stands among those that led to it.
///
/// It can be written down, so that a run which goes on elsewhere, or later, keeps its bounds.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lineage {
    /// The call in whose course this one is made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<CallId>,
    /// How many calls are further up.
    pub depth: usize,
    /// The tools that these called, the outermost first: none of them is called again.
    pub tools: Vec<ToolId>,
    /// What the calls so far have touched.
    pub label: Label,
}

impl Lineage {
    /// The lineage of the calls that are made in the course of a call of this one.
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

/// What the words may hold that a chain of calls, a session or a run has read so far.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum Label {
    #[default]
    Clean,
    /// Words from the open world, which anybody may have written: they may be an attack.
    OpenWorld,
}

impl Label {
    /// The label of what was read under both.
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
