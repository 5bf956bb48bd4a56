//! The tool that reads kept results, as a source like any other.

use std::sync::Arc;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use gatefold_catalog::{KindName, Manifest, ToolSpec};
use gatefold_core::{BoxError, CallError, Domain, Hints, Payload, Timestamp, ToolId};
use gatefold_disclose::separate_text;
use gatefold_dispatch::{
    AdmittedCall, CallContext, MISSING_RESULT, ResultHandle, StatelessSource, UNREADABLE_RESULTS,
};
use gatefold_results::{READ_DESCRIPTION, READ_SCHEMA, ReadAnswer, ReadRequest, ReadingError};
use serde_json::json;
use serde_json::value::{RawValue, to_raw_value};

use super::{LentTexts, ResultKeeper};

/// The tool's own name.
const READ_RESULT: &str = "read_result";

/// The id of the tool that reads results, in a domain.
pub fn read_result_id(domain: &Domain) -> ToolId {
    ToolId::new(format!("{domain}__{READ_RESULT}"))
}

/// Reads kept results.
pub struct ResultSource(Arc<ResultKeeper>);

impl ResultSource {
    pub const KIND: KindName = KindName::new("results");

    /// What its domain is called, unless a source of the configuration is called so.
    pub const DOMAIN: &str = "results";

    pub fn new(keeper: Arc<ResultKeeper>) -> Self {
        Self(keeper)
    }

    /// What it offers, always the same.
    pub fn manifest(now: Timestamp) -> Manifest {
        let schema = serde_json::from_str(READ_SCHEMA).expect("the schema is JSON");
        let read = ToolSpec::new(READ_RESULT)
            .title("Read a large result")
            .description(READ_DESCRIPTION)
            .input_schema(schema)
            .hints(Hints {
                read_only: Some(true),
                destructive: None,
                idempotent: Some(true),
                // A result may come from anywhere.
                open_world: Some(true),
            });
        Manifest::builder(now).tool(read).build()
    }

    async fn answer(&self, call: AdmittedCall, context: CallContext) -> Result<Payload, CallError> {
        let tool = call.target().id.clone();
        let invalid = |message: String| CallError::InvalidArguments {
            tool: tool.clone(),
            message,
            data: None,
        };
        let arguments = call.arguments().map_or("{}", RawValue::get);
        let request = ReadRequest::from_arguments(arguments)
            .map_err(|error: ReadingError| invalid(error.to_string()))?;
        let lent = context.caller.attachment.get::<LentTexts>();
        let text = match lent.and_then(|lent| lent.find(&request.handle)) {
            Some(text) => text,
            None => self
                .kept(&request.handle, &call)
                .await?
                .ok_or_else(|| invalid(MISSING_RESULT.to_owned()))?,
        };
        let reading = self.0.read(text, request, call.principal());
        let read = context.caller.cancel.run_until_cancelled(reading).await;
        let answer = read.ok_or(CallError::Cancelled)?;
        Ok(payload(&answer.map_err(|error| invalid(error.to_string()))?))
    }

    /// What was kept under a handle of the caller's.
    async fn kept(&self, handle: &str, call: &AdmittedCall) -> Result<Option<String>, CallError> {
        let found = self.0.find(call.principal(), &ResultHandle::new(handle)).await;
        let found = found.map_err(|source| CallError::Unavailable {
            domain: call.target().domain.clone(),
            reason: UNREADABLE_RESULTS.to_owned(),
            source: Some(source),
        })?;
        Ok(found.map(|found| found.text))
    }
}

/// What comes next as JSON, and the text that was read. Within an envelope, the text stays outside.
fn payload(answer: &ReadAnswer) -> Payload {
    let next: Option<&RawValue> =
        answer.next.as_deref().and_then(|next| serde_json::from_str(next).ok());
    let summary = json!({ "text": "below", "next": next }).to_string();
    let content = json!([{ "type": "text", "text": summary }, separate_text(&answer.text)]);
    let result = json!({ "content": content });
    Payload { json: to_raw_value(&result).expect("a JSON value is JSON"), is_error: false }
}

impl StatelessSource for ResultSource {
    fn describe(&self) -> BoxFuture<'_, Result<Manifest, BoxError>> {
        async { Ok(Self::manifest(self.0.now())) }.boxed()
    }

    fn call(
        &self,
        call: AdmittedCall,
        context: CallContext,
    ) -> BoxFuture<'_, Result<Payload, CallError>> {
        self.answer(call, context).boxed()
    }
}
