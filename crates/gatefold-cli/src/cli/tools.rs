use std::process::ExitCode;

use gatefold::Environment;
use gatefold_catalog::{Scope, Tool, View, search};
use gatefold_core::{Domain, ToolName};
use gatefold_dispatch::Pinned;
use serde::Serialize;
use serde_json::value::RawValue;

use super::arguments::{Shared, Tools};
use super::eval::ModeName;
use super::failure::with_help;
use super::output::{Output, Style};
use super::progress::Progress;
use super::table::Table;
use super::{call, check, session, stop, visible};

/// The way out where nothing is configured that could have tools.
const NO_SOURCE: &str = "no source is configured; `gatefold import` takes them over from clients";

/// A tool in a list, as `--json` prints it.
#[derive(Serialize)]
struct Line<'a> {
    name: &'a str,
    domain: &'a str,
    group: &'a str,
    description: &'a str,
}

/// A tool with its schemas, as `--json` prints it and as models are shown it.
#[derive(Serialize)]
struct Definition<'a> {
    name: &'a str,
    domain: &'a str,
    group: &'a str,
    description: &'a str,
    parameters: &'a RawValue,
    #[serde(skip_serializing_if = "Option::is_none")]
    output_schema: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    annotations: Option<&'a RawValue>,
}

pub(super) async fn run(
    tools: &Tools,
    shared: &Shared,
    environment: &Environment,
    output: &Output,
) -> anyhow::Result<ExitCode> {
    stop::unless_stopped(async {
        let is_known = |view: &View| is_known(tools, view);
        with_catalog(shared, environment, output, is_known, async |pinned, failed| match tools {
            Tools::List { domain, .. } => list(pinned.view(), domain.as_deref(), failed, output),
            Tools::Search { query, limit, mode, .. } => {
                find(pinned.view(), &query.join(" "), *mode, *limit, output);
                Ok(code_of(failed))
            }
            Tools::Schema { names, .. } => schemas(pinned.view(), names, output),
            Tools::Call(call) => call::run(call, pinned, output).await,
        })
        .await
    })
    .await
}

/// Does something with the catalogue, and with the domains of which nothing could be learned. Asks
/// the sources of which nothing is known first, unless enough is.
pub(super) async fn with_catalog(
    shared: &Shared,
    environment: &Environment,
    output: &Output,
    is_enough: impl FnOnce(&View) -> bool,
    act: impl AsyncFnOnce(&Pinned, &[Domain]) -> anyhow::Result<ExitCode>,
) -> anyhow::Result<ExitCode> {
    let app = session::open(shared, environment).await?.app;
    let mut failed = Vec::new();
    if !is_enough(app.pin().view()) {
        for (domain, reason) in app.learn(&Progress::new(output, "learning")).await {
            let reason = visible::on_one_line(&check::reason(&reason, &domain));
            output.warning(&format!("source `{domain}` is left out: {reason}"));
            failed.push(domain);
        }
    }
    let result = act(&app.pin(), &failed).await;
    app.close().await;
    result
}

/// How a command ends for which some domains could not be looked at.
pub(super) fn code_of(failed: &[Domain]) -> ExitCode {
    if failed.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Whether all that a command names is known, so that it need not wait for sources that are not.
fn is_known(tools: &Tools, view: &View) -> bool {
    match tools {
        Tools::List { .. } | Tools::Search { .. } => false,
        Tools::Schema { names, .. } => names.iter().all(|name| resolve(view, name).is_ok()),
        Tools::Call(call) => resolve(view, &call.name).is_ok(),
    }
}

fn line(tool: &Tool) -> Line<'_> {
    Line {
        name: tool.id().as_str(),
        domain: tool.domain().as_str(),
        group: tool.group(),
        description: tool.line(),
    }
}

/// Lists what is known. A source asked for that failed, so that its tools are missing, is a failure.
fn list(
    view: &View,
    domain: Option<&str>,
    failed: &[Domain],
    output: &Output,
) -> anyhow::Result<ExitCode> {
    if let Some(domain) = domain.filter(|domain| view.domain(domain).is_none()) {
        let known: Vec<_> = view.domains().map(|entry| entry.domain().as_str()).collect();
        let fault = format!("unknown domain `{domain}`");
        let help = match known.as_slice() {
            [] => NO_SOURCE.to_owned(),
            known => format!("the domains are {}", known.join(", ")),
        };
        return Err(with_help(fault, help));
    }
    let is_asked = |one: &Domain| domain.is_none_or(|domain| one.as_str() == domain);
    let tools = view.tools().filter(|tool| is_asked(tool.domain()));
    let lines: Vec<_> = tools.map(line).collect();
    if output.is_json() {
        output.json(&serde_json::json!({ "tools": lines }));
    } else {
        output.lines(&table(&lines, output.style()));
    }
    let is_whole = !failed.iter().any(is_asked);
    Ok(if is_whole { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn find(view: &View, query: &str, mode: ModeName, limit: usize, output: &Output) {
    let hits = search(view, query, &Scope::default(), mode.into(), limit);
    let lines: Vec<_> = hits.iter().map(|hit| line(hit.tool)).collect();
    if output.is_json() {
        output.json(&serde_json::json!({ "query": query, "tools": lines }));
    } else {
        output.lines(&table(&lines, output.style()));
    }
}

/// What is printed for people.
fn table(lines: &[Line<'_>], style: Style) -> Vec<String> {
    if lines.is_empty() {
        return vec!["no tools".to_owned()];
    }
    let mut table = Table::new(&["tool", "domain", "group", "what it does"]).spare(&[1, 2]);
    for line in lines {
        let texts = [line.domain, line.group, line.description].map(str::to_owned);
        table.row(std::iter::once(style.strong(line.name)).chain(texts));
    }
    table.lines(style)
}

/// Finds a tool by any of its names.
pub(super) fn resolve<'a>(view: &'a View, name: &str) -> anyhow::Result<&'a Tool> {
    let unknown = |nearest: Vec<String>| {
        let help = if !nearest.is_empty() {
            format!("did you mean {}?", nearest.join(" or "))
        } else if view.tool_count() > 0 {
            "`gatefold tools list` shows them all".to_owned()
        } else if view.domains().next().is_some() {
            "no source could be reached; `gatefold check` says why".to_owned()
        } else {
            NO_SOURCE.to_owned()
        };
        with_help(format!("unknown tool `{name}`"), help)
    };
    let asked = ToolName::parse(name).map_err(|_| unknown(Vec::new()))?;
    view.resolve(&asked)
        .map_err(|miss| unknown(miss.nearest.iter().map(|id| format!("`{id}`")).collect()))
}

fn schemas(view: &View, names: &[String], output: &Output) -> anyhow::Result<ExitCode> {
    let tools = names.iter().map(|name| resolve(view, name)).collect::<Result<Vec<_>, _>>()?;
    let schemas = tools.iter().map(|tool| definition(tool)).collect::<Result<Vec<_>, _>>()?;
    if output.is_json() {
        output.json(&serde_json::json!({ "tools": schemas }));
        return Ok(ExitCode::SUCCESS);
    }
    let style = output.style();
    for schema in schemas {
        let place = format!("{} / {}", schema.domain, schema.group);
        output.line(&format!("{}  {}", style.strong(schema.name), style.faint(&place)));
        if !schema.description.is_empty() {
            output.line(schema.description);
        }
        for (head, part) in [
            ("parameters", Some(schema.parameters)),
            ("output schema", schema.output_schema),
            ("annotations", schema.annotations),
        ] {
            let Some(part) = part else { continue };
            let value: serde_json::Value = serde_json::from_str(part.get())?;
            output.line(&format!("{}\n{value:#}", style.faint(head)));
        }
        output.line("");
    }
    Ok(ExitCode::SUCCESS)
}

fn definition(tool: &Tool) -> anyhow::Result<Definition<'_>> {
    let definition = tool.definition();
    Ok(Definition {
        name: tool.id().as_str(),
        domain: tool.domain().as_str(),
        group: tool.group(),
        description: definition.description().unwrap_or_default(),
        parameters: serde_json::from_str(definition.input_schema())?,
        output_schema: definition.output_schema().map(serde_json::from_str).transpose()?,
        annotations: definition.annotations().map(serde_json::from_str).transpose()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::table::tests::across_widths;

    #[test]
    fn a_list_of_tools_fits_every_width() {
        let line = |name, domain, description| Line { name, domain, group: "general", description };
        let lines = [
            line("issues__create", "issues", "Creates an issue."),
            line(
                "a_source_with_a_long_name__and_a_tool_with_one_that_is_longer_still",
                "a_source_with_a_long_name",
                "Looks through everything there is, sorts it by what was asked for, and gives the \
                 first page of it with the means to ask for the next one.",
            ),
            line(
                "工具__搜索",
                "工具",
                "在所有文档中搜索，并返回最相关的结果，包括标题、摘要和链接。",
            ),
            line("evil__tool", "evil", "\u{1b}[2Jclears\nthe screen"),
        ];
        insta::assert_snapshot!(across_widths(|style| table(&lines, style)));
        assert_eq!(table(&[], Style::plain()), ["no tools"]);
    }
}
