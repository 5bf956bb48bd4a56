//! The documents of knowledge bases: which of them have no text, and why.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use futures::future::join_all;
use gatefold::config::{Config, Origin};
use gatefold::{BaseFindings, ConfiguredBase, configured_bases};
use gatefold_core::Clock;
use tokio::time::timeout;

use super::{Finding, Level, Section, clock};

/// How many documents are named of one base.
const NAMED: usize = 3;

/// How much of why a document has no text is said, in characters.
const REASON: usize = 120;

/// Reads the documents that are new or changed, for as long as `limit`. What is wrong with a base itself is
/// found when it is connected.
pub(super) async fn look(config: &Config, state_dir: &Path, limit: Duration) -> Vec<Finding> {
    let clock: Arc<dyn Clock> = clock();
    let looked_at = configured_bases(config, state_dir, &clock).into_iter().map(async |base| {
        let origin = config.sources.iter().find(|source| source.domain == *base.domain());
        let findings = match timeout(limit, base.examine()).await {
            Ok(Ok(found)) => judge(&base, &found),
            Ok(Err(_)) => Vec::new(),
            Err(_) => {
                let seconds = limit.as_secs_f32();
                let what = format!("{}: its documents were not all read in {seconds} s", base.name);
                let fix = format!("wait for them: gatefold knowledge check {}", base.name);
                vec![Finding::new(Section::Sources, Level::Note, what).fix(fix)]
            }
        };
        findings.into_iter().map(|finding| at(finding, origin.map(|own| &own.origin))).collect()
    });
    join_all(looked_at).await.into_iter().flat_map(|own: Vec<_>| own).collect()
}

fn at(finding: Finding, origin: Option<&Origin>) -> Finding {
    match origin {
        Some(origin) => finding.at(origin),
        None => finding,
    }
}

fn judge(base: &ConfiguredBase, found: &BaseFindings) -> Vec<Finding> {
    let name = &base.name;
    let warning =
        |what: String| Finding::new(Section::Sources, Level::Warning, format!("{name}: {what}"));
    let mut findings = Vec::new();
    for (root, error) in &found.missing {
        let what = format!("`{}` cannot be read: {error}", root.display());
        findings.push(warning(what).fix("correct the path in `knowledge`, or make it readable"));
    }
    if let Some(unread) = &found.unread {
        let files = if unread.count == 1 { "file is" } else { "files are" };
        let what = format!("{} {files} not read yet: {}", unread.count, unread.reason);
        let fix = if unread.is_busy {
            "wait until that process has read them, and look again".to_owned()
        } else {
            format!("try again: gatefold knowledge check {name}")
        };
        findings.push(warning(what).fix(fix));
    }
    if !found.failed.is_empty() {
        let named = found.failed.iter().take(NAMED).map(|document| {
            let reason: String = document.reason.chars().take(REASON).collect();
            format!("`{}` ({}: {reason})", document.name, document.state.replace('_', " "))
        });
        let named: Vec<_> = named.collect();
        let more = match found.failed.len().saturating_sub(NAMED) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let what = format!(
            "{} of {} documents have no text: {}{more}",
            found.failed.len(),
            found.documents,
            named.join(", ")
        );
        findings.push(warning(what).fix(format!("see all: gatefold knowledge check {name}")));
    }
    findings
}
