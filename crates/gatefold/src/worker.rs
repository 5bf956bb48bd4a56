//! This program as a worker: a process that runs what callers wrote, under limits of the kernel.

use std::sync::atomic::{AtomicBool, Ordering};

pub use gatefold_worker::WorkerProgram;
use gatefold_worker::{Task, WorkerPool, WorkerSettings};

use crate::config::Config;

/// All that a worker can do.
pub const TASKS: &[Task] = &[
    gatefold_exchange::READ_TASK,
    gatefold_builtin::BUILTIN_TASK,
    gatefold_connect::EXTRACT_TASK,
    gatefold_sql::SQLITE_TASK,
    crate::documents::DOCUMENT_TASK,
    #[cfg(feature = "knowledge")]
    crate::documents::WHOLE_DOCUMENT_TASK,
];

/// Whether this program has asked whether it is a worker.
static CAN_BE_WORKER: AtomicBool = AtomicBool::new(false);

/// Works and ends the process, if a gateway started this program as a worker. Otherwise it returns at once, and apps that
/// are built from then on start this program as theirs. Call it first in `main`, before anything is read or started.
pub fn run_if_asked() {
    gatefold_worker::run_if_asked(TASKS);
    CAN_BE_WORKER.store(true, Ordering::Release);
}

/// This program, if it can be a worker.
pub(crate) fn this_program() -> Option<WorkerProgram> {
    CAN_BE_WORKER.load(Ordering::Acquire).then(WorkerProgram::this)?.ok()
}

/// Workers under the limits of a configuration.
pub(crate) fn pool(config: &Config, program: Option<WorkerProgram>) -> WorkerPool {
    WorkerPool::new(WorkerSettings {
        memory: config.statement_memory.unwrap_or(WorkerSettings::MEMORY),
        ..WorkerSettings::new(program)
    })
}
