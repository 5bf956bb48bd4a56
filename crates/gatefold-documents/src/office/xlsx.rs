//! XLSX (ECMA-376, part 1, 18): each sheet under its name, its rows as tables that empty rows part.

use std::collections::HashMap;

use super::numbers::{self, NumberKind};
use super::package::{Package, References};
use super::xml::{self, Clock, Element, Visitor};
use crate::document::{Part, Place};
use crate::draft::{Draft, TableCell};
use crate::limits::MAX_TEXT;
use crate::{DocumentFault, Format};

/// The most sheets and cells that are read, and the most columns and rows of a sheet (18.3.1.73).
const MAX_SHEETS: usize = 500;
const MAX_CELLS: usize = 300_000;
const MAX_COLUMNS: u32 = 16_384;
const MAX_ROWS: u32 = 1_048_576;

/// The most columns that a table is shown with; what is further right is told cell by cell no more.
const MAX_WIDTH: u32 = 512;

/// The most texts that cells share, and kinds of numbers.
const MAX_SHARED: usize = 500_000;
const MAX_KINDS: usize = 65_536;

pub(super) fn read(package: &mut Package<'_>, draft: &mut Draft) -> Result<(), DocumentFault> {
    let main = package.main_part()?;
    let references = package.references(&main)?;
    let mut book = Workbook::default();
    xml::walk(&package.needed_part(&main)?, draft.format(), &mut book)?;
    book.read_styles(package, &references, draft)?;
    book.read_shared(package, &references)?;
    let (mut left, sheets) = (MAX_CELLS, std::mem::take(&mut book.sheets));
    for (number, (name, id)) in (1_u32..).zip(&sheets) {
        let Some(part) = references.target(id) else { continue };
        draft.add_heading(2, name)?;
        let sheet = package.needed_part(part);
        let read = sheet.and_then(|xml| SheetReader::new(&book, draft, number, left).read(&xml));
        match read {
            Ok(rest) => left = rest,
            Err(fault @ (DocumentFault::TooLong(_) | DocumentFault::Encrypted(_))) => {
                return Err(fault);
            }
            // A sheet that cannot be read costs no more than itself.
            Err(fault) => draft.add_fault(Part::Named(name.clone()), fault),
        }
        if left == 0 {
            return Err(DocumentFault::TooLarge(draft.format()));
        }
    }
    if sheets.len() == MAX_SHEETS {
        return Err(DocumentFault::TooLarge(draft.format()));
    }
    Ok(())
}

/// What all sheets have in common.
#[derive(Default)]
struct Workbook {
    /// Names and ids of their parts.
    sheets: Vec<(String, String)>,
    is_from_1904: bool,
    shared: Vec<String>,
    kinds: Vec<NumberKind>,
}

impl Visitor for Workbook {
    fn open(&mut self, name: &str, element: &Element<'_>) -> Result<(), DocumentFault> {
        match name {
            "workbookPr" => {
                let is_old = element.attribute("date1904");
                self.is_from_1904 = is_old.is_some_and(|value| matches!(&value[..], "1" | "true"));
            }
            "sheet" if self.sheets.len() < MAX_SHEETS => {
                if let (Some(name), Some(id)) =
                    (element.attribute("name"), element.prefixed_attribute("id"))
                {
                    self.sheets.push((name.into_owned(), id.into_owned()));
                }
            }
            _ => {}
        }
        Ok(())
    }
}

impl Workbook {
    /// Without styles dates are numbers, which is said and no reason to stop.
    fn read_styles(
        &mut self,
        package: &mut Package<'_>,
        references: &References,
        draft: &mut Draft,
    ) -> Result<(), DocumentFault> {
        let Some(part) = references.of_kind("styles") else { return Ok(()) };
        let mut reader = StyleReader::default();
        let Some(xml) = package.part(part)? else { return Ok(()) };
        if let Err(fault) = xml::walk(&xml, draft.format(), &mut reader) {
            draft.add_fault(Part::Named(part.to_owned()), fault);
        }
        self.kinds = reader.kinds;
        Ok(())
    }

    fn read_shared(
        &mut self,
        package: &mut Package<'_>,
        references: &References,
    ) -> Result<(), DocumentFault> {
        let Some(part) = references.of_kind("sharedStrings") else { return Ok(()) };
        let Some(xml) = package.part(part)? else { return Ok(()) };
        let mut reader = SharedReader::default();
        xml::walk(&xml, Format::Xlsx, &mut reader)?;
        self.shared = reader.texts;
        Ok(())
    }
}

/// The kinds of numbers that cells name by their position in a list.
#[derive(Default)]
struct StyleReader {
    codes: HashMap<u32, NumberKind>,
    kinds: Vec<NumberKind>,
    is_in_cell_formats: bool,
}

impl Visitor for StyleReader {
    fn open(&mut self, name: &str, element: &Element<'_>) -> Result<(), DocumentFault> {
        match name {
            "numFmt" if self.codes.len() < MAX_KINDS => {
                if let (Some(id), Some(code)) =
                    (element.number("numFmtId"), element.attribute("formatCode"))
                {
                    self.codes.insert(id, numbers::kind_of_code(&code));
                }
            }
            "cellXfs" => self.is_in_cell_formats = true,
            "xf" if self.is_in_cell_formats && self.kinds.len() < MAX_KINDS => {
                let id = element.number("numFmtId").unwrap_or_default();
                let kind = self.codes.get(&id).copied();
                self.kinds.push(kind.unwrap_or_else(|| numbers::kind_of_id(id)));
            }
            _ => {}
        }
        Ok(())
    }

    fn close(&mut self, name: &str) -> Result<(), DocumentFault> {
        self.is_in_cell_formats &= name != "cellXfs";
        Ok(())
    }
}

#[derive(Default)]
struct SharedReader {
    texts: Vec<String>,
    text: String,
    length: usize,
    is_in_text: bool,
    is_phonetic: bool,
}

impl Visitor for SharedReader {
    fn open(&mut self, name: &str, _: &Element<'_>) -> Result<(), DocumentFault> {
        self.is_phonetic |= name == "rPh";
        self.is_in_text = name == "t" && !self.is_phonetic;
        Ok(())
    }

    fn close(&mut self, name: &str) -> Result<(), DocumentFault> {
        self.is_in_text = false;
        self.is_phonetic &= name != "rPh";
        if name == "si" {
            if self.texts.len() >= MAX_SHARED || self.length > 2 * MAX_TEXT {
                return Err(DocumentFault::TooLarge(Format::Xlsx));
            }
            self.texts.push(std::mem::take(&mut self.text));
        }
        Ok(())
    }

    fn text(&mut self, text: &str) -> Result<(), DocumentFault> {
        if self.is_in_text && self.length <= 2 * MAX_TEXT {
            self.length += text.len();
            self.text.push_str(text);
        }
        Ok(())
    }
}

struct SheetReader<'d> {
    book: &'d Workbook,
    draft: &'d mut Draft,
    clock: Clock,
    sheet: u32,
    /// How many more cells are read.
    left: usize,
    /// The rows of the open table: each with its number and its cells by column.
    rows: Vec<(u32, Vec<(u32, String)>)>,
    length: usize,
    row: u32,
    column: u32,
    cell: OpenCell,
    target: CellPart,
}

#[derive(Default)]
struct OpenCell {
    kind: String,
    style: usize,
    value: String,
    formula: String,
}

/// The part of a cell that text belongs to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum CellPart {
    None,
    Value,
    Formula,
}

impl<'d> SheetReader<'d> {
    fn new(book: &'d Workbook, draft: &'d mut Draft, sheet: u32, left: usize) -> Self {
        Self {
            clock: Clock::of(draft),
            book,
            draft,
            sheet,
            left,
            rows: Vec::new(),
            length: 0,
            row: 0,
            column: 0,
            cell: OpenCell::default(),
            target: CellPart::None,
        }
    }

    /// Reads a sheet, and says how many more cells are read after it.
    fn read(mut self, xml: &str) -> Result<usize, DocumentFault> {
        let read = xml::walk(xml, Format::Xlsx, &mut self);
        self.flush()?;
        read.map(|()| self.left)
    }

    fn flush(&mut self) -> Result<(), DocumentFault> {
        let rows = std::mem::take(&mut self.rows);
        let columns = rows.iter().flat_map(|(_, cells)| cells.iter().map(|(column, _)| *column));
        let Some((first, last)) = columns.fold(None, |range: Option<(u32, u32)>, column| {
            let (first, last) = range.unwrap_or((column, column));
            Some((first.min(column), last.max(column)))
        }) else {
            return Ok(());
        };
        self.length = 0;
        let last = last.min(first + MAX_WIDTH - 1);
        let sheet = self.sheet;
        let rows = rows.into_iter().map(|(row, cells)| {
            let mut line = vec![TableCell::default(); (last - first + 1) as usize];
            for (column, text) in cells.into_iter().filter(|(column, _)| *column <= last) {
                let place = Some(Place::Cell { sheet, row, column });
                line[(column - first) as usize] = TableCell { text, place };
            }
            // What is empty at the end of a row needs no cells: the table gives them.
            line.truncate(
                line.iter().rposition(|cell| cell.place.is_some()).map_or(0, |at| at + 1),
            );
            line
        });
        self.draft.add_table((last - first + 1) as usize, rows)
    }

    fn open_row(&mut self, number: Option<u32>) -> Result<(), DocumentFault> {
        let row = number.unwrap_or(self.row + 1).min(MAX_ROWS);
        // An empty row ends a table.
        if self.rows.last().is_some_and(|(last, _)| row != last + 1) {
            self.flush()?;
        }
        (self.row, self.column) = (row, 0);
        Ok(())
    }

    fn open_cell(&mut self, element: &Element<'_>) {
        let named = element.attribute("r").and_then(|name| column_of(&name));
        self.column = named.unwrap_or(self.column + 1).min(MAX_COLUMNS);
        self.cell = OpenCell {
            kind: element.attribute("t").unwrap_or_default().into_owned(),
            style: element.number("s").unwrap_or_default() as usize,
            ..OpenCell::default()
        };
    }

    fn close_cell(&mut self) -> Result<(), DocumentFault> {
        let cell = std::mem::take(&mut self.cell);
        let text = self.cell_text(&cell);
        if text.trim().is_empty() {
            return Ok(());
        }
        self.length += text.len();
        if self.left == 0 || self.length > MAX_TEXT {
            return Err(DocumentFault::TooLarge(Format::Xlsx));
        }
        self.left -= 1;
        if self.rows.last().is_none_or(|(row, _)| *row != self.row) {
            self.rows.push((self.row, Vec::new()));
        }
        if let Some((_, cells)) = self.rows.last_mut() {
            cells.push((self.column, text));
        }
        Ok(())
    }

    fn cell_text(&self, cell: &OpenCell) -> String {
        let value = &cell.value;
        match &cell.kind[..] {
            "s" => {
                let shared =
                    value.trim().parse().ok().and_then(|at: usize| self.book.shared.get(at));
                shared.cloned().unwrap_or_default()
            }
            "b" => if value.trim() == "1" { "TRUE" } else { "FALSE" }.to_owned(),
            "str" | "inlineStr" | "e" | "d" => value.clone(),
            // Nobody has calculated it yet.
            _ if value.trim().is_empty() && !cell.formula.is_empty() => {
                format!("={}", cell.formula)
            }
            _ => {
                let kind = self.book.kinds.get(cell.style).copied().unwrap_or(NumberKind::Plain);
                numbers::number_text(value, kind, self.book.is_from_1904)
            }
        }
    }
}

/// The number of the column in a cell's name, such as 28 of `AB7`.
fn column_of(name: &str) -> Option<u32> {
    let mut column = 0_u32;
    for letter in name.bytes().take_while(u8::is_ascii_alphabetic) {
        column = column
            .checked_mul(26)?
            .checked_add(u32::from(letter.to_ascii_uppercase() - b'A') + 1)?;
    }
    (1..=MAX_COLUMNS).contains(&column).then_some(column)
}

impl Visitor for SheetReader<'_> {
    fn open(&mut self, name: &str, element: &Element<'_>) -> Result<(), DocumentFault> {
        self.clock.tick()?;
        match name {
            "row" => self.open_row(element.number("r"))?,
            "c" => self.open_cell(element),
            "v" | "t" => self.target = CellPart::Value,
            "f" => self.target = CellPart::Formula,
            _ => {}
        }
        Ok(())
    }

    fn close(&mut self, name: &str) -> Result<(), DocumentFault> {
        self.target = CellPart::None;
        if name == "c" {
            self.close_cell()?;
        }
        Ok(())
    }

    fn text(&mut self, text: &str) -> Result<(), DocumentFault> {
        let target = match self.target {
            CellPart::None => return Ok(()),
            CellPart::Value => &mut self.cell.value,
            CellPart::Formula => &mut self.cell.formula,
        };
        if target.len() + text.len() > MAX_TEXT {
            return Err(DocumentFault::TooLarge(Format::Xlsx));
        }
        target.push_str(text);
        Ok(())
    }
}
