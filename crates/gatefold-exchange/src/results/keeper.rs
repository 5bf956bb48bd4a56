use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwap;
use gatefold_core::{BoxError, CallError, Clock, Payload, Principal, Target, Timestamp, ToolId};
use gatefold_disclose::{PreviewPlace, StructuredContent, result_text, with_preview};
use gatefold_dispatch::{DataOwner, NewResult, ResultHandle, StoredResult, StoredResults};
use gatefold_results::{
    KeptResult, ReadAnswer, ReadRequest, ReadingError, ResultPreview, TokenBudget, compact,
    preview, read,
};
use gatefold_worker::WorkerPool;
use serde_json::json;
use serde_json::value::RawValue;
use tokio::sync::Semaphore;

use super::reading;

/// How many results are shortened at a time, and how many are read. Each may take some times its size
/// of memory, and a reading some seconds, so readings do not hold up others' results.
const PLACES: usize = 4;
const READING_PLACES: usize = 4;

/// A result of at most so many bytes is worked on at once: that takes less than a millisecond or two.
const SHORT_RESULT: usize = 16 * 1024;

/// How lists of objects are given to a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ResultFormat {
    /// As their source gave them.
    #[default]
    Json,
    /// As a header and rows, where that saves tokens.
    Compact,
}

/// How much of a result a model is given, and how long the rest is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResultLimits {
    /// What a model is given of one result at a time.
    pub preview: TokenBudget,
    /// How long a result is kept.
    pub expiry: Duration,
    /// How many results of one principal are kept.
    pub kept_each: u32,
    pub format: ResultFormat,
    /// The id of the tool that reads them.
    pub reader: ToolId,
}

/// Keeps results that are too large for a model and shows what can be shown of them.
pub struct ResultKeeper {
    port: Arc<dyn StoredResults>,
    clock: Arc<dyn Clock>,
    limits: ArcSwap<ResultLimits>,
    places: Semaphore,
    reading_places: Semaphore,
    workers: WorkerPool,
}

/// Where a preview is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Showing {
    pub(crate) structured: StructuredContent,
    /// Whether the result's text goes into an envelope.
    pub(crate) in_envelope: bool,
}

impl ResultKeeper {
    pub fn new(
        port: Arc<dyn StoredResults>,
        clock: Arc<dyn Clock>,
        limits: ResultLimits,
        workers: WorkerPool,
    ) -> Arc<Self> {
        let limits = ArcSwap::from_pointee(limits);
        let (places, reading_places) = (Semaphore::new(PLACES), Semaphore::new(READING_PLACES));
        Arc::new(Self { port, clock, limits, places, reading_places, workers })
    }

    /// Replaces the limits. What is kept already stays as long as it was promised.
    pub fn set_limits(&self, limits: ResultLimits) {
        self.limits.store(Arc::new(limits));
    }

    pub fn limits(&self) -> Arc<ResultLimits> {
        self.limits.load_full()
    }

    /// The result if a model can be given all of it, else one with a preview whose rest is kept.
    pub(crate) async fn shortened(
        self: &Arc<Self>,
        payload: Payload,
        showing: Showing,
        target: &Target,
        principal: &Principal,
    ) -> Result<Payload, CallError> {
        let limits = self.limits();
        let bytes = payload.json.get().len();
        let is_compact = limits.format == ResultFormat::Compact && showing.in_envelope;
        // A token is at least a byte.
        if bytes <= limits.preview.tokens() && !is_compact {
            return Ok(payload);
        }
        let budget = limits.preview;
        let weigh = move || {
            let payload = if is_compact { compacted(payload, showing) } else { payload };
            let text = result_text(&payload, showing.structured);
            let text = text.filter(|text| !budget.holds(text));
            (payload, text)
        };
        let (payload, text) = self.worked_on(bytes, weigh).await;
        let Some(text) = text else { return Ok(payload) };
        let kept = self.keep(text, target.id.clone(), principal, &limits).await;
        let (handle, text) = kept.map_err(|source| {
            let reason =
                "its result is too large to be shown whole, and could not be kept".to_owned();
            let domain = target.domain.clone();
            CallError::Unavailable { domain, reason, source: Some(source) }
        })?;
        let shown = move || {
            let kept = KeptResult { handle: handle.as_str(), tool: limits.reader.as_str() };
            let shown = preview(&text, &kept, limits.preview);
            in_its_place(&payload, showing, &shown, &kept, text.len())
        };
        Ok(self.worked_on(bytes, shown).await)
    }

    /// A text that no call gave, if a model can be given all of it, else a preview whose rest is kept
    /// under the name of this tool.
    pub(crate) async fn shorten_text(
        &self,
        text: String,
        tool: ToolId,
        principal: &Principal,
    ) -> Result<String, BoxError> {
        let (limits, bytes) = (self.limits(), text.len());
        let budget = limits.preview;
        let (text, fits) = self
            .worked_on(bytes, move || {
                let fits = budget.holds(&text);
                (text, fits)
            })
            .await;
        if fits {
            return Ok(text);
        }
        let (handle, text) = self.keep(text, tool, principal, &limits).await?;
        let shown = move || {
            let kept = KeptResult { handle: handle.as_str(), tool: limits.reader.as_str() };
            preview(&text, &kept, limits.preview).text
        };
        Ok(self.worked_on(bytes, shown).await)
    }

    /// Keeps a text, and gives it back.
    async fn keep(
        &self,
        text: String,
        tool: ToolId,
        principal: &Principal,
        limits: &ResultLimits,
    ) -> Result<(ResultHandle, String), BoxError> {
        let now = self.clock.now();
        let kept = self.port.keep(NewResult {
            owner: DataOwner::of(principal),
            tool,
            text: text.clone(),
            at: now,
            expires_at: now.plus(limits.expiry),
            kept_each: limits.kept_each,
        });
        let kept = kept
            .await
            .inspect_err(|source| tracing::warn!(%source, "a large result could not be kept"));
        Ok((kept?, text))
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// What a principal kept under a handle.
    pub(crate) async fn find(
        &self,
        principal: &Principal,
        handle: &ResultHandle,
    ) -> Result<Option<StoredResult>, BoxError> {
        self.port.find(DataOwner::of(principal), handle, self.clock.now()).await
    }

    /// Works on a result of so many bytes. A long one has one of the places, and a thread that may
    /// take its time.
    async fn worked_on<T: Send + 'static>(
        &self,
        bytes: usize,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> T {
        if bytes <= SHORT_RESULT {
            return work();
        }
        let _place = self.places.acquire().await;
        on_a_thread(work).await
    }

    /// Reads a part of a result.
    pub(crate) async fn read(
        &self,
        text: String,
        request: ReadRequest,
        principal: &Principal,
    ) -> Result<ReadAnswer, ReadingError> {
        let limits = self.limits();
        if reading::runs_a_program(&request.reading.part) {
            let owner = DataOwner::lasting(principal);
            let shown = (&limits.reader, limits.preview);
            return reading::read_in_worker(&self.workers, &owner, &text, &request, shown).await;
        }
        let _place = self.reading_places.acquire().await;
        on_a_thread(move || {
            let kept = KeptResult { handle: &request.handle, tool: limits.reader.as_str() };
            read(&text, &request.reading, &kept, limits.preview)
        })
        .await
    }
}

async fn on_a_thread<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done,
        Err(error) => std::panic::resume_unwind(error.into_panic()),
    }
}

/// The result with its lists of objects as tables, if that is shorter.
fn compacted(payload: Payload, showing: Showing) -> Payload {
    let text = result_text(&payload, showing.structured);
    let json = text.as_deref().and_then(|text| serde_json::from_str::<&RawValue>(text.trim()).ok());
    match json.and_then(compact) {
        Some(text) => with_preview(&payload, showing.structured, &text, PreviewPlace::FirstText),
        None => payload,
    }
}

/// The result with the preview where a model will read it.
fn in_its_place(
    payload: &Payload,
    showing: Showing,
    shown: &ResultPreview,
    kept: &KeptResult<'_>,
    bytes: usize,
) -> Payload {
    if !showing.in_envelope {
        return with_preview(payload, showing.structured, &shown.text, PreviewPlace::FirstText);
    }
    let summary = json!({
        "preview": "below",
        "kind": shown.kind.to_string(),
        "bytes": bytes,
        "handle": kept.handle,
        "read_with": kept.tool,
    });
    let place = PreviewPlace::BehindSummary(&summary.to_string());
    with_preview(payload, showing.structured, &shown.text, place)
}
