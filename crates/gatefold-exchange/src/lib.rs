//! A model's turn: show a surface, interpret the model's call, make it, word the result.
//!
//! It also learns from use which words lead to which tool. MCP, an agent's loop, REST, a console and a
//! workflow node are thin callers of this one loop.
//! [`Exchange`] holds what turns share, [`Turn`] is one principal's. This crate must not know how a
//! protocol frames its messages, what an era is, or who a connection belongs to: it deals in views,
//! surfaces, operations, replies and outcomes.

mod addresses;
mod agents;
mod audience;
mod clients;
mod disclosures;
mod exchange;
mod learning;
mod registered;
mod results;
mod surfaces;
mod turn;

pub use agents::{AgentProfile, AgentProfiles};
pub use audience::{Audience, DisclosureName, Scope, SelectionSettings};
pub use clients::{ClientProfile, ClientProfiles};
pub use disclosures::{Disclosures, NamingScheme, UnknownDisclosure};
pub use exchange::Exchange;
pub use gatefold_dispatch::{
    KeptQuery, LearningPorts, NoPastQueries, NoUsedTools, PastQueries, PastUse, USED_DAYS,
    USED_TOOLS, UsedTools, UtcDay,
};
pub use registered::{REGISTERED_TOOLS, RegisteredTools};
pub use results::{
    LentTexts, READ_TASK, ResultFormat, ResultKeeper, ResultLimits, ResultSource, read_result_id,
};
pub use surfaces::{List, ListDigests, Lists};
pub use turn::{CallObserver, TaskSupport, ToolAnswer, ToolCall, Turn};
