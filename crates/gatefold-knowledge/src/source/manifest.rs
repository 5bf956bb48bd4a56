//! What a base offers.

use gatefold_catalog::{
    Alteration, AssemblyStep, Change, Manifest, ManifestBuilder, ServerInfo, Supplement,
    TemplateSpec, ToolPlace, ToolSpec, ToolTopic, TopicTool, TopicUse, marked, one_line,
};
use gatefold_core::{Hints, Timestamp};
use serde_json::{Value, json};

use super::KnowledgeSourceSettings;
use crate::DocumentSummary;

pub(super) const KB_RETRIEVE: &str = "kb_retrieve";
pub(super) const GROUNDED_RETRIEVE: &str = "grounded_retrieve";
pub(super) const LIST_DOCUMENTS: &str = "list_documents";
pub(super) const READ_DOCUMENT: &str = "read_document";
pub(super) const CHECK_CITATIONS: &str = "check_citations";

/// The domain of the tools for all bases.
pub(super) const HUB: &str = "knowledge";

const RETRIEVE: &str = "Search a knowledge base: passages of its documents that fit a query, each with its place, a score from \
     0 to 1 and a citation. Says so if nothing fits.";
const GROUND: &str = "Answer a question with verbatim quotes from a knowledge base, each with its citation, grouped by what they \
     say; with a confidence, and 'insufficient' where the documents do not say enough. Quotes can be cited as they are.";
const STUBS: &str = "Knowledge bases:";

const QUERY: (&str, &str) = (
    "query",
    r#"{"type":"string","description":"What to look for: a question or a few telling words."}"#,
);
const QUESTION: (&str, &str) = (
    "question",
    r#"{"type":"string","description":"A whole question, with the names that matter."}"#,
);
const TOP: (&str, &str) = (
    "top_k",
    r#"{"type":"integer","minimum":1,"maximum":20,"default":5,"description":"How many passages."}"#,
);
const CURSOR: (&str, &str) = (
    "cursor",
    r#"{"type":"string","description":"Of the answer before, for what comes after it."}"#,
);
const QUOTES: (&str, &str) = (
    "quotes",
    r#"{"type":"integer","minimum":1,"maximum":20,"default":8,"description":"How many quotes at most."}"#,
);

const BASE: (&str, &str) = (
    "knowledge_base",
    r#"{"type":"string","description":"Which one. Without it, all are searched."}"#,
);

const RETRIEVE_PARAMETERS: &[(&str, &str)] = &[QUERY, TOP, CURSOR];
const GROUND_PARAMETERS: &[(&str, &str)] = &[QUESTION, QUOTES];

/// What a base is to a model that is shown its tools by kind.
pub(super) const PLACE: ToolPlace = ToolPlace::Topics(&[
    topic_tool(KB_RETRIEVE, RETRIEVE, RETRIEVE_PARAMETERS),
    topic_tool(GROUNDED_RETRIEVE, GROUND, GROUND_PARAMETERS),
]);

const fn topic_tool(
    name: &'static str,
    summary: &'static str,
    parameters: &'static [(&'static str, &'static str)],
) -> TopicTool {
    TopicTool {
        name,
        step: AssemblyStep::Knowledge,
        noun: "knowledge base",
        summary,
        stubs_heading: STUBS,
        texts_heading: STUBS,
        usage: TopicUse::Search { all: HUB },
        parameter: "knowledge_base",
        parameters,
    }
}

/// Citations as resources (RFC 6570).
const TEMPLATE: &str = "kb/{+document}@{version}#{start}-{end}";

/// How many titles searches of the catalogue know, and how many its description names.
const FOUND_TITLES: usize = 200;
const NAMED_TITLES: usize = 5;

/// How much of a title is shown, in characters.
const TITLE: usize = 80;

/// How many documents without text are named where the source is reported.
const REPORTED: usize = 20;

/// The manifest of a base with these documents. Everybody reads it, so it names only those that nobody
/// may not see.
pub(super) fn of_base(
    settings: &KnowledgeSourceSettings,
    documents: &[DocumentSummary],
    now: Timestamp,
) -> Manifest {
    let is_open = |own: &&DocumentSummary| {
        let uri = super::access::document_uri(&settings.domain, &own.name, own.version);
        (settings.seen_by_all)(&uri)
    };
    let open: Vec<_> = documents.iter().filter(is_open).collect();
    let readable = open.iter().filter(|own| own.version.is_some());
    let titles: Vec<_> =
        readable.take(FOUND_TITLES).map(|own| one_line(&marked(&own.title), TITLE)).collect();
    let about = description(settings, &titles, open.len());
    let topic = |tool: &str| ToolTopic {
        tool: tool.to_owned(),
        line: format!("knowledge base: {}", settings.domain),
        name: settings.domain.as_str().to_owned(),
        description: about.clone(),
        parts: titles.clone(),
        ..ToolTopic::default()
    };
    let topics = vec![topic(KB_RETRIEVE), topic(GROUNDED_RETRIEVE)];
    let builder = Manifest::builder(now)
        .server(server(about.clone()))
        .supplement(Supplement { topics, attachment: String::new() });
    let template = TemplateSpec::new(TEMPLATE, "A citation")
        .description("The cited bytes of a version of a document, as they are.")
        .mime_type("text/plain");
    let builder = own_tools(searching_tools(builder, &[])).template(template);
    // Only people who run the gateway are told these.
    let failed: Vec<_> = documents.iter().filter(|own| own.version.is_none()).collect();
    let named = failed.iter().take(REPORTED).map(|own| report(own));
    let more = failed.len().checked_sub(REPORTED).filter(|more| *more > 0).map(|more| Alteration {
        entry: format!("{more} more documents"),
        what: Change::Noted("have no text; `gatefold knowledge check` names them".to_owned()),
    });
    named.chain(more).fold(builder, ManifestBuilder::alteration).build()
}

/// The manifest of the tools for all bases.
pub(super) fn of_hub(now: Timestamp) -> Manifest {
    let about = "All knowledge bases at once".to_owned();
    searching_tools(Manifest::builder(now).server(server(about)), &[BASE]).build()
}

fn report(document: &DocumentSummary) -> Alteration {
    let what = format!("{}: {}", document.state.replace('_', " "), document.reason);
    Alteration { entry: document.name.clone(), what: Change::LeftOut(what) }
}

/// "Employee handbook: Travel, Leave, ..."
fn description(settings: &KnowledgeSourceSettings, titles: &[String], count: usize) -> String {
    let named = titles[..titles.len().min(NAMED_TITLES)].join(", ");
    let dots = if count > NAMED_TITLES { ", ..." } else { "" };
    match (&settings.title, named.as_str()) {
        (Some(title), "") => title.clone(),
        (Some(title), named) => format!("{title}: {named}{dots}"),
        (None, "") => "Documents".to_owned(),
        (None, named) => format!("Documents: {named}{dots}"),
    }
}

fn server(description: String) -> ServerInfo {
    ServerInfo {
        name: "knowledge".to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        title: None,
        description: Some(description),
        instructions: None,
        protocol: String::new(),
        capabilities: Some(json!({ "tools": {}, "resources": {} }).to_string()),
        whole: None,
    }
}

fn searching_tools(builder: ManifestBuilder, others: &[(&str, &str)]) -> ManifestBuilder {
    let retrieve = [RETRIEVE_PARAMETERS, others].concat();
    let ground = [GROUND_PARAMETERS, others].concat();
    let retrieve = tool(KB_RETRIEVE, RETRIEVE, &retrieve, &["query"]);
    let ground = tool(GROUNDED_RETRIEVE, GROUND, &ground, &["question"]);
    builder
        .tool(retrieve.output_schema(passages_schema()))
        .tool(ground.output_schema(claims_schema()))
}

fn own_tools(builder: ManifestBuilder) -> ManifestBuilder {
    const DOCUMENT: (&str, &str) = (
        "document",
        r#"{"type":"string","description":"Its name as it is listed, or a citation."}"#,
    );
    const PLACE: (&str, &str) = (
        "place",
        r#"{"type":"string","description":"'page 4', 'slide 2', 'sheet 1', 'lines 10-30', or a heading. Without it, from the beginning."}"#,
    );
    const TEXT: (&str, &str) = (
        "text",
        r#"{"type":"string","description":"An answer with quotes in quotation marks, and their citations."}"#,
    );
    let list =
        "List the documents of the knowledge base, with the state of those that could not be read.";
    let read =
        "Read a document of the knowledge base in pages, from its beginning or from a place.";
    let check = "Check the quotes and citations of an answer against the documents, byte by byte: exact, the same but for \
         typography, elsewhere, or nowhere.";
    builder
        .tool(tool(LIST_DOCUMENTS, list, &[CURSOR], &[]))
        .tool(tool(READ_DOCUMENT, read, &[DOCUMENT, PLACE, CURSOR], &["document"]))
        .tool(tool(CHECK_CITATIONS, check, &[TEXT], &["text"]))
}

fn tool(name: &str, description: &str, parameters: &[(&str, &str)], needed: &[&str]) -> ToolSpec {
    let schema = |text: &str| serde_json::from_str::<Value>(text).expect("a schema is JSON");
    let properties: serde_json::Map<_, _> =
        parameters.iter().map(|(name, text)| ((*name).to_owned(), schema(text))).collect();
    ToolSpec::new(name)
        .description(description)
        .input_schema(json!({
            "type": "object",
            "properties": properties,
            "required": needed,
            "additionalProperties": false,
        }))
        .hints(Hints {
            read_only: Some(true),
            destructive: None,
            idempotent: Some(true),
            open_world: Some(false),
        })
}

fn part_schema() -> Value {
    let text = json!({ "type": "string" });
    json!({
        "type": "object",
        "properties": {
            "knowledge_base": text,
            "document": text,
            "title": text,
            "place": text,
            "headings": { "type": "array", "items": text },
            "score": { "type": "number" },
            "citation": text,
            "text": text,
        },
    })
}

fn passages_schema() -> Value {
    let texts = json!({ "type": "array", "items": { "type": "string" } });
    json!({
        "type": "object",
        "properties": {
            "fits": { "type": "boolean" },
            "passages": { "type": "array", "items": part_schema() },
            "nearest_titles": texts,
            "next_cursor": { "type": "string" },
            "notes": texts,
        },
        "required": ["fits", "passages"],
    })
}

fn claims_schema() -> Value {
    let texts = json!({ "type": "array", "items": { "type": "string" } });
    let claim = json!({
        "type": "object",
        "properties": { "quotes": { "type": "array", "items": part_schema() } },
    });
    json!({
        "type": "object",
        "properties": {
            "insufficient": { "type": "boolean" },
            "confidence": { "type": "number" },
            "claims": { "type": "array", "items": claim },
            "nearest_titles": texts,
            "notes": texts,
        },
        "required": ["insufficient", "confidence", "claims"],
    })
}
