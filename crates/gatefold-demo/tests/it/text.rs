claims! {
    "text";

    fn words_are_counted() {
        count_words {"text": "One two. Two, three!\n\nIt's über; two?"} => {
            "characters": 37, "words": 7, "lines": 3,
            "frequent_words": [
                {"word": "two", "count": 3}, {"word": "it's", "count": 1}, {"word": "one"}, {"word": "three"}, {"word": "über"},
            ],
        };
        count_words {"text": ""} => {"characters": 0, "words": 0, "lines": 0, "frequent_words": []};
    }

    fn text_is_reshaped() {
        replace_text {"text": "a.b.c", "find": ".", "replacement": "$0"} => {"text": "a$0b$0c", "replacements": 2};
        replace_text {"text": "x", "find": "", "replacement": ""} => "`find`: must have 1 to 1000 characters, has 0";
        change_case {"text": "Straße now", "case": "upper"} => {"text": "STRASSE NOW"};
        change_case {"text": "ÄB Cd", "case": "lower"} => {"text": "äb cd"};
        change_case {"text": "the OLD  man\nand", "case": "title"} => {"text": "The Old  Man\nAnd"};
        sort_lines {"text": "b\na\nb", "unique": true} => {"text": "a\nb", "lines": 2};
        sort_lines {"text": "b\na\nb", "descending": true} => {"text": "b\nb\na"};
        truncate_text {"text": "über alles", "max_length": 5} => {"text": "über…", "truncated": true};
        truncate_text {"text": "über", "max_length": 4} => {"text": "über", "truncated": false};
        slugify {"text": "  The Roof: what now?"} => {"text": "the-roof-what-now"};
    }

    fn base64_goes_both_ways() {
        encode_base64 {"text": "Ünder"} => {"base64": "w5xuZGVy"};
        decode_base64 {"base64": "w5xuZGVy\n"} => {"text": "Ünder"};
        decode_base64 {"base64": "w5x"} => "`base64` cannot be decoded";
        decode_base64 {"base64": "/w=="} => "the bytes are not UTF-8 text";
    }
}
