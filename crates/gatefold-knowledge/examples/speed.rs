//! How fast a base is: fills one with texts made up of words as frequent as in prose, and searches it.
//!
//! `cargo run --release -p gatefold-knowledge --example speed -- FOLDER DOCUMENTS`
#![expect(clippy::print_stdout, reason = "it shows what it measures")]

use std::error::Error;
use std::path::Path;
use std::time::{Duration, Instant};

use gatefold_core::Timestamp;
use gatefold_documents::{Hints, READING_TIME, read_document};
use gatefold_knowledge::{BaseSettings, FileFacts, KnowledgeBase, NewDocument, Query};

/// How many words there are. Each is as frequent as its rank is low.
const WORDS: f64 = 200_000.0;
const WORDS_OF_TEXT: usize = 1200;
const QUERIES: usize = 500;
const WORDS_OF_QUERY: usize = 8;
const BATCH: usize = 1000;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let folder = arguments.next().ok_or("give a folder and how many documents")?;
    let documents: usize = arguments.next().ok_or("say how many documents")?.parse()?;
    let base = KnowledgeBase::open(Path::new(&folder), BaseSettings::default())?;
    let mut random = fastrand::Rng::with_seed(1);
    let before = base.counts()?.documents;
    let start = Instant::now();
    for number in before..documents {
        base.put(&document(number, &mut random)?)?;
        if (number + 1) % BATCH == 0 {
            base.commit()?;
        }
    }
    base.commit()?;
    println!("put {} documents in {:?}", documents.saturating_sub(before), start.elapsed());
    println!("{:?}", base.counts()?);
    let mut times = Vec::new();
    for _ in 0..QUERIES {
        let query = words(WORDS_OF_QUERY, &mut random);
        let start = Instant::now();
        base.search(&Query { text: &query, top: 5, per_document: 3 })?;
        times.push(start.elapsed());
    }
    times.sort_unstable();
    let percentile = |percent: usize| times[(times.len() - 1) * percent / 100];
    println!("search p50 {:?}, p99 {:?}", percentile(50), percentile(99));
    println!("one change: {:?}", time_of_change(&base, documents, &mut random)?);
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    status.lines().filter(|line| line.contains("RSS") || line.contains("Rss")).for_each(|line| {
        println!("{line}");
    });
    Ok(())
}

fn time_of_change(
    base: &KnowledgeBase,
    documents: usize,
    random: &mut fastrand::Rng,
) -> Result<Duration, Box<dyn Error>> {
    let changed = document(documents / 2, random)?;
    let start = Instant::now();
    base.put(&changed)?;
    base.commit()?;
    Ok(start.elapsed())
}

fn document(number: usize, random: &mut fastrand::Rng) -> Result<NewDocument, Box<dyn Error>> {
    let mut text = format!("# {}\n\n", words(4, random));
    for _ in 0..WORDS_OF_TEXT / 60 {
        text.push_str(&words(60, random));
        text.push_str(".\n\n");
    }
    let name = format!("{number}.txt");
    let hints = Hints { name: Some(&name), ..Hints::default() };
    let document = read_document(text.as_bytes(), &hints, Instant::now() + READING_TIME)?;
    let file = FileFacts {
        digest: number.to_le_bytes().to_vec(),
        bytes: text.len() as u64,
        modified: Timestamp::from_millis(1),
        name,
    };
    Ok(NewDocument { file, title_hint: None, note: String::new(), document })
}

/// Words by Zipf's law: their ranks are evenly spread on a logarithmic scale.
fn words(count: usize, random: &mut fastrand::Rng) -> String {
    let word = |_| {
        let rank = WORDS.powf(random.f64());
        format!("w{rank:.0}")
    };
    (0..count).map(word).collect::<Vec<_>>().join(" ")
}
