use std::fmt;

use serde::{Deserialize, Serialize};

/// An entry of a listing that could not be taken unchanged, or that people should know something about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Alteration {
    /// The kind of entry and its name or URI, such as ``tool `send` ``, or its place if it has
    /// none, such as `tool 3 of page 1`.
    pub entry: String,
    pub what: Change,
}

/// What was done about it, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Change {
    LeftOut(String),
    Repaired(String),
    /// Nothing was done.
    Noted(String),
}

impl fmt::Display for Alteration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.what {
            Change::LeftOut(why) => write!(f, "{} was left out: {why}", self.entry),
            Change::Repaired(what) => write!(f, "{} was repaired: {what}", self.entry),
            Change::Noted(what) => write!(f, "{} {what}", self.entry),
        }
    }
}
