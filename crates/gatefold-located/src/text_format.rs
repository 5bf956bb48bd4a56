//! The format of a text, whatever its file is called.

/// A format that people write values in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextFormat {
    Json,
    Toml,
    Yaml,
}

impl TextFormat {
    /// The format that the first line with more than a comment shows. `None` if it shows none.
    pub fn of(text: &str) -> Option<Self> {
        let line = first_line(text)?;
        if line.starts_with('{') {
            return Some(Self::Json);
        }
        if let Some(rest) = line.strip_prefix('[') {
            let name = rest.trim_start_matches(['[', ' ']);
            let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
            return (is_name && name.contains(']')).then_some(Self::Toml);
        }
        let is_key =
            |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '"' | '\'');
        let rest = line.trim_start_matches(is_key);
        if rest.len() == line.len() {
            return None;
        }
        if rest.trim_start().starts_with('=') {
            return Some(Self::Toml);
        }
        let value = rest.strip_prefix(':')?;
        (value.is_empty() || value.starts_with(char::is_whitespace)).then_some(Self::Yaml)
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::Json => "JSON",
            Self::Toml => "TOML",
            Self::Yaml => "YAML",
        }
    }
}

fn first_line(text: &str) -> Option<&str> {
    let mut rest = text.trim_start_matches('\u{feff}');
    loop {
        rest = rest.trim_start();
        if let Some(comment) = rest.strip_prefix("/*") {
            rest = comment.split_once("*/")?.1;
        } else if rest.starts_with('#') || rest.starts_with("//") || rest.starts_with("---") {
            rest = rest.split_once('\n')?.1;
        } else {
            return rest.lines().next().map(str::trim_end);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_shows_the_format() {
        for (text, expected) in [
            ("\u{feff}\n // mine\n/* a\n b */ { \"a\": 1 }", Some(TextFormat::Json)),
            ("# mine\n[sources.a]\ncommand = 'x'", Some(TextFormat::Toml)),
            ("sources.a.command='x'", Some(TextFormat::Toml)),
            ("sources = { a = 1 }", Some(TextFormat::Toml)),
            ("---\nsources:\n  a: 1", Some(TextFormat::Yaml)),
            ("\"a b\" : 1", None),
            ("a: b", Some(TextFormat::Yaml)),
            ("https://h", None),
            ("[]", None),
            ("[\"a\", 1]", None),
            ("[[clients]]", Some(TextFormat::Toml)),
            ("", None),
            ("# alone", None),
        ] {
            assert_eq!(TextFormat::of(text), expected, "{text}");
        }
    }
}
