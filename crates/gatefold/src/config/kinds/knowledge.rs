//! Knowledge bases.

mod places;
mod section;

use std::any::Any;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use gatefold_catalog::KindName;
use gatefold_config::schemas::or_reference;
use gatefold_config::{
    Count, FilePath, HandRead, LimitedItems, Size, Table, Text, Time, duration_text,
};
use gatefold_knowledge::{
    Folder, KnowledgeError, KnowledgeSource, PAST_BYTES, PAST_TIME, PAST_VERSIONS, PastLimits,
};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;

use super::{AllowPrivate, ConnectionMethod, KindSection, SourceKind};
use crate::config::SourceSection;
use crate::config::key::{Key, keys_of};

use places::DocumentPlaces;
use section::KnowledgeSection;

/// The kind of sources that are knowledge bases.
#[derive(Debug)]
pub struct KnowledgeKind;

/// The longest title, in bytes.
const MAX_TITLE: usize = 200;

/// How often addresses are looked at if nothing says so, and at most.
const REFRESH: Duration = Duration::from_hours(1);
const MIN_REFRESH: Duration = Duration::from_mins(1);

impl KnowledgeKind {
    pub const NAME: KindName = KnowledgeSource::KIND;

    /// The documents in this folder, for a configuration that is made in code.
    pub fn at(path: &Path) -> SourceSection {
        KnowledgeSection {
            roots: vec![path.to_owned()],
            addresses: Vec::new(),
            refresh: REFRESH,
            private: AllowPrivate::default(),
            include: Vec::new(),
            exclude: Vec::new(),
            title: None,
            past: PastLimits::default(),
        }
        .into()
    }
}

/// The base that a source is, if it is one.
pub(crate) fn base_section(section: &dyn KindSection) -> Option<&KnowledgeSection> {
    (section as &dyn Any).downcast_ref()
}

impl SourceKind for KnowledgeKind {
    fn name(&self) -> KindName {
        Self::NAME
    }

    fn noun(&self) -> &'static str {
        "knowledge base"
    }

    fn details(&self) -> &'static str {
        "A knowledge base is made of documents on the disk or at addresses (`knowledge`)."
    }

    fn ways(&self) -> &'static [ConnectionMethod] {
        &[ConnectionMethod {
            key: "knowledge",
            purpose: "for documents to search and quote",
            heading: "A knowledge base, documents that models search and quote:",
            example: "handbook",
        }]
    }

    fn keys(&self) -> Vec<Key> {
        keys_of::<KnowledgeKeys>()
    }

    fn read(&self, table: &mut Table<'_>) -> Option<Arc<dyn KindSection>> {
        let keys: KnowledgeKeys = table.read()?;
        let past = keys.past();
        let KnowledgeKeys { include, exclude, title, refresh, allow_private, .. } = keys;
        let places = places::read(&table.field("knowledge")?, &table.keyring_secrets())?;
        let refresh = refresh.map_or(REFRESH, Duration::from);
        check_fetching(table, &places, refresh);
        let title = title.map(|title| title.0.trim().to_owned()).filter(|title| !title.is_empty());
        if let Some(field) = table.peek("title")
            && title.as_ref().is_some_and(|title| title.len() > MAX_TITLE)
        {
            field.fault(format!("is longer than {MAX_TITLE} bytes"), "shorten it");
        }
        let texts = |list: LimitedItems<Vec<Text>>| -> Vec<String> {
            list.0.into_iter().map(|text| text.0).collect()
        };
        let DocumentPlaces { roots, addresses } = places;
        let section = KnowledgeSection {
            roots,
            addresses,
            refresh,
            private: allow_private,
            include: texts(include),
            exclude: texts(exclude),
            title,
            past,
        };
        for (key, patterns) in [("include", &section.include), ("exclude", &section.exclude)] {
            let fault = Folder::new(&section.roots, patterns, &[]).err();
            if let (Some(KnowledgeError::Pattern(pattern)), Some(field)) = (fault, table.peek(key))
            {
                let hint = "use `*`, `?`, and `**` between slashes: `policies/**`, `*.pdf`";
                field.fault(format!("has `{pattern}`, which is no pattern of names"), hint);
            }
        }
        Some(Arc::new(section))
    }
}

/// Notes what is wrong with the keys that are about addresses.
fn check_fetching(table: &Table<'_>, places: &DocumentPlaces, refresh: Duration) {
    for key in ["refresh", "allow_private"] {
        if let Some(field) = table.peek(key)
            && places.addresses.is_empty()
            && !field.is_as_written()
        {
            field.key_fault("is about addresses, and `knowledge` has none", "remove it");
        }
    }
    if let Some(field) = table.peek("refresh")
        && refresh < MIN_REFRESH
    {
        let least = duration_text(MIN_REFRESH);
        field.fault(format!("is less than {least}"), format!("write {least} or more"));
    }
}

#[derive(Deserialize, JsonSchema, Default)]
#[serde(default)]
struct KnowledgeKeys {
    /// Folders, files and addresses whose documents are searched and quoted.
    ///
    /// A path, an address with `https` or `http`, or a list of them. Read are Markdown, text, code, HTML, CSV, PDF, DOCX,
    /// PPTX, XLSX and EML. Links in a folder are not followed, and hidden files are left out. An address is one document:
    /// links in it are not followed either, and models see it. Named `handbook`, the source has the tools
    /// `handbook__kb_retrieve`, `handbook__grounded_retrieve` and three more.
    #[schemars(schema_with = "places_schema",
        extend("examples" = [["./policies", "https://example.com/faq.html"], "./handbook"]))]
    knowledge: HandRead<FilePath>,
    /// How often the addresses are looked at for changes.
    ///
    /// At least a minute. Folders are watched and need none.
    #[schemars(extend("default" = Time(REFRESH), "examples" = ["6h"]))]
    refresh: Option<Time>,
    allow_private: AllowPrivate,
    /// The names of the files to take, as patterns.
    ///
    /// `*` and `?` stay between slashes, `**` spans folders; a pattern without a slash is for the last part of a name.
    #[schemars(extend("examples" = [["*.md", "policies/**"]], "x-unset" = "all that can be read"))]
    include: LimitedItems<Vec<Text>>,
    /// The names of the files to leave out, as patterns.
    #[schemars(extend("examples" = [["drafts/**"]], "x-unset" = "none"))]
    exclude: LimitedItems<Vec<Text>>,
    /// What the base is called, for models.
    #[schemars(extend("examples" = ["Employee handbook"], "x-unset" = "the titles of some documents"))]
    title: Option<Text>,
    /// How many past versions of a document are kept, whatever their age.
    ///
    /// Citations of a version that is kept can be read and checked after the document has changed or is gone.
    #[schemars(extend("default" = PAST_VERSIONS, "examples" = [5]))]
    keep_versions: Option<Count<u32>>,
    /// How long past versions are kept, whatever their number.
    ///
    /// A version that was cited is kept for this time after it was cited last.
    #[schemars(extend("default" = Time(PAST_TIME), "examples" = ["1d"]))]
    keep_time: Option<Time>,
    /// What the past versions of all documents may take on the disk.
    ///
    /// Beyond it the oldest ones go, whatever `keep_versions` and `keep_time` say. Versions that were cited have as
    /// much again to themselves.
    #[schemars(extend("default" = Size(PAST_BYTES), "examples" = ["100MiB"]))]
    keep_size: Option<Size>,
}

impl KnowledgeKeys {
    fn past(&self) -> PastLimits {
        let usual = PastLimits::default();
        PastLimits {
            versions: self.keep_versions.map_or(usual.versions, |count| count.0),
            time: self.keep_time.map_or(usual.time, |time| time.0),
            bytes: self.keep_size.map_or(usual.bytes, |size| size.0),
        }
    }
}

fn places_schema(generator: &mut SchemaGenerator) -> Schema {
    let mut places = generator.subschema_for::<LimitedItems<Vec<FilePath>>>();
    places.insert("minItems".to_owned(), 1.into());
    json_schema!({
        "anyOf": [{ "type": "string", "pattern": or_reference(r"\S") }, places],
        "x-type": "path, URL or list of them",
    })
}
