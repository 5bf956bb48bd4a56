//! Texts, Markdown, code, HTML, CSV and mail.

use gatefold_documents::{
    BlockKind, DocumentFault, Format, Hints, Place, READING_TIME, read_document,
};

use crate::builder::{blocks, read};

use BlockKind::{Code, Heading, List, Paragraph, Table};

#[track_caller]
fn check(name: &str, source: &str, format: Format, expected: &[(BlockKind, &str)]) {
    let document = read(name, source.as_bytes()).unwrap();
    assert_eq!(document.format, format, "{name}");
    assert_eq!(blocks(&document), expected, "{source}");
}

#[test]
fn markdown_keeps_its_bytes_and_tells_its_blocks() {
    let source = "# Guide\r\n\r\nFirst *words*.\r\n\r\n- one\r\n- two\r\n  1. three\r\n\r\n## Part `a`\r\n\r\n> quoted\r\n\r\n\
                  ```rust\r\nfn a() {}\r\n```\r\n\r\n| a | b |\r\n| - | - |\r\n| 1 | 2 |\r\n\r\nTitle\r\n===\r\n\r\n<p>x</p>\r\n";
    let expected = [
        (Heading(1), "# Guide"),
        (Paragraph, "First *words*."),
        (List, "- one\n- two\n  1. three"),
        (Heading(2), "## Part `a`"),
        (Paragraph, "> quoted"),
        (Code, "```rust\nfn a() {}\n```"),
        (Table, "| a | b |\n| - | - |\n| 1 | 2 |"),
        (Heading(1), "Title\n==="),
        (Paragraph, "<p>x</p>"),
    ];
    check("a.md", source, Format::Markdown, &expected);
    let document = read("a.md", source.as_bytes()).unwrap();
    assert_eq!(document.title.as_deref(), Some("Guide"));
    assert_eq!(document.text, source.replace("\r\n", "\n").trim_end());
    let quote = document.text.find("quoted").unwrap();
    assert_eq!(document.heading_path(quote), ["Guide", "Part `a`"]);
    assert_eq!(document.place(quote), Some(Place::Line(11)));
    let last = document.text.find("<p>").unwrap();
    assert_eq!(document.heading_path(last), ["Title"]);
}

#[test]
fn a_text_is_parted_by_empty_lines() {
    check(
        "a.txt",
        "one\ntwo\n \n\nthree",
        Format::Text,
        &[(Paragraph, "one\ntwo"), (Paragraph, "three")],
    );
    check(
        "a.rs",
        "fn a() {}\n\nfn b() {}\n",
        Format::Code,
        &[(Code, "fn a() {}"), (Code, "fn b() {}")],
    );
}

#[test]
fn a_text_is_canonical_whatever_its_encoding() {
    let wide: Vec<u8> = "\u{feff}café".encode_utf16().flat_map(u16::to_le_bytes).collect();
    for bytes in
        ["\u{feff}café".as_bytes(), b"caf\xe9", &wide, "cafe\u{301}".as_bytes(), b"ca\x07f\xc3\xa9"]
    {
        assert_eq!(read("a.txt", bytes).unwrap().text, "café", "{bytes:x?}");
    }
    // A block that begins with a combining character stays where it is.
    let document =
        read("a.html", "<p>e<b>\u{301}</b></p><p>\u{301}o e&#x301;</p>".as_bytes()).unwrap();
    assert_eq!(document.text, "e**\u{301}**\n\n\u{301}o é");
    assert_eq!(blocks(&document)[1], (Paragraph, "\u{301}o é"));
}

#[test]
fn hidden_characters_stay_and_can_be_found() {
    let document =
        read("a.txt", "pay \u{202e}001\u{202c} now\u{200b}\u{e0041}\u{e0042}".as_bytes()).unwrap();
    let found: Vec<_> = document.hidden.iter().map(|span| &document.text[span.clone()]).collect();
    assert_eq!(found, ["\u{202e}", "\u{202c}", "\u{200b}\u{e0041}\u{e0042}"]);
}

#[test]
fn a_page_tells_its_blocks() {
    let html = "<title>T</title><main><h1>A</h1><p>one <b>two</b></p><ul><li>x<li><p>y</p></ul><pre>a\n  b</pre>\
                <table><tr><th><p>h</p></th><th>i</th></tr><tr><td>1</td><td><p>2</p></td></tr></table></main><p>beside</p>";
    let expected = [
        (Heading(1), "# A"),
        (Paragraph, "one **two**"),
        (List, "- x\n-"),
        (List, "y"),
        (Code, "```\na\n  b\n```"),
        (Table, "| h | i |\n| --- | --- |\n| 1 | 2 |"),
        (Paragraph, "beside"),
    ];
    check("a.html", html, Format::Html, &expected);
    check("a", "<!DOCTYPE html><p>x", Format::Html, &[(Paragraph, "x")]);
}

#[test]
fn rows_of_csv_are_lines_and_know_their_own() {
    let csv = "name;note\nAnn;\"two\nlines; more\"\n\nBob;-\n";
    let table = "| name | note |\n| --- | --- |\n| Ann | two lines; more |\n| Bob | - |";
    check("a.csv", csv, Format::Csv, &[(Table, table)]);
    let document = read("a.csv", csv.as_bytes()).unwrap();
    for (words, line) in [("name", 1), ("lines; more", 2), ("Bob", 5)] {
        let at = document.text.find(words).unwrap();
        assert_eq!(document.place(at), Some(Place::Line(line)), "{words}");
    }
    check(
        "a.tsv",
        "a,b\tc\n1,2\t3",
        Format::Csv,
        &[(Table, "| a,b | c |\n| --- | --- |\n| 1,2 | 3 |")],
    );
    check("a.csv", "a,b\n1", Format::Csv, &[(Table, "| a | b |\n| --- | --- |\n| 1 |  |")]);
}

const MAIL: &str = "From: =?utf-8?q?Ann_M=C3=BCller?= <ann@host.example>\r\nTo: bob@host.example\r\nSubject: Plan\r\n\
    Date: Mon, 2 Mar 2026 10:00:00 +0100\r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n\
    --b\r\nContent-Type: multipart/alternative; boundary=c\r\n\r\n\
    --c\r\nContent-Type: text/plain; charset=iso-8859-1\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n\
    Caf=E9 at ten.\r\n\r\nBring it.\r\n--c\r\nContent-Type: text/html\r\n\r\n<p>Caf</p>\r\n--c--\r\n\
    --b\r\nContent-Type: application/pdf; name=\"a.pdf\"\r\nContent-Disposition: attachment; filename=\"a.pdf\"\r\n\
    Content-Transfer-Encoding: base64\r\n\r\nJVBERg==\r\n\
    --b\r\nContent-Type: message/rfc822\r\n\r\nFrom: c@host.example\r\nSubject: Before\r\nContent-Type: text/html\r\n\r\n\
    <h1>Old</h1><ul><li>x</ul>\r\n--b--\r\n";

#[test]
fn a_mail_gives_its_head_its_text_and_the_messages_in_it() {
    let expected = [
        (Heading(1), "# Plan"),
        (
            Paragraph,
            "From: Ann Müller <ann@host.example>\nTo: bob@host.example\nDate: 2026-03-02T10:00:00+01:00",
        ),
        (Paragraph, "Café at ten."),
        (Paragraph, "Bring it."),
        (Heading(2), "## Before"),
        (Paragraph, "From: c@host.example"),
        (Heading(1), "# Old"),
        (List, "- x"),
        (Paragraph, "Attachments:"),
        (List, "- a.pdf (application/pdf, 4 bytes)"),
    ];
    check("a.eml", MAIL, Format::Eml, &expected);
    check("a", MAIL, Format::Eml, &expected);
    let document = read("a.eml", MAIL.as_bytes()).unwrap();
    assert_eq!(document.title.as_deref(), Some("Plan"));
    assert_eq!(document.place(document.text.find("ten").unwrap()), Some(Place::MessagePart(2)));
    assert_eq!(document.place(document.text.find("Old").unwrap()), Some(Place::MessagePart(4)));
}

#[test]
fn bytes_say_what_a_document_is_before_its_name_does() {
    let wide: Vec<u8> = "EncryptedPackage".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let compound = [b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", &[0; 504][..]].concat();
    let secret = [&compound[..], &wide].concat();
    for (name, bytes, state) in [
        ("a.docx", &secret[..], "encrypted"),
        ("a.doc", &compound, "unknown_format"),
        ("a.docx", b"just words", "damaged"),
        ("a.pdf", b"just words", "damaged"),
        ("a.txt", b"\x89PNG\r\n\x1a\n", "unknown_format"),
        ("a.txt", b"a\0b", "not_text"),
        ("a.md", b" \n\n", "no_text"),
        ("a.zip", b"PK\x03\x04\0\0", "unknown_format"),
        ("a.pdf", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "unknown_format"),
        ("a.xlsx", b"PK\x03\x04\0\0", "damaged"),
        ("a.eml", b"", "damaged"),
    ] {
        let fault = read(name, bytes).unwrap_err();
        assert_eq!(fault.state(), state, "{name}: {fault}");
    }
    assert_eq!(
        read("a.doc", b"%PDF-1.4").unwrap_err().to_string(),
        "this PDF is damaged: no pages can be found in it"
    );
}

#[test]
fn a_media_type_counts_more_than_a_name() {
    let hints = Hints {
        name: Some("/report.php"),
        media_type: Some("text/csv; charset=utf-8"),
        address: None,
    };
    let until = std::time::Instant::now() + READING_TIME;
    let document = read_document(b"a,b\n1,2", &hints, until).unwrap();
    assert_eq!(document.format, Format::Csv);
}

#[test]
fn a_document_that_takes_too_long_says_so() {
    let hints = Hints { name: Some("a.csv"), ..Hints::default() };
    let fault = read_document(b"a,b\n1,2", &hints, std::time::Instant::now()).unwrap_err();
    assert_eq!(fault, DocumentFault::TooLong(Format::Csv));
}

#[test]
fn a_document_travels_whole() {
    let text = "# Guide\n\nFirst w\u{200b}\u{f6}rds.\n\n## Part\n\n| a |\n| - |\n| 1 |";
    let document = read("a.md", text.as_bytes()).unwrap();
    let json = serde_json::to_string(&document).unwrap();
    let arrived: gatefold_documents::Document = serde_json::from_str(&json).unwrap();
    assert_eq!(arrived, document);
}
