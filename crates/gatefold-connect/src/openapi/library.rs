//! All documents of one description, and references between them.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use bytes::Bytes;
use futures::stream::{self, StreamExt as _};
use percent_encoding::percent_decode_str;
use url::Url;

use super::documents::{DocumentBudget, Documents, may_lead_to};
use super::text::{self, ParsedText, TextError};
use super::value::{DocumentValue, Members};

/// How many documents a description may consist of. What they have together is bounded as well, by a
/// [`DocumentBudget`].
pub const DOCUMENTS_LIMIT: usize = 16_384;

/// How many documents are fetched at once.
const PARALLEL_FETCHES: usize = 8;

/// How many references may lead from one to the next before there is a value.
const CHAIN_LIMIT: usize = 32;

/// A document that could not be had, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct MissingDocument {
    pub(super) url: String,
    pub(super) why: String,
}

impl MissingDocument {
    fn new(url: &Url, why: &str) -> Self {
        Self { url: url.to_string(), why: why.to_owned() }
    }
}

#[derive(Debug)]
struct Document {
    url: Url,
    value: DocumentValue,
}

/// All documents of one description. The first one is the description itself.
#[derive(Debug)]
pub(super) struct Library {
    documents: Vec<Document>,
    by_url: HashMap<String, usize>,
    /// The JSON pointer of what has an `$anchor`, or an `$id` of its own, by document and name.
    named: HashMap<(usize, String), String>,
    pub(super) missing: Vec<MissingDocument>,
    /// What had to be repaired before a document could be read, by its URL.
    pub(super) repairs: Vec<(String, String)>,
}

/// A value in one of the documents.
#[derive(Debug, Clone, Copy)]
pub(super) struct Node<'a> {
    pub(super) document: usize,
    pub(super) value: &'a DocumentValue,
}

impl<'a> Node<'a> {
    pub(super) fn at(self, value: &'a DocumentValue) -> Self {
        Self { value, ..self }
    }

    pub(super) fn get(self, key: &str) -> Option<Self> {
        self.value.get(key).map(|value| self.at(value))
    }

    pub(super) fn text(self, key: &str) -> Option<&'a str> {
        self.value.get(key).and_then(DocumentValue::as_str)
    }

    pub(super) fn flag(self, key: &str) -> bool {
        self.value.get(key).and_then(DocumentValue::as_bool) == Some(true)
    }

    /// The items of a list. Anything else has none.
    pub(super) fn items(self) -> impl Iterator<Item = Self> {
        let items = self.value.as_array().unwrap_or_default();
        items.iter().map(move |value| self.at(value))
    }

    /// The members of an object. Anything else has none.
    pub(super) fn members(self) -> impl Iterator<Item = (&'a str, Self)> {
        let members = self.value.as_object().into_iter().flat_map(Members::iter);
        members.map(move |(key, value)| (key, self.at(value)))
    }
}

/// What a reference leads to: a document and a JSON pointer into it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Place {
    pub(super) document: usize,
    pub(super) pointer: String,
}

impl Library {
    /// Of a single document.
    #[cfg(test)]
    pub(super) fn of(value: &serde_json::Value) -> Self {
        let url = Url::parse("https://api.example/openapi.json").expect("it is a URL");
        let mut library = Self::empty();
        library.add(url, DocumentValue::of(value));
        library
    }

    /// Sets where the first document is.
    #[cfg(test)]
    pub(super) fn move_to(&mut self, url: &str) {
        self.documents[0].url = Url::parse(url).expect("it is a URL");
    }

    fn empty() -> Self {
        Self {
            documents: Vec::new(),
            by_url: HashMap::new(),
            named: HashMap::new(),
            missing: Vec::new(),
            repairs: Vec::new(),
        }
    }

    /// Reads the first document and, level by level, all that it refers to.
    pub(super) async fn load(
        first: &Url,
        bytes: Bytes,
        documents: &dyn Documents,
        budget: &DocumentBudget,
    ) -> Result<Self, TextError> {
        let mut library = Self::empty();
        let mut first = first.clone();
        first.set_fragment(None);
        let parsed = text::parse(&bytes)?;
        drop(bytes);
        let mut open = library.take_in(first.clone(), parsed);
        let mut asked = HashSet::from([first.to_string()]);
        while !open.is_empty() {
            let mut level = std::mem::take(&mut open);
            level.retain(|url| asked.insert(url.to_string()));
            if asked.len() > DOCUMENTS_LIMIT {
                let why = format!("a description has at most {DOCUMENTS_LIMIT} documents");
                library.missing.extend(level.first().map(|url| MissingDocument::new(url, &why)));
                break;
            }
            let origin = &first;
            let fetches = level.into_iter().map(|url| async move {
                let bytes = fetch(origin, &url, documents, budget).await;
                (url, bytes)
            });
            let mut arriving = stream::iter(fetches).buffered(PARALLEL_FETCHES);
            while let Some((url, bytes)) = arriving.next().await {
                let parsed =
                    bytes.and_then(|bytes| text::parse(&bytes).map_err(|error| error.to_string()));
                match parsed {
                    Ok(parsed) => open.extend(library.take_in(url, parsed)),
                    Err(why) => library.missing.push(MissingDocument::new(&url, &why)),
                }
            }
        }
        Ok(library)
    }

    /// Takes in a document that was read. Returns the documents that it refers to.
    fn take_in(&mut self, url: Url, parsed: ParsedText) -> Vec<Url> {
        self.repairs.extend(parsed.repair.map(|what| (url.to_string(), what)));
        self.add(url, parsed.value)
    }

    /// Takes in a document. Returns the documents that it refers to.
    fn add(&mut self, url: Url, value: DocumentValue) -> Vec<Url> {
        let index = self.documents.len();
        let mut scan = ReferenceScan { base: &url, others: Vec::new(), named: Vec::new() };
        scan.value(&value, KeyMeaning::Keyword, &mut String::new());
        let ReferenceScan { others, named, .. } = scan;
        for (name, pointer) in named {
            self.named.entry((index, name)).or_insert(pointer);
        }
        self.by_url.insert(url.to_string(), index);
        self.documents.push(Document { url, value });
        others
    }

    pub(super) fn root(&self) -> Node<'_> {
        Node { document: 0, value: &self.documents[0].value }
    }

    pub(super) fn url(&self) -> &Url {
        &self.documents[0].url
    }

    pub(super) fn url_of(&self, node: Node<'_>) -> &Url {
        &self.documents[node.document].url
    }

    /// The place that a reference in a document leads to.
    pub(super) fn place(&self, document: usize, reference: &str) -> Result<Place, String> {
        let (file, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        let document = if file.is_empty() { document } else { self.document(document, file)? };
        let pointer = if fragment.is_empty() {
            String::new()
        } else if fragment.starts_with('/') {
            percent_decode_str(fragment).decode_utf8_lossy().into_owned()
        } else {
            let key = (document, fragment.to_owned());
            self.named.get(&key).cloned().ok_or_else(|| not_there(reference))?
        };
        Ok(Place { document, pointer })
    }

    fn document(&self, from: usize, file: &str) -> Result<usize, String> {
        let url = self.documents[from].url.join(file).map_err(|_| format!("`{file}` is no URL"))?;
        let document = self.by_url.get(url.as_str()).copied();
        document.ok_or_else(|| format!("the document `{file}` could not be had"))
    }

    pub(super) fn node(&self, place: &Place) -> Option<Node<'_>> {
        let document = &self.documents[place.document];
        let value = follow(&document.value, &place.pointer)?;
        Some(Node { document: place.document, value })
    }

    /// The node itself, or what its `$ref` leads to in the end.
    pub(super) fn resolve<'a>(&'a self, node: Node<'a>) -> Result<Node<'a>, String> {
        let mut node = node;
        for _ in 0..CHAIN_LIMIT {
            let Some(reference) = node.text("$ref") else { return Ok(node) };
            let place = self.place(node.document, reference)?;
            node = self.node(&place).ok_or_else(|| not_there(reference))?;
        }
        Err("references lead in a circle".to_owned())
    }
}

fn not_there(reference: &str) -> String {
    format!("`{}` leads nowhere", gatefold_catalog::one_line(reference, 200))
}

async fn fetch(
    first: &Url,
    url: &Url,
    documents: &dyn Documents,
    budget: &DocumentBudget,
) -> Result<Bytes, String> {
    if !may_lead_to(first, url) {
        let why = "a file leads to files in its folder alone, a URL to http and https";
        return Err(why.to_owned());
    }
    documents.fetch(url, budget).await.map_err(|error| error.to_string())
}

/// Follows a JSON pointer. A token whose `~` escapes nothing is taken as it stands.
fn follow<'a>(value: &'a DocumentValue, pointer: &str) -> Option<&'a DocumentValue> {
    let mut value = value;
    for token in pointer.split('/').skip(1) {
        let unescaped: Cow<'_, str> = if token.contains('~') {
            token.replace("~1", "/").replace("~0", "~").into()
        } else {
            token.into()
        };
        value = match value {
            DocumentValue::Object(members) => {
                members.get(&unescaped).or_else(|| members.get(token))?
            }
            DocumentValue::Array(items) => items.get(unescaped.parse::<usize>().ok()?)?,
            _ => return None,
        };
    }
    Some(value)
}

/// What the keys of an object are.
#[derive(Clone, Copy, PartialEq, Eq)]
enum KeyMeaning {
    Keyword,
    /// Names that the API's author chose.
    Name,
}

/// Finds the other documents that one refers to, and its anchors.
struct ReferenceScan<'a> {
    base: &'a Url,
    others: Vec<Url>,
    named: Vec<(String, String)>,
}

impl ReferenceScan<'_> {
    fn value(&mut self, value: &DocumentValue, meaning: KeyMeaning, pointer: &mut String) {
        let end = pointer.len();
        match value {
            DocumentValue::Object(members) => {
                if meaning == KeyMeaning::Keyword {
                    self.references(members, pointer);
                }
                for (key, value) in members.iter() {
                    let is_keyword = meaning == KeyMeaning::Keyword;
                    if is_keyword && is_data(key) || !(value.is_object() || value.is_array()) {
                        continue;
                    }
                    pointer.push('/');
                    pointer.push_str(&key.replace('~', "~0").replace('/', "~1"));
                    self.value(value, meaning_in(key, meaning), pointer);
                    pointer.truncate(end);
                }
            }
            DocumentValue::Array(items) => {
                for (index, value) in items.iter().enumerate() {
                    pointer.push('/');
                    pointer.push_str(&index.to_string());
                    self.value(value, KeyMeaning::Keyword, pointer);
                    pointer.truncate(end);
                }
            }
            _ => {}
        }
    }

    fn references(&mut self, members: &Members, pointer: &str) {
        let text = |key: &str| members.get(key).and_then(DocumentValue::as_str);
        if let Some(reference) = text("$ref")
            && !reference.starts_with('#')
            && let Ok(mut url) = self.base.join(reference)
        {
            url.set_fragment(None);
            self.others.push(url);
        }
        for key in ["$anchor", "$dynamicAnchor"] {
            if let Some(name) = text(key) {
                self.named.push((name.to_owned(), pointer.to_owned()));
            }
        }
        if let Some(name) = text("$id").or(text("id")).and_then(|id| id.strip_prefix('#')) {
            self.named.push((name.to_owned(), pointer.to_owned()));
        }
    }
}

/// Whether a keyword's value is data of the API, or nothing that we read.
fn is_data(key: &str) -> bool {
    key.starts_with("x-")
        || matches!(key, "example" | "examples" | "default" | "enum" | "const" | "mapping")
}

fn meaning_in(key: &str, outer: KeyMeaning) -> KeyMeaning {
    let holds_names = matches!(
        key,
        "properties"
            | "patternProperties"
            | "$defs"
            | "definitions"
            | "dependentSchemas"
            | "schemas"
            | "responses"
            | "parameters"
            | "requestBodies"
            | "headers"
            | "paths"
            | "pathItems"
            | "content"
            | "mediaTypes"
            | "encoding"
            | "callbacks"
            | "links"
    );
    if outer == KeyMeaning::Keyword && holds_names { KeyMeaning::Name } else { KeyMeaning::Keyword }
}

#[cfg(test)]
mod tests;
