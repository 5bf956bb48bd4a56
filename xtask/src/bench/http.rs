//! Calls of an HTTP API: a plain request, the same one through Gatefold by the API's OpenAPI description, the
//! same through a peer.
//!
//! The API runs in this process, on a thread of its own. A call has an argument in the path, one in the query
//! and a body, so that nothing of what a connector does is left out.

use std::path::Path;

use anyhow::{Context as _, Result};
use axum::extract::{Path as InPath, RawQuery};
use axum::routing::post;
use axum::serve::ListenerExt as _;
use axum::{Json, Router};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::calls::{self, CallOptions, Route, Way};
use super::load::{PlainCall, Scenario};
use super::process::Server;
use super::table::write_section;
use super::{say, start};

const EXPECTED: &str = "payload 7391";
const BODY: &str = r#"{"text":"payload 7391","tags":["late","call back"]}"#;
const ARGUMENTS: &str =
    r#"{"invoice_id":"in-7391","notify":true,"text":"payload 7391","tags":["late","call back"]}"#;

#[derive(Deserialize)]
struct NewNote {
    text: String,
    tags: Vec<String>,
}

#[derive(Serialize)]
struct Note {
    id: u32,
    invoice_id: String,
    text: String,
    tags: Vec<String>,
    notified: bool,
    created_at: &'static str,
}

async fn add_note(
    InPath(invoice_id): InPath<String>,
    RawQuery(query): RawQuery,
    Json(note): Json<NewNote>,
) -> Json<Note> {
    let NewNote { text, tags } = note;
    let notified = query.as_deref() == Some("notify=true");
    let created_at = "2026-01-05T09:30:00Z";
    Json(Note { id: 17, invoice_id, text, tags, notified, created_at })
}

pub(crate) fn run(root: &Path, options: &[&str]) -> Result<()> {
    let options = calls::parse(options)?;
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    runtime.worker_threads(2).enable_all().build()?.block_on(measure(root, &options))
}

async fn measure(root: &Path, options: &CallOptions) -> Result<()> {
    let url = serve()?;
    let scratch = tempfile::tempdir()?;
    let description = scratch.path().join("api.json");
    std::fs::write(&description, description_of(&url).to_string())?;
    let config = format!("[sources.bench]\nopenapi = \"api.json\"\nbase_url = \"{url}\"\n");
    std::fs::write(scratch.path().join("gatefold.toml"), config)?;
    let scenario = calling(
        calls::free_port()?,
        format!(
            r#"{{"name":"execute_tool","arguments":{{"tool_name":"bench__add_note","arguments":{ARGUMENTS}}}}}"#
        ),
    );
    let mut command = start::gatefold(root, scratch.path(), &scenario, "serve")?;
    let gatefold = Server::start(&mut command, &scenario).await?;
    let mut ways = vec![
        Way { name: "reqwest", route: Route::Http(plain(&url)?), server: None },
        Way { name: "gatefold", route: Route::Mcp(scenario), server: Some(&gatefold) },
    ];
    let peer = match &options.peer {
        Some(command) => {
            let params = format!(r#"{{"name":"add_note","arguments":{ARGUMENTS}}}"#);
            let scenario = calling(calls::free_port()?, params);
            let description = description.to_str().context("an odd path")?;
            let part = ("{description}", description);
            let server = calls::serve_peer(command, part, &scenario).await?;
            Some((scenario, server))
        }
        None => None,
    };
    if let Some((scenario, server)) = &peer {
        let (route, server) = (Route::Mcp(scenario.clone()), Some(server));
        ways.push(Way { name: "fastmcp", route, server });
    }
    let section = calls::compared(&ways, options).await?;
    say(&section);
    if options.write {
        write_section(&root.join("docs/benchmarks.md"), "http", &section)?;
    }
    Ok(())
}

fn calling(port: u16, params: String) -> Scenario {
    Scenario { authority: format!("127.0.0.1:{port}"), params, expected: EXPECTED, token: None }
}

#[expect(clippy::disallowed_methods, reason = "it is what the guarded client is compared with")]
fn plain(url: &str) -> Result<PlainCall> {
    // It fails where there is one already.
    drop(rustls::crypto::ring::default_provider().install_default());
    Ok(PlainCall {
        client: reqwest::Client::builder().no_proxy().build()?,
        url: format!("{url}/invoices/in-7391/notes?notify=true"),
        body: BODY,
        expected: EXPECTED,
    })
}

/// Serves the API until the process ends, and gives its address.
fn serve() -> Result<String> {
    let listener = std::net::TcpListener::bind("127.0.0.1:0")?;
    listener.set_nonblocking(true)?;
    let url = format!("http://{}", listener.local_addr()?);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    std::thread::spawn(move || {
        runtime.block_on(async {
            let router = Router::new().route("/invoices/{invoice_id}/notes", post(add_note));
            let listener = tokio::net::TcpListener::from_std(listener)?;
            // A stream that cannot do it is slower, no more.
            let listener = listener.tap_io(|stream| drop(stream.set_nodelay(true)));
            axum::serve(listener, router).await
        })
    });
    Ok(url)
}

fn description_of(url: &str) -> Value {
    let text = || json!({ "type": "string" });
    let tags = || json!({ "type": "array", "items": text(), "maxItems": 20 });
    let parameters = json!([
        { "name": "invoice_id", "in": "path", "required": true, "schema": text() },
        { "name": "notify", "in": "query", "schema": { "type": "boolean", "default": false } },
    ]);
    let new_note = json!({
        "type": "object",
        "required": ["text"],
        "properties": { "text": { "type": "string", "maxLength": 2000 }, "tags": tags() },
    });
    let note = json!({
        "type": "object",
        "properties": {
            "id": { "type": "integer" },
            "invoice_id": text(),
            "text": text(),
            "tags": tags(),
            "notified": { "type": "boolean" },
            "created_at": { "type": "string", "format": "date-time" },
        },
    });
    let content = |schema| json!({ "application/json": { "schema": schema } });
    let add_note = json!({
        "operationId": "add_note",
        "summary": "Add a note to an invoice",
        "parameters": parameters,
        "requestBody": { "required": true, "content": content(new_note) },
        "responses": { "200": { "description": "The note", "content": content(note) } },
    });
    json!({
        "openapi": "3.1.0",
        "info": { "title": "Invoices", "version": "1" },
        "servers": [{ "url": url }],
        "paths": { "/invoices/{invoice_id}/notes": { "post": add_note } },
    })
}
