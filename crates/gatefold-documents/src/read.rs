//! One document of any format.

use std::panic::AssertUnwindSafe;
use std::time::Instant;

use crate::document::{BlockKind, Document, Part};
use crate::draft::Draft;
use crate::limits::MAX_INPUT;
use crate::sniffing::{Sniffed, sniff};
use crate::{DocumentFault, Format, Hints, html, pdf, plain, table};
#[cfg(feature = "readers")]
use crate::{mail, markdown, office};

/// Reads a document until then, or says why it cannot be read.
///
/// What cannot be read of a document that has some text is among its faults. A panic of a library is a fault of the document.
pub fn read_document(
    bytes: &[u8],
    hints: &Hints<'_>,
    until: Instant,
) -> Result<Document, DocumentFault> {
    if bytes.len() > MAX_INPUT {
        return Err(DocumentFault::FileTooLarge(bytes.len()));
    }
    let format = match sniff(bytes, hints)? {
        Sniffed::Format(format) => format,
        Sniffed::Archive => guarded(Format::Docx, || archive_format(bytes, hints))?,
    };
    let mut draft = Draft::new(format, until);
    let read = guarded(format, || read_into(bytes, hints, &mut draft));
    match read {
        Err(fault) if draft.has_text() => draft.add_fault(Part::Rest, fault),
        Err(fault) => return Err(fault),
        Ok(()) if draft.has_text() => {}
        Ok(()) => return Err(draft.first_fault().unwrap_or(DocumentFault::NoText(format))),
    }
    Ok(draft.finish())
}

fn guarded<T>(
    format: Format,
    read: impl FnOnce() -> Result<T, DocumentFault>,
) -> Result<T, DocumentFault> {
    let read = std::panic::catch_unwind(AssertUnwindSafe(read));
    read.unwrap_or(Err(DocumentFault::Damaged(format, "reading it failed")))
}

fn read_into(bytes: &[u8], hints: &Hints<'_>, draft: &mut Draft) -> Result<(), DocumentFault> {
    match draft.format() {
        Format::Pdf => pdf::read(bytes, draft),
        #[cfg(feature = "readers")]
        Format::Docx | Format::Pptx | Format::Xlsx => office::read(bytes, draft),
        #[cfg(feature = "readers")]
        Format::Eml => mail::read(bytes, draft),
        #[cfg(not(feature = "readers"))]
        Format::Docx | Format::Pptx | Format::Xlsx => Err(DocumentFault::NotBuilt(draft.format())),
        format => {
            let first = plain::first_bytes(bytes);
            let text = plain::decode(first);
            match format {
                Format::Html => html::read(&text, hints.address, draft)?,
                Format::Csv => table::read(&text, draft)?,
                Format::Code => plain::read(&text, BlockKind::Code, draft)?,
                #[cfg(feature = "readers")]
                Format::Markdown => markdown::read(&text, draft)?,
                // Without the readers Markdown and mail are texts, which are shown as they are.
                _ => plain::read(&text, BlockKind::Paragraph, draft)?,
            }
            plain::check_rest(&bytes[first.len()..], draft)
        }
    }
}

#[cfg(feature = "readers")]
fn archive_format(bytes: &[u8], hints: &Hints<'_>) -> Result<Format, DocumentFault> {
    office::format_of(bytes, hints.format())
}

#[cfg(not(feature = "readers"))]
fn archive_format(_: &[u8], hints: &Hints<'_>) -> Result<Format, DocumentFault> {
    Err(DocumentFault::NotBuilt(hints.format().unwrap_or(Format::Docx)))
}
