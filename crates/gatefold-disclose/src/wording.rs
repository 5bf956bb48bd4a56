//! Turns of phrase that several answers share.

use gatefold_catalog::one_line;
use gatefold_core::ToolId;

/// How much of a text is repeated to its sender, in characters.
const REPEATED: usize = 100;

/// The hint that ends an answer to an unknown name.
pub(crate) const BROWSE: &str = "Use discover_tools to browse available tools.";

/// A text in single quotes, on one line and not too long.
pub(crate) fn quoted(text: &str) -> String {
    format!("'{}'", one_line(text, REPEATED))
}

/// `'a', 'b' or 'c'`
pub(crate) fn choice<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let mut quoted: Vec<_> = names.into_iter().map(quoted).collect();
    match quoted.pop() {
        Some(last) if !quoted.is_empty() => format!("{} or {last}", quoted.join(", ")),
        last => last.unwrap_or_default(),
    }
}

/// `a, b, c, +2 more`: as many names as stay within `limit`, measured by `cost`.
pub(crate) fn listed<'a>(
    names: impl IntoIterator<Item = &'a str>,
    limit: usize,
    cost: impl Fn(&str) -> usize,
) -> String {
    let names: Vec<_> = names.into_iter().collect();
    let with_rest = |count: usize| {
        let rest = (count < names.len()).then(|| format!("+{} more", names.len() - count));
        let shown: Vec<_> = names[..count].iter().copied().chain(rest.as_deref()).collect();
        shown.join(", ")
    };
    let fits = |count: &usize| cost(&with_rest(*count)) <= limit;
    if fits(&names.len()) {
        return with_rest(names.len());
    }
    // More names cost more, so the counts that fit form a prefix.
    let (mut most, mut too_many) = (0, names.len());
    while most + 1 < too_many {
        let middle = usize::midpoint(most, too_many);
        if fits(&middle) { most = middle } else { too_many = middle }
    }
    with_rest(most)
}

/// `Unknown tool 'x'. Did you mean 'a' or 'b'?`
pub(crate) fn unknown_tool(name: &str, nearest: &[ToolId]) -> String {
    let unknown = format!("Unknown tool {}.", quoted(name));
    if nearest.is_empty() {
        return unknown;
    }
    format!("{unknown} Did you mean {}?", choice(nearest.iter().map(ToolId::as_str)))
}

/// The message about a source that never listed its tools.
pub(crate) fn nothing_known(domain: &str) -> String {
    format!(
        "The tools of '{domain}' are not known yet: upstream server '{domain}' has not answered so far."
    )
}

/// The message when no tool fits a search and `stand_ins` are shown instead.
pub(crate) fn nothing_fits(stand_ins: usize) -> String {
    let instead = if stand_ins == 0 {
        "There are no tools to show."
    } else {
        "The results are merely the nearest tools."
    };
    format!("No tool matches the query. {instead} {BROWSE}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_say_how_much_they_leave_out() {
        let names = ["alpha", "beta", "gamma", "delta"];
        for (limit, expected) in [
            (99, "alpha, beta, gamma, delta"),
            (25, "alpha, beta, gamma, delta"),
            (24, "alpha, beta, +2 more"),
            (14, "alpha, +3 more"),
            (1, "+4 more"),
        ] {
            assert_eq!(listed(names, limit, str::len), expected, "{limit}");
        }
        assert_eq!(listed([], 0, str::len), "");
    }

    #[test]
    fn choices_read_like_a_sentence() {
        assert_eq!(choice([]), "");
        assert_eq!(choice(["a"]), "'a'");
        assert_eq!(choice(["a", "b"]), "'a' or 'b'");
        assert_eq!(choice(["a", "b", "c"]), "'a', 'b' or 'c'");
    }
}
