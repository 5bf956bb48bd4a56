//! Built-in tools as a source of a configuration.

use gatefold::App;
use gatefold_core::{Operation, Outcome, ToolName};
use gatefold_dispatch::Caller;
use serde_json::value::to_raw_value;
use serde_json::{Value, json};

use crate::scratch::{Scratch, toml};
use crate::worker::worker;

async fn built(scratch: &Scratch, text: &str) -> App {
    let state = scratch.path().join("state");
    let app = App::builder(toml(text).unwrap(), state).worker(worker()).build().await.unwrap();
    assert_eq!(app.learn(&()).await, []);
    app
}

async fn called(app: &App, tool: &str, arguments: &Value) -> Value {
    let arguments = to_raw_value(arguments).unwrap();
    let operation = Operation::Tool { name: ToolName::parse(tool).unwrap(), arguments };
    let outcome = app.pin().call(operation, None, Caller::silent()).await.unwrap();
    let Outcome::Done(payload) = outcome else { panic!("{outcome:?}") };
    serde_json::from_str(payload.json.get()).unwrap()
}

fn names(app: &App) -> Vec<String> {
    let pinned = app.pin();
    let mut names: Vec<_> = pinned.view().tools().map(|tool| tool.id().to_string()).collect();
    names.sort_unstable();
    names
}

#[tokio::test]
async fn all_is_what_reaches_nothing_and_has_what_it_needs() {
    let scratch = Scratch::new();
    let app = built(&scratch, "sources.own.builtin = 'all'\n").await;
    let needless = [
        "own__ask_user",
        "own__calculate",
        "own__datetime",
        "own__json_query",
        "own__recall",
        "own__remember",
        "own__text",
        "own__todo",
    ];
    assert_eq!(names(&app), needless);
    app.close().await;

    let text = "[sources.own]\nbuiltin = 'all'\nfolder = '.'\nsearch_api = 'searxng'\n\
                search_url = 'https://searx.example/search'\n";
    let app = built(&Scratch::new(), text).await;
    let more = ["find_files", "list_files", "read_file", "search_files", "web_search"];
    let more = more.map(|name| format!("own__{name}"));
    let mut expected: Vec<_> = needless.map(str::to_owned).into_iter().chain(more).collect();
    expected.sort_unstable();
    assert_eq!(names(&app), expected);
    app.close().await;
}

#[tokio::test]
async fn a_tool_is_called_and_notes_outlive_the_gateway() {
    let scratch = Scratch::new();
    let text = "sources.own.builtin = ['calculate', 'memory']\n";
    let app = built(&scratch, text).await;
    assert_eq!(
        called(&app, "own__calculate", &json!({ "expression": "0.1 + 0.2" })).await,
        json!({
            "content": [{ "type": "text", "text": "0.3" }],
            "structuredContent": { "result": "0.3", "exact": true },
        })
    );
    called(&app, "own__remember", &json!({ "action": "add", "text": "kept" })).await;
    app.close().await;
    let app = built(&scratch, text).await;
    let listed = called(&app, "own__recall", &json!({ "action": "list" })).await;
    assert_eq!(listed["content"][0]["text"], "1. kept");
    app.close().await;
}

#[test]
fn faults_name_the_tool_and_what_it_needs() {
    let text = "[sources.a]\nbuiltin = ['calculat']\n\
                [sources.b]\nbuiltin = ['files']\n\
                [sources.c]\nbuiltin = 'everything'\n\
                [sources.d]\nbuiltin = []\n\
                [sources.e]\nbuiltin = ['web_search']\nsearch_api = 'altavista'\n";
    insta::assert_snapshot!(toml(text).unwrap_err(), @r#"
    gatefold.toml:2:12: `sources.a.builtin[0]` is not a built-in tool: "calculat"
      help: write one of "calculate", "datetime", "json_query", "text", "memory", "todo", "ask_user", "files", "fetch", "http_request", "web_search"
    gatefold.toml:4:11: `sources.b.builtin` has `files`, which needs `folder`
      help: write `folder = "PATH"` beside it: only files in it can be reached
    gatefold.toml:6:11: `sources.c.builtin` is not "all" or a list of tools: "everything"
      help: write "all", or list tools: ["calculate", "datetime"]
    gatefold.toml:8:11: `sources.d.builtin` is empty
      help: list tools, or write "all"
    gatefold.toml:10:11: `sources.e.builtin` has `web_search`, which needs `search_url`
      help: write `search_url` and `search_api` beside it, and `search_key` if it takes one
    gatefold.toml:11:14: `sources.e.search_api` is not a search API: "altavista"
      help: write one of "brave", "searxng", "tavily"
    "#);
}
