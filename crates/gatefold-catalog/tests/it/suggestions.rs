use std::path::Path;
use std::sync::Arc;

use gatefold_catalog::{GroupRules, KindName, Manifest, Snapshot, SourceEntry, ToolSpec, View};
use gatefold_core::{Domain, Hints, Timestamp, ToolName};
use serde_json::Value;

use crate::brute_force::{Comparable, nearest};

pub(crate) type Claim = (&'static str, fn(&Path));

pub(crate) const ALL: [Claim; 2] = [
    ("the_index_suggests_what_comparing_with_every_tool_does", |directory| {
        check(&view(directory, |_| true));
    }),
    ("hidden_tools_change_no_suggestion", |directory| {
        check(&view(directory, |place| place % 3 == 0));
    }),
];

/// One in how many tools is misspelt: comparing with every tool is slow.
const ONE_OF: usize = 31;

/// From this similarity on, suggestions by name come before those by meaning.
const MISSPELT: f64 = 0.75;

/// Misspells names, and compares the suggestions with what brute force finds.
fn check(view: &View) {
    let tools: Vec<_> = view.tools().map(Comparable::of).collect();
    let (mut asked, mut equal, mut first_equal) = (0, 0, 0);
    let mut differing = Vec::new();
    for (number, tool) in tools.iter().map(|one| one.tool).enumerate().step_by(ONE_OF) {
        for name in misspelt(tool.id().as_str(), number)
            .into_iter()
            .chain(misspelt(&tool.target().name, number))
        {
            let Err(miss) = view.resolve(&ToolName::parse(&name).unwrap()) else { continue };
            let (best, expected) = nearest(&tools, &name);
            if best < MISSPELT || expected.is_empty() {
                continue;
            }
            let found: Vec<_> = miss.nearest.iter().map(ToString::to_string).collect();
            asked += 1;
            first_equal += usize::from(found.first() == expected.first());
            if found.starts_with(&expected) {
                equal += 1;
            } else {
                differing.push(format!("{name}: {found:?} instead of {expected:?}"));
            }
        }
    }
    assert!(asked > 60, "{asked}");
    assert_eq!(first_equal, asked, "{differing:#?}");
    assert!(equal * 100 >= asked * 99, "{equal} of {asked}: {differing:#?}");
}

/// A name with one letter missing, with two swapped, and with two mistakes.
fn misspelt(name: &str, number: usize) -> [String; 3] {
    let letters: Vec<char> = name.chars().collect();
    let at = |number: usize| number % letters.len().saturating_sub(1).max(1);
    let without = |at: usize, letters: &[char]| -> Vec<char> {
        let kept = letters.iter().enumerate().filter(|(place, _)| *place != at);
        kept.map(|(_, letter)| *letter).collect()
    };
    let exchanged = |at: usize, letters: &[char]| -> Vec<char> {
        let mut letters = letters.to_vec();
        if at + 1 < letters.len() {
            letters.swap(at, at + 1);
        }
        letters
    };
    let [first, second] = [at(number * 7 + 3), at(number * 13 + 5)];
    let names = [
        without(first, &letters),
        exchanged(second, &letters),
        without(second, &exchanged(first, &letters)),
    ];
    names.map(|letters| letters.into_iter().collect())
}

/// A view of the tools at some places, of all sources in the directory.
pub(crate) fn view(directory: &Path, shows: fn(usize) -> bool) -> View {
    let mut files: Vec<_> = std::fs::read_dir(directory)
        .unwrap_or_else(|error| panic!("{}: {error}", directory.display()))
        .map(|file| file.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "json"))
        .filter(|path| !path.file_name().unwrap().to_string_lossy().starts_with('_'))
        .collect();
    files.sort();
    let entries = files.iter().map(|path| entry(path)).collect();
    let snapshot = Arc::new(Snapshot::build(entries, 1));
    let mut place = 0;
    View::new(snapshot, move |_| {
        place += 1;
        shows(place)
    })
}

fn entry(path: &Path) -> SourceEntry {
    let said: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    let mut builder = Manifest::builder(Timestamp::from_millis(0));
    for tool in said["tools"].as_array().unwrap() {
        let hints: Option<Hints> = serde_json::from_value(tool["annotations"].clone()).ok();
        let spec = ToolSpec::new(tool["name"].as_str().unwrap());
        let spec = spec.description(tool["description"].as_str().unwrap_or_default());
        builder = builder.tool(spec.hints(hints.unwrap_or_default()));
    }
    SourceEntry {
        domain: Domain::from_key(&path.file_stem().unwrap().to_string_lossy()),
        kind: KindName::new("mcp"),
        description: None,
        aliases: Vec::new(),
        groups: GroupRules::default(),
        manifest: Some(Arc::new(builder.build())),
    }
}
