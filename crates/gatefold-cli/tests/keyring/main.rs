//! The binary and a real Secret Service, which `tests/interop/secret-service.sh` starts and then
//! sets `GATEFOLD_SECRET_SERVICE`. Without that variable these tests are listed as ignored.

#![expect(clippy::unwrap_used, reason = "these are tests without the standard harness")]

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};

use libtest_mimic::{Arguments, Trial};

const BINARY: &str = env!("CARGO_BIN_EXE_gatefold");

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    #[expect(clippy::disallowed_methods, reason = "whether an external server runs")]
    let ignored = std::env::var_os("GATEFOLD_SECRET_SERVICE").is_none();
    let trial = |(name, claim): (&str, fn())| {
        let run = move || {
            claim();
            Ok(())
        };
        Trial::test(name, run).with_ignored_flag(ignored)
    };
    let trials = [
        ("a_secret_lives_from_set_to_remove", a_secret_lives_from_set_to_remove as fn()),
        ("setting_a_secret_again_replaces_it", setting_a_secret_again_replaces_it),
        ("an_import_leaves_what_the_keyring_has", an_import_leaves_what_the_keyring_has),
        ("a_list_bears_that_others_remove_secrets", a_list_bears_that_others_remove_secrets),
    ];
    libtest_mimic::run(&arguments, trials.into_iter().map(trial).collect()).exit_code()
}

/// Runs the binary with this session's bus and a home of its own; returns the exit code and all
/// output.
fn gatefold(home: &Path, args: &[&str], input: &str) -> (Option<i32>, String) {
    let mut child = Command::new(BINARY)
        .args(args)
        .env("HOME", home)
        .env_remove("XDG_STATE_HOME")
        .env_remove("XDG_CONFIG_HOME")
        .current_dir(home)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let said = [output.stdout, output.stderr].concat();
    (output.status.code(), String::from_utf8(said).unwrap())
}

/// A source that starts only when the secret has this value.
fn write_config(home: &Path) {
    let text = format!(
        "[sources.units]\ncommand = '/bin/sh'\n\
         args = ['-c', '[ \"$T\" = hunter2 ] && exec \"$0\" demo-server units --scratch data', \
         '{BINARY}']\nenv = {{ T = '${{secret:it-token}}' }}\n"
    );
    std::fs::write(home.join("gatefold.toml"), text).unwrap();
}

fn a_secret_lives_from_set_to_remove() {
    let home = tempfile::tempdir().unwrap();
    write_config(home.path());
    let run = |args: &[&str], input| gatefold(home.path(), args, input);

    let (code, said) = run(&["check"], "");
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("gatefold.toml:4:13"), "{said}");
    assert!(said.contains("the keyring has no secret `it-token`"), "{said}");
    assert!(said.contains("store it: `gatefold secret set it-token`"), "{said}");

    let (code, said) = run(&["secret", "set", "it-token"], "hunter2\n");
    assert_eq!(code, Some(0), "{said}");
    let (code, said) = run(&["secret", "list", "--json"], "");
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("\"it-token\"") && !said.contains("hunter2"), "{said}");

    let (code, said) = run(&["tools", "list"], "");
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("units__") && !said.contains("hunter2"), "{said}");
    let database = std::fs::read(home.path().join(".local/state/gatefold/gatefold.db")).unwrap();
    assert!(!database.windows(7).any(|window| window == b"hunter2"));

    let (code, said) = run(&["secret", "remove", "it-token"], "");
    assert_eq!(code, Some(0), "{said}");
    let (code, said) = run(&["secret", "remove", "it-token"], "");
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("the keyring has no secret `it-token`"), "{said}");
    let (code, said) = run(&["tools", "list"], "");
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("`units` is left out"), "{said}");
}

fn setting_a_secret_again_replaces_it() {
    let home = tempfile::tempdir().unwrap();
    let run = |args: &[&str], input| gatefold(home.path(), args, input);
    for value in ["first", "second\r\n", "a value with spaces, ä and 'quotes'"] {
        let (code, said) = run(&["secret", "set", "it-again"], value);
        assert_eq!(code, Some(0), "{said}");
    }
    let (code, said) = run(&["secret", "list"], "");
    assert_eq!(code, Some(0), "{said}");
    assert_eq!(said.lines().filter(|line| *line == "it-again").count(), 1, "{said}");
    let (code, said) = run(&["secret", "remove", "it-again"], "");
    assert_eq!(code, Some(0), "{said}");
}

fn an_import_leaves_what_the_keyring_has() {
    let home = tempfile::tempdir().unwrap();
    let run = |args: &[&str], input| gatefold(home.path(), args, input);
    let (code, said) = run(&["secret", "set", "IT_GITHUB_TOKEN"], "other\n");
    assert_eq!(code, Some(0), "{said}");
    std::fs::create_dir(home.path().join(".cursor")).unwrap();
    let text =
        r#"{"mcpServers": {"gh": {"command": "gh", "env": {"IT_GITHUB_TOKEN": "hunter2"}}}}"#;
    std::fs::write(home.path().join(".cursor/mcp.json"), text).unwrap();

    let import = ["import", "cursor", "--yes", "--secrets", "keyring"];
    let (code, said) = run(&import, "");
    assert_eq!(code, Some(0), "{said}");
    let config = home.path().join(".config/gatefold/gatefold.toml");
    let written = std::fs::read_to_string(&config).unwrap();
    assert!(written.contains("${secret:GH_IT_GITHUB_TOKEN}"), "{written}");
    let (_, said) = run(&import, "");
    assert!(said.contains("it is already `sources.gh`"), "{said}");

    // The same value again is the same secret.
    std::fs::remove_file(&config).unwrap();
    let (code, said) = run(&import, "");
    assert_eq!((code, std::fs::read_to_string(&config).unwrap()), (Some(0), written), "{said}");
    for name in ["IT_GITHUB_TOKEN", "GH_IT_GITHUB_TOKEN"] {
        let (code, said) = run(&["secret", "remove", name], "");
        assert_eq!(code, Some(0), "{said}");
    }
}

/// A keyring names its entries first and is asked about each one later, when it may be gone.
fn a_list_bears_that_others_remove_secrets() {
    let home = tempfile::tempdir().unwrap();
    let run = |args: &[&str], input| gatefold(home.path(), args, input);
    let is_over = AtomicBool::new(false);
    std::thread::scope(|threads| {
        threads.spawn(|| {
            let _over = SetOnDrop(&is_over);
            for _ in 0..30 {
                let (code, said) = run(&["secret", "set", "it-fleeting"], "hunter2");
                assert_eq!(code, Some(0), "{said}");
                let (code, said) = run(&["secret", "remove", "it-fleeting"], "");
                assert_eq!(code, Some(0), "{said}");
            }
        });
        for _ in 0..2 {
            threads.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    let (code, said) = run(&["secret", "list"], "");
                    assert_eq!(code, Some(0), "{said}");
                }
            });
        }
    });
}

/// Says that a thread is over, also where it panicked.
struct SetOnDrop<'a>(&'a AtomicBool);

impl Drop for SetOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}
