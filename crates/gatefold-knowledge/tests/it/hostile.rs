//! Names, texts and files that somebody means harm with.

use std::iter;

use gatefold_documents::{Block, BlockKind, Place};
use gatefold_knowledge::{KnowledgeError, MAX_NAME, Version};

use crate::scratch::{Scratch, document, names, put, search};

#[test]
fn a_name_is_a_name_whatever_it_says() {
    let scratch = Scratch::new();
    let base = scratch.open();
    let hostile = [
        "../../etc/passwd.txt",
        "/etc/shadow.txt",
        "'; DROP TABLE documents; --.txt",
        "%00.txt",
        "a\u{202e}txt.exe",
        "https://example.com/a?b=c#d",
        "file:///etc/passwd",
        "ﬁle.txt",
        " ",
        "/",
        "東京.txt",
    ];
    for name in hostile {
        put(&base, &[(name, "the badger of this name")]);
    }
    let mut found: Vec<_> = base.documents().unwrap().into_iter().map(|one| one.name).collect();
    let mut expected: Vec<_> = hostile.map(str::to_owned).into();
    found.sort();
    expected.sort();
    assert_eq!(found, expected);
    assert_eq!(names(&base, "badger").len(), 10);
    for name in hostile {
        assert!(base.remove(name).unwrap(), "{name}");
    }
    base.commit().unwrap();
    assert!(names(&base, "badger").is_empty());
}

#[test]
fn a_name_that_cannot_be_one_costs_no_other_document() {
    let scratch = Scratch::new();
    let base = scratch.open();
    base.put(&document("a.txt", "badger")).unwrap();
    for name in ["", "a\nb", "a\0b", "\u{9b}", &"a".repeat(MAX_NAME + 1)] {
        let error = base.put(&document(name, "badger")).unwrap_err();
        assert!(matches!(error, KnowledgeError::Name(_)), "{error}");
        assert!(error.to_string().chars().all(|char| !char.is_control()));
    }
    base.commit().unwrap();
    assert_eq!(names(&base, "badger"), ["a.txt"]);
}

#[test]
fn a_line_without_an_end_is_found_in_parts() {
    let scratch = Scratch::new();
    let base = scratch.open();
    let line = format!("{} badger {}", "a".repeat(1_000_000), "b c ".repeat(1_000_000));
    put(&base, &[("a.txt", &line)]);
    let found = search(&base, "badger");
    assert_eq!(found.passages.len(), 1);
    let passage = &found.passages[0];
    assert!(passage.excerpt().contains("badger") && passage.span.len() < 4000);
}

#[test]
fn headings_and_titles_without_an_end_are_cut() {
    let scratch = Scratch::new();
    let base = scratch.open();
    let long = "endless ".repeat(10_000);
    let headings: Vec<_> =
        (1..=6).map(|level| format!("{} {long}\n\n", "#".repeat(level))).collect();
    put(&base, &[("a.md", &format!("# {long}\n\n{}badger\n", headings.concat()))]);
    let passage = &search(&base, "badger").passages[0];
    assert!(passage.title.len() <= 400 && passage.headings.concat().len() <= 8 * 200);
}

/// A reader may have been taken over by what it read.
#[test]
fn a_document_that_lies_about_its_parts_is_damaged() {
    let scratch = Scratch::new();
    let base = scratch.open();
    let block = |span, heading| Block { kind: BlockKind::Heading(1), span, heading };
    for (blocks, hidden) in [
        (vec![block(1..5, None)], vec![]),
        (vec![block(0..1000, None)], vec![]),
        (vec![block(3..9, None), block(0..2, None)], vec![]),
        (vec![block(0..2, Some(0))], vec![]),
        (vec![block(0..2, Some(1)), block(3..9, Some(0))], vec![]),
        (vec![], iter::once(5..900).collect()),
    ] {
        let mut new = document("a.txt", "é badger é");
        (new.document.blocks, new.document.hidden) = (blocks, hidden);
        base.put(&new).unwrap();
        base.commit().unwrap();
        assert_eq!(base.summary("a.txt").unwrap().unwrap().state, "damaged");
        assert!(names(&base, "badger").is_empty());
    }
    let mut new = document("a.txt", "é badger é");
    new.document.title = Some(" \u{7}\0 ".to_owned());
    new.document.places = vec![(1, Place::Page(1)), (500, Place::Page(2))];
    base.put(&new).unwrap();
    base.commit().unwrap();
    let passage = &search(&base, "badger").passages[0];
    assert_eq!((&*passage.title, passage.excerpt()), ("a.txt", "é badger é"));
}

#[test]
fn a_query_is_no_language() {
    let scratch = Scratch::new();
    let base = scratch.open();
    put(&base, &[("a.txt", "a badger")]);
    for query in
        ["badger\" OR *:*", "body:badger^1000", "badger AND NOT badger", "(((badger", "-badger"]
    {
        assert_eq!(names(&base, query), ["a.txt"], "{query}");
    }
}

#[test]
fn a_version_never_comes_to_mean_another_text() {
    // Two texts with one version take a while to find; a stored row that was changed does as well.
    let scratch = Scratch::new();
    let base = scratch.open();
    put(&base, &[("a.txt", "one"), ("b.txt", "walrus")]);
    let file = rusqlite::Connection::open(scratch.path().join("documents.sqlite")).unwrap();
    let (one, two) = (Version::of("one"), Version::of("two"));
    let set = "UPDATE versions SET version = ?2 WHERE version = ?1";
    file.execute(set, [one.as_bytes(), two.as_bytes()]).unwrap();
    drop(file);
    put(&base, &[("a.txt", "two")]);
    let state = base.summary("a.txt").unwrap().unwrap();
    assert_eq!((&state.state[..], state.version), ("damaged", None));
    assert_eq!(&*base.text("a.txt", two).unwrap(), "one");
    assert_eq!(names(&base, "walrus"), ["b.txt"]);
}
