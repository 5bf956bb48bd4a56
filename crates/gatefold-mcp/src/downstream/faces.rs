//! What one endpoint shows: everything or one source, by which disclosure, under which names.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use gatefold_core::Domain;
use gatefold_disclose::{Disclosure, Flat, Names};
use gatefold_dispatch::Pinned;

use super::surfaces::Surfaces;

/// Faces kept at once. There is one for each source and disclosure that was ever asked for; past
/// this number they are made anew.
const FACES: usize = 1024;

/// What a client is to be shown.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Showing {
    /// The one source that is shown; none for all of them.
    pub domain: Option<Domain>,
    pub by: ShownBy,
}

/// The disclosure that was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum ShownBy {
    /// The one that is configured; for a single source, that of a server without a gateway.
    #[default]
    Usual,
    Gateway,
    Flat,
}

/// One face: a disclosure, and the names that go with it.
pub(super) struct Face {
    pub(super) domain: Option<Domain>,
    pub(super) disclosure: Arc<dyn Disclosure>,
    pub(super) names: Names,
    pub(super) surfaces: Surfaces,
}

impl Showing {
    /// Reads the query of a request's address, such as `disclosure=flat`.
    pub(super) fn read(domain: Option<Domain>, query: Option<&str>) -> Result<Self, String> {
        let mut by = ShownBy::Usual;
        for (key, value) in query.unwrap_or_default().split('&').filter_map(|p| p.split_once('=')) {
            by = match (key, value) {
                ("disclosure", "flat") => ShownBy::Flat,
                ("disclosure", "gateway") => ShownBy::Gateway,
                ("disclosure", other) => {
                    let other: String = other.chars().take(40).collect();
                    return Err(format!(
                        "there is no disclosure `{other}`: use `gateway` or `flat`"
                    ));
                }
                _ => by,
            };
        }
        Ok(Self { domain, by })
    }
}

impl Face {
    fn new(key: &Showing, usual: &Arc<dyn Disclosure>) -> Self {
        let names = match (&key.domain, key.by) {
            (Some(_), ShownBy::Usual | ShownBy::Flat) => Names::Own,
            _ => Names::Public,
        };
        let is_flat = names == Names::Own || key.by == ShownBy::Flat;
        let disclosure = if is_flat { Arc::new(Flat { names }) } else { usual.clone() };
        Self { domain: key.domain.clone(), disclosure, names, surfaces: Surfaces::default() }
    }

    /// Narrows a turn to what the face shows; nothing when the principal sees nothing of it.
    pub(super) fn narrowed(&self, pinned: Pinned) -> Option<Pinned> {
        match &self.domain {
            None => Some(pinned),
            Some(domain) => pinned.within(domain),
        }
    }
}

/// The faces that were asked for.
pub(super) struct Faces {
    usual: Arc<dyn Disclosure>,
    made: Mutex<HashMap<Showing, Arc<Face>>>,
}

impl Faces {
    pub(super) fn new(usual: Arc<dyn Disclosure>) -> Self {
        Self { usual, made: Mutex::default() }
    }

    pub(super) fn get(&self, key: &Showing) -> Arc<Face> {
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(face) = made.get(key) {
            return face.clone();
        }
        if made.len() >= FACES {
            made.clear();
        }
        let face = Arc::new(Face::new(key, &self.usual));
        made.insert(key.clone(), face.clone());
        face
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(query: Option<&str>, expected: Result<ShownBy, &str>) {
        let shown = Showing::read(None, query).map(|key| key.by);
        assert_eq!(shown, expected.map_err(str::to_owned), "{query:?}");
    }

    #[test]
    fn the_query_chooses_the_disclosure() {
        check(None, Ok(ShownBy::Usual));
        check(Some("token=x"), Ok(ShownBy::Usual));
        check(Some("disclosure=flat"), Ok(ShownBy::Flat));
        check(Some("a=b&disclosure=gateway"), Ok(ShownBy::Gateway));
        let error = "there is no disclosure `loud`: use `gateway` or `flat`";
        check(Some("disclosure=loud"), Err(error));
    }
}
