//! Documents that mean harm: each is a state of that document alone, soon and within bounds.

use std::fmt::Write as _;
use std::io::Write as _;
use std::time::{Duration, Instant};

use gatefold_documents::{MAX_INPUT, Part};

use crate::builder::{docx, docx_with, paragraph, pptx, read, references, xlsx, zipped};

/// What comes of a document, which has to come soon: its state if it cannot be read.
#[track_caller]
fn state(name: &str, bytes: &[u8]) -> &'static str {
    let before = Instant::now();
    let read = read(name, bytes);
    // Builds for tests are slow, and share the machine.
    assert!(before.elapsed() < Duration::from_secs(20), "{name} took {:?}", before.elapsed());
    match read {
        Ok(document) => document.faults.first().map_or("read", |fault| fault.fault.state()),
        Err(fault) => fault.state(),
    }
}

#[test]
fn a_zip_bomb_is_not_inflated() {
    let huge = vec![b' '; 64 << 20];
    let bomb = zipped(&[("[Content_Types].xml", &huge)]);
    assert!(bomb.len() < 100_000);
    assert_eq!(state("a.docx", &bomb), "too_large");
    let text = format!("<w:p><w:r><w:t>{}</w:t></w:r></w:p>", "a".repeat(40 << 20));
    assert_eq!(state("a.docx", &docx(&text)), "too_large");
    let slide = format!("<!--{}-->", " ".repeat(20 << 20));
    assert_eq!(state("a.pptx", &pptx(&[&slide[..]; 20])), "too_large");
}

#[test]
fn very_many_parts_are_not_listed() {
    let names: Vec<_> = (0..10_100).map(|number| format!("n{number}")).collect();
    let parts: Vec<_> = names.iter().map(|name| (&name[..], &b""[..])).collect();
    assert_eq!(state("a.docx", &zipped(&parts)), "too_large");
}

#[test]
fn no_entity_is_expanded_or_fetched() {
    let bomb = "<!DOCTYPE x [<!ENTITY a \"aaaaaaaaaa\"><!ENTITY b \"&a;&a;&a;&a;\"><!ENTITY c \"&b;&b;&b;\">]>";
    let outside = "<!DOCTYPE x [<!ENTITY a SYSTEM \"file:///etc/passwd\">]>";
    for document in [bomb, outside, ""] {
        let body = paragraph("", "&a;").replace("<w:p>", &format!("{document}<w:p>"));
        let fault = read("a.docx", &docx(&body)).unwrap_err();
        assert_eq!(
            fault.to_string(),
            "this DOCX declares entities or a type of document, which its format forbids; it is not read"
        );
    }
    // Of a page only the entities that HTML knows mean anything.
    let page = read("a.html", format!("{outside}<p>&a; &amp; b</p>").as_bytes()).unwrap();
    assert!(!page.text.contains("root:") && page.text.contains("&a; & b"), "{}", page.text);
}

#[test]
fn tags_are_not_followed_deeper_than_bounded() {
    for (name, bytes) in [
        ("a.docx", docx(&"<w:p>".repeat(200_000))),
        ("b.docx", docx(&"<w:tbl><w:tr><w:tc>".repeat(100_000))),
        ("c.docx", docx(&format!("<a{}>", " b=\"c\"".repeat(200_000)))),
        ("a.pptx", pptx(&[&"<p:grpSp>".repeat(200_000)])),
    ] {
        assert!(matches!(state(name, &bytes), "too_large" | "damaged" | "no_text"), "{name}");
    }
    for text in [
        "> ".repeat(100_000),
        "- ".repeat(100_000),
        "[".repeat(100_000),
        "*a_".repeat(100_000),
        "`".repeat(100_000),
    ] {
        state("a.md", text.as_bytes());
    }
    for text in [
        "|a".repeat(50_000) + "\n" + &"|-".repeat(50_000) + "\n" + &"|b".repeat(50_000),
        "\n\n".repeat(500_000),
    ] {
        state("a.md", text.as_bytes());
    }
}

#[test]
fn a_file_that_is_too_large_is_not_looked_into() {
    let line = vec![b'a'; MAX_INPUT + 1];
    assert_eq!(state("a.txt", &line), "too_large");
    let line = vec![b'a'; 40 << 20];
    for name in ["a.txt", "a.md", "a.csv", "a.html", "a.json", "a.eml"] {
        assert!(matches!(state(name, &line), "too_large" | "no_text"), "{name}");
    }
    let document = read("a.txt", &line).unwrap();
    assert!(document.text.len() <= 8 << 20);
    assert_eq!(document.faults[0].part, Part::Rest);
}

#[test]
fn a_target_out_of_the_archive_is_a_name_in_it() {
    let list = references(&[
        ("n", "footnotes", "../../../../etc/passwd"),
        ("e", "endnotes", "file:///etc/passwd"),
    ]);
    let note = format!("<w:footnotes>{}</w:footnotes>", paragraph("", "from inside"));
    let more = [("word/_rels/document.xml.rels", &list[..]), ("etc/passwd", &note)];
    let document = read("a.docx", &docx_with(&paragraph("", "Text."), &more)).unwrap();
    assert_eq!(document.text, "Text.\n\nfrom inside");
    let outside = references(&[("s0", "worksheet", "../../secret.xml")])
        .replace("/>", " TargetMode=\"External\"/>");
    let more = [("word/_rels/document.xml.rels", &outside[..])];
    assert_eq!(read("a.docx", &docx_with(&paragraph("", "Text."), &more)).unwrap().text, "Text.");
}

#[test]
fn a_sheet_of_two_far_cells_makes_no_table_between_them() {
    let far = "<row r=\"1\"><c r=\"A1\"><v>1</v></c></row><row r=\"1048576\"><c r=\"XFD1048576\"><v>2</v></c></row>";
    let document = read("a.xlsx", &xlsx(&[("S", far)], "<sst/>")).unwrap();
    assert!(document.text.len() < 100, "{}", document.text);
    let mut wide = String::new();
    for row in 1..60_000 {
        let _ = write!(
            wide,
            "<row r=\"{row}\"><c r=\"A{row}\"><v>1</v></c><c r=\"SR{row}\"><v>2</v></c></row>"
        );
    }
    assert_eq!(state("a.xlsx", &xlsx(&[("S", &wide)], "<sst/>")), "too_large");
    let many = format!("<row>{}</row>", "<c><v>1</v></c>".repeat(400_000));
    assert_eq!(state("a.xlsx", &xlsx(&[("S", &many)], "<sst/>")), "too_large");
    let wrong = "<row r=\"99999999999\"><c r=\"ZZZZZZZZZ1\" t=\"s\"><v>-1</v></c><c s=\"999\"><v>1e999</v></c></row>";
    state("a.xlsx", &xlsx(&[("S", wrong)], "<sst/>"));
    let shared = format!(
        "<row><c t=\"s\"><v>0</v></c></row>{}",
        "<row><c t=\"s\"><v>0</v></c></row>".repeat(200_000)
    );
    let text = format!("<sst><si><t>{}</t></si></sst>", "a".repeat(100_000));
    assert_eq!(state("a.xlsx", &xlsx(&[("S", &shared)], &text)), "too_large");
}

#[test]
fn messages_are_not_followed_deeper_than_bounded() {
    let inner = "Content-Type: message/rfc822\r\n\r\n";
    assert_eq!(state("a.eml", inner.repeat(100_000).as_bytes()), "too_large");
    let deep = format!("Subject: top\r\n{}Subject: last\r\n\r\nwords", inner.repeat(200));
    assert_eq!(state("a.eml", deep.as_bytes()), "too_large");
    let encoded = "Subject: a\r\nContent-Type: message/rfc822\r\nContent-Transfer-Encoding: base64\r\n\r\nQQ==\r\n";
    assert_eq!(state("a.eml", encoded.as_bytes()), "damaged");
    let digest = "Content-Type: multipart/digest; boundary=b\r\n\r\n--b\r\nContent-Transfer-Encoding: base64\r\n\r\nQQ==\r\n";
    assert_eq!(state("a.eml", digest.as_bytes()), "damaged");
    let mut parts = "Content-Type: multipart/mixed; boundary=b\r\n\r\n".to_owned();
    parts.push_str(&"--b\r\n\r\nx\r\n".repeat(200_000));
    state("a.eml", parts.as_bytes());
    let mut nested = String::new();
    for level in 0..50_000 {
        let _ = write!(
            nested,
            "Content-Type: multipart/mixed; boundary=b{level}\r\n\r\n--b{level}\r\n"
        );
    }
    state("a.eml", nested.as_bytes());
    let headers = "Subject: a\r\n".repeat(500_000);
    state("a.eml", headers.as_bytes());
}

#[test]
fn an_encrypted_part_is_a_state() {
    let mut archive = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    let options = zip::write::SimpleFileOptions::default();
    archive.start_file("[Content_Types].xml", options).unwrap();
    archive.write_all(b"<Types ContentType=\"wordprocessingml.document.main+xml\"/>").unwrap();
    let mut bytes = archive.finish().unwrap().into_inner();
    // The flag of encryption, in both records of the part.
    for (mark, flags) in [(b"PK\x03\x04", 6), (b"PK\x01\x02", 8)] {
        let at = bytes.windows(4).position(|window| window == mark).unwrap();
        bytes[at + flags] |= 1;
    }
    assert_eq!(state("a.docx", &bytes), "encrypted");
}
