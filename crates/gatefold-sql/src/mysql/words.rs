//! What a statement starts with.

/// Words with which a statement starts that only reads.
pub(super) const READING: &[&str] = &["SELECT", "TABLE", "VALUES", "WITH"];

/// Words with which a statement starts that changes rows and nothing else. Others would end the
/// transaction, and with it the chance to decide.
pub(super) const WRITING: &[&str] = &["DELETE", "INSERT", "REPLACE", "UPDATE", "WITH"];

/// Whether a statement's first word is one of these. Spaces, parentheses and comments may stand
/// before it; a comment that the server would run may not.
pub(super) fn starts_with(sql: &str, words: &[&str]) -> bool {
    let mut rest = sql;
    loop {
        rest = rest.trim_start_matches(|char: char| char == '(' || char.is_ascii_whitespace());
        // The server takes two dashes for a comment only before a space or a control character.
        let after = if rest.starts_with('#') || rest.starts_with("-- ") || rest.starts_with("--\n")
        {
            rest.split_once('\n')
        } else if rest.starts_with("/*") && !rest.starts_with("/*!") && !rest.starts_with("/*M!") {
            rest[2..].split_once("*/")
        } else {
            break;
        };
        let Some((_, after)) = after else { return false };
        rest = after;
    }
    let word = rest.split(|char: char| !char.is_ascii_alphabetic()).next().unwrap_or_default();
    words.iter().any(|known| known.eq_ignore_ascii_case(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_first_word_may_come_after_comments_that_do_nothing() {
        let reads = [
            "select 1",
            " ((SELECT 1) UNION SELECT 2)",
            "/* a */ -- b\n# c\n\tWITH x AS (SELECT 1) SELECT 2",
            "/**/TABLE t",
            "--\nVALUES (1)",
        ];
        for sql in reads {
            assert!(starts_with(sql, READING), "{sql}");
        }
        let others = [
            "",
            "selection",
            "ANALYZE SELECT 1",
            "/*! DROP TABLE t */ SELECT 1",
            "/*M! DROP TABLE t */ SELECT 1",
            "/*/ SELECT 1",
            "--SELECT 1",
            "# SELECT 1",
        ];
        for sql in others {
            assert!(!starts_with(sql, READING), "{sql}");
        }
    }
}
