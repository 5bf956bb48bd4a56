use std::io::{IsTerminal, Stderr, Stdout, Write as _, stderr, stdout};

use gatefold::Environment;
use serde::Serialize;

/// Where results are printed. Whoever stops reading them early gets no more, and no error.
pub(super) struct Output {
    stdout: Stdout,
    stderr: Stderr,
    is_json: bool,
    style: Style,
    complaints: Style,
}

/// Colours, when they are wanted.
#[derive(Debug, Clone, Copy)]
pub(super) struct Style {
    has_colour: bool,
}

/// Whether a stream shows colours: on a terminal that can, and unless `NO_COLOR` asks for none
/// (<https://no-color.org>).
pub(super) fn allows_colour(environment: &Environment, stream: &impl IsTerminal) -> bool {
    stream.is_terminal()
        && environment.get_filled("NO_COLOR").is_none()
        && environment.get("TERM") != Some("dumb")
}

impl Output {
    pub(super) fn new(environment: &Environment, is_json: bool) -> Self {
        let (stdout, stderr) = (stdout(), stderr());
        Self {
            is_json,
            style: Style { has_colour: allows_colour(environment, &stdout) },
            complaints: Style { has_colour: allows_colour(environment, &stderr) },
            stdout,
            stderr,
        }
    }

    /// Whether one JSON object is to be printed instead of text.
    pub(super) fn is_json(&self) -> bool {
        self.is_json
    }

    pub(super) fn style(&self) -> Style {
        self.style
    }

    pub(super) fn line(&self, text: &str) {
        // A reader that is gone is no failure of the command.
        let _ = writeln!(&self.stdout, "{text}");
    }

    pub(super) fn json(&self, value: &impl Serialize) {
        let text = serde_json::to_string_pretty(value).expect("results have only string keys");
        self.line(&text);
    }

    /// Prints an error to standard error.
    pub(super) fn error(&self, text: &str) {
        self.complain(&format!("{} {text}", self.complaints.bad("error:")));
    }

    /// Prints a line to standard error.
    pub(super) fn complain(&self, text: &str) {
        let _ = writeln!(&self.stderr, "{text}");
    }
}

impl Style {
    fn paint(self, code: &str, text: &str) -> String {
        if self.has_colour && !text.is_empty() {
            format!("\x1b[{code}m{text}\x1b[0m")
        } else {
            text.to_owned()
        }
    }

    pub(super) fn strong(self, text: &str) -> String {
        self.paint("1", text)
    }

    pub(super) fn faint(self, text: &str) -> String {
        self.paint("2", text)
    }

    pub(super) fn good(self, text: &str) -> String {
        self.paint("32", text)
    }

    pub(super) fn bad(self, text: &str) -> String {
        self.paint("1;31", text)
    }

    pub(super) fn accent(self, text: &str) -> String {
        self.paint("36", text)
    }
}
