//! `gatefold doctor`: what is wrong, and what puts it right.

use std::process::ExitCode;

use gatefold::Environment;
use gatefold::doctor::{self, Diagnosis, Finding, Level, Reach, Section, Subject};
use serde_json::json;

use super::arguments::{Doctor, Shared};
use super::output::{Output, Style};
use super::stop;

pub(super) async fn run(
    doctor: &Doctor,
    shared: &Shared,
    environment: &Environment,
    output: &Output,
) -> anyhow::Result<ExitCode> {
    stop::unless_stopped(async {
        let subject = Subject {
            inputs: shared.inputs(),
            state_dir: shared.state_dir.clone(),
            program: std::env::current_exe().ok(),
            reach: if doctor.offline { Reach::Offline } else { Reach::Connect },
        };
        let diagnosis = doctor::examine(&subject, environment).await;
        if output.is_json() {
            print_json(&diagnosis, output);
        } else {
            print(&diagnosis, doctor.verbose, output);
        }
        Ok(if diagnosis.ok { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    })
    .await
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

/// Problems in full, and how much was fine; all of it with `--verbose`.
fn print(diagnosis: &Diagnosis, is_verbose: bool, output: &Output) {
    let style = output.style();
    let mut section: Option<Section> = None;
    let shown = |finding: &&Finding| is_verbose || finding.level > Level::Ok;
    for finding in diagnosis.findings.iter().filter(shown) {
        if section != Some(finding.section) {
            if section.is_some() {
                output.line("");
            }
            output.line(&style.strong(finding.section.title()));
            section = Some(finding.section);
        }
        print_finding(finding, style, output);
    }
    if section.is_some() {
        output.line("");
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
    output.line(&counts.join(", "));
}

fn print_finding(finding: &Finding, style: Style, output: &Output) {
    let mark = match finding.level {
        Level::Ok => style.good("ok"),
        Level::Note => style.accent("note"),
        Level::Warning => style.accent("warning"),
        Level::Fault => style.bad("fault"),
    };
    output.line(&format!("  {mark} {}", finding.what));
    if let Some(place) = &finding.place {
        output.line(&style.faint(&format!("    in {place}")));
    }
    if let Some(fix) = &finding.fix {
        output.line(&format!("    fix: {fix}"));
    }
}
