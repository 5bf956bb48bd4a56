use proptest::prelude::*;

use super::*;

/// One vocabulary for all tests, small enough to read.
const PIECES: &str = "[PAD]\n[UNK]\n[CLS]\n[SEP]\nlist\nthe\nissue\n##s\n##ing\nun\n##a\n##ff\n\
                      ##able\n!\n,\n_\ncafe\n漢\n字\nss\nx\n[\n]\ncl\n##s\n";

fn vocabulary() -> Vocabulary {
    Vocabulary::parse(Path::new("vocab.txt"), PIECES).unwrap()
}

/// The pieces of a text by name.
fn pieces(text: &str, limit: usize) -> String {
    let names: Vec<&str> = PIECES.lines().collect();
    let tokens = vocabulary().tokens(text, limit);
    tokens.iter().map(|&id| names[id as usize]).collect::<Vec<_>>().join(" ")
}

#[track_caller]
fn check(text: &str, expected: &str) {
    assert_eq!(pieces(text, 512), format!("[CLS] {expected} [SEP]").replace("  ", " "), "{text:?}");
}

#[test]
fn words_become_their_longest_pieces() {
    check("", "");
    check("List the ISSUES!", "list the issue ##s !");
    check("unaffable", "un ##a ##ff ##able");
    check("list_issues", "list _ issue ##s");
    check("\tthe\u{a0}\u{3000}\r\nlist ", "the list");
}

#[test]
fn a_word_with_one_foreign_part_is_unknown_as_a_whole() {
    check("listq the", "[UNK] the");
    check(&format!("{} the", "x".repeat(101)), "[UNK] the");
    check("issuesss", "issue ##s ##s ##s");
}

#[test]
fn accents_case_and_control_characters_are_dropped() {
    check("Café", "cafe");
    check("CAFE\u{301}, the", "cafe , the");
    check("the\u{200b}\u{0}\u{fffd} list", "the list");
    check("l\u{ad}i\u{b}st", "list");
    check("the \u{378}list", "the [UNK]");
}

#[test]
fn ideographs_stand_alone() {
    check("the漢字list", "the 漢 字 list");
    check("the\u{fa9a}list", "the 漢 list");
}

#[test]
fn special_tokens_in_a_text_are_only_text() {
    check("[CLS]", "[ cl ##s ]");
    check("##s", "[UNK] [UNK] [UNK]");
}

#[test]
fn a_text_is_cut_at_the_limit() {
    assert_eq!(pieces("the list the list", 4), "[CLS] the list [SEP]");
    assert_eq!(pieces("unaffable", 4), "[CLS] un ##a [SEP]");
    assert_eq!(pieces("the", 2), "[CLS] [SEP]");
    assert_eq!(pieces("the", 0), "[CLS] [SEP]");
}

#[test]
fn a_vocabulary_without_its_special_lines_is_refused() {
    let long = "x".repeat(ENTRY_BYTES + 1);
    let many = "a\n".repeat(ENTRIES + 1);
    for (text, expected) in [
        ("", "it has no line `[UNK]`"),
        ("[UNK]\n[CLS]\n", "it has no line `[SEP]`"),
        (long.as_str(), "line 1 is longer than 512 bytes"),
        (many.as_str(), "it has more than 250000 lines"),
    ] {
        let fault = Vocabulary::parse(Path::new("vocab.txt"), text).unwrap_err().to_string();
        assert!(fault.contains(expected), "{fault}");
    }
}

#[test]
fn a_long_text_is_read_only_so_far() {
    let spaces = " ".repeat(TEXT_BYTES - 1);
    assert_eq!(pieces(&format!("{spaces}漢 the"), 9), "[CLS] [SEP]");
}

fn texts() -> impl Strategy<Value = String> {
    let known = prop::sample::select(vec!["list", "issues", "the", " ", "!", "漢", "é", "\u{301}"]);
    let part = prop_oneof![known.prop_map(str::to_owned), any::<char>().prop_map(String::from)];
    prop::collection::vec(part, 0..40).prop_map(|parts| parts.concat())
}

proptest! {
    #[test]
    fn tokens_keep_to_the_limit_with_special_ones_only_at_both_ends(
        text in texts(),
        limit in 2_usize..40,
    ) {
        let vocabulary = vocabulary();
        let tokens = vocabulary.tokens(&text, limit);
        prop_assert!((2..=limit).contains(&tokens.len()));
        prop_assert!(tokens.iter().all(|&id| (id as usize) < PIECES.lines().count()));
        let ends = [vocabulary.first, vocabulary.last];
        prop_assert_eq!([tokens[0], tokens[tokens.len() - 1]], ends);
        prop_assert!(tokens[1..tokens.len() - 1].iter().all(|id| !ends.contains(id)));
    }

    #[test]
    fn a_space_parts_a_text_into_independent_halves(left in texts(), right in texts()) {
        let ids = |text: &str| {
            let tokens = vocabulary().tokens(text, 512);
            tokens[1..tokens.len() - 1].to_vec()
        };
        let whole = ids(&format!("{left} {right}"));
        prop_assert_eq!(whole, [ids(&left), ids(&right)].concat());
    }

    #[test]
    fn a_lower_limit_only_cuts(text in texts(), limit in 2_usize..20) {
        let (all, cut) = (vocabulary().tokens(&text, 512), vocabulary().tokens(&text, limit));
        let kept = cut.len() - 1;
        prop_assert_eq!(&all[..kept], &cut[..kept]);
    }
}
