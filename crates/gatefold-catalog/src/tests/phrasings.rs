//! A request in several phrasings.

use super::*;

fn mail_and_chat() -> View {
    view(vec![
        entry("mail", &[&tool("send", "Sends a letter"), &tool("list", "Lists letters")]),
        entry("chat", &[&tool("post", "Posts a note to a channel"), &tool("pin", "Pins a note")]),
    ])
}

#[track_caller]
fn check(phrasings: &[&str], limit: usize, expected: &[&str]) {
    let view = mail_and_chat();
    let hits = search_phrasings(&view, phrasings, &Scope::default(), SearchMode::Keyword, limit);
    let found: Vec<_> = hits.iter().map(|hit| hit.tool.id().as_str()).collect();
    assert_eq!(found, expected, "{phrasings:?}");
}

#[test]
fn what_several_phrasings_find_comes_before_what_one_finds() {
    check(&["letter", "send"], 2, &["mail__send", "mail__list"]);
    check(&["send", "letter"], 2, &["mail__send", "mail__list"]);
    check(&["letters", "note", "letter"], 1, &["mail__list"]);
}

#[test]
fn one_phrasing_is_an_ordinary_search() {
    check(&["letter"], 2, &["mail__list", "mail__send"]);
    check(&[], 2, &[]);
}

#[test]
fn a_phrasing_that_fits_nothing_changes_nothing() {
    check(&["letter", "qqqq"], 2, &["mail__list", "mail__send"]);
    check(&["qqqq", "xxxx"], 1, &["chat__pin"]);
}

#[test]
fn a_tool_that_a_phrasing_names_comes_first() {
    check(&["letters", "chat__pin"], 1, &["chat__pin"]);
}

#[test]
fn no_more_phrasings_count_than_three() {
    check(&["letter", "letter", "letter", "pin"], 1, &["mail__list"]);
}
