use std::fs;

use serde_json::json;

use crate::claims::{Step, check_step, fresh};

claims! {
    "files";

    fn the_first_start_leaves_something_to_look_at() {
        list_directory {} => {"entries": [
            {"path": "README.md", "kind": "file"},
            {"path": "data", "kind": "directory", "size_bytes": 0},
            {"path": "notes", "kind": "directory"},
        ]};
        directory_tree {} => {
            "tree": "README.md\ndata/\n  budget.csv\n  rainfall.csv\nnotes/\n  meeting.md\n  todo.md\n",
            "files": 5,
            "directories": 2,
        };
        directory_tree {"path": "notes"} => {"tree": "meeting.md\ntodo.md\n"};
        get_file_info {"path": "data/rainfall.csv"} => {"kind": "file", "size_bytes": 84};
    }

    fn a_listing_is_paged() {
        list_directory {"limit": 2} => {"entries": [{"path": "README.md"}, {"path": "data"}], "next_offset": 2};
        list_directory {"limit": 2, "offset": 2} => {"entries": [{"path": "notes"}], "next_offset": null};
    }

    fn a_file_is_read_by_lines() {
        read_file {"path": "data/rainfall.csv", "first_line": 2, "max_lines": 2}
            => {"content": "2026-05,61\n2026-06,48\n", "total_lines": 7, "next_line": 4};
        read_file {"path": "data/rainfall.csv", "first_line": 7}
            => {"content": "2026-10,88\n", "next_line": null};
        read_file {"path": "data/rainfall.csv", "first_line": 8} => "has 7 lines; start further up";
        read_file {"path": "data"} => "`data` is not a file";
        read_file {"path": "data/none.csv"} => "there is no `data/none.csv`; list_directory";
        read_file {"path": "README.md/x"} => "goes through a file";
    }

    fn writing_replaces_and_appending_adds() {
        write_file {"path": "new/deep/a.txt", "content": "one\n"} => {"size_bytes": 4, "created": true};
        write_file {"path": "new/deep/a.txt", "content": "two\n"} => {"size_bytes": 4, "created": false};
        append_file {"path": "new/deep/a.txt", "content": "three"} => {"size_bytes": 9, "created": false};
        read_file {"path": "new/deep/a.txt"} => {"content": "two\nthree"};
        append_file {"path": "b.txt", "content": "first"} => {"size_bytes": 5, "created": true};
        read_file {"path": "b.txt"} => {"content": "first"};
        write_file {"path": "notes", "content": ""} => "`notes` is not a file";
        write_file {"path": ".", "content": ""} => "`.` is not a file";
    }

    fn an_edit_must_say_which_passage_it_means() {
        edit_file {"path": "notes/todo.md", "old_text": "- [ ] Order", "new_text": "- [x] Order"}
            => {"replacements": 1};
        edit_file {"path": "notes/todo.md", "old_text": "- [x]", "new_text": "*"}
            => "occurs 2 times in `notes/todo.md`; give more of the text around it";
        edit_file {"path": "notes/todo.md", "old_text": "- [x]", "new_text": "*", "replace_all": true}
            => {"replacements": 2};
        read_file {"path": "notes/todo.md", "first_line": 3, "max_lines": 2}
            => {"content": "* Water the tomatoes\n* Order new labels for the seed boxes\n"};
        edit_file {"path": "notes/todo.md", "old_text": "nowhere", "new_text": ""} => "does not occur";
    }

    fn a_search_looks_at_names_and_contents() {
        search_files {"query": "RAINFALL"} => {
            "matches": [
                {"path": "data/rainfall.csv", "text": "data/rainfall.csv"},
                {"path": "notes/todo.md", "line": 6},
            ],
            "files_searched": 5,
            "truncated": false,
        };
        search_files {"query": "2026", "limit": 2} => {
            "matches": [{"line": 2}, {"line": 3}],
            "truncated": true,
        };
        search_files {"query": "roof", "path": "notes"} => {"matches": [{"path": "notes/meeting.md", "line": 5}]};
    }

    fn directories_are_made_once() {
        create_directory {"path": "a/b"} => {"path": "a/b", "kind": "directory"};
        create_directory {"path": "a/b"} => {"path": "a/b", "kind": "directory"};
        create_directory {"path": "README.md"} => "`README.md` is not a directory";
        list_directory {"path": "a"} => {"entries": [{"path": "a/b"}]};
    }

    fn a_copy_leaves_the_source_and_a_move_does_not() {
        copy_file {"source": "data/budget.csv", "destination": "backup/budget.csv"} => {"path": "backup/budget.csv"};
        get_file_info {"path": "data/budget.csv"} => {"kind": "file"};
        copy_file {"source": "README.md", "destination": "backup/budget.csv"} => "exists already";
        move_file {"source": "notes", "destination": "backup/notes"} => {"kind": "directory"};
        list_directory {"path": "backup/notes"} => {"entries": [{}, {}]};
        get_file_info {"path": "notes"} => "there is no `notes`";
        move_file {"source": "backup", "destination": "backup/notes/backup"} => "lies inside";
        move_file {"source": ".", "destination": "elsewhere"} => "the scratch folder itself stays";
    }

    fn a_deleted_file_is_gone() {
        delete_file {"path": "README.md"} => {"deleted": "README.md"};
        delete_file {"path": "README.md"} => "there is no `README.md`";
        delete_file {"path": "notes"} => "the directory `notes` is not empty";
        delete_file {"path": "notes/todo.md"} => {};
        delete_file {"path": "notes/meeting.md"} => {};
        delete_file {"path": "notes"} => {"deleted": "notes"};
        delete_file {"path": ""} => "the scratch folder itself stays";
        directory_tree {} => {"tree": "data/\n  budget.csv\n  rainfall.csv\n"};
    }
}

#[tokio::test]
async fn no_path_leaves_the_folder() {
    let (server, scratch) = fresh(SERVER).await;
    fs::write(scratch.path().join("secret.txt"), "outside").unwrap();
    let hostile = [
        ("../secret.txt", "cannot leave the scratch folder"),
        ("notes/../../secret.txt", "cannot leave the scratch folder"),
        ("notes/..", "cannot leave the scratch folder"),
        ("/etc/passwd", "is absolute"),
        ("//etc/passwd", "is absolute"),
        ("~/secret.txt", "is absolute"),
        ("..\\secret.txt", "use plain names"),
        ("C:secret.txt", "use plain names"),
        ("notes/\0todo.md", "use plain names"),
        ("notes/a\nb", "use plain names"),
        (&"a/".repeat(13), "more than 12 parts"),
        (&"a".repeat(301), "more than 300 characters"),
    ];
    for (path, expected) in hostile {
        for (tool, arguments) in calls_with(path) {
            let expected = json!(expected);
            check_step(&server, &Step { tool, arguments, expected }).await;
        }
    }
    assert_eq!(fs::read_to_string(scratch.path().join("secret.txt")).unwrap(), "outside");
    assert_eq!(fs::read_dir(scratch.path()).unwrap().count(), 2);
}

#[cfg(unix)]
#[tokio::test]
async fn no_symbolic_link_is_followed() {
    use std::os::unix::fs::symlink;

    let (server, scratch) = fresh(SERVER).await;
    let outside = scratch.path().join("outside");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("secret.txt"), "secret").unwrap();
    let folder = scratch.path().join("files");
    symlink(&outside, folder.join("door")).unwrap();
    symlink(outside.join("secret.txt"), folder.join("window.txt")).unwrap();
    symlink(outside.join("nothing.txt"), folder.join("hole.txt")).unwrap();
    for path in ["door/secret.txt", "door/new.txt", "door", "window.txt", "hole.txt"] {
        for (tool, arguments) in calls_with(path) {
            let expected = json!("goes through the symbolic link");
            check_step(&server, &Step { tool, arguments, expected }).await;
        }
    }
    let unseen = Step {
        tool: "search_files",
        arguments: json!({ "query": "secret" }),
        expected: json!({ "matches": [], "files_searched": 5 }),
    };
    check_step(&server, &unseen).await;
    let names: Vec<_> =
        fs::read_dir(&outside).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["secret.txt"]);
    assert_eq!(fs::read_to_string(outside.join("secret.txt")).unwrap(), "secret");
}

#[tokio::test]
async fn a_file_has_a_largest_size() {
    let (server, scratch) = fresh(SERVER).await;
    let part = "x".repeat(60_000);
    for size in [60_000, 120_000, 180_000, 240_000] {
        let step = Step {
            tool: "append_file",
            arguments: json!({ "path": "big.txt", "content": part }),
            expected: json!({ "size_bytes": size }),
        };
        check_step(&server, &step).await;
    }
    let refused = [
        ("append_file", json!({ "path": "big.txt", "content": part }), "would have 300000 bytes"),
        (
            "edit_file",
            json!({ "path": "big.txt", "old_text": "x", "new_text": "yy", "replace_all": true }),
            "would have 480000 bytes",
        ),
        (
            "write_file",
            json!({ "path": "big.txt", "content": format!("{part}x") }),
            "must have 0 to 60000 characters, has 60001",
        ),
    ];
    for (tool, arguments, expected) in refused {
        let expected = json!(expected);
        check_step(&server, &Step { tool, arguments, expected }).await;
    }
    fs::write(scratch.path().join("files/huge.bin"), vec![0; 300_000]).unwrap();
    fs::write(scratch.path().join("files/odd.bin"), [0xff, 0xfe]).unwrap();
    for (path, expected) in [("huge.bin", "has 300000 bytes"), ("odd.bin", "is not UTF-8 text")] {
        let (arguments, expected) = (json!({ "path": path }), json!(expected));
        check_step(&server, &Step { tool: "read_file", arguments, expected }).await;
    }
}

/// A call of every tool that takes a path, with `path` in each place where one goes.
fn calls_with(path: &str) -> Vec<(&'static str, serde_json::Value)> {
    vec![
        ("list_directory", json!({ "path": path })),
        ("directory_tree", json!({ "path": path })),
        ("get_file_info", json!({ "path": path })),
        ("read_file", json!({ "path": path })),
        ("write_file", json!({ "path": path, "content": "x" })),
        ("append_file", json!({ "path": path, "content": "x" })),
        ("edit_file", json!({ "path": path, "old_text": "x", "new_text": "y" })),
        ("search_files", json!({ "path": path, "query": "x" })),
        ("create_directory", json!({ "path": path })),
        ("copy_file", json!({ "source": path, "destination": "copy" })),
        ("copy_file", json!({ "source": "README.md", "destination": path })),
        ("move_file", json!({ "source": path, "destination": "moved" })),
        ("move_file", json!({ "source": "README.md", "destination": path })),
        ("delete_file", json!({ "path": path })),
    ]
}
