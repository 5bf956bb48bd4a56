use std::collections::HashMap;
use std::sync::Arc;

use gatefold_core::{Target, ToolId};

/// Which entries of a list a written name may mean, by their places.
#[derive(Debug, Default)]
pub(crate) struct NameTable {
    /// Ids and aliases. No two entries share one.
    exact: HashMap<ToolId, usize>,
    /// `{domain}__{name}`, where it is not the id.
    long: HashMap<String, Vec<usize>>,
    /// The sources' own names.
    bare: HashMap<Arc<str>, Vec<usize>>,
}

impl NameTable {
    /// Of entries in the order of their places, each with its alias if it has one.
    pub(crate) fn of<'a>(entries: impl Iterator<Item = (&'a Target, Option<&'a ToolId>)>) -> Self {
        let mut table = Self::default();
        for (at, (target, alias)) in entries.enumerate() {
            let Target { domain, id, name, .. } = target;
            table.exact.insert(id.clone(), at);
            if let Some(alias) = alias {
                table.exact.insert(alias.clone(), at);
            }
            let long = format!("{domain}__{name}");
            if long != id.as_str() {
                table.long.entry(long).or_default().push(at);
            }
            table.bare.entry(Arc::clone(name)).or_default().push(at);
        }
        table
    }

    /// The one entry that a name means: by id or alias, by `{domain}__{name}`, both among those
    /// that can be asked for; or by its source's own name, when no other that is shown has it.
    pub(crate) fn find(
        &self,
        name: &str,
        is_known: impl Fn(usize) -> bool,
        is_shown: impl Fn(usize) -> bool,
    ) -> Option<usize> {
        let exact = self.exact.get(&ToolId::new(name)).copied().filter(|at| is_known(*at));
        let long = || self.long.get(name)?.iter().copied().find(|at| is_known(*at));
        let bare = || {
            let mut shown = self.own(name).filter(|at| is_shown(*at));
            shown.next().filter(|_| shown.next().is_none())
        };
        exact.or_else(long).or_else(bare)
    }

    /// All entries whose source calls them by this name, in order.
    pub(crate) fn own(&self, name: &str) -> impl Iterator<Item = usize> {
        self.bare.get(name).into_iter().flatten().copied()
    }
}
