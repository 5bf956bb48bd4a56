//! `gatefold config`: what the keys mean, and which values are in force.

use std::process::ExitCode;

use clap::{Subcommand, ValueEnum};
use gatefold::Environment;
use gatefold::config::keys::{ApplyMode, Key, PathTarget, Section, find, sections};
use gatefold::config::kinds::Kinds;
use gatefold::config::{
    Config, IdlePattern, Inputs, Setting, SourceConfig, SourceSection, load, reference, schema,
    settings, source_settings, template,
};
use serde_json::{Value, json};

use super::arguments::{Format, SharedOptions};
use super::failure::usage;
use super::output::Output;
use super::session;
use super::table::Table;
use super::visible::on_one_line;

#[derive(Debug, Subcommand)]
pub(crate) enum ConfigCommand {
    /// Explain a key, such as `limits.call_deadline`, or a section; without one, list them
    #[command(after_long_help = "Example:\n  gatefold config explain limits.call_deadline")]
    Explain {
        #[arg(value_name = "KEY")]
        key: Option<String>,
        #[command(flatten)]
        format: Format,
    },
    /// Read the configuration and list every fault in it; connects to nothing
    #[command(after_long_help = "Example:\n  gatefold config check")]
    Check {
        #[command(flatten)]
        format: Format,
    },
    /// Show the configuration in force, and where each part of it comes from
    #[command(after_long_help = "Example:\n  gatefold config show")]
    Show {
        #[command(flatten)]
        format: Format,
    },
    /// Print the JSON Schema of `gatefold.toml`, for editors
    #[command(after_long_help = "Example:\n  gatefold config schema > gatefold.schema.json")]
    Schema,
    /// Print the documentation of the keys
    #[command(hide = true)]
    Reference { kind: Reference },
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum Reference {
    Markdown,
    Toml,
}

impl ConfigCommand {
    pub(crate) fn is_json(&self) -> bool {
        match self {
            Self::Explain { format, .. } | Self::Check { format } | Self::Show { format } => {
                format.json
            }
            Self::Schema | Self::Reference { .. } => false,
        }
    }
}

pub(super) async fn run(
    command: &ConfigCommand,
    shared: &SharedOptions,
    environment: &Environment,
    output: &Output,
) -> anyhow::Result<ExitCode> {
    let sections = sections(&Kinds::default());
    match command {
        ConfigCommand::Explain { key: None, .. } => list_sections(&sections, output),
        ConfigCommand::Explain { key: Some(key), .. } => {
            match find(key, &sections).map_err(|missing| usage(missing.to_string()))? {
                PathTarget::Section(section) => explain_section(section, output),
                PathTarget::Key(section, key) => explain_key(section, key, output),
            }
        }
        ConfigCommand::Check { .. } => {
            let inputs = shared.inputs().located(environment)?;
            let config = load(&inputs, environment)?;
            let idle = idle_patterns(&config, shared, environment).await;
            let idle = idle.iter().map(ToString::to_string);
            let warnings: Vec<_> =
                idle.chain(config.idle_modes().iter().map(ToString::to_string)).collect();
            return Ok(check(&config, &warnings, output));
        }
        ConfigCommand::Show { .. } => {
            let inputs = shared.inputs().located(environment)?;
            let config = load(&inputs, environment)?;
            show(&config, &inputs, shared, environment, output)?;
        }
        ConfigCommand::Schema => output.json(&schema(&sections)),
        ConfigCommand::Reference { kind: Reference::Markdown } => {
            output.text(&reference(&sections));
        }
        ConfigCommand::Reference { kind: Reference::Toml } => output.text(&template(&sections)),
    }
    Ok(ExitCode::SUCCESS)
}

fn list_sections(sections: &[Section], output: &Output) {
    if output.is_json() {
        let sections: Vec<_> = sections.iter().map(section_json).collect();
        output.json(&json!({ "sections": sections }));
        return;
    }
    let mut table = Table::new(&["section", "what it is"]);
    for section in sections {
        table.row([output.style().strong(section.path), section.summary.clone()]);
    }
    print(&table, output);
    output.line("");
    output.line("`gatefold config explain SECTION` lists its keys");
}

fn explain_section(section: &Section, output: &Output) {
    if output.is_json() {
        output.json(&section_json(section));
        return;
    }
    let style = output.style();
    output.line(&style.strong(&format!("[{}]", section.path)));
    paragraph(&[&section.summary, &section.details], output);
    output.line("");
    let mut table = Table::new(&["key", "type", "default", "what it is"]);
    for key in &section.keys {
        let default = key.default_text();
        table.row([style.strong(&key.name), key.kind.clone(), default, key.summary.clone()]);
    }
    print(&table, output);
}

fn explain_key(section: &Section, key: &Key, output: &Output) {
    if output.is_json() {
        output.json(&key_json(section, key));
        return;
    }
    let style = output.style();
    output.line(&style.strong(&section.key_path(key)));
    paragraph(&[&key.summary, &key.details], output);
    output.line("");
    let line = |head: &str, text: &str| {
        output.line(&format!("  {}  {text}", style.faint(&format!("{head:<9}"))));
    };
    line("type", &key.kind);
    for constraint in section.constraints(key) {
        line("", &constraint);
    }
    let default = key.default_text();
    line("default", if default.is_empty() { "none" } else { &default });
    line("example", &format!("{} = {}", key.name, key.example));
    if key.takes_variables() {
        line("variables", "`${VAR}` and `${VAR:-default}` are replaced");
    }
    line("change", applies(key.applies));
}

fn applies(applies: ApplyMode) -> &'static str {
    match applies {
        ApplyMode::Reload => "takes effect when the configuration reloads",
        ApplyMode::Restart => "takes effect at the next start",
    }
}

fn paragraph(sentences: &[&str], output: &Output) {
    output.lines(&output.style().sentence(sentences.join(" ").trim_end(), 0));
}

fn print(table: &Table, output: &Output) {
    for line in table.lines(output.style()) {
        output.line(&line);
    }
}

fn section_json(section: &Section) -> Value {
    let keys: Vec<_> = section.keys.iter().map(|key| key_json(section, key)).collect();
    json!({
        "section": section.path,
        "summary": section.summary,
        "details": section.details,
        "keys": keys,
    })
}

fn key_json(section: &Section, key: &Key) -> Value {
    let takes_effect = match key.applies {
        ApplyMode::Reload => "reload",
        ApplyMode::Restart => "restart",
    };
    json!({
        "key": section.key_path(key),
        "type": key.kind,
        "default": key.default,
        "without_it": key.default_text(),
        "summary": key.summary,
        "details": key.details,
        "example": format!("{} = {}", key.name, key.example),
        "constraints": section.constraints(key),
        "takes_variables": key.takes_variables(),
        "takes_effect": takes_effect,
    })
}

/// Faults in the files were reported as an error before. What remains are sources and models that need a
/// missing variable or secret, and sources that a client can use and Gatefold cannot.
fn check(config: &Config, warnings: &[String], output: &Output) -> ExitCode {
    let unusable = config
        .sources
        .iter()
        .filter_map(|source| Some((source.domain.as_str(), source.section.fault()?.on_one_line())));
    let unusable: Vec<_> = unusable.collect();
    let notes = config.sources.iter().flat_map(SourceConfig::warnings);
    let notes = notes.map(|note| on_one_line(&note));
    let warnings: Vec<_> = notes.chain(warnings.iter().cloned()).collect();
    let models = config.unusable_models().map(|(name, why)| (name, why.on_one_line()));
    let models: Vec<_> = models.collect();
    let is_ok = unusable.is_empty() && models.is_empty();
    let code = if is_ok { ExitCode::SUCCESS } else { ExitCode::FAILURE };
    let files: Vec<_> = config.files.iter().map(|file| file.display().to_string()).collect();
    if output.is_json() {
        let unusable: Vec<_> = unusable
            .iter()
            .map(|(domain, why)| json!({ "domain": domain, "reason": why }))
            .collect();
        let models: Vec<_> =
            models.iter().map(|(name, why)| json!({ "model": name, "reason": why })).collect();
        let sources = config.sources.len();
        output.json(&json!({
            "ok": is_ok,
            "files": files,
            "sources": sources,
            "unusable": unusable,
            "unusable_models": models,
            "warnings": warnings,
        }));
        return code;
    }
    for (domain, why) in &unusable {
        output.line(&format!("{} {domain} cannot be used: {why}", output.style().bad("failed")));
    }
    for (name, why) in &models {
        let failed = output.style().bad("failed");
        output.line(&format!("{failed} the model {name} cannot be used: {why}"));
    }
    for warning in &warnings {
        output.line(&format!("{} {warning}", output.style().accent("note")));
    }
    if is_ok {
        output.line(&format!("no faults in {}", files.join(", ")));
    }
    code
}

/// The patterns that match nothing, as far as the lists of sources are known from earlier runs.
async fn idle_patterns(
    config: &Config,
    shared: &SharedOptions,
    environment: &Environment,
) -> Vec<IdlePattern> {
    let state_dir = session::state_dir(shared, config, environment);
    if !state_dir.is_ok_and(|folder| folder.is_dir()) {
        return Vec::new();
    }
    match session::open_with(config.clone(), shared, environment).await {
        Ok(session) => {
            let idle = session.app.idle_patterns();
            session.app.close().await;
            idle
        }
        Err(error) => {
            tracing::debug!(%error, "the lists of earlier runs could not be read");
            Vec::new()
        }
    }
}

fn show(
    config: &Config,
    inputs: &Inputs,
    shared: &SharedOptions,
    environment: &Environment,
    output: &Output,
) -> anyhow::Result<()> {
    let mut settings = settings(config, inputs, environment);
    settings.extend(source_settings(inputs, environment));
    let state_dir = session::state_dir(shared, config, environment)?.display().to_string();
    let files: Vec<_> = config.files.iter().map(|file| file.display().to_string()).collect();
    if output.is_json() {
        let sources: Vec<_> = config.sources.iter().map(|own| source_json(own, config)).collect();
        output.json(&json!({
            "files": files,
            "state_dir": state_dir,
            "sources": sources,
            "settings": settings,
        }));
        return Ok(());
    }
    let style = output.style();
    output.line(&format!("{}  {}", style.faint("files"), files.join(", ")));
    output.line(&format!("{}  {state_dir}", style.faint("state")));
    output.line("");
    let mut table = Table::new(&["source", "from", "how it is reached"]);
    for source in &config.sources {
        let (origin, way) = (source.origin.to_string(), way(&source.section));
        table.row([style.strong(source.domain.as_str()), origin, way]);
    }
    if config.sources.is_empty() {
        output.line("no sources");
    } else {
        print(&table, output);
    }
    output.line("");
    let mut table = Table::new(&["key", "from", "value"]);
    for Setting { key, value, unset, origin } in settings {
        let from = origin.unwrap_or_else(|| style.faint("default"));
        let value = value.map_or(unset, |value| value.to_string());
        table.row([style.strong(&key), from, value]);
    }
    print(&table, output);
    Ok(())
}

/// How a source is reached, without anything that may be secret.
fn way(section: &SourceSection) -> String {
    match section {
        SourceSection::Usable(section) => section.summary(),
        SourceSection::Disabled => "disabled".to_owned(),
        SourceSection::Unusable(unusable) => {
            format!("cannot be used: {}", unusable.fault.on_one_line())
        }
    }
}

fn source_json(source: &SourceConfig, config: &Config) -> Value {
    let call_deadline = source.call_deadline.unwrap_or(config.limits.call_deadline);
    let connection = match &source.section {
        SourceSection::Usable(section) => section.shown(),
        SourceSection::Disabled => json!({ "kind": "disabled" }),
        SourceSection::Unusable(unusable) => {
            json!({ "kind": "unusable", "reason": unusable.fault.on_one_line() })
        }
    };
    json!({
        "domain": source.domain.as_str(),
        "name": source.origin.key,
        "origin": source.origin.to_string(),
        "description": source.description,
        "call_deadline_ms": call_deadline.as_millis(),
        "connect_deadline_ms": source.connect_deadline.as_millis(),
        "install_deadline_ms": source.install_deadline.as_millis(),
        "idle_stop_ms": source.idle_stop.as_millis(),
        "connection": connection,
    })
}
