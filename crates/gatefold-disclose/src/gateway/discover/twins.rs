//! Which tools on a page are easily taken for one another.

use gatefold_catalog::{Hit, likeness, told_apart};

/// For each tool on a page what tells it from its twin there, `send_channel: user, not channel`.
///
/// The best tool is compared with what comes behind it, any other with what comes before it: whoever
/// reads down the page has met the twin. Only those that fit are compared.
pub(super) fn lines(page: &[Hit<'_>]) -> Vec<Option<String>> {
    (0..page.len()).map(|at| line(page, at)).collect()
}

fn line(page: &[Hit<'_>], at: usize) -> Option<String> {
    let own = page[at].tool;
    let others = if at == 0 { &page[1..] } else { &page[..at] };
    let mut twin = None;
    for hit in others.iter().filter(|hit| hit.fits() && page[at].fits()) {
        let found = likeness(own, hit.tool);
        // The first of equals.
        if found > twin.map(|(likeness, _)| likeness) {
            twin = found.map(|likeness| (likeness, hit.tool));
        }
    }
    let (_, twin) = twin?;
    let apart = told_apart(own, twin)?;
    Some(format!("{}: {apart}", twin.definition().name()))
}
