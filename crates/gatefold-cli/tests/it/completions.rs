//! What shells offer while a command line is typed. `tests/interop/shells.sh` starts bash, zsh and fish.

use std::process::Command;

use crate::process::{command, ended, run, two_sources};
use crate::scratch::Scratch;

/// The completions of the last of these words.
fn offered(scratch: &Scratch, words: &[&str]) -> Vec<String> {
    let words = [&["--", "gatefold"], words].concat();
    let mut asking = command(scratch, &words);
    asking.env("GATEFOLD_COMPLETE", "bash").env("_CLAP_IFS", "\n");
    asking.env("_CLAP_COMPLETE_INDEX", (words.len() - 2).to_string());
    asking.env("_CLAP_COMPLETE_COMP_TYPE", "9").env("_CLAP_COMPLETE_SPACE", "true");
    let said = ended(asking);
    assert_eq!((said.code, said.stderr.as_str()), (Some(0), ""));
    said.stdout.lines().map(|line| line.trim_end().to_owned()).collect()
}

#[test]
fn names_of_this_machine_are_offered() {
    let scratch = Scratch::new();
    scratch.write("gatefold.toml", two_sources(&scratch));
    scratch.write(
        "other.toml",
        "[sources.other]\ncommand = 'x'\n[sources.off]\nenabled = false\ncommand = 'x'\n",
    );
    // Nothing is recorded yet, and completing records nothing.
    assert_eq!(offered(&scratch, &["tools", "call", "units"]), [""; 0]);
    assert!(!scratch.path().join(".local").exists());
    assert_eq!(run(&scratch, &["check"]).code, Some(0));
    for (words, expected) in [
        (&["remo"][..], &["remove"][..]),
        (&["demo-s"], &[]),
        (&["remove", ""], &["issues", "units"]),
        (&["enable", "--config", "other.toml", ""], &["other", "off"]),
        (&["stdio", "--source", "un"], &["units"]),
        (&["tools", "list", "--domain", ""], &["issues", "units"]),
        (&["tools", "call", "units__ev"], &["units__evaluate_expression"]),
        (&["tools", "schema", "units__ev"], &["units__evaluate_expression"]),
        (&["queries", "--tool", "units__ev"], &["units__evaluate_expression"]),
        (&["calls", "--tool", "units__ev"], &["units__evaluate_expression"]),
        (&["logs", "un"], &["units"]),
        (&["connect", "claude"], &["claude-code", "claude-desktop"]),
        (&["disconnect", "z"], &["zed"]),
        (&["import", "goo"], &["goose"]),
        (&["config", "explain", "limits.call_d"], &["limits.call_deadline"]),
        (&["completions", "f"], &["fish"]),
    ] {
        let mut found = offered(&scratch, words);
        let mut expected = expected.to_vec();
        found.sort();
        expected.sort_unstable();
        found.retain(|one| !one.starts_with('-'));
        assert_eq!(found, expected, "{words:?}");
    }
}

#[test]
fn a_broken_configuration_offers_nothing_and_says_nothing() {
    let scratch = Scratch::new();
    scratch.write("gatefold.toml", "[sources.a\n");
    let found = offered(&scratch, &["remove", ""]);
    assert!(found.iter().all(|one| one.starts_with('-')), "{found:?}");
}

#[test]
fn completions_are_for_five_shells_and_load_in_bash() {
    let scratch = Scratch::new();
    scratch.write("gatefold.toml", two_sources(&scratch));
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = run(&scratch, &["completions", shell]);
        assert_eq!((script.code, script.stderr.as_str()), (Some(0), ""));
        assert!(script.stdout.contains("gatefold"), "{shell}");
        assert!(!script.stdout.contains("demo-server") && !script.stdout.contains("count-tokens"));
    }
    scratch.write("script", run(&scratch, &["completions", "bash"]).stdout);
    let line = "source ./script; complete -p gatefold >/dev/null || exit 1; \
                COMP_WORDS=(gatefold remove un); COMP_CWORD=2; \
                _clap_complete_gatefold gatefold un remove; echo \"${COMPREPLY[*]}\"";
    let folder = std::path::Path::new(crate::process::BINARY).parent().unwrap();
    let bash = Command::new("bash")
        .args(["--norc", "-c", line])
        .current_dir(scratch.path())
        .env("HOME", scratch.path())
        .env("PATH", format!("{}:/usr/bin:/bin", folder.display()))
        .output()
        .unwrap();
    let said = String::from_utf8(bash.stdout).unwrap();
    assert_eq!(said.trim_end(), "units", "{}", String::from_utf8_lossy(&bash.stderr));
}
