//! Values of a text of JSON, each on a line behind its path. What is left out is marked outside of
//! quotes, where nothing in the text can stand.

use std::cell::RefCell;
use std::fmt::Write as _;
use std::rc::Rc;

use rustc_hash::FxHashMap;

use crate::json::{self, unescaped};
use crate::lines::grouped;
use crate::paths::{joined, member_step};
use crate::rows::mark;
use crate::survey::JsonSurvey;

/// How much of values is shown, from much to little.
const DETAILS: [Detail; 5] = [
    Detail { text: 1_000, items: 40, members: 60 },
    Detail { text: 400, items: 20, members: 60 },
    Detail { text: 160, items: 8, members: 40 },
    Detail { text: 80, items: 4, members: 40 },
    Detail { text: 40, items: 2, members: 20 },
];

/// How many items of a list should be seen before more detail is shown of each.
const TELLING_ITEMS: usize = 3;

/// How long a container is shown on one line, in bytes, when nothing is left out of it.
const WHOLE_LINE: usize = 600;

/// How deep containers are shown on lines of their own.
const MAX_LEVELS: usize = 6;

/// The most members of an object that are shown on lines of their own.
const MAX_MEMBERS: usize = 60;

/// The longest name that is shown, in bytes.
const MAX_NAME: usize = 200;

/// The space that a value gets at least, in bytes.
const LEAST_SHARE: usize = 60;

/// The most characters of texts, items of lists and members of objects that are shown.
#[derive(Debug, Clone, Copy)]
struct Detail {
    text: usize,
    items: usize,
    members: usize,
}

/// Shows parts of a text that was surveyed.
pub(crate) struct JsonExcerpt<'a> {
    text: &'a str,
    survey: &'a JsonSurvey<'a>,
    /// What is shown of large objects, by where they begin: one for each [`ChosenMembers`].
    chosen: RefCell<FxHashMap<usize, Rc<ChosenMembers<'a>>>>,
}

/// The members of an object that may be shown.
struct ChosenMembers<'a> {
    members: Vec<(&'a str, &'a str)>,
    /// How many others there are.
    others: usize,
}

/// Lines in the making.
struct ExcerptLines {
    text: String,
    detail: Detail,
    /// The fewest items that are shown of any list that has more.
    fewest: usize,
}

impl<'a> JsonExcerpt<'a> {
    pub(crate) fn new(text: &'a str, survey: &'a JsonSurvey<'a>) -> Self {
        Self { text, survey, chosen: RefCell::default() }
    }

    /// As much as so many bytes hold.
    pub(crate) fn lines(&self, bytes: usize) -> String {
        let mut best: Option<ExcerptLines> = None;
        for detail in DETAILS {
            let mut lines = ExcerptLines { text: String::new(), detail, fewest: usize::MAX };
            self.show(&mut lines, ".", self.text.trim(), bytes, 0);
            let is_enough = lines.fewest >= TELLING_ITEMS;
            if best.as_ref().is_none_or(|best| lines.fewest > best.fewest) {
                best = Some(lines);
            }
            if is_enough {
                break;
            }
        }
        best.map(|lines| lines.text).unwrap_or_default()
    }

    /// A value on one line, or its parts on lines of their own.
    fn show(
        &self,
        lines: &mut ExcerptLines,
        place: &str,
        value: &'a str,
        bytes: usize,
        level: usize,
    ) {
        let is_container = value.starts_with(['[', '{']);
        let mut one = Inline { text: String::new(), limit: bytes, is_cut: false };
        let fits = if is_container {
            one.limit = bytes.min(WHOLE_LINE);
            self.inline(&mut one, value, lines.detail) && !one.is_cut
        } else {
            self.inline(&mut one, value, lines.detail) || {
                one.text.clear();
                let least = DETAILS[DETAILS.len() - 1];
                self.inline(&mut one, value, least)
            }
        };
        if fits && one.text.len() + place.len() + 4 <= bytes {
            writeln!(lines.text, "{place} = {}", one.text).expect("a String takes everything");
        } else if !is_container || level == MAX_LEVELS {
            let what = if is_container { "value" } else { "text" };
            lines.mark(place, &format!("the {what}"));
        } else if value.starts_with('[') {
            self.show_items(lines, place, value, bytes, level);
        } else {
            self.show_members(lines, place, value, bytes, level);
        }
    }

    fn show_items(
        &self,
        lines: &mut ExcerptLines,
        place: &str,
        array: &'a str,
        bytes: usize,
        level: usize,
    ) {
        let start = lines.text.len();
        let left = |lines: &ExcerptLines| bytes.saturating_sub(lines.text.len() - start);
        let mut shown = 0;
        for item in self.items(array) {
            let place = joined(place, &format!("[{shown}]"));
            let limit = left(lines).saturating_sub(place.len() + 4 + LEAST_SHARE);
            let mut one = Inline { text: String::new(), limit, is_cut: false };
            if self.inline(&mut one, item, lines.detail) {
                writeln!(lines.text, "{place} = {}", one.text).expect("a String takes everything");
            } else if shown == 0 && left(lines) > 2 * LEAST_SHARE {
                let share = left(lines) - LEAST_SHARE;
                self.show(lines, &place, item, share, level + 1);
            } else {
                break;
            }
            shown += 1;
        }
        let count = self.count(array);
        if shown < count {
            lines.fewest = lines.fewest.min(shown);
            let place = joined(place, &format!("[{shown}:]"));
            lines.mark(&place, &format!("{} of {} items", grouped(count - shown), grouped(count)));
        }
    }

    /// The members of an object, with even shares of the space. What one does not need, others get.
    fn show_members(
        &self,
        lines: &mut ExcerptLines,
        place: &str,
        object: &'a str,
        bytes: usize,
        level: usize,
    ) {
        let chosen = self.members(object);
        let limit = bytes.saturating_sub(2 * LEAST_SHARE);
        let mut sizes: Vec<(usize, usize)> = Vec::new();
        let most = MAX_MEMBERS.min(limit / LEAST_SHARE + 1);
        for (at, (name, value)) in chosen.members.iter().take(most).enumerate() {
            let mut one = Inline { text: String::new(), limit, is_cut: false };
            let fits = self.inline(&mut one, value, lines.detail);
            let size = if fits { one.text.len() } else { limit };
            sizes.push((size + place.len() + name.len() + 8, at));
        }
        let mut shares = vec![0; sizes.len()];
        sizes.sort_unstable();
        let (mut left, mut count) = (limit, sizes.len());
        for (size, at) in sizes {
            shares[at] = size.min(left / count);
            left -= shares[at];
            count -= 1;
        }
        let mut shown = 0;
        for ((name, value), share) in chosen.members.iter().zip(&shares) {
            let place = joined(place, &member_step(&unescaped(name)));
            if place.len() + LEAST_SHARE > *share && value.len() + place.len() + 4 > *share {
                lines.mark(&place, "the value");
            } else {
                // The last share is what is left.
                self.show(lines, &place, value, *share, level + 1);
            }
            shown += 1;
        }
        let others = chosen.members.len() - shown + chosen.others;
        if others > 0 {
            let noun = if others == 1 { "member" } else { "members" };
            lines.mark(place, &format!("{} further {noun}", grouped(others)));
        }
    }

    /// Writes a value, with marks where something is left out. `false` if it does not fit.
    fn inline(&self, out: &mut Inline, value: &'a str, detail: Detail) -> bool {
        match value.as_bytes().first() {
            Some(b'"') => out.text_value(value, detail.text),
            Some(b'[') => {
                out.push("[");
                let mut shown = 0;
                for item in self.items(value).take(detail.items) {
                    if shown > 0 {
                        out.push(",");
                    }
                    if !out.fits() || !self.inline(out, item, detail) {
                        return false;
                    }
                    shown += 1;
                }
                // Only then are they counted.
                if shown == detail.items && shown < self.count(value) {
                    let count = self.count(value) - shown;
                    out.leave_out(shown, &format!("{} items", grouped(count)));
                }
                out.push("]");
                out.fits()
            }
            Some(b'{') => {
                out.push("{");
                let chosen = self.members(value);
                let mut shown = 0;
                for (name, value) in chosen.members.iter().take(detail.members) {
                    out.push(if shown > 0 { ",\"" } else { "\"" });
                    out.push(name);
                    out.push("\":");
                    if !out.fits() || !self.inline(out, value, detail) {
                        return false;
                    }
                    shown += 1;
                }
                let others = chosen.members.len() - shown + chosen.others;
                if others > 0 {
                    out.leave_out(shown, &format!("{} members", grouped(others)));
                }
                out.push("}");
                out.fits()
            }
            _ => {
                if value.len() > detail.text.max(40) {
                    let (head, left_out) = value.split_at(detail.text.min(value.len()));
                    out.push(head);
                    out.leave_out(1, &format!("{} digits", grouped(left_out.len())));
                } else {
                    out.push(value);
                }
                out.fits()
            }
        }
    }

    /// The items of an array, without looking into the large ones.
    fn items(&self, array: &'a str) -> impl Iterator<Item = &'a str> {
        let base = self.offset(array);
        json::items_with(array, move |at| self.survey.large(base + at).map(|(end, _)| end - base))
    }

    fn count(&self, array: &'a str) -> usize {
        match self.survey.large(self.offset(array)) {
            Some((_, count)) => count,
            None => json::items(array).count(),
        }
    }

    /// The first members. Of several with one name the last counts.
    fn members(&self, object: &'a str) -> Rc<ChosenMembers<'a>> {
        let base = self.offset(object);
        if let Some(chosen) = self.chosen.borrow().get(&base) {
            return Rc::clone(chosen);
        }
        let mut chosen = ChosenMembers { members: Vec::new(), others: 0 };
        let ends = |at| self.survey.large(base + at).map(|(end, _)| end - base);
        for (name, value) in json::members_with(object, ends) {
            let same = |other: &str| {
                other == name
                    || (other.contains('\\') || name.contains('\\'))
                        && unescaped(other) == unescaped(name)
            };
            if let Some(known) = chosen.members.iter_mut().find(|(other, _)| same(other)) {
                known.1 = value;
            } else if chosen.members.len() < MAX_MEMBERS && name.len() <= MAX_NAME {
                chosen.members.push((name, value));
            } else {
                chosen.others += 1;
            }
        }
        let chosen = Rc::new(chosen);
        if self.survey.large(base).is_some() {
            self.chosen.borrow_mut().insert(base, Rc::clone(&chosen));
        }
        chosen
    }

    /// Where a part of the text begins.
    fn offset(&self, part: &str) -> usize {
        part.as_ptr().addr() - self.text.as_ptr().addr()
    }
}

impl ExcerptLines {
    /// `.items[3:] …[409 of 412 items left out]…`
    fn mark(&mut self, place: &str, what: &str) {
        writeln!(self.text, "{place} {}", mark(what)).expect("a String takes everything");
    }
}

/// A value on one line in the making.
struct Inline {
    text: String,
    /// In bytes.
    limit: usize,
    /// Whether items or members are left out.
    is_cut: bool,
}

impl Inline {
    fn push(&mut self, part: &str) {
        self.text.push_str(part);
    }

    fn fits(&self) -> bool {
        self.text.len() <= self.limit
    }

    fn leave_out(&mut self, shown: usize, what: &str) {
        self.push(if shown > 0 { " " } else { "" });
        self.push(&mark(what));
        self.is_cut = true;
    }

    /// A text, its middle left out if it has more characters than that.
    fn text_value(&mut self, value: &str, most: usize) -> bool {
        let inner = &value[1..value.len() - 1];
        // No character takes more bytes than an escaped pair of surrogates.
        let count = if inner.len() <= most { 0 } else { json::character_count(inner) };
        if count <= most {
            if value.len() <= self.limit {
                self.push(value);
            }
            return value.len() <= self.limit && self.fits();
        }
        let (first, last) = (most * 2 / 3, most / 3);
        let head = json::character_end(inner, first);
        let tail = json::character_end(inner, count - last);
        let left_out = mark(&format!("{} characters", grouped(count - first - last)));
        write!(self.text, "\"{}\" {left_out} \"{}\"", &inner[..head], &inner[tail..])
            .expect("a String takes everything");
        self.fits()
    }
}
