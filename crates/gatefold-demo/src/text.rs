//! `text`: pure tools for pieces of text.

mod encoding;
mod inspect;
mod lines;
mod reshape;

use crate::{
    arguments::Text,
    toolbox::{Tool, Toolbox},
};

/// The longest text that a tool takes.
const MAX_CHARS: usize = 50_000;

/// A text to work on; may be empty.
type Input = Text<0, MAX_CHARS>;

pub(crate) fn tools() -> Vec<Tool> {
    Toolbox::new(())
        .infallible("count_words", inspect::count_words)
        .infallible("find_text", inspect::find_text)
        .pure("diff_texts", inspect::diff_texts)
        .pure("replace_text", reshape::replace_text)
        .infallible("change_case", reshape::change_case)
        .pure("slugify", reshape::slugify)
        .infallible("wrap_text", reshape::wrap_text)
        .infallible("truncate_text", reshape::truncate_text)
        .infallible("sort_lines", lines::sort_lines)
        .infallible("dedupe_lines", lines::dedupe_lines)
        .infallible("encode_base64", encoding::encode_base64)
        .pure("decode_base64", encoding::decode_base64)
        .infallible("hash_text", encoding::hash_text)
        .into_tools()
}
