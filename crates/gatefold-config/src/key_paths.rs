//! Paths of keys, and suggestions for an unknown one.

/// The longest key, in bytes, for which a suggestion is looked for.
const GUESS_LIMIT: usize = 64;

/// Another program's name for a setting that this configuration has too.
#[derive(Debug, Clone, Copy)]
pub struct ForeignKey {
    /// The name elsewhere.
    pub name: &'static str,
    /// The known key beside which the hint makes sense.
    pub own: &'static str,
    /// How to say it here.
    pub hint: &'static str,
}

/// A key's path. A part that TOML would quote is quoted.
pub(crate) fn joined(path: &str, key: &str) -> String {
    let is_bare = |b: u8| b.is_ascii_alphanumeric() || b == b'_' || b == b'-';
    let gap = if path.is_empty() { "" } else { "." };
    if !key.is_empty() && key.bytes().all(is_bare) {
        format!("{path}{gap}{key}")
    } else {
        format!("{path}{gap}{key:?}")
    }
}

/// How to fix a key that is not one of `known`.
pub(crate) fn unknown_key_hint(key: &str, known: &[&str], foreign: &[ForeignKey]) -> String {
    let foreign = foreign.iter().find(|one| one.name == key && known.contains(&one.own));
    if let Some(foreign) = foreign {
        return foreign.hint.to_owned();
    }
    if let Some(nearest) = nearest_key(key, known) {
        return format!("did you mean `{nearest}`?");
    }
    let known: Vec<_> = known.iter().map(|key| format!("`{key}`")).collect();
    format!("use one of {}", known.join(", "))
}

/// The known key that was most likely meant.
pub fn nearest_key<'k>(key: &str, known: &[&'k str]) -> Option<&'k str> {
    if key.len() > GUESS_LIMIT {
        return None;
    }
    let lower = key.to_lowercase().replace('-', "_");
    let distance = |known: &str| strsim::damerau_levenshtein(&lower, known);
    let nearest = known.iter().min_by_key(|known| distance(known))?;
    let beginning = known.iter().find(|known| is_beginning(&lower, known));
    let limit = (nearest.len().max(lower.len()) / 3).max(1);
    if distance(nearest) <= limit { Some(nearest) } else { beginning.copied() }
}

fn is_beginning(key: &str, of: &str) -> bool {
    key.len() >= 3 && of.starts_with(key)
}
