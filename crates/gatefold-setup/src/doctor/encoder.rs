//! The sentence encoder for searches: whether it can be opened.

use gatefold::EncoderTier;
use gatefold::config::{Config, ModelPlace};

use super::{Finding, Level, Section};

pub(super) async fn look(config: &Config) -> Option<Finding> {
    let model = config.search.encoder.clone()?;
    let place = model.to_string();
    let fix = match &model {
        ModelPlace::Builtin => "set `search.encoder` to \"none\"",
        ModelPlace::Files(_) => {
            "gatefold model get, and set `search.encoder` to the folder that it prints"
        }
    };
    let finding = match EncoderTier::examine(model).await {
        Ok(dimensions) => {
            let what = format!("the sentence encoder can be opened, {dimensions} dimensions");
            Finding::ok(Section::Configuration, what)
        }
        Err(fault) => {
            let what = format!("searches go without the sentence encoder: {fault}");
            Finding::new(Section::Configuration, Level::Warning, what).fix(fix)
        }
    };
    Some(finding.at(place))
}
