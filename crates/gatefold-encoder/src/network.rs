//! A model's network, run by the ONNX runtime.

use std::borrow::Cow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;

use rten::{ModelOptions, NodeId, RunOptions, ThreadPool, Value, ValueOrView};

use crate::EncoderError;

/// The most components of a vector; large encoders have 1024.
const DIMENSIONS: usize = 4096;
/// The names of an output with one state for each token; without one of these, the first output is
/// used.
const OUTPUTS: [&str; 2] = ["last_hidden_state", "token_embeddings"];

/// A network with weights, ready to run.
pub(crate) struct Network {
    model: rten::Model,
    inputs: NetworkInputs,
    output: NodeId,
}

/// Threads that a network runs on.
pub(crate) struct Threads(Arc<ThreadPool>);

/// The network's inputs for token numbers and, if it has them, the mask and the token types.
struct NetworkInputs {
    ids: NodeId,
    mask: Option<NodeId>,
    kinds: Option<NodeId>,
}

impl Threads {
    pub(crate) fn start(count: usize) -> Self {
        Self(Arc::new(ThreadPool::with_num_threads(count)))
    }

    /// One thread, which runs `first` before anything else.
    pub(crate) fn start_with(first: impl FnOnce() + Send) -> Self {
        let threads = Self::start(1);
        threads.0.run(first);
        threads
    }
}

impl Network {
    pub(crate) fn load(path: &Path, bytes: Cow<'static, [u8]>) -> Result<Self, EncoderError> {
        let load = || {
            let mut options = ModelOptions::with_all_ops();
            options.prepack_weights(true);
            match bytes {
                Cow::Borrowed(bytes) => options.load_static_slice(bytes),
                Cow::Owned(bytes) => options.load(bytes),
            }
        };
        let model =
            guarded(load).map_err(|source| EncoderError::Load { path: path.to_owned(), source })?;
        let unfit = |fault: String| EncoderError::Unfit { path: path.to_owned(), fault };
        let inputs = NetworkInputs::of(&model).map_err(unfit)?;
        let outputs = model.output_ids();
        let named = |name: &&str| model.find_node(name).filter(|node| outputs.contains(node));
        let output = OUTPUTS.iter().find_map(named).or_else(|| outputs.first().copied());
        let output = output.ok_or_else(|| unfit("it has no output".to_owned()))?;
        Ok(Self { model, inputs, output })
    }

    /// The last hidden state of each token, one after the other, and the length of each state.
    pub(crate) fn states(
        &self,
        tokens: &[u32],
        threads: &Threads,
    ) -> Result<(Vec<f32>, usize), EncoderError> {
        let count = tokens.len();
        let row = |values: Vec<i32>| -> Result<ValueOrView<'static>, EncoderError> {
            let row = Value::from_shape([1, count], values);
            Ok(row.map_err(|fault| EncoderError::Run { source: fault.into() })?.into())
        };
        // The runtime accepts 32-bit values for 64-bit inputs. A vocabulary has far fewer entries.
        let ids = tokens.iter().map(|&id| i32::try_from(id).unwrap_or_default()).collect();
        let mut inputs = vec![(self.inputs.ids, row(ids)?)];
        for (node, value) in [(self.inputs.mask, 1), (self.inputs.kinds, 0)] {
            if let Some(node) = node {
                inputs.push((node, row(vec![value; count])?));
            }
        }
        let options = RunOptions::default().with_thread_pool(Some(Arc::clone(&threads.0)));
        let run = || self.model.run_n(inputs, [self.output], Some(options));
        let [states] = guarded(run).map_err(|source| EncoderError::Run { source })?;
        let ([texts, rows, dimensions], states) = states
            .into_shape_vec::<f32, 3>()
            .map_err(|fault| EncoderError::Output { fault: fault.to_string() })?;
        if texts != 1 || rows != count || !(1..=DIMENSIONS).contains(&dimensions) {
            let fault = format!("{texts} x {rows} x {dimensions} states for {count} tokens");
            return Err(EncoderError::Output { fault });
        }
        Ok((states, dimensions))
    }
}

impl NetworkInputs {
    fn of(model: &rten::Model) -> Result<Self, String> {
        let (mut ids, mut mask, mut kinds) = (None, None, None);
        for &node in model.input_ids() {
            let info = model.node_info(node);
            match info.as_ref().and_then(rten::NodeInfo::name).unwrap_or_default() {
                "input_ids" => ids = Some(node),
                "attention_mask" => mask = Some(node),
                "token_type_ids" => kinds = Some(node),
                other => return Err(format!("it wants an input `{other}`")),
            }
        }
        let ids = ids.ok_or_else(|| "it has no input `input_ids`".to_owned())?;
        Ok(Self { ids, mask, kinds })
    }
}

/// A model's file comes from elsewhere and the runtime checks it only as it goes along: a panic in
/// it must not end the program.
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
