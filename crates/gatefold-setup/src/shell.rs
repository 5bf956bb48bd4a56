//! Commands to be copied into a shell.

use std::path::Path;

/// A path as one word, quoted if a shell would split it.
pub fn quoted(path: &Path) -> String {
    let text = path.display().to_string();
    let is_plain = |c: char| c.is_alphanumeric() || "/._-+:@%,=".contains(c);
    if !text.is_empty() && text.chars().all(is_plain) {
        return text;
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_stays_one_word() {
        for (path, expected) in [
            ("/home/ann/mcp.json", "/home/ann/mcp.json"),
            ("/Application Support/x", "'/Application Support/x'"),
            ("/it's", r"'/it'\''s'"),
            ("$(x)", "'$(x)'"),
        ] {
            assert_eq!(quoted(Path::new(path)), expected);
        }
    }
}
