//! An agent's loop: a model is asked, its calls are made, until it answers.
//!
//! [`AgentRun`] is the loop as a pure machine: it takes an [`AgentEvent`] and says which [`Effect`]s
//! follow, without a clock, chance or I/O. So a run can be replayed from its journal, and what it does
//! at each event is a test of a function. [`Driver`] carries the effects out: it asks a model, lets
//! [`AgentTools`] make the calls, keeps to the limits, and writes each event down before the run takes it.
//! [`SurfaceTools`] are the tools of an exchange, under the same views, policy, approvals and records as
//! those of any client. [`AgentSource`] makes agents a tool for others: `call_agent`. A [`Budget`] bounds what a
//! run and its children spend, and a [`ModelMeter`] what a person spends in a day, which it writes into the ledger.
//!
//! This crate must not know configuration, storage, MCP or a terminal.

mod answer_text;
mod budget;
mod card;
mod compaction;
mod context;
mod dates;
mod driver;
mod estimate;
mod event;
mod functions;
mod journal_entry;
mod limits;
mod metering;
mod offer;
mod past;
mod price;
mod progress;
mod repeats;
mod replay;
mod resume;
mod run;
mod source;
mod surface_tools;
mod thread_history;
mod tools;
mod wait_notes;
mod waiting_call;

pub use budget::{Budget, Spending, SpendingLimit};
pub use compaction::CompactionStep;
pub use context::{Compaction, HiddenParts, OffloadedResult, ResultPlace, Transcript, WorkCard};
pub use dates::parts_without_date;
pub use driver::{Driver, RunFault, RunJournal, RunWatcher};
pub use event::{AgentEvent, Effect, RunEnd, Shortage, ToolUse};
pub use journal_entry::JournalEntry;
pub use limits::{AgentLimits, ModelRoom, RunLimits};
pub use metering::{MeteredModel, ModelMeter};
pub use offer::ToolOffer;
pub use past::PastTexts;
pub use price::TokenPrice;
pub use replay::{ReplayError, earlier_events, fits_journal, replay, replay_run};
pub use resume::{KeptRun, end_kept};
pub use run::{AgentRun, CALLS_PER_ANSWER};
pub use source::{AgentModel, AgentModels, AgentSource, CallableAgent};
pub use surface_tools::{EarlierTurns, ObserverOf, SurfaceTools};
pub use thread_history::{ThreadHistory, is_answered, thread_title};
pub use tools::{AgentTools, CallProgress};
pub use wait_notes::WaitingCall;
