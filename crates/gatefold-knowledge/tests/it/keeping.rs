//! What is put in is kept, with its past.

use std::time::Duration;

use gatefold_core::{Clock as _, Timestamp};
use gatefold_documents::{DocumentFault, Format, Place};
use gatefold_knowledge::{KnowledgeBase, KnowledgeError, READY, Version};

use crate::scratch::{Scratch, document, facts, names, put};

#[test]
fn a_document_is_listed_and_found_once_it_is_committed() {
    let scratch = Scratch::new();
    let base = scratch.open();
    base.put(&document("a.md", "# Holidays\n\nEverybody has thirty days.\n")).unwrap();
    assert!(names(&base, "thirty days").is_empty());
    base.commit().unwrap();
    assert_eq!(names(&base, "thirty days"), ["a.md"]);
    let listed = base.documents().unwrap();
    assert_eq!(listed.len(), 1);
    assert_eq!((&listed[0].title[..], &listed[0].state[..]), ("Holidays", READY));
    assert_eq!(listed[0].chunks, 1);
    drop(base);
    assert_eq!(names(&scratch.open(), "thirty days"), ["a.md"]);
}

#[test]
fn a_passage_slices_back_and_says_where_it_is() {
    let scratch = Scratch::new();
    let base = scratch.open();
    put(&base, &[("a.md", "# One\n\nNothing here.\n\n## Two\n\nThe zebra sleeps.\n")]);
    let found = crate::scratch::search(&base, "zebra");
    let passage = &found.passages[0];
    assert_eq!(passage.excerpt(), "## Two\n\nThe zebra sleeps.");
    assert_eq!(passage.headings, ["One", "Two"]);
    assert_eq!(passage.place, Some(Place::Line(5)));
    assert_eq!(passage.version, Version::of(&passage.text));
    assert_eq!(*base.text("a.md", passage.version).unwrap(), *passage.text);
}

#[test]
fn a_removed_document_is_not_found_and_a_changed_one_only_as_it_is() {
    let scratch = Scratch::new();
    let base = scratch.open();
    put(&base, &[("a.txt", "walrus"), ("b.txt", "penguin")]);
    assert!(base.remove("a.txt").unwrap());
    assert!(!base.remove("none.txt").unwrap());
    put(&base, &[("b.txt", "albatross")]);
    for base in [base, scratch.open()] {
        assert!(names(&base, "walrus").is_empty());
        assert!(names(&base, "penguin").is_empty());
        assert_eq!(names(&base, "albatross"), ["b.txt"]);
    }
}

#[test]
fn a_document_without_text_has_a_state_and_is_no_longer_found() {
    let scratch = Scratch::new();
    let base = scratch.open();
    put(&base, &[("a.txt", "walrus")]);
    let fault = DocumentFault::Encrypted(Format::Pdf);
    base.put_fault(&facts("a.txt", b"x"), fault.state(), &fault.to_string()).unwrap();
    base.commit().unwrap();
    let listed = base.summary("a.txt").unwrap().unwrap();
    assert_eq!((&listed.state[..], listed.version, listed.chunks), ("encrypted", None, 0));
    assert!(listed.reason.contains("password"));
    assert!(names(&base, "walrus").is_empty());
    assert_eq!(base.counts().unwrap().faults, 1);
    put(&base, &[("a.txt", "walrus")]);
    assert_eq!(names(&base, "walrus"), ["a.txt"]);
    assert_eq!(base.summary("a.txt").unwrap().unwrap().state, READY);
}

#[test]
fn a_file_that_did_not_change_is_confirmed() {
    let scratch = Scratch::new();
    let base = scratch.open();
    put(&base, &[("a.txt", "walrus")]);
    let mut file = facts("a.txt", b"walrus");
    file.modified = scratch.clock.now();
    assert!(base.confirm(&file).unwrap());
    assert_eq!(base.summary("a.txt").unwrap().unwrap().modified, file.modified);
    assert!(!base.confirm(&facts("a.txt", b"other")).unwrap());
    assert!(!base.confirm(&facts("b.txt", b"walrus")).unwrap());
}

#[test]
fn past_versions_are_read_until_they_are_neither_last_nor_young() {
    let mut scratch = Scratch::new();
    scratch.past.versions = 2;
    scratch.past.time = Duration::from_secs(100);
    let base = scratch.open();
    let texts = ["one", "two", "three", "four", "five"];
    for text in texts {
        put(&base, &[("a.txt", text)]);
        scratch.clock.advance(Duration::from_secs(10));
    }
    let versions = texts.map(base_version);
    for version in versions {
        base.text("a.txt", version).unwrap();
    }
    scratch.clock.advance(Duration::from_secs(1000));
    // The first was cited lately.
    assert!(base.keep_cited("a.txt", versions[0]).unwrap());
    put(&base, &[("b.txt", "other")]);
    let kept = versions.map(|version| base.text("a.txt", version).is_ok());
    assert_eq!(kept, [true, false, true, true, true]);
    let error = base.text("a.txt", versions[1]).unwrap_err();
    let present = versions[4];
    assert!(
        matches!(&error, KnowledgeError::Missing { present: Some(one), .. } if *one == present),
        "{error}"
    );
    scratch.clock.advance(Duration::from_secs(1000));
    put(&base, &[("b.txt", "another")]);
    assert!(base.text("a.txt", versions[0]).is_err());
    assert!(!base.keep_cited("a.txt", versions[0]).unwrap());
}

fn base_version(text: &str) -> Version {
    Version::of(&document("a.txt", text).document.text)
}

#[test]
fn past_versions_keep_within_their_bytes() {
    let mut scratch = Scratch::new();
    scratch.past.bytes = 2000;
    let base = scratch.open();
    for number in 0..20 {
        // Random letters do not compress.
        let mut random = fastrand::Rng::with_seed(number);
        let text: String = (0..700).map(|_| random.alphanumeric()).collect();
        put(&base, &[("a.txt", &text)]);
        scratch.clock.advance(Duration::from_secs(1));
    }
    let counts = base.counts().unwrap();
    assert!(counts.past_bytes <= 2000 && counts.past_versions >= 2, "{counts:?}");
}

#[test]
fn a_text_that_comes_back_is_the_same_version() {
    let scratch = Scratch::new();
    let base = scratch.open();
    for text in ["one", "two", "one"] {
        put(&base, &[("a.txt", text)]);
    }
    assert_eq!(base.summary("a.txt").unwrap().unwrap().version, Some(base_version("one")));
    assert_eq!(names(&base, "one"), ["a.txt"]);
    assert_eq!(base.counts().unwrap().past_versions, 1);
}

#[test]
fn what_is_removed_is_still_cited_and_removing_all_leaves_nothing() {
    let scratch = Scratch::new();
    let base = scratch.open();
    put(&base, &[("a.txt", "walrus"), ("b.txt", "penguin")]);
    base.remove("a.txt").unwrap();
    base.commit().unwrap();
    assert_eq!(&*base.text("a.txt", base_version("walrus")).unwrap(), "walrus");
    base.remove_all().unwrap();
    for base in [base, scratch.open()] {
        assert!(base.documents().unwrap().is_empty());
        assert!(names(&base, "penguin").is_empty());
        assert!(base.text("a.txt", base_version("walrus")).is_err());
        assert_eq!(base.counts().unwrap(), gatefold_knowledge::BaseCounts::default());
    }
}

#[test]
fn a_version_is_read_with_its_blocks_and_places() {
    let scratch = Scratch::new();
    let base = scratch.open();
    let text = "# One\n\nA paragraph.\n\n- a list\n\n| a | b |\n|---|---|\n| 1 | 2 |\n";
    let new = document("a.md", text);
    base.put(&new).unwrap();
    base.commit().unwrap();
    let version = Version::of(&new.document.text);
    assert_eq!(base.document("a.md", version).unwrap(), new.document);
}

#[test]
fn a_base_is_deleted_whole_unless_somebody_writes_to_it() {
    let scratch = Scratch::new();
    let folder = scratch.path();
    assert_eq!(KnowledgeBase::disk_use(&folder).unwrap(), None);
    let base = scratch.open();
    put(&base, &[("a.txt", "walrus")]);
    let used = KnowledgeBase::disk_use(&folder).unwrap().unwrap();
    assert!(used.bytes > 1000 && used.changed > Timestamp::from_millis(0), "{used:?}");
    let refused = KnowledgeBase::delete(&folder);
    assert!(matches!(refused, Err(KnowledgeError::Busy)), "{refused:?}");
    assert_eq!(names(&base, "walrus"), ["a.txt"]);
    drop(base);
    KnowledgeBase::delete(&folder).unwrap();
    assert!(!folder.exists());
}
