use std::sync::Arc;

use gatefold_core::{Domain, Operation, Target};

/// An operation, and the entry its name was resolved to, if it was resolved already.
///
/// The resolved entry travels along so that no later layer resolves the name again. Both parts are
/// shared: arguments are not copied on their way.
#[derive(Debug, Clone)]
pub struct Request {
    pub operation: Arc<Operation>,
    pub entry: Option<ResolvedEntry>,
}

/// The entry that a name was resolved to in a view.
///
/// It grants nothing. Code that receives one from elsewhere asks the relevant view by
/// [`View::has`](crate::View::has), which does not look the name up again.
#[derive(Debug, Clone)]
pub struct ResolvedEntry {
    pub(crate) target: Arc<Target>,
    /// The place among the snapshot's tools or prompts; none for a resource.
    pub(crate) place: Option<usize>,
}

impl ResolvedEntry {
    pub fn target(&self) -> &Arc<Target> {
        &self.target
    }

    pub fn domain(&self) -> &Domain {
        &self.target.domain
    }
}

impl From<Operation> for Request {
    fn from(operation: Operation) -> Self {
        Arc::new(operation).into()
    }
}

impl From<Arc<Operation>> for Request {
    fn from(operation: Arc<Operation>) -> Self {
        Self { operation, entry: None }
    }
}
