//! Tables on their way, and tables in their cells.

use crate::DocumentFault;
use crate::document::BlockKind;
use crate::draft::{Draft, TableCell};

/// The most cells of one table, and how many columns one cell may span.
const MAX_CELLS: usize = 200_000;
const MAX_SPAN: u32 = 64;

/// The tables that are open, the outermost first.
#[derive(Default)]
pub(super) struct OpenTables(Vec<OpenTable>);

#[derive(Default)]
struct OpenTable {
    rows: Vec<Vec<TableCell>>,
    row: Vec<TableCell>,
    cells: usize,
    /// How many columns the open cell spans.
    span: u32,
    is_in_cell: bool,
}

impl OpenTables {
    pub(super) fn is_in_cell(&self) -> bool {
        self.0.last().is_some_and(|table| table.is_in_cell)
    }

    pub(super) fn open_table(&mut self) {
        self.0.push(OpenTable::default());
    }

    pub(super) fn open_cell(&mut self, draft: &Draft) -> Result<(), DocumentFault> {
        let Some(table) = self.0.last_mut() else { return Ok(()) };
        table.cells += 1;
        if table.cells > MAX_CELLS {
            return Err(DocumentFault::TooLarge(draft.format()));
        }
        table.row.push(TableCell::default());
        (table.span, table.is_in_cell) = (1, true);
        Ok(())
    }

    pub(super) fn span_columns(&mut self, columns: u32) {
        if let Some(table) = self.0.last_mut() {
            table.span = columns.clamp(1, MAX_SPAN);
        }
    }

    /// Adds to the open cell. Paragraphs of a cell follow each other in one line.
    pub(super) fn add_text(&mut self, text: &str) {
        let Some(cell) = self.0.last_mut().and_then(|table| table.row.last_mut()) else { return };
        if !cell.text.is_empty() && !text.is_empty() {
            cell.text.push(' ');
        }
        cell.text.push_str(text);
    }

    pub(super) fn close_cell(&mut self) {
        let Some(table) = self.0.last_mut() else { return };
        table.is_in_cell = false;
        for _ in 1..table.span {
            table.row.push(TableCell::default());
            table.cells += 1;
        }
    }

    pub(super) fn close_row(&mut self) {
        if let Some(table) = self.0.last_mut() {
            table.rows.push(std::mem::take(&mut table.row));
        }
    }

    /// Closes what a part that was cut off left open.
    pub(super) fn close_all(&mut self, draft: &mut Draft) -> Result<(), DocumentFault> {
        while let Some(table) = self.0.last() {
            if !table.row.is_empty() {
                self.close_row();
            }
            self.close_table(draft)?;
        }
        Ok(())
    }

    /// A table in a cell is text of that cell. One that has a single cell is a frame around a paragraph.
    pub(super) fn close_table(&mut self, draft: &mut Draft) -> Result<(), DocumentFault> {
        let Some(table) = self.0.pop() else { return Ok(()) };
        if !self.0.is_empty() {
            for cell in table.rows.iter().flatten() {
                self.add_text(&cell.text);
            }
            return Ok(());
        }
        let columns = table.rows.iter().map(Vec::len).max().unwrap_or_default();
        let mut texts = table.rows.iter().flatten().map(|cell| &cell.text);
        match texts.clone().count() {
            _ if texts.all(|text| text.trim().is_empty()) => Ok(()),
            1 => draft.add(BlockKind::Paragraph, &table.rows[0][0].text),
            _ => draft.add_table(columns, table.rows),
        }
    }
}
