//! Which tables a table of the engine MERGE unites.

use crate::TableName;

/// The tables after `UNION=` in the statement that makes one, as the server writes it. None if there are none, or
/// the statement is not understood.
pub(super) fn tables(statement: &str, schema: &str) -> Option<Vec<TableName>> {
    let mut rest = statement;
    // A comment of a column may hold anything, in quotes.
    let list = loop {
        let at = rest.find(['\'', '"', '`', 'U'])?;
        rest = &rest[at..];
        let first = rest.chars().next()?;
        if first == 'U' {
            if let Some(list) = rest.strip_prefix("UNION=(") {
                break list;
            }
            rest = &rest[1..];
        } else {
            rest = quoted(rest)?.1;
        }
    };
    let mut tables = Vec::new();
    let mut rest = list;
    loop {
        let (first, behind) = quoted(rest)?;
        let (name, behind) = match behind.strip_prefix('.') {
            Some(behind) => {
                let (name, behind) = quoted(behind)?;
                (TableName::new(first, name), behind)
            }
            None => (TableName::new(schema, first), behind),
        };
        tables.push(name);
        match behind.chars().next()? {
            ',' => rest = &behind[1..],
            ')' => return Some(tables),
            _ => return None,
        }
    }
}

/// What stands in quotes at the beginning, and what follows. Quotes stand twice for one within.
fn quoted(text: &str) -> Option<(String, &str)> {
    let quote = text.chars().next().filter(|c| matches!(c, '\'' | '"' | '`'))?;
    let mut inner = String::new();
    let mut chars = text.char_indices().skip(1).peekable();
    while let Some((at, c)) = chars.next() {
        if c == quote && chars.next_if(|(_, next)| *next == quote).is_none() {
            return Some((inner, &text[at + 1..]));
        }
        if c == '\\' && quote != '`' {
            // The server escapes in texts only.
            inner.extend(chars.next().map(|(_, escaped)| escaped));
            continue;
        }
        inner.push(c);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_united_tables_are_those_of_the_option() {
        let read = |statement: &str| {
            let tables = tables(statement, "hr")?;
            Some(tables.iter().map(ToString::to_string).collect::<Vec<_>>().join(" "))
        };
        let made = "CREATE TABLE `all` (\n  `UNION=(``x` int COMMENT 'UNION=(`a`) it''s \\' UNION=(`b`)'\n) \
                    ENGINE=MRG_MyISAM DEFAULT CHARSET=utf8mb4 UNION=(`one`,`other`.`two``s`)";
        assert_eq!(read(made).as_deref(), Some("hr.one other.two`s"));
        assert_eq!(read("CREATE TABLE `t` (`a` int) ENGINE=MRG_MyISAM"), None);
        assert_eq!(read("CREATE TABLE `t` (`a` int) UNION=(`a`"), None);
        assert_eq!(read("CREATE TABLE `t` (`a` int) UNION=(a)"), None);
    }
}
