//! One demonstration server as rmcp serves it.

use std::{path::Path, sync::Arc};

use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        CallToolRequestParams, CallToolResponse, Implementation, ListToolsResult,
        PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool as Definition,
    },
    service::{RequestContext, ServerInitializeError},
};
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncWrite};

use crate::{
    DemoError, DemoServer, calendar, contacts, files, issues, text,
    toolbox::{Progress, Tool},
    units,
};

/// A demonstration server with its data open, ready to serve or to be called in process.
///
/// Clones share the data.
#[derive(Clone)]
pub struct Server {
    about: &'static DemoServer,
    tools: Arc<[Tool]>,
}

impl Server {
    /// Opens the server called `name`; what it keeps lies under `scratch`.
    ///
    /// Fails on a name that is not in [`servers`](crate::servers), or when the folder or a
    /// database in it cannot be opened.
    pub async fn open(name: &str, scratch: &Path) -> Result<Self, DemoError> {
        let about = crate::servers()
            .iter()
            .find(|server| server.name == name)
            .ok_or_else(|| DemoError::UnknownServer(name.to_owned()))?;
        std::fs::create_dir_all(scratch)
            .map_err(|source| DemoError::Scratch { path: scratch.to_owned(), source })?;
        let tools = match about.name {
            "files" => files::open(scratch)?,
            "issues" => issues::open(scratch).await?,
            "contacts" => contacts::open(scratch).await?,
            "calendar" => calendar::open(scratch).await?,
            "text" => text::tools(),
            "units" => units::tools(),
            other => unreachable!("`{other}` is listed without an implementation"),
        };
        Ok(Self { about, tools: tools.into() })
    }

    /// The tools' definitions as `tools/list` gives them.
    pub fn tools(&self) -> Value {
        serde_json::to_value(self.definitions()).expect("definitions are plain data")
    }

    /// Calls a tool in process and gives its result as `tools/call` would.
    ///
    /// `None` when the server has no tool called `tool`.
    pub async fn call(&self, tool: &str, arguments: Value) -> Option<Value> {
        let result = self.find(tool)?.call(arguments, Progress::new(None)).await;
        Some(serde_json::to_value(result).expect("results are plain data"))
    }

    /// Serves a client over a byte stream, one JSON message a line, until `input` ends.
    pub async fn serve<I, O>(self, input: I, output: O) -> Result<(), DemoError>
    where
        I: AsyncRead + Send + Unpin + 'static,
        O: AsyncWrite + Send + Unpin + 'static,
    {
        let running = match rmcp::serve_server(self, (input, output)).await {
            Ok(running) => running,
            // A client that only asked what the server is, and left, has done nothing wrong.
            Err(ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
            Err(error) => return Err(DemoError::Protocol(error.into())),
        };
        running.waiting().await.map_err(|error| DemoError::Protocol(error.into()))?;
        Ok(())
    }

    fn definitions(&self) -> Vec<Definition> {
        self.tools.iter().map(|tool| tool.definition.clone()).collect()
    }

    fn find(&self, name: &str) -> Option<&Tool> {
        self.tools.iter().find(|tool| tool.definition.name == name)
    }
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let name = format!("gatefold-demo-{}", self.about.name);
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(Implementation::new(name, env!("CARGO_PKG_VERSION")))
            .with_instructions(self.about.description)
    }

    fn get_tool(&self, name: &str) -> Option<Definition> {
        self.find(name).map(|tool| tool.definition.clone())
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(self.definitions()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let Some(tool) = self.find(&request.name) else {
            let message = format!("unknown tool `{}`", request.name);
            return Err(ErrorData::invalid_params(message, None));
        };
        let token = context.meta.get_progress_token();
        let progress = Progress::new(token.map(|token| (context.peer, token)));
        let arguments = Value::Object(request.arguments.unwrap_or_default());
        Ok(CallToolResponse::Complete(tool.call(arguments, progress).await))
    }
}
