//! `fetch` and PDF.

mod builder;
mod hostile;

use std::net::SocketAddr;

use axum::Router;
use axum::http::header;
use axum::routing::get;
use gatefold_builtin::{BuiltinAnswer, BuiltinError, Toolbox};
use gatefold_egress::PrivateNetworks;
use lopdf::encryption::crypt_filters::{Aes128CryptFilter, CryptFilter};
use lopdf::{Document, EncryptionState, EncryptionVersion, Object, Permissions, SaveOptions};
use serde_json::{Value, json};
use tokio::net::TcpListener;

use crate::fixture::{answer, toolbox_with};
use builder::PdfBuilder;

/// Reads documents as `fetch` does: from a server.
struct PdfReader {
    tools: Toolbox,
}

impl PdfReader {
    fn new() -> Self {
        let tools = toolbox_with(|own| {
            own.private = PrivateNetworks::All;
        });
        Self { tools }
    }

    async fn serve(media_type: &'static str, body: Vec<u8>) -> SocketAddr {
        let served = get(move || async move { ([(header::CONTENT_TYPE, media_type)], body) });
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let router = Router::new().route("/a.pdf", served);
        tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        address
    }

    async fn fetch(&self, body: Vec<u8>, mut more: Value) -> Result<BuiltinAnswer, BuiltinError> {
        let site = Self::serve("application/pdf", body).await;
        more["url"] = json!(format!("http://{site}/a.pdf"));
        answer(&self.tools, "fetch", &more).await
    }

    /// What a model reads.
    async fn said(&self, body: Vec<u8>) -> String {
        match self.fetch(body, json!({})).await {
            Ok(answer) => answer.text,
            Err(error) => format!("error: {error}"),
        }
    }
}

async fn check(pdf: Vec<u8>, said: &str) {
    assert_eq!(PdfReader::new().said(pdf).await, said);
}

#[tokio::test]
async fn pages_come_in_order_under_their_numbers_and_the_title_first() {
    let pdf = PdfBuilder::new()
        .info("<< /Title (An   old\\ntitle) /Author (x) >>")
        .page("BT /F1 12 Tf 72 700 Td (One) Tj 0 -14 Td (line) Tj 0 -40 Td (Apart) Tj ET")
        .page("BT /F1 12 Tf 72 700 Td [(Tw) -10 (o) -300 (words)] TJ ET")
        .page("")
        .file();
    let said = "# An old title\n\n## Page 1\n\nOne\nline\n\nApart\n\n## Page 2\n\nTwo words\n\n\
                ## Page 3\n\n[no text]";
    check(pdf.clone(), said).await;
    let read = PdfReader::new().fetch(pdf, json!({})).await.unwrap();
    assert_eq!(read.structured["title"], "An old title");
    assert_eq!(read.structured["media_type"], "application/pdf");
    assert_eq!(read.structured["total_length"], said.len() - "# An old title\n\n".len());
}

#[tokio::test]
async fn a_document_is_paged_like_any_text() {
    let pdf = PdfBuilder::new()
        .info("<< /Title (T) >>")
        .page("BT /F1 12 Tf 72 700 Td (One) Tj ET")
        .page("BT /F1 12 Tf 72 700 Td (Two) Tj ET")
        .file();
    let reader = PdfReader::new();
    let first = reader.fetch(pdf.clone(), json!({ "max_length": 16 })).await.unwrap();
    assert_eq!(
        first.text,
        "# T\n\n## Page 1\n\nOne\n\n\n[30 characters in all; go on with start=16]"
    );
    assert_eq!(first.structured["next_start"], 16);
    let rest = reader.fetch(pdf.clone(), json!({ "start": 16 })).await.unwrap();
    assert_eq!(rest.text, "## Page 2\n\nTwo");
    let beyond = reader.fetch(pdf, json!({ "start": 32 })).await.unwrap_err();
    assert_eq!(beyond.to_string(), "the text has only 30 characters");
}

#[tokio::test]
async fn a_document_is_known_by_its_media_type_or_its_first_bytes() {
    let reader = PdfReader::new();
    let pdf = PdfBuilder::new().page("BT /F1 12 Tf (Text) Tj ET").file();
    for media_type in ["application/octet-stream", "text/plain", ""] {
        let site = PdfReader::serve(media_type, pdf.clone()).await;
        let url = format!("http://{site}/a.pdf");
        let read = answer(&reader.tools, "fetch", &json!({ "url": url })).await.unwrap();
        assert_eq!(read.text, "## Page 1\n\nText", "{media_type}");
        assert_eq!(read.structured["media_type"], "application/pdf");
    }
    let said =
        "error: this is no PDF, whatever its media type says: it does not begin with `%PDF-`";
    check(b"<html>Not found</html>".to_vec(), said).await;
    check(Vec::new(), said).await;
}

#[tokio::test]
async fn cells_words_and_lines_are_told_by_their_places() {
    for (content, text) in [
        // A table: each cell at a place of its own.
        (
            "BT /F1 10 Tf 72 700 Td (Name) Tj 100 0 Td (Age) Tj -100 -12 Td (Ann) Tj 100 0 Td (7) Tj ET",
            "Name\tAge\nAnn\t7",
        ),
        // A line in two fonts, a raised number, and words without a space between them.
        (
            "BT /F1 10 Tf 72 700 Td (see) Tj 18 0 Td (here) Tj /F1 6 Tf 20 3 Td (2) Tj ET",
            "see here2",
        ),
        // Two columns.
        (
            "BT /F1 10 Tf 72 700 Td (left) Tj ET BT /F1 10 Tf 300 740 Td (right) Tj ET",
            "left\n\nright",
        ),
        // Operators that go to the next line, with what `TD` and `TL` set.
        ("BT /F1 10 Tf 72 700 TD (a) Tj 12 TL T* (b) Tj (c) ' 1 0 (d) \" ET", "a\nb\nc\nd"),
        // Turned and scaled.
        ("q .5 0 0 .5 0 0 cm BT /F1 20 Tf 0 1 -1 0 100 100 Tm (up) Tj (wards) Tj ET Q", "upwards"),
        // In a form, whose own resources have the font.
        ("/Fm1 Do BT /F1 10 Tf 0 -20 Td (after) Tj ET", "inside\n\nafter"),
        // A picture within the content, and something that is no operator.
        ("BI /W 1 /H 1 /BPC 8 /CS /G ID x EI BT /F1 9 Tf (rest) Tj ET", "rest"),
    ] {
        let pdf = PdfBuilder::new().page(content).file();
        check(pdf, &format!("## Page 1\n\n{text}")).await;
    }
}

#[tokio::test]
async fn letters_come_from_the_fonts_own_table_or_its_encoding() {
    let table = "/CIDInit /ProcSet findresource begin 12 dict begin begincmap
        1 begincodespacerange <0000> <FFFF> endcodespacerange
        2 beginbfchar <0001> <0048> <0002> <00660069> endbfchar
        2 beginbfrange <0010> <0012> <0061> <0020> <0021> [<D83DDE00> <20AC>] endbfrange
        endcmap";
    let fonts =
        [("<0001 0002 0010 0012 0020 0021>", "Hfiac\u{1f600}\u{20ac}"), ("<0001 0099>", "H")];
    for (string, text) in fonts {
        let mut pdf = PdfBuilder::new();
        let table = pdf.stream("", table.as_bytes());
        let below = "[<< /Type /Font /Subtype /CIDFontType2 /DW 500 /W [1 [600 700] 16 18 400] >>]";
        let font = format!(
            "<< /Type /Font /Subtype /Type0 /Encoding /Identity-H /DescendantFonts {below} \
             /ToUnicode {table} 0 R >>"
        );
        let font = pdf.object(&font);
        let pdf = pdf.font("F9", font).page(&format!("BT /F9 10 Tf {string} Tj ET")).file();
        let said = PdfReader::new().said(pdf).await;
        assert!(said.starts_with(&format!("## Page 1\n\n{text}")), "{said}");
    }
    for (font, string, text) in [
        ("/Encoding /WinAnsiEncoding", "(\\204caf\\351\\223 \\200)", "„café“ €"),
        ("/Encoding /MacRomanEncoding", "(caf\\216)", "café"),
        (
            "/Encoding << /Differences [1 /f_i /uni20AC /eacute.sc /g99 65 /B] >>",
            "(\\1\\2\\3A)",
            "fi€éB",
        ),
        ("/Subtype /TrueType", "(\\351)", "é"),
    ] {
        let mut pdf = PdfBuilder::new();
        let font = pdf.object(&format!("<< /Type /Font /BaseFont /X {font} >>"));
        let pdf = pdf.font("F9", font).page(&format!("BT /F9 10 Tf {string} Tj ET")).file();
        check(pdf, &format!("## Page 1\n\n{text}")).await;
    }
}

#[tokio::test]
async fn what_has_no_text_says_why() {
    let scan = PdfBuilder::new().page("q 100 0 0 100 0 0 cm /Im1 Do Q").file();
    let said = "error: this PDF has no text to read: its pages are pictures, such as scans, and the \
                words in them are not recognized";
    check(scan, said).await;
    let mut mute = PdfBuilder::new();
    let font = "<< /Type /Font /Subtype /Type0 /Encoding /Identity-H /DescendantFonts [<< >>] >>";
    let font = mute.object(font);
    let mute = mute.font("F9", font);
    let page = "BT /F9 10 Tf <00010002> Tj ET";
    check(
        mute.clone().page(page).file(),
        "error: fonts of this PDF do not say which letters they show",
    )
    .await;
    let partly = mute.page("BT /F1 10 Tf (Some) Tj ET").page(page).file();
    let said = "## Page 1\n\nSome\n\n## Page 2\n\n[no text]\n\n[2 characters are left out: fonts of this \
                PDF do not say which letters they show]";
    check(partly, said).await;
}

/// A document by the library's own writer.
fn document() -> Document {
    let pdf = PdfBuilder::new()
        .info("<< /Title (Kept) >>")
        .page("BT /F1 12 Tf 72 700 Td (In the open) Tj ET")
        .file();
    let mut document = Document::load_mem(&pdf).unwrap();
    let id = vec![Object::string_literal("0123456789abcdef"); 2];
    document.trailer.set("ID", Object::Array(id));
    document
}

const IN_THE_OPEN: &str = "# Kept\n\n## Page 1\n\nIn the open";

#[tokio::test]
async fn compressed_objects_and_streams_are_read() {
    let (mut document, mut pdf) = (document(), Vec::new());
    document.compress();
    let options = SaveOptions::builder().use_object_streams(true).use_xref_streams(true).build();
    document.save_with_options(&mut pdf, options).unwrap();
    assert!(pdf.windows(7).any(|word| word == b"/ObjStm"));
    check(pdf, IN_THE_OPEN).await;
    for filter in ["ASCIIHexDecode", "LZWDecode", "RunLengthDecode", "JBIG2Decode"] {
        let content: &[u8] = match filter {
            "ASCIIHexDecode" => b"4254202F46312039205466202878292054 6A204554>",
            _ => b"\x80",
        };
        let mut pdf = PdfBuilder::new();
        let content = pdf.stream(&format!("/Filter [/{filter}]"), content);
        let said = PdfReader::new().said(pdf.page_of(content).file()).await;
        if filter == "ASCIIHexDecode" {
            assert_eq!(said, "## Page 1\n\nx");
        } else {
            assert!(said.starts_with("error: this PDF "), "{said}");
        }
    }
}

#[tokio::test]
async fn an_encrypted_document_opens_without_a_password_or_says_that_it_needs_one() {
    let needed = "error: this PDF is encrypted and needs a password, which cannot be given; ask for a \
                  copy without one";
    for (user_password, said) in [("", IN_THE_OPEN), ("secret", needed)] {
        for is_aes in [false, true] {
            let (mut document, mut pdf) = (document(), Vec::new());
            let aes: std::sync::Arc<dyn CryptFilter> = std::sync::Arc::new(Aes128CryptFilter);
            let original = document.clone();
            let version = if is_aes {
                EncryptionVersion::V4 {
                    document: &original,
                    encrypt_metadata: true,
                    crypt_filters: [(b"StdCF".to_vec(), aes)].into(),
                    stream_filter: b"StdCF".to_vec(),
                    string_filter: b"StdCF".to_vec(),
                    owner_password: "owner",
                    user_password,
                    permissions: Permissions::all(),
                }
            } else {
                EncryptionVersion::V2 {
                    document: &original,
                    owner_password: "owner",
                    user_password,
                    key_length: 128,
                    permissions: Permissions::all(),
                }
            };
            let state = EncryptionState::try_from(version).unwrap();
            document.encrypt(&state).unwrap();
            document.save_to(&mut pdf).unwrap();
            check(pdf, said).await;
        }
    }
    let unknown = PdfBuilder::new().page("").trailer("/Encrypt << /Filter /Own /V 9 >>").file();
    let said =
        "error: this PDF is encrypted in a way that is not supported; ask for a copy that is not";
    check(unknown, said).await;
}
