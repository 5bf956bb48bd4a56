//! The model: a BERT-like encoder run from its ONNX file, its token states pooled to unit vectors.

use std::num::NonZeroUsize;
use std::path::Path;

use sha2::{Digest as _, Sha256};

use crate::network::{Network, Threads};
use crate::words::Vocabulary;
use crate::{EncoderError, Pooling, Vector, files};

/// The file of the network in a model's folder.
pub const MODEL_FILE: &str = "model.onnx";
/// The file of word pieces.
pub const VOCABULARY_FILE: &str = "vocab.txt";
/// The longest text a model is given; BERT has as many positions.
pub const TOKENS: usize = 512;
const MODEL_BYTES: u64 = 256 * 1024 * 1024;
const VOCABULARY_BYTES: u64 = 8 * 1024 * 1024;
/// Threads that encode a request on a machine with at least as many cores. Two take a third less
/// time than one; more would take cores from the machine's other work.
const THREADS: usize = 2;

/// A sentence encoder, ready to run.
///
/// Opening reads each file once, expands the weights into tensors and packs them for the processor;
/// otherwise each run would pack them again. The reference model's 23 MB become about 160 MB, as
/// the runtime keeps the word embeddings as `f32`, and 180 MB at the peak.
pub struct Model {
    network: Network,
    vocabulary: Vocabulary,
    pooling: Pooling,
    dimensions: usize,
    digest: String,
    /// Concurrent requests share them.
    threads: Threads,
}

impl Model {
    /// Opens a model and tries it on a short text: a folder with `model.onnx` and `vocab.txt`, or
    /// an ONNX file of any name with `vocab.txt` beside it. States are pooled as
    /// `1_Pooling/config.json` beside it says, by default to their mean.
    pub fn open(path: &Path) -> Result<Self, EncoderError> {
        let network = if path.is_file() { path.to_owned() } else { path.join(MODEL_FILE) };
        let path = network.with_file_name(VOCABULARY_FILE);
        let pieces = files::read(&path, VOCABULARY_BYTES)?;
        let pieces = std::str::from_utf8(&pieces).map_err(|fault| EncoderError::Vocabulary {
            path: path.clone(),
            fault: fault.to_string(),
        })?;
        let vocabulary = Vocabulary::parse(&path, pieces)?;
        let path = network;
        let bytes = files::read(&path, MODEL_BYTES)?;
        let pooling = Pooling::read(path.parent().unwrap_or(Path::new("")))?;
        let digest = Sha256::new().chain_update(&bytes).chain_update(pieces);
        let digest = digest.chain_update(pooling.mark()).finalize();
        let digest = files::hex(digest.as_slice());
        let cores = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
        let threads = Threads::start(cores.min(THREADS));
        let network = Network::load(&path, bytes)?;
        // Trying it on a text finds a model that cannot run now, not at the first search.
        let (_, dimensions) =
            network.states(&vocabulary.tokens("a short text", TOKENS), &threads)?;
        Ok(Self { network, vocabulary, pooling, dimensions, digest, threads })
    }

    /// The number of components of each vector.
    pub fn dimensions(&self) -> usize {
        self.dimensions
    }

    /// The SHA-256 of the model, its vocabulary and its pooling, in hexadecimal. It keeps the
    /// vectors of different models apart, since they are not comparable.
    pub fn digest(&self) -> &str {
        &self.digest
    }

    /// The vocabulary numbers of a text's tokens, as the model receives them.
    pub fn token_ids(&self, text: &str, tokens: usize) -> Vec<u32> {
        self.vocabulary.tokens(text, tokens.min(TOKENS))
    }

    /// The vector of a text, cut at `tokens` tokens, the two special ones included.
    pub fn encode(&self, text: &str, tokens: usize) -> Result<Vector, EncoderError> {
        self.encode_on(&self.threads, text, tokens)
    }

    /// The same on other threads, so that callers do not wait for each other.
    pub(crate) fn encode_on(
        &self,
        threads: &Threads,
        text: &str,
        tokens: usize,
    ) -> Result<Vector, EncoderError> {
        let tokens = self.vocabulary.tokens(text, tokens.min(TOKENS));
        let (states, dimensions) = self.network.states(&tokens, threads)?;
        if dimensions != self.dimensions {
            let fault = format!("states of {dimensions} components, not {}", self.dimensions);
            return Err(EncoderError::Output { fault });
        }
        self.pooling.of(&states, dimensions)
    }
}

impl std::fmt::Debug for Model {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut model = f.debug_struct("Model");
        model.field("digest", &self.digest).field("dimensions", &self.dimensions);
        model.finish_non_exhaustive()
    }
}
