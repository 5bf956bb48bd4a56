use super::output::Style;

/// Text in columns as wide as their widest cell. The last column is as long as it is.
pub(super) struct Table {
    heads: Vec<&'static str>,
    /// Columns whose cells stand at the right, as numbers do.
    right: Vec<usize>,
    rows: Vec<Vec<String>>,
}

impl Table {
    pub(super) fn new(heads: &[&'static str]) -> Self {
        Self { heads: heads.to_vec(), right: Vec::new(), rows: Vec::new() }
    }

    /// Sets columns of numbers, counted from 0.
    pub(super) fn numbers(mut self, columns: &[usize]) -> Self {
        self.right = columns.to_vec();
        self
    }

    pub(super) fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().collect());
    }

    /// The lines of the table, heads first.
    pub(super) fn lines(&self, style: Style) -> Vec<String> {
        let heads: Vec<_> = self.heads.iter().map(|head| (*head).to_owned()).collect();
        let cell_width = |row: &Vec<String>, at: usize| row.get(at).map_or(0, |c| width(c));
        let widths: Vec<_> = (0..heads.len())
            .map(|at| {
                let rows = self.rows.iter().map(|row| cell_width(row, at));
                rows.chain([width(&heads[at])]).max().unwrap_or(0)
            })
            .collect();
        let head = style.faint(&self.line(&heads, &widths));
        let rows = self.rows.iter().map(|row| self.line(row, &widths));
        std::iter::once(head).chain(rows).collect()
    }

    fn line(&self, cells: &[String], widths: &[usize]) -> String {
        let pad = |(at, cell): (usize, &String)| {
            let gap = " ".repeat(widths[at].saturating_sub(width(cell)));
            if self.right.contains(&at) { format!("{gap}{cell}") } else { format!("{cell}{gap}") }
        };
        let padded: Vec<_> = cells.iter().enumerate().map(pad).collect();
        padded.join("  ").trim_end().to_owned()
    }
}

/// How many characters a cell shows: colours take no room.
fn width(cell: &str) -> usize {
    let mut count = 0;
    let mut rest = cell;
    while let Some(start) = rest.find('\x1b') {
        count += rest[..start].chars().count();
        rest = rest[start..].split_once('m').map_or("", |(_, after)| after);
    }
    count + rest.chars().count()
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
mod tests {
    use super::*;

    #[test]
    fn thousands_are_grouped() {
        for (number, text) in [(0, "0"), (999, "999"), (1000, "1,000"), (1_234_567, "1,234,567")] {
            assert_eq!(grouped(number), text);
        }
    }

    #[test]
    fn colours_take_no_room() {
        assert_eq!(width("\x1b[1;31mab\x1b[0mc"), 3);
    }
}
