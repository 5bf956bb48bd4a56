//! Work on what others wrote (jq programs, SQL, expressions, patterns, documents) in processes of our own program.
//!
//! A limit inside the process holds only where the code that is limited looks at it. So a [`WorkerPool`] starts its
//! program once more for such work: the kernel bounds the memory of that process, and the pool kills it when its time is
//! over. Whatever goes wrong there is the failure of one job.
//!
//! The program calls [`run_if_asked`] first of all in its `main`, with the [`Task`]s that it has. This crate does not know
//! what they do, nor who asks for them.

mod error;
mod limits;
mod message;
mod pool;
mod process;
mod serving;

pub use error::WorkerError;
pub use message::Message;
pub use pool::{Job, WorkerLease, WorkerPool, WorkerSettings};
pub use process::WorkerProgram;
pub use serving::{Conversation, Task, run_if_asked};
