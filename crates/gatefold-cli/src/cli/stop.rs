use std::io;
use std::process::ExitCode;
use std::time::Duration;

use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio_util::sync::CancellationToken;

/// The exit code after Ctrl-C, as in shells.
pub(super) const INTERRUPTED: u8 = 130;

/// How long the children of a one-shot command may take to end after a signal.
const CHILDREN_END: Duration = Duration::from_secs(2);

/// Watches for SIGINT and SIGTERM from now on: the first fires the token, the second exits.
pub(super) fn on_signal() -> io::Result<CancellationToken> {
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let stop = CancellationToken::new();
    let token = stop.clone();
    tokio::spawn(async move {
        either(&mut interrupt, &mut terminate).await;
        tracing::info!("was asked to stop; a second signal exits at once");
        token.cancel();
        either(&mut interrupt, &mut terminate).await;
        gatefold_mcp::kill_children();
        std::process::exit(i32::from(INTERRUPTED));
    });
    Ok(stop)
}

/// The exit code of a command whose window was closed, as in shells.
pub(super) const HUNG_UP: u8 = 129;

/// SIGINT, SIGTERM and SIGHUP, for a command that goes on after the first.
pub(super) struct Signals {
    pub(super) interrupt: Signal,
    pub(super) terminate: Signal,
    pub(super) hangup: Signal,
}

impl Signals {
    /// Watches for all from now on.
    pub(super) fn new() -> io::Result<Self> {
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            hangup: signal(SignalKind::hangup())?,
        })
    }
}

async fn either(interrupt: &mut Signal, terminate: &mut Signal) {
    tokio::select! {
        _ = interrupt.recv() => {}
        _ = terminate.recv() => {}
    }
}

/// Keeps the process alive when a file has reached the size that the system allows. The write then
/// fails like one on a full disk, which costs some calls but not the gateway.
///
/// The signal is handled rather than ignored, because children would inherit an ignored signal.
pub(super) fn outlive_full_files() -> io::Result<()> {
    let too_large = SignalKind::from_raw(rustix::process::Signal::XFSZ.as_raw());
    // The handler stays installed when its stream is dropped.
    signal(too_large).map(drop)
}

/// SIGHUP, which asks for the configuration to be read again.
pub(super) fn reload_signal() -> io::Result<Signal> {
    signal(SignalKind::hangup())
}

/// Does the work of a one-shot command unless a signal comes first.
pub(super) async fn unless_stopped(
    work: impl Future<Output = anyhow::Result<ExitCode>>,
) -> anyhow::Result<ExitCode> {
    let stop = on_signal()?;
    // Dropped last, because that kills the work's children, and killing one that downloads would
    // leave a broken cache.
    let mut work = Box::pin(work);
    tokio::select! {
        result = &mut work => result,
        () = stop.cancelled() => {
            gatefold_mcp::end_children(CHILDREN_END).await;
            Ok(ExitCode::from(INTERRUPTED))
        }
    }
}
