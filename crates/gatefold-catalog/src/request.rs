use std::sync::Arc;

use gatefold_core::{Domain, Operation, Target};

/// An operation and what its name was found to mean, if anybody has looked yet.
///
/// Whoever resolves a name hands on what it found, so that nobody after it looks again. Both parts
/// are shared: arguments are not copied on their way.
#[derive(Debug, Clone)]
pub struct Request {
    pub operation: Arc<Operation>,
    pub entry: Option<ResolvedEntry>,
}

/// An entry that a name was found to mean in a view.
///
/// It grants nothing. Who gets one from elsewhere asks [`View::has`](crate::View::has) of the view
/// that counts, which answers without looking for the name again.
#[derive(Debug, Clone)]
pub struct ResolvedEntry {
    pub(crate) target: Arc<Target>,
    /// The place among the snapshot's tools or prompts; none of a resource.
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
