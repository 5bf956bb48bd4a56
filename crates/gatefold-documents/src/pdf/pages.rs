//! The pages of a document, in order.

use std::collections::HashSet;

use lopdf::{Dictionary, Object};

use super::file::PdfFile;

/// How deep a tree of pages may be, and how many nodes of one are looked at.
const MAX_DEPTH: usize = 64;
const MAX_NODES: usize = 100_000;

/// A page, and the resources that it or a node above it names.
pub(super) struct Page<'f> {
    pub(super) dictionary: &'f Dictionary,
    pub(super) resources: Option<&'f Dictionary>,
}

/// The first pages, and how many there are. Each node counts once, so a tree that leads back into
/// itself ends.
pub(super) fn of_file<'f>(file: &'f PdfFile<'_>, most: usize) -> (Vec<Page<'f>>, usize) {
    let root = file.trailer().get(b"Root").ok().and_then(|root| file.dictionary(root));
    let Some(tree) = root.and_then(|root| root.get(b"Pages").ok()) else {
        return (Vec::new(), 0);
    };
    let (mut pages, mut count, mut seen) = (Vec::new(), 0, HashSet::new());
    let mut waiting = vec![(tree, None, 0)];
    while let Some((node, inherited, depth)) = waiting.pop() {
        let is_new = node.as_reference().is_ok_and(|id| seen.insert(id));
        if !is_new || depth > MAX_DEPTH || seen.len() > MAX_NODES {
            continue;
        }
        let Some(dictionary) = file.dictionary(node) else { continue };
        let own = dictionary.get(b"Resources").ok().and_then(|own| file.dictionary(own));
        let resources = own.or(inherited);
        if let Some(Object::Array(kids)) = file.get(dictionary, b"Kids") {
            // The last goes in first, so that the first comes out next.
            let kids = kids.iter().take(MAX_NODES).rev();
            waiting.extend(kids.map(|kid| (kid, resources, depth + 1)));
            continue;
        }
        count += 1;
        if pages.len() < most {
            pages.push(Page { dictionary, resources });
        }
    }
    (pages, count)
}
