//! Documents with bytes that were changed: none of them may panic, hang or break what a document promises.

use std::ops::Range;
use std::time::{Duration, Instant};

use gatefold_documents::{Document, Hints, read_document};

use crate::builder::{docx, paragraph, pptx, xlsx, zipped};

/// How many documents are made of each sample.
const ROUNDS: usize = 400;

/// The longest that one may take, in a build for tests on a machine that others use.
const LONGEST: Duration = Duration::from_secs(10);

fn samples() -> Vec<(&'static str, Vec<u8>)> {
    let rows = "<row r=\"1\"><c r=\"A1\" t=\"s\"><v>0</v></c><c r=\"B1\" s=\"1\"><v>45351</v></c></row>\
                <row r=\"2\"><c r=\"A2\"><f>1+1</f><v>2</v></c></row>";
    let slide = "<p:sp><p:nvPr><p:ph type=\"title\"/></p:nvPr><p:txBody><a:p><a:r><a:t>T</a:t></a:r></a:p></p:txBody></p:sp>\
                 <a:tbl><a:tr><a:tc><a:p><a:r><a:t>c</a:t></a:r></a:p></a:tc></a:tr></a:tbl>";
    let table = format!(
        "<w:tbl><w:tr><w:tc>{}</w:tc><w:tc>{}</w:tc></w:tr></w:tbl>",
        paragraph("", "a"),
        paragraph("", "b")
    );
    let body = paragraph("T", "Title")
        + &paragraph("H1", "Cafe\u{301}")
        + &table
        + &paragraph("Code", "x");
    vec![
        ("a.docx", docx(&body)),
        ("a.pptx", pptx(&[slide, slide])),
        ("a.xlsx", xlsx(&[("S", rows)], "<sst><si><t>How</t></si></sst>")),
        ("a.zip", zipped(&[("a", b"b")])),
        ("a.md", "# A\n\n> - x\n>   y\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```\nc\u{301}\n```\n".into()),
        ("a.html", "<title>t</title><main><h1>A</h1><ul><li>x<table><tr><td>1<td><p>e\u{301}</table></ul></main><pre>q</pre>".into()),
        ("a.csv", "a;\"b\nc\"\n1;2\n\u{301};e\u{301}\n".into()),
        ("a.txt", "one\r\ntwo\u{202e}\r\r\n\u{feff}three e\u{301}\n".into()),
        (
            "a.eml",
            "From: a <a@b>\r\nSubject: =?utf-8?b?w6k=?=\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n\
             Content-Type: text/html; charset=koi8-r\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n<p>=C1</p>\r\n\
             --b\r\nContent-Type: message/rfc822\r\n\r\nSubject: c\r\n\r\nd\r\n--b--\r\n"
                .into(),
        ),
    ]
}

#[test]
fn no_change_of_bytes_breaks_a_promise() {
    let mut random = fastrand::Rng::with_seed(40);
    let mut count = 0;
    for (name, whole) in samples() {
        for round in 0..ROUNDS {
            let bytes = changed(&whole, &mut random);
            let hints = Hints { name: Some(name), ..Hints::default() };
            let before = Instant::now();
            let read = read_document(&bytes, &hints, before + LONGEST);
            assert!(before.elapsed() < LONGEST, "{name} {round}");
            match read {
                Ok(document) => check(&document, &format!("{name} {round}")),
                Err(fault) => {
                    assert!(!fault.to_string().contains("failed"), "{name} {round}: {fault}");
                }
            }
            count += 1;
        }
    }
    assert!(count > 3000);
}

fn changed(whole: &[u8], random: &mut fastrand::Rng) -> Vec<u8> {
    let mut bytes = whole.to_vec();
    for _ in 0..random.usize(1..6) {
        if bytes.is_empty() {
            break;
        }
        let at = random.usize(..bytes.len());
        match random.u8(..7) {
            0 => bytes[at] = random.u8(..),
            1 => bytes[at] ^= 1 << random.u8(..8),
            2 => drop(bytes.drain(at..bytes.len().min(at + random.usize(..40)))),
            3 => bytes.insert(at, b"0123456789<>&;\"/=| \n\r"[random.usize(..21)]),
            4 => drop(bytes.splice(at..at, "\u{301}".bytes())),
            5 => {
                let from = random.usize(..bytes.len());
                let piece = bytes[from..bytes.len().min(from + 60)].to_vec();
                bytes.splice(at..at, piece);
            }
            _ => bytes.truncate(at),
        }
    }
    bytes
}

/// What every document promises.
fn check(document: &Document, name: &str) {
    let text = &document.text;
    let is_plain = |c: char| !c.is_control() || matches!(c, '\n' | '\t');
    assert!(text.chars().all(is_plain), "{name}: {text:?}");
    let normal = unicode_normalization::is_nfc(text);
    assert!(normal, "{name}: {text:?}");
    let is_span = |span: &Range<usize>| text.get(span.clone()).is_some_and(|text| !text.is_empty());
    let mut end = 0;
    for block in &document.blocks {
        assert!(
            is_span(&block.span) && block.span.start >= end,
            "{name}: {block:?} after {end} of {text:?}"
        );
        end = block.span.end;
        let _ = document.heading_path(block.span.start);
    }
    assert!(document.hidden.iter().all(is_span), "{name}");
    assert!(document.places.is_sorted_by_key(|(start, _)| *start), "{name}");
    assert!(document.places.iter().all(|(start, _)| text.is_char_boundary(*start)), "{name}");
    let _ = document.annotated_text();
}
