//! One call, from its name to the end of its record.

pub(crate) mod ask;
pub(crate) mod caller;
pub(crate) mod chain;
pub(crate) mod consent;
pub(crate) mod conversation;
pub(crate) mod decide;
pub(crate) mod nested;
pub(crate) mod nesting;
pub(crate) mod park;
pub(crate) mod record;
pub(crate) mod repairs;
pub(crate) mod resolve;
pub(crate) mod seal;
pub(crate) mod send;
pub(crate) mod tasks;
