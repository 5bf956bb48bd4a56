//! The commands on a terminal: a pseudo terminal of script(1), or of tmux(1) where the screen's
//! content matters.

use std::path::PathBuf;
use std::process::{Command, Output};
use std::sync::atomic::{AtomicUsize, Ordering};

use gatefold_testkit::wait_until;

use crate::process::{BINARY, Gateway, LIMIT, children_of, run, two_sources};
use crate::scratch::Scratch;

/// Runs a command line with standard output and error on a terminal of this width, and returns
/// everything that was written to it.
pub(crate) fn on_a_terminal(
    scratch: &Scratch,
    columns: u16,
    line: &str,
    variables: &[(&str, &str)],
) -> String {
    let line = format!("stty cols {columns} rows 24; '{BINARY}' {line}");
    let mut script = Command::new("script");
    script
        .args(["-qec", &line, "/dev/null"])
        .env_clear()
        .env("HOME", scratch.path())
        .env("PATH", "/usr/bin:/bin")
        .env("TERM", "xterm-256color")
        .envs(variables.iter().copied())
        .current_dir(scratch.path());
    let Output { stdout, .. } = script.output().unwrap();
    String::from_utf8(stdout).unwrap()
}

fn scratch_with_sources() -> Scratch {
    let scratch = Scratch::new();
    scratch.write("gatefold.toml", two_sources(&scratch));
    scratch
}

#[test]
fn colours_are_for_terminals_unless_asked_otherwise() {
    let scratch = scratch_with_sources();
    let has_colour = |text: &str| text.contains("\x1b[1m") || text.contains("\x1b[2m");
    for (line, variables, expected) in [
        ("tools list", &[][..], true),
        ("tools list", &[("NO_COLOR", "1")], false),
        ("tools list --color=always", &[("NO_COLOR", "1")], true),
        ("tools list --color never", &[], false),
        ("tools list | cat", &[], false),
        ("tools list | cat", &[("CLICOLOR_FORCE", "1")], true),
        ("tools list | cat", &[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")], false),
        ("tools list", &[("CLICOLOR", "0")], false),
        ("--help --color always | cat", &[], true),
        ("--help --color never", &[], false),
    ] {
        let shown = on_a_terminal(&scratch, 80, line, variables);
        assert!(shown.contains("tool"), "{line}: {shown}");
        assert_eq!(has_colour(&shown), expected, "{line} {variables:?}: {shown}");
    }
    let piped = run(&scratch, &["tools", "list"]);
    assert!(!piped.stdout.contains('\x1b'));
}

#[test]
fn a_list_fits_the_terminal_and_is_whole_in_a_pipe() {
    let scratch = scratch_with_sources();
    let is_path = |line: &str| line.trim_start().starts_with('/');
    let longest = |text: &str| text.lines().map(|line| line.chars().count()).max().unwrap();
    for (line, head) in [("tools list", "tool "), ("check", "domain "), ("status", "domain ")] {
        for columns in [30, 40, 80, 200] {
            let shown = on_a_terminal(&scratch, columns, &format!("{line} --color never"), &[]);
            // Progress is drawn on the same terminal and ends where the list begins.
            let list = &shown[shown.find(head).unwrap_or_else(|| panic!("{shown}"))..];
            // A path is never broken.
            let list: String = list.split_inclusive('\n').filter(|line| !is_path(line)).collect();
            assert!(longest(&list) <= usize::from(columns), "{columns}: {list}");
        }
    }
    let piped = run(&scratch, &["tools", "list"]).stdout;
    assert_eq!(piped.lines().count(), 25, "{piped}");
    assert!(longest(&piped) > 80);
}

#[test]
fn progress_shows_on_a_terminal_and_is_cleared() {
    let scratch = scratch_with_sources();
    let shown = on_a_terminal(&scratch, 80, "check", &[]);
    let (progress, rest) = shown.rsplit_once("connecting").unwrap_or_else(|| panic!("{shown}"));
    assert!(progress.contains("issues") && shown.contains("of 2"), "{shown}");
    let cleared = rest.find("\x1b[2K").unwrap_or_else(|| panic!("{shown}"));
    assert!(cleared < rest.find("protocol").unwrap(), "{shown}");
    for line in ["check --json", "check 2>/dev/null"] {
        let shown = on_a_terminal(&scratch, 80, line, &[]);
        assert!(!shown.contains("connecting"), "{shown}");
    }
}

#[test]
fn a_source_cannot_steer_the_terminal() {
    let scratch = Scratch::new();
    let evil = "[sources.evil]\ncommand = 'sh'\n\
                args = ['-c', 'printf \"\\033[2J\\033]0;owned\\007oops\\n\" >&2; exit 3']\n";
    scratch.write("gatefold.toml", evil);
    for line in ["check", "check --color never", "tools list"] {
        let shown = on_a_terminal(&scratch, 200, line, &[]);
        assert!(shown.contains("oops"), "{line}: {shown}");
        assert!(!shown.contains("\x1b[2J") && !shown.contains("\x1b]0;"), "{line}: {shown:?}");
    }
}

#[test]
fn whoever_stops_reading_gets_no_error() {
    let scratch = scratch_with_sources();
    let line =
        format!("'{BINARY}' tools list | head -n 1; '{BINARY}' completions bash | head -n 1");
    let mut shell = Command::new("sh");
    shell.args(["-c", &line]).env("HOME", scratch.path()).current_dir(scratch.path());
    let output = shell.output().unwrap();
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "");
    assert_eq!(String::from_utf8(output.stdout).unwrap().lines().count(), 2);
}

/// A window of tmux with a server of its own. Dropping it closes it.
pub(crate) struct Window {
    folder: PathBuf,
    socket: String,
}

impl Window {
    pub(crate) fn open(scratch: &Scratch, columns: u16, rows: u16, line: &str) -> Self {
        static OPENED: AtomicUsize = AtomicUsize::new(0);
        let folder = scratch.path().to_owned();
        // The server of an earlier window may still be ending.
        let name = format!("tmux{}", OPENED.fetch_add(1, Ordering::Relaxed));
        let window = Self { socket: folder.join(name).display().to_string(), folder };
        let (columns, rows) = (columns.to_string(), rows.to_string());
        let shell = "env PS1='$ ' sh";
        window.tmux(&["-f", "/dev/null", "new-session", "-d", "-x", &columns, "-y", &rows, shell]);
        window.tmux(&["send-keys", line, "Enter"]);
        window
    }

    pub(crate) fn tmux(&self, args: &[&str]) -> String {
        let mut tmux = Command::new("tmux");
        tmux.env_clear().env("PATH", "/usr/bin:/bin").env("TERM", "xterm").env("LC_ALL", "C.UTF-8");
        tmux.env("HOME", &self.folder).current_dir(&self.folder);
        let output = tmux.args(["-S", &self.socket]).args(args).output().unwrap();
        assert!(output.status.success(), "{args:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    fn text(&self) -> String {
        self.tmux(&["capture-pane", "-p"])
    }

    /// Waits for a row of a table that begins with this name and a full state.
    async fn await_row(&self, name: &str) -> String {
        let is_row = |line: &str| {
            let words: Vec<_> = line.split_whitespace().collect();
            words.len() > 2 && words[0] == name && ["known", "running"].contains(&words[1])
        };
        self.await_text(|text| text.lines().any(is_row)).await
    }

    pub(crate) async fn await_text(&self, claim: impl Fn(&str) -> bool) -> String {
        let found = wait_until(LIMIT, || claim(&self.text())).await;
        assert!(found, "not on the screen: {}", self.text());
        self.text()
    }
}

impl Drop for Window {
    fn drop(&mut self) {
        let _ = Command::new("tmux").args(["-S", &self.socket, "kill-server"]).output();
    }
}

/// A command line that prints the terminal's settings before and after a command.
fn between_looks(line: &str) -> String {
    format!("stty -g > before; '{BINARY}' {line}; echo left $?; stty -g > after")
}

/// The terminal is restored: its settings, the screen, the cursor.
async fn assert_given_back(scratch: &Scratch, window: &Window) {
    let settings = |name: &str| std::fs::read_to_string(scratch.path().join(name)).ok();
    let is_whole = |text: &String| text.ends_with('\n');
    assert!(wait_until(LIMIT, || settings("after").as_ref().is_some_and(is_whole)).await);
    assert_eq!(settings("before"), settings("after"));
    let flags = window.tmux(&["display-message", "-p", "#{alternate_on} #{cursor_flag}"]);
    assert_eq!(flags, "0 1\n");
}

#[tokio::test]
async fn the_live_view_draws_follows_and_gives_the_terminal_back() {
    let scratch = scratch_with_sources();
    let gateway = Gateway::serve(&scratch).await;
    let address = gateway.address();
    let line = between_looks(&format!("status --watch --interval 100ms --listen {address}"));
    let window = Window::open(&scratch, 80, 20, &line);
    let shown = window.await_text(|text| text.contains("all definitions: 7")).await;
    assert!(shown.contains("issues") && shown.contains("q quits"), "{shown}");
    let flags = window.tmux(&["display-message", "-p", "#{alternate_on} #{cursor_flag}"]);
    assert_eq!(flags, "1 0\n");
    window.tmux(&["resize-window", "-x", "40", "-y", "10"]);
    window.await_text(|text| text.lines().count() == 10 && text.contains("q quits")).await;
    let shown = window.await_row("issues").await;
    let head = shown.lines().find(|line| line.starts_with("domain")).unwrap();
    assert!(head.contains("state") && head.contains("calls"), "{shown}");
    drop(gateway);
    window.await_text(|text| text.contains("waiting for a gateway")).await;
    let gateway = Gateway::start(&scratch, &["serve", "--listen", &address]);
    window.await_row("issues").await;
    window.tmux(&["send-keys", "q"]);
    let shown = window.await_text(|text| text.contains("left 0")).await;
    // Where the line breaks depends on the path of the program.
    let shown = shown.replace('\n', "");
    assert!(!shown.contains("q quits") && shown.contains("stty -g > after"), "{shown}");
    assert_given_back(&scratch, &window).await;
    drop(gateway);
}

#[tokio::test]
async fn control_c_and_a_signal_leave_the_live_view_as_q_does() {
    for leave in ["C-c", "kill"] {
        let scratch = scratch_with_sources();
        let line = between_looks("status --watch --listen 127.0.0.1:1");
        let window = Window::open(&scratch, 80, 20, &line);
        window.await_text(|text| text.contains("waiting for a gateway")).await;
        if leave == "kill" {
            let shell = window.tmux(&["display-message", "-p", "#{pane_pid}"]);
            for watching in children_of(shell.trim().parse().unwrap()) {
                Command::new("kill").arg(watching.to_string()).status().unwrap();
            }
        } else {
            window.tmux(&["send-keys", leave]);
        }
        window.await_text(|text| text.contains("left 0")).await;
        assert_given_back(&scratch, &window).await;
    }
}

#[tokio::test]
async fn leaving_a_hidden_prompt_gives_the_terminal_back() {
    for leave in ["C-c", "kill"] {
        let scratch = Scratch::new();
        let window = Window::open(&scratch, 80, 20, &between_looks("secret set TOKEN"));
        window.await_text(|text| text.contains("(hidden)")).await;
        let tty = window.tmux(&["display-message", "-p", "#{pane_tty}"]);
        let is_hidden = || {
            let settings = Command::new("stty").args(["-a", "-F", tty.trim()]).output().unwrap();
            String::from_utf8(settings.stdout).unwrap().contains("-echo ")
        };
        assert!(wait_until(LIMIT, is_hidden).await);
        if leave == "kill" {
            let shell = window.tmux(&["display-message", "-p", "#{pane_pid}"]);
            for asking in children_of(shell.trim().parse().unwrap()) {
                Command::new("kill").args(["-INT", &asking.to_string()]).status().unwrap();
            }
        } else {
            window.tmux(&["send-keys", "hunter2", leave]);
        }
        let shown = window.await_text(|text| text.contains("left 130")).await;
        assert!(!shown.contains("hunter2"), "{shown}");
        assert_given_back(&scratch, &window).await;
    }
}

#[test]
fn manual_pages_are_written_for_every_command() {
    let scratch = Scratch::new();
    let top = run(&scratch, &["man"]).stdout;
    assert!(top.contains(".TH gatefold 1") && top.contains("Exit codes"), "{top}");
    assert!(top.contains(".SH DESCRIPTION\nGatefold stands between"), "{top:.600}");
    assert_eq!(run(&scratch, &["man", "--dir", "pages"]).code, Some(0));
    let pages = std::fs::read_dir(scratch.path().join("pages")).unwrap();
    let names: Vec<_> =
        pages.map(|page| page.unwrap().file_name().into_string().unwrap()).collect();
    for name in ["gatefold.1", "gatefold-status.1", "gatefold-tools-call.1"] {
        assert!(names.iter().any(|one| one == name), "{names:?}");
    }
    assert!(!names.iter().any(|name| name.contains("demo-server") || name.contains("help")));
}
