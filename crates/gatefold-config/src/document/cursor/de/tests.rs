use std::path::Path;

use serde::Deserialize;

use super::*;
use crate::notation::tests::Machine;
use crate::{
    Count, Dialect, Document, FilePath, LimitedItems, LooseText, Pairs, Size, Text, Time,
    parse_toml,
};
use gatefold_located::{parse_json, parse_yaml};

/// One key of every kind.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Settings {
    name: Option<Text>,
    wait: Option<Time>,
    size: Option<Size>,
    count: Option<Count<u8>>,
    flag: bool,
    mode: Option<Mode>,
    dir: Option<FilePath>,
    names: Vec<Text>,
    words: Pairs<String, LooseText>,
    few: LimitedItems<Vec<LooseText>>,
    nested: Option<Nested>,
    tables: Vec<Nested>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Mode {
    Fast,
    Safe,
}

#[derive(Debug, Deserialize)]
#[expect(dead_code, reason = "what is read shows in its `Debug`")]
struct Nested {
    depth: Count<u32>,
    note: Option<String>,
}

/// Reads a text as `Settings`. Returns what was read and the faults, including absent variables.
fn read_text(name: &str, dialect: Dialect, text: &str) -> (Option<Settings>, String) {
    let machine = Machine::default();
    let document = Document::new(Path::new(name), text, &machine, dialect);
    let one = |fault| vec![fault];
    let root = match name.rsplit_once('.') {
        Some((_, "toml")) => parse_toml(text),
        Some((_, "json")) => parse_json(text).map_err(one),
        _ => parse_yaml(text).map_err(one),
    };
    let root = document.parsed(root).expect("it is readable");
    let read = document.field(String::new(), &root).read();
    let faults = document.take_faults();
    let faults: Vec<_> = faults.iter().map(ToString::to_string).collect();
    (read, faults.join("\n"))
}

#[test]
fn every_fault_is_found_in_one_reading_and_the_rest_is_read() {
    let text = r#"
name = ""
wait = "5 weeks"
size = 12
count = 300
flag = "yes"
mode = "slow"
naems = []
names = ["a", "", 3, "b"]
dir = "logs"
[words]
one = 1
two = [2]
three = true
[nested]
depth = 0
deep = 1
[[tables]]
depth = 2
[[tables]]
note = "no depth"
"#;
    let (read, faults) = read_text("conf/a.toml", Dialect::Gatefold, text);
    insta::assert_snapshot!(faults, @r###"
    conf/a.toml:2:8: `name` is empty
      help: give it a value, or remove the key
    conf/a.toml:3:8: `wait` is not a duration: "5 weeks"
      help: write a number and a unit: `ms`, `s`, `m`, `h` or `d`, such as "60s"
    conf/a.toml:4:8: `size` is a number, not a size
      help: write a number and a unit: `B`, `KiB`, `MiB`, `GiB`, `kB`, `MB` or `GB`, such as "4MiB"
    conf/a.toml:5:9: `count` is too large: 300
      help: write a smaller number
    conf/a.toml:6:8: `flag` is a string, not a boolean
      help: write `true` or `false`, without quotes
    conf/a.toml:7:8: `mode` is not one of its values: "slow"
      help: use "fast" or "safe"
    conf/a.toml:8:1: `naems` is not a known key
      help: did you mean `names`?
    conf/a.toml:9:15: `names[1]` is empty
      help: give it a value, or remove the key
    conf/a.toml:9:19: `names[2]` is a number, not a string
      help: put it in quotes
    conf/a.toml:13:7: `words.two` is a list, not a string
      help: write one string
    conf/a.toml:16:9: `nested.depth` is not a whole number above zero: 0
      help: write digits, such as 8
    conf/a.toml:17:1: `nested.deep` is not a known key
      help: use one of `depth`, `note`
    conf/a.toml:20:1: `tables[1]` has no `depth`
      help: add it
    "###);
    let read = read.unwrap();
    assert_eq!(read.names, [Text("a".into()), Text("b".into())]);
    assert_eq!(read.dir, Some(FilePath("/project/conf/logs".into())));
    let words: Vec<_> =
        read.words.0.iter().map(|(key, word)| format!("{key}={}", word.0)).collect();
    assert_eq!(words, ["one=1", "three=true"]);
    assert_eq!(read.tables.len(), 1);
    assert!(read.name.is_none() && read.nested.is_none());
}

#[test]
fn what_a_variable_gave_is_never_repeated() {
    let text = "wait = \"${API_KEY}\"\nmode = \"x${A}\"\nname = \"${NONE}\"\ndir = \"~/${A}\"\n";
    let (read, faults) = read_text("a.toml", Dialect::Gatefold, text);
    insta::assert_snapshot!(faults, @r###"
    a.toml:1:8: `wait` is not a duration once its variables are put in
      help: write a number and a unit: `ms`, `s`, `m`, `h` or `d`, such as "60s"
    a.toml:2:8: `mode` is not one of its values once its variables are put in
      help: use "fast" or "safe"
    a.toml:3:8: `name` needs the variable `NONE`, which is not set
      help: set `NONE`, or give a default: `${NONE:-...}`
    "###);
    assert_eq!(read.unwrap().dir, Some(FilePath("/home/ann/1".into())));
}

#[test]
fn formats_are_read_alike_and_null_counts_as_absent() {
    let json = r#"{"name": null, "count": 7, "words": {"a": null, "b": 1.50}, "mode": "safe"}"#;
    let yaml = "name: ~\ncount: 7\nwords: {a: , b: 1.50}\nmode: safe\n";
    for (name, text) in [("a.json", json), ("a.yaml", yaml)] {
        let (read, faults) = read_text(name, Dialect::Client, text);
        let read = read.unwrap();
        assert_eq!((faults.as_str(), read.count), ("", Some(Count(7))), "{name}");
        assert!(read.name.is_none() && matches!(read.mode, Some(Mode::Safe)));
        assert_eq!(read.words.0, [("b".to_owned(), LooseText("1.50".into()))]);
    }
}

#[test]
fn a_list_that_is_too_long_is_one_fault() {
    let text = format!("few = [{}]\n", "1,".repeat(crate::ITEM_LIMIT + 1));
    let (read, faults) = read_text("a.toml", Dialect::Gatefold, &text);
    assert_eq!(faults, "a.toml:1:1: `few` has more than 1024 entries\n  help: remove some");
    assert_eq!(read.unwrap().few.0.len(), crate::ITEM_LIMIT + 1);
}

#[test]
fn faults_have_a_limit() {
    let text = format!("names = [{}]\n", "1,".repeat(10_000));
    let (read, faults) = read_text("a.toml", Dialect::Gatefold, &text);
    assert_eq!((read.is_none(), faults.matches("is a number").count()), (true, FAULT_LIMIT));
}

#[test]
fn a_part_of_a_table_leaves_the_other_keys_to_others() {
    let (machine, text) = (Machine::default(), "depth = 3\nname = \"x\"\nelse = 1\n");
    let document = Document::new(Path::new("a.toml"), text, &machine, Dialect::Gatefold);
    let root = parse_toml(text).unwrap();
    let mut table = document.root(&root).unwrap();
    let nested: Nested = table.read().unwrap();
    assert_eq!(nested.depth, Count(3));
    assert_eq!(table.field("name").unwrap().read(), Some(Text("x".into())));
    table.finish();
    insta::assert_snapshot!(document.take_faults()[0], @r###"
    a.toml:3:1: `else` is not a known key
      help: use one of `depth`, `note`, `name`
    "###);
}

#[test]
fn the_same_types_read_other_formats() {
    let text = r#"{"wait": "90s", "size": "4KiB", "count": 8, "few": [1, true], "dir": "x"}"#;
    let read: Settings = serde_json::from_str(text).unwrap();
    assert_eq!((read.count, read.size), (Some(Count(8)), Some(Size(4096))));
    assert_eq!(read.few.0, [LooseText("1".into()), LooseText("true".into())]);
    let error = serde_json::from_str::<Settings>(r#"{"wait": "soon"}"#).unwrap_err();
    assert!(error.to_string().contains("a duration\n  help: write a number and a unit"), "{error}");
}
