//! What one base, one document and one search may take.

use std::time::Duration;

/// The most documents of a base.
pub const MAX_DOCUMENTS: usize = 200_000;

/// The longest name of a document, in bytes.
pub const MAX_NAME: usize = 1024;

/// The longest title that is kept, in bytes.
pub const MAX_TITLE: usize = 400;

/// The longest reason that is kept of a document that gives no text, in bytes.
pub(crate) const MAX_REASON: usize = 400;

/// How many of a document's past versions are kept, whatever their age.
pub const PAST_VERSIONS: u32 = 20;

/// How long a past version is kept, whatever their number, and a version that was cited.
pub const PAST_TIME: Duration = Duration::from_secs(90 * 24 * 60 * 60);

/// What the past versions of a base may take on disk, compressed, in bytes. Versions that were cited
/// have as much again to themselves.
pub const PAST_BYTES: u64 = 1024 * 1024 * 1024;

/// The size that a chunk aims at, in bytes: 200 tokens.
pub(crate) const CHUNK: usize = 800;

/// How long a heading may be to be put in front of what is under it, in bytes.
pub(crate) const HEADING: usize = CHUNK / 2;

/// The longest head of a table that each of its chunks repeats, in bytes.
pub(crate) const TABLE_HEAD: usize = CHUNK / 2;

/// The most headings, and the bytes of each, that count as the path of a chunk.
pub(crate) const PATH_HEADINGS: usize = 8;
pub(crate) const PATH_HEADING: usize = 200;

/// The longest word that is indexed, in characters; what is longer is cut.
pub(crate) const WORD: usize = 48;

/// How much of a query is read, in bytes and in words. Of more words the rarest count.
pub const MAX_QUERY: usize = 4096;
pub(crate) const QUERY_WORDS: usize = 40;

/// The most passages of one search.
pub const MAX_TOP: usize = 100;

/// The most passages of one document among those that are shown.
pub const PASSAGES_PER_DOCUMENT: usize = 3;

/// How many passages an answer of quotes is made of.
pub const GROUNDING_PASSAGES: usize = 20;

/// How many chunks a search looks at closely.
pub(crate) const CANDIDATES: usize = 100;

/// A word in more than this share of the chunks, one of so many, does not choose candidates if others
/// can. It still counts in their scores.
pub(crate) const COMMON_SHARE: u64 = 5;

/// The longest passage that is made of chunks that touch, in bytes.
pub(crate) const PASSAGE: usize = 4 * CHUNK;

/// The most titles that are named where nothing fits.
pub(crate) const NEAREST_TITLES: usize = 5;

/// What a batch may hold before it is committed, in bytes of text and in documents.
pub(crate) const BATCH_BYTES: usize = 64 * 1024 * 1024;
pub(crate) const BATCH_DOCUMENTS: usize = 2000;

/// The memory in which the index collects what a commit writes, in bytes.
pub(crate) const INDEX_MEMORY: usize = 48 * 1024 * 1024;

/// The most connections that wait for readers.
pub(crate) const READERS: usize = 8;

/// How long one process waits for another's write.
pub(crate) const WRITE_WAIT: Duration = Duration::from_secs(10);

/// What the cache of texts may hold: bytes, and texts.
pub(crate) const CACHE_BYTES: usize = 32 * 1024 * 1024;
pub(crate) const CACHE_TEXTS: usize = 256;

/// The largest text that is decoded, in bytes. Readers of documents make less.
pub(crate) const MAX_TEXT: usize = 64 * 1024 * 1024;

/// The largest layout or structure that is decoded, in bytes.
pub(crate) const MAX_RECORD: usize = 64 * 1024 * 1024;

/// The most chunks that wait to be encoded because searches touched them.
pub(crate) const TOUCHED: usize = 2048;

/// The most chunks that are encoded at once.
pub(crate) const ENCODED_AT_ONCE: usize = 64;

/// The most numbers of a vector.
pub(crate) const DIMENSIONS: usize = 4096;

/// What is listed of folders: files, levels below a root, and entries looked at in all.
pub const MAX_FILES: usize = MAX_DOCUMENTS;
pub(crate) const MAX_DEPTH: usize = 32;
pub(crate) const MAX_ENTRIES: usize = 1_000_000;

/// The longest pattern of names, in bytes, and the most of them.
pub(crate) const MAX_PATTERN: usize = 300;
pub(crate) const MAX_PATTERNS: usize = 100;
