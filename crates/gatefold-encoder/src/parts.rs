//! What a model is made of, wherever it comes from.

use std::borrow::Cow;
use std::path::PathBuf;

use crate::Pooling;

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
