//! The sentence encoder for searches: whether it can be opened.

use gatefold::EncoderTier;
use gatefold::config::Config;

use super::{Finding, Level, Section};

pub(super) async fn look(config: &Config) -> Option<Finding> {
    let path = config.search.encoder.clone()?;
    let place = path.display().to_string();
    let finding = match EncoderTier::examine(path).await {
        Ok(dimensions) => {
            let what = format!("the sentence encoder can be opened, {dimensions} dimensions");
            Finding::ok(Section::Configuration, what)
        }
        Err(fault) => {
            let what = format!("searches go without the sentence encoder: {fault}");
            let fix = "gatefold model get, and set `search.encoder` to the folder that it prints";
            Finding::new(Section::Configuration, Level::Warning, what).fix(fix)
        }
    };
    Some(finding.at(place))
}
