//! `gatefold queries`: what searches have learnt from use.

use std::process::ExitCode;

use gatefold::Environment;
use gatefold_operations::{PastQueryFilter, PastQueryRecord, StateOperations};
use serde_json::json;

use super::arguments::{Forget, Queries, SharedOptions};
use super::control;
use super::output::{Output, Style};
use super::table::Table;

pub(super) async fn run(
    queries: &Queries,
    shared: &SharedOptions,
    environment: &Environment,
    output: &Output,
) -> anyhow::Result<ExitCode> {
    control::on_record(shared, environment, async |state| match &queries.forget {
        Some(Forget::Forget { tool, .. }) => forget(state, tool.as_ref(), output).await,
        None if queries.missed => list_missed(state, output).await,
        None => list(state, queries.tool.as_ref(), output).await,
    })
    .await
}

fn of(tool: Option<&String>) -> PastQueryFilter {
    tool.cloned().map_or(PastQueryFilter::Every, PastQueryFilter::Tool)
}

async fn list(
    state: &StateOperations,
    tool: Option<&String>,
    output: &Output,
) -> anyhow::Result<()> {
    let records = state.past_queries(&of(tool)).await?;
    if output.is_json() {
        output.json(&json!({ "queries": records }));
    } else {
        output.lines(&lines(&records, output.style()));
    }
    Ok(())
}

async fn list_missed(state: &StateOperations, output: &Output) -> anyhow::Result<()> {
    let records = state.past_queries(&PastQueryFilter::Missed).await?;
    if output.is_json() {
        let rows = records.iter().map(|record| {
            let PastQueryRecord { tenant, query, weight, last_used, .. } = record;
            json!({ "tenant": tenant, "query": query, "weight": weight, "last_used": last_used })
        });
        output.json(&json!({ "missed": rows.collect::<Vec<_>>() }));
    } else {
        output.lines(&missed_lines(&records, output.style()));
    }
    Ok(())
}

fn missed_lines(records: &[PastQueryRecord], style: Style) -> Vec<String> {
    if records.is_empty() {
        return vec!["no search has led nowhere".to_owned()];
    }
    let mut table =
        Table::new(&["query", "weight", "last searched", "whose"]).numbers(&[1]).spare(&[3, 2]);
    for PastQueryRecord { tenant, query, weight, last_used, .. } in records {
        let day = day(&last_used.to_string());
        table.row([style.strong(query), format!("{weight:.2}"), day, tenant.clone()]);
    }
    table.lines(style)
}

async fn forget(
    state: &StateOperations,
    tool: Option<&String>,
    output: &Output,
) -> anyhow::Result<()> {
    let forgotten = state.forget_past_queries(&of(tool)).await?;
    if output.is_json() {
        output.json(&json!({ "forgotten": forgotten }));
    } else {
        let noun = if forgotten == 1 { "query" } else { "queries" };
        output.line(&format!("forgot {forgotten} {noun}"));
    }
    Ok(())
}

/// The lines printed for people.
fn lines(records: &[PastQueryRecord], style: Style) -> Vec<String> {
    if records.is_empty() {
        return vec!["nothing learnt yet".to_owned()];
    }
    let heads = ["tool", "query", "weight", "last used", "whose"];
    let mut table = Table::new(&heads).numbers(&[2]).spare(&[4, 3]);
    for record in records {
        let PastQueryRecord { tenant, tool, query, weight, last_used } = record;
        let (weight, day) = (format!("{weight:.2}"), day(&last_used.to_string()));
        table.row([style.strong(tool), query.clone(), weight, day, tenant.clone()]);
    }
    table.lines(style)
}

/// The day of an RFC 3339 time.
fn day(moment: &str) -> String {
    moment.split('T').next().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use gatefold_core::Timestamp;

    use super::*;
    use crate::cli::table::tests::across_widths;

    #[test]
    fn what_was_learnt_fits_every_width() {
        let record = |tool: &str, query: &str, weight| PastQueryRecord {
            tenant: "user:local".to_owned(),
            tool: tool.to_owned(),
            query: query.to_owned(),
            weight,
            last_used: Timestamp::from_millis(1_795_255_020_000),
        };
        let records = [
            record("tickets__create_ticket", "the printer is broken again", 2.5),
            record("天气__预报", "明天会下雨吗", 0.126),
        ];
        insta::assert_snapshot!(across_widths(|style| lines(&records, style)));
        assert_eq!(lines(&[], Style::plain()), ["nothing learnt yet"]);
    }
}
