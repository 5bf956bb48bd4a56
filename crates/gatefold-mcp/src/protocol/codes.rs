//! The codes of errors: JSON-RPC's own, and those that MCP gives a meaning.

pub(crate) const PARSE_ERROR: i64 = -32700;
pub(crate) const INVALID_REQUEST: i64 = -32600;
pub(crate) const METHOD_NOT_FOUND: i64 = -32601;
pub(crate) const INVALID_PARAMS: i64 = -32602;
pub(crate) const INTERNAL_ERROR: i64 = -32603;
/// A resource that is not there, until 2025-11-25; later it is [`INVALID_PARAMS`].
pub(crate) const RESOURCE_NOT_FOUND: i64 = -32002;
pub(crate) const HEADER_MISMATCH: i64 = -32020;
pub(crate) const MISSING_CAPABILITY: i64 = -32021;
pub(crate) const UNSUPPORTED_VERSION: i64 = -32022;

/// Whether two sides settle with this code how they speak to each other. A gateway does not hand on
/// such an error: to its own client it would say that the gateway does not speak the client's era.
pub(crate) fn is_of_a_connection(code: i64) -> bool {
    matches!(
        code,
        PARSE_ERROR | INVALID_REQUEST | METHOD_NOT_FOUND | HEADER_MISMATCH | UNSUPPORTED_VERSION
    )
}

/// Whether the stateless era gives an error code a meaning of its own, or JSON-RPC one about
/// parameters or faults within. Such an error says nothing against the era itself.
pub(crate) fn is_known_to_the_stateless_era(code: i64) -> bool {
    matches!(code, -32099..=HEADER_MISMATCH | INTERNAL_ERROR..=INVALID_PARAMS)
}
