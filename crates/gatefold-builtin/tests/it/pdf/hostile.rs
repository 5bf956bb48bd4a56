//! Documents that are damaged or mean harm. Each gets an answer soon.

use std::io::Write as _;
use std::time::{Duration, Instant};

use flate2::Compression;
use flate2::write::ZlibEncoder;
use serde_json::json;

use super::builder::{PdfBuilder, written};
use super::{PdfReader, check};

/// The deadline of a document with its grace, on a machine that is busy.
const DEADLINE: Duration = Duration::from_secs(13);

/// What is said soon of a document.
async fn said_soon(pdf: Vec<u8>) -> String {
    let start = Instant::now();
    let said = PdfReader::new().said(pdf).await;
    assert!(start.elapsed() < DEADLINE, "{:?}: {said:.200}", start.elapsed());
    said
}

fn deflated(data: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(data).unwrap();
    encoder.finish().unwrap()
}

/// The most memory that this process has had since [`forget_peak`], in bytes.
#[cfg(target_os = "linux")]
fn peak_memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() * 1024
}

#[cfg(target_os = "linux")]
fn forget_peak() {
    std::fs::write("/proc/self/clear_refs", "5").unwrap();
}

#[tokio::test]
async fn a_bomb_is_not_inflated() {
    let zeros = vec![b' '; 64 << 20];
    let once = deflated(&zeros);
    let twice = deflated(&deflated(&vec![b' '; 256 << 20]));
    for (filter, data) in [("/FlateDecode", once), ("[/FlateDecode /FlateDecode]", twice)] {
        let mut pdf = PdfBuilder::new();
        let content = pdf.stream(&format!("/Filter {filter}"), &data);
        let pdf = pdf.page_of(content).page("BT /F1 9 Tf (Still there) Tj ET").file();
        assert_eq!(
            said_soon(pdf).await,
            "## Page 1\n\n[this page is left out: this PDF holds more than is read of one \
             document]\n\n## Page 2\n\nStill there"
        );
    }
}

/// Each is a few kilobytes, and makes a careless reader hold gigabytes.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn what_is_small_does_not_become_large_in_memory() {
    forget_peak();
    let before = peak_memory();
    // One long list that is a hundred thousand objects.
    let members = (10..100_010).map(|number| format!("{number} 0 ")).collect::<Vec<_>>().concat();
    let list = format!("{members}[{}]", "1 ".repeat(200_000));
    let dictionary =
        format!("/Type /ObjStm /N 100000 /First {} /Filter /FlateDecode", members.len());
    let mut pdf = PdfBuilder::new();
    pdf.stream(&dictionary, &deflated(list.as_bytes()));
    let pdf = pdf.page("BT /F1 9 Tf (a) Tj ET").file();
    assert_eq!(said_soon(pdf).await, "## Page 1\n\na");
    // A table of letters with every number there is.
    let mut pdf = PdfBuilder::new();
    let table = "1 beginbfrange <00000000> <FFFFFFFF> <0041> endbfrange";
    let table = pdf.stream("", table.as_bytes());
    let font =
        pdf.object(&format!("<< /Type /Font /Encoding /WinAnsiEncoding /ToUnicode {table} 0 R >>"));
    let pdf = pdf.font("F9", font).page("BT /F9 9 Tf (\\001) Tj ET").file();
    assert_eq!(said_soon(pdf).await, "## Page 1\n\nB");
    // Twenty drawings that each draw the next ten times.
    let mut pdf = PdfBuilder::new();
    let mut inner = 4;
    for _ in 0..20 {
        let resources = format!("/Resources << /XObject << /X {inner} 0 R >> >>");
        inner = pdf.stream(&format!("/Subtype /Form {resources}"), "/X Do ".repeat(10).as_bytes());
    }
    let page = format!(
        "<< /Type /Page /Resources << /XObject << /X {inner} 0 R >> >> /Contents {} 0 R >>",
        pdf.stream("", b"/X Do")
    );
    let page = pdf.object(&page);
    said_soon(pdf.kid(page).file()).await;
    let grown = peak_memory() - before;
    assert!(grown < 700 << 20, "{grown} bytes");
}

#[tokio::test]
async fn what_leads_back_into_itself_ends() {
    let pages = |objects: &[&str]| {
        let objects: Vec<_> = objects.iter().map(|object| object.as_bytes().to_vec()).collect();
        written(&objects, "")
    };
    let no_pages = "error: this PDF is damaged: no pages can be found in it";
    let no_text = "error: this PDF has no text to read: its pages are pictures, such as scans, and the \
                   words in them are not recognized";
    for (objects, said) in [
        // A tree whose branches are itself, and one deeper than any.
        (vec!["<< /Pages 2 0 R >>", "<< /Kids [2 0 R 2 0 R 1 0 R] >>"], no_text),
        (vec!["<< /Pages 2 0 R >>", "<< /Kids [2 0 R] >>"], no_pages),
        // References to themselves and to each other.
        (vec!["<< /Pages 2 0 R >>", "2 0 R"], no_pages),
        (vec!["<< /Pages 2 0 R >>", "3 0 R", "2 0 R"], no_pages),
        (vec!["1 0 R"], no_pages),
        (vec!["<< /Pages 2 0 R >>", "<< /Kids 2 0 R /Resources 2 0 R /Contents 2 0 R >>"], no_text),
        (
            vec![
                "<< /Pages 2 0 R >>",
                "<< /Kids [3 0 R] >>",
                "<< /Contents [3 0 R 4 0 R] >>",
                "<< /Length 4 0 R /Filter 4 0 R >>\nstream\nx\nendstream",
            ],
            no_text,
        ),
    ] {
        check(pages(&objects), said).await;
    }
    let mut pdf = PdfBuilder::new();
    let form =
        pdf.stream("/Subtype /Form /Resources << /XObject << /X 5 0 R >> >>", b"/X Do /X Do");
    assert_eq!(form, 5);
    let content = pdf.stream("", b"/X Do BT /F1 9 Tf (after) Tj ET");
    let page = format!(
        "<< /Resources << /XObject << /X 5 0 R >> /Font << /F1 3 0 R >> >> /Contents {content} 0 R >>"
    );
    let page = pdf.object(&page);
    assert_eq!(said_soon(pdf.kid(page).file()).await, "## Page 1\n\nafter");
    let deep = format!("<< /Pages {}{} >>", "[".repeat(400_000), "]".repeat(400_000));
    assert_eq!(said_soon(pages(&[&deep])).await, no_pages);
    let many = "1 0 obj << /A ( ".repeat(100_000);
    said_soon(format!("%PDF-1.4\n{many}").into_bytes()).await;
}

#[tokio::test]
async fn what_is_too_long_is_read_in_part() {
    let mut pdf = PdfBuilder::new();
    let content = pdf.stream("", b"BT /F1 9 Tf (page) Tj ET");
    let many = (0..2010).fold(pdf, |pdf, _| pdf.page_of(content)).file();
    let end = json!({ "start": 2000 * "## Page 1000\n\npage\n\n".len() - 2000 });
    let read = PdfReader::new().fetch(many, end).await.unwrap();
    let rest =
        "\n[pages 2001 to 2010 are left out: this PDF holds more than is read of one document]";
    assert!(read.text.ends_with(&format!("## Page 2000\n\npage\n{rest}")), "{}", read.text);
    // Objects that are too large are none.
    let mut pdf = PdfBuilder::new();
    let large = pdf.object(&format!("<< /Contents [{}] >>", "null ".repeat(300_000)));
    let said = said_soon(pdf.page("BT /F1 9 Tf (a) Tj ET").kid(large).file()).await;
    let rest = "[parts are left out: this PDF holds more than is read of one document]";
    assert_eq!(said, format!("## Page 1\n\na\n\n{rest}"));
}

/// What readers of such languages stumble over: what is opened and never closed, in content, in a font's
/// table of letters and in an object.
#[tokio::test]
async fn what_is_never_closed_ends() {
    for piece in
        ["(", "[", "<<", "<", "BI ", "BI ID ", "[(", "<</A", "%", "1 0 obj <<>> stream\n", "(\\"]
    {
        let many = piece.repeat(1_000_000 / piece.len());
        let mut pdf = PdfBuilder::new();
        let table = pdf.stream("", many.as_bytes());
        let font = pdf.object(&format!("<< /Type /Font /ToUnicode {table} 0 R >>"));
        let content = pdf.stream("", format!("BT /F9 9 Tf (a) Tj {many}").as_bytes());
        pdf.object(&format!("<< /Type /ObjStm {many}"));
        let said = said_soon(pdf.font("F9", font).page_of(content).file()).await;
        assert!(
            said == "## Page 1\n\na" || said.starts_with("error: this PDF is damaged"),
            "{said}"
        );
    }
}

/// A document with a bit of everything.
fn sample() -> Vec<u8> {
    let mut pdf = PdfBuilder::new();
    let table = pdf.stream("", b"1 beginbfrange <00> <7F> <0020> endbfrange");
    let font = pdf.object(&format!(
        "<< /Type /Font /Encoding << /Differences [1 /a /b] >> /ToUnicode {table} 0 R /Widths [5 6] >>"
    ));
    let content = deflated(b"BT /F9 10 Tf 9 9 Td (text) Tj [(x) -9 (y)] TJ ET /Fm1 Do");
    let content = pdf.stream("/Filter /FlateDecode /DecodeParms << /Predictor 1 >>", &content);
    let index = "90 0 91 5 ";
    let members = format!("{index}[1 2] << /A 90 0 R >>");
    pdf.stream(&format!("/Type /ObjStm /N 2 /First {}", index.len()), members.as_bytes());
    let pdf = pdf.font("F9", font).info("<< /Title (Sample) >>").page_of(content);
    pdf.page("q 1 0 0 1 5 5 cm BT /F1 9 Tf 12 TL (plain) ' T* (more) Tj ET Q").file()
}

#[tokio::test]
async fn half_a_document_gives_what_is_there() {
    let whole = sample();
    let reader = PdfReader::new();
    let said = reader.said(whole.clone()).await;
    assert!(
        said.starts_with("# Sample\n\n## Page 1\n\n") && said.ends_with("plain\nmore"),
        "{said}"
    );
    for length in (0..whole.len()).step_by(37) {
        reader.said(whole[..length].to_vec()).await;
    }
    // Without the table of places and the trailer.
    let end = whole.windows(5).position(|word| word == b"xref\n").unwrap();
    let said = reader.said(whole[..end].to_vec()).await;
    assert!(said.ends_with("plain\nmore"), "{said}");
}

#[tokio::test]
async fn a_thousand_damaged_documents_are_read_or_refused() {
    let whole = sample();
    let reader = PdfReader::new();
    let mut random = fastrand::Rng::with_seed(16);
    let (mut read, mut refused) = (0, 0);
    for round in 0..1000 {
        let mut pdf = whole.clone();
        for _ in 0..random.usize(1..=12) {
            let at = random.usize(..pdf.len());
            match random.u8(..5) {
                0 => pdf[at] = random.u8(..),
                1 => pdf[at] ^= 1 << random.u8(..8),
                2 => drop(pdf.drain(at..pdf.len().min(at + random.usize(..40)))),
                3 => pdf.insert(at, b"0123456789<>[]()/ "[random.usize(..18)]),
                _ => {
                    let from = random.usize(..pdf.len());
                    let piece = pdf[from..pdf.len().min(from + 60)].to_vec();
                    pdf.splice(at..at, piece);
                }
            }
        }
        let start = Instant::now();
        let said = reader.said(pdf).await;
        assert!(start.elapsed() < DEADLINE, "round {round}: {:?}", start.elapsed());
        if said.starts_with("error: ") {
            assert!(said.contains("PDF"), "round {round}: {said}");
            refused += 1;
        } else {
            read += 1;
        }
    }
    // Both happen, or the damage is none or total.
    assert!(read > 100 && refused > 10, "{read} were read, {refused} refused");
}
