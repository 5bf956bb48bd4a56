//! Documents that are made here, and how they are read.

use std::fmt::Write as _;
use std::io::{Cursor, Write as _};
use std::time::{Duration, Instant};

use gatefold_documents::{BlockKind, Document, DocumentFault, Hints, read_document};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

pub(crate) fn read(name: &str, bytes: &[u8]) -> Result<Document, DocumentFault> {
    let hints = Hints { name: Some(name), ..Hints::default() };
    read_document(bytes, &hints, Instant::now() + Duration::from_secs(30))
}

/// The blocks of a document: what each is, and its text.
pub(crate) fn blocks(document: &Document) -> Vec<(BlockKind, &str)> {
    document.blocks.iter().map(|block| (block.kind, &document.text[block.span.clone()])).collect()
}

pub(crate) fn zipped(parts: &[(&str, &[u8])]) -> Vec<u8> {
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in parts {
        archive.start_file(*name, SimpleFileOptions::default()).unwrap();
        archive.write_all(content).unwrap();
    }
    archive.finish().unwrap().into_inner()
}

const TYPES: &str = "<Types xmlns=\"t\"><Override PartName=\"/main.xml\" ContentType=\"application/vnd.openxmlformats-\
    officedocument.MAIN+xml\"/></Types>";

/// The references of a part: ids, kinds and targets.
pub(crate) fn references(references: &[(&str, &str, &str)]) -> String {
    let one = |(id, kind, target): &(&str, &str, &str)| {
        format!(
            "<Relationship Id=\"{id}\" Type=\"http://x/relationships/{kind}\" Target=\"{target}\"/>"
        )
    };
    let all: String = references.iter().map(one).collect();
    format!("<?xml version=\"1.0\"?><Relationships>{all}</Relationships>")
}

fn package(main_type: &str, main: &str, parts: &[(&str, &str)]) -> Vec<u8> {
    let types = TYPES.replace("MAIN", main_type);
    let top = references(&[("r1", "officeDocument", main)]);
    let mut all = vec![("[Content_Types].xml", types.as_bytes()), ("_rels/.rels", top.as_bytes())];
    all.extend(parts.iter().map(|(name, content)| (*name, content.as_bytes())));
    zipped(&all)
}

/// A DOCX of this body, with parts of its own beside it.
pub(crate) fn docx_with(body: &str, more: &[(&str, &str)]) -> Vec<u8> {
    let document = format!(
        "<?xml version=\"1.0\"?><w:document xmlns:w=\"w\"><w:body>{body}</w:body></w:document>"
    );
    let mut parts = vec![("word/document.xml", &document[..])];
    parts.extend(more);
    package("wordprocessingml.document.main", "word/document.xml", &parts)
}

pub(crate) fn docx(body: &str) -> Vec<u8> {
    let list = references(&[("s", "styles", "styles.xml")]);
    docx_with(body, &[("word/_rels/document.xml.rels", &list), ("word/styles.xml", STYLES)])
}

const STYLES: &str = "<w:styles>\
    <w:style w:type=\"paragraph\" w:styleId=\"T\"><w:name w:val=\"Title\"/></w:style>\
    <w:style w:type=\"paragraph\" w:styleId=\"H1\"><w:name w:val=\"heading 1\"/></w:style>\
    <w:style w:type=\"paragraph\" w:styleId=\"H2\"><w:name w:val=\"heading 2\"/></w:style>\
    <w:style w:type=\"paragraph\" w:styleId=\"Own\"><w:name w:val=\"Mine\"/><w:basedOn w:val=\"H2\"/></w:style>\
    <w:style w:type=\"paragraph\" w:styleId=\"Code\"><w:name w:val=\"Source Code\"/></w:style></w:styles>";

/// A paragraph of a DOCX, of a style if it has a name.
pub(crate) fn paragraph(style: &str, text: &str) -> String {
    format!("<w:p><w:pPr><w:pStyle w:val=\"{style}\"/></w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>")
}

/// A PPTX of these slides.
pub(crate) fn pptx(slides: &[&str]) -> Vec<u8> {
    let (mut ids, mut parts, mut targets) = (String::new(), Vec::new(), Vec::new());
    for (number, slide) in slides.iter().enumerate() {
        let _ = write!(ids, "<p:sldId id=\"{}\" r:id=\"s{number}\"/>", 256 + number);
        targets.push((format!("s{number}"), format!("slides/slide{number}.xml")));
        let tree =
            format!("<p:sld xmlns:p=\"p\"><p:cSld><p:spTree>{slide}</p:spTree></p:cSld></p:sld>");
        parts.push((format!("ppt/slides/slide{number}.xml"), tree));
    }
    let list: Vec<_> = targets.iter().map(|(id, target)| (&id[..], "slide", &target[..])).collect();
    let list = references(&list);
    let main = format!("<p:presentation><p:sldIdLst>{ids}</p:sldIdLst></p:presentation>");
    let mut all =
        vec![("ppt/presentation.xml", &main[..]), ("ppt/_rels/presentation.xml.rels", &list)];
    all.extend(parts.iter().map(|(name, content)| (&name[..], &content[..])));
    package("presentationml.presentation.main", "ppt/presentation.xml", &all)
}

/// An XLSX of these sheets: names, and what is in their `sheetData`.
pub(crate) fn xlsx(sheets: &[(&str, &str)], shared: &str) -> Vec<u8> {
    let (mut list, mut parts, mut targets) = (String::new(), Vec::new(), Vec::new());
    for (number, (name, rows)) in sheets.iter().enumerate() {
        let _ = write!(list, "<sheet name=\"{name}\" sheetId=\"{number}\" r:id=\"s{number}\"/>");
        targets.push((format!("s{number}"), format!("worksheets/sheet{number}.xml")));
        let sheet = format!("<worksheet><sheetData>{rows}</sheetData></worksheet>");
        parts.push((format!("xl/worksheets/sheet{number}.xml"), sheet));
    }
    let mut all: Vec<_> =
        targets.iter().map(|(id, target)| (&id[..], "worksheet", &target[..])).collect();
    all.push(("st", "styles", "styles.xml"));
    all.push(("sh", "sharedStrings", "/xl/sharedStrings.xml"));
    let references = references(&all);
    let main = format!("<workbook><sheets>{list}</sheets></workbook>");
    let styles = "<styleSheet><numFmts><numFmt numFmtId=\"170\" formatCode=\"yyyy\\-mm\\-dd\"/></numFmts>\
                  <cellStyleXfs><xf numFmtId=\"9\"/></cellStyleXfs>\
                  <cellXfs><xf numFmtId=\"0\"/><xf numFmtId=\"170\"/><xf numFmtId=\"10\"/></cellXfs></styleSheet>";
    let mut files = vec![
        ("xl/workbook.xml", &main[..]),
        ("xl/_rels/workbook.xml.rels", &references[..]),
        ("xl/styles.xml", styles),
        ("xl/sharedStrings.xml", shared),
    ];
    files.extend(parts.iter().map(|(name, content)| (&name[..], &content[..])));
    package("spreadsheetml.sheet.main", "xl/workbook.xml", &files)
}
