//! Texts that were decoded lately.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use crate::citation::Version;
use crate::limits::{CACHE_BYTES, CACHE_TEXTS};

#[derive(Debug, Default)]
pub(super) struct TextCache {
    /// Used last first, at most [`CACHE_TEXTS`] and [`CACHE_BYTES`].
    texts: Mutex<VecDeque<CachedText>>,
}

#[derive(Debug)]
struct CachedText {
    name: String,
    version: Version,
    text: Arc<str>,
}

impl TextCache {
    pub(super) fn get(&self, name: &str, version: Version) -> Option<Arc<str>> {
        let mut texts = self.texts.lock().unwrap_or_else(PoisonError::into_inner);
        let at = texts.iter().position(|one| one.version == version && one.name == name)?;
        let found = texts.remove(at)?;
        let text = Arc::clone(&found.text);
        texts.push_front(found);
        Some(text)
    }

    pub(super) fn add(&self, name: &str, version: Version, text: &Arc<str>) {
        // One that fills the cache alone would empty it for nothing.
        if text.len() > CACHE_BYTES / 2 {
            return;
        }
        let mut texts = self.texts.lock().unwrap_or_else(PoisonError::into_inner);
        let text = Arc::clone(text);
        texts.retain(|one| one.version != version || one.name != name);
        texts.push_front(CachedText { name: name.to_owned(), version, text });
        let mut bytes = 0;
        let fits = |one: &CachedText| {
            bytes += one.text.len();
            bytes <= CACHE_BYTES
        };
        let count = texts.iter().map(fits).take_while(|fits| *fits).count();
        texts.truncate(count.min(CACHE_TEXTS));
    }

    pub(super) fn clear(&self) {
        self.texts.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cache_keeps_what_was_used_last_within_its_bounds() {
        let cache = TextCache::default();
        let version = Version::of("");
        let text: Arc<str> = "a".repeat(CACHE_BYTES / 4).into();
        for name in ["a", "b", "c", "d"] {
            cache.add(name, version, &text);
        }
        assert!(cache.get("a", version).is_some());
        cache.add("e", version, &text);
        assert!(cache.get("b", version).is_none());
        assert!(cache.get("a", version).is_some());
        cache.add("f", version, &"a".repeat(CACHE_BYTES).into());
        assert!(cache.get("f", version).is_none() && cache.get("e", version).is_some());
        let small: Arc<str> = "".into();
        for number in 0..2 * CACHE_TEXTS {
            cache.add(&number.to_string(), version, &small);
        }
        assert!(cache.texts.lock().unwrap().len() <= CACHE_TEXTS);
    }
}
