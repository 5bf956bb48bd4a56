//! Which documents one call may read.

use gatefold_catalog::address;
use gatefold_core::Domain;
use gatefold_dispatch::{NestedCaller, ResourceAccess};

use crate::{Citation, Version};

/// What the principal of one call may read of a base. A document is a resource, so rules about
/// resources hold for it however it is read.
#[derive(Clone)]
pub(super) struct Access {
    domain: Domain,
    nested: NestedCaller,
}

impl Access {
    pub(super) fn new(domain: &Domain, nested: &NestedCaller) -> Self {
        Self { domain: domain.clone(), nested: nested.clone() }
    }

    /// Whether a version of a document may be read, or a document without text may be known of. Where a
    /// person has to approve each reading, it can only be read as a resource.
    pub(super) fn sees(&self, document: &str, version: Option<Version>) -> bool {
        let uri = document_uri(&self.domain, document, version);
        self.nested.resource_access(&address(&self.domain, &uri)) == ResourceAccess::Open
    }
}

/// A document by the base's own URI, which is the address of its citations without the domain.
pub(super) fn document_uri(domain: &Domain, document: &str, version: Option<Version>) -> String {
    let whole = Citation {
        domain: domain.as_str().to_owned(),
        document: document.to_owned(),
        version: version.unwrap_or(NO_VERSION),
        span: Citation::WHOLE,
    };
    own_uri(&whole)
}

/// The version of a document without text.
const NO_VERSION: Version = Version::from_bytes([0; 6]);

/// A citation as a URI of its base, without the gateway's part.
pub(super) fn own_uri(citation: &Citation) -> String {
    let address = citation.to_string();
    let rest = address.strip_prefix("gatefold://").unwrap_or(&address);
    rest.split_once('/').map_or_else(String::new, |(_, uri)| uri.to_owned())
}
