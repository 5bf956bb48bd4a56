//! The pieces of content that tools, prompts and resources share.

use rmcp::model::{ContentBlock, ResourceContents};

/// One red pixel.
pub const PNG: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR42mP4z8AAAAMBAQD3A0FDAAAAAElFTkSuQmCC";

/// Two samples of silence.
pub(super) const WAV: &str = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQIAAACAgA==";

pub(super) fn image() -> ContentBlock {
    ContentBlock::image(PNG, "image/png")
}

pub(super) fn embedded(uri: &str, mime_type: &str, text: &str) -> ContentBlock {
    ContentBlock::resource(ResourceContents::text(text, uri).with_mime_type(mime_type))
}
