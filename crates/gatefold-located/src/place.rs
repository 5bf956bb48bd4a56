//! Places in a text.

/// A syntax error: where, and what.
#[derive(Debug)]
pub struct SyntaxFault {
    /// The byte offset in the text.
    pub offset: usize,
    pub message: String,
    pub hint: &'static str,
}

/// The lines of a text, to find the place of any byte in it.
///
/// They are computed once: a file of thousands of sources needs thousands of places.
pub struct Lines<'a> {
    text: &'a str,
    /// The byte that each line begins with.
    starts: Vec<usize>,
}

impl<'a> Lines<'a> {
    pub fn of(text: &'a str) -> Self {
        let ends = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        Self { text, starts: std::iter::once(0).chain(ends.map(|(at, _)| at + 1)).collect() }
    }

    /// The line of a byte offset, from 1.
    pub fn line(&self, offset: usize) -> usize {
        self.starts.partition_point(|start| *start <= offset)
    }

    /// The line and column of a byte offset, both from 1, the column in characters.
    pub fn place(&self, offset: usize) -> (usize, usize) {
        let line = self.line(offset);
        let before = self.text.get(self.starts[line - 1]..offset).unwrap_or_default();
        (line, before.trim_start_matches('\u{feff}').chars().count() + 1)
    }
}
