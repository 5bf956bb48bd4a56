use std::time::{Duration, Instant};

use super::*;

const TEXT: &str = r#"{"items":[{"id":1,"name":"ann","tags":["x","y"]},{"id":2,"name":"bob","tags":[]}],"n":null,"half":"\ud83d"}"#;

fn ask(program: &str) -> Result<String, String> {
    run(TEXT, program).map(|outcome| outcome.text).map_err(|error| error.to_string())
}

#[test]
fn programs_give_what_jq_gives() {
    let mut faults = Vec::new();
    for (program, text) in [
        (".items[0].name", "ann"),
        ("[.items[] | {id, name}]", "[{\"id\":1,\"name\":\"ann\"},{\"id\":2,\"name\":\"bob\"}]\n"),
        (".items[].id", "1\n2\n"),
        (".items | length", "2\n"),
        ("[.items[] | select(.name | test(\"^a\"))] | length", "1\n"),
        ("[.items[].tags[]] | join(\"-\")", "x-y"),
        ("[.items[] | .id] | add, max, (map(. * 2) | tojson)", "3\n2\n\"[2,4]\"\n"),
        (".items | map(has(\"tags\"), (.tags | contains([\"x\"])))", "[true,true,true,false]\n"),
        (".items | group_by(.id > 1) | map(length)", "[1,1]\n"),
        ("del(.items, .n, .half) | keys", "[]\n"),
        ("[.items[] | del(.tags) | to_entries[0].value]", "[1,2]\n"),
        (".items[0] | map_values(. == 1)", "{\"id\":true,\"name\":false,\"tags\":false}\n"),
        ("[paths] | length", "13\n"),
        ("getpath([\"items\", 1, \"name\"])", "bob"),
        (".n // \"none\"", "none"),
        (".half", "\u{fffd}"),
        ("\"a,b\" | split(\",\"), ascii_upcase, indices(\",\")", "[\"a\",\"b\"]\n\"A,B\"\n[1]\n"),
        ("[.items[] as {id: $i, name: $n} | \"\\($i)=\\($n)\"]", "[\"1=ann\",\"2=bob\"]\n"),
        ("reduce .items[] as $x (0; . + $x.id)", "3\n"),
        ("[limit(3; range(10))]", "[0,1,2]\n"),
        ("try error(\"no\") catch .", "no"),
        ("\"[1]\" | fromjson | .[0]", "1\n"),
        ("\"7\" | tonumber + 1", "8\n"),
        ("-1 | length", "1\n"),
        ("empty", ""),
    ] {
        if ask(program) != Ok(text.to_owned()) {
            faults.push((program, ask(program)));
        }
    }
    assert_eq!(faults, []);
}

#[test]
fn a_program_that_fails_says_where_and_what_is_there() {
    let mut faults = Vec::new();
    for (program, error) in [
        (".items[", "the jq program ends too early"),
        (".items | ) x", "the jq program is malformed at character 10: `) x`"),
        (".items | foo", "the jq program uses `foo`, which is not known here"),
        ("env", "the jq program uses `env`, which is not known here"),
        ("def f: f; f", "`def` does not exist here: write the jq program without definitions"),
        (
            ".items.name",
            "the jq program does not fit the result: cannot index [{\"id\":1,\"name\":\"ann\",\"tags\":[\"x\",\"y\"]},{\"id\":2,\"name\":\"bob\",\"tags\":[]}] with \"name\"; the result has the members `items`, `n`, `half`",
        ),
    ] {
        if ask(program) != Err(error.to_owned()) {
            faults.push((program, ask(program)));
        }
    }
    assert_eq!(faults, []);
}

#[test]
fn no_program_takes_more_than_it_may() {
    let mut faults = Vec::new();
    for program in [
        "[range(1e18)]",
        "last(range(1e18))",
        "[repeat(1)]",
        "first(repeat(empty))",
        "0 | until(false; . + 1)",
        "until(false; .)",
        "0 | last(recurse(. + 1; true))",
        "0 | [recurse([.])]",
        "[range(1000000)] | sort_by(-.) | map(tojson) | join(\",\") | split(\"\") | add",
        "reduce repeat(1) as $x (0; $x)",
        "\"x\" * 1e12",
        "reduce range(1e9) as $i (\"xy\"; . + .)",
        "reduce range(1e9) as $i ([1, 2]; . + .)",
        "reduce range(1e9) as $i (\"\\n\"; tojson)",
        "reduce range(1e9) as $i (0; [.])",
        "reduce range(1e9) as $i (0; {a: .})",
        "reduce range(1e9) as $i (99999999999999999999; . * .)",
        "[range(100000)] | [.[] as $a | .[] as $b | .[] as $c | $a]",
        "[range(100000)] as $a | [range(1e9) | $a + [1]]",
        "[limit(1e9; repeat(\"some text\"))] | length",
        "[range(100000)] | combinations(9)",
        "[range(100000) | [range(100000)] == [range(100000)]]",
    ] {
        let begun = Instant::now();
        let outcome = run_within(TEXT, program, Duration::from_millis(500));
        let stopped = matches!(outcome, Err(ReadingError::TooMuch(_)));
        if !stopped || begun.elapsed() > Duration::from_secs(30) {
            faults.push((program, outcome.map(|outcome| outcome.values), begun.elapsed()));
        }
    }
    assert_eq!(faults, []);
}
