//! Markdown, whose text is the file's own.

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

use crate::DocumentFault;
use crate::document::{Block, BlockKind};
use crate::draft::{Draft, canonical_text};
use crate::limits::MAX_BLOCKS;
use crate::plain::{check_rest, within_limit};

/// How deep quotes may be in quotes for their blocks to be told apart.
const MAX_DEPTH: usize = 16;

pub(crate) fn read(text: &str, draft: &mut Draft) -> Result<(), DocumentFault> {
    let text = canonical_text(text);
    let (kept, rest) = within_limit(&text);
    let (blocks, title) = blocks(kept, draft)?;
    draft.append(kept, blocks)?;
    draft.set_title(&title);
    check_rest(rest, draft)
}

/// The blocks of a text, and its first heading.
fn blocks(text: &str, draft: &Draft) -> Result<(Vec<Block>, String), DocumentFault> {
    let options = Options::ENABLE_TABLES | Options::ENABLE_YAML_STYLE_METADATA_BLOCKS;
    let (mut blocks, mut title, mut is_in_title) = (Vec::new(), String::new(), false);
    // How deep the parser is in what is a block as a whole, and in quotes around it.
    let (mut depth, mut quotes) = (0_usize, 0_usize);
    for (event, span) in Parser::new_ext(text, options).into_offset_iter() {
        if blocks.len() >= MAX_BLOCKS {
            break;
        }
        match event {
            Event::Start(Tag::BlockQuote(_)) if depth == 0 && quotes < MAX_DEPTH => quotes += 1,
            Event::End(TagEnd::BlockQuote(_)) if depth == 0 => quotes = quotes.saturating_sub(1),
            Event::Start(tag) => {
                if depth == 0 {
                    draft.check_time()?;
                    let kind = kind(&tag);
                    is_in_title = matches!(kind, BlockKind::Heading(_)) && title.is_empty();
                    blocks.push(Block::new(kind, whole_lines(text, span.start, span.end)));
                }
                depth += 1;
            }
            Event::End(_) => {
                depth = depth.saturating_sub(1);
                is_in_title &= depth > 0;
            }
            Event::Text(words) | Event::Code(words) if is_in_title => title.push_str(&words),
            _ => {}
        }
    }
    Ok((blocks, title))
}

fn kind(tag: &Tag<'_>) -> BlockKind {
    match tag {
        Tag::Heading { level, .. } => BlockKind::Heading(*level as u8),
        Tag::List(_) => BlockKind::List,
        Tag::Table(_) => BlockKind::Table,
        Tag::CodeBlock(_) | Tag::MetadataBlock(_) => BlockKind::Code,
        _ => BlockKind::Paragraph,
    }
}

/// A span from the beginning of its first line, so that marks of quotes and indentation belong to it.
fn whole_lines(text: &str, start: usize, end: usize) -> std::ops::Range<usize> {
    let line = text[..start].rfind('\n').map_or(0, |line| line + 1);
    line..start + text[start..end].trim_end().len()
}
