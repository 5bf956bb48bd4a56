//! `gatefold status --watch`: a live view of a running gateway.

mod frame;
mod screen;

use std::net::SocketAddr;
use std::process::ExitCode;
use std::time::Duration;

use gatefold_core::{Clock as _, SystemClock};
use serde_json::{Value, json};
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

use super::{StatusUnavailable, ask};
use crate::cli::output::Output;
use crate::cli::stop;
use screen::{Input, Screen};

/// Shows what the gateway does until somebody leaves. The gateway may stop and start in the
/// meantime.
pub(super) async fn run(
    address: SocketAddr,
    interval: Duration,
    output: &Output,
) -> anyhow::Result<ExitCode> {
    let stop = stop::on_signal()?;
    if output.is_terminal() && !output.is_json() {
        draw(address, interval, output, &stop).await?;
    } else {
        tell(address, interval, output, &stop).await;
    }
    Ok(ExitCode::SUCCESS)
}

/// The gateway's report, or why there is none; `None` when it is time to leave.
async fn asked(
    address: SocketAddr,
    stop: &CancellationToken,
) -> Option<Result<Value, StatusUnavailable>> {
    stop.run_until_cancelled(ask(address)).await
}

/// One line, or one JSON object on a line, each time.
async fn tell(address: SocketAddr, interval: Duration, output: &Output, stop: &CancellationToken) {
    while let Some(status) = asked(address, stop).await {
        let at = SystemClock.now();
        if output.is_json() {
            let url = format!("http://{address}/mcp");
            output.json_line(&json!({ "at": at, "url": url, "running": status.ok() }));
        } else {
            output.line(&format!("{at} {}", frame::summary(address, &status)));
        }
        let pause = stop.run_until_cancelled(tokio::time::sleep(interval)).await;
        if pause.is_none() || output.is_gone() {
            return;
        }
    }
}

async fn draw(
    address: SocketAddr,
    interval: Duration,
    output: &Output,
    stop: &CancellationToken,
) -> anyhow::Result<()> {
    let mut screen = Screen::open(output.style())?;
    let mut status = None;
    loop {
        let mut due = Instant::now() + interval;
        let mut asking = Box::pin(asked(address, stop));
        let mut is_answered = false;
        loop {
            if let Some(status) = &status {
                let (columns, rows) = Screen::size();
                screen.show(&frame::lines(
                    address,
                    status,
                    output.style().within(columns),
                    rows,
                ))?;
            }
            tokio::select! {
                answer = &mut asking, if !is_answered => {
                    let Some(answer) = answer else { return Ok(()) };
                    (status, is_answered) = (Some(answer), true);
                    due = due.max(Instant::now());
                }
                input = screen.input() => if input == Input::Leave { return Ok(()) },
                () = stop.cancelled() => return Ok(()),
                () = sleep_until(due), if is_answered => break,
            }
        }
    }
}
