//! The last lines that a server wrote to its standard error, and which of them says why it ended.

use std::collections::VecDeque;
use std::time::Duration;

use tokio::time::Instant;

/// Lines that are kept: enough for a stack trace, whose first line is what counts.
const LINES: usize = 64;
/// Lines that are shown to whoever asks for them.
const SHOWN_LINES: usize = 5;
/// How much of a line is kept, in bytes.
const LINE_BYTES: usize = 1024;
/// Lines written this long before the last one have nothing to do with the end.
const FRESH: Duration = Duration::from_secs(2);

/// Words with which programs name an error, in lower case.
const NAMES: [&str; 18] = [
    "error",
    "exception",
    "panic",
    "fatal",
    "err!",
    "cannot",
    "can't",
    "could not",
    "couldn't",
    "unable",
    "failed",
    "failure",
    "not found",
    "no such",
    "denied",
    "missing",
    "invalid",
    "abort",
];

/// Word endings that, with a colon after them, introduce what is wrong.
const HEADS: [&str; 5] = ["error", "exception", "panic", "fatal", "err!"];

/// Words before an error's name that make the line less than an error.
const LESSER: [&str; 6] = ["info", "debug", "trace", "warn", "warning", "deprecated"];

/// The last lines of one process.
#[derive(Debug, Default)]
pub(super) struct LastWords {
    /// At most [`LINES`].
    lines: VecDeque<(Instant, String)>,
}

impl LastWords {
    pub(super) fn take(&mut self, mut line: String) {
        line.truncate(line.floor_char_boundary(LINE_BYTES));
        if self.lines.len() == LINES {
            self.lines.pop_front();
        }
        self.lines.push_back((Instant::now(), line));
    }

    pub(super) fn shown(&self) -> Vec<String> {
        let skipped = self.lines.len().saturating_sub(SHOWN_LINES);
        self.lines.iter().skip(skipped).map(|(_, line)| line.clone()).collect()
    }

    /// How the server ended, and why, if it said so.
    pub(super) fn reason(&self, how: &str) -> String {
        let lines: Vec<_> = self.fresh().collect();
        match (first_error(&lines), lines.last()) {
            (Some(error), _) => format!("{how}; it wrote: {error}"),
            (None, Some(line)) => format!("{how}; it last wrote: {line}"),
            (None, None) => how.to_owned(),
        }
    }

    fn fresh(&self) -> impl Iterator<Item = &str> {
        let last = self.lines.back().map(|(at, _)| *at);
        let is_fresh = move |at: &Instant| last.is_some_and(|last| last - *at <= FRESH);
        self.lines.iter().filter(move |(at, _)| is_fresh(at)).map(|(_, line)| line.as_str())
    }
}

/// The first line that begins with an error's name and a colon, else the first with such a word
/// anywhere. Indented lines are skipped: they are source code or a place in it.
fn first_error(lines: &[&str]) -> Option<String> {
    let named = |names: fn(&str) -> bool| {
        lines.iter().position(|line| !line.starts_with([' ', '\t']) && names(line))
    };
    let at = named(is_headed).or_else(|| named(is_named))?;
    let next = lines.get(at + 1).map(|line| line.trim());
    Some(match next {
        // A Rust panic says where on one line and what on the next.
        Some(next) if lines[at].ends_with(':') => format!("{} {next}", lines[at]),
        _ => lines[at].to_owned(),
    })
}

fn is_headed(line: &str) -> bool {
    let Some((head, _)) = line.split_once(": ") else { return false };
    let head = head.to_ascii_lowercase();
    HEADS.iter().any(|name| head.ends_with(name)) && !is_lesser(&head)
}

fn is_named(line: &str) -> bool {
    let line = line.to_lowercase();
    let at = NAMES.iter().filter_map(|name| line.find(name)).min();
    at.is_some_and(|at| !is_lesser(&line[..at]))
}

/// Whether the words before an error's name play it down: `[info] error handler installed`, `no
/// errors`.
fn is_lesser(before: &str) -> bool {
    let words = before.split(|letter: char| !letter.is_alphanumeric());
    let words: Vec<_> = words.filter(|word| !word.is_empty()).collect();
    words.last().is_some_and(|word| ["no", "0"].contains(word))
        || words.iter().any(|word| LESSER.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(trace: &str, expected: &str) {
        let lines: Vec<_> = trace.lines().filter(|line| !line.trim().is_empty()).collect();
        let said = first_error(&lines);
        assert_eq!(said.as_deref().unwrap_or("nothing"), expected, "{trace}");
    }

    #[test]
    fn a_trace_is_told_by_the_line_that_names_its_error() {
        check(
            "node:internal/modules/cjs/loader:1228\n  throw err;\n  ^\n\n\
             Error: Cannot find module '/srv/index.js'\n    at Module._resolve (node:internal:1225)\n\
             \x20   at Function.executeUserEntryPoint [as runMain] {\n  code: 'MODULE_NOT_FOUND',\n\
             \x20 requireStack: []\n}\n\nNode.js v22.1.0",
            "Error: Cannot find module '/srv/index.js'",
        );
        check(
            "Traceback (most recent call last):\n  File \"/srv/s.py\", line 1, in <module>\n    \
             import mcp_error\nModuleNotFoundError: No module named 'mcp_error'",
            "ModuleNotFoundError: No module named 'mcp_error'",
        );
        check(
            "Traceback (most recent call last):\nKeyError: 'TOKEN'\n\nDuring handling of the above \
             exception, another exception occurred:\n\nTraceback (most recent call last):\n\
             RuntimeError: no settings",
            "KeyError: 'TOKEN'",
        );
        check(
            "thread 'main' (7) panicked at src/main.rs:2:5:\nno token\nnote: run with \
             `RUST_BACKTRACE=1` environment variable to display a backtrace",
            "thread 'main' (7) panicked at src/main.rs:2:5: no token",
        );
        check(
            "panic: runtime error: index out of range [3]\n\ngoroutine 1 [running]:\nmain.main()",
            "panic: runtime error: index out of range [3]",
        );
        check("sh: 1: no-such-mcp: not found", "sh: 1: no-such-mcp: not found");
        check("npm error code E404\nnpm error 404 Not Found - GET", "npm error code E404");
        check(
            "npm warn deprecated glob@7: cannot be used\nError: listen EADDRINUSE: 3000\n}",
            "Error: listen EADDRINUSE: 3000",
        );
    }

    #[test]
    fn what_names_no_error_is_none() {
        check("oops", "nothing");
        check("[INFO] error handler installed\n0 errors\nbye", "nothing");
        check("    raise ValueError('cannot')\n}", "nothing");
        check("", "nothing");
    }

    #[tokio::test(start_paused = true)]
    async fn an_error_that_the_server_outlived_is_not_why_it_ended() {
        let mut words = LastWords::default();
        assert_eq!(words.reason("it ended"), "it ended");
        words.take("error: one request was refused".to_owned());
        tokio::time::advance(2 * FRESH).await;
        for line in 0..3 * LINES {
            words.take(format!("line {line}"));
        }
        assert_eq!(words.reason("it ended"), "it ended; it last wrote: line 191");
        assert_eq!((words.lines.len(), words.shown().len()), (LINES, SHOWN_LINES));
        words.take("é".repeat(LINE_BYTES));
        assert_eq!(words.shown().last().unwrap().len(), LINE_BYTES);
    }
}
