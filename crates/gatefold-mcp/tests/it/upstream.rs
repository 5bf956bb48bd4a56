//! `McpSource` under a real dispatcher, before fixture servers in both eras and on both transports.

pub(crate) mod asking;
mod calls;
mod credentials;
mod entries;
mod eras;
mod http;
mod identities;
mod lifecycle;
mod lists;
mod logs;
mod processes;
mod questions;
mod raw;
mod replay;
mod resumption;
mod starts;
mod subscriptions;
pub(crate) mod support;
pub(crate) mod world;

use libtest_mimic::Trial;

pub(crate) use self::logs::subscribe;
pub(crate) use self::processes::run_gateway_if_asked;

pub(crate) fn trials() -> Vec<Trial> {
    let trials = [
        calls::trials(),
        credentials::trials(),
        entries::trials(),
        eras::trials(),
        http::trials(),
        identities::trials(),
        lifecycle::trials(),
        lists::trials(),
        logs::trials(),
        processes::trials(),
        questions::trials(),
        raw::trials(),
        replay::trials(),
        resumption::trials(),
        starts::trials(),
        subscriptions::trials(),
    ];
    trials.into_iter().flatten().collect()
}
