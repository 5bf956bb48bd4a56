//! `gatefold status --watch`: a live view of a running gateway.

mod frame;
mod screen;

use std::process::ExitCode;
use std::time::Duration;

use gatefold_core::{Clock as _, SystemClock};
use serde_json::json;
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

use super::inquiry::{ReportedStatus, StatusInquiry};
use crate::cli::output::Output;
use crate::cli::stop;
use screen::{Input, Screen};

/// Shows what the gateway does until the person leaves. The gateway may stop and start in the
/// meantime.
pub(super) async fn run(
    inquiry: StatusInquiry<'_>,
    interval: Duration,
    output: &Output,
) -> anyhow::Result<ExitCode> {
    let stop = stop::on_signal()?;
    if output.is_terminal() && !output.is_json() {
        draw(inquiry, interval, output, &stop).await?;
    } else {
        tell(inquiry, interval, output, &stop).await?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The gateway's report, or why there is none; `None` when it is time to leave.
async fn asked(
    inquiry: StatusInquiry<'_>,
    stop: &CancellationToken,
) -> Option<anyhow::Result<ReportedStatus>> {
    stop.run_until_cancelled(inquiry.ask()).await
}

/// Prints one line, or one JSON object on a line, each time.
async fn tell(
    inquiry: StatusInquiry<'_>,
    interval: Duration,
    output: &Output,
    stop: &CancellationToken,
) -> anyhow::Result<()> {
    while let Some(reported) = asked(inquiry, stop).await {
        let (at, reported) = (SystemClock.now(), reported?);
        if output.is_json() {
            let (url, running) = (&reported.url, reported.running.ok());
            output.json_line(&json!({ "at": at, "url": url, "running": running }));
        } else {
            output.line(&format!("{at} {}", frame::summary(&reported.running)));
        }
        let pause = stop.run_until_cancelled(tokio::time::sleep(interval)).await;
        if pause.is_none() || output.is_gone() {
            break;
        }
    }
    Ok(())
}

async fn draw(
    inquiry: StatusInquiry<'_>,
    interval: Duration,
    output: &Output,
    stop: &CancellationToken,
) -> anyhow::Result<()> {
    let mut screen = Screen::open(output.style())?;
    let mut status = None;
    loop {
        let mut due = Instant::now() + interval;
        let mut asking = Box::pin(asked(inquiry, stop));
        let mut is_answered = false;
        loop {
            if let Some(status) = &status {
                let (columns, rows) = Screen::size();
                screen.show(&frame::lines(status, output.style().within(columns), rows))?;
            }
            tokio::select! {
                answer = &mut asking, if !is_answered => {
                    let Some(answer) = answer else { return Ok(()) };
                    (status, is_answered) = (Some(answer?), true);
                    due = due.max(Instant::now());
                }
                input = screen.input() => if input == Input::Leave { return Ok(()) },
                () = stop.cancelled() => return Ok(()),
                () = sleep_until(due), if is_answered => break,
            }
        }
    }
}
