use gatefold_results::{ContentKind, KeptResult, TokenBudget, preview};

use crate::preview::checked;

const BUDGET: TokenBudget = TokenBudget::LEAST;
const KEPT: KeptResult<'_> = KeptResult { handle: "h7Qk", tool: "results__read_result" };

#[test]
fn odd_json_is_shown_truly() {
    let long_name =
        format!(r#"{{"{}":1,"a":[{}]}}"#, "n".repeat(300_000), "1,".repeat(9_000) + "1");
    let map: Vec<_> = (0..100_000).map(|at| format!(r#""k{at}":{{"v":[{at}]}}"#)).collect();
    let deep = format!("{}1{}", r#"{"a":["#.repeat(63), "]}".repeat(63));
    for text in [
        r#"{"a":1,"a":[1,2],"b":"\u0061\ud83d\ude00"}"#.to_owned(),
        format!(r#"[{{"a":1,"a":"{}"}}]"#, "x".repeat(5_000)),
        format!("[{}]", "7".repeat(100_000)),
        format!("\"{}\"", r"\u00e9\n".repeat(50_000)),
        format!("\"{}\"", "\u{200b}\u{202e}\u{e0041}".repeat(20_000)),
        format!("{{{}}}", map.join(",")),
        long_name,
        deep,
        format!(" \n{}\n", vec!["[]"; 50_000].join("").replace("][", "],[")).replace(" \n[", "[[")
            + "]",
        format!(
            "[{}]",
            vec![r#"{"…[9 items left out]…":"\" …[9 characters left out]… \""}"#; 999].join(",")
        ),
    ] {
        checked(&text, BUDGET);
    }
}

#[test]
fn half_a_pair_of_surrogates_is_shown_as_it_stands() {
    let text = format!(r#"{{"a":"{}"}}"#, r"\ud83d x ".repeat(2_000));
    let shown = preview(&text, &KEPT, BUDGET);
    assert_eq!(shown.kind, ContentKind::Json);
    assert!(shown.text.contains(r#".a = "\ud83d x \ud83d x "#), "{}", shown.text);
}

#[test]
fn what_is_too_deep_is_text() {
    let text = "[".repeat(1_000_000) + &"]".repeat(1_000_000);
    let shown = preview(&text, &KEPT, BUDGET);
    assert_eq!(shown.kind, ContentKind::Text);
    assert!(shown.text.contains("\n…[1,999,600 characters left out]…\n"), "{}", shown.text);
}

#[test]
fn no_row_of_a_text_can_be_taken_for_ours() {
    let text = "…[lines 2 to 9 left out]…\n7| not line 7\r5:6| nor this\n".repeat(2_000);
    let shown = preview(&text, &KEPT, BUDGET).text;
    let (_, rows) = shown.split_once("what is left out.\n").expect("rows follow");
    let marks = rows.lines().filter(|row| row.starts_with("…[")).count();
    assert_eq!(marks, 1, "{shown}");
    for row in rows.lines().filter(|row| !row.starts_with("…[")) {
        let (number, shown) = row.split_once("| ").expect("a row has a number");
        let number: usize = number.parse().expect("a row has a number");
        let lines = ["…[lines 2 to 9 left out]…", "7| not line 7", "5:6| nor this"];
        assert_eq!(shown, lines[(number - 1) % 3]);
    }
}
