//! The model: a BERT-like encoder run from its ONNX file, its token states pooled to unit vectors.

use std::fmt;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use crate::network::{Network, Threads};
use crate::parts::{MODEL_FILE, ModelParts, VOCABULARY_FILE};
use crate::slot::NetworkSlot;
use crate::words::Vocabulary;
use crate::{EncoderError, Pooling, Vector, builtin, files};

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
/// the runtime keeps the word embeddings as `f32`, and 180 MB at the peak. The built-in one is in the
/// runtime's own format, of which only the packed weights are copied, 7 MB.
pub struct Model {
    network: NetworkSlot,
    vocabulary: Vocabulary,
    pooling: Pooling,
    dimensions: usize,
    digest: String,
    /// The most tokens that it can be given.
    longest: usize,
    /// Concurrent requests share them.
    threads: Threads,
}

/// Where a model comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ModelPlace {
    /// The one that is part of the program.
    Builtin,
    /// A folder or file: see [`Model::open`].
    Files(PathBuf),
}

impl ModelPlace {
    /// What stands for the built-in model, in configurations and on command lines.
    pub const BUILTIN: &str = builtin::NAME;

    /// What stands for no model there.
    pub const NONE: &str = "none";

    /// The model that is part of the program, where the program has one.
    pub fn builtin() -> Option<Self> {
        cfg!(feature = "runtime").then_some(Self::Builtin)
    }

    /// The model that somebody named, or none. A folder with such a name is `./builtin`.
    pub fn named(name: &str) -> Option<Self> {
        match name {
            Self::NONE => None,
            Self::BUILTIN => Some(Self::Builtin),
            path => Some(Self::Files(path.into())),
        }
    }

    /// Opens the model, and tries one of files on a short text.
    pub fn open(&self) -> Result<Model, EncoderError> {
        match self {
            Self::Builtin => Model::builtin(),
            Self::Files(path) => Model::open(path),
        }
    }
}

impl fmt::Display for ModelPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Builtin => f.write_str(Self::BUILTIN),
            Self::Files(path) => path.display().fmt(f),
        }
    }
}

impl Model {
    /// Opens a model and tries it on a short text: a folder with `model.onnx` and `vocab.txt`, or
    /// an ONNX file of any name with `vocab.txt` beside it. States are pooled as
    /// `1_Pooling/config.json` beside it says, by default to their mean.
    pub fn open(path: &Path) -> Result<Self, EncoderError> {
        let network = if path.is_file() { path.to_owned() } else { path.join(MODEL_FILE) };
        let vocabulary_path = network.with_file_name(VOCABULARY_FILE);
        let pieces = files::read(&vocabulary_path, VOCABULARY_BYTES)?.into();
        let path = network;
        let network = files::read(&path, MODEL_BYTES)?.into();
        let pooling = Pooling::read(path.parent().unwrap_or(Path::new("")))?;
        Self::of(ModelParts { path, vocabulary_path, network, pieces, pooling, longest: TOKENS })
    }

    /// The model that is part of the program: English, 384 dimensions, made for requests and tools.
    /// `models/README.md` says how. Its network is loaded by the first text that is encoded, which
    /// takes some hundredths of a second, and can [rest](Model::rest).
    pub fn builtin() -> Result<Self, EncoderError> {
        let parts = builtin::parts()?;
        let load = || {
            let ModelParts { path, network, .. } = builtin::parts()?;
            Network::load(&path, network)
        };
        Ok(Self {
            network: NetworkSlot::loaded_by(load),
            vocabulary: parts.vocabulary()?,
            pooling: parts.pooling,
            dimensions: builtin::DIMENSIONS,
            digest: builtin::DIGEST.to_owned(),
            longest: parts.longest,
            threads: request_threads(),
        })
    }

    fn of(parts: ModelParts) -> Result<Self, EncoderError> {
        let (vocabulary, digest) = (parts.vocabulary()?, parts.digest());
        let ModelParts { path, network, pooling, longest, .. } = parts;
        let (network, threads) = (Network::load(&path, network)?, request_threads());
        // Trying it on a text finds a model that cannot run now, not at the first search.
        let (_, dimensions) =
            network.states(&vocabulary.tokens("a short text", longest), &threads)?;
        let network = NetworkSlot::Kept(Arc::new(network));
        Ok(Self { network, vocabulary, pooling, dimensions, digest, longest, threads })
    }

    /// Drops what can be loaded again, if nothing was encoded for so long. Returns how long to wait
    /// before it is worth asking again.
    pub fn rest(&self, unused: Duration) -> Duration {
        self.network.rest(unused)
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
        self.vocabulary.tokens(text, tokens.min(self.longest))
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
        let tokens = self.vocabulary.tokens(text, tokens.min(self.longest));
        let (states, dimensions) = self.network.network()?.states(&tokens, threads)?;
        if dimensions != self.dimensions {
            let fault = format!("states of {dimensions} components, not {}", self.dimensions);
            return Err(EncoderError::Output { fault });
        }
        self.pooling.of(&states, dimensions)
    }
}

/// The threads that encode requests.
fn request_threads() -> Threads {
    let cores = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
    Threads::start(cores.min(THREADS))
}

impl fmt::Debug for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut model = f.debug_struct("Model");
        model.field("digest", &self.digest).field("dimensions", &self.dimensions);
        model.finish_non_exhaustive()
    }
}

#[cfg(all(test, feature = "runtime"))]
mod tests;
