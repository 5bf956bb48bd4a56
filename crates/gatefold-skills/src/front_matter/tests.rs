use std::fmt::Write as _;

use super::*;

#[test]
fn a_text_has_two_parts() {
    let parts = |text| split(text).map(|parts| (parts.front, parts.body));
    assert_eq!(parts("---\na: b\n---\n# T\n---\n"), Ok(("a: b\n", "# T\n---\n")));
    assert_eq!(parts("\u{feff}---\r\na: b\r\n---\r\nT"), Ok(("a: b\r\n", "T")));
    assert_eq!(parts("---\n---"), Ok(("", "")));
    for text in ["", "# T", "---", "---\na: b\n", " ---\na: b\n---\n"] {
        assert!(split(text).is_err(), "{text}");
    }
    let long = format!("---\n{}\n---\n", "a: b\n".repeat(FRONT_MATTER_BYTES / 5 + 1));
    assert!(split(&long).is_err_and(|error| error.1.contains("more than")));
}

fn check(front: &str, expected: &[&str]) {
    let mut findings = Vec::new();
    let read = read(front, "s", &mut findings);
    let texts: Vec<_> = findings.iter().map(ToString::to_string).collect();
    assert_eq!(texts, expected, "{front}");
    assert_eq!(read.is_none(), findings.iter().any(Finding::is_fault), "{front}");
}

#[test]
fn every_fault_is_found_with_its_line() {
    check("name: a\ndescription: D\n", &[]);
    check(
        "name: 7\ndescription:\nlicense: []\nmetadata: x\nallowed-tools: {}\n",
        &[
            "s:2: `name` is no text: put it in quotes",
            "s:3: `description` is empty, or an alias, which is not followed",
            "s:4: `license` is no text: put it in quotes",
            "s:5: `metadata` is no mapping of texts to texts",
            "s:6: `allowed-tools` is neither a text nor a list of texts",
        ],
    );
    check(
        "name: a\n",
        &["s:2: its front matter has no `description`: say what the skill does and when to use it"],
    );
    check(
        "description: a\u{202e}b\n",
        &["s:2: `description` has a character that people do not see: U+202E"],
    );
    check(
        "description: C\ndescription: D\n",
        &["s:3: `description` is set twice: the last one counts"],
    );
    check("- a\n", &["s:2: its front matter is no mapping: write lines of `key: value`"]);
    let long = format!("description: {}\n", "é".repeat(1025));
    check(&long, &["s:2: `description` has 1025 characters, of which the first 1024 are kept"]);
    check(
        "description: D\nmodel: x\nmetadata: {a: [1]}\n",
        &[
            "s:3: `model` is no key of the format, which has `name`, `description`, `license`, \
             `compatibility`, `metadata`, `allowed-tools`",
            "s:4: `metadata.a` is no text",
        ],
    );
}

#[test]
fn a_line_that_is_not_quite_yaml_is_read_as_the_text_that_it_is_meant_to_be() {
    for (written, expected) in [
        (
            "Pays back. Use when: it was charged twice.",
            "Pays back. Use when: it was charged twice.",
        ),
        ("\"Fast\" way to file", "\"Fast\" way to file"),
        ("'Fast' way to book", "'Fast' way to book"),
        ("\"Fast way", "\"Fast way"),
        ("[beta] Lists tags", "[beta] Lists tags"),
        ("[beta]", "[beta]"),
        ("{draft} writes", "{draft} writes"),
        ("{draft}", "{draft}"),
        ("@team reviews", "@team reviews"),
        ("`make release` first", "`make release` first"),
        ("!important: read before", "!important: read before"),
        ("!now", "!now"),
        ("%discount rules", "%discount rules"),
        ("*Always* use", "*Always* use"),
        ("? what to do", "? what to do"),
        ("- what to do", "- what to do"),
        ("Examples:", "Examples:"),
        ("Closes #4711 and others", "Closes #4711 and others"),
        ("Use when:\n  a request is open\n\n  or closed", "Use when: a request is open or closed"),
        ("\n  Use when: it is open", "Use when: it is open"),
        ("See https://a.example: first", "See https://a.example: first"),
    ] {
        let front = format!("name: a\ndescription: {written}\nallowed-tools: Read, Grep\n");
        let mut findings = Vec::new();
        let read = read(&front, "s", &mut findings).expect("it has no fault");
        assert_eq!(read.description, expected, "{front}");
        assert_eq!(read.allowed_tools, ["Read", "Grep"], "{front}");
        assert_eq!(read.json["description"], expected, "{front}");
        let told: Vec<_> = findings.iter().map(ToString::to_string).collect();
        let quotes =
            "s:3: `description` was read as a text, which YAML would not do: put it in quotes";
        // `%` at the start is a text to some readers of YAML.
        assert!(told == [quotes] || written.starts_with('%') && told.is_empty(), "{front}{told:?}");
    }
}

#[test]
fn other_lines_are_mended_too() {
    let read_so = |front: &str| {
        let mut findings = Vec::new();
        let read = read(front, "s", &mut findings);
        (read, findings.iter().map(ToString::to_string).collect::<Vec<_>>())
    };
    let (read, told) = read_so("name: a\ndescription:No space\n");
    assert_eq!(read.expect("it has no fault").description, "No space");
    assert!(told[0].starts_with("s:3: `description` was read as a text"), "{told:?}");
    let (read, told) = read_so("description:\tD\nmetadata:\n\tfor: x\n\tnote: y\n");
    assert_eq!(read.expect("it has no fault").domains, ["x"]);
    assert!(
        told.contains(&"s:3: `metadata` is indented with tabs: use spaces".to_owned()),
        "{told:?}"
    );
    let (read, told) = read_so("description: D\nmetadata:\n  note: a: b\n  for: x\nlicense: MIT\n");
    let read = read.expect("it has no fault");
    assert_eq!((read.domains[0].as_str(), read.license.as_deref()), ("x", Some("MIT")));
    assert_eq!(told, ["s:4: `note` was read as a text, which YAML would not do: put it in quotes"]);
    let (read, told) = read_so("description: D\nargument-hint: [title] [label]\n");
    assert!(read.is_some() && told[0].starts_with("s:3: `argument-hint` was read"), "{told:?}");
    let (read, told) = read_so("description: Pays back # in the shop\n");
    assert_eq!(read.expect("it has no fault").description, "Pays back");
    assert_eq!(
        told,
        [
            "s:2: `description` ends before ` #`, where a comment begins: put it in quotes if the rest \
          belongs to it"
        ]
    );
    for fine in [
        "description: 'a # b'\n",
        "description: \"a #b\" # note\n",
        "description: |\n  a #b\n",
        "description: a#b\n# note\nname: x\n",
        "description: D\r\nallowed-tools:\r\n- Read\r\n- Grep\r\n",
        "{description: a, name: b}\n",
        "\"description\": D\n",
        "description: !!str 7\n",
    ] {
        let (read, told) = read_so(fine);
        assert!(read.is_some() && told.is_empty(), "{fine}{told:?}");
    }
}

#[test]
fn yaml_that_cannot_be_read_says_where() {
    for front in ["description: [\n", "\tname: x\n", "a: &a [*a, *a]\n", "description: *\n"] {
        let mut findings = Vec::new();
        assert!(read(front, "s", &mut findings).is_none(), "{front}");
        assert!(findings[0].line.is_some_and(|line| line >= 2), "{front}: {findings:?}");
    }
}

#[test]
fn aliases_are_not_followed() {
    let mut bomb = "a: &a [x, x, x, x, x, x, x, x, x]\n".to_owned();
    for level in 'b'..='z' {
        let before = char::from(level as u8 - 1);
        let many = vec![format!("*{before}"); 9].join(", ");
        _ = writeln!(bomb, "{level}: &{level} [{many}]");
    }
    bomb.push_str("description: *z\n");
    let mut findings = Vec::new();
    assert!(read(&bomb, "s", &mut findings).is_none());
    let faults: Vec<_> = findings.iter().filter(|one| one.is_fault()).collect();
    assert_eq!(faults.len(), 1, "{faults:?}");
    assert!(faults[0].message.contains("alias"), "{faults:?}");
}

#[test]
fn tools_are_listed_in_either_form() {
    for (written, expected) in [
        ("Bash(git add *) Read", vec!["Bash(git add *)", "Read"]),
        ("a__b, c", vec!["a__b", "c"]),
        ("[x, y]", vec!["x", "y"]),
    ] {
        let front = format!("description: D\nallowed-tools: {written}\n");
        let read = read(&front, "s", &mut Vec::new()).expect("it has no fault");
        assert_eq!(read.allowed_tools, expected);
    }
}

#[test]
fn a_name_is_as_the_format_says() {
    for name in ["a", "pdf-processing", "a1-b2", "größe", "表"] {
        assert_eq!(name_fault(name), None, "{name}");
    }
    for name in ["PDF", "-a", "a-", "a--b", "a_b", "a b", "a/b", "..", "a\u{200b}", "É"] {
        assert!(name_fault(name).is_some(), "{name}");
    }
    assert!(name_fault(&"a".repeat(65)).is_some());
}
