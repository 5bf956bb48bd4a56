//! Unified diffs of one file, applied.
//!
//! A hunk goes where its old lines are: at the line that it names, moved by as much as the hunk before
//! it, or else at the nearest place after that hunk. Nothing but its old lines decides.

mod parsing;

use std::fmt::Write as _;

use crate::compute::{self, StopSign};
use crate::{BuiltinError, arguments};
use parsing::{Hunk, HunkLine, LineKind};

/// The longest text that is written, in bytes.
pub(super) const MAX_CONTENT: usize = 2 * 1024 * 1024;

/// How much of a file is shown where a hunk does not fit: lines, and characters of each.
const SHOWN_LINES: usize = 12;
const SHOWN_LINE: usize = 200;

/// Changes to one file.
pub(super) struct FileDiff<'d> {
    hunks: Vec<Hunk<'d>>,
    pub(super) makes_file: bool,
    /// Whether no line of it ends with a carriage return.
    is_plain: bool,
}

impl<'d> FileDiff<'d> {
    pub(super) fn read(text: &'d str) -> Result<Self, BuiltinError> {
        arguments::bounded("diff", text, MAX_CONTENT)?;
        let read = parsing::read(text);
        let (hunks, makes_file) = read.map_err(|what| {
            BuiltinError::arguments(format!("`diff`: {what}; nothing was changed"))
        })?;
        Ok(Self { hunks, makes_file, is_plain: !text.contains("\r\n") })
    }

    pub(super) fn hunks(&self) -> usize {
        self.hunks.len()
    }

    /// The changed text. All hunks fit, or there is none.
    pub(super) fn apply(&self, text: &str, sign: &StopSign) -> Result<String, BuiltinError> {
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        // A diff that was written without carriage returns, for a file that has one in each line.
        let mut ended = lines.iter().filter(|line| line.ends_with('\n')).peekable();
        let adds_returns =
            self.is_plain && ended.peek().is_some() && ended.all(|line| line.ends_with("\r\n"));
        let file = FileLines { lines, adds_returns };
        let (mut changed, mut at, mut moved) = (String::new(), 0, 0);
        for (number, hunk) in (1..).zip(&self.hunks) {
            let wanted = hunk.start.saturating_add_signed(moved).max(at);
            let Some(place) = file.place(hunk, wanted, at, sign)? else {
                return Err(file.misfit(hunk, number, wanted));
            };
            moved = place.cast_signed() - hunk.start.cast_signed();
            file.keep(at..place, &mut changed);
            at = file.put(hunk, place, &mut changed);
        }
        file.keep(at..file.lines.len(), &mut changed);
        Ok(changed)
    }
}

/// A file by its lines, with their line breaks.
struct FileLines<'t> {
    lines: Vec<&'t str>,
    adds_returns: bool,
}

impl FileLines<'_> {
    fn line_break(&self) -> &'static str {
        if self.adds_returns { "\r\n" } else { "\n" }
    }

    /// The place of a hunk that is nearest to the wanted one.
    fn place(
        &self,
        hunk: &Hunk<'_>,
        wanted: usize,
        from: usize,
        sign: &StopSign,
    ) -> Result<Option<usize>, BuiltinError> {
        let old = hunk.old_lines().count();
        let Some(last) = self.lines.len().checked_sub(old).filter(|last| *last >= from) else {
            return Ok(None);
        };
        // Without old lines there is nothing to look for.
        if old == 0 {
            return Ok((wanted <= last).then_some(wanted));
        }
        let wanted = wanted.min(last);
        let nearest = (0..=last - from).flat_map(|far| {
            let below = wanted.checked_add(far).filter(|place| *place <= last);
            let above = wanted.checked_sub(far).filter(|place| far > 0 && *place >= from);
            [below, above]
        });
        for place in nearest.flatten() {
            if sign.is_up() {
                return Err(compute::too_long());
            }
            if self.fits(hunk, place) {
                return Ok(Some(place));
            }
        }
        Ok(None)
    }

    fn fits(&self, hunk: &Hunk<'_>, place: usize) -> bool {
        let lines = self.lines[place..].iter().copied();
        hunk.old_lines().zip(lines).all(|(old, line)| self.is_same(old, line))
    }

    /// Whether a line of the file is one of a hunk. A missing line break counts only where the hunk
    /// says that it is missing.
    fn is_same(&self, old: &HunkLine<'_>, line: &str) -> bool {
        let text = line.strip_suffix('\n');
        if old.is_unended && text.is_some() {
            return false;
        }
        let text = text.unwrap_or(line);
        let text = if self.adds_returns { text.strip_suffix('\r').unwrap_or(text) } else { text };
        text == old.text
    }

    /// Copies lines of the file.
    fn keep(&self, lines: std::ops::Range<usize>, changed: &mut String) {
        for line in &self.lines[lines] {
            self.end_line(changed);
            changed.push_str(line);
        }
    }

    /// Puts a hunk in its place and says where the file goes on.
    fn put(&self, hunk: &Hunk<'_>, place: usize, changed: &mut String) -> usize {
        let mut at = place;
        for line in &hunk.lines {
            match line.kind {
                LineKind::Kept => self.keep(at..at + 1, changed),
                LineKind::Added => {
                    self.end_line(changed);
                    changed.push_str(line.text);
                    if !line.is_unended {
                        changed.push_str(self.line_break());
                    }
                }
                LineKind::Removed => {}
            }
            at += usize::from(line.kind != LineKind::Added);
        }
        at
    }

    /// Only the last line of a file may be without a line break.
    fn end_line(&self, changed: &mut String) {
        if !changed.is_empty() && !changed.ends_with('\n') {
            changed.push_str(self.line_break());
        }
    }

    /// What stands where a hunk should be.
    fn misfit(&self, hunk: &Hunk<'_>, number: usize, wanted: usize) -> BuiltinError {
        let mut message =
            format!("hunk {number} ({}) fits nowhere; nothing was changed.", hunk.header);
        let wanted = wanted.min(self.lines.len());
        let here = self.lines[wanted..].iter().zip(wanted + 1..);
        let here: Vec<_> = here.take(hunk.old_lines().count().clamp(1, SHOWN_LINES)).collect();
        let Some((_, first)) = here.first() else {
            let count = self.lines.len();
            let _ =
                write!(message, " The file has only {count} lines, or the hunk before is too near");
            return BuiltinError::Arguments(message);
        };
        let _ = write!(message, " From line {first} on the file has:");
        for (line, _) in &here {
            let line: String =
                line.trim_end_matches(['\r', '\n']).chars().take(SHOWN_LINE).collect();
            let _ = write!(message, "\n{line}");
        }
        BuiltinError::Arguments(message)
    }
}
