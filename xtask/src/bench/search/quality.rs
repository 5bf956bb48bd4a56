//! How good the rankings are, by set and half.

use gatefold_search::Findings;
use gatefold_search::measure::{Answer, DEPTH, Figures, Half, ask};

use super::encoded::Encoders;
use super::sets::ToolSet;
use super::{MODES, encoded};
use crate::bench::table::markdown;

/// The answers to the requests of a set, by ranking.
pub(super) struct SetAnswers<'a> {
    set: &'a ToolSet,
    rankings: Vec<Vec<Answer>>,
}

/// Asks every request of every set.
pub(super) fn ask_all<'a>(sets: &'a [ToolSet], encoders: &Encoders) -> Vec<SetAnswers<'a>> {
    sets.iter().map(|set| SetAnswers { set, rankings: rankings(set, encoders) }).collect()
}

/// The figures of one half of every set, as a table.
pub(super) fn table(answers: &[SetAnswers<'_>], half: Half, encoders: &Encoders) -> String {
    let modes = MODES.iter().map(|(name, _)| (*name).to_owned());
    let encoded = encoders.named().map(|(name, _)| format!("hybrid, with {name}"));
    let mut rows: Vec<Vec<String>> = modes.chain(encoded).map(|name| vec![name]).collect();
    let mut sums = vec![0.0; rows.len()];
    let mut head = vec!["ranking".to_owned()];
    for SetAnswers { set, rankings } in answers {
        head.push(format!("{} ({})", set.name, set.half(half, set.asked()).count()));
        for ((row, sum), answers) in rows.iter_mut().zip(&mut sums).zip(rankings) {
            let own: Vec<Answer> = set.half(half, answers).cloned().collect();
            let figures = Figures::of(&own);
            row.push(format!("{:.3} / {:.3}", figures.recall_5, figures.ndcg_10));
            *sum += figures.ndcg_10;
        }
    }
    head.push("mean NDCG@10".to_owned());
    for (row, sum) in rows.iter_mut().zip(sums) {
        row.push(format!("{:.3}", sum / answers.len().max(1) as f64));
    }
    let head: Vec<&str> = head.iter().map(String::as_str).collect();
    format!("Recall@5 / NDCG@10, the {} half:\n\n{}", half.name(), markdown(&head, &rows))
}

/// The answers to a set's requests by mode, and with each encoder.
fn rankings(set: &ToolSet, encoders: &Encoders) -> Vec<Vec<Answer>> {
    let index = set.index();
    let ids = |places: Vec<usize>| places.iter().map(|at| set.tools[*at].id.clone()).collect();
    let answers = |search: &dyn Fn(&str) -> Vec<usize>| {
        let asked = ask(set.asked(), |text| ids(search(text)));
        asked.into_iter().map(|asked| asked.answer).collect()
    };
    let found = |found: Findings| found.matches.iter().map(|one| one.place).collect();
    let mut rankings: Vec<_> = MODES
        .iter()
        .map(|(_, mode)| answers(&|text| found(index.search(text, *mode, |_| true, DEPTH))))
        .collect();
    for (_, encoder) in encoders.named() {
        let passages = set.passages();
        encoded::read(encoder, passages.iter().map(String::as_str));
        let search = |text: &str| encoded::search(encoder, &index, &passages, text, DEPTH);
        rankings.push(answers(&|text| found(search(text))));
    }
    rankings
}
