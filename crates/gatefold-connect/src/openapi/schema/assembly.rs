//! One schema and all that it refers to, as a single text.

use std::collections::{HashMap, HashSet, VecDeque};
use std::fmt::Write as _;
use std::rc::Rc;

use super::piece::{Piece, Segment};

/// How deep the values of an assembled schema may nest. What would go deeper stays in `$defs`.
const NESTING_LIMIT: usize = 90;

/// Which of the schemas that are referred to belong to the text, and in what form.
pub(super) struct Assembly {
    pieces: HashMap<usize, Rc<Piece>>,
    uses: HashMap<usize, usize>,
    /// What is `{}` for want of room.
    cut: HashSet<usize>,
}

impl Assembly {
    /// Takes in what is referred to, the nearest first, as long as the sum of sizes is within the budget.
    pub(super) fn of(
        root: &Piece,
        budget: usize,
        mut piece: impl FnMut(usize) -> Rc<Piece>,
    ) -> Self {
        let mut assembly =
            Self { pieces: HashMap::new(), uses: HashMap::new(), cut: HashSet::new() };
        let mut size = root.size;
        let mut open: VecDeque<usize> = VecDeque::new();
        assembly.count(root, &mut open);
        while let Some(id) = open.pop_front() {
            let next = piece(id);
            if size + next.size > budget {
                assembly.cut.insert(id);
                continue;
            }
            size += next.size;
            assembly.count(&next, &mut open);
            assembly.pieces.insert(id, next);
        }
        assembly
    }

    fn count(&mut self, piece: &Piece, open: &mut VecDeque<usize>) {
        for id in piece.components() {
            let uses = self.uses.entry(id).or_default();
            *uses += 1;
            if *uses == 1 {
                open.push_back(id);
            }
        }
    }

    pub(super) fn has_cuts(&self) -> bool {
        !self.cut.is_empty()
    }

    /// The text, with what is used once in its place and all else under `$defs`.
    pub(super) fn text<'a>(&'a self, root: &Piece, name: &'a dyn Fn(usize) -> &'a str) -> String {
        let mut writer = AssemblyWriter {
            assembly: self,
            name,
            text: String::new(),
            open: VecDeque::new(),
            seen: HashSet::new(),
        };
        writer.fixed(root);
        writer.root(root);
        writer.text.shrink_to_fit();
        writer.text
    }
}

struct AssemblyWriter<'a> {
    assembly: &'a Assembly,
    name: &'a dyn Fn(usize) -> &'a str,
    text: String,
    open: VecDeque<usize>,
    seen: HashSet<usize>,
}

impl AssemblyWriter<'_> {
    fn root(&mut self, root: &Piece) {
        self.piece(root, 0);
        if self.open.is_empty() || !self.text.ends_with('}') {
            return;
        }
        self.text.pop();
        let comma = if self.text.ends_with('{') { "" } else { "," };
        self.text.push_str(comma);
        self.text.push_str("\"$defs\":{");
        let mut is_first = true;
        while let Some(id) = self.open.pop_front() {
            if !is_first {
                self.text.push(',');
            }
            is_first = false;
            _ = write!(self.text, "\"{}\":", (self.name)(id));
            match self.assembly.pieces.get(&id) {
                Some(piece) => {
                    self.fixed(piece);
                    self.piece(piece, 2);
                }
                None => self.text.push_str("{}"),
            }
        }
        self.text.push_str("}}");
    }

    fn piece(&mut self, piece: &Piece, depth: usize) {
        for segment in &piece.segments {
            match segment {
                Segment::Text(text) => self.text.push_str(text),
                Segment::Component { id, depth: inner } => self.component(*id, depth + inner),
            }
        }
    }

    fn component(&mut self, id: usize, depth: usize) {
        let assembly = self.assembly;
        let Some(piece) = assembly.pieces.get(&id) else {
            return self.text.push_str("{}");
        };
        let is_single = assembly.uses.get(&id) == Some(&1);
        if is_single && depth + piece.depth < NESTING_LIMIT {
            self.fixed(piece);
            return self.piece(piece, depth);
        }
        self.refer(id);
        _ = write!(self.text, "{{\"$ref\":\"#/$defs/{}\"}}", (self.name)(id));
    }

    /// References that stand in the text already.
    fn fixed(&mut self, piece: &Piece) {
        piece.fixed.iter().for_each(|id| self.refer(*id));
    }

    fn refer(&mut self, id: usize) {
        if self.seen.insert(id) {
            self.open.push_back(id);
        }
    }
}
