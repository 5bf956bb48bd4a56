//! `fetch` and documents that are no pages.

use std::io::{Cursor, Write as _};

use axum::Router;
use axum::http::header::CONTENT_TYPE;
use axum::routing::get;
use gatefold_egress::PrivateNetworks;
use serde_json::json;
use tokio::net::TcpListener;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use crate::fixture::{said as said_by, toolbox_with};

/// What `fetch` says of a document that a server gives under this name and media type.
async fn said(name: &str, media_type: &'static str, body: Vec<u8>) -> String {
    let served = get(move || async move { ([(CONTENT_TYPE, media_type)], body) });
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let site = listener.local_addr().unwrap();
    let router = Router::new().route(&format!("/{name}"), served);
    tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
    let tools = toolbox_with(|own| own.private = PrivateNetworks::All);
    said_by(&tools, "fetch", &json!({ "url": format!("http://{site}/{name}") })).await
}

fn docx(body: &str) -> Vec<u8> {
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    let document = format!("<w:document><w:body>{body}</w:body></w:document>");
    let reference =
        "<Relationship Id=\"a\" Type=\"x/officeDocument\" Target=\"word/document.xml\"/>";
    let types = "<Types><Override ContentType=\"a.wordprocessingml.document.main+xml\"/></Types>";
    for (name, content) in [
        ("[Content_Types].xml", types),
        ("_rels/.rels", &format!("<Relationships>{reference}</Relationships>")),
        ("word/document.xml", &document),
    ] {
        archive.start_file(name, SimpleFileOptions::default()).unwrap();
        archive.write_all(content.as_bytes()).unwrap();
    }
    archive.finish().unwrap().into_inner()
}

const WORDS: &str = "<w:p><w:r><w:t>Sales rose.</w:t></w:r></w:p><w:tbl><w:tr><w:tc><w:p><w:r><w:t>a</w:t></w:r></w:p>\
    </w:tc><w:tc><w:p><w:r><w:t>b</w:t></w:r></w:p></w:tc></w:tr></w:tbl>";

#[tokio::test]
async fn a_document_is_read_by_what_it_is() {
    let word = "application/vnd.openxmlformats-officedocument.wordprocessingml.document";
    for media_type in [word, "application/octet-stream", "application/zip"] {
        let text = said("a.docx", media_type, docx(WORDS)).await;
        assert_eq!(text, "Sales rose.\n\n| a | b |\n| --- | --- |", "{media_type}");
    }
    assert_eq!(
        said("a.csv", "text/csv", b"a;b\n1;2".into()).await,
        "| a | b |\n| --- | --- |\n| 1 | 2 |"
    );
    let mail = b"From: a@host.example\nSubject: Plan\n\nAt ten.".to_vec();
    let text = said("a.eml", "message/rfc822", mail).await;
    assert_eq!(text, "# Plan\n\nFrom: a@host.example\n\nAt ten.");
}

#[tokio::test]
async fn why_a_document_cannot_be_read_is_said_in_words() {
    for (media_type, body, why) in [
        ("application/zip", docx("").split_off(30), "cannot be shown as a text"),
        (
            "application/zip",
            docx("")[..90].to_vec(),
            "this is a damaged ZIP archive, which is not read; ask for a whole copy",
        ),
        ("application/octet-stream", docx(""), "this DOCX has no text to read"),
        (
            "application/octet-stream",
            b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1".to_vec(),
            "a file of an older Office",
        ),
        (
            "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
            b"a".to_vec(),
            "this is no XLSX",
        ),
        (
            "image/png",
            b"\x89PNG".to_vec(),
            "this is `image/png` of 4 bytes, which cannot be shown as a text",
        ),
    ] {
        let said = said("file", media_type, body).await;
        assert!(said.starts_with("error: ") && said.contains(why), "{media_type}: {said}");
    }
}
