use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use gatefold_catalog::{GroupRules, KindName, Manifest, ServerInfo, Snapshot, SourceEntry, View};
use gatefold_core::{Domain, Operation, Timestamp, ToolName};
use gatefold_disclose::{Disclosure, Gateway, Reply, Step};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::kinds::kind_named;

/// What the servers said, each tool as compact JSON.
pub(crate) struct Catalogue {
    pub(crate) sources: Vec<Source>,
    pub(crate) view: View,
}

pub(crate) struct Source {
    pub(crate) domain: Domain,
    pub(crate) kind: KindName,
    pub(crate) server: ServerInfo,
    pub(crate) tools: Vec<Value>,
    pub(crate) manifest: Arc<Manifest>,
}

pub(crate) fn of(directory: &Path) -> &'static Catalogue {
    static CATALOGUE: OnceLock<Catalogue> = OnceLock::new();
    CATALOGUE.get_or_init(|| {
        let mut files: Vec<_> = std::fs::read_dir(directory)
            .unwrap_or_else(|error| panic!("{}: {error}", directory.display()))
            .map(|file| file.unwrap().path())
            .filter(|path| path.extension().is_some_and(|extension| extension == "json"))
            .filter(|path| !path.file_name().unwrap().to_string_lossy().starts_with('_'))
            .collect();
        files.sort();
        let sources: Vec<_> = files.iter().map(|path| source(path)).collect();
        let view = view(sources.iter().map(Source::entry).collect());
        Catalogue { sources, view }
    })
}

fn source(path: &Path) -> Source {
    let said: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let initialized = &said["initialize"];
    let server = ServerInfo {
        name: text(&initialized["serverInfo"]["name"]).unwrap_or_default(),
        version: text(&initialized["serverInfo"]["version"]).unwrap_or_default(),
        title: text(&initialized["serverInfo"]["title"]),
        description: text(&initialized["serverInfo"]["description"]),
        instructions: text(&initialized["instructions"]),
        protocol: text(&initialized["protocolVersion"]).unwrap_or_default(),
        capabilities: None,
        whole: None,
    };
    let tools = said["tools"].as_array().unwrap().clone();
    let manifest = manifest(&server, &[&tools]);
    let domain = Domain::from_key(&path.file_stem().unwrap().to_string_lossy());
    let kind = kind_named("mcp");
    Source { domain, kind, server, tools, manifest: Arc::new(manifest) }
}

pub(crate) fn manifest(server: &ServerInfo, pages: &[&[Value]]) -> Manifest {
    let page = |tools: &&[Value]| {
        let tools: Vec<_> = tools.iter().map(ToString::to_string).collect();
        RawValue::from_string(format!("{{\"tools\":[{}]}}", tools.join(","))).unwrap()
    };
    let pages: Vec<_> = pages.iter().map(page).collect();
    Manifest::from_pages(server.clone(), &pages, Timestamp::from_millis(0))
}

impl Source {
    pub(crate) fn entry(&self) -> SourceEntry {
        SourceEntry {
            domain: self.domain.clone(),
            kind: self.kind,
            description: None,
            aliases: Vec::new(),
            groups: GroupRules::default(),
            manifest: Some(Arc::clone(&self.manifest)),
        }
    }
}

pub(crate) fn view(entries: Vec<SourceEntry>) -> View {
    View::whole(Arc::new(Snapshot::build(entries, 1)))
}

pub(crate) fn ask(view: &View, tool: &str, arguments: &Value) -> String {
    ask_of(&Gateway::default(), view, tool, arguments)
}

pub(crate) fn ask_of(
    disclosure: &dyn Disclosure,
    view: &View,
    tool: &str,
    arguments: &Value,
) -> String {
    let arguments = RawValue::from_string(arguments.to_string()).unwrap();
    match disclosure.interpret(view, &ToolName::parse(tool).unwrap(), &arguments) {
        Ok(Step::Reply(reply) | Step::Found(reply, _) | Step::Loaded(reply, _)) => text(&reply),
        Ok(Step::Call(request)) => match &*request.operation {
            Operation::Tool { name, arguments } => format!("{name} {arguments}"),
            operation => panic!("{operation:?}"),
        },
        Err(error) => panic!("{error}"),
    }
}

fn text(reply: &Reply) -> String {
    assert!(!reply.is_error, "{reply:?}");
    let block: BTreeMap<String, Value> = serde_json::from_str(reply.content[0].get()).unwrap();
    block["text"].as_str().unwrap().to_owned()
}

/// All pages that an answer of `discover_tools` has.
pub(crate) fn pages(view: &View, arguments: &Value) -> Vec<String> {
    let mut arguments = arguments.clone();
    let mut pages = Vec::new();
    loop {
        let page = ask(view, "discover_tools", &arguments);
        let cursor = serde_json::from_str::<Value>(&page).unwrap()["next_cursor"].take();
        pages.push(page);
        if cursor.is_null() {
            return pages;
        }
        arguments["cursor"] = cursor;
    }
}
