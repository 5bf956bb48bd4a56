//! A tool as it is searched, and what the index keeps of it once it has been read.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::embedding::{Embedding, Table, unit};
use crate::text::{self, Kind};

/// The most words read of each field. What comes later is examples and notes.
const FIELD_WORDS: [u16; FIELDS] = [32, 32, 32, 16, 160, 96, 128, 48, 160];

/// The most past queries of a tool that count.
pub const PAST_QUERIES: usize = 5;

/// What is searched of one tool. Everything but the name may be empty.
#[derive(Debug, Clone, Copy, Default)]
pub struct Document<'a> {
    /// As its source calls it.
    pub name: &'a str,
    /// The public name of its source, and the source's title when it has another.
    pub domain: &'a [&'a str],
    pub domain_description: &'a str,
    pub group: &'a str,
    /// The tool's title and description.
    pub description: &'a [&'a str],
    pub parameter_names: &'a [String],
    pub parameter_descriptions: &'a [String],
    /// What enumerations of its parameters allow.
    pub enum_values: &'a [String],
    /// Requests after which this tool was used; the first [`PAST_QUERIES`] count.
    pub past_queries: &'a [String],
}

/// How many fields a document has.
pub(crate) const FIELDS: usize = 9;

/// A field of a document, in the order of [`Document`]'s.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Field {
    Name,
    Domain,
    DomainDescription,
    Group,
    Description,
    ParameterNames,
    ParameterDescriptions,
    EnumValues,
    PastQueries,
}

/// A tool that has been read: its terms with their count in each field, and its vector.
///
/// It depends on the document alone, so an index over other tools reuses it as it is.
#[derive(Debug, Clone)]
pub struct Analysis {
    /// The terms, sorted, one after another.
    terms: Box<str>,
    /// For each term: its length in bytes, a bit for each field that has it, and for each of those
    /// fields how often (at most 255).
    counts: Box<[u8]>,
    /// Words in each field.
    lengths: [u16; FIELDS],
    key: Box<str>,
    embedding: Embedding,
}

impl Analysis {
    /// Reads a tool.
    pub fn of<'a>(document: &Document<'a>) -> Arc<Self> {
        let mut reader = FieldReader::default();
        reader.read(Field::Name, [document.name]);
        reader.read(Field::Domain, document.domain.iter().copied());
        reader.read(Field::DomainDescription, [document.domain_description]);
        reader.read(Field::Group, [document.group]);
        reader.read(Field::Description, document.description.iter().copied());
        let strings = |texts: &'a [String]| texts.iter().map(String::as_str);
        reader.read(Field::ParameterNames, strings(document.parameter_names));
        reader.read(Field::ParameterDescriptions, strings(document.parameter_descriptions));
        reader.read(Field::EnumValues, strings(document.enum_values));
        let past = document.past_queries.iter().take(PAST_QUERIES);
        reader.read(Field::PastQueries, past.map(String::as_str));
        let (terms, counts) = reader.packed();
        Arc::new(Self {
            terms,
            counts,
            lengths: reader.lengths,
            key: text::key(document.name).into(),
            embedding: Embedding::of(&meaning(document)),
        })
    }

    /// The name in one spelling, whichever way it is written.
    pub(crate) fn key(&self) -> &str {
        &self.key
    }

    pub(crate) fn embedding(&self) -> &Embedding {
        &self.embedding
    }

    pub(crate) fn lengths(&self) -> &[u16; FIELDS] {
        &self.lengths
    }

    /// The terms in order, each with its count in the fields that have it.
    pub(crate) fn terms(&self) -> impl Iterator<Item = (&str, impl Iterator<Item = (usize, u8)>)> {
        let (mut text, mut counts) = (&*self.terms, &*self.counts);
        std::iter::from_fn(move || {
            let [length, low, high, rest @ ..] = counts else { return None };
            let (term, other) = text.split_at(usize::from(*length));
            let fields = u16::from_le_bytes([*low, *high]);
            let (own, rest) = rest.split_at(fields.count_ones() as usize);
            (text, counts) = (other, rest);
            let having = (0..FIELDS).filter(move |field| fields >> field & 1 == 1);
            Some((term, having.zip(own.iter().copied())))
        })
    }

    /// How much memory it takes, in bytes.
    pub fn memory(&self) -> usize {
        size_of::<Self>()
            + 2 * size_of::<usize>()
            + self.terms.len()
            + self.counts.len()
            + self.key.len()
            + self.embedding.values().len()
    }
}

/// The weight of the vector of a tool's domain and name, relative to that of its whole text.
const NAME_SHARE: f32 = 0.4;

/// What a tool means: its domain, name and description, weighted towards the first two.
pub(crate) fn meaning(document: &Document<'_>) -> Vec<f32> {
    let table = Table::built_in();
    let domain = document.domain.first().copied();
    let named: Vec<_> = domain.into_iter().chain([document.name]).collect();
    let named = named.join(" ");
    let whole = table.embed(&format!("{named} {}", document.description.join(" ")));
    let (mut vector, named) = (unit(whole), unit(table.embed(&named)));
    for (value, named) in vector.iter_mut().zip(named) {
        *value += NAME_SHARE * named;
    }
    vector
}

#[derive(Default)]
struct FieldReader {
    /// [`FIELD_WORDS`] are too few to gain anything from words chosen to collide in the hash table.
    counts: FxHashMap<String, [u8; FIELDS]>,
    lengths: [u16; FIELDS],
}

impl FieldReader {
    fn read<'a>(&mut self, field: Field, texts: impl IntoIterator<Item = &'a str>) {
        let at = field as usize;
        for text in texts {
            let left = usize::from(FIELD_WORDS[at].saturating_sub(self.lengths[at]));
            text::terms(text, left, |term, kind| {
                if kind == Kind::Word {
                    self.lengths[at] += 1;
                }
                let count = match self.counts.get_mut(term) {
                    Some(counts) => &mut counts[at],
                    None => &mut self.counts.entry(term.to_owned()).or_default()[at],
                };
                *count = count.saturating_add(1);
            });
        }
    }

    fn packed(&self) -> (Box<str>, Box<[u8]>) {
        let (mut terms, mut packed) = (String::new(), Vec::new());
        let mut counts: Vec<_> = self.counts.iter().collect();
        counts.sort_unstable_by_key(|(term, _)| *term);
        for (term, counts) in counts {
            // A term is at most `TERM_BYTES` long.
            let Ok(length) = u8::try_from(term.len()) else { continue };
            terms.push_str(term);
            let having = (0..FIELDS).filter(|field| counts[*field] > 0);
            let bits = having.clone().fold(0_u16, |bits, field| bits | 1 << field);
            packed.push(length);
            packed.extend(bits.to_le_bytes());
            packed.extend(having.map(|field| counts[field]));
        }
        (terms.into(), packed.into())
    }
}
