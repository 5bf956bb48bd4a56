/// Whether requests of a protocol version belong to sessions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Era {
    /// Each request belongs to a session that began with `initialize`.
    Handshake,
    /// Each request stands alone; there is no session.
    Stateless,
}

impl Era {
    /// The era of a protocol version. Versions are dates, so they compare as texts.
    pub(crate) fn of(version: &str) -> Self {
        if version < STATELESS_VERSION { Self::Handshake } else { Self::Stateless }
    }
}

/// All supported versions, the latest first.
pub(crate) const VERSIONS: [&str; 5] =
    [STATELESS_VERSION, HANDSHAKE_VERSION, "2025-06-18", "2025-03-26", "2024-11-05"];
pub(crate) const STATELESS_VERSION: &str = "2026-07-28";
/// The latest version that begins with a handshake.
pub(crate) const HANDSHAKE_VERSION: &str = "2025-11-25";
/// The only version that allows batches.
pub(crate) const BATCH_VERSION: &str = "2025-03-26";
/// The version whose clients can resume a stream (SEP-1699).
pub(crate) const RESUMABLE_VERSION: &str = "2025-11-25";

/// The version to answer a client's `initialize` with: the client's own if we support it, else the
/// latest with a handshake.
pub(crate) fn negotiated(requested: Option<&str>) -> &'static str {
    let sessions = &VERSIONS[1..];
    let same = sessions.iter().find(|version| Some(**version) == requested);
    same.unwrap_or(&sessions[0])
}
