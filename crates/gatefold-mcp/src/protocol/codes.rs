//! The codes of errors: JSON-RPC's own, and those that MCP gives a meaning.

use super::versions::Era;

pub(crate) const PARSE_ERROR: i64 = -32700;
pub(crate) const INVALID_REQUEST: i64 = -32600;
pub(crate) const METHOD_NOT_FOUND: i64 = -32601;
pub(crate) const INVALID_PARAMS: i64 = -32602;
pub(crate) const INTERNAL_ERROR: i64 = -32603;
/// A session that the server does not know, as the official SDKs say it.
pub(crate) const SESSION_NOT_FOUND: i64 = -32001;
/// A missing resource, up to version 2025-11-25. Later versions use [`INVALID_PARAMS`].
pub(crate) const RESOURCE_NOT_FOUND: i64 = -32002;
pub(crate) const HEADER_MISMATCH: i64 = -32020;
pub(crate) const MISSING_CAPABILITY: i64 = -32021;
pub(crate) const UNSUPPORTED_VERSION: i64 = -32022;

/// The code of a missing resource in an era.
pub(crate) fn of_missing_resource(era: Era) -> i64 {
    match era {
        Era::Handshake => RESOURCE_NOT_FOUND,
        Era::Stateless => INVALID_PARAMS,
    }
}

/// Whether a server of this era says with this code that the resource it was asked for is not there.
/// The older code counts in both eras, because it has no other meaning there.
pub(crate) fn is_of_missing_resource(code: i64, era: Era) -> bool {
    code == RESOURCE_NOT_FOUND || code == of_missing_resource(era)
}

/// Whether a code is one that the stateless era defines, or JSON-RPC's for invalid parameters or
/// internal errors. Such an error does not mean that the server lacks the era.
pub(crate) fn is_known_to_the_stateless_era(code: i64) -> bool {
    matches!(code, -32099..=HEADER_MISMATCH | INTERNAL_ERROR..=INVALID_PARAMS)
}
