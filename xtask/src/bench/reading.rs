//! What a model reads, and how many tokens it is.

use anyhow::Result;
use gatefold_catalog::View;
use gatefold_core::ToolName;
use gatefold_disclose::{Disclosure as _, Gateway, Reply, Step};
use serde::Deserialize;
use serde_json::value::{RawValue, to_raw_value};
use tiktoken_rs::CoreBPE;

pub(super) fn count(vocabulary: &CoreBPE, text: &str) -> usize {
    vocabulary.encode_ordinary(text).len()
}

pub(super) fn discover(gateway: &Gateway, view: &View, arguments: &str) -> Result<Reply> {
    let arguments = RawValue::from_string(arguments.to_owned())?;
    match gateway.interpret(view, &ToolName::parse("discover_tools")?, &arguments) {
        Ok(Step::Reply(reply) | Step::Found(reply, _) | Step::Loaded(reply, _)) => Ok(reply),
        Ok(Step::Call(_)) => anyhow::bail!("discovering called a tool"),
        Err(mend) => Err(mend.into()),
    }
}

/// The text that a model reads of a block.
pub(super) fn text_of(block: &RawValue) -> String {
    #[derive(Deserialize)]
    struct Text {
        text: Option<String>,
    }
    let text = serde_json::from_str::<Text>(block.get()).ok().and_then(|block| block.text);
    text.unwrap_or_else(|| to_raw_value(block).map(|b| b.get().to_owned()).unwrap_or_default())
}
