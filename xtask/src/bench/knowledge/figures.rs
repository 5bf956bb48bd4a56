//! What answers are worth.

use std::collections::BTreeMap;
use std::ops::Range;
use std::time::Duration;

use gatefold_documents::Place;
use gatefold_knowledge::Quote;

use super::asking::Answered;
use super::sets::{Answer, AnswerPlace, KnowledgeSet, Question};

/// How many bins of confidences are compared with how often they were right.
const BINS: usize = 10;

/// A figure's name, and the figure.
pub(super) type Figure = (&'static str, String);

/// The row that another ranking has as well.
pub(super) const PAGE_RECALL: &str = "page recall, 5 passages";

/// The figures of a set's answers, with all documents there and without those that answer.
pub(super) fn figures(
    set: &KnowledgeSet,
    with: &[Answered<'_>],
    without: &[Answered<'_>],
) -> Vec<Figure> {
    let mut figures = quality(set, with);
    let share = |answers: &[Answered<'_>]| {
        mean(answers.iter().map(|one| f64::from(u8::from(one.grounded.insufficient))))
    };
    let all = || with.iter().chain(without);
    let confidences = all().map(|one| {
        let quotes = one.grounded.claims.iter().flat_map(|claim| &claim.quotes);
        let is_right = |document: &str, span| answers(set, one.question, document, span);
        let mut quotes = quotes.map(|quote| is_right(&quote.document, &quote.span));
        (one.grounded.confidence, quotes.any(|is_right| is_right))
    });
    let scores = all().filter_map(|one| {
        let best = one.passages.first()?;
        Some((best.score, answers(set, one.question, &best.document, &best.span)))
    });
    figures.extend([
        ("called insufficient", of_one(share(with))),
        ("called insufficient, without the documents that answer", of_one(share(without))),
        ("calibration error of confidences", of_one(calibration_error(confidences))),
        ("calibration error of the best score", of_one(calibration_error(scores))),
        ("search, ms: median / p99", times(with.iter().map(|one| one.searching))),
        ("quotes, ms: median / p99", times(with.iter().map(|one| one.grounding))),
    ]);
    figures
}

/// How well what answers was found.
fn quality(set: &KnowledgeSet, with: &[Answered<'_>]) -> Vec<Figure> {
    let of_place = |is_kind: fn(&AnswerPlace) -> bool| {
        let mut answers = set.questions.iter().flat_map(|question| &question.answers);
        answers.any(|answer| is_kind(&answer.place))
    };
    if of_place(|place| matches!(place, AnswerPlace::Page { .. })) {
        let found = with.iter().map(|one| {
            let pages: Vec<_> = one.passages.iter().map(|it| (&*it.document, it.place)).collect();
            page_recall(one.question, &pages)
        });
        return vec![(PAGE_RECALL, of_one(mean(found)))];
    }
    if of_place(|place| matches!(place, AnswerPlace::Span { .. })) {
        let passages = with.iter().map(|one| {
            let found = one.passages.iter().map(|it| (&*it.document, it.span.clone()));
            characters(one.question, found)
        });
        let quotes = with.iter().map(|one| {
            let found = one.grounded.claims.iter().flat_map(|claim| &claim.quotes);
            characters(one.question, found.map(|it| (&*it.document, it.span.clone())))
        });
        let alike = with.iter().map(|one| {
            let found = one.grounded.claims.iter().flat_map(|claim| &claim.quotes);
            let found = found.map(|it| (&*it.document, twin(set, one.question, it)));
            characters(one.question, found)
        });
        let (passages, quotes): (Vec<_>, Vec<_>) = (passages.collect(), quotes.collect());
        let alike: Vec<_> = alike.collect();
        let part = |all: &[[f64; 2]], index: usize| of_one(mean(all.iter().map(|it| it[index])));
        return vec![
            ("recall of characters, 5 passages", part(&passages, 0)),
            ("precision of characters, 5 passages", part(&passages, 1)),
            ("recall of characters, quotes", part(&quotes, 0)),
            ("precision of characters, quotes", part(&quotes, 1)),
            ("recall of characters, quotes, twins alike", part(&alike, 0)),
            ("precision of characters, quotes, twins alike", part(&alike, 1)),
        ];
    }
    vec![("NDCG@10 of documents", of_one(mean(with.iter().map(ndcg))))]
}

/// The share of a question's pages that are among some.
pub(super) fn page_recall(question: &Question, found: &[(&str, Option<Place>)]) -> f64 {
    let is_found = |answer: &Answer| match answer.place {
        AnswerPlace::Page { page } => found.contains(&(&*answer.document, Some(Place::Page(page)))),
        _ => false,
    };
    mean(question.answers.iter().map(|answer| f64::from(u8::from(is_found(answer)))))
}

/// Whether a part of a document is, or has a part of, an answer.
fn answers(set: &KnowledgeSet, question: &Question, document: &str, span: &Range<usize>) -> bool {
    let mut own = question.answers.iter().filter(|answer| answer.document == document);
    own.any(|answer| match &answer.place {
        AnswerPlace::Span { start, end, .. } => *start < span.end && span.start < *end,
        AnswerPlace::Page { page } => {
            set.documents[document].document.place(span.start) == Some(Place::Page(*page))
        }
        AnswerPlace::Anywhere {} => true,
    })
}

/// The recall and the precision of characters (bytes, in fact): Smith and Troynikov, "Evaluating Chunking
/// Strategies for Retrieval" (2024).
fn characters<'a>(
    question: &'a Question,
    found: impl Iterator<Item = (&'a str, Range<usize>)>,
) -> [f64; 2] {
    let answers = question.answers.iter().filter_map(|answer| match answer.place {
        AnswerPlace::Span { start, end, .. } => Some((&*answer.document, start..end)),
        _ => None,
    });
    let (answers, found) = (united(answers), united(found));
    let both = answers.iter().flat_map(|(document, spans)| {
        let found = found.get(document).map(|spans| &spans[..]).unwrap_or_default();
        spans.iter().flat_map(move |one| found.iter().map(move |other| shared(one, other)))
    });
    let shared: usize = both.sum();
    let length = |all: &BTreeMap<&str, Vec<Range<usize>>>| -> usize {
        all.values().flatten().map(ExactSizeIterator::len).sum()
    };
    [&answers, &found].map(|all| shared as f64 / length(all).max(1) as f64)
}

/// Where a quote would be if it were of the place that the question's answer names. A document that says
/// something several times is quoted once, and any of these places is as good.
fn twin(set: &KnowledgeSet, question: &Question, quote: &Quote) -> Range<usize> {
    let text = &set.documents[&*quote.document].document.text;
    for answer in question.answers.iter().filter(|answer| *answer.document == *quote.document) {
        let AnswerPlace::Span { start, end, text: words } = &answer.place else { continue };
        if shared(&(*start..*end), &quote.span) > 0 {
            return quote.span.clone();
        }
        let mut twins = text.match_indices(&**words).map(|(at, words)| at..at + words.len());
        if let Some(twin) = twins.find(|twin| shared(twin, &quote.span) > 0) {
            let moved = |at: usize| (at + start).saturating_sub(twin.start);
            return moved(quote.span.start)..moved(quote.span.end);
        }
    }
    quote.span.clone()
}

/// Spans by document, joined where they overlap.
fn united<'a>(
    spans: impl Iterator<Item = (&'a str, Range<usize>)>,
) -> BTreeMap<&'a str, Vec<Range<usize>>> {
    let mut united: BTreeMap<&str, Vec<Range<usize>>> = BTreeMap::new();
    let mut spans: Vec<_> = spans.collect();
    spans.sort_by_key(|(_, span)| span.start);
    for (document, span) in spans {
        let own = united.entry(document).or_default();
        match own.last_mut().filter(|last| last.end >= span.start) {
            Some(last) => last.end = last.end.max(span.end),
            None => own.push(span),
        }
    }
    united
}

fn shared(one: &Range<usize>, other: &Range<usize>) -> usize {
    one.end.min(other.end).saturating_sub(one.start.max(other.start))
}

/// How near the documents that answer are to the top.
fn ndcg(answered: &Answered<'_>) -> f64 {
    let gain = |place: usize| 1.0 / (place as f64 + 2.0).log2();
    let is_right =
        |document: &str| answered.question.answers.iter().any(|answer| answer.document == document);
    let found = answered.documents.iter().enumerate().filter(|(_, document)| is_right(document));
    let ideal = 0..answered.question.answers.len().min(answered.documents.len().max(1));
    found.map(|(place, _)| gain(place)).sum::<f64>() / ideal.map(gain).sum::<f64>()
}

/// By how much confidences differ from how often they are right, in the mean: Naeini et al., "Obtaining Well
/// Calibrated Probabilities Using Bayesian Binning" (2015).
fn calibration_error(values: impl Iterator<Item = (f32, bool)>) -> f64 {
    let mut bins = [(0.0, 0.0); BINS];
    let mut count = 0.0;
    for (value, is_right) in values {
        let value = f64::from(value);
        let bin = (0..BINS - 1).take_while(|bin| value * BINS as f64 >= *bin as f64 + 1.0).count();
        bins[bin].0 += value;
        bins[bin].1 += f64::from(u8::from(is_right));
        count += 1.0;
    }
    bins.iter().map(|(said, right)| (said - right).abs()).sum::<f64>() / f64::max(count, 1.0)
}

fn times(times: impl Iterator<Item = Duration>) -> String {
    let mut times: Vec<_> = times.collect();
    times.sort_unstable();
    let ms = |percent: usize| {
        let at = times.get(times.len().saturating_sub(1) * percent / 100);
        at.copied().unwrap_or_default().as_secs_f64() * 1e3
    };
    format!("{:.1} / {:.1}", ms(50), ms(99))
}

fn of_one(figure: f64) -> String {
    format!("{figure:.3}")
}

pub(super) fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (mut sum, mut count) = (0.0, 0.0);
    for value in values {
        sum += value;
        count += 1.0;
    }
    sum / f64::max(count, 1.0)
}
