//! Folders that want to be read where they must not be, or to exhaust who reads them.

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::net::UnixListener;
use std::time::{Duration, Instant};

use gatefold_skills::{FILE_DEPTH, FILES, FRONT_MATTER_BYTES, MAIN_BYTES, SKILL_BYTES, SKILLS};

use crate::scratch::{SECRET, Scratch, contents, findings, link, names, skill_text};

/// How long reading any of these may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// Reads a folder that `make` has filled beside a good skill. The good one is always offered, nothing
/// outside is read, and `finding` is among what is found.
#[track_caller]
fn check(make: impl FnOnce(&Scratch), offered: &[&str], finding: &str) {
    check_finding(make, offered, finding, |one| one == finding);
}

/// Like [`check`], with the start of what is found.
#[track_caller]
fn check_start(make: impl FnOnce(&Scratch), offered: &[&str], start: &str) {
    check_finding(make, offered, start, |one| one.starts_with(start));
}

#[track_caller]
fn check_finding(
    make: impl FnOnce(&Scratch),
    offered: &[&str],
    finding: &str,
    matches: impl Fn(&str) -> bool,
) {
    let scratch = Scratch::new();
    scratch.put_skill("good");
    make(&scratch);
    let started = Instant::now();
    let set = scratch.read();
    let contents = contents(&set);
    assert!(started.elapsed() < PATIENCE, "{finding}: took {:?}", started.elapsed());
    let names = names(&set);
    assert!(names.contains(&"good"), "{finding}: {names:?}");
    let others: Vec<_> = names.into_iter().filter(|name| *name != "good").collect();
    assert_eq!(others, offered, "{finding}");
    let all = findings(&set);
    assert!(all.iter().any(|one| matches(one)), "{finding}\n is not among\n{all:#?}");
    let is_in = contents.windows(SECRET.len()).any(|part| part == SECRET.as_bytes());
    assert!(!is_in, "{finding}: the secret was read");
    assert!(set.skill("other").is_none(), "{finding}: a skill outside was read");
}

#[test]
fn no_link_is_followed() {
    let linked = |target: &str, path: &str, why: &str| {
        let target = target.to_owned();
        check_start(
            |scratch| link(&target, scratch.path(path)),
            &[],
            &format!("{path}: left out: it is a link to `{target}`, {why}"),
        );
    };
    let (outside, around, nowhere) = (
        "and links are not followed there; to follow it, write `follow_links_to = [",
        "which holds the folder that the link lies in",
        "which leads nowhere: ",
    );
    linked("../other", "other", outside);
    linked("/", "root", around);
    linked("/proc/self/root", "p", around);
    linked(".", "loop", around);
    linked("..", "up", around);
    linked("good", "again", outside);
    linked("nowhere", "gone", nowhere);
    linked("circle", "circle", nowhere);
    linked("../secret.txt", "a.md", outside);
    linked("/dev/zero", "zero.md", "which is no ordinary file or folder");
    for (target, why) in [
        ("../../secret.txt", outside),
        ("/etc/passwd", outside),
        ("/proc/self/environ", outside),
        ("/dev/zero", "which is no ordinary file or folder"),
        ("SKILL.md", outside),
        ("../..", around),
        ("/", around),
        ("/proc/self/fd", outside),
        (".", around),
    ] {
        check_start(
            |scratch| {
                scratch.put_skill("a");
                link(target, scratch.path("a/inner"));
            },
            &["a"],
            &format!("a/inner: left out: it is a link to `{target}`, {why}"),
        );
    }
    for (target, why) in [
        ("../../other/SKILL.md", outside),
        ("/dev/zero", "which is no ordinary file or folder"),
        ("SKILL.md", nowhere),
        ("../good/SKILL.md", outside),
    ] {
        check_start(
            |scratch| {
                fs::create_dir(scratch.path("a")).unwrap();
                link(target, scratch.path("a/SKILL.md"));
            },
            &[],
            &format!("a/SKILL.md: left out: it is a link to `{target}`, {why}"),
        );
    }
}

#[test]
fn what_is_no_ordinary_file_is_not_opened() {
    let pipe = |scratch: &Scratch, path: &str| {
        let made = std::process::Command::new("mkfifo").arg(scratch.path(path)).status();
        assert!(made.unwrap().success());
    };
    check(
        |scratch| {
            scratch.put_skill("a");
            pipe(scratch, "a/pipe.txt");
        },
        &["a"],
        "a/pipe.txt: left out: it is no ordinary file",
    );
    check(
        |scratch| {
            fs::create_dir(scratch.path("a")).unwrap();
            pipe(scratch, "a/SKILL.md");
        },
        &[],
        "a/SKILL.md: it is no ordinary file",
    );
    check(|scratch| pipe(scratch, "a.md"), &[], "a.md: left out: it is no ordinary file");
    check(
        |scratch| {
            scratch.put_skill("a");
            UnixListener::bind(scratch.path("a/s")).unwrap();
        },
        &["a"],
        "a/s: left out: it is no ordinary file",
    );
    check(
        |scratch| fs::create_dir_all(scratch.path("a/SKILL.md")).unwrap(),
        &[],
        "a/SKILL.md: it is no ordinary file",
    );
}

#[test]
fn what_is_too_much_is_refused_and_not_read() {
    let huge = |scratch: &Scratch, path: &str| {
        scratch.put(path, "");
        File::create(scratch.path(path)).unwrap().set_len(1 << 30).unwrap();
    };
    check(
        |scratch| huge(scratch, "a/SKILL.md"),
        &[],
        &format!("a/SKILL.md: it has more than {MAIN_BYTES} bytes"),
    );
    check(
        |scratch| {
            scratch.put_skill("a");
            huge(scratch, "a/big.txt");
        },
        &[],
        &format!("a: its files have more than {SKILL_BYTES} bytes"),
    );
    check(
        |scratch| {
            scratch.put_skill("a");
            for at in 0..FILES {
                scratch.put(&format!("a/{at}.txt"), "x");
            }
        },
        &[],
        &format!("a: it has more than {FILES} files"),
    );
    check(
        |scratch| {
            scratch.put_skill("a");
            scratch.put(&format!("a/{}x.txt", "d/".repeat(FILE_DEPTH + 1)), "x");
        },
        &[],
        &format!("a: folders nest deeper than {FILE_DEPTH} in `{}d`", "d/".repeat(FILE_DEPTH)),
    );
    check(
        |scratch| {
            scratch.put_skill("a");
            fs::create_dir(scratch.path("a/crowd")).unwrap();
            for at in 0..=10_000 {
                File::create(scratch.path(&format!("a/crowd/{at}"))).unwrap();
            }
        },
        &["a"],
        "a/crowd: left out: it has more than 10000 entries",
    );
    check(
        |scratch| {
            let front = "x: y\n".repeat(FRONT_MATTER_BYTES / 5 + 1);
            scratch.put("a/SKILL.md", format!("---\n{front}---\n"));
        },
        &[],
        &format!("a/SKILL.md:1: its front matter has more than {FRONT_MATTER_BYTES} bytes"),
    );
    check(
        |scratch| scratch.put(&format!("{}SKILL.md", "d/".repeat(30)), skill_text("d", "Deep")),
        &[],
        "d/d/d/d/d/d/d/d/d: skills are looked for in 8 levels of folders only",
    );
}

#[test]
fn a_source_has_a_limited_number_of_skills() {
    let scratch = Scratch::new();
    for at in 0..=SKILLS {
        scratch.put_skill(&format!("s{at:04}"));
    }
    let set = scratch.read();
    assert_eq!(set.skills().len(), SKILLS);
    let full =
        "s1000/SKILL.md: a source has at most 1000 skills; this one and what follows are left out";
    assert_eq!(findings(&set), [full]);
}

#[test]
fn a_bomb_of_yaml_does_nothing() {
    let mut bomb = "---\nname: a\nl0: &l0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
    for level in 1..40 {
        let many = vec![format!("*l{}", level - 1); 10].join(", ");
        _ = writeln!(bomb, "l{level}: &l{level} [{many}]");
    }
    let bomb = format!("{bomb}description: *l39\n---\n");
    check(
        |scratch| scratch.put("a/SKILL.md", bomb),
        &[],
        "a/SKILL.md:43: `description` is empty, or an alias, which is not followed",
    );
    let nested = format!("---\nname: a\ndescription: {}\n---\n", "[".repeat(5_000));
    check(
        |scratch| scratch.put("a/SKILL.md", nested),
        &[],
        "a/SKILL.md:3: its front matter is no YAML: recursion limit exceeded",
    );
}

#[test]
fn nothing_hides_in_a_name_or_a_description() {
    let text = |name: &str, description: &str| {
        format!("---\nname: {name}\ndescription: \"{description}\"\n---\n")
    };
    for (description, number) in [
        ("a\u{200b}b", "U+200B"),
        ("a\u{202e}b", "U+202E"),
        ("\u{e0041}", "U+E0041"),
        ("a\\x07b", "U+0007"),
        ("a\\e[2Jb", "U+001B"),
    ] {
        check(
            |scratch| scratch.put("a/SKILL.md", text("a", description)),
            &[],
            &format!(
                "a/SKILL.md:3: `description` has a character that people do not see: {number}"
            ),
        );
    }
    check(
        |scratch| scratch.put("a/SKILL.md", text("a\u{200b}", "D")),
        &[],
        "a/SKILL.md:2: `name` has a character that people do not see: U+200B",
    );
    check(
        |scratch| scratch.put("a\u{202e}b/SKILL.md", text("ab", "D")),
        &[],
        "a<U+202E>b: its name has characters that people do not see, or is not UTF-8",
    );
    check(
        |scratch| {
            scratch.put_skill("a");
            scratch.put("a/b\u{200b}.txt", "x");
            scratch.put("a/\u{1b}[31m.txt", "x");
        },
        &["a"],
        "a/<U+001B>[31m.txt: left out: its name has characters that people do not see, or is not UTF-8",
    );
    check(
        |scratch| {
            scratch.put_skill("a");
            scratch.put("a/b\\..\\secret.txt", "x");
        },
        &["a"],
        "a/b\\..\\secret.txt: left out: its name has characters that no path may have",
    );
    check(
        |scratch| {
            let name = OsStr::from_bytes(b"b\xff");
            fs::create_dir(scratch.root().join(name)).unwrap();
        },
        &[],
        "b\u{fffd}: its name has characters that people do not see, or is not UTF-8",
    );
    check(
        |scratch| scratch.put("a/SKILL.md", b"---\nname: a\ndescription: \xff\n---\n"),
        &[],
        "a/SKILL.md: it is not UTF-8",
    );
}

#[test]
fn only_a_listed_file_has_a_name() {
    let scratch = Scratch::new();
    scratch.put_skill("a");
    scratch.put("a/scripts/run.py", "print(1)");
    let set = scratch.read();
    let skill = set.skill("a").unwrap();
    assert!(skill.file("scripts/run.py").is_some());
    for path in [
        "",
        ".",
        "..",
        "../good/SKILL.md",
        "../../secret.txt",
        "/etc/passwd",
        "scripts/../../../secret.txt",
        "scripts//run.py",
        "./scripts/run.py",
        "scripts/run.py/",
        "SCRIPTS/RUN.PY",
        "skill.md",
        "scripts\\run.py",
        "%2e%2e/secret.txt",
        "scripts/run.py\0",
    ] {
        assert_eq!(skill.file(path), None, "{path:?}");
    }
    for name in ["", ".", "..", "../other", "A", "a/", "a\0", "good/../a"] {
        assert!(set.skill(name).is_none(), "{name:?}");
    }
}

#[test]
fn what_a_file_became_since_is_not_followed() {
    let scratch = Scratch::new();
    scratch.put_skill("a");
    scratch.put("a/scripts/run.py", "print(1)");
    let set = scratch.read();
    let skill = set.skill("a").unwrap();
    let file = skill.file("scripts/run.py").unwrap();
    assert_eq!(file.content(100).unwrap(), b"print(1)");
    assert!(file.content(7).is_err(), "it has more bytes than asked for");
    fs::remove_file(scratch.path("a/scripts/run.py")).unwrap();
    link(scratch.outside(), scratch.path("a/scripts/run.py"));
    assert!(file.content(100).is_err());
    fs::remove_dir_all(scratch.path("a/scripts")).unwrap();
    fs::write(scratch.outside().with_file_name("run.py"), SECRET).unwrap();
    link("../..", scratch.path("a/scripts"));
    assert!(file.content(100).is_err());
}
