use std::process::ExitCode;

use gatefold::Environment;
use gatefold_catalog::marked;
use gatefold_core::Domain;
use gatefold_operations::{
    Answered, AppOperations, Asker, CallTool, FoundTools, InspectTools, ListTools, ListedTool,
    Request, SearchTools, ToolDefinition, ToolLine,
};
use gatefold_search::Fit;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::arguments::{SharedOptions, Tools};
use super::catalogue::{self, UNREAD_TOOLS};
use super::output::{Output, Style};
use super::progress::Progress;
use super::table::Table;
use super::{call, control, session, stop};

pub(super) async fn run(
    tools: &Tools,
    shared: &SharedOptions,
    environment: &Environment,
    output: &Output,
) -> anyhow::Result<ExitCode> {
    let asking = Asking { shared, environment, output };
    match tools {
        Tools::List { domain, .. } => {
            let request = ListTools { domain: domain.clone() };
            stop::unless_stopped(asking.list(&request)).await
        }
        Tools::Search { query, limit, mode, .. } => {
            let (query, mode) = (query.join(" "), (*mode).into());
            let request = SearchTools { query, mode, limit: *limit };
            stop::unless_stopped(asking.search(&request)).await
        }
        Tools::Schema { names, .. } => {
            let request = InspectTools { names: names.clone() };
            stop::unless_stopped(asking.inspect(&request)).await
        }
        Tools::Call(call) => {
            // Standard input is read before signals are waited for, so that one ends the reading.
            let request = CallTool { name: call.name.clone(), arguments: call::arguments(call)? };
            stop::unless_stopped(asking.call(&request)).await
        }
    }
}

/// What a command needs to ask.
struct Asking<'a> {
    shared: &'a SharedOptions,
    environment: &'a Environment,
    output: &'a Output,
}

impl Asking<'_> {
    async fn list(&self, request: &ListTools) -> anyhow::Result<ExitCode> {
        let (tools, mut failed) = self.ask(request).await?;
        print_tools(&tools, self.output);
        if let Some(domain) = &request.domain {
            failed.retain(|one| one.as_str() == domain);
        }
        Ok(catalogue::code_of(&failed))
    }

    async fn search(&self, request: &SearchTools) -> anyhow::Result<ExitCode> {
        let (found, failed) = self.ask(request).await?;
        print_found(&request.query, &found, self.output);
        Ok(catalogue::code_of(&failed))
    }

    async fn inspect(&self, request: &InspectTools) -> anyhow::Result<ExitCode> {
        let (schemas, _) = self.ask(request).await?;
        print_schemas(&schemas, self.output)
    }

    async fn call(&self, request: &CallTool) -> anyhow::Result<ExitCode> {
        let (called, _) = self.ask(request).await?;
        call::show(&called, self.output)
    }

    /// Asks the gateway that runs with this configuration. If there is none, asks the sources from
    /// here. Returns the sources that are missing too, of which it warns.
    async fn ask<T, R>(&self, request: &R) -> anyhow::Result<(T, Vec<Domain>)>
    where
        T: Serialize + DeserializeOwned,
        R: Request<Answer = Answered<T>>,
    {
        let located = control::locate(self.shared, self.environment).await?;
        let answered = match located.for_sources() {
            Some(gateway) => gateway.ask(request).await?,
            None => self.ask_here(request).await?,
        };
        catalogue::warn_of(&answered.left_out, self.output);
        let failed = answered.left_out.into_iter().map(|source| source.domain);
        Ok((answered.answer?, failed.collect()))
    }

    async fn ask_here<R: Request>(&self, request: &R) -> anyhow::Result<R::Answer> {
        let opened = session::open(self.shared, self.environment).await;
        let app = opened.map_err(control::without_any)?.app;
        let progress = Progress::new(self.output, "learning");
        let answered = request.answer(&AppOperations::new(&app, Asker::Operator, &progress)).await;
        app.close().await;
        Ok(answered?)
    }
}

fn print_tools(tools: &[ListedTool], output: &Output) {
    if output.is_json() {
        output.json(&serde_json::json!({ "tools": lines(tools) }));
    } else {
        output.lines(&table(tools, output.style()));
    }
}

fn print_found(query: &str, found: &FoundTools, output: &Output) {
    let FoundTools { fit, is_early, tools } = found;
    if *is_early {
        output.warning(UNREAD_TOOLS);
    }
    if output.is_json() {
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
