//! The chunks of a document as they are kept, and what of a chunk is indexed.

use std::ops::Range;

use gatefold_documents::{Block, BlockKind, Document, Format, Place};
use rustc_hash::FxHashMap;
use sha2::{Digest as _, Sha256};

use crate::KnowledgeError;
use crate::chunks::{Chunk, chunks, is_sound};
use crate::codec::{RecordReader, RecordWriter, compress, decompress};
use crate::limits::{MAX_RECORD, MAX_TEXT};
use crate::words::word_parts;

/// What the chunks of a document are made from, besides its text.
pub(crate) const CHUNK_FORMAT: u32 = 2;

/// A chunk and its names in the index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ChunkRecord {
    pub(crate) chunk: Chunk,
    /// What the index calls it: other in each document, and other when what is indexed of it changes.
    pub(crate) key: u64,
    /// What its vector is called: the same where a model reads the same.
    pub(crate) digest: u64,
}

/// What of a chunk is indexed, in the index's fields.
#[derive(Debug, Default)]
pub(crate) struct IndexedText {
    pub(crate) title: String,
    pub(crate) headings: String,
    pub(crate) body: String,
    /// The name of the file, with the parts of its words.
    pub(crate) name: String,
}

impl IndexedText {
    pub(crate) fn new(name: &str, title: &str, text: &str, chunk: &Chunk) -> Self {
        let part = |span: &Range<usize>| text.get(span.clone()).unwrap_or_default();
        let head = chunk.head.as_ref().map(part).unwrap_or_default();
        let file_name = name.trim_end_matches('/').rsplit('/').next().unwrap_or(name);
        // A heading that the title begins with counts as a title already. Long ones were cut.
        let is_below = |heading: &&String| !title.trim_start().starts_with(heading.trim());
        let headings: Vec<&str> =
            chunk.headings.iter().filter(is_below).map(String::as_str).collect();
        Self {
            title: format!("{title}\n{file_name}"),
            headings: headings.join("\n"),
            body: format!("{head}{}", without_title(part(&chunk.span), title.trim())),
            name: words_of_name(file_name),
        }
    }
}

/// A text without the title that it begins with, which counts as a title already.
fn without_title<'t>(text: &'t str, title: &str) -> &'t str {
    // Markdown marks its headings.
    text.trim_start_matches(['#', ' ']).strip_prefix(title).unwrap_or(text)
}

/// The name of a file without its ending, and the parts of its words.
fn words_of_name(file_name: &str) -> String {
    let stem = match file_name.rsplit_once('.') {
        Some((stem, _)) if !stem.is_empty() => stem,
        _ => file_name,
    };
    let words = stem.split(|char: char| !char.is_alphanumeric());
    let parts = words.flat_map(word_parts).collect::<Vec<_>>();
    format!("{stem}\n{}", parts.join("\n"))
}

/// What an encoder reads of a chunk.
pub(crate) fn encoded_text(title: &str, text: &str, chunk: &Chunk) -> String {
    let part = |span: &Range<usize>| text.get(span.clone()).unwrap_or_default();
    let head = chunk.head.as_ref().map(part).unwrap_or_default();
    let mut path: Vec<&str> = vec![title];
    path.extend(chunk.headings.iter().map(String::as_str));
    path.dedup();
    format!("{}\n{head}{}", path.join(" > "), part(&chunk.span))
}

/// The chunks of a document, with their names.
pub(crate) fn lay_out(id: i64, name: &str, title: &str, document: &Document) -> Vec<ChunkRecord> {
    let mut seen: FxHashMap<u64, u64> = FxHashMap::default();
    let record = |chunk: Chunk| {
        let indexed = IndexedText::new(name, title, &document.text, &chunk);
        let of_text = short_digest(&[&indexed.title, &indexed.headings, &indexed.body], &[]);
        let digest = short_digest(&[&encoded_text(title, &document.text, &chunk)], &[]);
        // Twins within a document are told apart by their order.
        let twins = seen.entry(of_text).or_default();
        let numbers = [of_text, *twins, id.cast_unsigned()];
        *twins += 1;
        ChunkRecord { key: short_digest(&[], &numbers), digest, chunk }
    };
    chunks(document).into_iter().map(record).collect()
}

fn short_digest(texts: &[&str], numbers: &[u64]) -> u64 {
    let mut hash = Sha256::new();
    for text in texts {
        hash.update((text.len() as u64).to_le_bytes());
        hash.update(text.as_bytes());
    }
    for number in numbers {
        hash.update(number.to_le_bytes());
    }
    let digest = hash.finalize();
    digest.iter().take(8).fold(0, |number, byte| number << 8 | u64::from(*byte))
}

pub(crate) fn encode_chunks(records: &[ChunkRecord]) -> Result<Vec<u8>, KnowledgeError> {
    let mut writer = RecordWriter::default();
    let mut path: &[String] = &[];
    writer.size(records.len());
    for record in records {
        let chunk = &record.chunk;
        writer.fixed(record.key);
        writer.fixed(record.digest);
        write_span(&mut writer, &chunk.span);
        write_span(&mut writer, &chunk.head.clone().unwrap_or_default());
        // Most chunks are under the same headings as the one before.
        let is_same = chunk.headings == path;
        writer.number(u64::from(!is_same));
        if !is_same {
            writer.size(chunk.headings.len());
            chunk.headings.iter().for_each(|heading| writer.text(heading));
            path = &chunk.headings;
        }
        write_place(&mut writer, chunk.place);
    }
    compress(&writer.finish())
}

pub(crate) fn decode_chunks(bytes: &[u8]) -> Result<Vec<ChunkRecord>, KnowledgeError> {
    let plain = decompress(bytes, MAX_RECORD)?;
    let mut reader = RecordReader::new(&plain);
    let count = reader.count()?;
    let mut records: Vec<ChunkRecord> = Vec::with_capacity(count.min(plain.len() / 16));
    for _ in 0..count {
        let (key, digest) = (reader.fixed()?, reader.fixed()?);
        let span = read_span(&mut reader)?;
        let head = Some(read_span(&mut reader)?).filter(|head| !head.is_empty());
        let headings = if reader.number()? == 0 {
            records.last().map(|record| record.chunk.headings.clone()).unwrap_or_default()
        } else {
            let count = reader.count()?;
            let texts = (0..count).map(|_| reader.text().map(str::to_owned));
            texts.collect::<Result<_, _>>()?
        };
        let place = read_place(&mut reader)?;
        records.push(ChunkRecord { chunk: Chunk { span, head, headings, place }, key, digest });
    }
    Ok(records)
}

const FORMATS: [Format; 10] = [
    Format::Text,
    Format::Code,
    Format::Markdown,
    Format::Html,
    Format::Csv,
    Format::Pdf,
    Format::Docx,
    Format::Pptx,
    Format::Xlsx,
    Format::Eml,
];

/// A document without its text and its faults.
pub(crate) fn encode_structure(document: &Document) -> Result<Vec<u8>, KnowledgeError> {
    let mut writer = RecordWriter::default();
    writer.size(FORMATS.iter().position(|format| *format == document.format).unwrap_or_default());
    writer.text(document.title.as_deref().unwrap_or_default());
    writer.size(document.blocks.len());
    for block in &document.blocks {
        writer.number(match block.kind {
            BlockKind::Paragraph => 0,
            BlockKind::List => 1,
            BlockKind::Table => 2,
            BlockKind::Code => 3,
            BlockKind::Heading(level) => 3 + u64::from(level.max(1)),
        });
        write_span(&mut writer, &block.span);
        writer.number(block.heading.map_or(0, |heading| u64::from(heading) + 1));
    }
    writer.size(document.places.len());
    for (start, place) in &document.places {
        writer.size(*start);
        write_place(&mut writer, Some(*place));
    }
    writer.size(document.hidden.len());
    document.hidden.iter().for_each(|span| write_span(&mut writer, span));
    compress(&writer.finish())
}

pub(crate) fn decode_document(text: String, bytes: &[u8]) -> Result<Document, KnowledgeError> {
    const WRONG: KnowledgeError = KnowledgeError::Damaged("a document's structure is wrong");
    let plain = decompress(bytes, MAX_RECORD)?;
    let mut reader = RecordReader::new(&plain);
    let format = *FORMATS.get(reader.size()?).ok_or(WRONG)?;
    let title = Some(reader.text()?.to_owned()).filter(|title| !title.is_empty());
    let mut blocks = Vec::new();
    for _ in 0..reader.count()? {
        let kind = match reader.number()? {
            0 => BlockKind::Paragraph,
            1 => BlockKind::List,
            2 => BlockKind::Table,
            3 => BlockKind::Code,
            level => BlockKind::Heading(u8::try_from(level - 3).map_err(|_| WRONG)?),
        };
        let span = read_span(&mut reader)?;
        let heading = reader.small()?.checked_sub(1);
        blocks.push(Block { kind, span, heading });
    }
    let mut places = Vec::new();
    for _ in 0..reader.count()? {
        places.push((reader.size()?, read_place(&mut reader)?.ok_or(WRONG)?));
    }
    let mut hidden = Vec::new();
    for _ in 0..reader.count()? {
        hidden.push(read_span(&mut reader)?);
    }
    let document = Document { format, title, text, blocks, places, hidden, faults: Vec::new() };
    if is_sound(&document) { Ok(document) } else { Err(WRONG) }
}

pub(crate) fn decode_text(bytes: &[u8]) -> Result<String, KnowledgeError> {
    let plain = decompress(bytes, MAX_TEXT)?;
    String::from_utf8(plain).map_err(|_| KnowledgeError::Damaged("a text is not UTF-8"))
}

fn write_span(writer: &mut RecordWriter, span: &Range<usize>) {
    writer.size(span.start);
    writer.size(span.len());
}

fn read_span(reader: &mut RecordReader<'_>) -> Result<Range<usize>, KnowledgeError> {
    let (start, length) = (reader.size()?, reader.size()?);
    let end = start.checked_add(length);
    end.map(|end| start..end).ok_or(KnowledgeError::Damaged("a span is too long"))
}

fn write_place(writer: &mut RecordWriter, place: Option<Place>) {
    let (kind, numbers): (u64, &[u32]) = match &place {
        None => (0, &[]),
        Some(Place::Page(page)) => (1, &[*page]),
        Some(Place::Slide(slide)) => (2, &[*slide]),
        Some(Place::Cell { sheet, row, column }) => (3, &[*sheet, *row, *column]),
        Some(Place::Line(line)) => (4, &[*line]),
        Some(Place::MessagePart(part)) => (5, &[*part]),
    };
    writer.number(kind);
    for number in numbers {
        writer.number(u64::from(*number));
    }
}

fn read_place(reader: &mut RecordReader<'_>) -> Result<Option<Place>, KnowledgeError> {
    Ok(Some(match reader.number()? {
        0 => return Ok(None),
        1 => Place::Page(reader.small()?),
        2 => Place::Slide(reader.small()?),
        3 => Place::Cell { sheet: reader.small()?, row: reader.small()?, column: reader.small()? },
        4 => Place::Line(reader.small()?),
        5 => Place::MessagePart(reader.small()?),
        _ => return Err(KnowledgeError::Damaged("a place is of no kind that is known")),
    }))
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use gatefold_documents::{Hints, READING_TIME, read_document};

    use super::*;

    const TEXT: &str = "# A title\n\nSome words.\n\n## A heading\n\n- one\n- two\n\n\
        | a | b |\n|---|---|\n| 1 | 2 |\n\nThe same.\n\n# The end\n\nThe same.\n";

    fn soon() -> Instant {
        Instant::now() + READING_TIME
    }

    fn document() -> Document {
        let hints = Hints { name: Some("a.md"), ..Hints::default() };
        read_document(TEXT.as_bytes(), &hints, soon()).unwrap()
    }

    #[test]
    fn chunks_and_structure_read_back_as_they_were() {
        let document = document();
        let records = lay_out(7, "a.md", "A title", &document);
        assert!(records.len() > 1);
        assert_eq!(decode_chunks(&encode_chunks(&records).unwrap()).unwrap(), records);
        let structure = encode_structure(&document).unwrap();
        assert_eq!(decode_document(document.text.clone(), &structure).unwrap(), document);
        assert!(decode_document("short".to_owned(), &structure).is_err());
    }

    #[test]
    fn a_title_that_is_a_heading_too_is_indexed_as_a_title_only() {
        let document = document();
        let records = lay_out(1, "a.md", "A title", &document);
        let indexed = |record: &ChunkRecord| {
            IndexedText::new("a.md", "A title", &document.text, &record.chunk)
        };
        let all: Vec<_> = records.iter().map(indexed).collect();
        assert!(records.iter().any(|record| record.chunk.headings == ["A title"]));
        assert!(all.iter().any(|text| text.headings == "A heading"), "{all:?}");
        assert!(all[0].body.contains("Some words"));
        for text in &all {
            assert!(
                !text.headings.contains("A title") && !text.body.contains("A title"),
                "{text:?}"
            );
        }
    }

    #[test]
    fn the_name_of_a_file_is_indexed_with_the_parts_of_its_words() {
        for (name, expected) in [
            ("3M_2018Q2_10K.pdf", "3M_2018Q2_10K 2018 10"),
            ("notes", "notes"),
            (".env", ".env"),
            ("a.b.md", "a.b"),
        ] {
            let words = words_of_name(name);
            assert_eq!(words.split_whitespace().collect::<Vec<_>>().join(" "), expected);
        }
    }

    #[test]
    fn a_chunk_is_called_other_where_its_words_or_its_document_are() {
        let keys = |id, name| -> Vec<u64> {
            lay_out(id, name, "t", &document()).iter().map(|record| record.key).collect()
        };
        let (own, again) = (keys(1, "a.md"), keys(1, "a.md"));
        assert_eq!(own, again);
        for others in [keys(2, "a.md"), keys(1, "b.md")] {
            assert!(own.iter().all(|key| !others.contains(key)));
        }
    }

    #[test]
    fn twins_within_a_document_have_two_names() {
        let text = "The same row of words. ".repeat(400);
        let hints = Hints { name: Some("a.txt"), ..Hints::default() };
        let document = read_document(text.as_bytes(), &hints, soon()).unwrap();
        let mut keys: Vec<_> =
            lay_out(1, "a.txt", "t", &document).iter().map(|record| record.key).collect();
        let all = keys.len();
        keys.sort_unstable();
        keys.dedup();
        assert!(all > 3 && keys.len() == all);
    }
}
