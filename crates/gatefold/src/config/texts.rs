//! Texts about the keys for people: a starter file, and the reference.

use std::fmt::Write as _;

use super::fixed_limits;
use super::keys::{ApplyMode, Key, Section};
use super::schema::ADDRESS;

/// The width of comments.
const WIDTH: usize = 96;

/// A `gatefold.toml` with every key commented out, which configures nothing as it is.
///
/// Prose is commented with `# `, keys with a bare `#`, so that programs can tell them apart too.
/// Section headers are not commented out, so a key that is uncommented is in the right table.
pub fn template(sections: &[Section]) -> String {
    let mut text = format!(
        "#:schema {ADDRESS}\n\n\
         # What Gatefold should do. To set a key, remove the `#` before it. Each is shown with its\n\
         # default if it has one, otherwise with an example; `gatefold config explain KEY` says\n\
         # more, and `gatefold config check` whether all is well.\n\
         #\n\
         # `${{VAR}}` and `${{VAR:-default}}` in a string give the value of a variable; `$${{` gives `${{`.\n"
    );
    for section in sections {
        text.push('\n');
        comment(&mut text, &[&section.summary, &section.details]);
        if section.is_source() {
            sources(&mut text, section);
        } else {
            // A header in force would be a section that nobody has named.
            let mark = if section.is_named() { "#" } else { "" };
            let _ = writeln!(text, "\n{mark}[{}]", section.path);
            keys(&mut text, section.keys.iter());
        }
    }
    text
}

/// One source for each way to reach one. The first has the keys that all sources may have.
fn sources(text: &mut String, section: &Section) {
    for (index, way) in section.ways.iter().enumerate() {
        let gap = if index == 0 { "#" } else { "" };
        let _ = write!(text, "{gap}\n# {}\n\n#[sources.{}]\n", way.heading, way.example);
        let is_needed = |key: &Key| key.needs.iter().any(|needed| needed == way.key);
        let is_own = |key: &Key| key.name == way.key || is_needed(key);
        let is_common = |key: &Key| !section.is_way(key) && key.needs.is_empty();
        let shown = section.keys.iter().filter(|key| is_own(key) || index == 0 && is_common(key));
        keys(text, shown);
    }
}

fn keys<'k>(text: &mut String, keys: impl Iterator<Item = &'k Key>) {
    for key in keys {
        let unset = match key.unset.as_str() {
            "" => String::new(),
            unset => format!("Without it: {unset}."),
        };
        comment(text, &[&key.summary, &unset]);
        let value = key.default.as_ref().map_or_else(|| key.example.clone(), ToString::to_string);
        let _ = writeln!(text, "#{} = {value}", key.name);
    }
}

fn comment(text: &mut String, sentences: &[&str]) {
    for line in wrapped(&sentences.join(" "), WIDTH) {
        let _ = writeln!(text, "# {line}");
    }
}

/// A text in lines of at most `width` characters, except for longer words.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

/// The reference of every key, in Markdown.
pub fn reference(sections: &[Section]) -> String {
    let mut text = NOTATION.to_owned();
    for section in sections {
        let _ = write!(text, "\n## `[{}]`\n\n{}", section.path, section.summary);
        if !section.details.is_empty() {
            let _ = write!(text, " {}", section.details);
        }
        text.push_str("\n\n| key | type | default |\n|---|---|---|\n");
        for key in &section.keys {
            let (kind, default) = (&key.kind, default(section, key));
            let _ = writeln!(
                text,
                "| [`{0}`](#{1}) | {kind} | {default} |",
                key.name,
                anchor(section, key)
            );
        }
        for key in &section.keys {
            entry(&mut text, section, key);
        }
    }
    text.push_str(&fixed_limits::reference());
    text.push_str(FILES);
    text
}

fn entry(text: &mut String, section: &Section, key: &Key) {
    let _ = write!(text, "\n### `{}`\n\n{}", section.key_path(key), key.summary);
    if !key.details.is_empty() {
        let _ = write!(text, " {}", key.details);
    }
    let _ = write!(text, "\n\n- Type: {}", key.kind);
    for constraint in section.constraints(key) {
        let _ = write!(text, "; {constraint}");
    }
    let _ = write!(
        text,
        "\n- Default: {}\n- Example: `{} = {}`\n",
        default(section, key),
        key.name,
        key.example
    );
    if key.applies == ApplyMode::Restart {
        text.push_str("- A change takes effect at the next start.\n");
    }
}

fn default(section: &Section, key: &Key) -> String {
    match &key.default {
        Some(value) => format!("`{value}`"),
        None if key.unset.is_empty() => {
            format!("none: it, or `{}`, must be set", section.excluded_by(key).join("`, `"))
        }
        None => key.unset.clone(),
    }
}

/// The anchor of this key's heading: dots and backticks are dropped.
fn anchor(section: &Section, key: &Key) -> String {
    section.key_path(key).replace('.', "").to_lowercase()
}

const NOTATION: &str = "\
# Configuration reference

<!-- Written by `cargo xtask docs` from the structs in crates/gatefold/src/config that read the keys; edit those. -->

`gatefold init` writes a file with every key, commented; `gatefold config explain KEY` prints what is
here; `gatefold config check` names every fault of a file with its place and its fix; `gatefold config
show` prints the values in force and where they come from. Editors that know JSON Schema complete and check
the keys: the first line of the file, `#:schema`, names [the schema](../schemas/gatefold.schema.json).

- **Variables**: `${VAR}` and `${VAR:-default}` in any string give the value of a variable; `$${` gives `${`.
- **Durations** are a number and `ms`, `s`, `m`, `h` or `d`: `\"60s\"`.
- **Sizes** are a number and `B`, `KiB`, `MiB`, `GiB`, `kB`, `MB` or `GB`: `\"4MiB\"`.
- **Patterns** know `*` for any run of characters and `?` for one.
- **Paths** are relative to the file that names them; `~/` is the home directory.
- **Reload**: a changed file is applied at once, or on `SIGHUP`: all of it or, if anything is wrong, none
  of it. A key whose change waits for the next start says so.
";

const FILES: &str = "
## Other clients' files

`--mcp-config FILE` reads any client's JSON as it is: `mcpServers`, `servers` or `context_servers`, \
comments and trailing commas included. It may be given more than once, and together with `--config`. A server \
in it that cannot work is reported as a failing source; the others still work.

## Where files are looked for

Without `--config` and `--mcp-config`: `./gatefold.toml`, then \
`$XDG_CONFIG_HOME/gatefold/gatefold.toml` or `~/.config/gatefold/gatefold.toml`. State is kept in \
`--state-dir`, `GATEFOLD_STATE_DIR`, `state.dir`, or `$XDG_STATE_HOME/gatefold`.
";
