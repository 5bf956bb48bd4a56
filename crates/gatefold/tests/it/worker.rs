//! The test program as a worker.

use gatefold::worker::WorkerProgram;

/// Not a test: what [`worker`] starts.
#[test]
fn serves() {
    gatefold_worker::run_if_asked(gatefold::worker::TASKS);
}

pub(crate) fn worker() -> WorkerProgram {
    WorkerProgram::this().unwrap().argument("worker::serves").argument("--exact")
}
