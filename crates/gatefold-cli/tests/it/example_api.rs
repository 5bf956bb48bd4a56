//! `examples/api`: what its README shows is what is printed.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use gatefold_api_example::library;
use tokio::net::TcpListener;

use crate::process::{BINARY, ended};
use crate::scratch::Scratch;

/// Where the example's configuration expects its server.
const PORT: &str = "8431";

/// A block of the README that a shell could have printed: each command, and what it printed.
const BLOCK: &str = "```console\n";
const END: &str = "```";

#[tokio::test(flavor = "multi_thread")]
async fn the_readme_of_the_api_example_shows_what_is_printed() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port().to_string();
    tokio::spawn(async move { axum::serve(listener, library()).await });
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/api");
    let scratch = Scratch::new();
    for name in ["gatefold.toml", "library.yaml", "library.overlay.toml"] {
        let text = std::fs::read_to_string(example.join(name)).unwrap();
        scratch.write(name, text.replace(PORT, &port));
    }
    let readme = std::fs::read_to_string(example.join("README.md")).unwrap();
    let mut blocks = readme.split(BLOCK);
    let mut printed = blocks.next().unwrap().to_owned();
    for rest in blocks {
        let (block, after) = rest.split_once(END).unwrap();
        printed += BLOCK;
        for line in block.lines().filter_map(|line| line.strip_prefix("$ ")) {
            let answer = shell(&scratch, line).replace(&port, PORT);
            let _ = write!(printed, "$ {line}\n{answer}");
        }
        let _ = write!(printed, "{END}{after}");
    }
    if without_chance(&printed) != without_chance(&readme) {
        let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join("api-example.md");
        std::fs::write(&place, &printed).unwrap();
        panic!("{printed}\nThis is in {}, and the README of the example differs", place.display());
    }
    assert!(printed.matches(BLOCK).count() > 3, "the README has too few blocks");
}

/// What a command prints in a shell that finds the binary.
fn shell(scratch: &Scratch, line: &str) -> String {
    let folder = Path::new(BINARY).parent().unwrap().display();
    let mut shell = Command::new("/bin/sh");
    shell
        .args(["-c", &format!("{line} 2>&1")])
        .env_clear()
        .env("HOME", scratch.path())
        .env("PATH", format!("{folder}:/usr/bin:/bin"))
        .env("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nowhere")
        .current_dir(scratch.path());
    ended(shell).stdout
}

/// A text without what differs from run to run: durations, and the ids of requests.
fn without_chance(text: &str) -> String {
    let is_chance = |words: &[&str], at: usize| {
        let next = words.get(at + 1).copied().unwrap_or_default();
        let bytes = words[at].trim_matches(|c: char| !c.is_ascii_alphanumeric()).as_bytes();
        next == "ms" || (bytes.len() == 9 && bytes[4] == b'-')
    };
    let lines = text.lines().map(|line| {
        let words: Vec<_> = line.split_whitespace().collect();
        let kept = (0..words.len()).filter(|at| !is_chance(&words, *at)).map(|at| words[at]);
        kept.collect::<Vec<_>>().join(" ")
    });
    lines.collect::<Vec<_>>().join("\n")
}
