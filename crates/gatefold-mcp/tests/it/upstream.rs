//! `McpSource` under a real dispatcher, before fixture servers in both eras and on both transports.

mod calls;
mod eras;
mod http;
mod lifecycle;
mod lists;
mod logs;
mod processes;
mod replay;
mod starts;
mod support;
mod world;

use libtest_mimic::Trial;

pub(crate) use self::logs::subscribe;
pub(crate) use self::processes::run_gateway_if_asked;

pub(crate) fn trials() -> Vec<Trial> {
    let trials = [
        calls::trials(),
        eras::trials(),
        http::trials(),
        lifecycle::trials(),
        lists::trials(),
        logs::trials(),
        processes::trials(),
        replay::trials(),
        starts::trials(),
    ];
    trials.into_iter().flatten().collect()
}
