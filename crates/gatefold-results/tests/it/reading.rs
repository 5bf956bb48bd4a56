use std::num::NonZeroUsize;

use gatefold_results::{KeptResult, ReadAnswer, ReadRequest, TokenBudget, preview, read};
use proptest::prelude::*;

const KEPT: KeptResult<'_> = KeptResult { handle: "h7Qk", tool: "results__read_result" };

fn ask(text: &str, arguments: &str, budget: TokenBudget) -> Result<ReadAnswer, String> {
    let request = ReadRequest::from_arguments(arguments).expect("the arguments are right");
    read(text, &request.reading, &KEPT, budget).map_err(|error| error.to_string())
}

/// An answer's part of the result, without the line that says what it is.
fn content(answer: &ReadAnswer) -> &str {
    answer.text.split_once('\n').expect("a first line says what follows").1
}

fn is_within(text: &str, budget: TokenBudget) -> bool {
    tiktoken_rs::o200k_base_singleton().count_ordinary(text) <= budget.tokens()
}

#[test]
fn an_answer_that_is_whole_says_so() {
    let answer =
        ask("a\nb\nc\n", r#"{"handle":"h7Qk","lines":"2-3"}"#, TokenBudget::LEAST).unwrap();
    assert_eq!(answer.text, "Lines 2 to 3, all of it (4 characters):\nb\nc\n");
    assert_eq!(answer.next, None);
}

#[test]
fn an_answer_that_is_not_whole_says_how_to_read_on() {
    let text = "word ".repeat(2_000);
    let answer = ask(&text, r#"{"handle":"h7Qk","chars":"6-9999"}"#, TokenBudget::LEAST).unwrap();
    let next = answer.next.as_deref().unwrap();
    assert_eq!(next, r#"{"handle":"h7Qk","chars":"6-9999","page":2}"#);
    let head = answer.text.lines().next().unwrap();
    assert!(head.starts_with("What stands from character 6 on, characters 1 to "), "{head}");
    assert!(
        head.ends_with(&format!(" of 9994. Read on with results__read_result: {next}")),
        "{head}"
    );
}

#[test]
fn lines_that_match_come_with_their_numbers() {
    let text = "one\nTwo\nthree\nfour\nfive\nsix\nseven\ntwo\n";
    let found = |arguments: &str| {
        let arguments = format!(r#"{{"handle":"h7Qk",{arguments}}}"#);
        content(&ask(text, &arguments, TokenBudget::LEAST).unwrap()).to_owned()
    };
    assert_eq!(found(r#""grep":"^t""#), "3| three\n8| two\n");
    assert_eq!(
        found(r#""grep":"TWO","ignore_case":true,"context":1"#),
        "1- one\n2| Two\n3- three\n--\n7- seven\n8| two\n"
    );
}

#[test]
fn a_match_deep_in_a_long_line_is_shown_with_its_column() {
    let text = format!("{}needle{}", "x".repeat(1_000_000), "y".repeat(1_000_000));
    let grep = r#"{"handle":"h7Qk","grep":"needle"}"#;
    let answer = ask(&text, grep, TokenBudget::new(4_000)).unwrap();
    let row = content(&answer);
    let (place, shown) = row.split_once("| ").unwrap();
    let column: usize = place.strip_prefix("1:").unwrap().parse().unwrap();
    let at = shown.find("needle").unwrap();
    assert_eq!(column + at, 1_000_001);
    let chars = format!(r#"{{"handle":"h7Qk","chars":"{}-{}"}}"#, column + at, column + at + 5);
    let answer = ask(&text, &chars, TokenBudget::LEAST).unwrap();
    assert_eq!(content(&answer), "needle");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn all_pages_are_the_whole(text in "[a-z é\u{1f600}\n]{0,9000}") {
        let (mut arguments, mut whole) = (r#"{"handle":"h7Qk"}"#.to_owned(), String::new());
        loop {
            let answer = ask(&text, &arguments, TokenBudget::LEAST).unwrap();
            prop_assert!(is_within(&answer.text, TokenBudget::LEAST));
            whole.push_str(content(&answer));
            match answer.next {
                Some(next) => arguments = next,
                None => break,
            }
        }
        prop_assert_eq!(whole, text);
    }

    #[test]
    fn a_preview_of_any_text_is_within_its_budget(
        text in "([a-z #é\u{e000}\u{10ffff}\u{200b}\r\n]{0,200}|…\\[3 lines left out\\]…\n){0,40}",
        tokens in 500_usize..4_000,
    ) {
        let budget = TokenBudget::new(tokens);
        let shown = preview(&text, &KEPT, budget).text;
        prop_assert!(is_within(&shown, budget), "{}", shown);
    }
}

#[test]
fn pages_behind_the_last_are_missing() {
    let page = NonZeroUsize::new(2).unwrap();
    let mut request = ReadRequest::from_arguments(r#"{"handle":"h7Qk"}"#).unwrap();
    request.reading.page = page;
    let error = read("short", &request.reading, &KEPT, TokenBudget::LEAST).unwrap_err();
    assert_eq!(error.to_string(), "The result has fewer than 2 pages");
}
