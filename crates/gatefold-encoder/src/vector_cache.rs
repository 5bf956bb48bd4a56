//! Vectors on disk, so that a passage is encoded once.
//!
//! One append-only file: a header (magic, version, dimensions, the model's digest) and records of
//! one length (key, scale, int8 values, checksum), all integers little-endian. Everything in it can
//! be computed again, so damage is no error: a file of another model or version is replaced, a
//! damaged one is cut at its first bad record.

use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::{self, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use sha2::{Digest as _, Sha256};

use crate::{EncoderError, Model, QuantizedVector};

/// The key of a vector.
pub type Key = [u8; 32];

/// Passages are cut at this many tokens, which measurements of the ranking showed to be enough.
pub const PASSAGE_TOKENS: usize = 64;
/// The most records of a cache: with 384 dimensions 86 MB, on disk and in memory.
pub const CACHED_VECTORS: usize = 200_000;
const MAGIC: &[u8; 8] = b"GFSHELF\n";
const VERSION: u32 = 1;
const HEADER_BYTES: usize = 8 + 4 + 4 + 32;
const KEY_BYTES: usize = 32;
const SCALE_BYTES: usize = 4;
const CHECKSUM_BYTES: usize = 8;

/// The key of a passage: the SHA-256 of the text and of where it is cut.
pub fn passage_key(text: &str) -> Key {
    let tokens = (PASSAGE_TOKENS as u64).to_le_bytes();
    Sha256::new().chain_update(tokens).chain_update(text).finalize().into()
}

/// The vectors of one model's passages.
#[derive(Debug)]
pub struct VectorCache {
    /// At most [`VectorCache::capacity`].
    vectors: HashMap<Key, Arc<QuantizedVector>>,
    /// The keys in the order of the file, for the oldest half to go: at most [`VectorCache::capacity`].
    order: Vec<Key>,
    dimensions: usize,
    capacity: usize,
    path: PathBuf,
    /// The file and the lock on it; `None` where another process holds the lock, or writing failed.
    file: Option<(File, File)>,
}

impl VectorCache {
    /// Opens or creates the file, and a `.lock` beside it.
    ///
    /// The first of several processes with one path writes. The others read what is there and keep
    /// new vectors in memory. A full cache loses its older half. An error means that the file or
    /// its folder cannot be written; damage is no error.
    pub fn open(path: &Path, model: &Model) -> Result<Self, EncoderError> {
        Self::of(path, model.digest(), model.dimensions(), CACHED_VECTORS)
    }

    /// A cache without a file, of at most `capacity` records.
    pub fn in_memory(model: &Model, capacity: usize) -> Self {
        Self::empty(Path::new(""), model.dimensions(), capacity)
    }

    pub(crate) fn empty(path: &Path, dimensions: usize, capacity: usize) -> Self {
        Self {
            vectors: HashMap::new(),
            order: Vec::new(),
            dimensions,
            capacity,
            path: path.to_owned(),
            file: None,
        }
    }

    pub(crate) fn of(
        path: &Path,
        digest: &str,
        dimensions: usize,
        capacity: usize,
    ) -> Result<Self, EncoderError> {
        let header = &header(digest, dimensions);
        let unwritten = |source| EncoderError::Write { path: path.to_owned(), source };
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).map_err(unwritten)?;
        }
        let mut cache = Self::empty(path, dimensions, capacity);
        let lock = private().write(true).create(true).truncate(false).open(beside(path, "lock"));
        let lock = lock.map_err(unwritten)?;
        if lock.try_lock().is_err() {
            if let Ok(file) = File::open(path) {
                cache.read(file, header);
            }
            tracing::info!("another process wrote the cache of vectors, new ones stay in memory");
            return Ok(cache);
        }
        let file = private().read(true).append(true).create(true).open(path).map_err(unwritten)?;
        let good = cache.read(&file, header);
        let file = if good == 0 {
            file.set_len(0).and_then(|()| (&file).write_all(header)).map_err(unwritten)?;
            file
        } else if cache.order.len() >= capacity {
            drop(file);
            cache.forget_older_half();
            cache.rewrite(header).map_err(unwritten)?
        } else {
            file.set_len(good).map_err(unwritten)?;
            file
        };
        cache.file = Some((file, lock));
        Ok(cache)
    }

    pub fn get(&self, key: &Key) -> Option<Arc<QuantizedVector>> {
        self.vectors.get(key).cloned()
    }

    pub fn len(&self) -> usize {
        self.vectors.len()
    }

    pub fn is_empty(&self) -> bool {
        self.vectors.is_empty()
    }

    /// Keeps a vector, unless it is there already or has other dimensions than the model's.
    ///
    /// A full cache forgets its older half in memory and writes no more; the file loses its half
    /// when it is next opened.
    pub fn put(&mut self, key: Key, vector: Arc<QuantizedVector>) {
        if vector.dimensions() != self.dimensions || self.vectors.contains_key(&key) {
            return;
        }
        if self.order.len() >= self.capacity {
            self.forget_older_half();
            self.file = None;
        }
        if let Some((file, _)) = &mut self.file
            && let Err(error) = file.write_all(&record(&key, &vector))
        {
            tracing::warn!(path = %self.path.display(), %error, "a vector was not written, new ones stay in memory");
            self.file = None;
        }
        self.order.push(key);
        self.vectors.insert(key, vector);
    }

    /// Reads a file's records and returns how many of its bytes are good: 0 if not even the header
    /// is.
    fn read(&mut self, file: impl Read, expected: &[u8; HEADER_BYTES]) -> u64 {
        let mut file = BufReader::new(file);
        let mut header = [0; HEADER_BYTES];
        if file.read_exact(&mut header).is_err() || header != *expected {
            return 0;
        }
        let mut good = HEADER_BYTES;
        let mut record = vec![0; KEY_BYTES + SCALE_BYTES + self.dimensions + CHECKSUM_BYTES];
        while self.order.len() < self.capacity && file.read_exact(&mut record).is_ok() {
            let Some((key, vector)) = parse(&record) else { break };
            good += record.len();
            if self.vectors.insert(key, Arc::new(vector)).is_none() {
                self.order.push(key);
            }
        }
        good as u64
    }

    fn forget_older_half(&mut self) {
        for key in self.order.drain(..self.order.len().div_ceil(2)) {
            self.vectors.remove(&key);
        }
    }

    /// Replaces the file by one with what is in memory.
    fn rewrite(&self, header: &[u8; HEADER_BYTES]) -> io::Result<File> {
        let part = beside(&self.path, "part");
        let file = private().write(true).create(true).truncate(true).open(&part)?;
        let mut file = io::BufWriter::new(file);
        file.write_all(header)?;
        for (key, vector) in self.order.iter().filter_map(|key| self.vectors.get_key_value(key)) {
            file.write_all(&record(key, vector))?;
        }
        file.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()?;
        std::fs::rename(&part, &self.path)?;
        private().append(true).open(&self.path)
    }
}

/// Vectors reveal something about their texts, so only the owner may read the files.
fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".");
    name.push(ending);
    name.into()
}

fn header(digest: &str, dimensions: usize) -> [u8; HEADER_BYTES] {
    let mut header = [0; HEADER_BYTES];
    header[..8].copy_from_slice(MAGIC);
    header[8..12].copy_from_slice(&VERSION.to_le_bytes());
    let dimensions = u32::try_from(dimensions).unwrap_or_default();
    header[12..16].copy_from_slice(&dimensions.to_le_bytes());
    header[16..].copy_from_slice(&Sha256::digest(digest));
    header
}

fn record(key: &Key, vector: &QuantizedVector) -> Vec<u8> {
    let mut record = Vec::with_capacity(KEY_BYTES + SCALE_BYTES + vector.dimensions() + 8);
    record.extend(key);
    record.extend(vector.scale().to_le_bytes());
    record.extend(vector.values().iter().map(|value| value.cast_unsigned()));
    record.extend(checksum(&record).to_le_bytes());
    record
}

fn parse(record: &[u8]) -> Option<(Key, QuantizedVector)> {
    let (content, sum) = record.split_last_chunk::<CHECKSUM_BYTES>()?;
    if checksum(content) != u64::from_le_bytes(*sum) {
        return None;
    }
    let (key, rest) = content.split_first_chunk::<KEY_BYTES>()?;
    let (scale, values) = rest.split_first_chunk::<SCALE_BYTES>()?;
    let values = values.iter().map(|value| value.cast_signed()).collect();
    Some((*key, QuantizedVector::stored(f32::from_le_bytes(*scale), values)?))
}

/// FNV-1a: it finds torn and damaged records and protects against nobody.
fn checksum(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |sum, byte| {
        (sum ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests;
