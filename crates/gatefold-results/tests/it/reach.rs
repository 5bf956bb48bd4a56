//! Whatever stands in a result of the largest size is reached in a few calls.

use gatefold_results::{KeptResult, ReadRequest, TokenBudget, preview, read};

const KEPT: KeptResult<'_> = KeptResult { handle: "h7Qk", tool: "results__read_result" };
const BUDGET: TokenBudget = TokenBudget::LEAST;

/// The most that is kept of one result, in bytes.
const LARGEST: usize = 16 << 20;

const NEEDLE: &str = "needle-4711";

fn ask(text: &str, arguments: &str) -> String {
    let request = ReadRequest::from_arguments(arguments).expect("the arguments are right");
    let answer = read(text, &request.reading, &KEPT, BUDGET).expect("the part is there");
    let tokens = tiktoken_rs::o200k_base_singleton().count_ordinary(&answer.text);
    assert!(tokens <= BUDGET.tokens(), "{tokens} tokens");
    answer.text.split_once('\n').map(|(_, content)| content.to_owned()).expect("a line is first")
}

/// The needle is found by its pattern, and what surrounds it is read by where it stands.
fn check(text: &str) {
    let shown = preview(text, &KEPT, BUDGET).text;
    let tokens = tiktoken_rs::o200k_base_singleton().count_ordinary(&shown);
    assert!(tokens <= BUDGET.tokens(), "{tokens} tokens");
    assert!(!shown.contains(NEEDLE), "it is not in the preview");
    let found = ask(text, &format!(r#"{{"handle":"h7Qk","grep":"{NEEDLE}"}}"#));
    let (place, row) = found.split_once("| ").expect("a row has its place");
    let at = row.find(NEEDLE).expect("it is in the row");
    let around = match place.split_once(':') {
        Some((_, column)) => {
            let first =
                column.parse::<usize>().expect("it is a column") + row[..at].chars().count();
            let last = first + NEEDLE.len() + 4;
            ask(text, &format!(r#"{{"handle":"h7Qk","chars":"{first}-{last}"}}"#))
        }
        None => ask(text, &format!(r#"{{"handle":"h7Qk","lines":"{place}"}}"#)),
    };
    assert!(around.contains(&format!("{NEEDLE}, er")), "{around}");
}

#[test]
fn a_value_in_the_largest_results_is_reached_in_two_calls() {
    let filler = |bytes: usize, part: &str| part.repeat(bytes / part.len());
    let (before, after) = (LARGEST / 4 * 3, LARGEST / 4 - 200);
    for (open, part, close) in [
        ("", "word ", ""),
        ("", "a line of a log, é\n", ""),
        ("\"", "\\n\\\"quoted\\\" ", "\""),
        ("[\"", "x\",{\"a\":[1,2]},\"", "\"]"),
    ] {
        let text =
            [open, &filler(before, part), &format!("{NEEDLE}, er "), &filler(after, part), close]
                .concat();
        check(&text);
    }
}

#[test]
fn a_value_in_json_is_reached_by_its_path_and_by_a_program() {
    let row = |at: usize| format!(r#"{{"id":{at},"note":"{}"}}"#, "text ".repeat(at % 40));
    let mut rows: Vec<String> = (0..10_000).map(row).collect();
    rows[7_777] = format!(r#"{{"id":7777,"note":"{} {NEEDLE}, er"}}"#, "long ".repeat(9_000));
    let text = format!(r#"{{"items":[{}]}}"#, rows.join(","));
    let place = ask(
        &text,
        r#"{"handle":"h7Qk","jq":".items | map(.note | test(\"needle\")) | index(true)"}"#,
    );
    assert_eq!(place, "7777\n");
    let program = r#"{"handle":"h7Qk","jq":".items[7777].note[-20:]"}"#;
    assert!(ask(&text, program).contains(NEEDLE));
    let path = r#"{"handle":"h7Qk","path":".items[7777].id"}"#;
    assert_eq!(ask(&text, path), "7777");
}
