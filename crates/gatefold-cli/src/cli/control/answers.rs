//! What a gateway answers on its control socket.

use std::sync::Arc;

use gatefold::App;
use gatefold_core::Domain;
use serde_json::value::{RawValue, to_raw_value};

use super::ControlRequest;
use crate::cli::failure::with_help;
use crate::cli::progress::Progress;
use crate::cli::recorded_state::RecordedState;
use crate::cli::tool_answers;

pub(super) async fn answer(
    app: &Arc<App>,
    request: ControlRequest,
) -> anyhow::Result<Box<RawValue>> {
    Ok(match request {
        // The listener answers it.
        ControlRequest::Identity => to_raw_value(&())?,
        ControlRequest::Status => to_raw_value(&app.status())?,
        ControlRequest::Record => to_raw_value(&RecordedState::of(app).await?)?,
        ControlRequest::Tools(request) => {
            to_raw_value(&tool_answers::ask(app, &request, &Progress::hidden()).await)?
        }
        ControlRequest::Refresh { source } => {
            let domain = Domain::parse(&source).map_err(|_| unknown(app, &source))?;
            let refreshed = app.refresh(&domain).await.ok_or_else(|| unknown(app, &source))?;
            // Why it failed is in the log, and in the status.
            to_raw_value(&refreshed.is_ok())?
        }
        ControlRequest::Log { source, after } => {
            let lines = app.source_log(&source, after).ok_or_else(|| unknown(app, &source))?;
            to_raw_value(&lines)?
        }
    })
}

fn unknown(app: &App, source: &str) -> anyhow::Error {
    let config = app.config();
    let names: Vec<_> = config.sources.iter().map(|source| source.domain.as_str()).collect();
    let help = match names.as_slice() {
        [] => "the gateway that runs has none".to_owned(),
        names => format!("the sources are {}", names.join(", ")),
    };
    with_help(format!("there is no source `{source}`"), help)
}
