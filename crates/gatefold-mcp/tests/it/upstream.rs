//! `McpSource` under a real dispatcher, in front of fixture servers in both eras and on both
//! transports.

pub(crate) mod asking;
mod calls;
mod credentials;
mod crowded_starts;
mod entries;
mod eras;
mod floods;
mod forgotten;
mod guarded;
mod http;
mod identities;
mod installs;
mod lifecycle;
mod lists;
mod logs;
mod processes;
mod questions;
mod raw;
mod replay;
mod resumption;
pub(crate) mod rooted;
mod starts;
mod subscriptions;
pub(crate) mod support;
mod wedged;
pub(crate) mod world;

use libtest_mimic::Trial;

pub(crate) use self::logs::subscribe;
pub(crate) use self::processes::run_gateway_if_asked;

pub(crate) fn trials() -> Vec<Trial> {
    let trials = [
        calls::trials(),
        credentials::trials(),
        crowded_starts::trials(),
        entries::trials(),
        eras::trials(),
        floods::trials(),
        forgotten::trials(),
        guarded::trials(),
        http::trials(),
        identities::trials(),
        installs::trials(),
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
        rooted::trials(),
        wedged::trials(),
    ];
    trials.into_iter().flatten().collect()
}
