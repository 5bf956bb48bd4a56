//! The parts of an archive, and how they refer to each other (ECMA-376, part 2).

use std::collections::HashMap;
use std::io::{Cursor, Read as _};

use zip::ZipArchive;
use zip::result::ZipError;

use super::xml::{self, Element, Visitor};
use crate::plain::decode;
use crate::{DocumentFault, Format};

/// The most parts of an archive.
const MAX_PARTS: usize = 10_000;

/// The most that one part inflates to, and all that are read, in bytes.
const MAX_PART: u64 = 32 * 1024 * 1024;
const MAX_INFLATED: u64 = 128 * 1024 * 1024;

/// How much larger a part may become than it is packed, once it is larger than a small one.
const MAX_RATIO: u64 = 300;
const SMALL_PART: u64 = 1024 * 1024;

/// The most references of one part.
const MAX_REFERENCES: usize = 20_000;

pub(super) struct Package<'b> {
    archive: ZipArchive<Cursor<&'b [u8]>>,
    format: Format,
    left: u64,
}

/// What a part refers to.
#[derive(Debug, Default)]
pub(super) struct References {
    by_id: HashMap<String, Reference>,
}

#[derive(Debug)]
struct Reference {
    kind: String,
    target: String,
}

impl References {
    /// The part with this id.
    pub(super) fn target(&self, id: &str) -> Option<&str> {
        self.by_id.get(id).map(|reference| &reference.target[..])
    }

    /// A part of this kind, which is the last word of its type's address.
    pub(super) fn of_kind(&self, kind: &str) -> Option<&str> {
        let mut found = self.by_id.values().filter(|reference| reference.kind == kind);
        found.next().map(|reference| &reference.target[..])
    }
}

impl<'b> Package<'b> {
    pub(super) fn open(bytes: &'b [u8], format: Format) -> Result<Self, DocumentFault> {
        // Each record of the list begins so; the library would keep all of them before it says how many there are.
        let records = bytes.windows(4).filter(|window| window == b"PK\x01\x02").count();
        if records > MAX_PARTS {
            return Err(DocumentFault::TooLarge(format));
        }
        let archive = ZipArchive::new(Cursor::new(bytes)).map_err(|_| {
            DocumentFault::Damaged(format, "its list of parts is missing, as if it was cut off")
        })?;
        Ok(Self { archive, format, left: MAX_INFLATED })
    }

    pub(super) fn format(&mut self) -> Result<Format, DocumentFault> {
        if let Some(types) = self.part("[Content_Types].xml")? {
            for (begin, format) in [
                ("wordprocessingml.document.main", Format::Docx),
                ("wordprocessingml.template.main", Format::Docx),
                ("ms-word.document.macroEnabled.main", Format::Docx),
                ("presentationml.presentation.main", Format::Pptx),
                ("presentationml.template.main", Format::Pptx),
                ("presentationml.slideshow.main", Format::Pptx),
                ("ms-powerpoint.presentation.macroEnabled.main", Format::Pptx),
                ("spreadsheetml.sheet.main", Format::Xlsx),
                ("spreadsheetml.template.main", Format::Xlsx),
                ("ms-excel.sheet.macroEnabled.main", Format::Xlsx),
            ] {
                if types.contains(begin) {
                    return Ok(format);
                }
            }
        }
        let media_type = self.part("mimetype").ok().flatten().unwrap_or_default();
        Err(match media_type.trim() {
            "application/epub+zip" => {
                DocumentFault::Unknown("an electronic book (EPUB)", "convert it to HTML or PDF")
            }
            open if open.starts_with("application/vnd.oasis.opendocument") => {
                DocumentFault::Unknown("an OpenDocument file", "save it as DOCX, PPTX, XLSX or PDF")
            }
            _ => DocumentFault::Unknown("a ZIP archive", "unpack it first"),
        })
    }

    /// The text of a part, if there is one of that name.
    pub(super) fn part(&mut self, name: &str) -> Result<Option<String>, DocumentFault> {
        let format = self.format;
        let mut file = match self.archive.by_name(name) {
            Ok(file) => file,
            Err(ZipError::FileNotFound) => return Ok(None),
            Err(ZipError::UnsupportedArchive(ZipError::PASSWORD_REQUIRED)) => {
                return Err(DocumentFault::Encrypted(format));
            }
            Err(_) => return Err(DocumentFault::Damaged(format, "a part cannot be unpacked")),
        };
        let ratio = file.compressed_size().saturating_mul(MAX_RATIO).max(SMALL_PART);
        let limit = MAX_PART.min(self.left).min(ratio);
        let mut bytes = Vec::new();
        let read = file.by_ref().take(limit + 1).read_to_end(&mut bytes);
        self.left = self.left.saturating_sub(bytes.len() as u64);
        if bytes.len() as u64 > limit {
            return Err(DocumentFault::TooLarge(format));
        }
        if read.is_err() {
            return Err(DocumentFault::Damaged(format, "a part cannot be unpacked"));
        }
        Ok(Some(match String::from_utf8(bytes) {
            Ok(text) => text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text),
            Err(error) => decode(error.as_bytes()).into_owned(),
        }))
    }

    /// The text of a part that has to be there.
    pub(super) fn needed_part(&mut self, name: &str) -> Result<String, DocumentFault> {
        let missing = DocumentFault::Damaged(self.format, "a part of it is missing");
        self.part(name)?.ok_or(missing)
    }

    /// What a part refers to; of the archive itself for an empty name.
    pub(super) fn references(&mut self, part: &str) -> Result<References, DocumentFault> {
        let (folder, name) = part.rsplit_once('/').unwrap_or(("", part));
        let separator = if folder.is_empty() { "" } else { "/" };
        let list = self.part(&format!("{folder}{separator}_rels/{name}.rels"))?;
        let mut reader = ReferenceReader { folder, references: References::default() };
        if let Some(list) = list {
            xml::walk(&list, self.format, &mut reader)?;
        }
        Ok(reader.references)
    }

    /// The part that the archive is about.
    pub(super) fn main_part(&mut self) -> Result<String, DocumentFault> {
        let references = self.references("")?;
        let missing = DocumentFault::Damaged(self.format, "it does not say what it holds");
        references.of_kind("officeDocument").map(str::to_owned).ok_or(missing)
    }
}

struct ReferenceReader<'f> {
    folder: &'f str,
    references: References,
}

impl Visitor for ReferenceReader<'_> {
    fn open(&mut self, name: &str, element: &Element<'_>) -> Result<(), DocumentFault> {
        // What is outside the archive is never looked at.
        let is_external = element.attribute("TargetMode").is_some_and(|mode| mode == "External");
        if name != "Relationship" || is_external || self.references.by_id.len() >= MAX_REFERENCES {
            return Ok(());
        }
        let (Some(id), Some(kind), Some(target)) =
            (element.attribute("Id"), element.attribute("Type"), element.attribute("Target"))
        else {
            return Ok(());
        };
        let kind = kind.rsplit('/').next().unwrap_or_default().to_owned();
        let target = resolve(self.folder, &target);
        self.references.by_id.insert(id.into_owned(), Reference { kind, target });
        Ok(())
    }
}

/// The name of a part that is meant from a folder. What leads out of the archive ends at its top,
/// and is a name in the archive like any other.
fn resolve(folder: &str, target: &str) -> String {
    let mut names: Vec<&str> = match target.strip_prefix('/') {
        Some(_) => Vec::new(),
        None => folder.split('/').filter(|name| !name.is_empty()).collect(),
    };
    for name in target.split('/') {
        match name {
            "" | "." => {}
            ".." => drop(names.pop()),
            name => names.push(name),
        }
    }
    names.join("/")
}

#[cfg(test)]
mod tests {
    use super::resolve;

    #[test]
    fn a_target_stays_in_the_archive() {
        for (folder, target, name) in [
            ("word", "styles.xml", "word/styles.xml"),
            ("word", "/word/styles.xml", "word/styles.xml"),
            ("ppt/slides", "../notesSlides/a.xml", "ppt/notesSlides/a.xml"),
            ("word", "../../../etc/passwd", "etc/passwd"),
            ("", "word/./document.xml", "word/document.xml"),
        ] {
            assert_eq!(resolve(folder, target), name, "{folder} {target}");
        }
    }
}
