//! Modules that use one another in a circle.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use super::crate_tree::CrateTree;
use super::scope::{Scopes, paths};

/// The places where one module uses another.
type ModuleUses = BTreeMap<(usize, usize), Vec<String>>;

/// One fault for each circle among modules with the same parent.
///
/// A parent may use its children and they their parent. Every other use goes between two branches
/// with the same parent, and branches must have an order, so that a reader has a place to start.
pub(super) fn faults(tree: &CrateTree) -> Vec<String> {
    let uses = uses(tree);
    let mut faults = Vec::new();
    let mut seen = BTreeSet::new();
    for start in 0..tree.modules.len() {
        if seen.contains(&start) {
            continue;
        }
        let circle = circle(&uses, start);
        if circle.len() > 1 {
            faults.push(describe(tree, &uses, &circle));
            seen.extend(circle);
        }
    }
    faults
}

/// Uses between siblings: each use of a module counts as a use between the branches that contain
/// the two modules.
fn uses(tree: &CrateTree) -> ModuleUses {
    let scopes = Scopes::new(tree);
    let mut uses = ModuleUses::new();
    for (index, module) in tree.modules.iter().enumerate() {
        for path in paths(module) {
            let target = scopes.resolve(index, &path.segments);
            let Some(pair) = target.and_then(|target| branches(tree, index, target)) else {
                continue;
            };
            let place = format!("{}:{} `{}`", module.file, path.line, path.segments.join("::"));
            uses.entry(pair).or_default().push(place);
        }
    }
    uses
}

/// The siblings that contain the two modules, or nothing if one is above the other.
fn branches(tree: &CrateTree, from: usize, to: usize) -> Option<(usize, usize)> {
    let mut pairs = lineage(tree, from).into_iter().zip(lineage(tree, to));
    pairs.find(|(from, to)| from != to)
}

/// From the root to the module itself.
fn lineage(tree: &CrateTree, module: usize) -> Vec<usize> {
    let mut lineage: Vec<usize> =
        std::iter::successors(Some(module), |module| tree.modules[*module].parent).collect();
    lineage.reverse();
    lineage
}

/// All modules that `start` reaches and that reach it, itself included.
fn circle(uses: &ModuleUses, start: usize) -> BTreeSet<usize> {
    let forward =
        reached(start, |at| uses.keys().filter(move |(from, _)| *from == at).map(|(_, to)| *to));
    let back =
        reached(start, |at| uses.keys().filter(move |(_, to)| *to == at).map(|(from, _)| *from));
    forward.intersection(&back).copied().collect()
}

fn reached<I: Iterator<Item = usize>>(start: usize, next: impl Fn(usize) -> I) -> BTreeSet<usize> {
    let mut reached = BTreeSet::from([start]);
    let mut open = vec![start];
    while let Some(at) = open.pop() {
        open.extend(next(at).filter(|module| reached.insert(*module)));
    }
    reached
}

fn describe(tree: &CrateTree, uses: &ModuleUses, circle: &BTreeSet<usize>) -> String {
    let name = |module: usize| &tree.modules[module].path;
    let names: Vec<String> = circle.iter().map(|module| format!("`{}`", name(*module))).collect();
    let mut fault = format!("{}: modules in a circle: {}", tree.name, names.join(", "));
    for ((from, to), places) in uses {
        if circle.contains(from) && circle.contains(to) {
            let more = if places.len() > 1 {
                format!(" and {} more", places.len() - 1)
            } else {
                String::new()
            };
            let (from, to) = (name(*from), name(*to));
            _ = write!(fault, "\n    `{from}` uses `{to}`: {}{more}", places[0]);
        }
    }
    fault
}
