//! The index is derived: it comes back, and what changes costs what changes.

use std::fs;
use std::time::{Duration, Instant};

use crate::scratch::{Scratch, names, put};

#[test]
fn an_index_that_is_gone_is_made_anew() {
    let scratch = Scratch::new();
    let base = scratch.open();
    put(&base, &[("a.txt", "walrus"), ("b.txt", "penguin")]);
    base.remove("b.txt").unwrap();
    base.commit().unwrap();
    drop(base);
    fs::remove_dir_all(scratch.path().join("index")).unwrap();
    let base = scratch.open();
    assert_eq!(names(&base, "walrus"), ["a.txt"]);
    assert!(names(&base, "penguin").is_empty());
    put(&base, &[("c.txt", "heron")]);
    assert_eq!(names(&base, "heron"), ["c.txt"]);
}

#[test]
fn an_index_that_is_damaged_is_made_anew() {
    for damage in ["", "{", "not json"] {
        let scratch = Scratch::new();
        let base = scratch.open();
        put(&base, &[("a.txt", "walrus")]);
        drop(base);
        fs::write(scratch.path().join("index/meta.json"), damage).unwrap();
        assert_eq!(names(&scratch.open(), "walrus"), ["a.txt"], "{damage}");
    }
}

#[test]
fn an_index_of_another_base_is_made_anew() {
    let (one, two) = (Scratch::new(), Scratch::new());
    put(&one.open(), &[("a.txt", "walrus")]);
    put(&two.open(), &[("b.txt", "penguin")]);
    fs::remove_dir_all(one.path().join("index")).unwrap();
    fs::rename(two.path().join("index"), one.path().join("index")).unwrap();
    let base = one.open();
    assert_eq!(names(&base, "walrus"), ["a.txt"]);
    assert!(names(&base, "penguin").is_empty());
}

#[test]
fn an_index_that_is_behind_is_brought_up() {
    let scratch = Scratch::new();
    let base = scratch.open();
    put(&base, &[("a.txt", "walrus"), ("b.txt", "penguin"), ("c.txt", "otter")]);
    drop(base);
    let (index, old) = (scratch.path().join("index"), scratch.path().join("old"));
    copy(&index, &old);
    let base = scratch.open();
    base.remove("a.txt").unwrap();
    put(&base, &[("b.txt", "heron"), ("d.txt", "lynx")]);
    drop(base);
    fs::remove_dir_all(&index).unwrap();
    fs::rename(&old, &index).unwrap();
    let base = scratch.open();
    for (query, expected) in [
        ("walrus", None),
        ("penguin", None),
        ("heron", Some("b.txt")),
        ("otter", Some("c.txt")),
        ("lynx", Some("d.txt")),
    ] {
        assert_eq!(names(&base, query), Vec::from_iter(expected), "{query}");
    }
}

fn copy(from: &std::path::Path, to: &std::path::Path) {
    fs::create_dir(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
    }
}

#[test]
fn rebuilding_finds_the_same() {
    let scratch = Scratch::new();
    let base = scratch.open();
    put(&base, &[("a.txt", "walrus"), ("b.txt", "penguin")]);
    base.rebuild().unwrap();
    assert_eq!(names(&base, "walrus"), ["a.txt"]);
    put(&base, &[("a.txt", "heron")]);
    assert!(names(&base, "walrus").is_empty());
    assert_eq!(names(&base, "heron"), ["a.txt"]);
}

#[test]
fn changing_one_of_a_thousand_documents_costs_a_hundredth_at_most() {
    let scratch = Scratch::new();
    let base = scratch.open();
    let text = |number: usize, word: &str| {
        let mut random = fastrand::Rng::with_seed(number as u64);
        let sentence = |_| {
            let words: Vec<_> = (0..12).map(|_| format!("w{}", random.u32(..5000))).collect();
            format!("{}.", words.join(" "))
        };
        let paragraphs: Vec<_> = (0..150).map(sentence).collect();
        format!("{}\n\n{word}\n", paragraphs.join(" "))
    };
    let name = |number: usize| format!("{number}.md");
    let start = Instant::now();
    for number in 0..1000 {
        base.put(&crate::scratch::document(&name(number), &text(number, "walrus"))).unwrap();
    }
    base.commit().unwrap();
    let all = start.elapsed();
    let one = (0..30).map(|number| {
        let changed = crate::scratch::document(&name(number), &text(number, "zebra"));
        let start = Instant::now();
        base.put(&changed).unwrap();
        base.commit().unwrap();
        start.elapsed()
    });
    // The machine may be busy with something else at any one of them.
    let one = one.min().unwrap_or(Duration::MAX);
    assert!(one <= all / 100, "one: {one:?}, all: {all:?}");
    assert_eq!(names(&base, "zebra").len(), 10);
}
