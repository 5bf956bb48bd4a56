//! A process that is killed while it writes loses nothing that it acknowledged.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

use gatefold_knowledge::KnowledgeBase;

use crate::scratch::{Scratch, document, names, open};

const FOLDER: &str = "GATEFOLD_CRASH_FOLDER";
const FIRST: &str = "GATEFOLD_CRASH_FIRST";
/// How often the process is killed; 20 times without it.
const ROUNDS: &str = "GATEFOLD_CRASH_ROUNDS";

/// How many documents a batch adds. It changes the second of the batch before and removes its first.
const ADDED: usize = 4;

#[expect(clippy::disallowed_methods, reason = "a test has no configuration")]
fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

#[test]
fn what_was_acknowledged_survives_being_killed() {
    let scratch = Scratch::new();
    let rounds = variable(ROUNDS).and_then(|rounds| rounds.parse().ok()).unwrap_or(20);
    let mut random = fastrand::Rng::with_seed(40);
    let mut batches = 0;
    for round in 0..rounds {
        // Some writers are killed while they open the base, others after a few batches.
        let end = WriterEnd { batches: round % 4, more_ms: random.u64(0..60) };
        let acknowledged = killed_writer(&scratch, batches, &end);
        batches = check(&open(&scratch.path()), acknowledged, round);
    }
    assert!(batches >= rounds);
}

/// When a writer is killed: some time after it acknowledged so many batches.
struct WriterEnd {
    batches: usize,
    more_ms: u64,
}

/// Lets a process write from a batch on, kills it, and says how many batches were acknowledged.
fn killed_writer(scratch: &Scratch, first: usize, end: &WriterEnd) -> usize {
    let mut writer = Command::new(std::env::current_exe().unwrap())
        .args(["crash::a_writer_that_is_killed", "--exact", "--nocapture"])
        .env(FOLDER, scratch.path())
        .env(FIRST, first.to_string())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let output = BufReader::new(writer.stdout.take().unwrap());
    let mut acknowledged = output.split(b'\n').map_while(Result::ok).filter_map(|line| {
        let line = String::from_utf8(line).ok()?;
        line.strip_prefix("acknowledged ")?.strip_suffix('.')?.parse::<usize>().ok()
    });
    let before = acknowledged.by_ref().take(end.batches).last();
    // Where it is then is chance, which is what is wanted here.
    std::thread::sleep(Duration::from_millis(end.more_ms));
    writer.kill().unwrap();
    let last = acknowledged.last().or(before);
    writer.wait().unwrap();
    last.map_or(first, |batch| batch + 1)
}

/// Runs only as the process that is killed, and never ends then.
#[test]
fn a_writer_that_is_killed() {
    let (Some(folder), Some(first)) = (variable(FOLDER), variable(FIRST)) else { return };
    let base = open(&PathBuf::from(folder));
    for batch in first.parse::<usize>().unwrap().. {
        for number in ADDED * batch..ADDED * (batch + 1) {
            base.put(&document(&name(number), &text(number, "young"))).unwrap();
        }
        if let Some(before) = (ADDED * batch).checked_sub(ADDED) {
            assert!(base.remove(&name(before)).unwrap());
            base.put(&document(&name(before + 1), &text(before + 1, "old"))).unwrap();
        }
        base.commit().unwrap();
        let mut output = std::io::stdout().lock();
        writeln!(output, "\nacknowledged {batch}.").unwrap();
        output.flush().unwrap();
    }
}

fn name(number: usize) -> String {
    format!("document-{number}.md")
}

/// A word that only one document has. Its number is written otherwise than in the document's name, which
/// would make all of the document's chunks fit.
fn mark(number: usize) -> String {
    format!("mark{number:07}x")
}

fn text(number: usize, age: &str) -> String {
    format!(
        "# Number\n\n{} is {age}.\n\n## More\n\n{}\n",
        mark(number),
        "more words ".repeat(number % 400)
    )
}

/// Checks that exactly the acknowledged batches are there, or the next one with them. Says how many are.
fn check(base: &KnowledgeBase, acknowledged: usize, round: usize) -> usize {
    let documents = base.documents().unwrap();
    // The documents that were added and not removed: all but one of each batch that has a next one.
    let expected = |batches: usize| ADDED * batches - batches.saturating_sub(1);
    let batches =
        if documents.len() == expected(acknowledged) { acknowledged } else { acknowledged + 1 };
    assert_eq!(documents.len(), expected(batches), "round {round}, {acknowledged} acknowledged");
    let end = ADDED * (batches + 1);
    // All of the last ones, and some of those that earlier rounds have looked at.
    for number in (0..end).filter(|number| number + 200 >= end || number % 7 == round % 7) {
        let batch = number / ADDED;
        let has_next = batch + 1 < batches;
        let is_there = batch < batches && !(has_next && number % ADDED == 0);
        let expected: Vec<String> = is_there.then(|| name(number)).into_iter().collect();
        let found = names(base, &mark(number));
        assert_eq!(found, expected, "round {round}, {batches} batches, document {number}");
        if is_there && number % ADDED == 1 {
            let found = crate::scratch::search(base, &mark(number));
            let age = if has_next { "old" } else { "young" };
            assert!(found.passages[0].excerpt().contains(age), "round {round}, document {number}");
        }
    }
    batches
}
