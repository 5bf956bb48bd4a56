//! The issuers whose tokens let people in: whether their keys can be had.

use gatefold::config::Config;
use gatefold::{IssuerFault, examine_issuers};

use super::{Finding, Level, ProbeScope, Section};

pub(super) async fn look(config: &Config, reach: ProbeScope) -> Vec<Finding> {
    if reach == ProbeScope::Offline || config.server.issuers.is_empty() {
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
    let finding = |issuer: &String| match faults.iter().find(|own| own.issuer == *issuer) {
        Some(IssuerFault { fault, fix, .. }) => {
            let what = format!("nobody comes in with a token of `{issuer}`: {fault}");
            Finding::new(Section::Configuration, Level::Fault, what).fix(*fix)
        }
        None => Finding::ok(Section::Configuration, format!("`{issuer}` publishes its keys")),
    };
    config.server.issuers.iter().map(|own| finding(&own.issuer)).collect()
}
