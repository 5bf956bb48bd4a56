//! `gatefold doctor`: what is wrong, and how to fix it.

use std::process::ExitCode;

use gatefold::Environment;
use gatefold_setup::doctor::{
    self, Diagnosis, ExamineOptions, Finding, Level, ProbeScope, Section, ServingGateway,
};
use serde_json::json;

use super::arguments::{Doctor, SharedOptions};
use super::control::{self, GatewayIdentity};
use super::output::{Output, Style};
use super::{stop, visible};

pub(super) async fn run(
    doctor: &Doctor,
    shared: &SharedOptions,
    environment: &Environment,
    output: &Output,
) -> anyhow::Result<ExitCode> {
    stop::unless_stopped(async {
        let subject = ExamineOptions {
            inputs: shared.inputs(),
            state_dir: shared.state_dir.clone(),
            program: std::env::current_exe().ok(),
            reach: if doctor.offline { ProbeScope::Offline } else { ProbeScope::Connect },
            connect_limit: doctor::CONNECT_LIMIT,
            running: serving(shared, environment).await,
        };
        let diagnosis = Box::pin(doctor::examine(&subject, environment)).await;
        if output.is_json() {
            print_json(&diagnosis, output);
        } else {
            output.lines(&lines(&diagnosis, doctor.verbose, output.style()));
        }
        Ok(if diagnosis.ok { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    })
    .await
}

/// The gateway that serves on an address, if one runs on the state directory.
async fn serving(shared: &SharedOptions, environment: &Environment) -> Option<ServingGateway> {
    // Problems of the state directory are found elsewhere.
    let (first, _) = control::locate(shared, environment).await.ok()?.into_first()?;
    let GatewayIdentity { version, process, url, .. } = first.identity;
    let (_, address) = url.as_deref()?.strip_suffix("/mcp")?.split_once("://")?;
    let address = address.parse().ok()?;
    Some(ServingGateway { version, process, address })
}

fn print_json(diagnosis: &Diagnosis, output: &Output) {
    let count = |level| diagnosis.count(level);
    output.json(&json!({
        "ok": diagnosis.ok,
        "version": env!("CARGO_PKG_VERSION"),
        "counts": {
            "ok": count(Level::Ok),
            "note": count(Level::Note),
            "warning": count(Level::Warning),
            "fault": count(Level::Fault),
        },
        "findings": diagnosis.findings,
    }));
}

/// Problems in full, and the number of good findings; with `--verbose` all of them.
fn lines(diagnosis: &Diagnosis, is_verbose: bool, style: Style) -> Vec<String> {
    let mut lines = Vec::new();
    let mut section: Option<Section> = None;
    let shown = |finding: &&Finding| is_verbose || finding.level > Level::Ok;
    for finding in diagnosis.findings.iter().filter(shown) {
        if section != Some(finding.section) {
            if section.is_some() {
                lines.push(String::new());
            }
            lines.push(style.strong(finding.section.title()));
            section = Some(finding.section);
        }
        lines.extend(finding_lines(finding, is_verbose, style));
    }
    if section.is_some() {
        lines.push(String::new());
    }
    let counted = |level, one: &str, many: &str| match diagnosis.count(level) {
        0 => None,
        1 => Some(format!("1 {one}")),
        count => Some(format!("{count} {many}")),
    };
    let counts = [
        counted(Level::Fault, "fault", "faults"),
        counted(Level::Warning, "warning", "warnings"),
        counted(Level::Note, "note", "notes"),
        counted(Level::Ok, "check was fine", "checks were fine"),
    ];
    let counts: Vec<_> = counts.into_iter().flatten().collect();
    lines.push(counts.join(", "));
    lines
}

fn finding_lines(finding: &Finding, is_verbose: bool, style: Style) -> Vec<String> {
    let mark = match finding.level {
        Level::Ok => style.good("ok"),
        Level::Note => style.accent("note"),
        Level::Warning => style.accent("warning"),
        Level::Fault => style.bad("fault"),
    };
    let mut lines = style.sentence(&format!("  {mark} {}", finding.what), 4);
    for line in finding.last_lines.iter().filter(|_| is_verbose) {
        lines.extend(style.sentence(&format!("    | {}", visible::on_one_line(line)), 6));
    }
    if let Some(place) = &finding.place {
        let place = style.sentence(&format!("    in {place}"), 6);
        lines.extend(place.iter().map(|line| style.faint(line)));
    }
    if let Some(fix) = &finding.fix {
        lines.extend(style.sentence(&format!("    fix: {fix}"), 6));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::table::tests::across_widths;

    fn finding(level: Level, what: &str, place: &str, fix: &str) -> Finding {
        let (place, fix) = (Some(place.to_owned()), Some(fix.to_owned()));
        let (section, what, last_lines) = (Section::Sources, what.to_owned(), Vec::new());
        Finding { section, level, what, place, fix, last_lines }
    }

    #[test]
    fn a_diagnosis_fits_every_width() {
        let findings = vec![
            finding(
                Level::Fault,
                "search: the server answers 401: it wants credentials but gets none, which it \
                 said in so many words",
                "/home/ann/projects/a-long-name/gatefold.toml:12",
                "write `headers = { Authorization = \"Bearer ${secret:NAME}\" }`, and store it: \
                 `gatefold secret set NAME`",
            ),
            finding(
                Level::Warning,
                "工具: 错误",
                "gatefold.toml:1",
                "chmod 600 '/a b/gatefold.toml'",
            ),
        ];
        let diagnosis = Diagnosis { ok: false, findings };
        insta::assert_snapshot!(across_widths(|style| lines(&diagnosis, false, style)));
    }
}
