use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use gatefold_core::Digest;
use gatefold_search::{Analysis, Document, Entry, Index, Parameters, Service, SourceNames};

use super::{DomainEntry, Tool};

/// What the analysis of a tool depends on: its definition and its surroundings.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct AnalysisKey {
    definition: Digest,
    /// The domain, its title, its description and the group, one line each; shared by neighbours.
    place: Arc<str>,
}

type Analyses = HashMap<AnalysisKey, Arc<Analysis>>;

/// The search index of a snapshot's tools, built when it is first searched.
///
/// The tools' analyses outlive it: the next snapshot reuses those it needs.
#[derive(Debug, Default)]
pub(crate) struct SearchIndex {
    built: OnceLock<(Index, Arc<Analyses>)>,
    /// The analyses of the previous snapshot.
    earlier: Arc<Analyses>,
}

impl SearchIndex {
    pub(super) fn after(previous: &Self) -> Self {
        let known = previous.built.get().map_or(&previous.earlier, |(_, analyses)| analyses);
        Self { built: OnceLock::new(), earlier: Arc::clone(known) }
    }

    pub(super) fn is_built(&self) -> bool {
        self.built.get().is_some()
    }

    /// The index of these tools. Every call must pass the same tools.
    pub(super) fn get(&self, domains: &[DomainEntry], tools: &[Tool]) -> &Index {
        let (index, _) = self.built.get_or_init(|| build(domains, tools, &self.earlier));
        index
    }
}

fn build(domains: &[DomainEntry], tools: &[Tool], earlier: &Analyses) -> (Index, Arc<Analyses>) {
    let mut kept = Analyses::with_capacity(tools.len());
    let mut entries = Vec::with_capacity(tools.len());
    for domain in domains {
        let mut place: Arc<str> = Arc::default();
        let service = service(domain).map(Arc::new);
        for tool in &tools[domain.range()] {
            let stands = Surroundings::of(tool, domain);
            let text = stands.text();
            if *place != *text {
                place = text.into();
            }
            let key =
                AnalysisKey { definition: tool.definition().digest(), place: Arc::clone(&place) };
            let known = kept.get(&key).or_else(|| earlier.get(&key)).map(Arc::clone);
            let analysis = known.unwrap_or_else(|| stands.analyse(tool));
            kept.insert(key, Arc::clone(&analysis));
            let (id, domain) = (tool.id().as_str(), stands.domain);
            entries.push(Entry { id, domain, analysis, service: service.clone() });
        }
    }
    (Index::build(&entries), Arc::new(kept))
}

/// What is known of a domain's services.
fn service(domain: &DomainEntry) -> Option<Service> {
    let server = domain.manifest().and_then(|manifest| manifest.server());
    let title = server.and_then(|server| server.title.as_deref()).unwrap_or_default();
    let named = server.map_or("", |server| &server.name);
    Service::of(&SourceNames {
        names: &[domain.domain().as_str(), title, named],
        aliases: domain.aliases(),
        is_described: domain.is_described(),
    })
}

/// The texts around a tool that help to find it.
struct Surroundings<'a> {
    domain: &'a str,
    title: &'a str,
    description: &'a str,
    group: &'a str,
}

impl<'a> Surroundings<'a> {
    fn of(tool: &'a Tool, domain: &'a DomainEntry) -> Self {
        let server = domain.manifest().and_then(|manifest| manifest.server());
        Self {
            domain: domain.domain().as_str(),
            title: server.and_then(|server| server.title.as_deref()).unwrap_or_default(),
            description: domain.description(),
            group: tool.group(),
        }
    }

    fn text(&self) -> String {
        [self.domain, self.title, self.description, self.group].join("\n")
    }

    fn analyse(&self, tool: &Tool) -> Arc<Analysis> {
        let definition = tool.definition();
        let parameters = Parameters::of_schema(definition.input_schema());
        Analysis::of(&Document {
            name: definition.name(),
            domain: &[self.domain, self.title],
            domain_description: self.description,
            group: self.group,
            description: &[
                definition.title().unwrap_or_default(),
                definition.description().unwrap_or_default(),
            ],
            parameter_names: &parameters.names,
            parameter_descriptions: &parameters.descriptions,
            enum_values: &parameters.values,
            past_queries: &[],
        })
    }
}

#[cfg(test)]
mod tests {
    use gatefold_core::{Domain, Timestamp};
    use serde_json::value::RawValue;

    use super::*;
    use crate::{GroupRules, KindName, Manifest, ServerInfo, Snapshot, SourceEntry};

    fn snapshot(previous: Option<&Snapshot>, description: &str, tools: &[&str]) -> Snapshot {
        let tools: Vec<_> =
            tools.iter().map(|name| format!(r#"{{"name":"{name}","inputSchema":{{}}}}"#)).collect();
        let page = RawValue::from_string(format!(r#"{{"tools":[{}]}}"#, tools.join(","))).unwrap();
        let server = ServerInfo {
            name: "s".to_owned(),
            version: String::new(),
            title: None,
            description: None,
            instructions: None,
            protocol: "2025-11-25".to_owned(),
            capabilities: None,
            whole: None,
        };
        let manifest = Manifest::from_pages(server, &[page], Timestamp::from_millis(0));
        let entry = SourceEntry {
            domain: Domain::from_key("d"),
            kind: KindName::new("mcp"),
            description: Some(description.to_owned()),
            aliases: Vec::new(),
            groups: GroupRules::default(),
            manifest: Some(Arc::new(manifest)),
        };
        match previous {
            Some(previous) => Snapshot::build_after(previous, vec![entry], 2),
            None => Snapshot::build(vec![entry], 1),
        }
    }

    /// For each tool of a snapshot, whether it shares its analysis with the previous one.
    fn taken_over(snapshot: &Snapshot, previous: &Snapshot) -> Vec<bool> {
        let of = |snapshot: &Snapshot| {
            snapshot.index();
            Arc::clone(&snapshot.search_index().built.get().unwrap().1)
        };
        let (now, before) = (of(snapshot), of(previous));
        let kept = |(key, analysis): (&AnalysisKey, &Arc<Analysis>)| {
            before.get(key).is_some_and(|known| Arc::ptr_eq(known, analysis))
        };
        let mut kept: Vec<_> = now.iter().map(kept).collect();
        kept.sort_unstable();
        kept
    }

    #[test]
    fn only_what_changed_is_analysed_anew() {
        let first = snapshot(None, "Mail", &["read", "send"]);
        first.index();
        let second = snapshot(Some(&first), "Mail", &["read", "send", "drop"]);
        let third = snapshot(Some(&second), "Mail", &["read", "send"]);
        assert_eq!(taken_over(&third, &first), [true, true], "the second was never searched");
        assert_eq!(taken_over(&second, &first), [false, true, true]);
        let other = snapshot(Some(&third), "Letters", &["read", "send"]);
        assert_eq!(taken_over(&other, &third), [false, false]);
    }
}
