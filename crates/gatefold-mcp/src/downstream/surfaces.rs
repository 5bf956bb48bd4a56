//! What a view comes to for its clients: made once, and shared by all who see the same.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::{Arc, Mutex, PoisonError};

use gatefold_catalog::{Entry, View, address, object_fields};
use gatefold_disclose::{Disclosure, Names, Surface};

use crate::protocol::rpc::to_text;

/// Different views whose lists are kept. With one more, the oldest is made again when asked for.
const SURFACES: usize = 16;

/// One of the four lists that a client can ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum List {
    Tools,
    Prompts,
    Resources,
    Templates,
}

impl List {
    /// The list's name in results.
    pub(super) const fn member(self) -> &'static str {
        match self {
            Self::Tools => "tools",
            Self::Prompts => "prompts",
            Self::Resources => "resources",
            Self::Templates => "resourceTemplates",
        }
    }
}

/// What a model is given at first, and the lists of one view as JSON arrays.
#[derive(Debug)]
pub(super) struct Lists {
    pub(super) surface: Surface,
    tools: String,
    prompts: String,
    resources: String,
    templates: String,
    digests: Digests,
}

/// What tells one state of the lists from another. Only ever compared within one process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Digests {
    pub(super) tools: u64,
    pub(super) prompts: u64,
    /// Those of templates too: clients hear of both by one notice.
    pub(super) resources: u64,
}

impl Lists {
    fn new(view: &View, disclosure: &dyn Disclosure, names: Names) -> Self {
        let surface = disclosure.surface(view);
        let tools = array(surface.tools.iter().map(|tool| tool.definition.get().to_owned()));
        let prompts = array(view.prompts().map(|entry| named(entry, "name", names)));
        let resources = array(view.resources().map(|entry| named(entry, "uri", names)));
        let templates = array(view.templates().map(|entry| named(entry, "uriTemplate", names)));
        let digests = Digests {
            tools: digest(&[&tools]),
            prompts: digest(&[&prompts]),
            resources: digest(&[&resources, &templates]),
        };
        Self { surface, tools, prompts, resources, templates, digests }
    }

    pub(super) fn get(&self, list: List) -> &str {
        match list {
            List::Tools => &self.tools,
            List::Prompts => &self.prompts,
            List::Resources => &self.resources,
            List::Templates => &self.templates,
        }
    }

    pub(super) fn digests(&self) -> Digests {
        self.digests
    }
}

/// An entry as its source defines it, under the name that the client is to ask for it by.
fn named(entry: &Entry, key: &str, names: Names) -> String {
    let raw = entry.definition().raw();
    let name = match (names, key) {
        (Names::Own, _) => return raw.to_owned(),
        (Names::Public, "name") => entry.id().as_str().to_owned(),
        (Names::Public, _) => address(entry.domain(), entry.definition().key()),
    };
    let Some(fields) = object_fields(raw) else {
        return raw.to_owned();
    };
    let name = to_text(&name);
    let fields = fields.iter().map(|(own, value)| {
        format!("{}:{}", to_text(own), if own == key { name.as_str() } else { value })
    });
    format!("{{{}}}", fields.collect::<Vec<_>>().join(","))
}

fn array(elements: impl Iterator<Item = String>) -> String {
    format!("[{}]", elements.collect::<Vec<_>>().join(","))
}

fn digest(texts: &[&str]) -> u64 {
    let mut hasher = DefaultHasher::new();
    texts.hash(&mut hasher);
    hasher.finish()
}

/// The lists made in the latest epoch, one for each view that is different.
///
/// Principals that see the same share one, whatever their clients call themselves.
#[derive(Default)]
pub(super) struct Surfaces(Mutex<Vec<(View, Arc<Lists>)>>);

impl Surfaces {
    pub(super) fn get(&self, view: &View, disclosure: &dyn Disclosure, names: Names) -> Arc<Lists> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, lists)) = kept.iter().find(|(other, _)| other.is_same(view)) {
            return lists.clone();
        }
        let epoch = view.snapshot().epoch();
        kept.retain(|(other, _)| other.snapshot().epoch() == epoch);
        if kept.len() >= SURFACES {
            kept.remove(0);
        }
        let lists = Arc::new(Lists::new(view, disclosure, names));
        kept.push((view.clone(), lists.clone()));
        lists
    }
}

#[cfg(test)]
mod tests {
    use gatefold_catalog::{
        GroupRules, Listing, Manifest, ServerInfo, Snapshot, SourceEntry, SourceKind,
    };
    use gatefold_core::{Domain, Timestamp};
    use gatefold_disclose::Flat;
    use serde_json::value::RawValue;

    use super::*;

    fn raw(text: &str) -> Box<RawValue> {
        RawValue::from_string(text.to_owned()).unwrap()
    }

    fn snapshot(tools: usize, epoch: u64) -> Arc<Snapshot> {
        let server = ServerInfo {
            name: "server".to_owned(),
            version: "1".to_owned(),
            title: None,
            instructions: None,
            protocol: "2025-06-18".to_owned(),
            capabilities: None,
        };
        let tool = |id| format!(r#"{{"name":"t{id}","inputSchema":{{"type":"object"}}}}"#);
        let tools: Vec<_> = (0..tools).map(tool).collect();
        let listing = Listing {
            tools: &[raw(&format!(r#"{{"tools":[{}]}}"#, tools.join(",")))],
            prompts: &[raw(r#"{"prompts":[{"name":"greet","x":1.50}]}"#)],
            resources: &[raw(r#"{"resources":[{"name":"r","uri":"a://b","x":1.50}]}"#)],
            templates: &[raw(
                r#"{"resourceTemplates":[{"name":"t","uriTemplate":"a://{b}","x":1.50}]}"#,
            )],
        };
        let entry = SourceEntry {
            domain: Domain::from_key("d"),
            kind: SourceKind::Mcp,
            description: None,
            groups: GroupRules::default(),
            manifest: Some(Arc::new(Manifest::from_listing(
                server,
                listing,
                Timestamp::from_millis(0),
            ))),
        };
        Arc::new(Snapshot::build(vec![entry], epoch))
    }

    fn get(surfaces: &Surfaces, view: &View, names: Names) -> Arc<Lists> {
        surfaces.get(view, &Flat { names }, names)
    }

    #[test]
    fn whoever_sees_the_same_shares_the_lists_and_few_are_kept() {
        let surfaces = Surfaces::default();
        let get = |view: &View| get(&surfaces, view, Names::Public);
        let now = snapshot(SURFACES + 1, 1);
        let hides = |name: String| View::new(now.clone(), move |target| *target.name != *name);
        let all = get(&View::whole(now.clone()));
        let one = get(&hides("t0".to_owned()));
        assert!(Arc::ptr_eq(&all, &get(&View::whole(now.clone()))));
        assert!(!Arc::ptr_eq(&all, &one));
        assert!(!Arc::ptr_eq(&all, &get(&hides("greet".to_owned()))), "prompts count as well");
        for hidden in 0..=SURFACES {
            get(&hides(format!("t{hidden}")));
        }
        assert!(!Arc::ptr_eq(&all, &get(&View::whole(now.clone()))), "it was the oldest");
        get(&View::whole(snapshot(1, 2)));
        assert_eq!(surfaces.0.lock().unwrap().len(), 1, "those of the epoch before are gone");
    }

    #[test]
    fn entries_keep_all_but_the_name_they_are_asked_for_by() {
        let surfaces = Surfaces::default();
        let view = View::whole(snapshot(1, 1));
        let lists = get(&surfaces, &view, Names::Public);
        assert_eq!(lists.get(List::Prompts), r#"[{"name":"d__greet","x":1.50}]"#);
        let resources = r#"[{"name":"r","uri":"gatefold://d/a://b","x":1.50}]"#;
        assert_eq!(lists.get(List::Resources), resources);
        let templates = r#"[{"name":"t","uriTemplate":"gatefold://d/a://{b}","x":1.50}]"#;
        assert_eq!(lists.get(List::Templates), templates);
        let own = get(&Surfaces::default(), &view, Names::Own);
        assert_eq!(own.get(List::Prompts), r#"[{"name":"greet","x":1.50}]"#);
        assert_eq!(own.get(List::Resources), r#"[{"name":"r","uri":"a://b","x":1.50}]"#);
        assert_ne!(own.digests(), lists.digests());
    }
}
