//! The model: a BERT-like encoder run from its ONNX file, its states pooled to unit vectors.

use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;

use rten::{ModelOptions, NodeId, RunOptions, ThreadPool, Value, ValueOrView};
use sha2::{Digest as _, Sha256};

use crate::words::Vocabulary;
use crate::{EncoderError, Pooling, Vector, files};

/// The file of the network in a model's folder.
pub const MODEL_FILE: &str = "model.onnx";
/// The file of the pieces that words are made of.
pub const VOCABULARY_FILE: &str = "vocab.txt";
/// No text is longer to the model; BERT has as many positions.
pub const TOKENS: usize = 512;
const MODEL_BYTES: u64 = 256 * 1024 * 1024;
const VOCABULARY_BYTES: u64 = 8 * 1024 * 1024;
/// Threads that encode a request where the machine has as many cores. Two take a third less time than
/// one; the machine has other work.
const THREADS: usize = 2;
/// The components of a vector; large encoders have 1024.
const DIMENSIONS: usize = 4096;
/// What the outputs with a state for each token are called, else the first is taken.
const OUTPUTS: [&str; 2] = ["last_hidden_state", "token_embeddings"];

/// A sentence encoder, ready to run.
///
/// Opening reads each file once, spreads the weights into tensors and packs them for the
/// processor; without that each run would pack them again. The reference model's 23 MB become
/// about 160 MB, as the runtime keeps the words' own vectors as `f32`, and 180 MB at the peak.
pub struct Model {
    network: rten::Model,
    vocabulary: Vocabulary,
    ids: NodeId,
    mask: Option<NodeId>,
    kinds: Option<NodeId>,
    output: NodeId,
    pooling: Pooling,
    dimensions: usize,
    digest: String,
    /// Requests at the same time share its [`THREADS`].
    pool: Arc<ThreadPool>,
}

impl Model {
    /// Opens a model and tries it on a short text: a folder with `model.onnx` and `vocab.txt`, or an
    /// ONNX file of any name with `vocab.txt` beside it. States are pooled as `1_Pooling/config.json`
    /// beside it says, or else to their mean.
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
        let pool = Arc::new(ThreadPool::with_num_threads(cores.min(THREADS)));
        let load = || ModelOptions::with_all_ops().prepack_weights(true).load(bytes);
        let network =
            guarded(load).map_err(|source| EncoderError::Load { path: path.clone(), source })?;
        let unfit = |fault: String| EncoderError::Unfit { path: path.clone(), fault };
        let (ids, mask, kinds) = inputs(&network).map_err(unfit)?;
        let outputs = network.output_ids();
        let named = |name: &&str| network.find_node(name).filter(|node| outputs.contains(node));
        let output = OUTPUTS.iter().find_map(named).or_else(|| outputs.first().copied());
        let output = output.ok_or_else(|| unfit("it has no output".to_owned()))?;
        let mut model = Self {
            network,
            vocabulary,
            ids,
            mask,
            kinds,
            output,
            pooling,
            dimensions: 0,
            digest,
            pool,
        };
        let tokens = model.vocabulary.tokens("a short text", TOKENS);
        let (_, dimensions) = model.states(&tokens, &model.pool)?;
        model.dimensions = dimensions;
        Ok(model)
    }

    /// The components of each vector.
    pub fn dimensions(&self) -> usize {
        self.dimensions
    }

    /// The SHA-256 of the model, its vocabulary and its pooling, in hexadecimal. It keeps the vectors of
    /// different models apart, which have nothing in common.
    pub fn digest(&self) -> &str {
        &self.digest
    }

    /// The numbers of a text's tokens in the vocabulary, as the model is given them.
    pub fn token_ids(&self, text: &str, tokens: usize) -> Vec<u32> {
        self.vocabulary.tokens(text, tokens.min(TOKENS))
    }

    /// The vector of a text, which is cut at `tokens` tokens with the two special ones.
    pub fn encode(&self, text: &str, tokens: usize) -> Result<Vector, EncoderError> {
        self.encode_on(&self.pool, text, tokens)
    }

    /// The same on other threads, so that callers do not wait for each other.
    pub(crate) fn encode_on(
        &self,
        pool: &Arc<ThreadPool>,
        text: &str,
        tokens: usize,
    ) -> Result<Vector, EncoderError> {
        let tokens = self.vocabulary.tokens(text, tokens.min(TOKENS));
        let (states, dimensions) = self.states(&tokens, pool)?;
        self.pooling.of(&states, dimensions)
    }

    /// The last hidden state of each token, one after the other, and the length of each.
    fn states(
        &self,
        tokens: &[u32],
        pool: &Arc<ThreadPool>,
    ) -> Result<(Vec<f32>, usize), EncoderError> {
        let count = tokens.len();
        let row = |values: Vec<i32>| -> Result<ValueOrView<'static>, EncoderError> {
            let row = Value::from_shape([1, count], values);
            Ok(row.map_err(|fault| EncoderError::Run { source: fault.into() })?.into())
        };
        // The runtime takes 64-bit inputs as 32-bit ones. A vocabulary has far fewer entries.
        let ids = tokens.iter().map(|&id| i32::try_from(id).unwrap_or_default()).collect();
        let mut inputs = vec![(self.ids, row(ids)?)];
        for (node, value) in [(self.mask, 1), (self.kinds, 0)] {
            if let Some(node) = node {
                inputs.push((node, row(vec![value; count])?));
            }
        }
        let options = RunOptions::default().with_thread_pool(Some(Arc::clone(pool)));
        let run = || self.network.run_n(inputs, [self.output], Some(options));
        let [states] = guarded(run).map_err(|source| EncoderError::Run { source })?;
        let ([texts, rows, dimensions], states) = states
            .into_shape_vec::<f32, 3>()
            .map_err(|fault| EncoderError::Output { fault: fault.to_string() })?;
        let is_known = self.dimensions == 0 || self.dimensions == dimensions;
        if texts != 1 || rows != count || !(1..=DIMENSIONS).contains(&dimensions) || !is_known {
            let fault = format!("{texts} x {rows} x {dimensions} states for {count} tokens");
            return Err(EncoderError::Output { fault });
        }
        Ok((states, dimensions))
    }
}

impl std::fmt::Debug for Model {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut model = f.debug_struct("Model");
        model.field("digest", &self.digest).field("dimensions", &self.dimensions);
        model.finish_non_exhaustive()
    }
}

/// The inputs of token numbers, of the mask and of the kinds of tokens, or what is wrong.
fn inputs(network: &rten::Model) -> Result<(NodeId, Option<NodeId>, Option<NodeId>), String> {
    let (mut ids, mut mask, mut kinds) = (None, None, None);
    for &node in network.input_ids() {
        let info = network.node_info(node);
        match info.as_ref().and_then(rten::NodeInfo::name).unwrap_or_default() {
            "input_ids" => ids = Some(node),
            "attention_mask" => mask = Some(node),
            "token_type_ids" => kinds = Some(node),
            other => return Err(format!("it wants an input `{other}`")),
        }
    }
    let ids = ids.ok_or_else(|| "it has no input `input_ids`".to_owned())?;
    Ok((ids, mask, kinds))
}

/// A model's file comes from elsewhere and the runtime checks it as it goes: what it does not
/// foresee must not end the program.
fn guarded<T, E>(
    act: impl FnOnce() -> Result<T, E>,
) -> Result<T, Box<dyn std::error::Error + Send + Sync>>
where
    E: std::error::Error + Send + Sync + 'static,
{
    match catch_unwind(AssertUnwindSafe(act)) {
        Ok(result) => result.map_err(Into::into),
        Err(panic) => {
            let text = panic.downcast_ref::<String>().map(String::as_str);
            let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
            Err(format!("the runtime panicked: {}", text.unwrap_or("for no stated reason")).into())
        }
    }
}
