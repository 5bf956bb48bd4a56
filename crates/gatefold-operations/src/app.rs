//! What a gateway is doing, and what its sources say.

use futures::future::BoxFuture;
use gatefold::{App, ConnectObserver, Status};
use gatefold_core::Domain;
use gatefold_dispatch::{PinnedTurn, SourceLogLine, SourceReport};
use gatefold_store::Totals;
use serde::{Deserialize, Serialize};

use crate::{Asker, Fault, OperationError};

/// The operations that need an app: one that serves, or one that was built for the occasion.
pub struct AppOperations<'a> {
    pub(crate) app: &'a App,
    pub(crate) asker: Asker,
    pub(crate) observer: &'a dyn OperationObserver,
}

/// Follows what an operation waits for.
pub trait OperationObserver: ConnectObserver {
    /// Waits until the encoder has read the tools.
    fn while_encoder_reads<'a>(&'a self, reading: BoxFuture<'a, bool>) -> BoxFuture<'a, bool> {
        reading
    }
}

/// Follows nothing.
impl OperationObserver for () {}

/// What does the gateway do?
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct GetStatus;

/// What is on record in its state directory?
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct GetRecord;

/// Somebody has signed in at a source, or out: it is to list its tools anew.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct RefreshSource {
    /// The source's domain.
    pub source: String,
}

/// What a source wrote besides its answers.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ReadLog {
    /// The source's domain.
    pub source: String,
    /// The number of the last line that is known; 0 for all that are kept.
    pub after: u64,
}

/// What is on record in a state directory.
#[derive(Debug, Clone, Serialize)]
pub struct RecordedState {
    pub directory: String,
    /// What is known of each configured source, by domain.
    pub sources: Vec<SourceReport>,
    pub calls: Totals,
    pub tokens: RecordedCosts,
}

/// What tools cost a model with and without Gatefold, in o200k tokens, counted by all gateways on
/// the state directory.
#[derive(Debug, Clone, Serialize)]
pub struct RecordedCosts {
    /// The definitions of all visible tools. None until they are counted.
    pub definitions: Option<usize>,
    /// What a model is given instead, as an upper bound.
    pub surface: usize,
}

impl<'a> AppOperations<'a> {
    /// The operations on an app. `observer` follows what they wait for.
    pub fn new(app: &'a App, asker: Asker, observer: &'a dyn OperationObserver) -> Self {
        Self { app, asker, observer }
    }

    /// What the gateway does, as `GET /status` has it.
    #[expect(clippy::unused_async, reason = "all operations are asked alike")]
    pub async fn status(&self, _: &GetStatus) -> Result<Status, OperationError> {
        self.asker.require_operator("see its status")?;
        Ok(self.app.status())
    }

    /// What is on record, whichever gateway recorded it.
    pub async fn recorded_state(&self, _: &GetRecord) -> Result<RecordedState, OperationError> {
        self.asker.require_operator("see what is on record")?;
        let (sources, store) = (self.app.reports(), self.app.store());
        let calls = store.totals().await?;
        // This loads what other gateways have counted.
        self.app.uncounted().await;
        let costs = self.app.status().tokens;
        Ok(RecordedState {
            directory: store.state_dir().display().to_string(),
            sources,
            calls,
            tokens: RecordedCosts { definitions: costs.definitions, surface: costs.surface },
        })
    }

    /// Lists a source anew. Returns whether that went well: why not is in the log, and in the status.
    pub async fn refresh(&self, request: &RefreshSource) -> Result<bool, OperationError> {
        self.asker.require_operator("have a source listed anew")?;
        let unknown = || self.unknown_source(&request.source);
        let domain = Domain::parse(&request.source).map_err(|_| unknown())?;
        let refreshed = self.app.refresh(&domain).await.ok_or_else(unknown)?;
        Ok(refreshed.is_ok())
    }

    /// The lines after one that is known, at most as many as the source keeps.
    #[expect(clippy::unused_async, reason = "all operations are asked alike")]
    pub async fn log(&self, request: &ReadLog) -> Result<Vec<SourceLogLine>, OperationError> {
        self.asker.require_operator("read what a source wrote")?;
        let ReadLog { source, after } = request;
        self.app.source_log(source, *after).ok_or_else(|| self.unknown_source(source))
    }

    /// A turn of whoever asks.
    pub(crate) fn turn(&self) -> PinnedTurn {
        match &self.asker {
            Asker::Operator => self.app.pin(),
            Asker::Principal(principal) => self.app.pin_for(principal.clone()),
        }
    }

    fn unknown_source(&self, source: &str) -> OperationError {
        let config = self.app.config();
        let names: Vec<_> = config.sources.iter().map(|source| source.domain.as_str()).collect();
        let help = match names.as_slice() {
            [] => "the gateway that runs has none".to_owned(),
            names => format!("the sources are {}", names.join(", ")),
        };
        let fault = Fault::new(format!("there is no source `{source}`"));
        OperationError::NotFound(fault.with_help(help))
    }
}
