//! The files of a base.

use std::fs;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::PathBuf;

use gatefold_core::Timestamp;
use gatefold_knowledge::{DocumentSummary, FileListing, Folder, plan};

struct Files(tempfile::TempDir);

impl Files {
    fn new(names: &[&str]) -> Self {
        let files = Self(tempfile::tempdir().unwrap());
        for name in names {
            files.write(name, "text");
        }
        files
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn list(&self, roots: &[&str], include: &[&str], exclude: &[&str]) -> FileListing {
        let texts = |texts: &[&str]| texts.iter().map(|one| (*one).to_owned()).collect::<Vec<_>>();
        let roots: Vec<_> = roots.iter().map(|root| self.path(root)).collect();
        Folder::new(&roots, &texts(include), &texts(exclude)).unwrap().list()
    }
}

fn names(listing: &FileListing) -> Vec<&str> {
    listing.files.iter().map(|file| &file.name[..]).collect()
}

#[test]
fn what_can_be_read_is_listed_and_what_is_hidden_is_not() {
    let files = Files::new(&[
        "k/a.md",
        "k/b/c.pdf",
        "k/b/README",
        "k/d.png",
        "k/.e.md",
        "k/.git/f.md",
        "k/CVS/g.md",
        "h.md",
    ]);
    let listing = files.list(&["k"], &[], &[]);
    assert_eq!(names(&listing), ["a.md", "b/README", "b/c.pdf"]);
    assert!(listing.unread.is_empty() && !listing.is_cut);
    assert_eq!(listing.files[0].read(100).unwrap(), b"text");
    assert_eq!(listing.files[0].read(1).unwrap().len(), 2);
}

#[test]
fn patterns_choose_among_the_files() {
    let files = Files::new(&["k/a.md", "k/b/c.md", "k/b/d.txt", "k/e.xyz", "k/drafts/f.md"]);
    for (include, exclude, expected) in [
        (&["*.md"][..], &[][..], &["a.md", "b/c.md", "drafts/f.md"][..]),
        (&["b/**"], &[], &["b/c.md", "b/d.txt"]),
        (&[], &["drafts", "*.txt"], &["a.md", "b/c.md"]),
        (&["**"], &[], &["a.md", "b/c.md", "b/d.txt", "drafts/f.md"]),
        (&["*.xyz"], &[], &["e.xyz"]),
        (&["*.md"], &["**/c.md", "drafts/"], &["a.md"]),
    ] {
        let listing = files.list(&["k"], include, exclude);
        assert_eq!(names(&listing), expected, "{include:?} {exclude:?}");
    }
}

#[test]
fn several_roots_have_names_of_their_own_and_a_root_may_be_a_file() {
    let files = Files::new(&["one/docs/a.md", "two/docs/a.md", "c.md"]);
    let listing = files.list(&["one/docs", "two/docs", "c.md"], &[], &[]);
    assert_eq!(names(&listing), ["c.md", "docs-2/a.md", "docs/a.md"]);
    for file in &listing.files {
        assert_eq!(file.read(100).unwrap(), b"text");
    }
    assert_eq!(names(&files.list(&["c.md"], &[], &[])), ["c.md"]);
}

#[test]
fn links_are_not_followed() {
    let files = Files::new(&["k/a.md", "secret/s.md"]);
    symlink(files.path("secret"), files.path("k/folder")).unwrap();
    symlink(files.path("secret/s.md"), files.path("k/file.md")).unwrap();
    symlink("..", files.path("k/up")).unwrap();
    symlink(files.path("k"), files.path("linked")).unwrap();
    assert_eq!(names(&files.list(&["k"], &[], &[])), ["a.md"]);
    // The root was configured: it may be a link.
    assert_eq!(names(&files.list(&["linked"], &[], &[])), ["a.md"]);
}

#[test]
fn a_file_that_becomes_a_link_after_it_was_listed_is_not_read() {
    let files = Files::new(&["k/a.md", "k/b/c.md", "secret/c.md"]);
    let listing = files.list(&["k"], &[], &[]);
    fs::remove_file(files.path("k/a.md")).unwrap();
    symlink(files.path("secret/c.md"), files.path("k/a.md")).unwrap();
    fs::remove_dir_all(files.path("k/b")).unwrap();
    symlink(files.path("secret"), files.path("k/b")).unwrap();
    for file in &listing.files {
        assert!(file.read(100).is_err(), "{}", file.name);
    }
}

#[test]
fn what_is_no_regular_file_is_no_document() {
    let files = Files::new(&["k/a.md"]);
    let _socket = UnixListener::bind(files.path("k/b.md")).unwrap();
    assert_eq!(names(&files.list(&["k"], &[], &[])), ["a.md"]);
}

fn summary(name: &str, bytes: u64, modified: Timestamp) -> DocumentSummary {
    DocumentSummary {
        name: name.to_owned(),
        title: String::new(),
        version: None,
        state: String::new(),
        reason: String::new(),
        digest: Vec::new(),
        bytes,
        chunks: 0,
        modified,
    }
}

#[test]
fn a_plan_names_what_is_new_changed_and_gone() {
    let files = Files::new(&["k/same.md", "k/longer.md", "k/later.md", "k/new.md"]);
    let listing = files.list(&["k"], &[], &[]);
    let modified = |name: &str| {
        listing.files.iter().find(|file| file.name == name).map(|file| file.modified).unwrap()
    };
    let known = [
        summary("same.md", 4, modified("same.md")),
        summary("longer.md", 3, modified("longer.md")),
        summary("later.md", 4, Timestamp::from_millis(1)),
        summary("gone.md", 4, Timestamp::from_millis(1)),
    ];
    let planned = plan(listing, &known);
    let changed: Vec<_> = planned.changed.iter().map(|file| &file.name[..]).collect();
    assert_eq!(changed, ["later.md", "longer.md", "new.md"]);
    assert_eq!(planned.removed, ["gone.md"]);
}

#[test]
fn nothing_is_gone_from_a_folder_that_cannot_be_read() {
    let files = Files::new(&["one/a.md"]);
    let listing = files.list(&["one", "unmounted"], &[], &[]);
    assert_eq!(names(&listing), ["one/a.md"]);
    let time = Timestamp::from_millis(1);
    let known = [summary("one/b.md", 1, time), summary("unmounted/c.md", 1, time)];
    assert_eq!(plan(listing, &known).removed, ["one/b.md"]);
}

#[test]
fn a_folder_that_is_deep_without_end_is_cut() {
    let files = Files::new(&[]);
    let deep = vec!["d"; 40].join("/");
    files.write(&format!("k/{deep}/a.md"), "text");
    files.write("k/b.md", "text");
    let listing = files.list(&["k"], &[], &[]);
    assert!(listing.is_cut);
    assert_eq!(names(&listing), ["b.md"]);
}
