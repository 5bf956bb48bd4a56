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

use std::fmt::Write as _;
use std::panic::AssertUnwindSafe;
use std::time::{Duration, Instant};

use crate::DocumentText;
use content::ContentReader;
use file::PdfFile;
use pages::Page;

pub const PDF_MEDIA_TYPE: &str = "application/pdf";

/// How long one document may take.
pub const PDF_TIME: Duration = Duration::from_secs(10);

/// How far into a file its first line may begin.
const HEADER_WITHIN: usize = 1024;
const HEADER: &[u8] = b"%PDF-";

/// The most pages that are read, and the most text of all of them, in bytes.
const MAX_PAGES: usize = 2000;
const MAX_TEXT: usize = 4 * 1024 * 1024;

/// The longest title, in characters.
const MAX_TITLE: usize = 300;

/// Whether a file says in its first bytes that it is a PDF.
pub fn is_pdf(bytes: &[u8]) -> bool {
    bytes.starts_with(HEADER)
}

/// Why a document, or a part of it, gives no text. The message is for whoever asked for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PdfFault {
    #[error("this is no PDF, whatever its media type says: it does not begin with `%PDF-`")]
    NoPdf,
    #[error("this PDF is damaged: no pages can be found in it")]
    NoPages,
    #[error("this PDF is damaged in a way that cannot be read")]
    Damaged,
    #[error(
        "this PDF is encrypted and needs a password, which cannot be given; ask for a copy without one"
    )]
    Password,
    #[error("this PDF is encrypted in a way that is not supported; ask for a copy that is not")]
    Cipher,
    #[error("this PDF holds more than is read of one document")]
    TooLarge,
    #[error("this PDF takes longer than {} s to read", PDF_TIME.as_secs())]
    TooLong,
    #[error(
        "this PDF has no text to read: its pages are pictures, such as scans, and the words in them are \
         not recognized"
    )]
    NoText,
    #[error("fonts of this PDF do not say which letters they show")]
    NoLetters,
}

/// The text of all pages that can be read until then. A panic of the library is a fault of the document.
pub fn pdf_text(bytes: &[u8], until: Instant) -> Result<DocumentText, PdfFault> {
    let read = std::panic::catch_unwind(AssertUnwindSafe(|| read(bytes, until)));
    read.unwrap_or(Err(PdfFault::Damaged))
}

fn read(bytes: &[u8], until: Instant) -> Result<DocumentText, PdfFault> {
    let head = &bytes[..bytes.len().min(HEADER_WITHIN)];
    if !head.windows(HEADER.len()).any(|window| window == HEADER) {
        return Err(PdfFault::NoPdf);
    }
    let file = PdfFile::read(bytes, until)?;
    let (pages, all) = pages::of_file(&file, MAX_PAGES);
    if pages.is_empty() {
        return Err(if file.is_exhausted() { PdfFault::TooLarge } else { PdfFault::NoPages });
    }
    let mut reader = ContentReader::new(&file, until);
    let text = text_of_pages(&mut reader, &pages, all)?;
    Ok(DocumentText { title: title(&file), text })
}

/// The text of these pages, which are the first of all, each under its number.
fn text_of_pages<'f>(
    reader: &mut ContentReader<'f, '_>,
    pages: &[Page<'f>],
    all: usize,
) -> Result<String, PdfFault> {
    let (mut text, mut has_words, mut fault) = (String::new(), false, None);
    let mut left_out = (all > pages.len()).then_some((pages.len() + 1, PdfFault::TooLarge));
    for (number, page) in (1..).zip(pages) {
        let shown = match reader.text(page) {
            Ok(page) if page.is_empty() => "[no text]".to_owned(),
            Ok(page) => {
                has_words = true;
                page
            }
            Err(PdfFault::TooLong) => {
                left_out = Some((number, PdfFault::TooLong));
                break;
            }
            Err(page) => {
                fault = Some(page);
                format!("[this page is left out: {page}]")
            }
        };
        if text.len() + shown.len() > MAX_TEXT {
            left_out = Some((number, PdfFault::TooLarge));
            break;
        }
        let _ = write!(text, "## Page {number}\n\n{shown}\n\n");
    }
    if !has_words {
        let is_mute = reader.unreadable() > 0;
        let letters = if is_mute { PdfFault::NoLetters } else { PdfFault::NoText };
        return Err(left_out.map(|(_, why)| why).or(fault).unwrap_or(letters));
    }
    if let Some((first, why)) = left_out {
        let _ = writeln!(text, "[pages {first} to {all} are left out: {why}]");
    }
    note_what_is_missing(reader, &mut text);
    Ok(text.trim_end().to_owned())
}

/// Says what is not there of the pages that were read.
fn note_what_is_missing(reader: &ContentReader<'_, '_>, text: &mut String) {
    if reader.is_exhausted() {
        let _ = writeln!(text, "[parts are left out: {}]", PdfFault::TooLarge);
    }
    let unreadable = reader.unreadable();
    if unreadable > 0 {
        let _ = writeln!(text, "[{unreadable} characters are left out: {}]", PdfFault::NoLetters);
    }
}

/// The title that the document gives itself.
fn title(file: &PdfFile<'_>) -> Option<String> {
    let info = file.dictionary(file.trailer().get(b"Info").ok()?)?;
    let title = lopdf::decode_text_string(file.get(info, b"Title")?).ok()?;
    let title = title.split_whitespace().collect::<Vec<_>>().join(" ");
    let title = title.chars().filter(|c| !c.is_control()).take(MAX_TITLE).collect::<String>();
    (!title.is_empty()).then_some(title)
}
