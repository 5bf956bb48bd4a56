//! Texts that count towards some memory while they wait to be written.

use bytes::Bytes;

/// A text that holds its share of a memory until the last copy of it is written or dropped.
pub(crate) fn counted(text: String, share: impl Send + Sync + 'static) -> Bytes {
    Bytes::from_owner(CountedText { text, _share: share })
}

struct CountedText<S> {
    text: String,
    _share: S,
}

impl<S> AsRef<[u8]> for CountedText<S> {
    fn as_ref(&self) -> &[u8] {
        self.text.as_bytes()
    }
}
