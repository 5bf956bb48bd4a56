use gatefold_builtin::{FolderSettings, FolderWrites, PathResolution, Toolbox};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::fixture::{answer, said, toolbox_with};

/// A folder with a few files, and the tools for it.
struct Workspace {
    folder: TempDir,
    tools: Toolbox,
}

impl Workspace {
    fn new(writes: FolderWrites) -> Self {
        let folder = TempDir::new().unwrap();
        let path = folder.path().to_owned();
        std::fs::create_dir_all(path.join("docs/deep")).unwrap();
        std::fs::create_dir_all(path.join(".git")).unwrap();
        std::fs::write(path.join("a.txt"), "one\ntwo\nthree\n").unwrap();
        std::fs::write(path.join("docs/b.md"), "# Two\nno end").unwrap();
        std::fs::write(path.join("docs/deep/c.md"), "two again\n").unwrap();
        std::fs::write(path.join(".git/config"), "two\n").unwrap();
        std::fs::write(path.join("data.bin"), b"two\0\xff").unwrap();
        let settings = FolderSettings { path, writes, resolution: PathResolution::default() };
        Self { folder, tools: toolbox_with(|own| own.folder = Some(settings)) }
    }

    async fn check(&self, tool: &str, arguments: Value, text: &str) {
        assert_eq!(said(&self.tools, tool, &arguments).await, text, "{tool} {arguments}");
    }

    fn text(&self, path: &str) -> String {
        std::fs::read_to_string(self.folder.path().join(path)).unwrap()
    }
}

#[tokio::test]
async fn a_file_is_read_whole_or_by_lines() {
    let own = Workspace::new(FolderWrites::Refuse);
    own.check("read_file", json!({ "path": "a.txt" }), "one\ntwo\nthree\n").await;
    own.check("read_file", json!({ "path": "./docs//b.md" }), "# Two\nno end").await;
    own.check(
        "read_file",
        json!({ "path": "a.txt", "start_line": 2, "lines": 1 }),
        "two\n[3 lines in all; go on with start_line=3]",
    )
    .await;
    let arguments = json!({ "path": "a.txt", "start_line": 2, "lines": 1 });
    assert_eq!(
        answer(&own.tools, "read_file", &arguments).await.unwrap().structured,
        json!({
            "path": "a.txt", "text": "two\n", "start_line": 2, "total_lines": 3, "next_line": 3,
            "size": 14,
        })
    );
    for (arguments, error) in [
        (json!({ "path": "a.txt", "start_line": 4 }), "`a.txt` has only 3 lines"),
        (json!({ "path": "docs" }), "`docs` is a folder"),
        (json!({ "path": "" }), "`.` is a folder"),
        (json!({ "path": "x.txt" }), "`x.txt` does not exist"),
        (json!({ "path": "a.txt/b" }), "`a.txt/b` is no folder, or leads through a file"),
        (
            json!({ "path": "data.bin" }),
            "`data.bin` is no text: it has 5 bytes and a zero among them",
        ),
    ] {
        own.check("read_file", arguments, &format!("error: {error}")).await;
    }
}

#[tokio::test]
async fn a_long_file_is_read_in_pieces_that_lose_nothing() {
    let own = Workspace::new(FolderWrites::Refuse);
    let lines: Vec<_> = (1..=12_000).map(|number| format!("line {number} of many")).collect();
    let whole = lines.join("\n") + "\n";
    std::fs::write(own.folder.path().join("long.txt"), &whole).unwrap();
    let (mut read, mut next, mut calls) = (String::new(), 1, 0);
    loop {
        let arguments = json!({ "path": "long.txt", "start_line": next, "lines": 5000 });
        let answer = answer(&own.tools, "read_file", &arguments).await.unwrap().structured;
        read.push_str(answer["text"].as_str().unwrap());
        calls += 1;
        match answer["next_line"].as_u64() {
            Some(line) => next = line,
            None => break,
        }
    }
    assert_eq!((read == whole, calls), (true, 3));
}

#[tokio::test]
async fn a_folder_is_listed_in_pages() {
    let own = Workspace::new(FolderWrites::Refuse);
    own.check("list_files", json!({}), ".git/\na.txt\t14\ndata.bin\t5\ndocs/").await;
    own.check(
        "list_files",
        json!({ "max_results": 2 }),
        ".git/\na.txt\t14\n[there are more; go on with after=\"a.txt\"]",
    )
    .await;
    own.check("list_files", json!({ "after": "a.txt" }), "data.bin\t5\ndocs/").await;
    own.check("list_files", json!({ "path": "docs/deep/" }), "c.md\t10").await;
    own.check(
        "list_files",
        json!({ "path": "a.txt" }),
        "error: `a.txt` is no folder, or leads through a file",
    )
    .await;
}

#[tokio::test]
async fn files_are_found_by_their_names_and_paths() {
    let own = Workspace::new(FolderWrites::Refuse);
    for (pattern, path, found) in [
        ("*.md", "", "docs/b.md\ndocs/deep/c.md"),
        ("docs/*.md", "", "docs/b.md"),
        ("docs/**/*.md", "", "docs/b.md\ndocs/deep/c.md"),
        ("?.md", "docs/deep", "docs/deep/c.md"),
        ("**", "docs", "docs/b.md\ndocs/deep/c.md"),
        ("config", "", "no file matches"),
        ("config", ".git", ".git/config"),
        ("*.(md|txt)", "", "no file matches"),
    ] {
        own.check("find_files", json!({ "pattern": pattern, "path": path }), found).await;
    }
    own.check(
        "find_files",
        json!({ "pattern": "*", "max_results": 1 }),
        "a.txt\n[there are more; narrow the search, or raise max_results]",
    )
    .await;
}

#[tokio::test]
async fn lines_are_found_in_files() {
    let own = Workspace::new(FolderWrites::Refuse);
    own.check(
        "search_files",
        json!({ "pattern": "(?i)^(# )?two" }),
        "a.txt:2: two\ndocs/b.md:1: # Two\ndocs/deep/c.md:1: two again",
    )
    .await;
    own.check(
        "search_files",
        json!({ "pattern": "two", "files": "*.md" }),
        "docs/deep/c.md:1: two again",
    )
    .await;
    own.check("search_files", json!({ "pattern": "two", "path": "a.txt" }), "a.txt:2: two").await;
    let arguments = json!({ "pattern": "nowhere" });
    assert_eq!(
        answer(&own.tools, "search_files", &arguments).await.unwrap().structured,
        json!({ "matches": [], "files_searched": 3, "files_left_out": 1, "complete": true })
    );
}

#[tokio::test]
async fn a_file_is_written_whole_and_replaced_only_on_demand() {
    let own = Workspace::new(FolderWrites::Allow);
    own.check(
        "write_file",
        json!({ "path": "new/deep/x.txt", "content": "né" }),
        "created `new/deep/x.txt`, 3 bytes",
    )
    .await;
    assert_eq!(own.text("new/deep/x.txt"), "né");
    let write = |overwrite| json!({ "path": "a.txt", "content": "1", "overwrite": overwrite });
    own.check(
        "write_file",
        write(false),
        "error: `a.txt` exists already; set `overwrite`, or change a part of it instead",
    )
    .await;
    assert_eq!(own.text("a.txt"), "one\ntwo\nthree\n");
    own.check("write_file", write(true), "replaced `a.txt`, 1 bytes").await;
    assert_eq!(own.text("a.txt"), "1");
    let left: Vec<_> = std::fs::read_dir(own.folder.path()).unwrap().collect();
    assert_eq!(left.len(), 5, "{left:?}");
    for (path, error) in [
        ("docs", "`docs` is a folder"),
        ("", "`.` is a folder"),
        ("a.txt/b", "`a.txt` is no folder, or leads through a file"),
        (".gatefold-1", "`.gatefold-1` begins with `.gatefold-`, which is kept free"),
    ] {
        let arguments = json!({ "path": path, "content": "", "overwrite": true });
        let text = said(&own.tools, "write_file", &arguments).await;
        assert!(
            text.starts_with("error: ") && text.contains(&error[error.find(' ').unwrap()..]),
            "{path}: {text}"
        );
    }
}

#[tokio::test]
async fn a_replaced_file_keeps_its_rights() {
    use std::os::unix::fs::PermissionsExt as _;
    let own = Workspace::new(FolderWrites::Allow);
    let path = own.folder.path().join("a.txt");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o750)).unwrap();
    let edits = json!([{ "old": "two", "new": "2" }]);
    own.check(
        "patch_file",
        json!({ "path": "a.txt", "edits": edits }),
        "changed `a.txt` in 1 place",
    )
    .await;
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o750);
}

#[tokio::test]
async fn a_change_is_made_whole_or_not_at_all() {
    let own = Workspace::new(FolderWrites::Allow);
    let patch = |edits: Value| json!({ "path": "a.txt", "edits": edits });
    own.check(
        "patch_file",
        patch(
            json!([{ "old": "one\ntwo", "new": "1\n2" }, { "old": "e", "new": "E", "all": true }]),
        ),
        "changed `a.txt` in 3 places",
    )
    .await;
    assert_eq!(own.text("a.txt"), "1\n2\nthrEE\n");
    for (edits, error) in [
        (
            json!([{ "old": "1", "new": "x" }, { "old": "four", "new": "" }]),
            "edit 2: `old` is not in the file; it has to match to the letter; nothing was changed",
        ),
        (
            json!([{ "old": "E", "new": "x" }]),
            "edit 1: `old` is in the file 2 times; write more of what is around it, or `all`; nothing \
             was changed",
        ),
        (json!([{ "old": "", "new": "x" }]), "edit 1: `old` is empty; nothing was changed"),
        (json!([]), "`edits` has to have 1 to 100 items"),
        (
            json!([{ "old": "E", "new": "x".repeat(2_000_000), "all": true }]),
            "edit 1: the file would have more than 2097152 bytes; nothing was changed",
        ),
    ] {
        own.check("patch_file", patch(edits), &format!("error: {error}")).await;
    }
    assert_eq!(own.text("a.txt"), "1\n2\nthrEE\n");
}

#[tokio::test]
async fn a_folder_that_is_only_read_offers_no_tools_that_write() {
    let own = Workspace::new(FolderWrites::Refuse);
    for tool in ["write_file", "patch_file"] {
        own.check(tool, json!({}), "error: there is no such tool").await;
    }
}

#[tokio::test]
async fn hostile_patterns_end_soon() {
    let own = Workspace::new(FolderWrites::Refuse);
    let long = "a".repeat(200_000);
    std::fs::write(own.folder.path().join("long.txt"), &long).unwrap();
    for (tool, arguments) in [
        ("search_files", json!({ "pattern": "(a*)*b" })),
        ("search_files", json!({ "pattern": "((a{100}){100}){100}" })),
        ("find_files", json!({ "pattern": "*".repeat(300) })),
        ("find_files", json!({ "pattern": "**/".repeat(100) })),
        ("find_files", json!({ "pattern": "*".repeat(301) })),
        ("find_files", json!({ "pattern": "" })),
    ] {
        let start = std::time::Instant::now();
        said(&own.tools, tool, &arguments).await;
        assert!(start.elapsed().as_secs() < 4, "{tool} {arguments}: {:?}", start.elapsed());
    }
}
