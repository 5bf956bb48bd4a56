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
            {"path": "pictures", "kind": "directory"},
        ]};
        list_directory {"limit": 2} => {"entries": [{"path": "README.md"}, {"path": "data"}], "next_offset": 2};
        list_directory {"limit": 2, "offset": 2} => {"entries": [{"path": "notes"}, {}], "next_offset": null};
        read_picture {"path": "pictures/beds.png"} => {"path": "pictures/beds.png", "size_bytes": 114};
        read_picture {"path": "README.md"} => "`README.md` is not a PNG file";
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
        read_file {"path": "pictures/beds.png"} => "is not UTF-8 text";
    }

    fn writing_replaces() {
        write_file {"path": "new/deep/a.txt", "content": "one\n"} => {"size_bytes": 4, "created": true};
        write_file {"path": "new/deep/a.txt", "content": "two\n"} => {"size_bytes": 4, "created": false};
        read_file {"path": "new/deep/a.txt"} => {"content": "two\n"};
        write_file {"path": "notes", "content": ""} => "`notes` is not a file";
        write_file {"path": ".", "content": ""} => "`.` is not a file";
    }

    fn a_search_looks_at_names_and_contents() {
        search_files {"query": "RAINFALL"} => {
            "matches": [
                {"path": "data/rainfall.csv", "text": "data/rainfall.csv"},
                {"path": "notes/todo.md", "line": 6},
            ],
            "files_searched": 6,
            "truncated": false,
        };
        search_files {"query": "2026", "limit": 2} => {"matches": [{"line": 2}, {"line": 3}], "truncated": true};
        search_files {"query": "roof", "path": "notes"} => {"matches": [{"path": "notes/meeting.md", "line": 5}]};
    }

    fn a_move_leaves_nothing_at_the_source() {
        create_directory {"path": "a/b"} => {"path": "a/b", "kind": "directory"};
        create_directory {"path": "a/b"} => {"path": "a/b", "kind": "directory"};
        create_directory {"path": "README.md"} => "`README.md` is not a directory";
        move_file {"source": "notes", "destination": "a/notes"} => {"kind": "directory"};
        list_directory {"path": "a/notes"} => {"entries": [{}, {}]};
        list_directory {"path": "notes"} => "there is no `notes`";
        move_file {"source": "README.md", "destination": "data/budget.csv"} => "exists already";
        move_file {"source": "a", "destination": "a/notes/a"} => "lies inside";
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
    }
}

#[tokio::test]
async fn no_path_leaves_the_folder() {
    let (server, scratch) = fresh(SERVER).await;
    fs::write(scratch.path().join("secret.txt"), "outside").unwrap();
    let hostile = [
        ("../secret.txt", "could leave the scratch folder"),
        ("notes/../../secret.txt", "could leave the scratch folder"),
        ("notes/..", "could leave the scratch folder"),
        ("/etc/passwd", "is absolute"),
        ("//etc/passwd", "is absolute"),
        ("~/secret.txt", "is absolute"),
        ("..\\secret.txt", "give plain names"),
        ("C:secret.txt", "give plain names"),
        ("notes/\0todo.md", "holds the control character"),
        ("notes/a\nb", "give plain names"),
        (&"a/".repeat(13), "more than 12 parts"),
        (&"a".repeat(301), "must have 0 to 300 characters"),
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
        expected: json!({ "matches": [], "files_searched": 6 }),
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
    fs::write(scratch.path().join("files/huge.txt"), vec![b'x'; 300_000]).unwrap();
    let refused = [
        ("read_file", json!({ "path": "huge.txt" }), "has 300000 bytes, more than 262144"),
        (
            "write_file",
            json!({ "path": "big.txt", "content": "x".repeat(60_001) }),
            "must have 0 to 60000 characters, has 60001",
        ),
    ];
    for (tool, arguments, expected) in refused {
        let expected = json!(expected);
        check_step(&server, &Step { tool, arguments, expected }).await;
    }
}

/// A call of every tool that takes a path, with `path` in each place where one goes.
fn calls_with(path: &str) -> Vec<(&'static str, serde_json::Value)> {
    vec![
        ("list_directory", json!({ "path": path })),
        ("read_file", json!({ "path": path })),
        ("read_picture", json!({ "path": path })),
        ("write_file", json!({ "path": path, "content": "x" })),
        ("search_files", json!({ "path": path, "query": "x" })),
        ("create_directory", json!({ "path": path })),
        ("move_file", json!({ "source": path, "destination": "moved" })),
        ("move_file", json!({ "source": "README.md", "destination": path })),
        ("delete_file", json!({ "path": path })),
    ]
}
