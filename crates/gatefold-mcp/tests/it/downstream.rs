//! The gateway towards its clients, over real sockets and pipes, in front of sources that are
//! servers.

mod apps;
mod cancelled;
mod capable;
mod edge;
mod errors;
mod identity;
mod limits;
mod listening;
mod loops;
mod missing;
mod names;
mod questions;
mod resuming;
mod scripted;
mod sessions;
mod shutdown;
mod sign_in;
mod stdio;
mod streams;
mod tls;
mod versions;

use libtest_mimic::Trial;

pub(crate) use self::stdio::run_if_asked;

pub(crate) fn trials() -> Vec<Trial> {
    let trials = [
        apps::trials(),
        cancelled::trials(),
        capable::trials(),
        errors::trials(),
        identity::trials(),
        limits::trials(),
        listening::trials(),
        loops::trials(),
        missing::trials(),
        names::trials(),
        questions::trials(),
        resuming::trials(),
        sessions::trials(),
        shutdown::trials(),
        sign_in::trials(),
        stdio::trials(),
        streams::trials(),
        tls::trials(),
        versions::trials(),
    ];
    trials.into_iter().flatten().collect()
}
