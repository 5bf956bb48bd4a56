//! Searches with an encoder whose answers the test sets.

use std::sync::Mutex;
use std::time::Duration;

use super::*;

/// Gives each text the similarity it was told; it has not read any others.
#[derive(Debug, Default)]
struct FakeEncoder {
    known: Vec<(&'static str, f32)>,
    read: Mutex<Vec<String>>,
}

impl FakeEncoder {
    fn of(&self, texts: &[&str]) -> Vec<Option<f32>> {
        let known = |text: &&str| self.known.iter().find(|(known, _)| text.contains(known));
        texts.iter().map(|text| known(text).map(|(_, cosine)| *cosine)).collect()
    }
}

impl Encoder for FakeEncoder {
    fn read(&self, passages: Vec<String>) {
        *self.read.lock().unwrap() = passages;
    }

    fn finish(&self, _: Duration) -> bool {
        true
    }

    fn similarities(&self, _: &str, passages: &[&str]) -> Vec<Option<f32>> {
        self.of(passages)
    }

    fn past_similarities(&self, _: &str, past: &[&str]) -> Vec<Option<f32>> {
        self.of(past)
    }
}

/// The tools, best first, that a request finds with such an encoder and past query.
fn found(
    known: &[(&'static str, f32)],
    mode: SearchMode,
    past: Option<PastQuery<'_>>,
) -> Vec<String> {
    let tools = [tool("alpha", "Handles a case"), tool("beta", "Handles a case")];
    let tools = entry("desk", &[&tools[0], &tools[1]]);
    let encoder = Arc::new(FakeEncoder { known: known.to_vec(), ..FakeEncoder::default() });
    let snapshot = Snapshot::build(vec![tools], 1).with_encoder(Arc::clone(&encoder) as Arc<_>);
    assert_eq!(
        *encoder.read.lock().unwrap(),
        ["desk alpha: Handles a case", "desk beta: Handles a case"]
    );
    let view = View::whole(Arc::new(snapshot));
    let view = view.with_past(Arc::new(PastIndex::of(past)));
    let hits = search(&view, "handle my case", &Scope::default(), mode, 2);
    hits.iter().map(|hit| hit.tool.id().to_string()).collect()
}

#[test]
fn of_tools_that_are_alike_an_encoder_tells_the_better() {
    let plain = found(&[], SearchMode::Hybrid, None);
    let turned: Vec<_> = plain.iter().rev().cloned().collect();
    let likes_the_last = if plain[1] == "desk__beta" {
        [("alpha", 0.1), ("beta", 0.9)]
    } else {
        [("alpha", 0.9), ("beta", 0.1)]
    };
    assert_eq!(found(&likes_the_last, SearchMode::Hybrid, None), turned);
    let by_words = found(&[], SearchMode::Keyword, None);
    assert_eq!(found(&likes_the_last, SearchMode::Keyword, None), by_words);
}

#[test]
fn an_encoder_judges_past_queries_too() {
    let last = found(&[], SearchMode::Hybrid, None).remove(1);
    let past = PastQuery { tool: &last, query: "lost luggage", weight: 1.0 };
    assert_ne!(found(&[], SearchMode::Hybrid, Some(past))[0], last);
    assert_eq!(found(&[("luggage", 0.9)], SearchMode::Hybrid, Some(past))[0], last);
}
