//! The text of a PDF.
//!
//! Whoever wrote the file may mean harm. The library's own loader reads everything at once, and a few
//! kilobytes can make it hold any amount of memory: an object stream may name one large array a
//! hundred thousand times, and a font's table of letters may list every 32-bit number. So [`file`]
//! finds the objects and reads each one when it is needed, from its own bytes and on account; the
//! library reads single objects, filters, content, encodings and ciphers, all of them bounded.

mod content;
mod file;
mod fonts;
mod layout;
mod letters;
mod pages;

use crate::document::{BlockKind, Part, Place};
use crate::draft::Draft;
use crate::{DocumentFault, PdfFault};
use content::ContentReader;
use file::PdfFile;
use pages::Page;

/// How far into a file its first line may begin.
const HEADER_WITHIN: usize = 1024;
const HEADER: &[u8] = b"%PDF-";

/// The most pages that are read, and the most text of all of them, in bytes.
const MAX_PAGES: usize = 2000;
const MAX_TEXT: usize = 4 * 1024 * 1024;

/// Whether a file says in its first bytes that it is a PDF.
pub(crate) fn is_pdf(bytes: &[u8]) -> bool {
    bytes.starts_with(HEADER)
}

/// Reads all pages that can be read in time.
pub(crate) fn read(bytes: &[u8], draft: &mut Draft) -> Result<(), DocumentFault> {
    let head = &bytes[..bytes.len().min(HEADER_WITHIN)];
    if !head.windows(HEADER.len()).any(|window| window == HEADER) {
        return Err(PdfFault::NoPdf.into());
    }
    let file = PdfFile::read(bytes, draft.until())?;
    let (pages, all) = pages::of_file(&file, MAX_PAGES);
    if pages.is_empty() {
        let fault = if file.is_exhausted() { PdfFault::TooLarge } else { PdfFault::NoPages };
        return Err(fault.into());
    }
    if let Some(title) = title(&file) {
        draft.set_title(&title);
    }
    let mut reader = ContentReader::new(&file, draft.until());
    read_pages(&mut reader, &pages, all, draft)
}

/// Reads these pages, which are the first of all.
fn read_pages<'f>(
    reader: &mut ContentReader<'f, '_>,
    pages: &[Page<'f>],
    all: usize,
    draft: &mut Draft,
) -> Result<(), DocumentFault> {
    let (mut length, mut page_fault) = (0, None);
    let mut left_out = (all > pages.len()).then_some((pages.len() + 1, PdfFault::TooLarge));
    for (number, page) in (1_u32..).zip(pages) {
        let first = number as usize;
        let text = match reader.text(page) {
            Ok(text) => text,
            Err(PdfFault::TooLong) => {
                left_out = Some((first, PdfFault::TooLong));
                break;
            }
            Err(fault) => {
                page_fault = Some(fault);
                draft.mark(Place::Page(number));
                draft.add_fault(Part::Page(number), fault.into());
                continue;
            }
        };
        length += text.len();
        if length > MAX_TEXT {
            left_out = Some((first, PdfFault::TooLarge));
            break;
        }
        draft.mark(Place::Page(number));
        for paragraph in text.split("\n\n") {
            draft.add(BlockKind::Paragraph, paragraph)?;
        }
    }
    if !draft.has_text() {
        let is_mute = reader.unreadable() > 0;
        let letters = if is_mute { PdfFault::NoLetters } else { PdfFault::NoText };
        let fault = left_out.map(|(_, why)| why).or(page_fault).unwrap_or(letters);
        return Err(fault.into());
    }
    if let Some((first, why)) = left_out {
        draft.add_fault(Part::Pages { first, last: all }, why.into());
    }
    if reader.is_exhausted() {
        draft.add_fault(Part::Rest, PdfFault::TooLarge.into());
    }
    if reader.unreadable() > 0 {
        draft.add_fault(Part::Characters(reader.unreadable()), PdfFault::NoLetters.into());
    }
    Ok(())
}

/// The title that the document gives itself.
fn title(file: &PdfFile<'_>) -> Option<String> {
    let info = file.dictionary(file.trailer().get(b"Info").ok()?)?;
    lopdf::decode_text_string(file.get(info, b"Title")?).ok()
}
