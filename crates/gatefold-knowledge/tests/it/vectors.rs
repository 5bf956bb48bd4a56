//! Vectors are made in the background and re-score what is found.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use gatefold_knowledge::{SentenceEncoder, TextKind};

use crate::scratch::{Scratch, names, put, search};

/// An encoder that knows animals from tools, and counts what it reads.
struct KindEncoder {
    name: &'static str,
    passages: AtomicUsize,
    is_away: AtomicBool,
}

impl KindEncoder {
    fn new(name: &'static str) -> Arc<Self> {
        Arc::new(Self { name, passages: AtomicUsize::new(0), is_away: AtomicBool::new(false) })
    }
}

impl SentenceEncoder for KindEncoder {
    fn embed(&self, texts: &[&str], kind: TextKind) -> Option<Vec<Option<Vec<f32>>>> {
        if self.is_away.load(Ordering::Relaxed) {
            return None;
        }
        if kind == TextKind::Passage {
            self.passages.fetch_add(texts.len(), Ordering::Relaxed);
        }
        let has = |text: &str, words: &[&str]| {
            if words.iter().any(|word| text.contains(word)) { 1.0 } else { 0.1 }
        };
        let vector = |text: &&str| {
            Some(vec![
                has(text, &["bird", "heron", "beak"]),
                has(text, &["machine", "steel", "hook"]),
            ])
        };
        Some(texts.iter().map(vector).collect())
    }

    fn name(&self) -> &str {
        self.name
    }
}

const CRANES: [(&str, &str); 3] = [
    ("a.txt", "The crane has a hook of steel."),
    ("b.txt", "The crane has a beak of horn."),
    ("c.txt", "A crane."),
];

#[test]
fn meaning_decides_between_chunks_with_the_same_words() {
    let mut scratch = Scratch::new();
    let encoder = KindEncoder::new("kinds");
    scratch.encoder = Some(encoder.clone());
    let base = scratch.open();
    put(&base, &CRANES);
    assert_eq!(base.encode_some(100).unwrap(), 0);
    assert_eq!(encoder.passages.load(Ordering::Relaxed), 3);
    let place = |query: &str, name: &str| names(&base, query).iter().position(|one| one == name);
    assert!(place("crane bird", "b.txt") < place("crane bird", "a.txt"));
    assert!(place("crane machine", "a.txt") < place("crane machine", "b.txt"));
    // What was read is not read again, in another process either.
    drop(base);
    let base = scratch.open();
    put(&base, &CRANES);
    assert_eq!(base.encode_some(100).unwrap(), 0);
    assert_eq!(encoder.passages.load(Ordering::Relaxed), 3);
}

#[test]
fn what_searches_met_is_encoded_first() {
    let mut scratch = Scratch::new();
    let encoder = KindEncoder::new("kinds");
    scratch.encoder = Some(encoder.clone());
    let base = scratch.open();
    for number in 0..200 {
        let text = format!("Document {number} about nothing.");
        base.put(&crate::scratch::document(&format!("{number:03}.txt"), &text)).unwrap();
    }
    put(&base, &CRANES);
    let before: Vec<f32> = search(&base, "crane").passages.iter().map(|one| one.score).collect();
    assert_eq!(base.encode_some(3).unwrap(), 203);
    let after: Vec<f32> = search(&base, "crane").passages.iter().map(|one| one.score).collect();
    assert_ne!(before, after);
    while base.encode_some(50).unwrap() > 0 {}
    assert_eq!(encoder.passages.load(Ordering::Relaxed), 203);
}

#[test]
fn vectors_of_another_encoder_are_forgotten() {
    let mut scratch = Scratch::new();
    scratch.encoder = Some(KindEncoder::new("one"));
    let base = scratch.open();
    put(&base, &CRANES);
    base.encode_some(100).unwrap();
    drop(base);
    let other = KindEncoder::new("other");
    scratch.encoder = Some(other.clone());
    let base = scratch.open();
    let place = |name: &str| names(&base, "crane bird").iter().position(|one| one == name);
    let bird_first = || place("b.txt") < place("a.txt");
    assert!(!bird_first(), "the vectors are of another encoder than the query's");
    base.encode_some(100).unwrap();
    assert!(bird_first());
    assert_eq!(other.passages.load(Ordering::Relaxed), 3);
    assert_eq!(base.counts().unwrap().chunks_to_encode, 0);
}

#[test]
fn what_an_encoder_could_not_be_asked_for_is_encoded_later() {
    let mut scratch = Scratch::new();
    let encoder = KindEncoder::new("kinds");
    scratch.encoder = Some(encoder.clone());
    let base = scratch.open();
    put(&base, &CRANES);
    encoder.is_away.store(true, Ordering::Relaxed);
    assert_eq!(base.encode_some(100).unwrap(), 0);
    assert_eq!(base.counts().unwrap().chunks_to_encode, 3);
    assert_eq!(names(&base, "crane").len(), 3, "words find without it");
    encoder.is_away.store(false, Ordering::Relaxed);
    base.encode_some(100).unwrap();
    assert_eq!(encoder.passages.load(Ordering::Relaxed), 3);
}

#[test]
fn a_changed_document_has_only_its_changed_chunks_encoded() {
    let mut scratch = Scratch::new();
    let encoder = KindEncoder::new("kinds");
    scratch.encoder = Some(encoder.clone());
    let base = scratch.open();
    let sections: Vec<_> =
        (0..10).map(|part| format!("# Part {part}\n\nText {part}.\n\n")).collect();
    let text = format!("# Top\n\n{}", sections.concat());
    put(&base, &[("a.md", &text)]);
    base.encode_some(100).unwrap();
    let all = encoder.passages.load(Ordering::Relaxed);
    put(&base, &[("a.md", &text.replace("Text 5", "Words 5"))]);
    base.encode_some(100).unwrap();
    assert_eq!(encoder.passages.load(Ordering::Relaxed), all + 1);
}
