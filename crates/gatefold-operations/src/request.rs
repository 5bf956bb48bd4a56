//! The requests that a gateway answers for other processes.

use gatefold::Status;
use gatefold_dispatch::SourceLogLine;
use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, to_raw_value};

use crate::{
    Answered, AppOperations, CallAnswer, CallTool, FoundTools, GetRecord, GetStatus, InspectTools,
    ListTools, ListedTool, OperationError, ReadLog, RecordedState, RefreshSource, ResumeRun,
    RunRecord, SearchTools, ToolDefinition,
};

/// A request that an [`AppRequest`] carries.
pub trait Request: Clone + Into<AppRequest> {
    type Answer: Serialize;

    /// Does what it asks for.
    fn answer(
        &self,
        operations: &AppOperations<'_>,
    ) -> impl Future<Output = Result<Self::Answer, OperationError>> + Send;
}

/// A line for each request: the operation that answers it, and with what.
macro_rules! carried {
    ($($request:ident => $operation:ident -> $answer:ty;)*) => {
        /// A request to an app in another process.
        #[derive(Debug, Clone, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum AppRequest {
            $($request($request),)*
        }

        impl AppRequest {
            /// The answer, as JSON.
            pub async fn answer(
                &self,
                operations: &AppOperations<'_>,
            ) -> Result<Box<RawValue>, OperationError> {
                let answer = match self {
                    $(Self::$request(request) => {
                        to_raw_value(&operations.$operation(request).await?)
                    })*
                };
                Ok(answer.expect("answers are JSON"))
            }
        }

        $(
            impl From<$request> for AppRequest {
                fn from(request: $request) -> Self {
                    Self::$request(request)
                }
            }

            impl Request for $request {
                type Answer = $answer;

                async fn answer(
                    &self,
                    operations: &AppOperations<'_>,
                ) -> Result<$answer, OperationError> {
                    operations.$operation(self).await
                }
            }
        )*
    };
}

carried! {
    GetStatus => status -> Status;
    GetRecord => recorded_state -> RecordedState;
    ListTools => list_tools -> Answered<Vec<ListedTool>>;
    SearchTools => search_tools -> Answered<FoundTools>;
    InspectTools => inspect_tools -> Answered<Vec<ToolDefinition>>;
    CallTool => call_tool -> Answered<CallAnswer>;
    RefreshSource => refresh -> bool;
    ReadLog => log -> Vec<SourceLogLine>;
    ResumeRun => resume_run -> RunRecord;
}
