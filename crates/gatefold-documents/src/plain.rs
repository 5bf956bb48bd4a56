//! Texts as they are, and code.

use std::borrow::Cow;

use crate::DocumentFault;
use crate::document::{Block, BlockKind};
use crate::draft::{Draft, canonical_text};
use crate::limits::{MAX_BLOCKS, MAX_TEXT};

/// The most bytes of a file that are read as a text.
const MAX_BYTES: usize = 2 * MAX_TEXT;

/// As many of the bytes as are read as a text, to the end of a line if there is one.
pub(crate) fn first_bytes(bytes: &[u8]) -> &[u8] {
    if bytes.len() <= MAX_BYTES {
        return bytes;
    }
    let kept = &bytes[..MAX_BYTES];
    let is_continued = |at: usize| bytes.get(at).is_some_and(|byte| byte & 0xc0 == 0x80);
    // Neither a character of UTF-8 nor one of UTF-16 is cut in two.
    let character = (MAX_BYTES - 4..=MAX_BYTES).rev().find(|at| at % 2 == 0 && !is_continued(*at));
    let line = kept.iter().rposition(|byte| *byte == b'\n').map(|line| line & !1);
    &bytes[..line.filter(|line| *line > 0).or(character).unwrap_or(MAX_BYTES)]
}

/// The characters of a text. What is neither UTF-8 nor marked as UTF-16 is read as Windows-1252,
/// in which old files are.
pub(crate) fn decode(bytes: &[u8]) -> Cow<'_, str> {
    match encoding_rs::Encoding::for_bom(bytes) {
        Some((encoding, _)) => encoding.decode_with_bom_removal(bytes).0,
        None => match std::str::from_utf8(bytes) {
            Ok(text) => Cow::Borrowed(text),
            Err(_) => encoding_rs::WINDOWS_1252.decode_without_bom_handling(bytes).0,
        },
    }
}

/// A text whose blocks are what empty lines part.
pub(crate) fn read(text: &str, kind: BlockKind, draft: &mut Draft) -> Result<(), DocumentFault> {
    let text = canonical_text(text);
    let (kept, rest) = within_limit(&text);
    draft.append(kept, parted_by_empty_lines(kept, kind))?;
    check_rest(rest, draft)
}

/// As many whole lines of a text as are read of one, or of a longer line its beginning, and the rest.
pub(crate) fn within_limit(text: &str) -> (&str, &str) {
    // Room for what parts blocks.
    const ROOM: usize = MAX_TEXT - 16;
    if text.len() <= ROOM {
        return (text, "");
    }
    let end = (0..=ROOM).rev().find(|at| text.is_char_boundary(*at)).unwrap_or_default();
    let end = text[..end].rfind('\n').filter(|line| *line > 0).unwrap_or(end);
    text.split_at(end)
}

/// An error if something is left that was not read.
pub(crate) fn check_rest(rest: impl AsRef<[u8]>, draft: &Draft) -> Result<(), DocumentFault> {
    let is_blank = rest.as_ref().iter().all(u8::is_ascii_whitespace);
    if is_blank { Ok(()) } else { Err(DocumentFault::TooLarge(draft.format())) }
}

pub(crate) fn parted_by_empty_lines(text: &str, kind: BlockKind) -> Vec<Block> {
    let (mut blocks, mut at, mut open): (Vec<Block>, usize, Option<Block>) = (Vec::new(), 0, None);
    for line in text.split_inclusive('\n') {
        let end = at + line.trim_end().len();
        // Of very many blocks the last holds the rest.
        if line.trim().is_empty() && blocks.len() < MAX_BLOCKS - 1 {
            blocks.extend(open.take());
        } else if !line.trim().is_empty() {
            open.get_or_insert(Block::new(kind, at..end)).span.end = end;
        }
        at += line.len();
    }
    blocks.extend(open);
    blocks
}
