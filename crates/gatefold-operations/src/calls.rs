//! The record of calls.

mod following;

use gatefold_store::{CallFilter, CallRecord, DiscoveryReport};
use serde::{Deserialize, Serialize};

use crate::{Fault, LISTED, OperationError, StateOperations};

pub use following::FollowedCalls;

/// The fewest digits of an id to look for: fewer would match too many.
const ID_DIGITS: usize = 4;

/// How many calls to read to see whether digits match exactly one.
const FITTING: u32 = 2;

/// The latest calls that a filter leaves.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ListCalls {
    /// The most calls to list, at most [`LISTED`].
    pub limit: u32,
    #[serde(default)]
    pub filter: CallFilter,
}

impl StateOperations {
    /// The latest calls, the latest last.
    pub async fn calls(&self, request: &ListCalls) -> Result<Vec<CallRecord>, OperationError> {
        let ListCalls { limit, filter } = self.confined(request);
        let mut records = self.store.recent_calls(limit, &filter).await?;
        records.reverse();
        Ok(records)
    }

    /// What models looked up last, at most `limit` answers, the latest last.
    pub async fn discoveries(&self, limit: u32) -> Result<Vec<DiscoveryReport>, OperationError> {
        self.asker.require_operator("see what everybody looked up")?;
        let mut found = self.store.recent_discoveries(limit.min(LISTED)).await?;
        found.reverse();
        Ok(found)
    }

    /// One call, by its id or the last digits of it.
    pub async fn call(&self, id: &str) -> Result<CallRecord, OperationError> {
        let unknown = || {
            let fault = Fault::new(format!("no call with the id `{id}` is on record"));
            OperationError::NotFound(fault.with_help(
                "`gatefold calls` shows the last digits of each; all of an id, or its last digits, will do",
            ))
        };
        if id.len() < ID_DIGITS || !id.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(unknown());
        }
        let mut fitting = self.store.calls_by_id(id, FITTING).await?;
        fitting.retain(|call| self.asker.user().is_none_or(|user| call.user == user.as_str()));
        if fitting.len() > 1 {
            let fault = Fault::new(format!("several calls have an id that ends with `{id}`"));
            let help = "give more digits; `gatefold calls --json` has all of them";
            return Err(OperationError::Refused(fault.with_help(help)));
        }
        fitting.pop().ok_or_else(unknown)
    }

    /// The same request, for no more than whoever asks may see.
    fn confined(&self, request: &ListCalls) -> ListCalls {
        let mut filter = request.filter.clone();
        if let Some(user) = self.asker.user() {
            filter.user = Some(user.clone());
        }
        ListCalls { limit: request.limit.min(LISTED), filter }
    }
}
