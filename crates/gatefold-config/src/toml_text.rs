//! A `gatefold.toml`, and what else people give as one.

use gatefold_located::{Node, SyntaxFault, TextFormat, parse_toml};

const FOREIGN_HINT: &str = "write it as TOML, as `gatefold init` and `gatefold add` do; pass the \
                            configuration of an MCP client as `--mcp-config FILE`";

/// Reads a TOML text, or returns its syntax errors, one for each slip. A text in another format is one
/// error.
pub fn parse(text: &str) -> Result<Node, Vec<SyntaxFault>> {
    let format = TextFormat::of(text);
    match parse_toml(text) {
        Ok(_) if format == Some(TextFormat::Json) => Err(vec![foreign(TextFormat::Json)]),
        Ok(node) => Ok(node),
        Err(faults) => Err(match format {
            Some(format @ (TextFormat::Json | TextFormat::Yaml)) => vec![foreign(format)],
            Some(TextFormat::Toml) | None => faults,
        }),
    }
}

fn foreign(format: TextFormat) -> SyntaxFault {
    let message = format!("this is {}, not TOML", format.name());
    SyntaxFault { offset: 0, message, hint: FOREIGN_HINT }
}
