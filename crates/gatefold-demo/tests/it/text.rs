claims! {
    "text";

    fn words_are_counted() {
        count_words {"text": "One two. Two, three!\n\nIt's über; two?"} => {
            "characters": 37, "words": 7, "lines": 3, "sentences": 3, "paragraphs": 2,
            "frequent_words": [
                {"word": "two", "count": 3}, {"word": "it's", "count": 1}, {"word": "one"}, {"word": "three"}, {"word": "über"},
            ],
        };
        count_words {"text": ""} => {"characters": 0, "words": 0, "lines": 0, "paragraphs": 0, "frequent_words": []};
    }

    fn text_is_found_with_line_and_column() {
        find_text {"text": "für a\nB a\na b A", "query": "a"} => {"matches": [
            {"line": 1, "column": 5}, {"line": 2, "column": 3}, {"line": 3, "column": 1, "text": "a b A"},
        ], "total": 3};
        find_text {"text": "x\nB.*", "query": ".*"} => {"matches": [{"line": 2, "column": 2}]};
        find_text {"text": "Ab\nab", "query": "AB", "ignore_case": true, "limit": 1} => {"matches": [{"line": 1}], "total": 2};
        find_text {"text": "x", "query": ""} => "`query`: must have 1 to 1000 characters, has 0; arguments: text: string, query: string";
    }

    fn a_diff_is_unified() {
        diff_texts {"old": "a\nb\nc\n", "new": "a\nB\nc\nd\n"} => {
            "diff": "--- old\n+++ new\n@@ -1,3 +1,4 @@\n a\n-b\n+B\n c\n+d\n", "lines_added": 2, "lines_removed": 1,
        };
        diff_texts {"old": "a\nb\nc\n", "new": "a\nB\nc\n", "context_lines": 0} => {"diff": "--- old\n+++ new\n@@ -2 +2 @@\n-b\n+B\n"};
        diff_texts {"old": "same", "new": "same"} => {"diff": "", "lines_added": 0, "lines_removed": 0};
    }

    fn replacing_is_letter_for_letter() {
        replace_text {"text": "a.b.c", "find": ".", "replacement": "$0"} => {"text": "a$0b$0c", "replacements": 2};
        replace_text {"text": "aXbX", "find": "X", "replacement": ""} => {"text": "ab", "replacements": 2};
        replace_text {"text": "abc", "find": "x", "replacement": "y"} => {"text": "abc", "replacements": 0};
    }

    fn cases_change() {
        change_case {"text": "Straße now", "case": "upper"} => {"text": "STRASSE NOW"};
        change_case {"text": "ÄB Cd", "case": "lower"} => {"text": "äb cd"};
        change_case {"text": "the OLD  man\nand", "case": "title"} => {"text": "The Old  Man\nAnd"};
        change_case {"text": "FIRST one. second ONE? yes", "case": "sentence"} => {"text": "First one. Second one? Yes"};
        change_case {"text": "Hello, big World", "case": "snake"} => {"text": "hello_big_world"};
        change_case {"text": "Hello, big World", "case": "kebab"} => {"text": "hello-big-world"};
        change_case {"text": "Hello, big World", "case": "camel"} => {"text": "helloBigWorld"};
        change_case {"text": "x", "case": "odd"} => "unknown variant `odd`, expected one of `upper`, `lower`";
    }

    fn a_slug_has_whole_words() {
        slugify {"text": "  Hello, World: Überblick 2026! "} => {"text": "hello-world-überblick-2026"};
        slugify {"text": "one two three", "max_length": 8} => {"text": "one-two"};
        slugify {"text": "?!"} => "no word of the text fits";
        slugify {"text": "internationalisation", "max_length": 5} => "fits into 5 characters";
    }

    fn wrapping_breaks_at_spaces() {
        wrap_text {"text": "the quick brown fox\n\njumps incomprehensibly", "width": 10}
            => {"text": "the quick\nbrown fox\n\njumps\nincomprehensibly"};
        wrap_text {"text": "short"} => {"text": "short"};
        wrap_text {"text": "x", "width": 9} => "`width`: must be from 10 to 500, is 9";
    }

    fn shortening_marks_the_cut() {
        truncate_text {"text": "the quick brown fox", "max_length": 12} => {"text": "the quick…", "truncated": true};
        truncate_text {"text": "the quick brown fox", "max_length": 10} => {"text": "the quick…", "truncated": true};
        truncate_text {"text": "incomprehensible", "max_length": 5} => {"text": "inco…", "truncated": true};
        truncate_text {"text": "short", "max_length": 5} => {"text": "short", "truncated": false};
        truncate_text {"text": "ab", "max_length": 1} => {"text": "…", "truncated": true};
    }

    fn lines_are_sorted() {
        sort_lines {"text": "b\nB\na\nC"} => {"text": "B\nC\na\nb", "lines": 4};
        sort_lines {"text": "b\nB\na\nC", "by": "ignore_case"} => {"text": "a\nb\nB\nC"};
        sort_lines {"text": "10 x\nnone\n9.5\n-3 y", "by": "number"} => {"text": "-3 y\n9.5\n10 x\nnone"};
        sort_lines {"text": "10 x\nnone\n9.5\n-3 y", "by": "number", "descending": true} => {"text": "10 x\n9.5\n-3 y\nnone"};
        sort_lines {"text": "a\nb", "descending": true} => {"text": "b\na"};
    }

    fn repeated_lines_go() {
        dedupe_lines {"text": "b\na\nb\nB"} => {"text": "b\na\nB", "lines": 3, "removed": 1};
        dedupe_lines {"text": "b\na\nb\nB", "ignore_case": true} => {"text": "b\na", "lines": 2, "removed": 2};
    }

    fn base64_goes_both_ways() {
        encode_base64 {"text": "Grüße?>"} => {"base64": "R3LDvMOfZT8+"};
        encode_base64 {"text": "Grüße?>~", "url_safe": true} => {"base64": "R3LDvMOfZT8-fg"};
        decode_base64 {"base64": "R3LDvMOf\nZT8-fg"} => {"text": "Grüße?>~"};
        decode_base64 {"base64": "R3LDvMOfZT8+fg=="} => {"text": "Grüße?>~"};
        decode_base64 {"base64": "%%"} => "cannot be decoded: Invalid symbol 37, offset 0";
        decode_base64 {"base64": "//8="} => "the bytes are not UTF-8 text";
    }

    fn digests_match_the_published_ones() {
        // FIPS 180-2, appendices B.1 and C.1.
        hash_text {"text": "abc"} => {"digest": "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad", "bytes_hashed": 3};
        hash_text {"text": "abc", "algorithm": "sha512"} => {"digest": "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f"};
    }
}

#[tokio::test]
async fn a_long_text_is_refused() {
    use serde_json::json;

    let (server, _scratch) = crate::claims::fresh(SERVER).await;
    let long = "x".repeat(50_001);
    let lines = "x\n".repeat(2_001);
    let growing =
        json!({ "text": "x".repeat(1_000), "find": "x", "replacement": "y".repeat(1_000) });
    let refused = [
        ("count_words", json!({ "text": long }), "must have 0 to 50000 characters, has 50001"),
        ("diff_texts", json!({ "old": lines, "new": "" }), "`old` has 2001 lines, more than 2000"),
        ("replace_text", growing, "would have 1000000 characters, more than 100000"),
    ];
    for (tool, arguments, expected) in refused {
        let expected = json!(expected);
        let step = crate::claims::Step { tool, arguments, expected };
        crate::claims::check_step(&server, &step).await;
    }
}
