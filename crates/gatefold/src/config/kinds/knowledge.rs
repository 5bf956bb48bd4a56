//! Knowledge bases.

mod section;

use std::any::Any;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use gatefold_catalog::KindName;
use gatefold_config::schemas::or_reference;
use gatefold_config::{Count, Field, FilePath, HandRead, LimitedItems, Size, Table, Text, Time};
use gatefold_knowledge::{
    Folder, KnowledgeError, KnowledgeSource, PAST_BYTES, PAST_TIME, PAST_VERSIONS, PastLimits,
};
use gatefold_located::Value;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;

use super::{ConnectionMethod, KindSection, SourceKind};
use crate::config::SourceSection;
use crate::config::key::{Key, keys_of};

use section::KnowledgeSection;

/// The kind of sources that are knowledge bases.
#[derive(Debug)]
pub struct KnowledgeKind;

/// The longest title, in bytes.
const MAX_TITLE: usize = 200;

impl KnowledgeKind {
    pub const NAME: KindName = KnowledgeSource::KIND;

    /// The documents in this folder, for a configuration that is made in code.
    pub fn at(path: &Path) -> SourceSection {
        KnowledgeSection {
            roots: vec![path.to_owned()],
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
        "A knowledge base is made of documents on the disk (`knowledge`)."
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
        let KnowledgeKeys { include, exclude, title, .. } = keys;
        let roots = roots(&table.field("knowledge")?)?;
        let title = title.map(|title| title.0.trim().to_owned()).filter(|title| !title.is_empty());
        if let Some(field) = table.peek("title")
            && title.as_ref().is_some_and(|title| title.len() > MAX_TITLE)
        {
            field.fault(format!("is longer than {MAX_TITLE} bytes"), "shorten it");
        }
        let texts = |list: LimitedItems<Vec<Text>>| -> Vec<String> {
            list.0.into_iter().map(|text| text.0).collect()
        };
        let (include, exclude) = (texts(include), texts(exclude));
        let section = KnowledgeSection { roots, include, exclude, title, past };
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

/// One path, or a list of them.
fn roots(field: &Field<'_>) -> Option<Vec<PathBuf>> {
    if field.is_empty_list() {
        field.fault("is empty", "name a folder or a file");
        return None;
    }
    if let Value::List(_) = field.value() {
        let paths: LimitedItems<Vec<FilePath>> = field.read()?;
        return Some(paths.0.into_iter().map(|path| path.0).collect());
    }
    field.read::<FilePath>().map(|path| vec![path.0])
}

#[derive(Deserialize, JsonSchema, Default)]
#[serde(default)]
struct KnowledgeKeys {
    /// Folders and files whose documents are searched and quoted.
    ///
    /// A path, or a list of paths. Read are Markdown, text, code, HTML, CSV, PDF, DOCX, PPTX, XLSX and EML. Links in a
    /// folder are not followed, and hidden files are left out. Named `handbook`, the source has the tools
    /// `handbook__kb_retrieve`, `handbook__grounded_retrieve` and three more.
    #[schemars(schema_with = "paths_schema", extend("examples" = ["./handbook", ["./policies", "faq.md"]]))]
    knowledge: HandRead<FilePath>,
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

fn paths_schema(generator: &mut SchemaGenerator) -> Schema {
    let mut paths = generator.subschema_for::<LimitedItems<Vec<FilePath>>>();
    paths.insert("minItems".to_owned(), 1.into());
    json_schema!({
        "anyOf": [{ "type": "string", "pattern": or_reference(r"\S") }, paths],
        "x-type": "path or list of paths",
    })
}
