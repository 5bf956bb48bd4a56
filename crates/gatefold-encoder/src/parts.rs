//! What a model is made of, wherever it comes from.

use std::borrow::Cow;
use std::path::PathBuf;

use sha2::{Digest as _, Sha256};

use crate::words::Vocabulary;
use crate::{EncoderError, Pooling, files};

/// The file of the network in a model's folder.
pub const MODEL_FILE: &str = "model.onnx";
/// The file of word pieces.
pub const VOCABULARY_FILE: &str = "vocab.txt";

/// What a model is made of, as its files have it.
pub(crate) struct ModelParts {
    /// Where the network comes from, and where the vocabulary: for messages.
    pub(crate) path: PathBuf,
    pub(crate) vocabulary_path: PathBuf,
    pub(crate) network: Cow<'static, [u8]>,
    pub(crate) pieces: Cow<'static, [u8]>,
    pub(crate) pooling: Pooling,
    pub(crate) longest: usize,
}

impl ModelParts {
    pub(crate) fn vocabulary(&self) -> Result<Vocabulary, EncoderError> {
        let path = &self.vocabulary_path;
        let pieces = std::str::from_utf8(&self.pieces).map_err(|fault| {
            EncoderError::Vocabulary { path: path.clone(), fault: fault.to_string() }
        })?;
        Vocabulary::parse(path, pieces)
    }

    /// The SHA-256 of the files and the pooling, in hexadecimal.
    pub(crate) fn digest(&self) -> String {
        let digest = Sha256::new().chain_update(&self.network).chain_update(&self.pieces);
        let digest = digest.chain_update(self.pooling.mark()).finalize();
        files::hex(digest.as_slice())
    }
}
