//! DOCX, PPTX and XLSX: parts of XML in a ZIP archive (ECMA-376), read part by part.
//!
//! The libraries unpack and split tags; what the tags mean is read here, since only so each text keeps
//! the place it has, and what a part may inflate to is bounded before it does.

mod docx;
mod numbers;
mod package;
mod pptx;
mod styles;
mod tables;
mod xlsx;
mod xml;

use crate::draft::Draft;
use crate::{DocumentFault, Format};
use package::Package;

/// What an archive is by its list of types. If it cannot be read, it is what its name says.
pub(crate) fn format_of(bytes: &[u8], named: Option<Format>) -> Result<Format, DocumentFault> {
    let package = Package::open(bytes, named.unwrap_or(Format::Docx));
    match package.and_then(|mut package| package.format()) {
        Err(DocumentFault::Damaged(..)) if named.is_none() => {
            Err(DocumentFault::Unknown("a damaged ZIP archive", "ask for a whole copy"))
        }
        format => format,
    }
}

pub(crate) fn read(bytes: &[u8], draft: &mut Draft) -> Result<(), DocumentFault> {
    let mut package = Package::open(bytes, draft.format())?;
    if let Some(core) = package.part("docProps/core.xml").ok().flatten() {
        draft.set_title(&xml::text_of_first(&core, "title", draft));
    }
    match draft.format() {
        Format::Pptx => pptx::read(&mut package, draft),
        Format::Xlsx => xlsx::read(&mut package, draft),
        _ => docx::read(&mut package, draft),
    }
}
