//! Somebody who swaps files and folders for links while they are read.

use std::fs;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use gatefold_skills::{SkillFolder, SkillSet};

use crate::scratch::{SECRET, Scratch, contents, link, skill_text};

/// How long the two race.
const RACE: Duration = Duration::from_secs(2);

fn has_secret(bytes: &[u8]) -> bool {
    bytes.windows(SECRET.len()).any(|part| part == SECRET.as_bytes())
}

#[test]
fn a_link_that_takes_a_files_place_is_never_read() {
    let scratch = Scratch::new();
    scratch.put_skill("a");
    scratch.put("a/data/file.txt", "harmless");
    scratch.put("b/SKILL.md", skill_text("b", "It comes and goes"));
    // What the links lead to has the same names.
    fs::create_dir_all(scratch.path("../trap/data")).unwrap();
    fs::write(scratch.path("../trap/data/file.txt"), SECRET).unwrap();
    fs::write(scratch.path("../trap/file.txt"), SECRET).unwrap();
    let secret = format!("{}{SECRET}", skill_text("b", SECRET));
    fs::write(scratch.path("../trap/SKILL.md"), secret).unwrap();

    let set = scratch.read();
    let (skill, stop, swaps) =
        (set.skill("a").unwrap(), AtomicBool::new(false), AtomicUsize::new(0));
    let file = skill.file("data/file.txt").unwrap();
    let (mut reads, mut scans) = (0, 0);
    thread::scope(|scope| {
        scope.spawn(|| {
            let swap = |path: &str, target: &str| {
                let (own, aside) = (scratch.path(path), scratch.path("../aside"));
                fs::rename(&own, &aside).unwrap();
                link(target, &own);
                fs::remove_file(&own).unwrap();
                fs::rename(&aside, &own).unwrap();
                swaps.fetch_add(1, Ordering::Relaxed);
            };
            while !stop.load(Ordering::Relaxed) {
                swap("a/data/file.txt", "../../../trap/file.txt");
                swap("a/data", "../../trap/data");
                swap("a", "../trap");
                swap("b", "../trap");
                swap("b/SKILL.md", "../../trap/SKILL.md");
            }
        });
        let started = Instant::now();
        while started.elapsed() < RACE {
            for _ in 0..20 {
                if let Ok(content) = file.content(1 << 20) {
                    assert!(!has_secret(&content), "a link was followed");
                    reads += 1;
                }
            }
            let scanned = SkillSet::read(&SkillFolder::at(scratch.root())).expect("the root stays");
            assert!(scanned.skills().iter().all(|skill| !skill.description.contains(SECRET)));
            assert!(!has_secret(&contents(&scanned)), "a link was followed");
            scans += 1;
        }
        stop.store(true, Ordering::Relaxed);
    });
    let swaps = swaps.into_inner();
    assert!(
        swaps > 100 && reads > 100 && scans > 10,
        "{swaps} swaps, {reads} reads, {scans} scans"
    );
}
