//! One table of tools a domain: how a plain function becomes an MCP tool.

use std::pin::Pin;

use base64::{Engine, engine::general_purpose::STANDARD};
use rmcp::{
    Peer, RoleServer,
    model::{
        CallToolResult, ContentBlock, ProgressNotificationParam, ProgressToken, Tool as Definition,
        ToolAnnotations,
    },
};
use schemars::JsonSchema;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

use crate::{error::ToolError, schema};

/// What a call does to the world, told to the client as the tool's annotations.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Effect {
    /// Changes nothing.
    Reads,
    /// Adds something new each time.
    Adds,
    /// Adds or switches something; a second call changes nothing more.
    Sets,
    /// Overwrites what was there; a second call changes nothing more.
    Overwrites,
    /// Overwrites what was there; a second call changes more.
    Alters,
    /// Removes something for good.
    Removes,
}

/// A tool as the client sees it, and what a call runs.
pub(crate) struct Tool {
    pub(crate) definition: Definition,
    signature: String,
    run: Box<Run>,
}

type Run = dyn Fn(Value, Progress) -> Running + Send + Sync;
type Running = Pin<Box<dyn Future<Output = Result<CallToolResult, ToolError>> + Send>>;

impl Tool {
    /// Calls the tool. A failure is a result too: its text tells the caller how to mend the call.
    pub(crate) async fn call(&self, arguments: Value, progress: Progress) -> CallToolResult {
        let error = match (self.run)(arguments, progress).await {
            Ok(result) => return result,
            Err(ToolError::Arguments { reason, .. }) => {
                ToolError::Arguments { reason, signature: self.signature.clone() }
            }
            Err(error) => error,
        };
        CallToolResult::error(vec![ContentBlock::text(error.to_string())])
    }
}

/// Where a long call reports how far it is: the client, when it asked for that.
pub(crate) struct Progress(Option<(Peer<RoleServer>, ProgressToken)>);

impl Progress {
    pub(crate) fn new(target: Option<(Peer<RoleServer>, ProgressToken)>) -> Self {
        Self(target)
    }

    /// Reports `done` of `total` steps. A client that has gone away is no reason to stop.
    pub(crate) async fn report(&self, done: u32, total: u32, message: &str) {
        let Some((peer, token)) = &self.0 else { return };
        let notification = ProgressNotificationParam::new(token.clone(), f64::from(done))
            .with_total(f64::from(total))
            .with_message(message);
        let _ = peer.notify_progress(notification).await;
    }
}

/// A result, and a picture beside it where a tool draws one.
pub(crate) struct Answer<O> {
    value: O,
    png: Option<Vec<u8>>,
}

impl<O> Answer<O> {
    pub(crate) fn with_png(value: O, png: Vec<u8>) -> Self {
        Self { value, png: Some(png) }
    }
}

impl<O> From<O> for Answer<O> {
    fn from(value: O) -> Self {
        Self { value, png: None }
    }
}

impl<O: Serialize> Answer<O> {
    fn into_result(self) -> CallToolResult {
        let value = serde_json::to_value(self.value).expect("results are plain data");
        let mut result = CallToolResult::structured(value);
        if let Some(png) = self.png {
            result.content.push(ContentBlock::image(STANDARD.encode(png), "image/png"));
        }
        result
    }
}

/// A domain's tools over its state.
pub(crate) struct Toolbox<S> {
    state: S,
    tools: Vec<Tool>,
}

impl<S: Clone + Send + Sync + 'static> Toolbox<S> {
    pub(crate) fn new(state: S) -> Self {
        Self { state, tools: Vec::new() }
    }

    pub(crate) fn into_tools(self) -> Vec<Tool> {
        self.tools
    }

    /// Adds a tool that computes from its arguments alone and may refuse them.
    pub(crate) fn pure<A, O>(self, name: &'static str, run: fn(&A) -> Result<O, ToolError>) -> Self
    where
        A: DeserializeOwned + JsonSchema + Send + Sync + 'static,
        O: Serialize + JsonSchema + Send + 'static,
    {
        self.add(name, Effect::Reads, move |_, arguments, _| {
            let result = run(&arguments);
            async move { Ok(Answer::from(result?)) }
        })
    }

    /// Adds a tool that computes from its arguments alone and cannot fail.
    pub(crate) fn infallible<A, O>(self, name: &'static str, run: fn(&A) -> O) -> Self
    where
        A: DeserializeOwned + JsonSchema + Send + Sync + 'static,
        O: Serialize + JsonSchema + Send + 'static,
    {
        self.add(name, Effect::Reads, move |_, arguments, _| {
            let result = run(&arguments);
            async move { Ok(Answer::from(result)) }
        })
    }

    /// Adds a tool that blocks its thread, as file access does.
    pub(crate) fn blocking<A, O>(
        self,
        name: &'static str,
        effect: Effect,
        run: fn(&S, &A) -> Result<O, ToolError>,
    ) -> Self
    where
        A: DeserializeOwned + JsonSchema + Send + Sync + 'static,
        O: Serialize + JsonSchema + Send + 'static,
    {
        self.add(name, effect, move |state, arguments, _| async move {
            let work = tokio::task::spawn_blocking(move || run(&state, &arguments));
            Ok(Answer::from(work.await.map_err(|_| ToolError::Stopped)??))
        })
    }

    /// Adds a tool that waits, as a query does.
    pub(crate) fn waiting<A, O, F, R>(self, name: &'static str, effect: Effect, run: F) -> Self
    where
        A: DeserializeOwned + JsonSchema + Send + 'static,
        O: Serialize + JsonSchema + Send + 'static,
        F: Fn(S, A) -> R + Send + Sync + 'static,
        R: Future<Output = Result<O, ToolError>> + Send + 'static,
    {
        self.add(name, effect, move |state, arguments, _| {
            let work = run(state, arguments);
            async move { Ok(Answer::from(work.await?)) }
        })
    }

    /// Adds any tool: the name, what a call does to the world, and the function itself.
    ///
    /// The doc comment of the argument type `A` is the tool's description.
    pub(crate) fn add<A, O, F, R>(mut self, name: &'static str, effect: Effect, run: F) -> Self
    where
        A: DeserializeOwned + JsonSchema + Send + 'static,
        O: Serialize + JsonSchema + 'static,
        F: Fn(S, A, Progress) -> R + Send + Sync + 'static,
        R: Future<Output = Result<Answer<O>, ToolError>> + Send + 'static,
    {
        let input = schema::of_arguments::<A>();
        let output = schema::of_result::<O>();
        let signature = schema::signature(&input.schema);
        let definition = Definition::new(name, input.description, input.schema)
            .with_raw_output_schema(output.schema)
            .with_annotations(effect.annotations());
        let state = self.state.clone();
        let run = move |arguments: Value, progress: Progress| -> Running {
            let work = parse(arguments).map(|parsed| run(state.clone(), parsed, progress));
            Box::pin(async move { Ok(work?.await?.into_result()) })
        };
        self.tools.push(Tool { definition, signature, run: Box::new(run) });
        self
    }
}

impl Effect {
    fn annotations(self) -> ToolAnnotations {
        let destructive = matches!(self, Self::Overwrites | Self::Alters | Self::Removes);
        let repeats = matches!(self, Self::Adds | Self::Alters);
        ToolAnnotations::new()
            .read_only(matches!(self, Self::Reads))
            .destructive(destructive)
            .idempotent(!repeats)
            .open_world(false)
    }
}

fn parse<A: DeserializeOwned>(arguments: Value) -> Result<A, ToolError> {
    serde_path_to_error::deserialize(arguments).map_err(|error| {
        let path = error.path().to_string();
        let reason = match path.as_str() {
            "." => error.inner().to_string(),
            path => format!("`{path}`: {}", error.inner()),
        };
        ToolError::Arguments { reason, signature: String::new() }
    })
}
