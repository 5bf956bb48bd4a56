//! Answers made of quotes.

use std::sync::Arc;

use fastrand::Rng;
use gatefold_knowledge::{
    Calibration, CitableText, Citation, CitedText, CitedTexts, Grounded, GroundingSettings,
    MAX_GROUNDING_QUOTES, Passage, Quote, Similarity, Verdict, Version, check_citations, ground,
};
use proptest::prelude::*;

use crate::prose;

fn passage(document: &str, text: &str, span: std::ops::Range<usize>, score: f32) -> Passage {
    Passage {
        document: document.into(),
        title: document.into(),
        version: Version::of(text),
        text: text.into(),
        span,
        headings: Vec::new(),
        place: None,
        score,
    }
}

fn whole(document: &str, text: &str) -> Passage {
    passage(document, text, 0..text.len(), 0.8)
}

fn ask(question: &str, passages: &[Passage], similarity: Option<&Similarity<'_>>) -> Grounded {
    let calibration = Calibration::default();
    let settings = GroundingSettings { quotes: 8, similarity, calibration: &calibration };
    ground(question, passages, &settings)
}

/// The words of each claim's quotes.
fn claims(grounded: &Grounded) -> Vec<Vec<&str>> {
    grounded.claims.iter().map(|it| it.quotes.iter().map(Quote::excerpt).collect()).collect()
}

const HANDBOOK: &str = "# Leave\n\nEmployees get 30 days of annual leave each year. It is paid in full. \
    Requests go to the manager.\n\n# Travel\n\nTrains are booked by the office. Flights over 500 euros \
    are not refunded. Hotels are refunded up to 120 euros.\n";

#[test]
fn the_sentence_that_answers_comes_first() {
    for (question, expected) in [
        (
            "How many days of annual leave do employees get?",
            "Employees get 30 days of annual leave each year.",
        ),
        ("Who books trains?", "Trains are booked by the office."),
        ("Which flights are not refunded?", "Flights over 500 euros are not refunded."),
        ("How much of a hotel is refunded?", "Hotels are refunded up to 120 euros."),
    ] {
        let grounded = ask(question, &[whole("handbook.md", HANDBOOK)], None);
        let best = claims(&grounded)[0][0];
        assert!(best.starts_with(expected), "{question}: {best}");
        assert!(!grounded.insufficient, "{question}: {:?}", grounded.features);
    }
}

#[test]
fn a_sentence_that_points_back_is_quoted_with_the_one_before() {
    let grounded = ask("Is annual leave paid in full?", &[whole("handbook.md", HANDBOOK)], None);
    let quotes = claims(&grounded);
    let expected = "Employees get 30 days of annual leave each year. It is paid in full.";
    assert!(quotes.iter().any(|quotes| quotes[0] == expected), "{quotes:?}");
}

#[test]
fn documents_that_say_the_same_make_one_claim() {
    let passages = [
        whole("a.md", "Employees get 30 days of annual leave."),
        whole("b.md", "All employees get 30 days of annual leave."),
        whole("c.md", "Employees get 25 days of annual leave."),
        whole("d.md", "Employees do not get 30 days of annual leave."),
    ];
    let grounded = ask("How many days of annual leave do employees get?", &passages, None);
    let mut counts: Vec<_> = grounded.claims.iter().map(|claim| claim.quotes.len()).collect();
    counts.sort_unstable();
    assert_eq!(counts, [1, 1, 2]);
    let alone = ask("How many days of annual leave do employees get?", &passages[..1], None);
    assert!(grounded.features.agreement > alone.features.agreement);
}

#[test]
fn twin_sentences_of_one_document_are_quoted_once() {
    let text = "Leave is paid. Other words here.\n\nLeave is paid. And that is all.";
    let grounded = ask("Is leave paid?", &[whole("a.md", text)], None);
    let quotes: Vec<_> = claims(&grounded).concat();
    assert_eq!(quotes.iter().filter(|quote| **quote == "Leave is paid.").count(), 1, "{quotes:?}");
}

#[test]
fn what_the_passages_do_not_say_is_insufficient() {
    let weak = passage("handbook.md", HANDBOOK, 0..HANDBOOK.len(), 0.1);
    let grounded =
        ask("Which dental insurance covers orthodontic braces for children?", &[weak], None);
    assert!(grounded.insufficient && grounded.confidence < 0.2, "{:?}", grounded.features);
    let nothing = ask("Who books trains?", &[], None);
    assert!(nothing.insufficient && nothing.claims.is_empty());
}

#[test]
fn meaning_counts_where_words_are_missing() {
    let text = "The premises open at dawn. The staff canteen serves lunch.";
    let meaning = |_: &str, texts: &[&str]| {
        texts.iter().map(|text| Some(if text.contains("canteen") { 0.9 } else { 0.1 })).collect()
    };
    let grounded = ask("where can people eat", &[whole("a.md", text)], Some(&meaning));
    assert_eq!(claims(&grounded)[0], ["The staff canteen serves lunch."]);
    let broken = |_: &str, _: &[&str]| vec![Some(f32::NAN)];
    assert!(ask("who serves lunch", &[whole("a.md", text)], Some(&broken)).confidence.is_finite());
}

#[test]
fn the_number_of_quotes_is_bounded() {
    let text = (0..200)
        .map(|number| format!("Leave rule {number} applies. "))
        .collect::<Vec<_>>()
        .concat();
    let calibration = Calibration { least_score: 0.0, ..Calibration::default() };
    for (quotes, expected) in [(0, 0), (3, 3), (1000, MAX_GROUNDING_QUOTES)] {
        let settings = GroundingSettings { quotes, similarity: None, calibration: &calibration };
        let grounded = ground("leave rule applies", &[whole("a.md", &text)], &settings);
        assert_eq!(claims(&grounded).concat().len(), expected);
    }
}

/// The texts of some passages.
struct Texts<'passages>(&'passages [Passage]);

impl CitedTexts for Texts<'_> {
    fn text(&self, citation: &Citation) -> CitedText {
        let passage = self.0.iter().find(|it| *it.document == *citation.document).unwrap();
        CitedText::Present(Arc::new(CitableText::new(
            "base".into(),
            Arc::clone(&passage.document),
            passage.version,
            Arc::clone(&passage.text),
            Arc::default(),
        )))
    }

    fn find(&self, _: &str) -> Vec<Arc<CitableText>> {
        Vec::new()
    }
}

#[test]
fn every_quote_passes_its_own_check() {
    let mut random = Rng::with_seed(5);
    for _ in 0..100 {
        let mut passages = Vec::new();
        for number in 0..3 {
            let (text, _) = prose::document(&mut random);
            let start = random.usize(0..text.len());
            let start =
                text[..text.floor_char_boundary(start)].rfind("\n\n").map_or(0, |at| at + 2);
            let end =
                text[start..].match_indices("\n\n").nth(2).map_or(text.len(), |it| start + it.0);
            passages.push(passage(&format!("{number}.md"), &text, start..end, random.f32()));
        }
        let grounded = ask("first report of the office on growth and revenue", &passages, None);
        for quote in grounded.claims.iter().flat_map(|claim| &claim.quotes) {
            let citation = Citation {
                domain: "base".to_owned(),
                document: quote.document.to_string(),
                version: quote.version,
                span: quote.span.clone(),
            };
            assert_eq!(citation.excerpt(&quote.text), Some(quote.excerpt()));
            assert_eq!(Version::of(&quote.text), quote.version);
            let words = quote.excerpt().split("\n\n").next().unwrap().replace('\n', "\n> ");
            let answer = format!("> {words}\n>\n> {citation}");
            let checked = check_citations(&answer, &Texts(&passages));
            let verdict = checked.quotes[0].verdict;
            assert!(
                matches!(verdict, Verdict::Exact | Verdict::Normalised),
                "{answer}: {checked:?}"
            );
        }
    }
}

proptest! {
    #[test]
    fn quotes_slice_back_whatever_the_text(
        text in "[ -~\\n\u{e9}\u{6f22}\u{3002}\u{301}.!?|#-]{0,400}",
        question in "\\PC{0,60}",
        start: u16,
        length: u16,
        score: f32,
    ) {
        let span = usize::from(start) % (text.len() + 2)..usize::from(start) + usize::from(length);
        let grounded = ask(&question, &[passage("a", &text, span, score)], None);
        prop_assert!((0.0..=1.0).contains(&grounded.confidence));
        for quote in grounded.claims.iter().flat_map(|claim| &claim.quotes) {
            prop_assert!(text.get(quote.span.clone()).is_some_and(|excerpt| !excerpt.is_empty()));
        }
    }
}
