use std::fmt;
use std::sync::Arc;

type FindText = dyn Fn(&str) -> Option<String> + Send + Sync;

/// Texts that the maker of a call lends to the tool that reads results, by handles of its own: a conversation's, which
/// keeps them itself, so that they do not expire. It goes with the call as its
/// [`CallAttachment`](gatefold_dispatch::CallAttachment), so no other caller reaches them.
#[derive(Clone)]
pub struct LentTexts(Arc<FindText>);

impl LentTexts {
    pub fn new(find: impl Fn(&str) -> Option<String> + Send + Sync + 'static) -> Self {
        Self(Arc::new(find))
    }

    pub fn find(&self, handle: &str) -> Option<String> {
        (self.0)(handle)
    }
}

impl fmt::Debug for LentTexts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("LentTexts")
    }
}
