//! A second process that swaps what is in the folder, as fast as it can.

use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use gatefold_builtin::PathResolution;
use rustix::fs::{CWD, FileType, Mode, RenameFlags, mknodat, renameat_with};
use serde_json::json;

use crate::yard::{WRITTEN, Yard};

/// The first argument of the second process.
pub(crate) const RACER: &str = "race";

/// How many rounds are made at least, and for how long until the race was lost and won once each.
const ROUNDS: usize = 150;
const PATIENCE: Duration = Duration::from_secs(30);

/// Swaps two names until it is killed.
pub(crate) fn race(one: &str, other: &str) -> ! {
    loop {
        let swapped = renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE);
        if swapped.is_err() {
            // What writes a file may have taken one of the names away for good.
            std::process::exit(3);
        }
    }
}

/// The second process. It ends with the test.
struct Racer(Child);

impl Racer {
    fn start(one: &Path, other: &Path) -> Self {
        let program = std::env::current_exe().unwrap();
        let mut command = Command::new(program);
        command.arg(RACER).arg(one).arg(other).stdin(Stdio::null());
        Self(command.spawn().unwrap())
    }
}

impl Drop for Racer {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Reads until the race was seen from both sides: the file inside, and what took its place.
fn raced(yard: &Yard, path: &str, other_calls: &[(&str, serde_json::Value)]) {
    let before = yard.state();
    let start = Instant::now();
    let (mut read, mut refused, mut rounds) = (0, 0, 0);
    while rounds < ROUNDS || ((read == 0 || refused == 0) && start.elapsed() < PATIENCE) {
        rounds += 1;
        match yard.call("read_file", &json!({ "path": path })) {
            Ok(text) => {
                assert!(text.starts_with("inside") || text.starts_with(WRITTEN), "{text}");
                read += 1;
            }
            Err(_) => refused += 1,
        }
        for (tool, arguments) in other_calls {
            let _ = yard.call(tool, arguments);
        }
        assert_eq!(yard.state(), before);
    }
    assert!(read > 0 && refused > 0, "no race: {read} read, {refused} refused");
}

fn writing(path: &str) -> Vec<(&'static str, serde_json::Value)> {
    let edits = json!([{ "old": "inside", "new": "inside" }]);
    let diff = "@@ -1 +1 @@\n-inside\n+inside\n\\ No newline at end of file\n";
    vec![
        ("write_file", json!({ "path": path, "content": "inside", "overwrite": true })),
        ("patch_file", json!({ "path": path, "edits": edits })),
        ("patch_file", json!({ "path": path, "diff": diff })),
        ("search_files", json!({ "pattern": "." })),
    ]
}

pub(crate) fn folder_for_link(resolution: PathResolution) {
    let yard = Yard::new(resolution);
    let race = yard.folder().join("race");
    std::fs::create_dir_all(race.join("now")).unwrap();
    std::fs::write(race.join("now/f.txt"), "inside").unwrap();
    symlink(yard.outside(), race.join("link")).unwrap();
    let _racer = Racer::start(&race.join("now"), &race.join("link"));
    let mut calls = writing("race/now/f.txt");
    calls.extend([
        ("write_file", json!({ "path": "race/now/w.txt", "content": WRITTEN, "overwrite": true })),
        (
            "write_file",
            json!({ "path": "race/now/deep/w.txt", "content": WRITTEN, "overwrite": true }),
        ),
        ("list_files", json!({ "path": "race/now" })),
        ("find_files", json!({ "pattern": "**", "path": "race/now" })),
    ]);
    raced(&yard, "race/now/f.txt", &calls);
}

pub(crate) fn file_for_link(resolution: PathResolution) {
    let yard = Yard::new(resolution);
    file_for_other(&yard, |other| symlink(yard.outside().join("f.txt"), other).unwrap());
}

pub(crate) fn file_for_hard_link(resolution: PathResolution) {
    let yard = Yard::new(resolution);
    let link = |other: &Path| std::fs::hard_link(yard.outside().join("f.txt"), other).unwrap();
    file_for_other(&yard, link);
}

/// A file that is exchanged for another way to what lies outside, while it is read and then while it is
/// written.
fn file_for_other(yard: &Yard, put: impl Fn(&Path)) {
    let race = yard.folder().join("race");
    let (now, other) = (race.join("now"), race.join("link"));
    std::fs::create_dir(&race).unwrap();
    std::fs::write(&now, "inside").unwrap();
    put(&other);
    let racer = Racer::start(&now, &other);
    raced(yard, "race/now", &[("search_files", json!({ "pattern": ".", "path": "race" }))]);
    drop(racer);
    let racer = Racer::start(&now, &other);
    written(yard, "race/now");
    drop(racer);
}

pub(crate) fn file_for_pipe(resolution: PathResolution) {
    let yard = Yard::new(resolution);
    let race = yard.folder().join("race");
    std::fs::create_dir(&race).unwrap();
    std::fs::write(race.join("now"), "inside").unwrap();
    mknodat(CWD, race.join("pipe"), FileType::Fifo, Mode::from_raw_mode(0o600), 0).unwrap();
    let _racer = Racer::start(&race.join("now"), &race.join("pipe"));
    raced(&yard, "race/now", &[("search_files", json!({ "pattern": ".", "path": "race" }))]);
}

pub(crate) fn file_for_folder(resolution: PathResolution) {
    let yard = Yard::new(resolution);
    let race = yard.folder().join("race");
    std::fs::create_dir_all(race.join("folder")).unwrap();
    std::fs::write(race.join("now"), "inside").unwrap();
    let _racer = Racer::start(&race.join("now"), &race.join("folder"));
    raced(&yard, "race/now", &[("list_files", json!({ "path": "race/now" }))]);
}

/// Writes while the names are swapped. A write replaces whatever has the name, so in time there is
/// nothing left to swap for: each round is looked at, and the outside never changes.
fn written(yard: &Yard, path: &str) {
    let before = yard.state();
    for _ in 0..ROUNDS {
        for (tool, arguments) in writing(path) {
            let _ = yard.call(tool, &arguments);
        }
        assert_eq!(yard.state(), before);
    }
}
