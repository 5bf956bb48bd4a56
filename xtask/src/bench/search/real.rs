//! Requests over the real tool lists: our own, and those of a file.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context as _, Result};
use gatefold_encoder::Embedder;
use gatefold_search::measure::Half;
use gatefold_search::{
    Analysis, Document, Entry, Fit, Index, Mode, Parameters, Service, SourceNames, passage,
};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::encoded;
use crate::bench::table::markdown;

/// Where our own requests are.
pub(super) const OWN: &str = "xtask/data/requests";

/// Our own sets: requests that a tool serves, in English and in other languages, and requests that
/// none does.
const SETS: [&str; 3] = ["served", "languages", "unserved"];

/// How far down the answers a tool that fits is looked for.
const LOOKED_AT: usize = 5;

/// One request: any one of the relevant tools is right.
#[derive(Debug, Deserialize)]
struct RealRequest {
    id: String,
    text: String,
    relevant: Vec<String>,
    #[serde(default)]
    language: Option<String>,
    #[serde(default)]
    kind: Option<String>,
    #[serde(default)]
    tag: Option<String>,
}

impl RealRequest {
    /// The half of the server of the first tool that is right; that of the request when none is.
    fn half(&self) -> Half {
        let server = self.relevant.first().and_then(|tool| tool.split('/').next());
        Half::of(server.unwrap_or(&self.id))
    }
}

/// How many of some requests have a right tool first, and among the first few.
#[derive(Default, Clone, Copy)]
struct HitCount {
    first: usize,
    among: usize,
    asked: usize,
    /// How many got each grade.
    graded: [usize; 4],
}

/// The grades, best first.
const GRADES: [Fit; 4] = [Fit::Exact, Fit::Likely, Fit::Weak, Fit::None];

/// The tools of all lists, searched.
pub(super) struct RealIndex<'a> {
    index: Index,
    tools: HashMap<String, usize>,
    passages: Vec<String>,
    /// The built-in one, which has read the tools.
    encoder: &'a Embedder,
}

impl<'a> RealIndex<'a> {
    pub(super) fn read(lists: &Path, encoder: &'a Embedder) -> Result<Self> {
        let tools = read(lists)?;
        let analyses = tools.iter().map(RealTool::analysis).collect();
        let index = Index::build(&entries(&tools, analyses));
        let named = |(place, tool): (usize, &RealTool)| {
            (format!("{}/{}", tool.server, tool.listed.name), place)
        };
        let passages: Vec<_> = tools.iter().map(RealTool::passage).collect();
        encoded::read(encoder, passages.iter().map(String::as_str));
        let tools = tools.iter().enumerate().map(named).collect();
        Ok(Self { index, tools, passages, encoder })
    }

    fn count(&self, request: &RealRequest, is_encoded: bool, count: &mut HitCount) {
        let text = &request.text;
        let found = if is_encoded {
            encoded::search(self.encoder, &self.index, &self.passages, text, LOOKED_AT)
        } else {
            self.index.search(text, Mode::Hybrid, |_| true, LOOKED_AT)
        };
        let right: Vec<_> =
            request.relevant.iter().filter_map(|tool| self.tools.get(tool)).collect();
        let at = found.matches.iter().position(|found| right.contains(&&found.place));
        count.asked += 1;
        count.first += usize::from(at == Some(0));
        count.among += usize::from(at.is_some());
        for (count, grade) in count.graded.iter_mut().zip(GRADES) {
            *count += usize::from(found.fit == grade);
        }
    }
}

/// The figures of one half of our own requests, as a table.
pub(super) fn table(index: &RealIndex<'_>, folder: &Path, half: Half) -> Result<String> {
    let mut rows = BTreeMap::new();
    for set in SETS {
        let own = requests(&folder.join(format!("{set}.jsonl")))?;
        for request in own.iter().filter(|one| one.half() == half) {
            let encoded = format!("{set}, with the encoder");
            index.count(request, true, rows.entry(encoded).or_default());
            index.count(request, false, rows.entry(set.to_owned()).or_default());
            if let Some(language) = &request.language {
                let key = format!("{set}, with the encoder, {language}");
                index.count(request, true, rows.entry(key).or_default());
            }
        }
    }
    let title = format!("Our own requests over the real lists, the {} half", half.name());
    Ok(format!("{title}:\n\n{}", hits(&rows)))
}

/// The figures of a file's requests by kind and tag, as a table.
pub(super) fn of_file(index: &RealIndex<'_>, file: &Path) -> Result<String> {
    let mut rows = BTreeMap::new();
    for request in &requests(file)? {
        let (kind, tag) = (request.kind.as_deref(), request.tag.as_deref());
        let served = if request.relevant.is_empty() { "all that nothing serves" } else { "all" };
        let keys = [served.to_owned(), format!("kind {}", kind.unwrap_or("-"))];
        let both = format!("kind {}, tag {}", kind.unwrap_or("-"), tag.unwrap_or("-"));
        for key in keys.into_iter().chain([both]) {
            index.count(request, true, rows.entry(format!("{key}, with the encoder")).or_default());
            index.count(request, false, rows.entry(key).or_default());
        }
    }
    Ok(format!("The requests of GATEFOLD_REQUESTS over the real lists:\n\n{}", hits(&rows)))
}

fn hits(rows: &BTreeMap<String, HitCount>) -> String {
    let row = |(name, count): (&String, &HitCount)| {
        let share =
            |hits: usize| format!("{hits} ({:.3})", hits as f64 / count.asked.max(1) as f64);
        let counts = [count.asked.to_string(), share(count.first), share(count.among)];
        let graded = count.graded.map(|count| count.to_string());
        [name.clone()].into_iter().chain(counts).chain(graded).collect()
    };
    let rows: Vec<_> = rows.iter().map(row).collect();
    let grades = GRADES.map(Fit::name);
    markdown(&[&["requests", "asked", "hit@1", "hit@5"][..], &grades].concat(), &rows)
}

fn requests(file: &Path) -> Result<Vec<RealRequest>> {
    let text = std::fs::read_to_string(file)
        .with_context(|| format!("{} cannot be read", file.display()))?;
    let line = |(at, line)| {
        serde_json::from_str(line)
            .with_context(|| format!("{}, line {}, is no request", file.display(), at + 1))
    };
    text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()).map(line).collect()
}

/// One tool of a real list.
pub(super) struct RealTool {
    pub(super) id: String,
    pub(super) server: String,
    /// The title of its server.
    title: String,
    service: Option<Arc<Service>>,
    listed: Definition,
}

#[derive(Deserialize)]
struct Definition {
    name: String,
    #[serde(default)]
    description: Option<String>,
    #[serde(rename = "inputSchema")]
    schema: Option<Box<RawValue>>,
}

impl RealTool {
    pub(super) fn passage(&self) -> String {
        let description = self.listed.description.as_deref().unwrap_or_default();
        passage(&self.server, &self.listed.name, description)
    }

    pub(super) fn analysis(&self) -> Arc<Analysis> {
        let schema = self.listed.schema.as_deref().map_or("", RawValue::get);
        let parameters = Parameters::of_schema(schema);
        Analysis::of(&Document {
            name: &self.listed.name,
            domain: &[&self.server, &self.title],
            description: &[self.listed.description.as_deref().unwrap_or_default()],
            parameter_names: &parameters.names,
            parameter_descriptions: &parameters.descriptions,
            enum_values: &parameters.values,
            ..Document::default()
        })
    }
}

/// The tools of every list in a folder.
pub(super) fn read(folder: &Path) -> Result<Vec<RealTool>> {
    #[derive(Deserialize)]
    struct List {
        server: String,
        #[serde(default)]
        initialize: Initialized,
        tools: Vec<Definition>,
    }
    #[derive(Deserialize, Default)]
    struct Initialized {
        #[serde(rename = "serverInfo", default)]
        server: Info,
    }
    #[derive(Deserialize, Default)]
    struct Info {
        #[serde(default)]
        name: String,
        #[serde(default)]
        title: String,
    }
    let mut tools = Vec::new();
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(folder).context("the catalogue cannot be read")? {
        let path = entry?.path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if path.extension().is_some_and(|kind| kind == "json") && !name.starts_with('_') {
            paths.push(path);
        }
    }
    paths.sort();
    for path in paths {
        let list: List = serde_json::from_slice(&std::fs::read(&path)?)
            .with_context(|| format!("{} is not a tool list", path.display()))?;
        let Info { name, title } = list.initialize.server;
        let names = [list.server.as_str(), &title, &name];
        let names = SourceNames { names: &names, ..SourceNames::default() };
        let service = Service::of(&names).map(Arc::new);
        tools.extend(list.tools.into_iter().map(|listed| RealTool {
            id: format!("{}__{}", list.server, listed.name),
            server: list.server.clone(),
            title: title.clone(),
            service: service.clone(),
            listed,
        }));
    }
    Ok(tools)
}

/// The tools as they enter an index.
pub(super) fn entries(tools: &[RealTool], analyses: Vec<Arc<Analysis>>) -> Vec<Entry<'_>> {
    let both = tools.iter().zip(analyses);
    both.map(|(tool, analysis)| Entry {
        id: &tool.id,
        domain: &tool.server,
        analysis,
        service: tool.service.clone(),
    })
    .collect()
}
