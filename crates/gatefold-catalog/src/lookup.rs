use std::collections::HashMap;
use std::sync::Arc;

use gatefold_core::{Domain, Target, ToolId};

use crate::naming::{Domains, NameOwner};

/// Which entries of a list a name may refer to, by their places.
#[derive(Debug, Default)]
pub(crate) struct NameTable {
    /// Ids, aliases and [`ToolId::long_forms`]. Each leads to one entry, of the domain that owns it.
    exact: HashMap<ToolId, usize>,
    /// The sources' own names.
    bare: HashMap<Arc<str>, Vec<usize>>,
}

/// The part of a list that somebody sees.
pub(crate) trait VisibleEntries {
    /// Whether the entry at a place can be asked for by its id.
    fn knows(&self, at: usize) -> bool;

    /// Whether it is listed, so that its source's own name may refer to it.
    fn shows(&self, at: usize) -> bool;

    /// The domain of the entry at a place.
    fn domain(&self, at: usize) -> &Domain;

    /// Whether there is such a domain at all, visible or not.
    fn covers(&self, domain: &Domain) -> bool;
}

impl NameTable {
    /// A table of entries in the order of their places, each with its alias if it has one.
    pub(crate) fn of<'a>(entries: impl Iterator<Item = (&'a Target, Option<&'a ToolId>)>) -> Self {
        let mut table = Self::default();
        let mut others = [Vec::new(), Vec::new()];
        for (at, (target, alias)) in entries.enumerate() {
            let Target { domain, id, name, .. } = target;
            table.exact.insert(id.clone(), at);
            if let Some(alias) = alias {
                table.exact.insert(alias.clone(), at);
            }
            for (form, others) in ToolId::long_forms(domain, name).zip(&mut others) {
                if form != *id {
                    others.push((form, at));
                }
            }
            table.bare.entry(Arc::clone(name)).or_default().push(at);
        }
        // `a__x` is the tool `x` of `a`, and `a_x` only where there is no `x`.
        for (form, at) in others.into_iter().flatten() {
            table.exact.entry(form).or_insert(at);
        }
        table
    }

    /// The one entry that a name refers to: by id, alias or `{domain}__{name}`, or by its source's
    /// own name if no other entry has it.
    ///
    /// An id never refers to an entry of another domain than its own, no matter what the caller can
    /// see of that domain: `domains` are all that are configured. An own name belongs to nobody; one
    /// that several entries share refers to none of them.
    pub(crate) fn find(
        &self,
        name: &str,
        domains: &Domains,
        sight: &impl VisibleEntries,
    ) -> Option<usize> {
        if let Some(at) = self.exact(name) {
            return Some(at).filter(|at| sight.knows(*at));
        }
        let owner = domains.owner(name);
        let mut meant = self.own(name).filter(|at| match owner {
            NameOwner::Domain(domain) => sight.domain(*at) == domain,
            NameOwner::Stranger => false,
            NameOwner::Nobody => sight.covers(sight.domain(*at)),
        });
        meant.next().filter(|at| meant.next().is_none() && sight.shows(*at))
    }

    /// The entry with this id, this alias or this `{domain}__{name}`.
    pub(crate) fn exact(&self, name: &str) -> Option<usize> {
        self.exact.get(name).copied()
    }

    /// All entries whose source calls them by this name, in order.
    pub(crate) fn own(&self, name: &str) -> impl Iterator<Item = usize> {
        self.bare.get(name).into_iter().flatten().copied()
    }
}
