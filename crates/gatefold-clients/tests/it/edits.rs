//! Connecting and disconnecting, in every file.

use gatefold_clients::{
    Change, Client, ConfigFile, Entry, Format, Undo, connect, disconnect, remove, repeat, restore,
};

use crate::fixtures::{all, as_listed, entries, servers, stdio, usual, value, without};

/// None, each one, all of the servers.
fn choices(names: &[String]) -> Vec<Vec<String>> {
    let mut choices = vec![Vec::new()];
    choices.extend(names.iter().map(|name| vec![name.clone()]));
    choices.push(names.to_vec());
    choices
}

/// Connects in every way that the client allows and passes on the file before and the change.
fn every_change(mut each: impl FnMut(&str, &ConfigFile, Option<&str>, &Entry, Change)) {
    for fixture in all() {
        let known = servers(&value(fixture.file.format, &fixture.text), &fixture.file);
        let names: Vec<_> = known.keys().cloned().collect();
        for entry in entries(fixture.file.client) {
            for take_out in choices(&names) {
                let at = format!("{} {:?} without {take_out:?}", fixture.name, entry.launch);
                let change = connect(&fixture.file, Some(&fixture.text), &entry, &take_out);
                let change = change.unwrap_or_else(|error| panic!("{at}: {error}"));
                each(&at, &fixture.file, Some(&fixture.text), &entry, change);
            }
        }
    }
    for client in Client::ALL {
        for entry in entries(client) {
            let file = usual(client);
            for text in [None, Some(""), Some("\n")] {
                let at = format!("{client} from {text:?}");
                let change = connect(&file, text, &entry, &[]);
                let change = change.unwrap_or_else(|error| panic!("{at}: {error}"));
                each(&at, &file, text, &entry, change);
            }
        }
    }
}

#[test]
fn connecting_adds_the_entry_and_changes_no_other_value() {
    every_change(|at, file, before, entry, change| {
        let before = value(file.format, before.unwrap_or_default());
        let after = value(file.format, &change.text);
        let taken: Vec<_> = change.undo.taken().map(str::to_owned).collect();
        let ours = [entry.name.clone()];
        assert!(servers(&after, file).contains_key(&entry.name), "{at}\n{}", change.text);
        assert_eq!(
            without(&before, &file.servers, &taken),
            without(&after, &file.servers, &ours),
            "{at}\n{}",
            change.text
        );
    });
}

#[test]
fn connecting_only_adds_lines_when_nothing_is_taken_out() {
    every_change(|at, _, before, _, change| {
        let before = before.unwrap_or_default();
        if change.undo.taken().count() > 0 || before.lines().count() < 3 {
            return;
        }
        let diff = similar::TextDiff::from_lines(before, &change.text);
        let gone = diff.iter_all_changes().filter(|line| line.tag() == similar::ChangeTag::Delete);
        // One line may gain a comma or lose its braces.
        assert!(gone.count() <= 1, "{at}\n{}", change.text);
    });
}

#[test]
fn disconnecting_gives_back_the_bytes() {
    every_change(|at, file, before, _, change| {
        let undone = disconnect(file, &change.text, &change.undo).unwrap();
        assert_eq!(undone.text.as_deref(), before, "{at}");
        assert!(undone.is_exact && undone.not_restored.is_empty(), "{at}");
    });
}

#[test]
fn a_connection_can_be_made_again_on_the_same_text_or_another() {
    every_change(|at, file, before, entry, change| {
        let again = repeat(file, before, &change.undo).unwrap();
        let same = value(file.format, &again.text) == value(file.format, &change.text);
        assert!(same, "{at}\n{}", again.text);
        assert!(again.undo.is_in(file, &again.text).unwrap(), "{at}");
        assert_eq!(disconnect(file, &again.text, &again.undo).unwrap().text.as_deref(), before);
        // If none of the servers exists, only the entry goes in.
        let alone = repeat(file, None, &change.undo).unwrap();
        let known = servers(&value(file.format, &alone.text), file);
        assert_eq!(known.keys().collect::<Vec<_>>(), [&entry.name], "{at}\n{}", alone.text);
    });
}

#[test]
fn an_entry_that_says_something_else_is_not_ours() {
    every_change(|at, file, _, entry, change| {
        assert!(change.undo.is_in(file, &change.text).unwrap(), "{at}");
        let seen = REWRITES[0].1(file, &change.text).unwrap();
        assert!(change.undo.is_in(file, &seen).unwrap(), "{at}");
        let without = remove(file, &change.text, &entry.name).unwrap();
        assert!(!change.undo.is_in(file, &without).unwrap(), "{at}");
        let other = seen.replace("gatefold\"", "other\"").replace("8137", "8138");
        let other = other.replace("/bin/gatefold", "/bin/other").replace("cmd: gatefold", "cmd: x");
        let other = other.replace("command: gatefold", "command: x");
        assert!(!change.undo.is_in(file, &other).unwrap(), "{at}\n{other}");
    });
}

#[test]
fn restoring_leaves_the_entry_alone() {
    every_change(|at, file, before, entry, change| {
        let restored = restore(file, &change.text, &change.undo).unwrap();
        let now = value(file.format, &restored.text.unwrap());
        assert!(servers(&now, file).contains_key(&entry.name), "{at}");
        let was = servers(&value(file.format, before.unwrap_or_default()), file);
        assert_eq!(servers(&now, file).len(), was.len() + 1, "{at}");
    });
}

#[test]
fn an_undo_survives_being_kept_as_json() {
    every_change(|at, file, before, _, change| {
        let kept = serde_json::to_string(&change.undo).unwrap();
        let undo: Undo = serde_json::from_str(&kept).unwrap();
        assert_eq!(disconnect(file, &change.text, &undo).unwrap().text.as_deref(), before, "{at}");
    });
}

/// What a client may do to its file in between; `None` if it does not apply.
type Rewrite = fn(&ConfigFile, &str) -> Option<String>;

const REWRITES: [(&str, Rewrite); 3] = [
    ("a comment at the end", |file, text| {
        let line = if text.ends_with('\n') { "" } else { "\n" };
        Some(match file.format {
            Format::Json => format!("{text}{line}// seen\n"),
            // After the end of a YAML document, a comment is still a comment.
            _ => format!("{text}{line}# seen\n"),
        })
    }),
    ("another member", |file, text| match file.format {
        Format::Json => {
            let open = text.find("\n{").map_or_else(|| text.find('{'), |at| Some(at + 1))?;
            Some(format!("{}\"zzz\": [1.50],{}", &text[..=open], &text[open + 1..]))
        }
        Format::Toml => Some(format!("zzz = [1.50]\n{text}")),
        Format::Yaml => {
            let at = text.find("extensions:").or_else(|| text.find("mcpServers:"))?;
            Some(format!("{}zzz: [1.50]\n{}", &text[..at], &text[at..]))
        }
    }),
    ("written anew", |file, text| {
        let value = value(file.format, text);
        match file.format {
            Format::Json => serde_json::to_string_pretty(&value).ok(),
            Format::Toml => {
                let value: toml::Table = toml::from_str(text).unwrap();
                toml::to_string_pretty(&value).ok()
            }
            Format::Yaml => {
                // The number type of `serde_json` exposes its internals to other formats.
                let text = serde_saphyr::to_string(&as_listed(file, value)).ok()?;
                let inside = "\"$serde_json::private::Number\": \"";
                let lines = text.lines().map(|line| match line.trim().strip_prefix(inside) {
                    Some(number) => format!(" {}", number.trim_end_matches('"')),
                    None => format!("\n{line}"),
                });
                Some(format!("{}\n", lines.collect::<String>().trim_start()))
            }
        }
    }),
];

#[test]
fn what_a_client_wrote_since_stays_when_disconnecting() {
    every_change(|at, file, before, entry, change| {
        for (what, rewrite) in REWRITES {
            let Some(rewritten) = rewrite(file, &change.text) else { continue };
            let at = format!("{at}, {what}");
            let undone = disconnect(file, &rewritten, &change.undo);
            let undone = undone.unwrap_or_else(|error| panic!("{at}: {error}\n{rewritten}"));
            let now = undone.text.unwrap_or_default();
            if at.contains("goose/odd.yaml") && what == "written anew" {
                // Two servers use an anchor that is gone.
                let lost = |name: &&str| ["notes", "hook"].contains(name);
                let lost: Vec<_> = change.undo.taken().filter(lost).collect();
                assert_eq!(undone.not_restored, lost, "{at}");
                continue;
            }
            assert_eq!(undone.not_restored, Vec::<String>::new(), "{at}\n{rewritten}");
            // The rewritten file's other members, with the servers of the first one.
            let known = servers(&value(file.format, before.unwrap_or_default()), file);
            let now_value = value(file.format, &now);
            assert_eq!(servers(&now_value, file), known, "{at}\n{rewritten}\n---\n{now}");
            let names: Vec<_> = known.keys().chain([&entry.name]).cloned().collect();
            assert_eq!(
                without(&value(file.format, &rewritten), &file.servers, &names),
                without(&now_value, &file.servers, &names),
                "{at}\n{now}"
            );
        }
    });
}

#[test]
fn a_change_elsewhere_is_the_only_difference_after_disconnecting() {
    for fixture in all() {
        for entry in entries(fixture.file.client) {
            let change = connect(&fixture.file, Some(&fixture.text), &entry, &[]).unwrap();
            let (_, rewrite) = REWRITES[0];
            let seen = rewrite(&fixture.file, &change.text).unwrap();
            let undone = disconnect(&fixture.file, &seen, &change.undo).unwrap();
            let mut expected = rewrite(&fixture.file, &fixture.text).unwrap();
            if fixture.name == "codex/dotted.toml" {
                // Nobody can know any more whether the blank line above a comment was ours.
                expected = expected.replace("\n# seen", "\n\n# seen");
            }
            let now = undone.text.unwrap();
            let diff = similar::TextDiff::from_lines(&expected, &now);
            assert!(now == expected, "{}\n{}", fixture.name, diff.unified_diff());
        }
    }
}

#[test]
fn a_server_that_came_back_is_kept_as_it_is_and_reported() {
    for fixture in all() {
        let known = servers(&value(fixture.file.format, &fixture.text), &fixture.file);
        let Some(name) = known.keys().next() else { continue };
        let change =
            connect(&fixture.file, Some(&fixture.text), &stdio(), std::slice::from_ref(name))
                .unwrap();
        let Ok(again) = connect(
            &fixture.file,
            Some(&change.text),
            &Entry { name: name.clone(), ..stdio() },
            &[],
        ) else {
            continue;
        };
        let undone = disconnect(&fixture.file, &again.text, &change.undo).unwrap();
        assert_eq!(undone.not_restored, std::slice::from_ref(name), "{}", fixture.name);
        let now = servers(&value(fixture.file.format, &undone.text.unwrap()), &fixture.file);
        assert_eq!(
            now[name],
            servers(&value(fixture.file.format, &again.text), &fixture.file)[name]
        );
        assert_eq!(now.len(), known.len());
    }
}

#[test]
fn an_entry_made_by_hand_can_be_removed() {
    for fixture in all() {
        let format = fixture.file.format;
        let before = value(format, &fixture.text);
        for name in servers(&before, &fixture.file).keys() {
            let now = remove(&fixture.file, &fixture.text, name).unwrap();
            assert_eq!(
                without(&before, &fixture.file.servers, std::slice::from_ref(name)),
                without(&value(format, &now), &fixture.file.servers, &[]),
                "{} without {name}\n{now}",
                fixture.name
            );
        }
    }
}

#[test]
fn a_server_of_the_entrys_name_is_replaced_only_when_it_is_taken_out() {
    for fixture in all() {
        let known = servers(&value(fixture.file.format, &fixture.text), &fixture.file);
        let legal = |name: &&String| !name.contains(' ');
        let Some(name) = known.keys().find(legal) else { continue };
        let entry = Entry { name: name.clone(), ..stdio() };
        let refused = connect(&fixture.file, Some(&fixture.text), &entry, &[]).unwrap_err();
        assert!(refused.to_string().starts_with(&format!("there is already a server `{name}`")));
        let all: Vec<_> = known.keys().cloned().collect();
        let change = connect(&fixture.file, Some(&fixture.text), &entry, &all);
        let change = change.unwrap_or_else(|error| panic!("{}: {error}", fixture.name));
        let seen = REWRITES[0].1(&fixture.file, &change.text).unwrap();
        let undone = disconnect(&fixture.file, &seen, &change.undo).unwrap();
        assert_eq!(undone.not_restored, Vec::<String>::new(), "{}\n{seen}", fixture.name);
        let now = value(fixture.file.format, &undone.text.unwrap());
        assert_eq!(servers(&now, &fixture.file), known, "{}", fixture.name);
    }
}
