//! An encoder for commands that search knowledge bases beside a gateway, which may be writing the vectors of
//! tools.

use std::sync::{Arc, OnceLock};

use gatefold_encoder::{Model, ModelPlace, REQUEST_TOKENS};
use gatefold_knowledge::{EncoderInForce, SentenceEncoder, TextKind};

use super::log;

/// A model that reads queries and keeps nothing.
pub(crate) struct QueryEncoder(Model);

impl QueryEncoder {
    /// One that is opened by the first search.
    pub(crate) fn opened_late(place: Option<ModelPlace>) -> EncoderInForce {
        let opened = OnceLock::<Option<Arc<dyn SentenceEncoder>>>::new();
        Arc::new(move || {
            let open = || {
                let model = place.as_ref()?.open().inspect_err(log).ok()?;
                Some(Arc::new(Self(model)) as Arc<dyn SentenceEncoder>)
            };
            opened.get_or_init(open).clone()
        })
    }
}

impl SentenceEncoder for QueryEncoder {
    fn embed(&self, texts: &[&str], _: TextKind) -> Option<Vec<Option<Vec<f32>>>> {
        let vector = |text: &&str| {
            let vector = self.0.encode(text, REQUEST_TOKENS).ok()?;
            Some(vector.values().to_vec())
        };
        Some(texts.iter().map(vector).collect())
    }

    fn name(&self) -> &str {
        self.0.digest()
    }
}
