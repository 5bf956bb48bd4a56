use std::process::ExitCode;

use gatefold::Environment;
use gatefold_catalog::{Scope, Tool, View, marked, search};
use gatefold_core::Domain;
use serde::Serialize;
use serde_json::value::RawValue;

use super::arguments::{ModeName, SharedOptions, Tools};
use super::catalogue::{NO_SOURCE, code_of, resolve, with_catalog};
use super::failure::with_help;
use super::output::{Output, Style};
use super::table::Table;
use super::{call, stop};

/// A tool in a list, as `--json` prints it.
#[derive(Serialize)]
struct Line<'a> {
    name: &'a str,
    domain: &'a str,
    group: &'a str,
    description: &'a str,
    /// The description as people are shown it.
    #[serde(skip)]
    shown: String,
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
    shared: &SharedOptions,
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

/// Whether everything that a command names is known, so that it need not wait for unknown sources.
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
        shown: tool.marked_line(),
    }
}

/// Lists what is known. If the requested source failed, its tools are missing, which is a failure.
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

/// The lines printed for people.
fn table(lines: &[Line<'_>], style: Style) -> Vec<String> {
    if lines.is_empty() {
        return vec!["no tools".to_owned()];
    }
    let mut table = Table::new(&["tool", "domain", "group", "what it does"]).spare(&[1, 2]);
    for line in lines {
        let texts = [line.domain, line.group, &line.shown].map(str::to_owned);
        table.row(std::iter::once(style.strong(&marked(line.name))).chain(texts));
    }
    table.lines(style)
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
        let line = |name, domain, description: &'static str| Line {
            name,
            domain,
            group: "general",
            description,
            shown: description.to_owned(),
        };
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
