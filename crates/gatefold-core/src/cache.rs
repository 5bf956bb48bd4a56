use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// A bounded cache of values that are expensive to make.
///
/// A value is made outside the lock and once per key: others that ask for the same key wait for it,
/// and nobody else waits. When the cache is full, the least recently used value is evicted.
#[derive(Debug)]
pub struct BoundedCache<K, V> {
    limit: usize,
    entries: Mutex<Entries<K, V>>,
}

#[derive(Debug)]
struct Entries<K, V> {
    /// At most [`BoundedCache::limit`].
    by_key: HashMap<K, Entry<V>>,
    /// Counts uses, to find the least recently used entry.
    uses: u64,
}

#[derive(Debug)]
struct Entry<V> {
    /// Empty while the value is being made.
    value: Arc<OnceLock<V>>,
    last_use: u64,
}

impl<K: Clone + Eq + Hash, V: Clone> BoundedCache<K, V> {
    /// A cache of at most `limit` values, or of one if that is zero.
    pub fn new(limit: usize) -> Self {
        let entries = Entries { by_key: HashMap::new(), uses: 0 };
        Self { limit: limit.max(1), entries: Mutex::new(entries) }
    }

    /// The value of a key, made now if it is missing.
    ///
    /// This blocks the thread while another one makes the value, so `make` must not ask the cache
    /// for the same key.
    pub fn get_or_make(&self, key: &K, make: impl FnOnce() -> V) -> V {
        let value = self.lock().slot(key, self.limit);
        value.get_or_init(make).clone()
    }

    /// Removes the values whose keys do not hold.
    pub fn retain(&self, mut holds: impl FnMut(&K) -> bool) {
        self.lock().by_key.retain(|key, _| holds(key));
    }

    pub fn len(&self) -> usize {
        self.lock().by_key.len()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn lock(&self) -> MutexGuard<'_, Entries<K, V>> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<K: Clone + Eq + Hash, V> Entries<K, V> {
    fn slot(&mut self, key: &K, limit: usize) -> Arc<OnceLock<V>> {
        self.uses += 1;
        if let Some(entry) = self.by_key.get_mut(key) {
            entry.last_use = self.uses;
            return entry.value.clone();
        }
        if self.by_key.len() >= limit {
            // A linear scan is cheap compared with the value about to be made.
            let oldest = self.by_key.iter().min_by_key(|(_, entry)| entry.last_use);
            if let Some(oldest) = oldest.map(|(key, _)| key.clone()) {
                self.by_key.remove(&oldest);
            }
        }
        let value = Arc::default();
        let entry = Entry { value: Arc::clone(&value), last_use: self.uses };
        self.by_key.insert(key.clone(), entry);
        value
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
