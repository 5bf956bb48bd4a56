use std::sync::Arc;

use gatefold::config::Inputs;
use gatefold::{App, ConfigWatch, Environment, ReloadReport, SeenFiles};

use super::{session, stop};

/// Reads the configuration again when it changes or on SIGHUP.
pub(super) async fn follow(
    app: Arc<App>,
    inputs: Inputs,
    seen: SeenFiles,
    environment: Environment,
) {
    let mut hangup = match stop::reload_signal() {
        Ok(hangup) => hangup,
        Err(error) => {
            tracing::warn!(%error, "SIGHUP cannot be watched; changes need a restart");
            return;
        }
    };
    let config = app.config();
    let files: Vec<_> = config.files.iter().chain(&config.secrets_file).cloned().collect();
    let mut watch = match ConfigWatch::new(&files, &seen) {
        Ok(watch) => Some(watch),
        Err(error) => {
            tracing::warn!(%error, "changes of the configuration take effect on SIGHUP only");
            None
        }
    };
    loop {
        let changed = async {
            match &mut watch {
                Some(watch) => watch.changed().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            () = changed => {}
            asked = hangup.recv() => if asked.is_none() { return },
        }
        reload(&app, &inputs, &environment).await;
    }
}

async fn reload(app: &Arc<App>, inputs: &Inputs, environment: &Environment) {
    match app.reload(inputs, environment).await {
        Ok(ReloadReport { kept, added, removed, needs_restart }) => {
            tracing::info!(kept, added, removed, "applied the changed configuration");
            if !needs_restart.is_empty() {
                tracing::warn!(keys = ?needs_restart, "some changes take effect after a restart");
            }
            session::warn_of_unusable(app);
            app.keep_learning();
        }
        Err(error) => {
            tracing::error!(%error, "rejected the changed configuration and kept the old one");
        }
    }
}
