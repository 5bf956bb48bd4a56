//! CSV, and what parts its cells by other characters.

use csv::{ReaderBuilder, StringRecord};

use crate::DocumentFault;
use crate::document::Place;
use crate::draft::{Draft, TableCell};

/// The most cells of a file.
const MAX_CELLS: usize = 500_000;

/// How many lines are looked at to know what parts cells.
const SAMPLE_LINES: usize = 20;

pub(crate) fn read(text: &str, draft: &mut Draft) -> Result<(), DocumentFault> {
    let mut reader = ReaderBuilder::new()
        .delimiter(delimiter(text))
        .has_headers(false)
        .flexible(true)
        .from_reader(text.as_bytes());
    let (mut rows, mut cells, mut record) = (Vec::new(), 0, StringRecord::new());
    let mut end = Ok(());
    loop {
        let line = reader.position().line();
        match reader.read_record(&mut record) {
            Ok(true) => {}
            Ok(false) => break,
            Err(_) => {
                end = Err(DocumentFault::Damaged(draft.format(), "a row cannot be read"));
                break;
            }
        }
        // The empty lines before a record, which the reader skips, are not its own.
        let start = record.position().map_or(text.len(), |start| clamped(start.byte(), text));
        let before =
            text.as_bytes()[start..].iter().take_while(|byte| matches!(byte, b'\r' | b'\n'));
        let line = line + before.filter(|byte| **byte == b'\n').count() as u64;
        cells += record.len();
        if cells > MAX_CELLS {
            end = Err(DocumentFault::TooLarge(draft.format()));
            break;
        }
        draft.check_time()?;
        let place = Some(Place::Line(u32::try_from(line).unwrap_or(u32::MAX)));
        let row = record.iter().enumerate().map(|(column, text)| TableCell {
            text: text.to_owned(),
            place: place.filter(|_| column == 0),
        });
        rows.push(row.collect::<Vec<_>>());
    }
    let columns = rows.iter().map(Vec::len).max().unwrap_or_default();
    draft.add_table(columns, rows)?;
    end
}

fn clamped(byte: u64, text: &str) -> usize {
    usize::try_from(byte).map_or(text.len(), |byte| byte.min(text.len()))
}

/// The one of the usual characters that the first lines have most evenly.
fn delimiter(text: &str) -> u8 {
    let count = |delimiter: char| {
        let lines = text.lines().filter(|line| !line.trim().is_empty()).take(SAMPLE_LINES);
        let counts: Vec<usize> = lines.map(|line| line.matches(delimiter).count()).collect();
        let least = counts.iter().min().copied().unwrap_or_default();
        (least, counts.iter().sum::<usize>())
    };
    // The last of equals holds: what tabs part often has commas in its texts.
    let best = ['|', ';', ',', '\t'].into_iter().max_by_key(|delimiter| count(*delimiter));
    best.map_or(b',', |delimiter| u8::try_from(delimiter).unwrap_or(b','))
}
