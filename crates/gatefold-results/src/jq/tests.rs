use super::*;

const TEXT: &str = r#"{"items":[{"id":1,"name":"ann","tags":["x","y"]},{"id":2,"name":"bob","tags":[]}],"n":null,"half":"\ud83d"}"#;

fn ask(program: &str) -> Result<String, String> {
    run(TEXT, program).map(JqOutcome::into_text).map_err(|error| error.to_string())
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
        ("def twice: . * 2; [.items[].id | twice]", "[2,4]\n"),
        ("[1, 2, 3] | .[1:] = [9]", "[1,9]\n"),
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
        ("$ENV.HOME", "the jq program uses `$ENV`, which is not known here"),
        ("halt", "the jq program uses `halt`, which is not known here"),
        ("halt_error", "the jq program uses `halt_error`, which is not known here"),
        ("input", "the jq program uses `input`, which is not known here"),
        ("import \"x\" as x; .", "the jq program imports a file, which it may not"),
        (
            ".items.name",
            "the jq program does not fit the input: cannot index [{\"id\":1,\"name\":\"ann\",\"tags\":[\"x\",\"y\"]},{\"id\":2,\"name\":\"bob\",\"tags\":[]}] with \"name\"; the input has the members `items`, `n`, `half`",
        ),
    ] {
        if ask(program) != Err(error.to_owned()) {
            faults.push((program, ask(program)));
        }
    }
    assert_eq!(faults, []);
}
