mod inquiry;
mod live;

use std::process::ExitCode;

use gatefold::Environment;
use gatefold::config::{Config, ConfigError};
use gatefold_operations::{AppOperations, Asker, GetRecord};
use serde_json::{Value, json};

use super::arguments::{SharedOptions, Status};
#[cfg(feature = "knowledge")]
use super::knowledge;
use super::output::{Output, Style};
use super::table::{Table, grouped, number_of};
use super::{session, stop, visible};
use inquiry::{ReportedStatus, StatusInquiry, StatusUnavailable};

pub(super) use inquiry::sign_of_life;

/// Prints what a gateway is doing, and what is on record.
pub(super) async fn run(
    status: &Status,
    shared: &SharedOptions,
    environment: &Environment,
    output: &Output,
) -> anyhow::Result<ExitCode> {
    let inquiry = StatusInquiry { shared, environment, listen: status.listen };
    if status.watch {
        return live::run(inquiry, status.interval, output).await;
    }
    stop::unless_stopped(async {
        let reported = inquiry.ask().await?;
        let on_record = match &reported.gateway {
            Some(gateway) => gateway.ask_as(&GetRecord).await?,
            None => on_record(shared, environment).await.inspect_err(|_| {
                // Such a gateway may be why what is on record cannot be read.
                reported.silent.iter().for_each(|silent| output.warning(silent));
            })?,
        };
        if output.is_json() {
            let others = &reported.others;
            let ReportedStatus { url, running, .. } = &reported;
            let running = running.as_ref().ok();
            output.json(&json!({
                "url": url, "running": running, "others": others, "state": on_record,
            }));
        } else {
            output.lines(&lines(&reported, &on_record, output.style()));
        }
        Ok(ExitCode::SUCCESS)
    })
    .await
}

/// What is on record, if no gateway runs that could report it.
async fn on_record(shared: &SharedOptions, environment: &Environment) -> anyhow::Result<Value> {
    let session = match session::open(shared, environment).await {
        Err(error) if matches!(error.downcast_ref(), Some(ConfigError::NotFound { .. })) => {
            session::open_with(Config::default(), shared, environment).await?
        }
        session => session?,
    };
    let operations = AppOperations::new(&session.app, Asker::Operator, &());
    let on_record = operations.recorded_state(&GetRecord).await;
    session.app.close().await;
    #[cfg_attr(not(feature = "knowledge"), expect(unused_mut, reason = "nothing is counted"))]
    let mut on_record = on_record?;
    #[cfg(feature = "knowledge")]
    {
        let directory = session.app.store().state_dir();
        let counted = knowledge::count_documents(&session.app.config(), directory).await;
        for (domain, count) in counted {
            let mut sources = on_record.sources.iter_mut();
            if let Some(source) = sources.find(|source| source.domain == domain) {
                source.documents = Some(count);
            }
        }
    }
    Ok(json!(on_record))
}

/// The lines printed for people.
fn lines(reported: &ReportedStatus, on_record: &Value, style: Style) -> Vec<String> {
    let ReportedStatus { url, running, others, silent, .. } = reported;
    let mut lines = Vec::new();
    let sources = match running {
        Ok(status) => {
            let place = match url {
                Some(url) => format!("on {}", style.accent(url)),
                None => "over stdio".to_owned(),
            };
            lines.extend(style.sentence(&format!("{} {place}", style.good("running")), 2));
            let field = |key: &str| status[key].to_string().trim_matches('"').to_owned();
            let (version, process) = (field("version"), field("process"));
            let since = since(&status["started_at"]);
            let text = format!("version {version}, process {process}, since {since}");
            lines.extend(style.sentence(&text, 2));
            &status["sources"]
        }
        Err(StatusUnavailable { why, help, .. }) => {
            lines.extend(style.sentence(&format!("{}: {why}", style.strong("not running")), 2));
            lines
                .extend(help.iter().flat_map(|help| style.sentence(&format!("  help: {help}"), 4)));
            &on_record["sources"]
        }
    };
    let also = others.iter().map(|other| {
        let (role, process) = (other.role, other.process);
        format!("also running: `gatefold {role}`, process {process}")
    });
    lines.extend(also.chain(silent.iter().cloned()).flat_map(|line| style.sentence(&line, 2)));
    lines.push(String::new());
    if sources.as_array().is_some_and(|sources| !sources.is_empty()) {
        lines.extend(sources_table(sources, style).lines(style));
        lines.push(String::new());
    }
    let documents = documents(sources, style);
    if !documents.is_empty() {
        lines.extend(documents);
        lines.push(String::new());
    }
    let errors = errors(sources, style);
    if !errors.is_empty() {
        lines.extend(errors);
        lines.push(String::new());
    }
    let mut facts = match running {
        Ok(status) => {
            let calls = format!("calls since its start: {}", counts(&status["calls"]));
            [vec![calls], token_lines(&status["tokens"])].concat()
        }
        Err(_) => vec![costs_line(&on_record["tokens"])],
    };
    facts.extend(lines_on_record(on_record));
    lines.extend(facts.iter().flat_map(|fact| style.sentence(fact, 2)));
    lines
}

fn since(millis: &Value) -> String {
    let millis = millis.as_u64().unwrap_or_default();
    gatefold_core::Timestamp::from_millis(millis).to_string()
}

fn sources_table(sources: &Value, style: Style) -> Table {
    let heads = ["domain", "state", "protocol", "tools", "in flight", "waiting"];
    let mut table = Table::new(&heads).numbers(&[3, 4, 5]).spare(&[5, 4, 2, 3]);
    for source in sources.as_array().into_iter().flatten() {
        let text = |key: &str| source[key].as_str().unwrap_or_default();
        let number = |key: &str| source[key].as_u64().unwrap_or_default().to_string();
        table.row([
            style.strong(text("domain")),
            state(source, style),
            text("protocol").to_owned(),
            number("tools"),
            number("calls_in_flight"),
            number("calls_waiting"),
        ]);
    }
    table
}

/// How many documents knowledge bases have.
fn documents(sources: &Value, style: Style) -> Vec<String> {
    let sources = sources.as_array().into_iter().flatten();
    let text = |source: &Value| {
        let number = |key: &str| usize::try_from(source["documents"][key].as_u64()?).ok();
        let total = number_of(number("total")?, "document");
        let without = match number("without_text")? {
            0 => String::new(),
            count => format!(", {} of them without text", grouped(count)),
        };
        let domain = source["domain"].as_str().unwrap_or_default();
        Some(format!("{domain}: {total}{without}"))
    };
    sources.filter_map(text).flat_map(|text| style.sentence(&text, 2)).collect()
}

/// Why sources fail, in full, because that is what people look for.
fn errors(sources: &Value, style: Style) -> Vec<String> {
    let sources = sources.as_array().into_iter().flatten();
    let errors = sources.filter_map(|source| Some((source, source["error"].as_str()?)));
    let text = |(source, error): (&Value, &str)| {
        let domain = source["domain"].as_str().unwrap_or_default();
        format!("{} {domain}: {}", style.bad("failing"), visible::on_one_line(error))
    };
    errors.flat_map(|error| style.sentence(&text(error), 2)).collect()
}

/// A source's state in its colour.
pub(super) fn state(source: &Value, style: Style) -> String {
    match source["state"].as_str().unwrap_or_default() {
        "failing" => style.bad("failing"),
        "running" => style.good("running"),
        other => match source["downloading_s"].as_u64() {
            Some(so_far) => format!("downloading, {so_far} s"),
            None => other.to_owned(),
        },
    }
}

/// What tools cost a model with and without Gatefold, and the difference.
pub(super) fn token_lines(tokens: &Value) -> Vec<String> {
    let over = match (&tokens["saved"], tokens["lists"].as_u64()) {
        (Value::Null, _) => String::new(),
        (_, Some(1)) => " over 1 list of tools".to_owned(),
        _ => format!(" over {} lists of tools", counted(&tokens["lists"])),
    };
    vec![costs_line(tokens), format!("{}{over}", saved(tokens))]
}

fn costs_line(tokens: &Value) -> String {
    let (shown, all) = (counted(&tokens["surface"]), counted(&tokens["definitions"]));
    format!("a model is given {shown} tokens; all definitions: {all}")
}

fn counted(number: &Value) -> String {
    let number = number.as_u64().and_then(|number| usize::try_from(number).ok());
    number.map_or("not counted yet".to_owned(), grouped)
}

/// The tokens saved or lost, in words.
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

fn lines_on_record(on_record: &Value) -> [String; 3] {
    let number = |value: &Value| grouped(usize::try_from(value.as_u64().unwrap_or(0)).unwrap_or(0));
    let outcomes = on_record["calls"]["outcomes"].as_array().into_iter().flatten();
    let shown: Vec<_> = outcomes
        .map(|total| {
            format!("{} {}", number(&total["calls"]), total["outcome"].as_str().unwrap_or_default())
        })
        .collect();
    let shown = if shown.is_empty() { "none".to_owned() } else { shown.join(", ") };
    [
        format!("calls on record: {shown}"),
        format!("discoveries on record: {}", number(&on_record["calls"]["discoveries"])),
        format!("state directory: {}", on_record["directory"].as_str().unwrap_or_default()),
    ]
}

#[cfg(test)]
mod tests {
    use unicode_width::UnicodeWidthStr as _;

    use super::*;
    use crate::cli::table::tests::across_widths;

    fn source(domain: &str, state: &str, error: Option<&str>) -> Value {
        json!({
            "domain": domain, "state": state, "error": error, "protocol": "2026-07-28",
            "tools": 1204, "calls_in_flight": 3, "calls_waiting": 0,
        })
    }

    fn on_record() -> Value {
        json!({
            "directory": "/home/ann/.local/state/gatefold",
            "sources": [
                source("issues", "known", None),
                source(
                    "工具箱_mit_einem_ziemlich_langen_namen",
                    "failing",
                    Some(
                        "the server exited with code 3; it last wrote: 错误：找不到配置文件 \
                     /etc/a-rather-long-folder/another-one/config.json, giving up\u{1b}[31m"
                    )
                ),
                source("units", "disabled", None),
            ],
            "calls": { "discoveries": 12, "outcomes": [
                { "outcome": "done", "calls": 12_345 }, { "outcome": "failed", "calls": 7 } ] },
            "tokens": { "definitions": null, "surface": 412 },
        })
    }

    #[test]
    fn a_download_is_shown_with_how_long_it_takes_so_far() {
        let source = json!({ "state": "starting", "downloading_s": 23 });
        assert_eq!(state(&source, Style::plain()), "downloading, 23 s");
    }

    #[test]
    fn what_is_saved_is_said_with_the_lists_it_is_counted_over() {
        for (saved, lists, expected) in [
            (json!(null), 0, "tokens saved: not counted yet"),
            (json!(5), 1, "tokens saved: 5 over 1 list of tools"),
            (json!(-5), 2, "tokens saved: -5 over 2 lists of tools"),
        ] {
            let lines = token_lines(&json!({ "saved": saved, "lists": lists }));
            assert_eq!(lines.last().map(String::as_str), Some(expected));
        }
    }

    #[test]
    fn documents_of_knowledge_bases_are_counted() {
        let base = |name: &str, total: usize, without: usize| json!({ "domain": name, "documents": { "total": total, "without_text": without } });
        let sources = json!([base("a", 1, 0), { "domain": "b" }, base("c", 1200, 3)]);
        let lines = documents(&sources, Style::plain());
        assert_eq!(lines, ["a: 1 document", "c: 1,200 documents, 3 of them without text"]);
    }

    #[test]
    fn a_status_fits_every_width() {
        let reported = |running| ReportedStatus {
            url: Some("http://127.0.0.1:8420/mcp".to_owned()),
            running,
            gateway: None,
            others: Vec::new(),
            silent: Vec::new(),
        };
        let why = "something listens on 127.0.0.1:8420 but does not answer".to_owned();
        let help = Some("see `gatefold doctor`");
        let nobody = reported(Err(StatusUnavailable::new(why, help)));
        insta::assert_snapshot!(across_widths(|style| lines(&nobody, &on_record(), style)));
        let running = reported(Ok(json!({
            "version": "1.2.3", "process": 4242, "started_at": 1_700_000_000_000_u64,
            "sources": on_record()["sources"], "calls": { "done": 5, "failed": 1 },
            "tokens": { "definitions": 12_345, "surface": 412, "saved": 11_933, "lists": 1 },
        })));
        let shown = across_widths(|style| lines(&running, &on_record(), style));
        insta::assert_snapshot!(shown);
        for width in 24..100 {
            let style = Style::plain().within(width);
            for line in lines(&running, &on_record(), style) {
                let is_whole_word = !line.trim().contains(' ');
                assert!(is_whole_word || line.width() <= width, "{width}: {line}");
            }
        }
    }
}
