use std::fmt;
use std::io;
use std::time::Duration;

/// Why a job gave no answer.
///
/// The message is for whoever gave the job, often a model, and follows a name for the job: "the jq program ...".
#[derive(Debug, thiserror::Error)]
pub enum WorkerError {
    /// The pool has no program to run.
    #[error("cannot be run here")]
    Absent,
    #[error("found no free place, because too many are running")]
    Busy,
    #[error("took longer than {} and was stopped", Seconds(*.0))]
    Time(Duration),
    /// Holds the limit, in bytes.
    #[error("needed more than {} MiB of memory and was stopped", .0 >> 20)]
    Memory(u64),
    #[error("went too deep and was stopped")]
    Depth,
    /// Holds the limit, in bytes.
    #[error("gave more than {} MiB and was stopped", .0 >> 20)]
    Answer(u64),
    /// The process ended. The text is its last words, for the operator.
    #[error("broke off")]
    Broken(String),
    #[error("could not be started")]
    Start(#[source] io::Error),
}

struct Seconds(Duration);

impl fmt::Display for Seconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} s", self.0.as_secs_f64())
    }
}
