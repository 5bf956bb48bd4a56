//! The encoder that is part of the program: our own, small, for requests and tools.

use std::path::PathBuf;

use crate::parts::{ModelParts, VOCABULARY_FILE};
use crate::{EncoderError, Pooling};

/// What stands for it.
pub(crate) const NAME: &str = "builtin";

/// In the runtime's own format, which it uses where it lies: of an ONNX file it would copy 10 MB.
const NETWORK_FILE: &str = "model.rten";
const NETWORK: &[u8] = include_bytes!("../data/model.rten");
const PIECES: &[u8] = include_bytes!("../data/vocab.txt");

/// The digest of its files: see `Model::digest`. A test says what it must be.
pub(crate) const DIGEST: &str = "11298b8712c19542b379fcc3954493ace1aec9d15054a68a6b795b30e3444ae3";

/// The length of its vectors.
pub(crate) const DIMENSIONS: usize = 384;

/// The most tokens that it reads.
const LONGEST: usize = 128;

#[expect(clippy::unnecessary_wraps, reason = "a program without the runtime has no such model")]
pub(crate) fn parts() -> Result<ModelParts, EncoderError> {
    let place = PathBuf::from(NAME);
    Ok(ModelParts {
        path: place.join(NETWORK_FILE),
        vocabulary_path: place.join(VOCABULARY_FILE),
        network: NETWORK.into(),
        pieces: PIECES.into(),
        pooling: Pooling::Mean,
        longest: LONGEST,
    })
}
