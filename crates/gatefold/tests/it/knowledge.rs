//! Knowledge bases, from the configuration to what a model reads. Documents are read in workers.

use std::fs;
use std::sync::Arc;
use std::time::Instant;

use gatefold::App;
use gatefold_core::{AgentId, Operation, Outcome, Principal, Right, Rights, ToolName, Uri};
use gatefold_dispatch::Caller;
use gatefold_exchange::Scope;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::scratch::{LIMIT, Scratch, toml};
use crate::worker::worker;

const BASES: &str = "[sources.handbook]\nknowledge = 'HOME/handbook'\ndescription = 'How we work'\n\
    [sources.legal]\nknowledge = ['HOME/legal']\nvisible_to = ['lawyers']\n\
    [sources.press]\nknowledge = 'HOME/press/release.md'\ntitle = 'Press'\n";

const AGENTS: &str = "[agents.clerk]\nkb_ids = ['handbook', 'press']\n\
    [agents.finder]\nkb_ids = ['handbook']\ngrounding = 'off'\n\
    [agents.writer]\ndescription = 'Writes'\n";

pub(crate) fn put(scratch: &Scratch, path: &str, bytes: &[u8]) {
    let path = scratch.path().join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, bytes).unwrap();
}

async fn app(scratch: &Scratch) -> App {
    put(
        scratch,
        "handbook/travel.md",
        b"# Travel\n\nA hotel may cost at most 140 euros a night.\n",
    );
    put(scratch, "handbook/broken.pdf", b"%PDF-1.7\nnothing follows");
    put(
        scratch,
        "legal/merger.md",
        b"# Merger\n\nThe merger of the two hotels is secret until May.\n",
    );
    put(scratch, "press/release.md", b"# Release\n\nWe open a new hotel in Graz.\n");
    put(scratch, "press/draft.md", b"# Draft\n\nWe close the hotel in Linz.\n");
    let text = format!("{BASES}{AGENTS}").replace("HOME", &scratch.path().display().to_string());
    let config = toml(&text).unwrap_or_else(|error| panic!("{text}\n{error}"));
    let state = scratch.path().join("state");
    let app = App::builder(config, state).worker(worker()).build().await.unwrap();
    assert_eq!(app.learn(&()).await, []);
    app
}

pub(crate) async fn make(
    app: &App,
    who: &Principal,
    operation: Operation,
) -> Result<Value, String> {
    let turn = app.dispatcher().pin(Arc::new(who.clone()));
    match turn.call(operation, None, Caller::silent()).await {
        Ok(Outcome::Done(payload)) => Ok(serde_json::from_str(payload.json.get()).unwrap()),
        Ok(other) => panic!("{other:?}"),
        Err(error) => Err(error.to_string()),
    }
}

pub(crate) async fn call(
    app: &App,
    who: &Principal,
    tool: &str,
    arguments: Value,
) -> Result<Value, String> {
    let arguments = RawValue::from_string(arguments.to_string()).unwrap();
    make(app, who, Operation::Tool { name: ToolName::parse(tool).unwrap(), arguments }).await
}

/// Waits until each base has read its documents, and they can be found: a document is kept before it is indexed.
async fn settle(app: &App) {
    let end = Instant::now() + LIMIT;
    for (domain, count) in [("handbook", 2), ("legal", 1), ("press", 1)] {
        loop {
            let tool = |name: &str| format!("{domain}__{name}");
            let listed = call(app, &lawyer(), &tool("list_documents"), json!({})).await.unwrap();
            let query = json!({ "query": "hotel" });
            let own = call(app, &lawyer(), &tool("kb_retrieve"), query).await.unwrap();
            let found = own["structuredContent"]["passages"].as_array().map_or(0, Vec::len);
            if listed["structuredContent"]["total"] == count && found == 1 {
                break;
            }
            assert!(Instant::now() < end, "{domain}: {listed} {own}");
            tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        }
    }
}

fn lawyer() -> Principal {
    let right = Right::new("group:lawyers");
    Principal { rights: Rights::from(vec![right]), ..Principal::local() }
}

fn through(agent: &str) -> Principal {
    Principal { agent: Some(AgentId::new(agent)), ..Principal::local() }
}

/// The tools of knowledge that somebody sees.
fn tools(app: &App, who: &Principal) -> Vec<String> {
    let turn = app.dispatcher().pin(Arc::new(who.clone()));
    let all = turn.view().tools().map(|tool| tool.id().to_string());
    let own = ["retrieve", "document", "citations"];
    all.filter(|name| own.iter().any(|word| name.contains(word))).collect()
}

/// The definition of a tool at the top level of the disclosure by kinds.
fn shown(app: &App, who: &Principal, tool: &str) -> Option<Value> {
    let audience = app.exchange().audience(Scope::Everything, Some("typed")).unwrap();
    let turn = app.exchange().turn(&audience, Arc::new(who.clone())).unwrap();
    let lists = turn.lists();
    let own = lists.surface().tools.iter().find(|own| own.name == tool)?;
    Some(serde_json::from_str(own.definition.get()).unwrap())
}

fn found(answer: &Value) -> Vec<&str> {
    let passages = answer["structuredContent"]["passages"].as_array().unwrap();
    passages.iter().map(|passage| passage["document"].as_str().unwrap()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn documents_are_read_in_workers_found_in_every_base_and_cited() {
    let scratch = Scratch::new();
    let app = app(&scratch).await;
    settle(&app).await;
    let query = json!({ "query": "hotel" });
    let all = call(&app, &lawyer(), "knowledge__kb_retrieve", query.clone()).await.unwrap();
    let mut documents = found(&all);
    documents.sort_unstable();
    assert_eq!(documents, ["merger.md", "release.md", "travel.md"]);
    let listed = call(&app, &lawyer(), "handbook__list_documents", json!({})).await.unwrap();
    assert!(listed.to_string().contains("damaged"), "{listed}");
    let one = call(&app, &lawyer(), "handbook__kb_retrieve", query).await.unwrap();
    let passage = &one["structuredContent"]["passages"][0];
    let citation = Uri::new(passage["citation"].as_str().unwrap());
    let read = make(&app, &Principal::local(), Operation::Resource(citation)).await.unwrap();
    assert_eq!(read["contents"][0]["text"], passage["text"]);
    app.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_may_not_see_a_base_is_told_nothing_of_it() {
    let scratch = Scratch::new();
    let app = app(&scratch).await;
    settle(&app).await;
    let (local, query) = (Principal::local(), json!({ "query": "merger of the two hotels" }));
    let all =
        call(&app, &local, "knowledge__kb_retrieve", query.clone()).await.unwrap().to_string();
    assert!(!all.contains("legal") && !all.contains("merger.md"), "{all}");
    let asking = |base: &str| json!({ "query": "merger", "knowledge_base": base });
    let hidden = call(&app, &local, "knowledge__kb_retrieve", asking("legal")).await.unwrap_err();
    let missing = call(&app, &local, "knowledge__kb_retrieve", asking("lekal")).await.unwrap_err();
    assert_eq!(hidden, missing.replace("lekal", "legal"));
    let definition = shown(&app, &local, "kb_retrieve").unwrap();
    let names = &definition["inputSchema"]["properties"]["knowledge_base"]["enum"];
    assert_eq!(*names, json!(["handbook", "press"]));
    assert!(definition["description"].as_str().unwrap().contains("- **handbook**: How we work"));
    app.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_has_the_bases_that_are_its_own_and_one_way_to_ask_them() {
    let scratch = Scratch::new();
    let app = app(&scratch).await;
    let of = |base: &str, asked: &str| {
        [asked, "check_citations", "list_documents", "read_document"]
            .map(|tool| format!("{base}__{tool}"))
    };
    let sorted = |mut names: Vec<String>| {
        names.sort();
        names
    };
    let both = [of("handbook", "grounded_retrieve"), of("press", "grounded_retrieve")].concat();
    let clerk = [both, vec!["knowledge__grounded_retrieve".to_owned()]].concat();
    assert_eq!(sorted(tools(&app, &through("clerk"))), sorted(clerk));
    let finder = of("handbook", "kb_retrieve").to_vec();
    assert_eq!(
        sorted(tools(&app, &through("finder"))),
        sorted(finder),
        "one base needs no tool for all"
    );
    assert_eq!(tools(&app, &through("writer")), [""; 0]);
    assert!(shown(&app, &through("clerk"), "kb_retrieve").is_none());
    assert!(shown(&app, &through("clerk"), "grounded_retrieve").is_some());
    app.close().await;
}

/// The chunks of all bases that no encoder has read.
#[cfg(feature = "encoder")]
fn chunks_to_encode(scratch: &Scratch) -> usize {
    use gatefold_knowledge::{BaseSettings, KnowledgeBase};
    let folders = fs::read_dir(scratch.path().join("state/knowledge")).unwrap();
    let open = |folder: fs::DirEntry| KnowledgeBase::open(&folder.path(), BaseSettings::default());
    let bases = folders.map(|folder| open(folder.unwrap()).unwrap());
    bases.map(|base| base.counts().unwrap().chunks_to_encode).sum()
}

#[cfg(feature = "encoder")]
#[tokio::test(flavor = "multi_thread")]
async fn the_encoder_of_the_configuration_reads_the_passages() {
    let scratch = Scratch::new();
    let app = app(&scratch).await;
    settle(&app).await;
    let end = Instant::now() + LIMIT;
    while chunks_to_encode(&scratch) > 0 {
        assert!(Instant::now() < end, "{} chunks are left", chunks_to_encode(&scratch));
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }
    // One without an encoder has none to read them.
    let mut config = app.config();
    config.search.encoder = None;
    app.apply(config).await.unwrap();
    put(&scratch, "handbook/new.md", b"# New\n\nTrains are booked by the office.\n");
    let query = json!({ "query": "who books trains" });
    let found = async || call(&app, &lawyer(), "handbook__kb_retrieve", query.clone()).await;
    while !found().await.unwrap().to_string().contains("office") {
        assert!(Instant::now() < end);
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }
    assert!(chunks_to_encode(&scratch) > 0);
    app.close().await;
}
