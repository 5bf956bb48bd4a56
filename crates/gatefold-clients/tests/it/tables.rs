//! Edits of a file that a person wrote change only what was asked for.

use gatefold_clients::{EditError, Switch, TableText, add_table, remove_table, set_switch};

const ENABLED: Switch<'static> = Switch { key: "enabled", default: true };

fn sources() -> Vec<String> {
    vec!["sources".to_owned()]
}

fn source(name: &str) -> Vec<String> {
    vec!["sources".to_owned(), name.to_owned()]
}

fn new() -> TableText {
    TableText { lines: "command = \"n\"\n".to_owned(), inline: "{ command = \"n\" }".to_owned() }
}

fn added(text: &str) -> String {
    add_table(text, &sources(), "new", &new()).unwrap()
}

fn removed(text: &str, name: &str) -> String {
    remove_table(text, &sources(), name).unwrap()
}

fn switched(text: &str, name: &str, is_on: bool) -> String {
    set_switch(text, &source(name), ENABLED, is_on).unwrap()
}

/// Files as people write them, each with a source `a`.
const FILES: &[&str] = &[
    "[sources.a]\ncommand = \"x\"\n",
    "[sources.a]\ncommand = \"x\"",
    "\u{feff}[sources.a]\ncommand = \"x\"\n",
    "# mine\r\n\r\n[sources.a] # the first\r\n  command = \"x\"   # odd\r\n",
    "# mine\r\n[sources.a]\r\ncommand = \"x\"\r\n\r\n# the rest\r\n[limits]\r\ncalls_in_flight = 3\r\n",
    "[sources]\na.command = \"x\"\na.args = [\n  \"1\", # one\n]\nb.command = \"y\"\n",
    "sources.a.command = \"x\"\nsources.a.args = [ ]\n\n[limits]\n",
    "sources = { a = { command = \"x\" } }\n\n[limits]\n",
    "sources.a = { command = \"x\" }\n",
    "[sources]\na = { command = \"x\", env = { B = \"1\", A = \"2\" } } # inline\n",
    "[sources.a]\ncommand = \"x\"\n[sources.a.env]\nK = \"v\"\n\n[sources.b]\ncommand = \"y\"\n",
    "[sources.a.env]\nK = \"v\"\n[limits]\n[sources.a]\ncommand = \"x\"\n[[other]]\nx = 1\n[[other]]\n",
    "[sources.a]\ncommand = '''x'''\n",
];

#[test]
fn a_table_comes_and_goes_without_a_trace() {
    for text in FILES {
        let with = added(text);
        assert_eq!(&removed(&with, "new"), text, "{with}");
        let line = if text.contains('\r') { "\r\n" } else { "\n" };
        assert_eq!(with.matches('\n').count(), with.matches(line).count(), "{with:?}");
        assert_eq!(text.ends_with('\n'), with.ends_with('\n'), "{with:?}");
    }
}

#[test]
fn a_switch_goes_off_and_on_again_without_a_trace() {
    for text in FILES {
        let off = switched(text, "a", false);
        assert_ne!(&off, text);
        assert_eq!(&switched(&off, "a", true), text, "{off}");
        assert_eq!(switched(&off, "a", false), off);
        assert_eq!(&switched(text, "a", true), text);
    }
}

#[test]
fn a_switch_that_somebody_wrote_keeps_its_comment() {
    let text = "[sources.a]\nenabled = false # broken since May\ncommand = \"x\"\n";
    let on = switched(text, "a", true);
    assert_eq!(on, text.replace("false", "true"));
    assert_eq!(switched(&on, "a", false), text);
    let inline = "sources = { a = { enabled = true, command = \"x\" } }\n";
    assert_eq!(switched(inline, "a", false), inline.replace("true", "false"));
}

#[test]
fn a_switch_goes_where_its_table_is() {
    for (text, expected) in [
        (
            "[sources.a]\n  command = \"x\"\n  args = [\n    \"1\",\n  ]\n# end\n[sources.a.env]\nK = \"v\"\n",
            "[sources.a]\n  command = \"x\"\n  args = [\n    \"1\",\n  ]\n  enabled = false\n# end\n[sources.a.env]\nK = \"v\"\n",
        ),
        (
            "[sources]\na.command = \"x\"\nb.command = \"y\"\n",
            "[sources]\na.command = \"x\"\na.enabled = false\nb.command = \"y\"\n",
        ),
        (
            "sources.a = { command = \"x\" } # here\n",
            "sources.a = { command = \"x\", enabled = false } # here\n",
        ),
        (
            "sources = { a.command = \"x\" }\n",
            "sources = { a.command = \"x\", a.enabled = false }\n",
        ),
    ] {
        assert_eq!(switched(text, "a", false), expected);
    }
}

#[test]
fn comments_go_with_the_table_that_they_are_about() {
    for (text, expected) in [
        // Directly above, inside and directly below it.
        (
            "[limits]\n\n# about a\n[sources.a]\n# within\ncommand = \"x\"\n# behind\n\n# about b\n[sources.b]\n",
            "[limits]\n\n# about b\n[sources.b]\n",
        ),
        // Directly above the next one.
        ("[sources.a]\ncommand = \"x\"\n# about b\n[sources.b]\n", "# about b\n[sources.b]\n"),
        // A comment at the start of the file is about the file.
        ("# mine\n[sources.a]\ncommand = \"x\"\n[sources.b]\n", "# mine\n[sources.b]\n"),
        // A comment on its own is about neither.
        ("[sources.a]\ncommand = \"x\"\n\n# alone\n\n[sources.b]\n", "\n# alone\n\n[sources.b]\n"),
    ] {
        assert_eq!(removed(text, "a"), expected, "{text}");
    }
}

#[test]
fn what_cannot_be_edited_is_refused() {
    let add = |text: &str| add_table(text, &sources(), "a", &new());
    assert!(matches!(add("[sources.a]\n"), Err(EditError::NameTaken(_))));
    assert!(matches!(add("[sources\n"), Err(EditError::Syntax { line: 1, .. })));
    assert!(matches!(add("sources = 3\n"), Err(EditError::NotATable { .. })));
    assert!(matches!(add("[[sources]]\nx = 1\n"), Err(EditError::NotATable { .. })));
    let remove = |text: &str| remove_table(text, &sources(), "a");
    assert!(matches!(remove("[sources.b]\n"), Err(EditError::NoSuchServer(_))));
    for text in ["", "[sources]\na = 3\n", "[[sources.a]]\n", "[sources.b]\n"] {
        let switched = set_switch(text, &source("a"), ENABLED, false);
        assert!(matches!(switched, Err(EditError::NotATable { .. })), "{text}");
    }
    let odd = set_switch("[sources.a]\nenabled = []\n", &source("a"), ENABLED, false);
    assert_eq!(odd.unwrap(), "[sources.a]\nenabled = false\n");
}
