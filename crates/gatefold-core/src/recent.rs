use std::collections::HashMap;
use std::hash::Hash;

/// A bounded map. When it is full, a new key evicts the least recently used one.
#[derive(Debug)]
pub struct RecentMap<K, V> {
    limit: usize,
    /// At most [`RecentMap::limit`].
    entries: HashMap<K, Entry<V>>,
    /// Counts uses, to find the least recent one.
    uses: u64,
}

#[derive(Debug)]
struct Entry<V> {
    value: V,
    last_use: u64,
}

impl<K: Clone + Eq + Hash, V> RecentMap<K, V> {
    /// A map of at most `limit` values, or of one if that is zero.
    pub fn new(limit: usize) -> Self {
        Self { limit: limit.max(1), entries: HashMap::new(), uses: 0 }
    }

    /// The value of a key, which now counts as just used.
    pub fn get(&mut self, key: &K) -> Option<&V> {
        self.uses += 1;
        let entry = self.entries.get_mut(key)?;
        entry.last_use = self.uses;
        Some(&entry.value)
    }

    /// Sets the value of a key, and returns the old one.
    pub fn insert(&mut self, key: K, value: V) -> Option<V> {
        self.uses += 1;
        if self.entries.len() >= self.limit && !self.entries.contains_key(&key) {
            // Searching all entries is rare: only a new key in a full map needs it.
            let oldest = self.entries.iter().min_by_key(|(_, entry)| entry.last_use);
            if let Some(oldest) = oldest.map(|(key, _)| key.clone()) {
                self.entries.remove(&oldest);
            }
        }
        let entry = Entry { value, last_use: self.uses };
        self.entries.insert(key, entry).map(|former| former.value)
    }

    /// Removes the values for whose keys `holds` is false.
    pub fn retain(&mut self, mut holds: impl FnMut(&K) -> bool) {
        self.entries.retain(|key, _| holds(key));
    }

    /// All values, in no order.
    pub fn values(&self) -> impl Iterator<Item = &V> {
        self.entries.values().map(|entry| &entry.value)
    }

    pub fn len(&self) -> usize {
        self.entries.len()
    }

    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_too_many_takes_the_place_of_the_one_used_longest_ago() {
        let mut map = RecentMap::new(2);
        assert_eq!(map.insert('a', 1), None);
        assert_eq!(map.insert('b', 2), None);
        assert_eq!(map.get(&'a'), Some(&1));
        assert_eq!(map.insert('c', 3), None);
        assert_eq!(map.len(), 2);
        assert_eq!(map.get(&'b'), None);
        assert_eq!(map.get(&'a'), Some(&1));
        assert_eq!(map.insert('a', 4), Some(1), "the same key needs no other place");
        assert_eq!(map.get(&'c'), Some(&3));
        assert_eq!(map.len(), 2);
    }
}
