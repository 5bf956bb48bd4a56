//! The catalogue as operations use it: completed by asking unknown sources, and looked up by name.

use std::time::Duration;

use gatefold::App;
use gatefold_catalog::{Tool, View};
use gatefold_core::{Domain, ToolName};
use serde::{Deserialize, Serialize};

use crate::{Fault, OperationError, OperationObserver};

/// The hint when no configured source can have tools.
pub const NO_SOURCE: &str = "no source is configured; `gatefold import` imports them from your clients, `gatefold add` adds \
     one, and `gatefold init` writes a configuration to fill in";

/// How long an operation waits for the encoder to read the tools, which it does once.
const ENCODER_WAIT: Duration = Duration::from_mins(1);

/// A source that could not be asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOutSource {
    pub domain: Domain,
    pub reason: String,
}

/// Waits until the encoder has read the tools, so that a search finds what it will find from then
/// on. Returns whether it has.
pub async fn await_encoder(app: &App, observer: &dyn OperationObserver) -> bool {
    observer.while_encoder_reads(Box::pin(app.await_encoder(ENCODER_WAIT))).await
}

/// Asks the sources that were never reached, unless `is_enough` accepts what is known. Returns those
/// that could not be asked.
pub async fn complete(
    app: &App,
    observer: &dyn OperationObserver,
    is_enough: impl FnOnce(&View) -> bool,
) -> Vec<LeftOutSource> {
    if is_enough(app.pin().view()) {
        return Vec::new();
    }
    let failed = app.learn(observer).await.into_iter();
    let left_out = failed.map(|(domain, error)| {
        let reason = without_domain(&error, &domain);
        LeftOutSource { domain, reason }
    });
    left_out.collect()
}

/// The reason of an error without the domain, for where that is shown beside it.
pub fn without_domain(error: &str, domain: &Domain) -> String {
    let known = format!("`{domain}` is unavailable: ");
    error.strip_prefix(&known).unwrap_or(error).to_owned()
}

/// Finds a tool by any of its names.
pub(crate) fn resolve<'a>(view: &'a View, name: &str) -> Result<&'a Tool, OperationError> {
    let unknown = |nearest: Vec<String>| {
        let help = if !nearest.is_empty() {
            format!("did you mean {}?", nearest.join(" or "))
        } else if view.tool_count() > 0 {
            "`gatefold tools list` shows them all".to_owned()
        } else if view.domains().next().is_some() {
            "no source could be reached; `gatefold check` says why".to_owned()
        } else {
            NO_SOURCE.to_owned()
        };
        OperationError::NotFound(Fault::new(format!("unknown tool `{name}`")).with_help(help))
    };
    let asked = ToolName::parse(name).map_err(|_| unknown(Vec::new()))?;
    view.resolve(&asked)
        .map_err(|miss| unknown(miss.nearest.iter().map(|id| format!("`{id}`")).collect()))
}
