//! State that all connections to one reference server share.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use rmcp::model::RequestStateCodec;
use rmcp::task_manager::TaskManager;

use super::audience::Audience;

/// How many tools, prompts and resources `matrix_grow` may add.
pub(super) const GROWTH_LIMIT: usize = 64;

/// Seals `requestState`. Tests need no secret, and servers with one key can take over from each
/// other.
const STATE_KEY: &[u8] = b"the reference server's key for tests: not a secret at all";

pub(super) struct ServerState {
    pub(super) audience: Arc<Audience>,
    pub(super) tasks: TaskManager,
    pub(super) states: RequestStateCodec,
    /// Whether the tool and the prompt that come and go are there now.
    pub(super) passing_tool: AtomicBool,
    pub(super) passing_prompt: AtomicBool,
    /// How many calls of `matrix_wait` are running, and how many were cancelled.
    pub(super) waiting: AtomicUsize,
    pub(super) cancelled: AtomicUsize,
    grown: AtomicUsize,
}

impl ServerState {
    pub(super) fn new() -> Self {
        Self {
            audience: Arc::default(),
            tasks: TaskManager::new(),
            states: RequestStateCodec::try_new(STATE_KEY).expect("the key is long enough"),
            passing_tool: AtomicBool::new(false),
            passing_prompt: AtomicBool::new(false),
            waiting: AtomicUsize::new(0),
            cancelled: AtomicUsize::new(0),
            grown: AtomicUsize::new(0),
        }
    }

    /// How often the server has grown.
    pub(super) fn grown(&self) -> usize {
        self.grown.load(Ordering::SeqCst)
    }

    /// Grows once more and returns the number, or `None` at the limit.
    pub(super) fn grow(&self) -> Option<usize> {
        let grow = |grown| (grown < GROWTH_LIMIT).then_some(grown + 1);
        let before = self.grown.fetch_update(Ordering::SeqCst, Ordering::SeqCst, grow);
        before.ok().map(|grown| grown + 1)
    }
}
