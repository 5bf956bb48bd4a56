use std::sync::{Arc, OnceLock};

use gatefold_search::{PastIndex, PastQuery};

use super::Tool;
use crate::retrieval::{RetrievalTexts, ToolTexts};

/// The texts that count in a snapshot, read for ranking when they are first needed.
#[derive(Debug, Default)]
pub(super) struct TextIndex {
    texts: Option<Arc<RetrievalTexts>>,
    built: OnceLock<Option<Arc<BuiltTexts>>>,
    /// What the snapshot before had built.
    earlier: Option<Arc<BuiltTexts>>,
}

#[derive(Debug)]
struct BuiltTexts {
    texts: Arc<RetrievalTexts>,
    /// The tools whose texts are read, by id.
    tools: Vec<String>,
    index: PastIndex,
}

impl TextIndex {
    /// For the snapshot after another one, with the same texts.
    pub(super) fn after(previous: &Self) -> Self {
        let built = previous.built.get().cloned().flatten();
        let earlier = built.or_else(|| previous.earlier.clone());
        Self { texts: previous.texts.clone(), built: OnceLock::new(), earlier }
    }

    pub(super) fn with(self, texts: Option<Arc<RetrievalTexts>>) -> Self {
        Self { texts, built: OnceLock::new(), ..self }
    }

    /// The index of the texts that were written for these tools. Every call must pass the same tools.
    pub(super) fn get(&self, tools: &[Tool]) -> Option<&PastIndex> {
        let built = self.built.get_or_init(|| self.build(tools));
        built.as_ref().map(|built| &built.index)
    }

    fn build(&self, tools: &[Tool]) -> Option<Arc<BuiltTexts>> {
        let texts = self.texts.as_ref().filter(|texts| !texts.is_empty())?;
        let fitting: Vec<_> = tools
            .iter()
            .filter_map(|tool| {
                Some((tool, texts.fitting(tool.id().as_str(), tool.definition().digest())?))
            })
            .collect();
        if fitting.is_empty() {
            return None;
        }
        let ids = fitting.iter().map(|(tool, _)| tool.id().to_string()).collect::<Vec<_>>();
        let is_same = |built: &&Arc<BuiltTexts>| *built.texts == **texts && built.tools == ids;
        if let Some(same) = self.earlier.as_ref().filter(is_same) {
            return Some(Arc::clone(same));
        }
        let read = fitting.iter().flat_map(|(tool, texts)| {
            let summary = Some(&texts.summary).filter(|summary| !summary.is_empty());
            let all = texts.requests.iter().take(ToolTexts::REQUESTS).chain(summary);
            all.map(|query| PastQuery { tool: tool.id().as_str(), query, weight: 1.0 })
        });
        let index = PastIndex::of(read);
        Some(Arc::new(BuiltTexts { texts: Arc::clone(texts), tools: ids, index }))
    }
}
