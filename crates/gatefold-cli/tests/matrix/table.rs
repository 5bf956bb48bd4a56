//! The table of what worked, for people.

use std::fmt::Write as _;
use std::io::Write as _;

use crate::cell::{Cell, Era, Side};
use crate::rows::ROWS;
use crate::{Results, name};

const HEAD: usize = 18;
const COLUMN: usize = 6;

pub(crate) fn print(results: &Results) {
    let mut text = String::from("\n");
    let cells = Cell::all();
    for (head, side) in [("client", true), ("server", false)] {
        let of = |cell: &Cell| if side { cell.client } else { cell.server };
        line(&mut text, head, cells.iter().map(|cell| era(of(cell))));
        line(&mut text, "", cells.iter().map(|cell| of(cell).wire.word()));
    }
    let mut reasons = Vec::new();
    for row in &ROWS {
        let shown = cells.iter().map(|cell| {
            if let Some(reason) = (row.absent)(*cell) {
                let reason = format!("{}: {reason}", row.name);
                if !reasons.contains(&reason) {
                    reasons.push(reason);
                }
                return "n/a";
            }
            match results.get(&name(*cell, row)) {
                Some(Ok(())) => "ok",
                Some(Err(_)) => "FAIL",
                None => "-",
            }
        });
        line(&mut text, row.name, shown.collect::<Vec<_>>().into_iter());
    }
    text.push_str("\nold: handshake era, 2025-11-25; new: stateless era, 2026-07-28\n");
    text.push_str("each is tried with the gateway's own tools and with the server's alone\n");
    text.push_str("-: not tried; n/a: the protocol has no such thing:\n");
    for reason in reasons {
        text.push_str("  ");
        text.push_str(&reason);
        text.push('\n');
    }
    // A closed output means that nobody wants it.
    drop(std::io::stdout().write_all(text.as_bytes()));
}

fn era(side: Side) -> &'static str {
    match side.era {
        Era::Handshake => "old",
        Era::Stateless => "new",
    }
}

fn line<'a>(text: &mut String, head: &str, columns: impl Iterator<Item = &'a str>) {
    let mut row = format!("{head:HEAD$}");
    for column in columns {
        let _ = write!(row, "{column:COLUMN$}");
    }
    let _ = writeln!(text, "{}", row.trim_end());
}
