//! Citations, written and read.

use gatefold_knowledge::{Citation, InvalidCitation, Version};
use proptest::prelude::*;

fn citation(document: &str, span: std::ops::Range<usize>) -> Citation {
    let version = "0123456789ab".parse().unwrap();
    Citation { domain: "hand-book".to_owned(), document: document.to_owned(), version, span }
}

#[test]
fn a_citation_is_an_address_whose_name_may_be_a_path() {
    for (document, span, expected) in [
        ("a.md", 0..9, "gatefold://hand-book/kb/a.md@0123456789ab#0-9"),
        ("b/c d@e#f.md", 5..7, "gatefold://hand-book/kb/b/c%20d%40e%23f.md@0123456789ab#5-7"),
        (
            "https://x/?q=é",
            1..1,
            "gatefold://hand-book/kb/https%3A//x/%3Fq%3D%C3%A9@0123456789ab#1-1",
        ),
        ("a.md", Citation::WHOLE, "gatefold://hand-book/kb/a.md@0123456789ab"),
    ] {
        let citation = citation(document, span);
        assert_eq!(citation.to_string(), expected);
        assert_eq!(expected.parse(), Ok(citation));
    }
}

#[test]
fn what_models_make_of_a_citation_is_understood() {
    for text in [
        "gatefold://hand-book/kb/b/c%20d.md@0123456789ab#5-7.",
        "(gatefold://hand-book/kb/b/c%20d.md@0123456789ab#5-7),",
        "<gatefold://hand-book/kb/b/c%20d.md@0123456789ab#5-7>",
        "`gatefold://hand-book/kb/b/c%20d.md@0123456789ab#5-7`",
        "GateFold://hand-book/KB/b/c%20d.md@0123456789AB#5-7",
        "gatefold://hand-book/kb/b/c d.md@0123456789ab#5-7",
        "gatefold://hand-book/kb/b%2fc%20d%2Emd%400123456789ab%235-7",
        "gatefold://hand-book/kb/b/c%20d.md@0123456789ab#5\u{2013}7",
    ] {
        assert_eq!(text.parse(), Ok(citation("b/c d.md", 5..7)), "{text}");
    }
    for text in [
        "gatefold://hand-book/kb/a.md@0123456789ab",
        "[gatefold://hand-book/kb/a.md@0123456789ab].",
    ] {
        assert_eq!(text.parse(), Ok(citation("a.md", Citation::WHOLE)), "{text}");
    }
}

#[test]
fn what_is_no_citation_is_refused() {
    for text in [
        "",
        "gatefold://",
        "gatefold://d/kb/a.md",
        "gatefold://d/kb/@0123456789ab#0-1",
        "gatefold:///kb/a.md@0123456789ab#0-1",
        "gatefold://d/a.md@0123456789ab#0-1",
        "gatefold://d/kb/a.md@0123456789abc#0-1",
        "gatefold://d/kb/a.md@0123456789a#0-1",
        "gatefold://d/kb/a%ff.md@0123456789ab#0-1",
        "http://d/kb/a.md@0123456789ab#0-1",
        "gatefold://d/kb/a.md@0123456789ab#0-1 and more",
        "gatefold://d/kb/a.md@0123456789ab#0-99999999999999999999999",
    ] {
        assert_eq!(text.parse::<Citation>(), Err(InvalidCitation), "{text}");
    }
}

proptest! {
    #[test]
    fn every_citation_reads_back_as_it_was_written(
        domain in "\\PC{1,20}",
        document in "\\PC{1,60}",
        bytes: [u8; 6],
        start in 0..usize::MAX / 2,
        length in 0..usize::MAX / 2,
    ) {
        let version = Version::from_bytes(bytes);
        let citation = Citation { domain, document, version, span: start..start + length };
        prop_assert_eq!(citation.to_string().parse(), Ok(citation));
    }

    #[test]
    fn no_text_breaks_the_reading(text: String, start in "(gatefold://)?\\PC*(@[0-9a-f]{12})?(#[0-9]*-?[0-9]*)?\\PC*") {
        for text in [text, start] {
            if let Some((_, length)) = Citation::parse_start(&text) {
                prop_assert!(text.is_char_boundary(length));
            }
        }
    }
}
