use std::io;
use std::sync::Arc;

use gatefold::config::Inputs;
use gatefold::{App, ConfigWatch, Environment, ReloadReport, SeenFiles, TlsWarning, WatchError};
use tokio::signal::unix::Signal;

use super::session;

/// Reads the configuration again when it changes or on SIGHUP, which the caller watches already: a
/// gateway that is up must not end by it.
pub(super) async fn follow(
    hangup: io::Result<Signal>,
    app: Arc<App>,
    inputs: Inputs,
    seen: SeenFiles,
    environment: Environment,
) {
    let mut hangup = match hangup {
        Ok(hangup) => hangup,
        Err(error) => {
            tracing::warn!(%error, "SIGHUP cannot be watched; changes need a restart");
            return;
        }
    };
    let config = app.config();
    let files: Vec<_> = config.files.iter().chain(&config.secrets_file).cloned().collect();
    let mut watch = watching(ConfigWatch::new(&files, &seen), "the configuration");
    let certificate = app.watch_tls();
    let mut certificate = certificate.and_then(|watch| watching(watch, "the certificate"));
    loop {
        tokio::select! {
            () = changed(watch.as_mut()) => reload(&app, &inputs, &environment).await,
            () = changed(certificate.as_mut()) => reload_tls(&app),
            asked = hangup.recv() => {
                if asked.is_none() {
                    return;
                }
                reload(&app, &inputs, &environment).await;
                reload_tls(&app);
            }
        }
    }
}

fn watching(watch: Result<ConfigWatch, WatchError>, what: &str) -> Option<ConfigWatch> {
    watch
        .inspect_err(|error| {
            tracing::warn!(%error, "changes of {what} take effect on SIGHUP only");
        })
        .ok()
}

/// Never, where nothing is watched.
async fn changed(watch: Option<&mut ConfigWatch>) {
    match watch {
        Some(watch) => watch.changed().await,
        None => std::future::pending().await,
    }
}

fn reload_tls(app: &App) {
    match app.reload_tls() {
        None => {}
        Some(Ok(warnings)) => {
            tracing::info!("took up the certificate and its key for new connections");
            warn_of_tls(&warnings);
        }
        Some(Err(error)) => {
            tracing::error!(%error, fix = error.fix(), "kept the old certificate");
        }
    }
}

/// Logs what should not stay as it is.
pub(super) fn warn_of_tls(warnings: &[TlsWarning]) {
    for TlsWarning { what, fix } in warnings {
        tracing::warn!(fix, "{what}");
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
