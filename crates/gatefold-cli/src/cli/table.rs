use comfy_table::{
    CellAlignment, ColumnConstraint, ContentArrangement, ContentLineStyle, LineStyle, Row,
    TableStyle,
};
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

use super::output::Style;
use super::visible::{self, Paint};

/// The most lines of a row on a terminal; longer rows end in an ellipsis.
const ROW_LINES: usize = 3;

/// The least width of a text column before others shrink.
const TEXT_WIDTH: usize = 12;

/// The gap between columns.
const GAP: &str = "  ";

/// Characters that the layout puts between columns and rows, to be found again: noncharacters of
/// Unicode, which no cell contains.
const COLUMN_END: char = '\u{fdee}';
const ROW_END: char = '\u{fdef}';

/// Text in columns. On a terminal it fits the width: long cells wrap, and end in an ellipsis if
/// they would take too many lines. Elsewhere every row is one complete line.
pub(super) struct Table {
    heads: Vec<&'static str>,
    /// Right-aligned columns, for numbers.
    right: Vec<usize>,
    /// Columns to drop on a narrow terminal, the first to go first.
    spare: Vec<usize>,
    rows: Vec<Vec<(String, Option<Paint>)>>,
    row_lines: usize,
}

impl Table {
    pub(super) fn new(heads: &[&'static str]) -> Self {
        Self {
            heads: heads.to_vec(),
            right: Vec::new(),
            spare: Vec::new(),
            rows: Vec::new(),
            row_lines: ROW_LINES,
        }
    }

    /// Sets columns of numbers, counted from 0.
    pub(super) fn numbers(mut self, columns: &[usize]) -> Self {
        self.right = columns.to_vec();
        self
    }

    /// Sets columns, counted from 0, to drop on a terminal too narrow for all, the first to go
    /// first.
    pub(super) fn spare(mut self, columns: &[usize]) -> Self {
        self.spare = columns.to_vec();
        self
    }

    /// Gives each row one line, however narrow the terminal is.
    pub(super) fn one_line_rows(mut self) -> Self {
        self.row_lines = 1;
        self
    }

    /// Cuts no cell, however many lines it takes.
    pub(super) fn whole_cells(mut self) -> Self {
        self.row_lines = usize::MAX;
        self
    }

    /// Adds a row. A cell has one colour, that of its beginning.
    pub(super) fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        let cell = |cell: String| {
            let (text, paint) = visible::unpainted(&cell);
            (visible::on_one_line(&text), paint)
        };
        self.rows.push(cells.into_iter().map(cell).collect());
    }

    /// The lines of the table, headings first.
    pub(super) fn lines(&self, style: Style) -> Vec<String> {
        let shown = style.width().and_then(|width| self.without_spare(width));
        if let Some(shown) = shown {
            return shown.lines(style);
        }
        let laid_out = self.laid_out(style.width());
        let mut lines = Vec::new();
        let mut row = 0;
        for line in &laid_out {
            if line.contains(ROW_END) {
                row += 1;
                continue;
            }
            lines.push(self.painted(row, line, style));
        }
        lines
    }

    /// The table with fewer columns, if the width cannot hold them all legibly. Empty columns go
    /// first.
    fn without_spare(&self, width: usize) -> Option<Self> {
        let column_width = |at: usize| {
            let cells =
                self.rows.iter().filter_map(|row| row.get(at)).map(|(text, _)| text.width());
            let natural = cells.chain([self.heads[at].width()]).max().unwrap_or(0);
            if self.right.contains(&at) { natural } else { natural.min(TEXT_WIDTH) }
        };
        let least: Vec<_> = (0..self.heads.len()).map(|at| column_width(at) + GAP.len()).collect();
        let mut kept: Vec<usize> = (0..self.heads.len()).collect();
        let is_empty = |at: &&usize| {
            self.rows.iter().all(|row| row.get(**at).is_none_or(|(text, _)| text.is_empty()))
        };
        let (empty, full): (Vec<&usize>, Vec<&usize>) = self.spare.iter().partition(is_empty);
        for spare in empty.into_iter().chain(full) {
            if kept.iter().map(|at| least[*at]).sum::<usize>() <= width + GAP.len() {
                break;
            }
            kept.retain(|at| at != spare);
        }
        if kept.len() == self.heads.len() {
            return None;
        }
        let row = |row: &Vec<(String, Option<Paint>)>| {
            kept.iter().filter_map(|at| row.get(*at).cloned()).collect()
        };
        let position = |at: &usize| kept.iter().position(|kept| kept == at);
        Some(Self {
            heads: kept.iter().map(|at| self.heads[*at]).collect(),
            right: self.right.iter().filter_map(position).collect(),
            spare: Vec::new(),
            rows: self.rows.iter().map(row).collect(),
            row_lines: self.row_lines,
        })
    }

    /// One laid-out line with colours. Row 0 is the headings.
    fn painted(&self, row: usize, line: &str, style: Style) -> String {
        let plain = line.replace(COLUMN_END, GAP);
        let plain = plain.trim_end();
        let plain = style.width().map_or(plain.to_owned(), |width| shortened(plain, width));
        if !style.has_colour() {
            return plain;
        }
        let Some(row) = row.checked_sub(1) else { return style.faint(&plain) };
        if style
            .width()
            .is_some_and(|width| line.replace(COLUMN_END, GAP).trim_end().width() > width)
        {
            return plain;
        }
        let paints = self.rows[row].iter().map(|(_, paint)| *paint);
        let parts = line.split(COLUMN_END).zip(paints.chain(std::iter::repeat(None)));
        let parts: Vec<_> = parts.map(|(part, paint)| painted(part, paint)).collect();
        parts.join(GAP).trim_end().to_owned()
    }

    fn laid_out(&self, width: Option<usize>) -> Vec<String> {
        let mut table = comfy_table::Table::new();
        table.load_style(
            TableStyle::new()
                .header_lines(ContentLineStyle::none().junction(COLUMN_END))
                .header_separator(LineStyle::none().fill(ROW_END).junction(ROW_END))
                .content_lines(ContentLineStyle::none().junction(COLUMN_END))
                .row_separator(LineStyle::none().fill(ROW_END).junction(ROW_END)),
        );
        table.set_truncation_indicator("…").set_header(self.heads.iter().copied());
        for row in &self.rows {
            let mut cells = Row::from(row.iter().map(|(text, _)| text));
            if width.is_some() {
                cells.max_height(self.row_lines);
            }
            table.add_row(cells);
        }
        let natural: Vec<_> = table.column_max_content_widths();
        for (at, column) in table.column_iter_mut().enumerate() {
            column.set_padding((0, 0));
            if self.right.contains(&at) {
                column.set_cell_alignment(CellAlignment::Right);
            }
        }
        let gaps = self.heads.len().saturating_sub(1);
        let whole =
            natural.iter().map(|width| usize::from(*width)).sum::<usize>() + gaps * GAP.len();
        match width.filter(|width| *width < whole) {
            None => table.set_content_arrangement(ContentArrangement::Disabled),
            Some(width) => {
                self.keep_numbers(&mut table, &natural, width);
                // The layout believes a gap is as wide as the one character that marks it.
                let mark = COLUMN_END.width().unwrap_or(0);
                let room = (width + gaps * mark).saturating_sub(gaps * GAP.len());
                table
                    .set_content_arrangement(ContentArrangement::Dynamic)
                    .set_width(u16::try_from(room).unwrap_or(u16::MAX))
            }
        };
        table.lines().collect()
    }

    /// Numbers and the first column keep their width while they take no more than two thirds: the
    /// long texts should shrink.
    fn keep_numbers(&self, table: &mut comfy_table::Table, natural: &[u16], width: usize) {
        let is_kept = |at: usize| at == 0 || self.right.contains(&at);
        let kept = natural.iter().enumerate().filter(|(at, _)| is_kept(*at));
        let kept = kept.map(|(_, width)| usize::from(*width) + GAP.len()).sum::<usize>();
        if kept * 3 > width * 2 {
            return;
        }
        for (at, column) in table.column_iter_mut().enumerate() {
            if is_kept(at) {
                column.set_constraint(ColumnConstraint::ContentWidth);
            }
        }
    }
}

fn painted(part: &str, paint: Option<Paint>) -> String {
    let text = part.trim();
    match paint.filter(|_| !text.is_empty()) {
        Some(paint) => part.replacen(text, &paint.mark(text), 1),
        None => part.to_owned(),
    }
}

/// The text, cut to a number of terminal columns, with an ellipsis.
pub(super) fn shortened(text: &str, columns: usize) -> String {
    if text.width() <= columns {
        return text.to_owned();
    }
    let mut short = String::new();
    let mut taken = 1;
    for c in text.chars() {
        taken += c.width().unwrap_or(0);
        if taken > columns {
            break;
        }
        short.push(c);
    }
    if columns > 0 {
        short.push('…');
    }
    short
}

/// A number of things, as in "1 tool" and "2,000 tools". `thing` is its singular.
pub(super) fn number_of(count: usize, thing: &str) -> String {
    let s = if count == 1 { "" } else { "s" };
    format!("{} {thing}{s}", grouped(count))
}

/// A number with a comma between thousands.
pub(super) fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() * 4 / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// The output at two widths and for a program.
    pub(in crate::cli) fn across_widths(lines: impl Fn(Style) -> Vec<String>) -> String {
        let plain = Style::plain();
        let widths = [("80", plain.within(80)), ("200", plain.within(200)), ("none", plain)];
        let shown = widths.map(|(width, style)| {
            let lines = lines(style);
            let shown = lines.iter().map(|line| visible::shown(line, false) + "\n");
            format!("width: {width}\n{}", shown.collect::<String>())
        });
        shown.join("\n")
    }

    fn table() -> Table {
        let mut table = Table::new(&["tool", "calls", "what it does"]).numbers(&[1]);
        let long = "looks for something that is somewhere, ".repeat(8);
        for (tool, calls, text) in [
            ("files__read", "1,024", "reads a file"),
            ("工具__搜索", "7", "在所有文档中搜索 👩‍👩‍👧 e\u{301}clair"),
            ("search__everything_there_is", "12", long.as_str()),
            ("evil\x1b[2J", "0", "two\nlines\u{9b}"),
        ] {
            table.row([tool, calls, text].map(str::to_owned));
        }
        table
    }

    #[test]
    fn thousands_are_grouped() {
        for (number, text) in [(0, "0"), (999, "999"), (1000, "1,000"), (1_234_567, "1,234,567")] {
            assert_eq!(grouped(number), text);
        }
    }

    #[test]
    fn no_line_is_wider_than_the_terminal() {
        for width in [1, 8, 20, 40, 80, 200] {
            for line in table().lines(Style::plain().within(width)) {
                assert!(line.width() <= width, "{width}: {} {line}", line.width());
            }
        }
    }

    #[test]
    fn a_table_is_laid_out_for_each_width() {
        // The combining accent is escaped, so that no editor merges the two characters.
        let shown =
            table().lines(Style::plain().within(40)).join("\n").replace('\u{301}', "<U+0301>");
        insta::assert_snapshot!(shown, @r"
        tool              calls  what it does
        files__read       1,024  reads a file
        工具__搜索            7  在所有文档中搜
                                 索 👩‍👩‍👧 e<U+0301>clair
        search__everythi     12  looks for
        ng_there_is              something that
                                 is somewhere,…
        evil␛[2J              0  two
                                 lines<U+009B>
        ");
    }

    #[test]
    fn a_narrow_terminal_does_without_spare_columns_and_first_without_empty_ones() {
        let mut table = Table::new(&["tool", "calls", "errors", "note"]).numbers(&[1, 2]);
        table.row(["files__read", "1,024", "3", ""].map(str::to_owned));
        let table = table.spare(&[1, 3]);
        for (width, heads) in [
            (40, "tool         calls  errors  note"),
            (28, "tool         calls  errors"),
            (20, "tool         errors"),
        ] {
            assert_eq!(table.lines(Style::plain().within(width))[0], heads);
        }
        assert!(table.lines(Style::plain())[0].ends_with("note"));
    }

    #[test]
    fn what_goes_to_a_program_is_whole_and_one_line_a_row() {
        let lines = table().lines(Style::plain());
        assert_eq!(lines.len(), 5);
        assert_eq!(lines[0], "tool                         calls  what it does");
        assert!(lines[3].ends_with("looks for something that is somewhere,"));
        assert!(lines[3].len() > 300 && !lines[3].contains('…'));
        assert_eq!(lines[4], "evil␛[2J                         0  two lines<U+009B>");
    }

    #[test]
    fn texts_are_cut_by_what_they_show() {
        for (text, columns, expected) in [
            ("abc", 3, "abc"),
            ("abcd", 3, "ab…"),
            ("工具箱", 5, "工具…"),
            ("工具箱", 4, "工…"),
            ("a", 0, ""),
        ] {
            assert_eq!(shortened(text, columns), expected);
        }
    }
}
