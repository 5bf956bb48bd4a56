//! Finds the section or key that somebody asks about, or the nearest ones.

use gatefold_config::nearest_key;

use super::{Key, Section};

/// What a path refers to.
#[derive(Debug)]
pub enum PathTarget<'s> {
    Section(&'s Section),
    Key(&'s Section, &'s Key),
}

/// A path that refers to nothing, and what may have been meant.
#[derive(Debug, thiserror::Error)]
#[error("`{asked}` is not a key of the configuration\n  help: {hint}")]
pub struct UnknownPath {
    asked: String,
    hint: String,
}

/// Finds `limits`, `[limits]`, `limits.call_deadline`, `sources.NAME.command` or the same with any
/// source's name, and the members of a table value: `sources.github.env.TOKEN`.
pub fn find<'s>(path: &str, sections: &'s [Section]) -> Result<PathTarget<'s>, UnknownPath> {
    let bare = path.trim().trim_start_matches('[').trim_end_matches(']');
    let parts = parts(bare);
    let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
    let (name, rest) = parts.split_first().map_or(("", &[][..]), |(name, rest)| (*name, rest));
    let section = sections.iter().find(|section| root(section) == name);
    let Some(section) = section else {
        return Err(UnknownPath { asked: bare.to_owned(), hint: elsewhere(&parts, sections) });
    };
    let rest = if section.is_named() { rest.get(1..).unwrap_or_default() } else { rest };
    let Some((name, inner)) = rest.split_first() else {
        return Ok(PathTarget::Section(section));
    };
    let found = section.keys.iter().find(|key| key.name == *name);
    match found {
        Some(key) if inner.is_empty() || key.is_table() => Ok(PathTarget::Key(section, key)),
        Some(key) => {
            let hint = format!("`{}` holds no further keys", section.key_path(key));
            Err(UnknownPath { asked: bare.to_owned(), hint })
        }
        None => Err(UnknownPath { asked: bare.to_owned(), hint: nearest(section, name) }),
    }
}

/// The first part of a section's path.
fn root(section: &Section) -> &'static str {
    section.path.split('.').next().unwrap_or_default()
}

fn nearest(section: &Section, name: &str) -> String {
    let names: Vec<_> = section.keys.iter().map(|key| key.name.as_str()).collect();
    match nearest_key(name, &names) {
        Some(nearest) => format!("did you mean `{}.{nearest}`?", section.path),
        None => format!("`gatefold config explain {}` lists its keys", section.path),
    }
}

/// A hint for a path whose first part is no section: a key without its section, a misspelt section,
/// or neither.
fn elsewhere(parts: &[&str], sections: &[Section]) -> String {
    let roots: Vec<_> = sections.iter().map(root).collect();
    let (first, last) = (parts.first().unwrap_or(&""), parts.last().unwrap_or(&""));
    let in_section = |section: &&Section| section.keys.iter().any(|key| key.name == *last);
    let homes: Vec<_> = sections.iter().filter(in_section).collect();
    if !homes.is_empty() {
        let paths = homes.iter().map(|section| format!("`{}.{last}`", section.path));
        return format!("did you mean {}?", paths.collect::<Vec<_>>().join(" or "));
    }
    if let Some(section) = nearest_key(first, &roots) {
        let rest = parts.get(1..).unwrap_or_default().iter().map(|part| format!(".{part}"));
        return format!("did you mean `{section}{}`?", rest.collect::<String>());
    }
    let all = sections.iter().flat_map(|section| section.keys.iter().map(|key| key.name.as_str()));
    match nearest_key(last, &all.collect::<Vec<_>>()) {
        Some(key) => elsewhere(&[key], sections),
        None => "`gatefold config explain` lists all sections".to_owned(),
    }
}

/// The parts of a dotted path. Quotes keep one together, as in TOML.
fn parts(path: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut quote = None;
    for c in path.chars() {
        match quote {
            Some(end) if c == end => quote = None,
            None if matches!(c, '"' | '\'') => quote = Some(c),
            None if c == '.' => parts.push(String::new()),
            _ => parts.last_mut().expect("there is always one").push(c),
        }
    }
    parts
}
