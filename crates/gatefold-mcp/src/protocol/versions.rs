/// How a request and its sender relate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Era {
    /// It belongs to a session that began with `initialize`.
    Handshake,
    /// Each request is complete in itself; there is no session.
    Stateless,
}

impl Era {
    /// The era of a protocol version. Versions are dates, so they compare as texts.
    pub(crate) fn of(version: &str) -> Self {
        if version < STATELESS_VERSION { Self::Handshake } else { Self::Stateless }
    }
}

/// All versions spoken, the latest first.
pub(crate) const VERSIONS: [&str; 5] =
    [STATELESS_VERSION, HANDSHAKE_VERSION, "2025-06-18", "2025-03-26", "2024-11-05"];
pub(crate) const STATELESS_VERSION: &str = "2026-07-28";
/// The latest version that begins with a handshake.
pub(crate) const HANDSHAKE_VERSION: &str = "2025-11-25";
/// The only version whose clients may send several messages as one.
pub(crate) const BATCH_VERSION: &str = "2025-03-26";
/// The version whose clients understand that a stream may be taken up again (SEP-1699).
pub(crate) const RESUMABLE_VERSION: &str = "2025-11-25";

/// The version that answers a client's `initialize`: its own, or the latest that has a handshake.
pub(crate) fn negotiated(requested: Option<&str>) -> &'static str {
    let sessions = &VERSIONS[1..];
    let same = sessions.iter().find(|version| Some(**version) == requested);
    same.unwrap_or(&sessions[0])
}
