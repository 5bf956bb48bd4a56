use std::collections::BTreeSet;
use std::sync::Arc;

use gatefold_catalog::{Manifest, ServerInfo};
use gatefold_core::{Clock, Timestamp};
use gatefold_dispatch::{Notes, StoredResults};
use gatefold_egress::{Egress, PrivateNetworks, Reach};
use gatefold_worker::WorkerPool;

use crate::ask_user::AskUser;
use crate::calculate::Calculate;
use crate::compute::ComputePlaces;
use crate::datetime::Datetime;
use crate::json_query::JsonQuery;
use crate::text::Text;
use crate::todo::Todo;
use crate::tool::BuiltinTool;
use crate::web::{Fetch, HttpRequestTool, WebSearch};
use crate::workers::Workers;
use crate::{BuiltinAnswer, BuiltinCall, BuiltinError, BuiltinName, FolderSettings};
use crate::{SearchSettings, files, memory};

/// Which tools there are, and their bounds.
#[derive(Debug, Clone, Default)]
pub struct BuiltinSettings {
    pub names: BTreeSet<BuiltinName>,
    /// The folder of [`BuiltinName::Files`], without which there are no tools for files.
    pub folder: Option<FolderSettings>,
    /// What [`BuiltinName::WebSearch`] asks, without which there is no such tool.
    pub search: Option<SearchSettings>,
    /// The networks that may be reached beside the Internet.
    pub private: PrivateNetworks,
}

/// What tools need from outside.
#[derive(Clone)]
pub struct BuiltinPorts {
    pub clock: Arc<dyn Clock>,
    pub notes: Arc<dyn Notes>,
    pub results: Arc<dyn StoredResults>,
    pub egress: Egress,
    /// Without a program, the tools that need one are left out.
    pub workers: WorkerPool,
}

/// The chosen tools.
pub struct Toolbox {
    /// By their own names, of which a configuration's may stand for several.
    tools: Vec<(&'static str, Box<dyn BuiltinTool>)>,
}

impl Toolbox {
    pub fn new(settings: &BuiltinSettings, ports: &BuiltinPorts) -> Self {
        let places = ComputePlaces::default();
        let workers = Workers::new(ports.workers.clone());
        let web = || ports.egress.client_for(Reach::public().allowing(settings.private.clone()));
        let mut tools: Vec<Box<dyn BuiltinTool>> = Vec::new();
        for name in &settings.names {
            if needs_worker(*name) && !ports.workers.is_available() {
                let tool = name.as_str();
                tracing::warn!(tool, "a built-in tool was left out: this program has no workers");
                continue;
            }
            match name {
                BuiltinName::Calculate => tools.push(Box::new(Calculate::new(workers.clone()))),
                BuiltinName::Datetime => tools.push(Box::new(Datetime::new(ports.clock.clone()))),
                BuiltinName::Files => {
                    let folder = settings.folder.iter();
                    tools.extend(folder.flat_map(|folder| files::tools(folder, &places, &workers)));
                }
                BuiltinName::Memory => tools.extend(memory::tools(&ports.notes, &places)),
                BuiltinName::Todo => tools.push(Box::new(Todo::new(ports.clock.clone()))),
                BuiltinName::AskUser => tools.push(Box::new(AskUser)),
                BuiltinName::Fetch => tools.push(Box::new(Fetch::new(web(), workers.clone()))),
                BuiltinName::HttpRequest => tools.push(Box::new(HttpRequestTool::new(web()))),
                BuiltinName::WebSearch => {
                    let search = settings.search.iter().map(|search| {
                        let reach =
                            Reach::for_source([search.url.as_str()], settings.private.clone());
                        let client = ports.egress.client_for(reach);
                        Box::new(WebSearch::new(search.clone(), client)) as Box<dyn BuiltinTool>
                    });
                    tools.extend(search);
                }
                BuiltinName::JsonQuery => {
                    let (results, clock) = (ports.results.clone(), ports.clock.clone());
                    tools.push(Box::new(JsonQuery::new(workers.clone(), results, clock)));
                }
                BuiltinName::Text => tools.push(Box::new(Text::new(workers.clone()))),
            }
        }
        Self { tools: tools.into_iter().map(|tool| (tool.face().name, tool)).collect() }
    }

    /// What the tools say about themselves.
    pub fn manifest(&self, now: Timestamp) -> Manifest {
        let faces = self.tools.iter().map(|(_, tool)| tool.face());
        let builder = Manifest::builder(now).server(server());
        faces.fold(builder, |builder, face| builder.tool(face.spec())).build()
    }

    /// Answers one call of the tool with this name.
    pub async fn answer(
        &self,
        name: &str,
        call: &BuiltinCall,
    ) -> Result<BuiltinAnswer, BuiltinError> {
        let tool = self.tools.iter().find(|(own, _)| *own == name);
        let (_, tool) = tool.ok_or(BuiltinError::UnknownTool)?;
        tool.call(call).await
    }
}

/// Whether what callers or strangers write decides how long a tool takes.
fn needs_worker(name: BuiltinName) -> bool {
    use BuiltinName::{Calculate, Fetch, Files, JsonQuery, Text};
    matches!(name, Calculate | Fetch | Files | JsonQuery | Text)
}

fn server() -> ServerInfo {
    ServerInfo {
        name: "gatefold-builtin".to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        title: None,
        description: Some("Gatefold's own tools".to_owned()),
        instructions: None,
        protocol: String::new(),
        capabilities: None,
        whole: None,
    }
}
