//! Phrases that several answers share.

use std::cmp::Reverse;

use gatefold_catalog::{DomainEntry, LINE_LIMIT, UnlistedSource, UnlistedState, View, one_line};
use gatefold_core::ToolId;

/// How much of a text is repeated to its sender, in characters.
const REPEATED: usize = 100;

/// How much to show of how to sign in at a source, in characters.
const SHOWN_SIGN_IN: usize = 200;
/// How many such sources an answer names.
const TOLD_UNLISTED: usize = 8;

/// The gateway's hint at the end of an answer to an unknown name. Other disclosures have other tools.
pub(crate) const BROWSE: &str = "Use discover_tools to browse available tools.";

/// A text and the hint of a disclosure, if it has one.
pub(crate) fn hinted(text: &str, hint: &str) -> String {
    if hint.is_empty() { text.to_owned() } else { format!("{text} {hint}") }
}

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

/// ` Did you mean 'a' or 'b'?`, or nothing.
pub(crate) fn did_you_mean(near: Vec<&str>) -> String {
    if near.is_empty() { String::new() } else { format!(" Did you mean {}?", choice(near)) }
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

/// A domain's description. One that has none is described by what its visible tools are about.
pub(crate) fn described(view: &View, entry: &DomainEntry) -> String {
    if !entry.description().is_empty() {
        return entry.description().to_owned();
    }
    let mut groups = view.groups(entry);
    groups.sort_by_key(|group| (Reverse(group.tool_count), group.name));
    if groups.len() > 1 {
        let names = groups.iter().map(|group| group.name);
        return listed(names, LINE_LIMIT, |text| text.chars().count());
    }
    let names = view.tools_in(entry).map(|tool| tool.definition().name());
    listed(names, LINE_LIMIT, |text| text.chars().count())
}

/// `Unknown tool 'x'. Did you mean 'a' or 'b'?` If it may belong to a source that has listed
/// nothing so far, says that instead, because a guess at another tool would be misleading.
pub(crate) fn unknown_tool(view: &View, name: &str, nearest: &[ToolId]) -> String {
    let unknown = format!("Unknown tool {}.", quoted(name));
    if let Some(source) = view.unlisted_owner(name) {
        return format!("{unknown} {}", nothing_known(source.domain.as_str(), Some(source)));
    }
    if nearest.is_empty() {
        return unknown;
    }
    format!("{unknown} Did you mean {}?", choice(nearest.iter().map(ToolId::as_str)))
}

/// The message about a source that never listed its tools.
pub(crate) fn nothing_known(domain: &str, source: Option<&UnlistedSource>) -> String {
    let not_known =
        format!("The tools of '{domain}' are not known yet: upstream server '{domain}'");
    match source.map(|source| &source.state) {
        None => format!("{not_known} has not answered so far."),
        Some(UnlistedState::Starting) => {
            format!("{not_known} is still starting. Try again in a few seconds.")
        }
        Some(UnlistedState::Downloading(took)) => format!(
            "{not_known} is downloading what it needs to start, {} s so far. Try again in a minute.",
            took.as_secs()
        ),
        Some(UnlistedState::Answered(fault)) => format!("{not_known} {fault}."),
        Some(UnlistedState::NeedsSignIn(how)) => {
            format!("{not_known} {}. Tell the user.", one_line(how, SHOWN_SIGN_IN))
        }
        Some(UnlistedState::Failed) => format!("{not_known} is unreachable."),
    }
}

/// `git is starting`, for each source of a view that never listed its tools.
pub(crate) fn unlisted(view: &View) -> Vec<String> {
    let mut told: Vec<_> = view
        .unlisted()
        .take(TOLD_UNLISTED)
        .map(|source| {
            let domain = &source.domain;
            match &source.state {
                UnlistedState::Starting => format!("{domain} is starting"),
                UnlistedState::Downloading(took) => {
                    format!("{domain} is downloading, {} s so far", took.as_secs())
                }
                UnlistedState::Answered(fault) => format!("{domain} {fault}"),
                UnlistedState::NeedsSignIn(how) => {
                    format!("{domain} {}", one_line(how, SHOWN_SIGN_IN))
                }
                UnlistedState::Failed => format!("{domain} is unreachable"),
            }
        })
        .collect();
    let others = view.unlisted().count() - told.len();
    if others > 0 {
        told.push(format!("+{others} more"));
    }
    told
}

/// The message when no tool fits a search and `stand_ins` are shown instead.
pub(crate) fn nothing_fits(stand_ins: usize) -> String {
    let instead = if stand_ins == 0 {
        "There are no tools to show."
    } else {
        "The results are merely the nearest tools."
    };
    format!("No tool matches the query. {instead}")
}

/// The message when it is unlikely that a tool which a search found is what was asked for.
pub(crate) const WEAKLY_FITS: &str =
    "No tool clearly matches the query: the right one may not be here.";

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
