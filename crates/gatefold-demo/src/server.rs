//! One demonstration server, as rmcp serves it.

use std::{path::Path, sync::Arc};

use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock,
        GetPromptRequestParams, GetPromptResponse, Implementation, ListPromptsResult,
        ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
        PromptsCapability, ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult,
        Resource, ResourceContents, ResourceTemplate, ResourcesCapability, ServerCapabilities,
        ServerConfig, Tool as Definition,
    },
    service::{RequestContext, ServerInitializeError},
};
use serde_json::{Map, Value};
use tokio::io::{AsyncRead, AsyncWrite};

use crate::{
    DemoError, DemoServer, calendar,
    caller::{Answer, Caller},
    contacts, files, issues, prompts, shop, text,
    tool::Tool,
    units,
};

/// A demonstration server with its data open, ready to serve or to be called in process.
///
/// Clones share the data.
#[derive(Clone)]
pub struct Server {
    about: &'static DemoServer,
    tools: Arc<[Tool]>,
    /// The folder whose files are resources, if there is one.
    folder: Option<files::Root>,
}

impl Server {
    /// Opens the server called `name`; its data is kept below `scratch`.
    ///
    /// Fails on a name that is neither in [`servers`](crate::servers) nor in [`apis`](crate::apis),
    /// or when the folder or a database in it cannot be opened.
    pub async fn open(name: &str, scratch: &Path) -> Result<Self, DemoError> {
        let about = crate::servers()
            .iter()
            .chain(crate::apis())
            .find(|server| server.name == name)
            .ok_or_else(|| DemoError::UnknownServer(name.to_owned()))?;
        std::fs::create_dir_all(scratch)
            .map_err(|source| DemoError::Scratch { path: scratch.to_owned(), source })?;
        let folder = if about.name == "files" { Some(files::open(scratch)?) } else { None };
        let tools = match about.name {
            "issues" => issues::open(scratch).await?,
            "contacts" => contacts::open(scratch).await?,
            "calendar" => calendar::open(scratch).await?,
            "shop" => shop::open(scratch).await?,
            "units" => units::open(scratch).await?,
            "text" => text::tools(),
            _ => folder.as_ref().map(files::tools).unwrap_or_default(),
        };
        Ok(Self { about, tools: tools.into(), folder })
    }

    /// The tools' definitions, as in `tools/list`.
    pub fn tools(&self) -> Value {
        serde_json::to_value(self.definitions()).expect("definitions are plain data")
    }

    /// Calls a tool in process and returns its result as `tools/call` would.
    ///
    /// `None` if the server has no tool called `tool`. The tool cannot ask questions.
    pub async fn call(&self, tool: &str, arguments: Value) -> Option<Value> {
        let Value::Object(arguments) = arguments else { return None };
        let response = respond(self.find(tool)?, arguments, Caller::in_process()).await;
        let CallToolResponse::Complete(result) = response else { return None };
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
            // A client that only asked for the server's identity and left has done nothing wrong.
            Err(ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
            Err(error) => return Err(DemoError::Protocol(error.into())),
        };
        running.waiting().await.map_err(|error| DemoError::Protocol(error.into()))?;
        Ok(())
    }

    /// What the server is about, and its tools.
    pub(crate) fn into_parts(self) -> (&'static DemoServer, Arc<[Tool]>) {
        (self.about, self.tools)
    }

    fn definitions(&self) -> Vec<Definition> {
        self.tools.iter().map(|tool| tool.definition.clone()).collect()
    }

    fn find(&self, name: &str) -> Option<&Tool> {
        self.tools.iter().find(|tool| tool.definition.name == name)
    }
}

/// Calls the tool. A failure is a result too: its text tells the caller how to fix the call.
async fn respond(tool: &Tool, arguments: Map<String, Value>, caller: Caller) -> CallToolResponse {
    match tool.call(arguments, caller).await {
        Ok(answer) => Answer::into_response(answer),
        Err(error) => CallToolResult::error(vec![ContentBlock::text(error.to_string())]).into(),
    }
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let name = format!("gatefold-demo-{}", self.about.name);
        let mut capabilities = ServerCapabilities::builder().enable_tools().build();
        if self.folder.is_some() {
            capabilities.resources = Some(ResourcesCapability::default());
        }
        if !prompts::list(self.about.name).is_empty() {
            capabilities.prompts = Some(PromptsCapability::default());
        }
        ServerConfig::new(capabilities)
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
        let caller = Caller::of(context, request.input_responses.unwrap_or_default());
        Ok(respond(tool, request.arguments.unwrap_or_default(), caller).await)
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        Ok(ListPromptsResult::with_all_items(prompts::list(self.about.name)))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let arguments = request.arguments.unwrap_or_default();
        Ok(prompts::get(self.about.name, &request.name, &arguments)?.into())
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let found = self.folder.as_ref().map_or_else(|| Ok(Vec::new()), files::resources);
        let found = found.map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
        let resource = |(address, name): (String, String)| Resource::new(address, name);
        Ok(ListResourcesResult::with_all_items(found.into_iter().map(resource).collect()))
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let template = || {
            ResourceTemplate::new(files::template(), "file")
                .with_description("A text file in the scratch folder")
        };
        let templates = self.folder.iter().map(|_| template()).collect();
        Ok(ListResourceTemplatesResult::with_all_items(templates))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let unknown = |message: String| ErrorData::resource_not_found(message, None);
        let Some(folder) = &self.folder else {
            return Err(unknown("this server has no resources".to_owned()));
        };
        let text = files::resource(folder, &request.uri);
        let text = text.map_err(|error| unknown(error.to_string()))?;
        Ok(ReadResourceResult::new(vec![ResourceContents::text(text, request.uri)]).into())
    }
}
