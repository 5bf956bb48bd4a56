//! The issuers whose tokens let people in, and the provider at which they sign in: whether what they are
//! believed by can be had.

use gatefold::config::Config;
use gatefold::{IssuerFault, examine_issuers};

use super::{Finding, Level, ProbeScope, Section};

pub(super) async fn look(config: &Config, reach: ProbeScope) -> Vec<Finding> {
    let has_none = config.server.known_issuers().next().is_none();
    if reach == ProbeScope::Offline || has_none {
        return Vec::new();
    }
    match examine_issuers(&config.server).await {
        Ok(faults) => judge(config, &faults),
        Err(error) => {
            let what = format!("no issuer can be asked: {error}");
            vec![Finding::new(Section::Configuration, Level::Fault, what)]
        }
    }
}

fn judge(config: &Config, faults: &[IssuerFault]) -> Vec<Finding> {
    let issuers = config.server.issuers.iter().map(|own| {
        let fault = faults.iter().find(|it| it.issuer == own.issuer && it.key != SIGN_IN);
        let good = format!("`{}` publishes its keys", own.issuer);
        finding(fault, &format!("nobody comes in with a token of `{}`", own.issuer), good)
    });
    let provider = config.server.sign_in_provider().map(|own| {
        let fault = faults.iter().find(|it| it.key == SIGN_IN);
        let good = format!("`{}` can sign people in", own.issuer);
        finding(fault, &format!("nobody can sign in at `{}`", own.issuer), good)
    });
    issuers.chain(provider).collect()
}

/// The key of the provider.
const SIGN_IN: &str = "server.sign_in.provider";

fn finding(fault: Option<&IssuerFault>, bad: &str, good: String) -> Finding {
    match fault {
        Some(IssuerFault { fault, fix, .. }) => {
            Finding::new(Section::Configuration, Level::Fault, format!("{bad}: {fault}")).fix(*fix)
        }
        None => Finding::ok(Section::Configuration, good),
    }
}
