use std::net::SocketAddr;
use std::process::ExitCode;

use gatefold::Environment;
use gatefold::config::load;
use serde::Serialize;
use serde_json::{Value, json};

use super::arguments::{Shared, Status};
use super::output::{Output, Style};
use super::table::{Table, grouped};
use super::{live, loopback, session, stop};

/// What is on record in the state directory.
#[derive(Serialize)]
struct OnRecord {
    directory: String,
    sources: Value,
    calls: Value,
}

/// Says what is on record, and what a gateway that runs on the configured address is doing.
pub(super) async fn run(
    status: &Status,
    shared: &Shared,
    environment: &Environment,
    output: &Output,
) -> anyhow::Result<ExitCode> {
    if status.watch {
        let listen = match status.listen {
            Some(listen) => listen,
            None => load(&shared.inputs().located(environment)?, environment)?.server.listen,
        };
        return live::run(loopback::reachable(listen), status.interval, output).await;
    }
    stop::unless_stopped(async {
        let session = session::open(shared, environment).await?;
        let app = session.app;
        let listen = status.listen.unwrap_or(app.config().server.listen);
        let address = loopback::reachable(listen);
        let running = ask(address).await;
        let on_record = OnRecord {
            directory: session.state_dir.display().to_string(),
            sources: json!(app.reports()),
            calls: json!(app.store().totals().await?),
        };
        app.close().await;
        if output.is_json() {
            let url = format!("http://{address}/mcp");
            output.json(&json!({ "url": url, "running": running.ok(), "state": on_record }));
        } else {
            print(address, &running, &on_record, output);
        }
        Ok(ExitCode::SUCCESS)
    })
    .await
}

/// The running gateway's own words, or why there are none.
pub(super) async fn ask(address: SocketAddr) -> Result<Value, String> {
    let answer = loopback::get(address, "/status").await.map_err(|error| match error.kind() {
        std::io::ErrorKind::ConnectionRefused => format!("no gateway runs on {address}"),
        _ => format!("what listens on {address} gave no answer: {error}"),
    })?;
    let status = serde_json::from_str::<Value>(&answer.body).ok();
    status.filter(|status| answer.status == 200 && status["sources"].is_array()).ok_or_else(|| {
        format!(
            "what listens on {address} tells no status: it is another program, or a gateway that \
             is reachable from other machines"
        )
    })
}

fn print(
    address: SocketAddr,
    running: &Result<Value, String>,
    on_record: &OnRecord,
    output: &Output,
) {
    let style = output.style();
    let sources = match running {
        Ok(status) => {
            let url = style.accent(&format!("http://{address}/mcp"));
            output.line(&format!("{} on {url}", style.good("running")));
            let field = |key: &str| status[key].to_string().trim_matches('"').to_owned();
            output.line(&format!(
                "version {}, process {}, since {}",
                field("version"),
                field("process"),
                since(&status["started_at"]),
            ));
            &status["sources"]
        }
        Err(why) => {
            output.line(&format!("{}: {why}", style.strong("not running")));
            &on_record.sources
        }
    };
    output.line("");
    print_sources(sources, style, output);
    output.line("");
    if let Ok(status) = running {
        output.line(&format!("calls since its start: {}", counts(&status["calls"])));
        for line in token_lines(&status["tokens"]) {
            output.line(&line);
        }
    }
    print_calls(on_record, output);
}

fn since(millis: &Value) -> String {
    let millis = millis.as_u64().unwrap_or_default();
    gatefold_core::Timestamp::from_millis(millis).to_string()
}

fn print_sources(sources: &Value, style: Style, output: &Output) {
    let heads = ["domain", "state", "protocol", "tools", "in flight", "waiting", "error"];
    let mut table = Table::new(&heads).numbers(&[3, 4, 5]);
    for source in sources.as_array().into_iter().flatten() {
        let text = |key: &str| source[key].as_str().unwrap_or_default();
        let number = |key: &str| source[key].as_u64().unwrap_or_default().to_string();
        let state = state(source, style);
        table.row([
            style.strong(text("domain")),
            state,
            text("protocol").to_owned(),
            number("tools"),
            number("calls_in_flight"),
            number("calls_waiting"),
            text("error").to_owned(),
        ]);
    }
    for line in table.lines(style) {
        output.line(&line);
    }
}

/// A source's state in its colour.
pub(super) fn state(source: &Value, style: Style) -> String {
    match source["state"].as_str().unwrap_or_default() {
        "failing" => style.bad("failing"),
        "running" => style.good("running"),
        other => other.to_owned(),
    }
}

/// What tools cost a model with and without Gatefold.
pub(super) fn token_lines(tokens: &Value) -> Vec<String> {
    let number = |key: &str| {
        let number = tokens[key].as_u64().and_then(|number| usize::try_from(number).ok());
        number.map_or("not counted yet".to_owned(), grouped)
    };
    let shown = format!("a model is given {} tokens", number("surface"));
    let all = format!("all definitions: {}", number("definitions"));
    vec![
        format!("{shown}; {all}"),
        format!("{} over {} lists of tools", saved(tokens), number("lists")),
    ]
}

/// The tokens saved, or lost, in words.
pub(super) fn saved(tokens: &Value) -> String {
    let Some(saved) = tokens["saved"].as_i64() else {
        return "tokens saved: not counted yet".to_owned();
    };
    let size = grouped(usize::try_from(saved.unsigned_abs()).unwrap_or(usize::MAX));
    let sign = if saved < 0 { "-" } else { "" };
    format!("tokens saved: {sign}{size}")
}

pub(super) fn counts(calls: &Value) -> String {
    let counts = calls.as_object().into_iter().flatten();
    let shown: Vec<_> = counts.map(|(outcome, count)| format!("{count} {outcome}")).collect();
    if shown.is_empty() { "none".to_owned() } else { shown.join(", ") }
}

fn print_calls(on_record: &OnRecord, output: &Output) {
    let number = |value: &Value| grouped(usize::try_from(value.as_u64().unwrap_or(0)).unwrap_or(0));
    let outcomes = on_record.calls["outcomes"].as_array().into_iter().flatten();
    let shown: Vec<_> = outcomes
        .map(|total| {
            format!("{} {}", number(&total["calls"]), total["outcome"].as_str().unwrap_or_default())
        })
        .collect();
    let shown = if shown.is_empty() { "none".to_owned() } else { shown.join(", ") };
    output.line(&format!("calls on record: {shown}"));
    output.line(&format!("discoveries on record: {}", number(&on_record.calls["discoveries"])));
    output.line(&format!("state directory: {}", on_record.directory));
}
