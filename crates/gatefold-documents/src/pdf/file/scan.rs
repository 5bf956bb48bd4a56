//! Where in the bytes of a document its objects are.

use std::ops::Range;
use std::sync::LazyLock;
use std::time::Instant;

use lopdf::ObjectId;
use regex::bytes::Regex;

use super::super::PdfFault;

/// The most trailers that are looked at, the last ones first, and how long one may be, in bytes.
pub(super) const MAX_TRAILERS: usize = 16;
const MAX_TRAILER: usize = 64 * 1024;

fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("the pattern is a constant")
}

static HEADER: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(?-u)([0-9]{1,10})[\x00\s]{1,20}([0-9]{1,5})[\x00\s]{1,20}obj"));
static STREAM: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(?-u)>>[\x00\s]{0,20}stream(?:\r\n|\n|\r)"));
static LENGTH: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(?-u)/Length[\x00\s]{1,20}([0-9]{1,10})[\x00\s]{0,20}(?:/|>>)"));
static END: LazyLock<Regex> = LazyLock::new(|| pattern("endstream"));
static AFTER_DATA: LazyLock<Regex> = LazyLock::new(|| pattern(r"(?-u)^[\x00\s]{0,4}endstream"));
static TRAILER: LazyLock<Regex> = LazyLock::new(|| pattern("trailer"));

/// An object that stands in the file by itself.
pub(super) struct FoundObject {
    pub(super) id: ObjectId,
    /// The object, or the dictionary of the stream.
    pub(super) head: Range<usize>,
    /// A stream's data, with the line break before `endstream`.
    pub(super) data: Option<Range<usize>>,
}

/// All objects in the order of the file. A stream's data is not looked at, for it may be a document
/// too.
pub(super) fn objects(
    bytes: &[u8],
    most: usize,
    until: Instant,
) -> Result<Vec<FoundObject>, PdfFault> {
    let (mut found, mut at, mut has_end) = (Vec::new(), 0, true);
    while let Some(header) = HEADER.captures_at(bytes, at) {
        if found.len() == most {
            return Err(PdfFault::TooLarge);
        }
        if Instant::now() >= until {
            return Err(PdfFault::TooLong);
        }
        let start = header.get_match().end();
        let next = HEADER.find_at(bytes, start).map_or(bytes.len(), |next| next.start());
        let mut object = FoundObject { id: (0, 0), head: start..next, data: None };
        at = next;
        if let Some(stream) = STREAM.find(&bytes[start..next]) {
            let data = start + stream.end();
            object.head.end = start + stream.start() + b">>".len();
            let end = end_of_data(bytes, &object.head, data).or_else(|| {
                let end = has_end.then(|| END.find_at(bytes, data)).flatten();
                has_end = end.is_some();
                end.map(|end| end.start())
            });
            let end = end.unwrap_or(next);
            object.data = Some(data..end);
            at = at.max(end);
        }
        // A number that is too large for the format is nobody's.
        if let (Some(number), Some(generation)) = (number(&header[1]), number(&header[2])) {
            object.id = (number, u16::try_from(generation).unwrap_or(u16::MAX));
            found.push(object);
        }
    }
    Ok(found)
}

/// Where the data of a stream ends, if its dictionary says so itself and is right.
fn end_of_data(bytes: &[u8], head: &Range<usize>, data: usize) -> Option<usize> {
    let length = LENGTH.captures(&bytes[head.clone()])?;
    let end = data.checked_add(number(&length[1])?.try_into().ok()?)?;
    let is_end = AFTER_DATA.is_match(bytes.get(end..)?);
    is_end.then_some(end)
}

/// The trailers, by where they begin.
pub(super) fn trailers(bytes: &[u8]) -> Vec<(usize, Range<usize>)> {
    let mut found: Vec<_> = TRAILER.find_iter(bytes).map(|found| found.end()).collect();
    let last = found.split_off(found.len().saturating_sub(MAX_TRAILERS));
    let spans = last.into_iter().map(|start| (start, start..bytes.len().min(start + MAX_TRAILER)));
    spans.collect()
}

/// The members of an object stream by number, each up to the next one, so that none is read twice
/// however often it is named.
pub(super) fn members(content: &[u8], first: usize, most: usize) -> Vec<(u32, Range<usize>)> {
    let Some(index) = content.get(..first) else { return Vec::new() };
    let mut numbers = index.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    let mut members = Vec::new();
    while let (Some(name), Some(offset)) = (numbers.next(), numbers.next()) {
        let (Some(name), Some(offset)) = (number(name), number(offset)) else { break };
        let start = first.saturating_add(offset as usize);
        if start < content.len() && members.len() < most {
            members.push((name, start));
        }
    }
    members.sort_unstable_by_key(|(_, start)| *start);
    members.dedup_by_key(|(_, start)| *start);
    let ends: Vec<_> =
        members.iter().skip(1).map(|(_, start)| *start).chain([content.len()]).collect();
    members.into_iter().zip(ends).map(|((name, start), end)| (name, start..end)).collect()
}

/// Whether a name is in a text.
pub(super) fn mentions(text: &[u8], name: &[u8]) -> bool {
    text.windows(name.len()).any(|window| window == name)
}

fn number(digits: &[u8]) -> Option<u32> {
    std::str::from_utf8(digits).ok()?.parse().ok()
}
