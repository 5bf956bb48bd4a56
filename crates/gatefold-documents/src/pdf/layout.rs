//! Pieces of text at their places, made into lines.

/// Distances in ems of the larger of two pieces: to another line, to another paragraph; to another
/// word, to another cell of a table, and back to an earlier place of the same line.
const LINE: f32 = 0.5;
const PARAGRAPH: f32 = 1.9;
const WORD: f32 = 0.15;
const CELL: f32 = 1.5;
const BACK: f32 = -0.5;

/// Where something is drawn: a position and the direction of its line, whose length is an em's.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct DrawnPosition {
    pub(super) x: f32,
    pub(super) y: f32,
    pub(super) along: (f32, f32),
}

impl DrawnPosition {
    fn em(&self) -> f32 {
        self.along.0.hypot(self.along.1)
    }
}

/// The lines of a page, in the order in which they are drawn.
#[derive(Default)]
pub(super) struct Lines {
    text: String,
    end: Option<DrawnPosition>,
}

impl Lines {
    pub(super) fn len(&self) -> usize {
        self.text.len()
    }

    /// Adds what is drawn from one place to another, parted from what is before it.
    pub(super) fn push(&mut self, from: DrawnPosition, text: &str, to: DrawnPosition) {
        if let Some(end) = self.end
            && let Some(between) = between(end, from)
            && !self.text.is_empty()
        {
            let is_parted = self.text.ends_with(char::is_whitespace) || text.starts_with(' ');
            if between.starts_with('\n') || !is_parted {
                let kept = self.text.trim_end_matches(' ').len();
                self.text.truncate(if between == " " { self.text.len() } else { kept });
                self.text.push_str(between);
            }
        }
        for c in text.chars() {
            // What steers a terminal is no text.
            let c = if c.is_whitespace() { ' ' } else { c };
            if !c.is_control() {
                self.text.push(c);
            }
        }
        self.end = Some(to);
    }

    pub(super) fn into_text(self) -> String {
        self.text.trim().to_owned()
    }
}

/// What parts two pieces.
fn between(end: DrawnPosition, from: DrawnPosition) -> Option<&'static str> {
    let em = end.em().max(from.em());
    if !(em.is_finite() && em > 0.0) {
        return Some(" ");
    }
    let (x, y) = (from.along.0 / from.em(), from.along.1 / from.em());
    let turned = (end.along.0 * x + end.along.1 * y) / end.em() < 0.99;
    let (dx, dy) = (from.x - end.x, from.y - end.y);
    let (along, across) = ((dx * x + dy * y) / em, (dy * x - dx * y) / em);
    if across > LINE || turned {
        // Upwards: another column, or what is drawn apart from the rest.
        return Some("\n\n");
    }
    match (along, across) {
        (_, down) if down < -PARAGRAPH => Some("\n\n"),
        (_, down) if down < -LINE => Some("\n"),
        (back, _) if back < BACK => Some("\n"),
        (gap, _) if gap > CELL => Some("\t"),
        (gap, _) if gap > WORD => Some(" "),
        _ => None,
    }
}
