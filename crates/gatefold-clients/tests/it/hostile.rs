//! Files that are broken, strange or malicious.

use gatefold_clients::{
    Client, EditError, Entry, FILE_BYTES, SERVERS, connect, disconnect, remove,
};
use proptest::prelude::*;

use crate::fixtures::{http, stdio, usual};

fn refusal(client: Client, text: &str) -> String {
    refusal_of(client, text, &stdio(), &[])
}

fn refusal_of(client: Client, text: &str, entry: &Entry, take_out: &[&str]) -> String {
    let take_out: Vec<_> = take_out.iter().map(|&name| name.to_owned()).collect();
    connect(&usual(client), Some(text), entry, &take_out).unwrap_err().to_string()
}

#[test]
fn a_broken_file_is_refused_with_its_place() {
    let cases = [
        (Client::Cursor, "{\n  \"mcpServers\": {\n", "line 2, column 17: unterminated object"),
        (Client::Cursor, "{ \"a\": 1 \"b\": 2 }", "line 1, column 9: expected comma"),
        (Client::Cursor, "{ 'a': 1 }", "line 1, column 3: single-quoted strings are not allowed"),
        (Client::Codex, "a = 1\nb = \n", "line 2, column 5: string values must be quoted"),
        (Client::Codex, "a = 1\na = 2\n", "line 2, column 1: duplicate key"),
        (Client::Goose, "a: [1\nb: }\n", "line 2, column "),
    ];
    for (client, text, expected) in cases {
        let refusal = refusal(client, text);
        assert!(refusal.starts_with(expected), "{refusal}");
        assert!(
            refusal.ends_with("\n  help: fix the file first; nothing was changed"),
            "{refusal}"
        );
    }
}

#[test]
fn a_key_that_is_there_twice_is_refused() {
    let json = refusal(Client::Cursor, "{\n  \"a\": {\"b\": 1, \"b\": 2}\n}");
    assert_eq!(json, "line 2, column 17: `b` is there twice\n  help: remove one of the two");
    let yaml = refusal(Client::Goose, "extensions:\n  a: {}\n  a: {}\n");
    assert!(yaml.contains("line 3, column 3"), "{yaml}");
}

#[test]
fn a_member_that_is_no_table_is_refused_with_its_path() {
    let no_table =
        |what: &str| format!("{what} is not a table of members\n  help: fix it or remove it");
    let cases = [
        (Client::Cursor, "[1]", "the file"),
        (Client::Cursor, "{\"mcpServers\": []}", "`mcpServers`"),
        (Client::Cursor, "{\"mcpServers\": null}", "`mcpServers`"),
        (Client::Codex, "mcp_servers = 3\n", "`mcp_servers`"),
        (Client::Codex, "[[mcp_servers]]\n", "`mcp_servers`"),
        (Client::Goose, "- a\n", "the file"),
        (Client::Goose, "extensions:\n- a\n", "`extensions`"),
        (Client::Goose, "extensions: none\n", "`extensions`"),
    ];
    for (client, text, what) in cases {
        assert_eq!(refusal(client, text), no_table(what));
    }
}

#[test]
fn what_is_too_large_or_too_deep_is_refused() {
    let large = " ".repeat(FILE_BYTES + 1);
    let deep = [
        (Client::Cursor, format!("{{\"a\":{}{}}}", "[".repeat(400), "]".repeat(400))),
        (Client::Cursor, "[".repeat(100_000)),
        (Client::Goose, format!("a: {}{}", "[".repeat(100), "]".repeat(100))),
        (Client::Codex, format!("a = {}{}", "[".repeat(70), "]".repeat(70))),
    ];
    for client in [Client::Cursor, Client::Codex, Client::Goose] {
        assert!(refusal(client, &large).starts_with("the file is larger than 4194304 bytes"));
    }
    for (client, text) in deep {
        let refusal = refusal(client, &text);
        assert!(refusal.starts_with("values are nested more than 64 deep"), "{refusal}");
    }
    // The parser has a limit of its own.
    let deeper = format!("a = {}{}", "[".repeat(5000), "]".repeat(5000));
    assert!(connect(&usual(Client::Codex), Some(&deeper), &stdio(), &[]).is_err());
}

#[test]
fn a_table_of_too_many_servers_is_refused() {
    let names = |count: usize| (0..count).map(|index| format!("s{index}"));
    let files = |count| {
        let json: Vec<_> = names(count).map(|name| format!("\"{name}\":{{}}")).collect();
        let toml: Vec<_> = names(count).map(|name| format!("[mcp_servers.{name}]\n")).collect();
        let yaml: Vec<_> = names(count).map(|name| format!("  {name}: {{}}\n")).collect();
        [
            (Client::Cursor, format!("{{\"mcpServers\":{{{}}}}}", json.join(","))),
            (Client::Codex, toml.concat()),
            (Client::Goose, format!("extensions:\n{}", yaml.concat())),
        ]
    };
    for (client, text) in files(SERVERS + 1) {
        assert!(refusal(client, &text).starts_with("the file lists more than 1000 servers"));
    }
    for (client, text) in files(SERVERS) {
        assert!(connect(&usual(client), Some(&text), &stdio(), &[]).is_ok());
    }
}

#[test]
fn impossible_names_are_refused() {
    let mut entry = stdio();
    for name in ["", "a b", "a.b", "\"", "é", &"x".repeat(65)] {
        name.clone_into(&mut entry.name);
        let refusal = refusal_of(Client::Cursor, "{}", &entry, &[]);
        assert!(refusal.starts_with(&format!("`{name}` cannot name a server")), "{refusal}");
    }
    let missing = refusal_of(Client::Cursor, "{}", &stdio(), &["gone"]);
    assert_eq!(missing, "there is no server `gone`");
}

#[test]
fn a_comment_in_the_table_that_was_made_is_not_lost() {
    let cases = [
        (Client::Cursor, "{\n  \"a\": 1\n}\n", "\"mcpServers\": {", "\"mcpServers\": { // mine"),
        (Client::Goose, "a: 1\n", "extensions:", "extensions: # mine"),
        (Client::Codex, "a = 1\n", "[mcp_servers.gatefold]", "# mine\n[mcp_servers.gatefold]"),
    ];
    for (client, text, ours, theirs) in cases {
        let file = usual(client);
        let change = connect(&file, Some(text), &stdio(), &[]).unwrap();
        let seen = change.text.replace(ours, theirs);
        assert_ne!(seen, change.text);
        let undone = disconnect(&file, &seen, &change.undo).unwrap();
        let now = undone.text.unwrap();
        assert!(now.contains("mine") && !undone.is_exact, "{now}");
        assert!(!now.contains("gatefold"), "{now}");
    }
}

#[test]
fn a_file_that_was_made_and_is_empty_again_goes_away() {
    for client in [Client::Cursor, Client::Codex, Client::Goose] {
        let file = usual(client);
        let change = connect(&file, None, &stdio(), &[]).unwrap();
        let seen = format!("{}\n\n", change.text);
        let undone = disconnect(&file, &seen, &change.undo).unwrap();
        assert_eq!(undone.text, None, "{client}");
    }
}

#[test]
fn a_client_that_takes_no_url_says_what_to_do() {
    assert_eq!(
        refusal_of(Client::ClaudeDesktop, "{}", &http(), &[]),
        "Claude Desktop starts its servers itself and takes no URL in this file\n  help: connect it over stdio"
    );
}

#[test]
fn a_server_that_others_refer_to_is_not_taken_out() {
    let text = "extensions:\n  a: &a\n    cmd: x\n  b: *a\n";
    let refusal = refusal_of(Client::Goose, text, &stdio(), &["a"]);
    assert!(refusal.contains("cannot be edited safely"), "{refusal}");
}

/// Takes `a` out of a table in braces and puts it back after the client changed the file.
#[test]
fn members_in_braces_come_and_go_on_one_line_or_several() {
    let cases = [
        (Client::Codex, "mcp_servers = { a = { url = \"u\" } }\n"),
        (Client::Codex, "mcp_servers = { b = {}, a.url = \"u\", a.enabled = true, c = {} }\n"),
        (Client::Codex, "mcp_servers = {\n  a = {}, # one, two\n  b = {}, # three\n}\nx = 1\n"),
        (Client::Codex, "mcp_servers = {\r\n  b = {}, # two\r\n  a = {},\r\n}\r\n"),
        (Client::Goose, "extensions: {a: {cmd: x}, b: {cmd: y}}\n"),
        (Client::Goose, "extensions: {b: {cmd: y}, a: {cmd: x},}\nrest: 1\n"),
        (Client::Goose, "extensions: {\n  b: {cmd: y}, # two\n  a: {cmd: x}\n  }\n"),
        (Client::Cursor, "{\"mcpServers\":{\"a\":{}, // one\n\"b\":{} /* two */ , }}"),
        (Client::Cursor, "{ \"mcpServers\": { // all\r\n\r\n\"b\": {},\r\n\r\n\"a\": {} } }\r\n"),
    ];
    for (client, text) in cases {
        let file = usual(client);
        let change = connect(&file, Some(text), &stdio(), &["a".to_owned()]).unwrap();
        for remark in ["all", "one", "two", "three"].iter().filter(|remark| text.contains(**remark))
        {
            assert!(change.text.contains(remark), "{text}\n{}", change.text);
        }
        let undone = disconnect(&file, &change.text, &change.undo).unwrap();
        assert_eq!(undone.text.as_deref(), Some(text));
        let seen = format!("{}\n", change.text);
        let undone = disconnect(&file, &seen, &change.undo).unwrap();
        assert_eq!(undone.not_restored, Vec::<String>::new(), "{seen}");
        let now = undone.text.unwrap();
        assert!(remove(&file, &now, "gatefold").is_err(), "{now}");
        assert!(remove(&file, &now, "a").is_ok(), "{now}");
    }
}

#[test]
fn several_yaml_documents_are_refused() {
    let refusal = refusal(Client::Goose, "a: 1\n---\nb: 2\n");
    assert!(refusal.contains("it holds several YAML documents"), "{refusal}");
}

#[test]
fn no_message_shows_a_value() {
    let secret = "not-a-real-secret";
    for (client, text) in [
        (Client::Cursor, format!("{{\"a\": \"{secret}\" \"b\": {secret}}}")),
        (Client::Codex, format!("a = {secret}\n")),
        (Client::Codex, format!("a = \"{secret}\" x\n")),
        (Client::Goose, format!("a: \"{secret}\n")),
        (Client::Goose, format!("a: *{secret}\n")),
    ] {
        let refusal = refusal(client, &text);
        assert!(!refusal.contains(secret), "{refusal}");
    }
    let text = format!("{{\"mcpServers\": {{\"a\": {{\"command\": \"{secret}\"}}}}}}");
    let change = connect(&usual(Client::Cursor), Some(&text), &stdio(), &["a".to_owned()]).unwrap();
    assert!(!format!("{:?}", change.undo).contains(secret));
}

/// White space and comments that may appear between JSON's tokens.
fn gap() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => Just(String::new()),
        3 => Just(" ".to_owned()),
        2 => Just("\n  ".to_owned()),
        1 => Just("\r\n\t".to_owned()),
        1 => Just(" // re, \"mark\" }\n".to_owned()),
        1 => Just("/* { */".to_owned()),
        1 => Just("/* two\nlines */ ".to_owned()),
        1 => Just("\n\n".to_owned()),
    ]
}

fn json_value() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("1.50".to_owned()),
        Just("null".to_owned()),
        Just("\"} // \\\" é\"".to_owned()),
        Just("[ ]".to_owned()),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![json_object(inner.clone(), 3), json_list(inner)]
    })
}

fn json_list(item: impl Strategy<Value = String>) -> impl Strategy<Value = String> {
    (prop::collection::vec((gap(), item, gap()), 1..3)).prop_map(|items| {
        let items: Vec<_> = items.into_iter().map(|(a, b, c)| format!("{a}{b}{c}")).collect();
        format!("[{}]", items.join(","))
    })
}

/// An object whose keys are `k0`, `k1` and so on, perhaps with a comma at the end.
fn json_object(item: impl Strategy<Value = String>, most: usize) -> impl Strategy<Value = String> {
    let member = (gap(), gap(), gap(), item, gap());
    (prop::collection::vec(member, 0..=most), gap(), any::<bool>()).prop_map(
        |(members, last, comma)| {
            let comma = if comma && !members.is_empty() { "," } else { "" };
            let members: Vec<_> = members
                .into_iter()
                .enumerate()
                .map(|(index, (a, b, c, value, d))| format!("{a}\"k{index}\"{b}:{c}{value}{d}"))
                .collect();
            format!("{{{}{comma}{last}}}", members.join(","))
        },
    )
}

/// A file with servers `k0`, `k1` and so on somewhere in it, and their maximum number.
fn json_file() -> impl Strategy<Value = String> {
    let servers = json_object(json_value(), 4);
    (gap(), gap(), json_value(), gap(), gap(), servers, gap(), json_value(), gap()).prop_map(
        |(a, b, first, c, d, servers, e, last, f)| {
            format!(
                "{a}{{{b}\"first\":{first},{c}\"mcpServers\":{d}{servers}{e},\"last\":{last}}}{f}"
            )
        },
    )
}

fn toml_file() -> impl Strategy<Value = String> {
    let line =
        prop_oneof![Just("\n"), Just("# remark [mcp_servers.x]\n"), Just("  \t\n"), Just("\r\n"),];
    let lines = prop::collection::vec(line, 0..3).prop_map(|lines| lines.concat());
    let server = prop_oneof![
        Just("[mcp_servers.NAME]\ncommand = \"x\" # why\n"),
        Just(
            "[mcp_servers.NAME]\nargs = [\n  \"[a]\", # b\n]\n[mcp_servers.NAME.env]\nA = '''\n[no]\n'''\n"
        ),
        Just("  [ mcp_servers . 'NAME' ]\r\n  url = \"u\"\r\n"),
        Just("[mcp_servers.NAME.tools.a]\nb = { c = 1 }\n[[mcp_servers.NAME.list]]\nd = 2\n"),
    ];
    let other = prop_oneof![Just("[other.NAME]\nx = 1\n"), Just("[[many]]\ny = \"=\"\n")];
    let block = (lines, prop_oneof![2 => server, 1 => other]);
    (prop::collection::vec(block, 0..6), any::<bool>()).prop_map(|(blocks, is_cut)| {
        let blocks = blocks.into_iter().enumerate();
        let text: String = blocks
            .map(|(index, (lines, block))| lines + &block.replace("NAME", &format!("k{index}")))
            .collect();
        let text = format!("top = 1\n{text}");
        if is_cut { text.trim_end().to_owned() } else { text }
    })
}

fn yaml_file() -> impl Strategy<Value = String> {
    let line = prop_oneof![
        Just("\n"),
        Just("# remark: x\n"),
        Just("      # deep\n"),
        Just("  # level\n"),
        Just("   \n"),
    ];
    let lines = prop::collection::vec(line, 0..3).prop_map(|lines| lines.concat());
    let server = prop_oneof![
        Just("  NAME:\n    cmd: x # why\n    args:\n    - a\n    - 'b: c'\n"),
        Just("  \"NAME\":\n      text: |\n        # no remark\n\n        é\n"),
        Just("  NAME: { cmd: x, args: [a,\n    b] }\n"),
        Just("  NAME: &aNAME\n    uri: \"http://x # y\"\n"),
        Just("  NAME:\n    description: >-\n      two\n      lines\n"),
    ];
    let blocks = prop::collection::vec((lines.clone(), server), 1..6);
    (lines.clone(), blocks, lines, any::<bool>(), any::<bool>()).prop_map(
        |(first, blocks, last, is_cut, is_middle)| {
            let blocks = blocks.into_iter().enumerate();
            let servers: String = blocks
                .map(|(index, (lines, block))| lines + &block.replace("NAME", &format!("k{index}")))
                .collect();
            let rest = if is_middle { "rest: [1, 2]\n" } else { "" };
            let text = format!("top: 1\n{first}extensions:\n{servers}{last}{rest}");
            if is_cut { text.trim_end().to_owned() } else { text }
        },
    )
}

/// Connects with some of `k0` to `k5` taken out and disconnects again, on the same file and on one
/// with one more comment.
fn there_and_back(client: Client, text: &str, mask: u8) -> Result<(), TestCaseError> {
    let file = usual(client);
    let names = (0..6).filter(|bit| mask & (1 << bit) != 0).map(|index| format!("k{index}"));
    let there = |name: &String| remove(&file, text, name).is_ok();
    let take_out: Vec<_> = names.filter(there).collect();
    let change = connect(&file, Some(text), &stdio(), &take_out)
        .map_err(|error| TestCaseError::fail(format!("{error}\n{text}")))?;
    let undone = disconnect(&file, &change.text, &change.undo).unwrap();
    prop_assert_eq!(undone.text.as_deref(), Some(text));
    let remark = if client == Client::Cursor { "\n// seen" } else { "\n# seen" };
    let seen = format!("{}{remark}", change.text);
    let undone = disconnect(&file, &seen, &change.undo).unwrap();
    prop_assert_eq!(undone.not_restored, Vec::<String>::new(), "{}\n{}", text, seen);
    let now = undone.text.unwrap();
    prop_assert!(remove(&file, &now, "gatefold").is_err());
    for name in &take_out {
        prop_assert!(remove(&file, &now, name).is_ok(), "{} is lost\n{}", name, now);
    }
    Ok(())
}

proptest! {
    #[test]
    fn any_json_survives_there_and_back(text in json_file(), mask in any::<u8>()) {
        there_and_back(Client::Cursor, &text, mask)?;
    }

    #[test]
    fn any_toml_survives_there_and_back(text in toml_file(), mask in any::<u8>()) {
        there_and_back(Client::Codex, &text, mask)?;
    }

    #[test]
    fn any_yaml_survives_there_and_back(text in yaml_file(), mask in any::<u8>()) {
        there_and_back(Client::Goose, &text, mask)?;
    }

    #[test]
    fn no_text_makes_it_panic(text in any_text(), other in any_text()) {
        for client in [Client::Cursor, Client::Codex, Client::Goose] {
            let file = usual(client);
            let _ = remove(&file, &text, "a");
            let Ok(change) = connect(&file, Some(&text), &stdio(), &[]) else { continue };
            let undone = disconnect(&file, &change.text, &change.undo).unwrap();
            prop_assert_eq!(undone.text.as_deref(), Some(text.as_str()));
            match disconnect(&file, &other, &change.undo) {
                Ok(_) | Err(EditError::Syntax { .. } | EditError::Duplicate { .. }) => {}
                Err(error) => prop_assert!(!error.to_string().is_empty()),
            }
        }
    }
}

/// Any characters, with likely ones more often.
fn any_text() -> impl Strategy<Value = String> {
    let token = prop_oneof![
        "[{}\\[\\]:,=\"'#&*!|>%@.\\- \t\r\n]",
        Just("mcpServers".to_owned()),
        Just("\"mcpServers\": {".to_owned()),
        Just("extensions:\n".to_owned()),
        Just("  a: b\n".to_owned()),
        Just("[mcp_servers]\n".to_owned()),
        Just("a = 1\n".to_owned()),
        Just("é\u{feff}".to_owned()),
        Just("---\n".to_owned()),
        "\\PC{0,3}",
    ];
    prop_oneof![".{0,40}", prop::collection::vec(token, 0..20).prop_map(|tokens| tokens.concat())]
}
