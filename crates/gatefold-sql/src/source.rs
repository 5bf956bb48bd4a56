//! A database as a source: four tools over what of it may be seen.

mod advice;
mod annotations;
mod arguments;
mod known;
mod listing;
mod pages;
mod querying;
mod questions;
mod structure;
mod tools;
mod writing;

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use gatefold_catalog::Manifest;
use gatefold_core::{
    AnswerFault, BoxError, BusyResource, CallEffect, CallError, Clock, Domain, Payload,
    SuggestedCall, Target, UnsentCause, with_causes,
};
use gatefold_dispatch::{AdmittedCall, CallContext, DataOwner, StatelessSource};
use serde::Serialize;
use serde_json::value::RawValue;
use tokio::time::Instant;

use crate::{Database, DatabaseError, TableRules, Writes};
pub use annotations::{TableNote, TableNotes};
use known::KnownSchema;

/// How soon a schema is read again because a statement named something that is missing.
const REREAD_PAUSE: Duration = Duration::from_secs(10);

/// What a database source is made of.
#[derive(Debug, Clone)]
pub struct DatabaseSourceSettings {
    pub domain: Domain,
    pub rules: TableRules,
    pub notes: TableNotes,
    pub writes: Writes,
    /// The most rows of one result.
    pub rows: usize,
    pub statement_timeout: Duration,
}

/// A database.
pub struct DatabaseSource {
    settings: DatabaseSourceSettings,
    database: Arc<dyn Database>,
    clock: Arc<dyn Clock>,
    /// What was last read of it, or was stored with its manifest.
    known: Mutex<Option<Arc<KnownSchema>>>,
    /// Held while the schema is read, so that many calls read it once. Holds the time of the last
    /// attempt.
    reading: tokio::sync::Mutex<Option<Instant>>,
}

/// Why a call of a tool failed.
#[derive(Debug)]
enum ToolError {
    /// The caller can mend it.
    Arguments(String),
    /// Other tools of this source answer it: a message, and calls of them.
    Elsewhere(String, Vec<SuggestedCall>),
    Database(DatabaseError),
    /// Whether a change was kept is not known.
    Uncertain(DatabaseError),
    /// A person did not agree, or could not be asked.
    NotWritten(String),
}

impl From<DatabaseError> for ToolError {
    fn from(error: DatabaseError) -> Self {
        Self::Database(error)
    }
}

/// One call, with what its answer depends on.
struct ToolCall<'a> {
    settings: &'a DatabaseSourceSettings,
    database: &'a dyn Database,
    context: &'a CallContext,
    arguments: &'a str,
}

impl ToolCall<'_> {
    /// How long a statement may take: until the call's deadline at most.
    fn timeout(&self) -> Duration {
        let left = self.context.deadline.saturating_duration_since(Instant::now());
        self.settings.statement_timeout.min(left)
    }
}

impl DatabaseSource {
    /// `known` is the manifest that was stored, from which the tables are listed while the database
    /// cannot be reached.
    pub fn new(
        settings: DatabaseSourceSettings,
        database: Arc<dyn Database>,
        clock: Arc<dyn Clock>,
        known: Option<&Manifest>,
    ) -> Self {
        let dialect = database.dialect();
        let known = known.and_then(|manifest| {
            let schema = known::stored(manifest)?;
            Some(Arc::new(KnownSchema::new(dialect, schema, &settings.rules)))
        });
        Self {
            settings,
            database,
            clock,
            known: Mutex::new(known),
            reading: tokio::sync::Mutex::new(None),
        }
    }

    fn known(&self) -> Option<Arc<KnownSchema>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The tables as they were last read; they are read now if they never were.
    async fn schema(&self) -> Result<Arc<KnownSchema>, DatabaseError> {
        match self.known() {
            Some(known) => Ok(known),
            None => self.read_schema(Duration::ZERO).await,
        }
    }

    /// Reads the tables, unless that was done within this time.
    async fn read_schema(&self, pause: Duration) -> Result<Arc<KnownSchema>, DatabaseError> {
        let mut last = self.reading.lock().await;
        if let (Some(at), Some(known)) = (*last, self.known())
            && at.elapsed() < pause
        {
            return Ok(known);
        }
        // A database that cannot be reached is not asked at each call either.
        *last = Some(Instant::now());
        let schema = self.database.read_schema().await?;
        let known = KnownSchema::new(self.database.dialect(), schema, &self.settings.rules);
        let known = Arc::new(known);
        *self.known.lock().unwrap_or_else(PoisonError::into_inner) = Some(known.clone());
        Ok(known)
    }

    async fn answer(&self, call: AdmittedCall, context: CallContext) -> Result<Payload, CallError> {
        let target = call.target().clone();
        let owner = DataOwner::lasting(call.principal());
        let database = self.database.for_owner(owner.as_bytes());
        let own = ToolCall {
            settings: &self.settings,
            database: database.as_deref().unwrap_or(&*self.database),
            context: &context,
            arguments: call.arguments().map_or("{}", RawValue::get),
        };
        let answer = match &*target.name {
            tools::LIST_TABLES => self.list_tables(&own).await,
            tools::DESCRIBE_TABLE => self.describe_table(&own).await,
            tools::QUERY => self.query(&own).await,
            tools::EXPLAIN => self.explain(&own).await,
            tools::EXECUTE if self.settings.writes == Writes::Ask => self.execute(&own).await,
            name => {
                return Err(CallError::Unknown { kind: "tool", name: name.to_owned() });
            }
        };
        answer.map_err(|error| self.failed(error, &target))
    }

    fn failed(&self, error: ToolError, target: &Target) -> CallError {
        let (tool, domain) = (target.id.clone(), self.settings.domain.clone());
        let database = match error {
            ToolError::Arguments(message) => {
                return CallError::InvalidArguments { tool, message, data: None };
            }
            ToolError::Elsewhere(message, calls) => {
                return CallError::AnsweredElsewhere { tool, message, calls };
            }
            ToolError::NotWritten(reason) => return CallError::NotApproved { tool, reason },
            ToolError::Uncertain(error) => {
                return CallError::Lost { tool, reason: with_causes(&error) };
            }
            ToolError::Database(error) => error,
        };
        match database {
            DatabaseError::NoWorker => CallError::Busy { domain, of: BusyResource::Calls },
            DatabaseError::Busy(_) => CallError::Busy { domain, of: BusyResource::Connections },
            DatabaseError::Statement { .. }
            | DatabaseError::Timeout(_)
            | DatabaseError::Write
            | DatabaseError::RowTooLarge(_)
            | DatabaseError::TooMuch(_) => {
                CallError::InvalidArguments { tool, message: database.to_string(), data: None }
            }
            DatabaseError::Privileged { .. } => {
                let (cause, reason) = (UnsentCause::SetUp, database.to_string());
                CallError::NotSent { domain, cause, reason }
            }
            // A change is kept by the commit alone, and this was before it.
            DatabaseError::Failed(_) => CallError::NoResult {
                domain,
                fault: AnswerFault::Unreadable,
                effect: CallEffect::Nothing,
                retry_after: None,
                reason: with_causes(&database),
            },
            DatabaseError::Unreachable { .. } => {
                let reason = database.to_string();
                CallError::Unavailable { domain, reason, source: Some(database.into()) }
            }
        }
    }
}

impl StatelessSource for DatabaseSource {
    fn describe(&self) -> BoxFuture<'_, Result<Manifest, BoxError>> {
        async move {
            let role = self.database.role().await?;
            let known = self.read_schema(Duration::ZERO).await?;
            Ok(tools::manifest(&self.settings, &known, &role, self.clock.now()))
        }
        .boxed()
    }

    fn call(
        &self,
        call: AdmittedCall,
        context: CallContext,
    ) -> BoxFuture<'_, Result<Payload, CallError>> {
        self.answer(call, context).boxed()
    }

    fn answers_from_memory(&self, tool: &str, arguments: &RawValue) -> bool {
        let is_structure = match tool {
            tools::LIST_TABLES => !listing::refreshes(arguments),
            tools::DESCRIBE_TABLE => !structure::samples_values(arguments),
            _ => false,
        };
        is_structure && self.known().is_some()
    }
}

/// An answer as one text of JSON.
fn json_answer(answer: &impl Serialize) -> Payload {
    let text = serde_json::to_string(answer).unwrap_or_default();
    Payload::text(&text)
}

#[cfg(test)]
mod tests;
