//! `gatefold secret` on a machine that has no keyring.

use crate::process::{command, run_with_input};
use crate::scratch::Scratch;

#[test]
fn a_machine_without_a_keyring_says_so_within_seconds() {
    let scratch = Scratch::new();
    let run = run_with_input(&scratch, &["secret", "set", "a"], "hunter2\n");
    assert_eq!(run.code, Some(1), "{}", run.stderr);
    assert!(run.stderr.contains("no keyring answers on this machine"), "{}", run.stderr);
    assert!(run.stderr.contains("help: start one"), "{}", run.stderr);
    assert!(!(run.stderr + &run.stdout).contains("hunter2"));
}

#[test]
fn what_cannot_be_a_secret_is_refused_before_the_keyring_is_asked() {
    let long = "x".repeat(64 * 1024 + 1);
    for (name, value, code, message) in [
        ("a b", "x", 2, "`a b` is not the name of a secret"),
        ("a", "", 1, "the secret is empty"),
        ("a", "\n", 1, "the secret is empty"),
        ("a", long.as_str(), 1, "the secret is too long"),
        ("a", "x\0", 1, "holds a NUL character"),
    ] {
        let run = run_with_input(&Scratch::new(), &["secret", "set", name], value);
        assert_eq!(run.code, Some(code), "{}", run.stderr);
        assert!(run.stderr.contains(message), "{}", run.stderr);
    }
}

#[test]
fn a_value_is_never_taken_from_the_arguments() {
    let scratch = Scratch::new();
    let output = command(&scratch, &["secret", "set", "a", "hunter2"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
}
