//! The objects of one document.
//!
//! They are found by looking through the bytes for `N G obj`, so a damaged or forged table of places
//! costs nothing; of two with the same number the later one holds. Nothing but small objects is
//! read more than once, and all that is read and inflated has one account.

mod scan;

use std::cell::{Cell, OnceCell};
use std::collections::HashMap;
use std::ops::Range;
use std::time::Instant;

use lopdf::encryption::{DecryptionError, decrypt_object};
use lopdf::{DecompressError, Dictionary, Document, EncryptionState, Error, Object};
use lopdf::{ObjectId, ObjectStream, Stream};

use scan::FoundObject;

use crate::PdfFault;

/// The most objects of a document.
const MAX_OBJECTS: usize = 300_000;

/// The most of one object that is read, not counting a stream's data, and of all of them, in bytes.
/// In memory a list takes some sixty times as much.
const MAX_OBJECT: usize = 1024 * 1024;
const MAX_READ: usize = 4 * 1024 * 1024;

/// The most that one stream inflates to, and all of them, in bytes.
const MAX_STREAM: usize = 16 * 1024 * 1024;
const MAX_INFLATED: usize = 96 * 1024 * 1024;

/// What a stream counts for at least, in bytes, so that small ones cannot be drawn without end.
const LEAST_STREAM: usize = 512;

/// How many references are followed to one object.
const MAX_HOPS: usize = 16;

pub(super) struct PdfFile<'b> {
    bytes: &'b [u8],
    entries: HashMap<u32, Entry>,
    /// What is in object streams.
    containers: Vec<Vec<u8>>,
    trailer: Dictionary,
    encryption: Option<EncryptionState>,
    left_to_read: Cell<usize>,
    left_to_inflate: Cell<usize>,
    /// Whether something was not read because it was too much.
    is_exhausted: Cell<bool>,
}

struct Entry {
    place: ObjectPlace,
    /// Where it, or the object stream that it is in, begins in the file.
    position: usize,
    object: OnceCell<Object>,
}

enum ObjectPlace {
    Direct(FoundObject),
    Member { container: usize, span: Range<usize> },
}

impl<'b> PdfFile<'b> {
    pub(super) fn read(bytes: &'b [u8], until: Instant) -> Result<Self, PdfFault> {
        let found = scan::objects(bytes, MAX_OBJECTS, until)?;
        let mut file = Self {
            bytes,
            entries: HashMap::new(),
            containers: Vec::new(),
            trailer: Dictionary::new(),
            encryption: None,
            left_to_read: Cell::new(MAX_READ),
            left_to_inflate: Cell::new(MAX_INFLATED),
            is_exhausted: Cell::new(false),
        };
        for object in found {
            file.add(object.id.0, object.head.start, ObjectPlace::Direct(object));
        }
        file.trailer = file.find_trailer();
        file.encryption = file.find_encryption()?;
        file.open_containers(until)?;
        if file.trailer.get(b"Root").is_err()
            && let Some(root) = file.find_catalog()
        {
            file.trailer.set("Root", root);
        }
        Ok(file)
    }

    pub(super) fn trailer(&self) -> &Dictionary {
        &self.trailer
    }

    /// Whether objects are missing that would have been too much.
    pub(super) fn is_exhausted(&self) -> bool {
        self.is_exhausted.get()
    }

    /// What an object is, behind references. Null if there is nothing.
    pub(super) fn follow<'f>(&'f self, mut object: &'f Object) -> &'f Object {
        for _ in 0..MAX_HOPS {
            let Object::Reference((number, _)) = object else { return object };
            let Some(entry) = self.entries.get(number) else { break };
            // Reading one object needs no other but a stream's length, which is not kept.
            object = entry.object.get_or_init(|| self.load(entry).unwrap_or(Object::Null));
        }
        &Object::Null
    }

    pub(super) fn dictionary<'f>(&'f self, object: &'f Object) -> Option<&'f Dictionary> {
        match self.follow(object) {
            Object::Dictionary(dictionary) => Some(dictionary),
            Object::Stream(stream) => Some(&stream.dict),
            _ => None,
        }
    }

    /// A member of a dictionary, behind references.
    pub(super) fn get<'f>(&'f self, of: &'f Dictionary, key: &[u8]) -> Option<&'f Object> {
        let object = self.follow(of.get(key).ok()?);
        (!object.is_null()).then_some(object)
    }

    pub(super) fn number(&self, object: &Object) -> Option<f32> {
        self.follow(object).as_float().ok().filter(|number| number.is_finite())
    }

    /// The data of a stream without its filters, on account.
    pub(super) fn data(&self, stream: &Stream) -> Result<Vec<u8>, PdfFault> {
        let mut dictionary = Dictionary::new();
        for key in ["Filter", "DecodeParms"] {
            if let Some(object) = self.get(&stream.dict, key.as_bytes()) {
                dictionary.set(key, self.flat(object));
            }
        }
        let plain = Stream::new(dictionary, stream.content.clone());
        let limit = MAX_STREAM.min(self.left_to_inflate.get());
        let data = plain.get_plain_content_with_limit(limit);
        let used = match &data {
            Ok(data) => data.len().max(stream.content.len()).max(LEAST_STREAM),
            Err(_) => limit,
        };
        self.left_to_inflate.set(self.left_to_inflate.get().saturating_sub(used));
        data.map_err(|error| match error {
            Error::Decompress(DecompressError::MemoryLimitExceeded { .. }) => PdfFault::TooLarge,
            _ => PdfFault::Damaged,
        })
    }

    /// A copy of an object with what its members refer to, one level deep.
    pub(super) fn flat(&self, object: &Object) -> Object {
        match self.follow(object) {
            Object::Array(items) => {
                Object::Array(items.iter().map(|item| self.follow(item).clone()).collect())
            }
            Object::Dictionary(members) => {
                let members = members.iter();
                let flat = members.map(|(key, value)| (key.clone(), self.follow(value).clone()));
                Object::Dictionary(flat.collect())
            }
            other => other.clone(),
        }
    }

    fn add(&mut self, number: u32, position: usize, place: ObjectPlace) {
        let entry = Entry { place, position, object: OnceCell::new() };
        let former = self.entries.get(&number);
        if former.is_none_or(|former| former.position <= position) {
            self.entries.insert(number, entry);
        }
    }

    fn load(&self, entry: &Entry) -> Option<Object> {
        let found = match &entry.place {
            ObjectPlace::Member { container, span } => {
                return self.parse(&self.containers[*container][span.clone()]);
            }
            ObjectPlace::Direct(found) => found,
        };
        let mut object = self.parse(&self.bytes[found.head.clone()])?;
        if let (Object::Dictionary(dictionary), Some(data)) = (&mut object, &found.data) {
            let end = self.length(dictionary).and_then(|length| data.start.checked_add(length));
            let end = end.filter(|end| data.contains(end)).unwrap_or(data.end);
            let content = self.bytes[data.start..end].to_vec();
            object = Object::Stream(Stream::new(std::mem::take(dictionary), content));
        }
        if let Some(state) = &self.encryption {
            decrypt_object(state, found.id, &mut object).ok()?;
        }
        Some(object)
    }

    fn length(&self, dictionary: &Dictionary) -> Option<usize> {
        let length = match dictionary.get(b"Length").ok()? {
            Object::Reference((number, _)) => match &self.entries.get(number)?.place {
                ObjectPlace::Direct(found) => self.parse(&self.bytes[found.head.clone()])?,
                ObjectPlace::Member { container, span } => {
                    self.parse(self.containers.get(*container)?.get(span.clone())?)?
                }
            },
            direct => direct.clone(),
        };
        length.as_i64().ok()?.try_into().ok()
    }

    /// Reads one object, on account. The library reads a single one only as the member of an object
    /// stream.
    fn parse(&self, text: &[u8]) -> Option<Object> {
        const INDEX: &[u8] = b"0 0 ";
        let left = self.left_to_read.get().checked_sub(text.len());
        let Some(left) = left.filter(|_| text.len() <= MAX_OBJECT) else {
            self.is_exhausted.set(true);
            return None;
        };
        self.left_to_read.set(left);
        let first = i64::try_from(INDEX.len()).ok()?;
        let dictionary = Dictionary::from_iter([("N", Object::from(1)), ("First", first.into())]);
        let content = [INDEX, text].concat();
        ObjectStream::new(&Stream::new(dictionary, content)).ok()?.objects.remove(&(0, 0))
    }

    /// The last trailer that names a root.
    fn find_trailer(&self) -> Dictionary {
        let texts = scan::trailers(self.bytes).into_iter();
        let mut found: Vec<_> = texts.map(|(at, span)| (at, &self.bytes[span])).collect();
        let tables = self.entries.values().filter_map(|entry| {
            let head = self.head(entry);
            scan::mentions(head, b"/XRef").then_some((entry.position, head))
        });
        found.extend(tables);
        found.sort_unstable_by_key(|(at, _)| std::cmp::Reverse(*at));
        let read = found.into_iter().take(scan::MAX_TRAILERS).filter_map(|(_, text)| {
            let Object::Dictionary(dictionary) = self.parse(text)? else { return None };
            dictionary.has(b"Root").then_some(dictionary)
        });
        read.into_iter().next().unwrap_or_default()
    }

    /// What an entry says before a stream's data.
    fn head(&self, entry: &Entry) -> &[u8] {
        match &entry.place {
            ObjectPlace::Direct(found) => &self.bytes[found.head.clone()],
            ObjectPlace::Member { container, span } => &self.containers[*container][span.clone()],
        }
    }

    /// The root of a document whose trailer is lost.
    fn find_catalog(&self) -> Option<Object> {
        let mut entries: Vec<_> = self.entries.iter().collect();
        entries
            .sort_unstable_by_key(|(number, entry)| std::cmp::Reverse((entry.position, **number)));
        let root = entries.into_iter().find(|(_, entry)| {
            scan::mentions(self.head(entry), b"/Catalog")
                && self.parse(self.head(entry)).is_some_and(|object| {
                    object.as_dict().is_ok_and(|dictionary| dictionary.has_type(b"Catalog"))
                })
        });
        root.map(|(number, _)| Object::Reference((*number, 0)))
    }

    /// How to decipher what is here, with the empty password that many documents have.
    fn find_encryption(&self) -> Result<Option<EncryptionState>, PdfFault> {
        let Ok(named) = self.trailer.get(b"Encrypt") else { return Ok(None) };
        // One that stands in the trailer itself gets a number of its own.
        let id: ObjectId = named.as_reference().unwrap_or((u32::MAX, 0));
        let mut document = Document::new();
        document.trailer = self.trailer.clone();
        document.trailer.set("Encrypt", id);
        if let Some(own) = self.trailer.get(b"ID").ok().map(|own| self.flat(own)) {
            document.trailer.set("ID", own);
        }
        document.objects.insert(id, self.flat(named));
        match EncryptionState::decode(&document, "") {
            Ok(state) => Ok(Some(state)),
            Err(Error::InvalidPassword | Error::Decryption(DecryptionError::IncorrectPassword)) => {
                Err(PdfFault::Password)
            }
            Err(_) => Err(PdfFault::Cipher),
        }
    }

    /// Notes what is in object streams.
    fn open_containers(&mut self, until: Instant) -> Result<(), PdfFault> {
        let is_container = |entry: &&Entry| scan::mentions(self.head(entry), b"/ObjStm");
        let mut numbers: Vec<_> =
            self.entries.iter().filter(|(_, entry)| is_container(entry)).collect();
        numbers.sort_unstable_by_key(|(_, entry)| entry.position);
        let numbers: Vec<_> =
            numbers.into_iter().map(|(number, entry)| (*number, entry.position)).collect();
        for (number, position) in numbers {
            if Instant::now() >= until {
                return Err(PdfFault::TooLong);
            }
            let reference = Object::Reference((number, 0));
            let Object::Stream(stream) = self.follow(&reference) else { continue };
            let content = match self.data(stream) {
                Err(PdfFault::Damaged) => continue,
                read => read?,
            };
            let first = self.get(&stream.dict, b"First").and_then(|first| first.as_i64().ok());
            let first = first.and_then(|first| usize::try_from(first).ok()).unwrap_or(usize::MAX);
            let members = scan::members(&content, first, MAX_OBJECTS);
            if self.entries.len() + members.len() > MAX_OBJECTS {
                return Err(PdfFault::TooLarge);
            }
            let container = self.containers.len();
            self.containers.push(content);
            for (number, span) in members {
                self.add(number, position, ObjectPlace::Member { container, span });
            }
        }
        Ok(())
    }
}
