//! The encoder of tools as that of knowledge bases, which keep its vectors themselves.

use std::sync::Arc;

use gatefold_encoder::{EncoderError, REQUEST_TOKENS, TOKENS};
use gatefold_knowledge::{SentenceEncoder, TextKind};

use super::{EncoderTier, OpenEncoder};

impl EncoderTier {
    /// Opens the encoder if nobody has; `None` if it cannot be used.
    pub(crate) fn of_passages(&self) -> Option<Arc<dyn SentenceEncoder>> {
        self.opened().cloned().map(|opened| opened as Arc<dyn SentenceEncoder>)
    }
}

impl OpenEncoder {
    fn vector(&self, text: &str, kind: TextKind) -> Result<Vec<f32>, EncoderError> {
        Ok(match kind {
            TextKind::Query => self.tools.request(text, REQUEST_TOKENS)?.values().to_vec(),
            TextKind::Sentence => self.tools.request(text, TOKENS)?.values().to_vec(),
            TextKind::Passage => self.tools.passage(text, TOKENS)?.values().to_vec(),
        })
    }
}

impl SentenceEncoder for OpenEncoder {
    fn embed(&self, texts: &[&str], kind: TextKind) -> Option<Vec<Option<Vec<f32>>>> {
        let mut vectors = Vec::with_capacity(texts.len());
        for text in texts {
            match self.vector(text, kind) {
                Ok(vector) => vectors.push(Some(vector)),
                // It would be the same for each of them.
                Err(EncoderError::Load { .. } | EncoderError::Gone { .. }) => return None,
                Err(error) => {
                    tracing::debug!(%error, bytes = text.len(), "a passage was not encoded");
                    vectors.push(None);
                }
            }
        }
        Some(vectors)
    }

    fn name(&self) -> &str {
        &self.digest
    }
}

#[cfg(all(test, feature = "encoder"))]
mod tests {
    use gatefold_encoder::ModelPlace;

    use super::*;

    #[test]
    fn a_question_is_nearer_to_its_answer_than_to_another_passage() {
        let home = tempfile::tempdir().unwrap();
        let tier = EncoderTier::new(&ModelPlace::Builtin, home.path());
        let encoder = tier.of_passages().unwrap();
        let of = |text, kind| encoder.embed(&[text], kind).unwrap().remove(0).unwrap();
        let question = of("How do I get my money back?", TextKind::Query);
        let near = |text| {
            let passage = of(text, TextKind::Passage);
            std::iter::zip(&question, &passage).map(|(one, other)| one * other).sum::<f32>()
        };
        assert!(near("Refunds are paid within ten days.") > near("The office closes at five."));
    }

    #[test]
    fn one_that_cannot_be_opened_encodes_nothing() {
        let home = tempfile::tempdir().unwrap();
        let gone = ModelPlace::Files(home.path().join("gone"));
        assert!(EncoderTier::new(&gone, home.path()).of_passages().is_none());
    }
}
