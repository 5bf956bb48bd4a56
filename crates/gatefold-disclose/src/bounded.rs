//! Lists that stay within what clients take: shorter lines before fewer, and a count of the rest.

/// The first of several forms of a list that stays within `bytes` in its frame. If none does, as many
/// lines of the last as fit, then what `more` says about the number of the others.
///
/// Each line begins with a line break.
pub(crate) fn bounded(
    forms: impl IntoIterator<Item = Vec<String>>,
    bytes: usize,
    frame: impl Fn(&str) -> String,
    more: impl Fn(usize) -> String,
) -> String {
    let mut shortest = Vec::new();
    for lines in forms {
        let whole = frame(&lines.concat());
        if whole.len() <= bytes {
            return whole;
        }
        shortest = lines;
    }
    let mut room = bytes.saturating_sub(frame(&more(shortest.len())).len());
    let fits = |line: &&String| {
        let fits = line.len() <= room;
        room = room.saturating_sub(line.len());
        fits
    };
    let shown = shortest.iter().take_while(fits).count();
    frame(&format!("{}{}", shortest[..shown].concat(), more(shortest.len() - shown)))
}
