use std::process::ExitCode;

use gatefold::Environment;
use gatefold_catalog::marked;
use gatefold_core::Domain;
use gatefold_search::Fit;

use super::arguments::{SharedOptions, Tools};
use super::catalogue::{self, UNREAD_TOOLS};
use super::control::{self, ControlRequest};
use super::output::{Output, Style};
use super::progress::Progress;
use super::table::Table;
use super::tool_answers::{
    self, AnsweredRequest, FoundTools, ListedTool, ToolDefinition, ToolLine, ToolsAnswer,
    ToolsRequest,
};
use super::{call, session, stop};

pub(super) async fn run(
    tools: &Tools,
    shared: &SharedOptions,
    environment: &Environment,
    output: &Output,
) -> anyhow::Result<ExitCode> {
    let request = request(tools)?;
    stop::unless_stopped(async {
        let answered = ask(&request, shared, environment, output).await?;
        catalogue::warn_of(&answered.left_out, output);
        let failed: Vec<_> = answered.left_out.into_iter().map(|source| source.domain).collect();
        match answered.answer.map_err(anyhow::Error::from)? {
            ToolsAnswer::Tools(tools) => {
                print_tools(&tools, output);
                Ok(code_of(&request, &failed))
            }
            ToolsAnswer::Found(found) => {
                print_found(&request, &found, output);
                Ok(code_of(&request, &failed))
            }
            ToolsAnswer::Schemas(schemas) => print_schemas(&schemas, output),
            ToolsAnswer::Call(called) => call::show(&called, output),
        }
    })
    .await
}

fn request(tools: &Tools) -> anyhow::Result<ToolsRequest> {
    Ok(match tools {
        Tools::List { domain, .. } => ToolsRequest::List { domain: domain.clone() },
        Tools::Search { query, limit, mode, .. } => {
            ToolsRequest::Search { query: query.join(" "), mode: *mode, limit: *limit }
        }
        Tools::Schema { names, .. } => ToolsRequest::Schema { names: names.clone() },
        Tools::Call(call) => {
            ToolsRequest::Call { name: call.name.clone(), arguments: call::arguments(call)? }
        }
    })
}

/// Asks the gateway that runs with this configuration. If there is none, asks the sources from
/// here.
async fn ask(
    request: &ToolsRequest,
    shared: &SharedOptions,
    environment: &Environment,
    output: &Output,
) -> anyhow::Result<AnsweredRequest> {
    let located = control::locate(shared, environment).await?;
    if let Some(gateway) = located.for_sources() {
        return gateway.ask(&ControlRequest::Tools(request.clone())).await;
    }
    let session = session::open(shared, environment).await.map_err(control::without_any)?;
    let progress = Progress::new(output, "learning");
    let answered = tool_answers::ask(&session.app, request, &progress).await;
    session.app.close().await;
    Ok(answered)
}

/// Fails if tools are missing that the request is about.
fn code_of(request: &ToolsRequest, failed: &[Domain]) -> ExitCode {
    let is_asked = |one: &Domain| match request {
        ToolsRequest::List { domain: Some(domain) } => one.as_str() == domain,
        _ => true,
    };
    if failed.iter().any(is_asked) { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

fn print_tools(tools: &[ListedTool], output: &Output) {
    if output.is_json() {
        output.json(&serde_json::json!({ "tools": lines(tools) }));
    } else {
        output.lines(&table(tools, output.style()));
    }
}

fn print_found(request: &ToolsRequest, found: &FoundTools, output: &Output) {
    let FoundTools { fit, is_early, tools } = found;
    if *is_early {
        output.warning(UNREAD_TOOLS);
    }
    if output.is_json() {
        let query = if let ToolsRequest::Search { query, .. } = request { query } else { "" };
        let tools = lines(tools);
        output.json(&serde_json::json!({ "query": query, "fit": fit, "tools": tools }));
        return;
    }
    if let Some(doubt) = doubt(*fit).filter(|_| !tools.is_empty()) {
        output.paragraph("", doubt);
    }
    output.lines(&table(tools, output.style()));
}

/// What people are told before they read tools that hardly fit.
fn doubt(fit: Fit) -> Option<&'static str> {
    match fit {
        Fit::None => Some("No tool fits the query. These are merely the nearest."),
        Fit::Weak => Some("No tool clearly fits the query. The right one may not be here."),
        Fit::Likely | Fit::Exact => None,
    }
}

fn lines(tools: &[ListedTool]) -> Vec<&ToolLine> {
    tools.iter().map(|tool| &tool.line).collect()
}

/// The lines printed for people.
fn table(tools: &[ListedTool], style: Style) -> Vec<String> {
    if tools.is_empty() {
        return vec!["no tools".to_owned()];
    }
    let mut table = Table::new(&["tool", "domain", "group", "what it does"]).spare(&[1, 2]);
    for ListedTool { line, shown } in tools {
        let name = style.strong(&marked(&line.name));
        table.row([name, line.domain.clone(), line.group.clone(), shown.clone()]);
    }
    table.lines(style)
}

fn print_schemas(schemas: &[ToolDefinition], output: &Output) -> anyhow::Result<ExitCode> {
    if output.is_json() {
        output.json(&serde_json::json!({ "tools": schemas }));
        return Ok(ExitCode::SUCCESS);
    }
    let style = output.style();
    for schema in schemas {
        let place = format!("{} / {}", schema.domain, schema.group);
        output.line(&format!("{}  {}", style.strong(&schema.name), style.faint(&place)));
        if !schema.description.is_empty() {
            output.line(&schema.description);
        }
        for (head, part) in [
            ("parameters", Some(&schema.parameters)),
            ("output schema", schema.output_schema.as_ref()),
            ("annotations", schema.annotations.as_ref()),
        ] {
            let Some(part) = part else { continue };
            let value: serde_json::Value = serde_json::from_str(part.get())?;
            output.line(&format!("{}\n{value:#}", style.faint(head)));
        }
        output.line("");
    }
    Ok(ExitCode::SUCCESS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::table::tests::across_widths;

    #[test]
    fn a_list_of_tools_fits_every_width() {
        let line = |name: &str, domain: &str, description: &str| ListedTool {
            line: ToolLine {
                name: name.to_owned(),
                domain: domain.to_owned(),
                group: "general".to_owned(),
                description: description.to_owned(),
                topic: None,
            },
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
