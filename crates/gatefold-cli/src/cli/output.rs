use std::io::{IsTerminal, Stdout, Write as _, stderr, stdout};
use std::sync::atomic::{AtomicBool, Ordering};

use clap::ValueEnum;
use gatefold::Environment;
use serde::Serialize;

use super::prose::wrapped;
use super::stderr;
use super::visible::{self, Paint};

/// How many columns the further lines of a paragraph are indented by.
const HANGING: usize = 2;

/// Where results are printed. When nobody reads them any more, printing stops without an error.
///
/// Everything that is printed goes through here, so that nothing from a source can control a
/// terminal: control characters are shown instead of sent.
pub(super) struct Output {
    stdout: Stdout,
    is_json: bool,
    style: Style,
    complaints: Style,
    /// Nobody reads standard output any more.
    is_gone: AtomicBool,
}

/// When to use colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum ColourChoice {
    /// On a terminal, unless `NO_COLOR` is set; elsewhere if `CLICOLOR_FORCE` is set
    #[default]
    Auto,
    Always,
    Never,
}

/// Colours, if they are on, and the width of text, where it is limited.
#[derive(Debug, Clone, Copy)]
pub(super) struct Style {
    has_colour: bool,
    width: Option<usize>,
}

/// Whether a stream shows colours. The command line comes first, then `NO_COLOR`
/// (<https://no-color.org>), then `CLICOLOR_FORCE` and `CLICOLOR`
/// (<https://bixense.com/clicolors>).
pub(super) fn allows_colour(
    choice: ColourChoice,
    environment: &Environment,
    stream: &impl IsTerminal,
) -> bool {
    let is_set = |name| environment.get_filled(name).is_some_and(|value| value != "0");
    match choice {
        ColourChoice::Always => true,
        ColourChoice::Never => false,
        ColourChoice::Auto if environment.get_filled("NO_COLOR").is_some() => false,
        ColourChoice::Auto if is_set("CLICOLOR_FORCE") => true,
        ColourChoice::Auto => {
            stream.is_terminal()
                && environment.get("CLICOLOR") != Some("0")
                && environment.get("TERM") != Some("dumb")
        }
    }
}

impl Output {
    pub(super) fn new(environment: &Environment, choice: ColourChoice, is_json: bool) -> Self {
        let (stdout, stderr) = (stdout(), stderr());
        let width = stdout.is_terminal().then(terminal_width).flatten();
        Self {
            is_json,
            style: Style { has_colour: allows_colour(choice, environment, &stdout), width },
            complaints: Style {
                has_colour: allows_colour(choice, environment, &stderr),
                width: None,
            },
            stdout,
            is_gone: AtomicBool::new(false),
        }
    }

    /// Whether to print one JSON object instead of text.
    pub(super) fn is_json(&self) -> bool {
        self.is_json
    }

    pub(super) fn style(&self) -> Style {
        self.style
    }

    /// Whether standard output is a terminal.
    pub(super) fn is_terminal(&self) -> bool {
        self.stdout.is_terminal()
    }

    /// Whether nobody reads standard output any more, known only after a failed write.
    pub(super) fn is_gone(&self) -> bool {
        self.is_gone.load(Ordering::Relaxed)
    }

    pub(super) fn line(&self, text: &str) {
        self.print(&visible::shown(text, self.style.has_colour));
    }

    pub(super) fn lines(&self, lines: &[String]) {
        for line in lines {
            self.line(line);
        }
    }

    /// Prints a text after `indent`, in as many lines as the terminal's width needs; further lines
    /// are indented once more.
    pub(super) fn paragraph(&self, indent: &str, text: &str) {
        let hang = indent.len() + HANGING;
        self.lines(&wrapped(&format!("{indent}{text}"), self.style.width, hang));
    }

    /// Prints a piece of somebody else's text, which goes on.
    pub(super) fn piece(&self, text: &str) {
        let shown = visible::shown(text, false);
        if write!(&self.stdout, "{shown}").and_then(|()| (&self.stdout).flush()).is_err() {
            self.is_gone.store(true, Ordering::Relaxed);
        }
    }

    /// Prints a text that somebody may want exactly: it is altered only on a terminal.
    pub(super) fn verbatim(&self, text: &str) {
        if self.is_terminal() { self.line(text) } else { self.print(text) }
    }

    /// Prints a text that includes its line breaks.
    pub(super) fn text(&self, text: &str) {
        let _ = write!(&self.stdout, "{text}");
    }

    pub(super) fn json(&self, value: &impl Serialize) {
        let text = serde_json::to_string_pretty(value).expect("results have only string keys");
        self.print(&visible::escaped(&text));
    }

    /// Prints a value on one line, as one of many.
    pub(super) fn json_line(&self, value: &impl Serialize) {
        let text = serde_json::to_string(value).expect("results have only string keys");
        self.print(&visible::escaped(&text));
    }

    fn print(&self, text: &str) {
        // A reader that has gone is no failure of the command.
        if writeln!(&self.stdout, "{text}").and_then(|()| (&self.stdout).flush()).is_err() {
            self.is_gone.store(true, Ordering::Relaxed);
        }
    }

    /// Prints an error to standard error.
    pub(super) fn error(&self, text: &str) {
        self.complain(&format!("{} {text}", self.complaints.bad("error:")));
    }

    /// Prints a warning to standard error.
    pub(super) fn warning(&self, text: &str) {
        self.complain(&format!("{} {text}", self.complaints.accent("warning:")));
    }

    /// Prints a line to standard error.
    pub(super) fn complain(&self, text: &str) {
        let line = visible::shown(text, self.complaints.has_colour) + "\n";
        let _ = stderr::write(line.as_bytes());
    }
}

/// The terminal's width. Some pseudo terminals report a width of 0, which means unknown.
pub(super) fn terminal_width() -> Option<usize> {
    let (columns, _) = crossterm::terminal::size().ok()?;
    Some(usize::from(columns)).filter(|columns| *columns > 0)
}

impl Style {
    /// The same colours for text of this width.
    pub(super) fn within(self, columns: usize) -> Self {
        Self { width: Some(columns), ..self }
    }

    /// The longest line; none where lines go to a file or a program.
    pub(super) fn width(self) -> Option<usize> {
        self.width
    }

    pub(super) fn has_colour(self) -> bool {
        self.has_colour
    }

    /// Colours without a terminal, for tests of layouts.
    #[cfg(test)]
    pub(super) fn plain() -> Self {
        Self { has_colour: false, width: None }
    }

    /// A sentence, broken between words if width is limited; later lines are indented by `hang`
    /// spaces.
    pub(super) fn sentence(self, text: &str, hang: usize) -> Vec<String> {
        wrapped(text, self.width, hang)
    }

    fn paint(self, paint: Paint, text: &str) -> String {
        if self.has_colour && !text.is_empty() { paint.mark(text) } else { text.to_owned() }
    }

    pub(super) fn strong(self, text: &str) -> String {
        self.paint(Paint::Strong, text)
    }

    pub(super) fn faint(self, text: &str) -> String {
        self.paint(Paint::Faint, text)
    }

    pub(super) fn good(self, text: &str) -> String {
        self.paint(Paint::Good, text)
    }

    pub(super) fn bad(self, text: &str) -> String {
        self.paint(Paint::Bad, text)
    }

    pub(super) fn accent(self, text: &str) -> String {
        self.paint(Paint::Accent, text)
    }
}
