use std::ops::Range;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::Instant;

use super::*;

const LONG: Duration = Duration::from_secs(20);
/// How long the model of one test waits before it rests.
const SOON: Duration = Duration::from_millis(1);
const DIMENSIONS: usize = 3;

/// A model whose vectors are of a text's first bytes. What begins with `bad` fails, and what begins
/// with `panic` does that.
#[derive(Default)]
struct Letters {
    passages: AtomicUsize,
    requests: AtomicUsize,
    rests: AtomicUsize,
    /// If set, each passage waits until the test sends a word.
    gate: Option<Mutex<Receiver<()>>>,
}

fn vector(text: &str) -> Vector {
    let bytes = text.bytes().chain([1; DIMENSIONS]).take(DIMENSIONS);
    Vector::unit(bytes.map(f32::from).collect()).unwrap()
}

impl Encode for Letters {
    fn passage(&self, _: &Threads, text: &str, _: usize) -> Result<Vector, EncoderError> {
        if let Some(gate) = &self.gate {
            gate.lock().unwrap().recv().ok();
        }
        self.passages.fetch_add(1, Ordering::SeqCst);
        assert!(!text.starts_with("panic"), "as the test wants it");
        if text.starts_with("bad") {
            return Err(EncoderError::Output { fault: "nothing".to_owned() });
        }
        Ok(vector(text))
    }

    fn request(&self, text: &str, _: usize) -> Result<Vector, EncoderError> {
        self.requests.fetch_add(1, Ordering::SeqCst);
        Ok(vector(text))
    }

    fn rest(&self, unused: Duration) -> Duration {
        assert_eq!(unused, SOON);
        self.rests.fetch_add(1, Ordering::SeqCst);
        unused
    }
}

fn embedder() -> (Arc<Letters>, Embedder) {
    let model = Arc::new(Letters::default());
    let cache = VectorCache::empty(Path::new(""), DIMENSIONS, 1000);
    (Arc::clone(&model), Embedder::over(model, cache, REST))
}

/// An embedder that takes the next text each time the test sends a word.
fn gated() -> (Arc<Letters>, Embedder, SyncSender<()>) {
    let (open, gate) = sync_channel(100);
    let model = Arc::new(Letters { gate: Some(Mutex::new(gate)), ..Letters::default() });
    let cache = VectorCache::empty(Path::new(""), DIMENSIONS, 1000);
    (Arc::clone(&model), Embedder::over(model, cache, REST), open)
}

/// The same, while it encodes the first of three texts.
fn at_the_first_of_three() -> (Arc<Letters>, Embedder, SyncSender<()>) {
    let (model, embedder, open) = gated();
    want(&embedder, &["a", "b", "c"]);
    while embedder.shared.work().current.is_none() {
        std::thread::yield_now();
    }
    (model, embedder, open)
}

fn want(embedder: &Embedder, texts: &[&str]) {
    embedder.want(texts.iter().map(|&text| text.into()).collect());
}

/// Asks for each list after the other, then returns the outcome of the last and how often the model
/// ran.
#[track_caller]
fn check(lists: &[&[&str]], expected: (bool, usize, usize), passages: usize) {
    let (model, embedder) = embedder();
    let mut is_done = true;
    for list in lists {
        want(&embedder, list);
        is_done = embedder.wait(LONG);
    }
    let Progress { embedded, wanted } = embedder.progress();
    assert_eq!((is_done, embedded, wanted), expected, "{lists:?}");
    assert_eq!(model.passages.load(Ordering::SeqCst), passages, "{lists:?}");
    for text in lists.iter().copied().flatten().filter(|text| **text != "bad") {
        let found = embedder.vector(&passage_key(text)).unwrap();
        assert_eq!(*found, vector(text).quantize());
    }
}

#[test]
fn each_wanted_text_is_embedded_once() {
    check(&[], (true, 0, 0), 0);
    check(&[&["a", "b", "a"]], (true, 2, 2), 2);
    check(&[&["a", "b"], &["b", "c"]], (true, 2, 2), 3);
    check(&[&["a", "b"], &["a"], &[]], (true, 0, 0), 2);
}

#[test]
fn a_text_that_fails_is_tried_once_and_stops_nothing() {
    check(&[&["a", "bad", "b"], &["bad", "c", "b"]], (false, 2, 3), 4);
}

#[test]
fn no_more_failures_are_remembered_than_the_limit() {
    let (model, embedder) = embedder();
    embedder.want((0..=FAILURES).map(|number| format!("bad{number}").into()).collect());
    assert!(!embedder.wait(LONG));
    assert_eq!(model.passages.load(Ordering::SeqCst), FAILURES + 1);
    assert_eq!(embedder.shared.work().failed.len(), FAILURES);
}

#[test]
fn no_more_texts_wait_than_the_limit() {
    let (_model, embedder, _open) = gated();
    want_numbers(&embedder, 0..QUEUE_TEXTS + 2);
    assert!(embedder.shared.work().queue.len() <= QUEUE_TEXTS);
    assert_eq!(embedder.progress().wanted, QUEUE_TEXTS + 2);
}

#[test]
fn new_wants_replace_those_that_wait() {
    let (model, embedder, open) = at_the_first_of_three();
    want(&embedder, &["x", "a"]);
    assert_eq!(embedder.progress(), Progress { embedded: 0, wanted: 2 });
    assert!(!embedder.wait(Duration::ZERO));
    for _ in 0..2 {
        open.send(()).unwrap();
    }
    assert!(embedder.wait(LONG));
    assert_eq!(model.passages.load(Ordering::SeqCst), 2);
    assert_eq!(embedder.vector(&passage_key("b")), None);
}

#[test]
fn what_is_wanted_also_comes_before_what_waits() {
    let (model, embedder, open) = at_the_first_of_three();
    embedder.want_also(vec!["x".into(), "c".into(), "a".into()]);
    let waiting: Vec<_> =
        embedder.shared.work().queue.iter().map(|(_, text)| text.to_string()).collect();
    assert_eq!(waiting, ["x", "b", "c"], "`a` is under work, and `c` waits");
    for _ in 0..4 {
        open.send(()).unwrap();
    }
    assert!(embedder.wait(LONG));
    assert_eq!(model.passages.load(Ordering::SeqCst), 4);
}

#[test]
fn nobody_waits_for_a_thread_that_is_gone() {
    let (_model, embedder) = embedder();
    want(&embedder, &["panic", "a"]);
    while embedder.runs() {
        std::thread::yield_now();
    }
    let begun = Instant::now();
    assert!(embedder.is_idle() && !embedder.has_read() && !embedder.wait(LONG));
    assert!(begun.elapsed() < LONG);
    assert_eq!(embedder.vector(&passage_key("a")), None);
}

#[test]
fn dropping_ends_after_the_text_under_work() {
    let (model, embedder, open) = at_the_first_of_three();
    embedder.shared.work().is_over = true;
    open.send(()).unwrap();
    drop(embedder);
    assert_eq!(model.passages.load(Ordering::SeqCst), 1);
}

#[test]
fn a_request_does_not_wait_for_passages() {
    let (_model, embedder, open) = gated();
    want(&embedder, &["a"]);
    while embedder.shared.work().current.is_none() {
        std::thread::yield_now();
    }
    assert_eq!(*embedder.request("abc", 64).unwrap(), vector("abc"));
    assert_eq!(embedder.progress(), Progress { embedded: 0, wanted: 1 });
    open.send(()).unwrap();
}

#[test]
fn the_same_request_is_encoded_once() {
    let (model, embedder) = embedder();
    for (text, tokens, runs) in
        [("ab", 64, 1), ("ab", 64, 1), ("ab", 32, 2), ("ac", 64, 3), ("ab", 64, 3)]
    {
        assert_eq!(*embedder.request(text, tokens).unwrap(), vector(text));
        assert_eq!(model.requests.load(Ordering::SeqCst), runs, "{text} {tokens}");
    }
}

#[test]
fn the_request_unused_for_longest_is_forgotten_first() {
    let (model, embedder) = embedder();
    let ask = |text: &str| {
        embedder.request(text, 64).unwrap();
        model.requests.load(Ordering::SeqCst)
    };
    for number in 0..REQUESTS {
        ask(&number.to_string());
    }
    assert_eq!(ask("0"), REQUESTS);
    assert_eq!(ask("new"), REQUESTS + 1);
    assert_eq!(ask("0"), REQUESTS + 1);
    assert_eq!(ask("1"), REQUESTS + 2);
    assert_eq!(embedder.shared.requests().known.len(), REQUESTS);
}

/// An embedder over a file; each of several processes has its own.
fn embedder_at(path: &Path) -> (Arc<Letters>, Embedder) {
    let model = Arc::new(Letters::default());
    let cache = VectorCache::of(path, "letters", DIMENSIONS, 1000).unwrap();
    (Arc::clone(&model), Embedder::over(model, cache, REST))
}

fn want_numbers(embedder: &Embedder, numbers: Range<usize>) {
    embedder.want(numbers.map(|number| number.to_string().into()).collect());
}

/// Waits for the vectors of all the numbers, each as the model computes it.
#[track_caller]
fn check_numbers(embedder: &Embedder, numbers: Range<usize>) {
    assert!(embedder.wait(LONG), "{:?}", embedder.progress());
    for text in numbers.map(|number| number.to_string()) {
        assert_eq!(*embedder.vector(&passage_key(&text)).unwrap(), vector(&text).quantize());
    }
}

/// Two embedders work at once over a file that holds `before`. Returns how often the model runs
/// after them until the file has every number from 0 to the last one wanted.
#[track_caller]
fn check_two(before: Range<usize>, first: Range<usize>, second: Range<usize>, expected: usize) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cache");
    let all = 0..first.end.max(second.end);
    let run = |numbers: Range<usize>| {
        let (model, embedder) = embedder_at(&path);
        want_numbers(&embedder, numbers.clone());
        check_numbers(&embedder, numbers);
        model.passages.load(Ordering::SeqCst)
    };
    run(before.clone());
    let (_, one) = embedder_at(&path);
    want_numbers(&one, first.clone());
    let (_, other) = embedder_at(&path);
    want_numbers(&other, second.clone());
    check_numbers(&one, first);
    check_numbers(&other, second);
    drop(one);
    check_numbers(&other, before);
    drop(other);
    assert_eq!(run(all.clone()), expected);
    assert_eq!(run(all), 0);
}

#[test]
fn of_two_embedders_over_one_file_neither_harms_what_the_first_wrote() {
    check_two(0..0, 0..300, 0..300, 0);
    check_two(0..0, 0..300, 200..500, 200);
    check_two(0..100, 100..300, 0..400, 100);
    check_two(0..100, 0..100, 50..150, 50);
}

#[test]
fn the_model_rests_while_nothing_is_wanted_and_goes_on_after_it() {
    let model = Arc::new(Letters::default());
    let cache = VectorCache::empty(Path::new(""), DIMENSIONS, 1000);
    let embedder = Embedder::over(model.clone(), cache, SOON);
    for text in ["a", "b"] {
        let (rests, until) = (model.rests.load(Ordering::SeqCst), Instant::now() + LONG);
        while model.rests.load(Ordering::SeqCst) == rests {
            assert!(Instant::now() < until, "it does not rest");
            std::thread::yield_now();
        }
        want(&embedder, &[text]);
        assert!(embedder.wait(LONG));
    }
    assert_eq!(model.passages.load(Ordering::SeqCst), 2);
}
