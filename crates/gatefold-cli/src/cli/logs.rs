//! `gatefold logs`: what a source wrote besides its answers.

use std::collections::HashMap;
use std::process::ExitCode;
use std::time::Duration;

use clap::{Args, value_parser};
use gatefold::Environment;
use gatefold_core::Timestamp;
use gatefold_dispatch::{SourceLogLine, SpokenWhere};
use gatefold_operations::ReadLog;
use serde_json::json;
use tokio::time::sleep;

use super::arguments::{Format, SharedOptions};
use super::control::{self, GatewayIdentity, START_HELP};
use super::failure::with_help;
use super::output::{Output, Style};
use super::{stop, visible};

/// The most lines to show at first: as many as a gateway keeps.
const SHOWN: i64 = 1000;

/// How often the gateways are asked for more.
const INTERVAL: Duration = Duration::from_millis(300);

#[derive(Debug, Args)]
pub(crate) struct Logs {
    /// The source
    source: String,
    /// The most lines to show: the last ones
    #[arg(long, value_name = "NUMBER", default_value_t = 100)]
    #[arg(value_parser = value_parser!(u32).range(0..=SHOWN))]
    limit: u32,
    /// Go on with further lines; Ctrl-C leaves
    #[arg(long, short)]
    follow: bool,
    #[command(flatten)]
    pub(super) format: Format,
}

/// A line and the gateway that has it.
struct GatewayLine {
    process: u32,
    line: SourceLogLine,
}

/// How far each gateway's lines were read. The start time is part of the key, because process ids
/// are reused.
#[derive(Default)]
struct ReadPositions(HashMap<(u32, Timestamp), u64>);

pub(super) async fn run(
    logs: &Logs,
    shared: &SharedOptions,
    environment: &Environment,
    output: &Output,
) -> anyhow::Result<ExitCode> {
    let stop = stop::on_signal()?;
    let showing = show(logs, shared, environment, output);
    let shown = stop.run_until_cancelled(showing).await;
    if shown.is_none() && !logs.follow {
        return Ok(ExitCode::from(stop::INTERRUPTED));
    }
    shown.unwrap_or(Ok(())).map(|()| ExitCode::SUCCESS)
}

async fn show(
    logs: &Logs,
    shared: &SharedOptions,
    environment: &Environment,
    output: &Output,
) -> anyhow::Result<()> {
    let mut read = ReadPositions::default();
    let Some(lines) = read.more(&logs.source, shared, environment).await? else {
        return Err(with_help(
            format!("no gateway runs, and only a running one has lines of `{}`", logs.source),
            format!("{START_HELP}; `gatefold check --verbose` shows why a source fails"),
        ));
    };
    let limit = usize::try_from(logs.limit).unwrap_or(usize::MAX);
    if lines.is_empty() && !logs.follow && !output.is_json() {
        output.line("nothing written yet");
    }
    print(logs, &lines[lines.len().saturating_sub(limit)..], output);
    while logs.follow && !output.is_gone() {
        sleep(INTERVAL).await;
        // The source may be gone for a moment, and so may the gateway.
        if let Ok(Some(lines)) = read.more(&logs.source, shared, environment).await {
            print(logs, &lines, output);
        }
    }
    Ok(())
}

impl ReadPositions {
    /// The lines that were not read yet, from all gateways that have the source, because each
    /// starts its own servers. `None` if no gateway runs.
    async fn more(
        &mut self,
        source: &str,
        shared: &SharedOptions,
        environment: &Environment,
    ) -> anyhow::Result<Option<Vec<GatewayLine>>> {
        let running = control::locate(shared, environment).await?.running;
        let (mut lines, mut fault) = (Vec::new(), None);
        let mut has_answered = false;
        for gateway in &running {
            let GatewayIdentity { process, started_at, .. } = gateway.identity;
            let key = (process, started_at);
            let after = self.0.get(&key).copied().unwrap_or_default();
            let more = match gateway.ask(&ReadLog { source: source.to_owned(), after }).await {
                Ok(more) => more,
                Err(error) => {
                    fault.get_or_insert(error);
                    continue;
                }
            };
            has_answered = true;
            if let Some(last) = more.last() {
                self.0.insert(key, last.number);
            }
            lines.extend(more.into_iter().map(|line| GatewayLine { process, line }));
        }
        // Forget gateways that are gone.
        let runs = |(process, started_at): &(u32, Timestamp)| {
            running
                .iter()
                .map(|gateway| &gateway.identity)
                .any(|identity| identity.process == *process && identity.started_at == *started_at)
        };
        self.0.retain(|key, _| runs(key));
        lines.sort_by_key(|line| line.line.at);
        match fault {
            Some(error) if !has_answered => Err(error),
            _ => Ok(Some(lines).filter(|_| has_answered)),
        }
    }
}

fn print(logs: &Logs, lines: &[GatewayLine], output: &Output) {
    if !output.is_json() {
        let of_several = lines.iter().any(|line| line.process != lines[0].process);
        for line in lines {
            output.line(&shown(line, of_several, output.style()));
        }
        return;
    }
    let lines = lines.iter().map(|GatewayLine { process, line }| {
        let SourceLogLine { at, spoken, level, text, .. } = line;
        json!({ "at": at, "process": process, "from": spoken, "level": level, "text": text })
    });
    if logs.follow {
        lines.for_each(|line| output.json_line(&line));
    } else {
        output.json(&json!({ "lines": lines.collect::<Vec<_>>() }));
    }
}

/// A line as people read it: when it came, the gateway's process if there are several, the level of
/// a log notification, and the text.
fn shown(line: &GatewayLine, of_several: bool, style: Style) -> String {
    let GatewayLine { process, line } = line;
    let process = if of_several { format!(" {process}") } else { String::new() };
    let head = style.faint(&format!("{}{process}", line.at));
    let text = visible::on_one_line(&line.text);
    match (line.spoken, &line.level) {
        (SpokenWhere::Protocol, Some(level)) => format!("{head} {}: {text}", style.strong(level)),
        _ => format!("{head} {text}"),
    }
}
