//! The texts of a configuration, by which its tools are found.

use std::sync::Arc;

use gatefold_catalog::{RetrievalTexts, View};
use tokio::task::spawn_blocking;

use crate::config::Config;
use crate::texts::read_texts;

/// What came of reading the file that a configuration names.
#[derive(Default)]
pub(super) struct LoadedTexts {
    found: Option<Arc<RetrievalTexts>>,
    fault: Option<String>,
}

impl LoadedTexts {
    pub(super) async fn of(config: &Config) -> Self {
        let Some(path) = config.search.texts.clone() else { return Self::default() };
        let place = path.display().to_string();
        let read = spawn_blocking(move || read_texts(&path)).await;
        let fault = match read {
            Ok(Ok(Some((_, texts)))) => return Self { found: Some(Arc::new(texts)), fault: None },
            Ok(Ok(None)) => {
                format!("there is no file `{place}`; `gatefold index describe` writes it")
            }
            Ok(Err(error)) => format!("`{place}`: {error}"),
            Err(panic) => panic.to_string(),
        };
        tracing::warn!(fault, "searches go without `search.texts`");
        Self { found: None, fault: Some(fault) }
    }

    pub(super) fn found(&self) -> Option<Arc<RetrievalTexts>> {
        self.found.clone()
    }

    /// Why there are no texts, or how many of a view's tools have texts for another definition.
    pub(super) fn fault(&self, view: &View) -> Option<String> {
        if self.fault.is_some() {
            return self.fault.clone();
        }
        let texts = self.found.as_ref()?;
        let present = view.tools().map(|tool| (tool.id().as_str(), tool.definition().digest()));
        let stale = match texts.coverage(present).stale {
            0 => return None,
            1 => "one tool".to_owned(),
            count => format!("{count} tools"),
        };
        Some(format!(
            "the texts of {stale} were written for other definitions and do not count; `gatefold \
             index describe` writes new ones"
        ))
    }
}
