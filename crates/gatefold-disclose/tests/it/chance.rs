use serde_json::Value;

/// Pseudo-random numbers that are the same in every run (xorshift64, Marsaglia 2003).
pub(crate) struct Chance(u64);

impl Chance {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % limit as u64).unwrap()
    }

    pub(crate) fn shuffle<T>(&mut self, items: &mut [T]) {
        for at in (1..items.len()).rev() {
            items.swap(at, self.below(at + 1));
        }
    }

    /// The value with the keys of all its objects in another order.
    pub(crate) fn reordered(&mut self, value: &Value) -> Value {
        match value {
            Value::Object(object) => {
                let mut entries: Vec<_> = object.iter().collect();
                self.shuffle(&mut entries);
                let entries = entries.into_iter();
                Value::Object(entries.map(|(k, v)| (k.clone(), self.reordered(v))).collect())
            }
            Value::Array(items) => items.iter().map(|item| self.reordered(item)).collect(),
            other => other.clone(),
        }
    }
}
