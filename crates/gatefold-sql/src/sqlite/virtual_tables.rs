//! What virtual tables read besides what they keep themselves, from how they were made.
//!
//! SQLite does not tell: such a table reads with statements of its own while it is read.

/// Modules that keep all of what they show themselves.
const OWN: [&str; 3] = ["rtree", "rtree_i32", "geopoly"];

/// Modules that may take their texts from another table.
const CONTENT: [&str; 3] = ["fts3", "fts4", "fts5"];

/// Modules that show the index of a full-text table, whose name is their last argument but for the kind.
const VOCABULARIES: [&str; 2] = ["fts5vocab", "fts4aux"];

/// The tables that a virtual table reads, by the statement that made it. None where that is not known.
pub(super) fn reads(sql: &str) -> Option<Vec<String>> {
    let (module, arguments) = module(sql)?;
    let module = module.to_ascii_lowercase();
    if OWN.contains(&&*module) {
        return Some(Vec::new());
    }
    if CONTENT.contains(&&*module) {
        let mut contents = arguments.iter().filter_map(|argument| {
            let (key, value) = argument.split_once('=')?;
            key.trim().eq_ignore_ascii_case("content").then(|| unquoted(value.trim()))
        });
        // An empty one keeps no texts at all.
        return Some(contents.next_back().filter(|name| !name.is_empty()).into_iter().collect());
    }
    if VOCABULARIES.contains(&&*module) {
        let mut names = arguments.iter().map(|argument| unquoted(argument.trim()));
        let table = match (&*module, arguments.len()) {
            ("fts5vocab", 2) | ("fts4aux", 1) => names.next(),
            ("fts5vocab", 3) | ("fts4aux", 2) => names.nth(1),
            _ => None,
        };
        return table.map(|table| vec![table]);
    }
    None
}

/// Whether a virtual table is searched by a column of its own name.
pub(super) fn is_full_text(sql: &str) -> bool {
    let is_content = |module: &str| CONTENT.contains(&&*module.to_ascii_lowercase());
    module(sql).is_some_and(|(module, _)| is_content(&module))
}

/// The module of `CREATE VIRTUAL TABLE name USING module(arguments)`, and its arguments.
fn module(sql: &str) -> Option<(String, Vec<String>)> {
    let pieces = pieces(sql);
    let using = pieces.iter().position(|piece| piece.eq_ignore_ascii_case("using"))?;
    let module = pieces.get(using + 1)?;
    let mut arguments = vec![String::new()];
    let mut depth = 0_u32;
    for piece in pieces.get(using + 2..)? {
        match piece.as_str() {
            "(" if depth == 0 => depth = 1,
            ")" if depth == 1 => break,
            "," if depth == 1 => arguments.push(String::new()),
            piece => {
                match piece {
                    "(" => depth += 1,
                    ")" => depth = depth.saturating_sub(1),
                    _ => {}
                }
                if let Some(last) = arguments.last_mut() {
                    last.push_str(piece);
                }
            }
        }
    }
    Some((unquoted(module), arguments))
}

/// Words, quoted names and texts as they are written, and single signs. Comments and spaces are left out.
fn pieces(sql: &str) -> Vec<String> {
    let mut pieces = Vec::new();
    let mut rest = sql;
    while let Some(first) = rest.chars().next() {
        if let Some(comment) = rest.strip_prefix("--") {
            rest = comment.split_once('\n').map_or("", |(_, behind)| behind);
            continue;
        }
        if let Some(comment) = rest.strip_prefix("/*") {
            rest = comment.split_once("*/").map_or("", |(_, behind)| behind);
            continue;
        }
        let end = match first {
            '\'' | '"' | '`' => end_of_quoted(rest, first),
            '[' => rest.find(']').map_or(rest.len(), |at| at + 1),
            c if is_word(c) => rest.find(|c| !is_word(c)).unwrap_or(rest.len()),
            c => c.len_utf8(),
        };
        let (piece, behind) = rest.split_at(end);
        if !first.is_whitespace() {
            pieces.push(piece.to_owned());
        }
        rest = behind;
    }
    pieces
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '$'
}

/// The end of a text in quotes, which stand twice for one within.
fn end_of_quoted(text: &str, quote: char) -> usize {
    let mut chars = text.char_indices().skip(1).peekable();
    while let Some((at, c)) = chars.next() {
        if c == quote && chars.next_if(|(_, next)| *next == quote).is_none() {
            return at + 1;
        }
    }
    text.len()
}

fn unquoted(text: &str) -> String {
    let (open, close) = match text.chars().next() {
        Some('[') => ('[', ']'),
        Some(quote @ ('\'' | '"' | '`')) => (quote, quote),
        _ => return text.to_owned(),
    };
    let inner = text.strip_prefix(open).and_then(|text| text.strip_suffix(close));
    let inner = inner.unwrap_or(text);
    if open == '[' {
        inner.to_owned()
    } else {
        inner.replace(&format!("{close}{close}"), &close.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_virtual_table_reads_is_what_it_was_made_with() {
        for (made, expected) in [
            ("fts5(title, body)", Some(&[][..])),
            ("fts5(title, content='secrets', content_rowid=id)", Some(&["secrets"])),
            ("FTS5(title,content = \"it''s, \"\"so\"\" (1)\")", Some(&["it''s, \"so\" (1)"])),
            ("fts5(title, content=[a b])", Some(&["a b"])),
            ("fts5(title, /* content=x, */ content=secrets -- content=y\n)", Some(&["secrets"])),
            ("fts5(title, content='')", Some(&[])),
            ("fts5(content)", Some(&[])),
            ("fts4(content=\"secrets\", body)", Some(&["secrets"])),
            ("fts5vocab(notes, 'row')", Some(&["notes"])),
            ("fts5vocab('main', 'notes', 'row')", Some(&["notes"])),
            ("fts4aux(notes)", Some(&["notes"])),
            ("fts4aux(main, notes)", Some(&["notes"])),
            ("rtree(id, x0, x1)", Some(&[])),
            ("somebody(s)", None),
            ("rtree", Some(&[])),
        ] {
            for name in ["t", "\"using fts5()\"", "[a] ", "IF NOT EXISTS t"] {
                let sql = format!("CREATE VIRTUAL TABLE {name} USING {made}");
                let expected =
                    expected.map(|names| names.iter().map(|name| (*name).to_owned()).collect());
                assert_eq!(reads(&sql), expected, "{sql}");
            }
        }
    }
}
