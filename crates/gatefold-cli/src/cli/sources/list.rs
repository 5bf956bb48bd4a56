//! `gatefold list`.

use std::process::ExitCode;

use clap::Args;
use gatefold::Environment;
use gatefold::config::{ConfigError, SourceConfig, SourceSection, load};
use gatefold_operations::NO_SOURCE;
use gatefold_setup as setup;
use serde_json::{Value, json};

use crate::cli::arguments::{Format, SharedOptions};
use crate::cli::output::{Output, Style};
use crate::cli::table::Table;
use crate::cli::visible::on_one_line;

#[derive(Debug, Args)]
pub(crate) struct SourceList {
    #[command(flatten)]
    pub(crate) format: Format,
}

/// Prints the sources as they are configured. It connects to nothing.
pub(super) fn run(
    shared: &SharedOptions,
    environment: &Environment,
    output: &Output,
) -> anyhow::Result<ExitCode> {
    let inputs = match shared.inputs().located(environment) {
        // An empty list is not a failure.
        Err(ConfigError::NotFound { .. }) => {
            empty(output);
            return Ok(ExitCode::SUCCESS);
        }
        inputs => inputs?,
    };
    let config = load(&inputs, environment)?;
    if config.sources.is_empty() {
        empty(output);
        return Ok(ExitCode::SUCCESS);
    }
    let own = match &inputs.config {
        Some(path) => setup::read(&environment.directory().join(path))?.unwrap_or_default(),
        None => String::new(),
    };
    let is_own = |source: &SourceConfig| Some(&source.origin.file) == inputs.config.as_ref();
    let way = |source: &SourceConfig| match &source.section {
        SourceSection::Usable(section) => section.summary(),
        _ if is_own(source) => {
            setup::summary_as_written(&own, &source.origin.key).unwrap_or_default()
        }
        _ => String::new(),
    };
    if output.is_json() {
        let sources: Vec<_> =
            config.sources.iter().map(|source| as_json(source, &way(source))).collect();
        output.json(&json!({ "sources": sources }));
        return Ok(ExitCode::SUCCESS);
    }
    let style = output.style();
    let mut table = Table::new(&["name", "state", "from", "how it is reached"]).spare(&[2]);
    for source in &config.sources {
        let name = style.strong(&source.origin.key);
        table.row([name, state(source, style), source.origin.to_string(), way(source)]);
    }
    output.lines(&table.lines(style));
    for source in &config.sources {
        if let Some(fault) = source.section.fault() {
            output.line("");
            let text =
                format!("{} {}: {}", style.bad("unusable"), source.origin.key, fault.on_one_line());
            output.lines(&style.sentence(&text, 2));
        }
        for note in &source.notes {
            output.line("");
            let note = on_one_line(&format!("{}: {note}", source.origin.key));
            let text = format!("{} {note}", style.accent("note"));
            output.lines(&style.sentence(&text, 2));
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn empty(output: &Output) {
    if output.is_json() {
        output.json(&json!({ "sources": [] }));
    } else {
        output.paragraph("", NO_SOURCE);
    }
}

fn state(source: &SourceConfig, style: Style) -> String {
    match &source.section {
        SourceSection::Usable(_) => style.good("enabled"),
        SourceSection::Disabled => style.faint("disabled"),
        SourceSection::Unusable(_) => style.bad("unusable"),
    }
}

fn as_json(source: &SourceConfig, way: &str) -> Value {
    let connection = match &source.section {
        SourceSection::Usable(section) => section.shown(),
        SourceSection::Disabled | SourceSection::Unusable(_) => Value::Null,
    };
    json!({
        "name": source.origin.key,
        "domain": source.domain.as_str(),
        "enabled": !matches!(source.section, SourceSection::Disabled),
        "notes": source.notes,
        "fault": source.section.fault().map(gatefold::config::Fault::on_one_line),
        "file": source.origin.file,
        "line": source.origin.line,
        "summary": way,
        "connection": connection,
        "description": source.description,
    })
}
