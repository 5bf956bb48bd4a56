use std::hash::Hash;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use crate::RecentMap;

/// A bounded cache of values that are expensive to make.
///
/// A value is made outside the lock and only once per key: others that ask for the same key wait
/// for it, and nobody else waits. When the cache is full, the least recently used value is evicted.
#[derive(Debug)]
pub struct BoundedCache<K, V> {
    /// The values by key; one is empty while it is being made.
    entries: Mutex<RecentMap<K, Arc<OnceLock<V>>>>,
}

impl<K: Clone + Eq + Hash, V: Clone> BoundedCache<K, V> {
    /// A cache of at most `limit` values, or of one if that is zero.
    pub fn new(limit: usize) -> Self {
        Self { entries: Mutex::new(RecentMap::new(limit)) }
    }

    /// The value of a key, made now if it is missing.
    ///
    /// This blocks the thread while another one makes the value, so `make` must not ask the cache
    /// for the same key.
    pub fn get_or_make(&self, key: &K, make: impl FnOnce() -> V) -> V {
        let value = self.slot(key);
        value.get_or_init(make).clone()
    }

    /// Removes the values for whose keys `holds` is false.
    pub fn retain(&self, holds: impl FnMut(&K) -> bool) {
        self.lock().retain(holds);
    }

    pub fn len(&self) -> usize {
        self.lock().len()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn slot(&self, key: &K) -> Arc<OnceLock<V>> {
        let mut entries = self.lock();
        if let Some(value) = entries.get(key) {
            return value.clone();
        }
        let value = Arc::default();
        entries.insert(key.clone(), Arc::clone(&value));
        value
    }

    fn lock(&self) -> MutexGuard<'_, RecentMap<K, Arc<OnceLock<V>>>> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::mpsc;
    use std::thread;

    use super::*;

    /// Asks for keys one after another, and returns which had to be made.
    fn made(cache: &BoundedCache<u32, u32>, keys: &[u32]) -> Vec<u32> {
        let mut made = Vec::new();
        for key in keys {
            let value = cache.get_or_make(key, || {
                made.push(*key);
                *key
            });
            assert_eq!(value, *key);
        }
        made
    }

    #[test]
    fn a_full_cache_forgets_what_was_used_longest_ago() {
        let cache = BoundedCache::new(2);
        assert_eq!(made(&cache, &[1, 2, 1, 3, 1, 2]), [1, 2, 3, 2]);
        assert_eq!(cache.len(), 2);
    }

    #[test]
    fn a_cache_forgets_the_keys_it_is_told_to() {
        let cache = BoundedCache::new(8);
        made(&cache, &[1, 2, 3]);
        cache.retain(|key| *key > 2);
        assert_eq!(made(&cache, &[1, 3]), [1]);
    }

    #[test]
    fn a_value_is_made_once_however_many_ask_for_it() {
        let cache = BoundedCache::new(8);
        let count = AtomicUsize::new(0);
        thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| cache.get_or_make(&1, || count.fetch_add(1, Ordering::SeqCst)));
            }
        });
        assert_eq!(count.load(Ordering::SeqCst), 1);
    }

    #[test]
    fn nobody_waits_for_the_value_of_another_key() {
        let cache = BoundedCache::new(8);
        let (finish, finished) = mpsc::sync_channel::<()>(0);
        let (begin, started) = mpsc::sync_channel::<()>(0);
        thread::scope(|scope| {
            let cache = &cache;
            scope.spawn(move || {
                cache.get_or_make(&1, || {
                    begin.send(()).unwrap();
                    finished.recv().unwrap();
                    1
                })
            });
            started.recv().unwrap();
            assert_eq!(made(cache, &[2]), [2]);
            finish.send(()).unwrap();
        });
        assert_eq!(made(&cache, &[1, 2]), [0; 0]);
    }
}
