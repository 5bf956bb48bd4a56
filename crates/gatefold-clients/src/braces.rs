//! Members between braces, for formats whose library does not edit them without changing other
//! bytes: TOML's inline tables and YAML's flow mappings.

use std::ops::Range;

use crate::EditError;
use crate::entry::Notation;
use crate::piece::{Insertion, Piece, PieceKind, Position};

/// A table in braces.
#[derive(Debug)]
pub(crate) struct Braces {
    /// The text between the braces.
    pub inside: Range<usize>,
    pub members: Vec<Member>,
}

#[derive(Debug)]
pub(crate) struct Member {
    pub name: String,
    /// From the key to the end of the value.
    pub range: Range<usize>,
}

impl Braces {
    pub(crate) fn insert(
        &self,
        text: &str,
        name: &str,
        insertion: Insertion<'_>,
        position: Position<'_>,
        notation: &Notation,
    ) -> Result<String, EditError> {
        let member = insertion.member(|value| notation.pair(name, value))?;
        let is_before = |other: &&Member| position.is_behind(&other.name);
        // Members on lines of their own stay on lines of their own.
        let mut gaps = self.members.windows(2).map(|two| two[0].range.end..two[1].range.start);
        let comma = gaps.find(|gap| is_comma(&text[gap.clone()]));
        let comma = comma.map_or(", ", |gap| &text[gap]);
        let (at, member) = match (self.members.iter().rfind(is_before), self.members.first()) {
            (Some(last), _) => (last.range.end, format!("{comma}{member}")),
            (None, Some(first)) => (first.range.start, format!("{member}{comma}")),
            (None, None) => (self.inside.start, member),
        };
        Ok(format!("{}{member}{}", &text[..at], &text[at..]))
    }

    /// The text without the member `name` and its comma, and the member itself.
    pub(crate) fn take(&self, text: &str, name: &str) -> Result<(String, Vec<Piece>), EditError> {
        let index = self.members.iter().position(|member| member.name == name);
        let index = index.ok_or_else(|| EditError::NoSuchServer(name.to_owned()))?;
        let own = self.members[index].range.clone();
        let previous = index.checked_sub(1).map(|index| self.members[index].range.end);
        let cut = match (previous, self.members.get(index + 1)) {
            (_, Some(next)) if is_comma(&text[own.end..next.range.start]) => {
                own.start..next.range.start
            }
            (Some(end), _) if is_comma(&text[end..own.start]) => end..own.end,
            // With comments beside it, only the comma goes.
            _ => {
                let rest = &text[own.end..self.inside.end];
                let comma = rest.trim_start().strip_prefix(',');
                own.start..comma.map_or(own.end, |behind| self.inside.end - behind.len())
            }
        };
        let piece = Piece { text: text[own].to_owned(), kind: PieceKind::Braced };
        Ok((format!("{}{}", &text[..cut.start], &text[cut.end..]), vec![piece]))
    }
}

fn is_comma(gap: &str) -> bool {
    gap.trim() == ","
}
