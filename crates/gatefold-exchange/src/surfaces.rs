//! What clients see of a view, made once and shared by all who see the same.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use gatefold_catalog::{Entry, View, ViewKey, address, with_fields};
use gatefold_core::{AgentId, BoundedCache, ToolId};
use gatefold_disclose::{ClientLimits, Names, Surface, with_skill_stubs};
use gatefold_dispatch::TurnHolder;

use crate::addresses::to_text;
use crate::{Audience, DisclosureName};

/// The most surfaces kept at once: one for each combination of rights, disclosure and client limits
/// in use. A new one replaces the least recently used.
const SURFACES: usize = 512;

/// One of the four lists that a client can ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum List {
    Tools,
    Prompts,
    Resources,
    Templates,
}

/// What a model is given at first, and the lists of one view as JSON arrays.
#[derive(Debug)]
pub struct Lists {
    surface: Surface,
    tools: String,
    prompts: String,
    resources: String,
    templates: String,
    digests: ListDigests,
}

/// Digests that tell one state of the lists from another. They are only compared within one
/// process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ListDigests {
    pub tools: u64,
    pub prompts: u64,
    /// Of templates too: one notice tells clients about both.
    pub resources: u64,
}

impl Lists {
    fn new(view: &View, audience: &Audience) -> Self {
        let names = audience.names();
        let surface = surface(view, audience);
        let tools = array(surface.tools.iter().map(|tool| tool.definition.get()));
        let prompts = entries(view.prompts(), "name", names);
        let resources = entries(view.resources(), "uri", names);
        let templates = entries(view.templates(), "uriTemplate", names);
        let digests = ListDigests {
            tools: digest(&[&tools]),
            prompts: digest(&[&prompts]),
            resources: digest(&[&resources, &templates]),
        };
        Self { surface, tools, prompts, resources, templates, digests }
    }

    pub fn surface(&self) -> &Surface {
        &self.surface
    }

    /// A list as a JSON array of its definitions, under the names that clients use.
    pub fn get(&self, list: List) -> &str {
        match list {
            List::Tools => &self.tools,
            List::Prompts => &self.prompts,
            List::Resources => &self.resources,
            List::Templates => &self.templates,
        }
    }

    pub fn digests(&self) -> ListDigests {
        self.digests
    }
}

/// What a model is given at first, behind what its agent is told.
fn surface(view: &View, audience: &Audience) -> Surface {
    let told = audience.agent().map(|agent| &*agent.instructions).unwrap_or_default();
    if told.is_empty() {
        return surface_within(view, audience, *audience.limits());
    }
    let told = format!("{told}\n\n");
    let left = audience.limits().instructions_bytes.saturating_sub(told.len());
    let limits = ClientLimits { instructions_bytes: left };
    let mut surface = surface_within(view, audience, limits);
    surface.instructions.insert_str(0, &told);
    surface
}

/// The same without that.
fn surface_within(view: &View, audience: &Audience, limits: ClientLimits) -> Surface {
    let surface = audience.disclosure().surface(view, &limits);
    match audience.holder() {
        TurnHolder::Loop => with_skill_stubs(surface, view, &limits),
        TurnHolder::Client => surface,
    }
}

/// A list of entries: in the source's own order if it is shown as itself, otherwise sorted.
fn entries<'a>(listed: impl Iterator<Item = &'a Entry>, key: &str, names: Names) -> String {
    let mut listed: Vec<_> = listed.collect();
    if names == Names::Own {
        listed.sort_by_key(|entry| entry.definition().listed_at());
    }
    array(listed.into_iter().map(|entry| named(entry, key, names)))
}

/// An entry as its source defines it, under the name that clients use.
fn named(entry: &Entry, key: &str, names: Names) -> String {
    let raw = entry.definition().raw();
    let name = match (names, key) {
        (Names::Own, _) => return raw.to_owned(),
        (Names::Public, "name") => entry.id().as_str().to_owned(),
        (Names::Public, _) => address(entry.domain(), entry.definition().key()),
    };
    let name = to_text(&name);
    let renamed = with_fields(raw, |own, value| match own {
        _ if own == key => name.clone().into(),
        _ => value.into(),
    });
    renamed.unwrap_or_else(|| raw.to_owned())
}

fn array<T: AsRef<str>>(elements: impl Iterator<Item = T>) -> String {
    let mut text = "[".to_owned();
    for (at, element) in elements.enumerate() {
        text.extend((at > 0).then_some(','));
        text.push_str(element.as_ref());
    }
    text.push(']');
    text
}

fn digest(texts: &[&str]) -> u64 {
    let mut hasher = DefaultHasher::new();
    texts.hash(&mut hasher);
    hasher.finish()
}

/// The lists of the latest epoch. Principals that see the same share them.
pub(crate) struct Surfaces {
    lists: BoundedCache<SurfaceKey, Arc<Lists>>,
    latest_epoch: AtomicU64,
}

#[derive(Clone, PartialEq, Eq, Hash)]
struct SurfaceKey {
    rights: ViewKey,
    disclosure: DisclosureName,
    names: Names,
    limits: ClientLimits,
    /// A loop's surface is another one, even of the same view.
    holder: TurnHolder,
    agent: Option<AgentId>,
    request: Option<Arc<str>>,
    /// The most used tools of whoever is shown them.
    used: Arc<[ToolId]>,
    /// What a session has found, if it registers that.
    registered: Arc<[String]>,
}

impl Default for Surfaces {
    fn default() -> Self {
        Self { lists: BoundedCache::new(SURFACES), latest_epoch: AtomicU64::new(0) }
    }
}

impl Surfaces {
    pub(crate) fn get(&self, view: &View, audience: &Audience) -> Arc<Lists> {
        let key = SurfaceKey {
            rights: view.key(),
            disclosure: audience.disclosure_name().clone(),
            names: audience.names(),
            limits: *audience.limits(),
            holder: audience.holder(),
            agent: audience.agent_id().cloned(),
            request: audience.request().cloned(),
            used: view.used().clone(),
            registered: view.registered().clone(),
        };
        let make = || Arc::new(Lists::new(view, audience));
        let epoch = view.snapshot().epoch();
        let latest = self.latest_epoch.fetch_max(epoch, Ordering::Relaxed);
        if epoch < latest {
            // A turn that began before a reload. Caching its surface would keep the old catalogue
            // alive.
            return make();
        }
        if epoch > latest {
            self.lists.retain(|key| key.rights.epoch() >= epoch);
        }
        self.lists.get_or_make(&key, make)
    }
}
#[cfg(test)]
mod tests {
    use gatefold_catalog::{
        GroupRules, KindName, Listing, Manifest, ServerInfo, Snapshot, SourceEntry,
    };
    use gatefold_core::{Domain, Timestamp};
    use gatefold_disclose::{Disclosure, Gateway};
    use serde_json::value::RawValue;

    use super::*;
    use crate::{Disclosures, Scope};

    fn raw(text: &str) -> Box<RawValue> {
        RawValue::from_string(text.to_owned()).unwrap()
    }

    fn snapshot(tools: usize, epoch: u64) -> Arc<Snapshot> {
        let server = ServerInfo {
            name: "server".to_owned(),
            version: "1".to_owned(),
            title: None,
            description: None,
            instructions: None,
            protocol: "2025-06-18".to_owned(),
            capabilities: None,
            whole: None,
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
            kind: KindName::new("mcp"),
            description: None,
            aliases: Vec::new(),
            groups: GroupRules::default(),
            manifest: Some(Arc::new(Manifest::from_listing(
                server,
                listing,
                Timestamp::from_millis(0),
            ))),
        };
        Arc::new(Snapshot::build(vec![entry], epoch))
    }

    /// What the disclosure `flat` shows of everything, or of the one source.
    fn get(surfaces: &Surfaces, view: &View, scope: Scope) -> Arc<Lists> {
        let gateway: Arc<dyn Disclosure> = Arc::new(Gateway::default());
        let flat = Disclosures::standard(&gateway).audience(scope, Some("flat")).unwrap();
        surfaces.get(view, &flat)
    }

    #[test]
    fn whoever_sees_the_same_shares_the_lists() {
        let surfaces = Surfaces::default();
        let get = |view: &View| get(&surfaces, view, Scope::Everything);
        let now = snapshot(3, 1);
        let hides =
            |name: &'static str| View::new(now.clone(), move |target| *target.name != *name);
        let all = get(&View::whole(now.clone()));
        let one = get(&hides("t0"));
        assert!(Arc::ptr_eq(&all, &get(&View::whole(now.clone()))));
        assert!(Arc::ptr_eq(&one, &get(&hides("t0"))), "rights count, not who has them");
        assert!(!Arc::ptr_eq(&all, &one));
        assert!(!Arc::ptr_eq(&one, &get(&hides("t1"))), "which tools, not how many");
        assert!(!Arc::ptr_eq(&all, &get(&hides("greet"))), "prompts count as well");
        get(&View::whole(snapshot(1, 2)));
        assert_eq!(surfaces.lists.len(), 1, "those of the previous epoch are gone");
    }

    #[test]
    fn surfaces_kept_have_a_bound() {
        let surfaces = Surfaces::default();
        let now = snapshot(10, 1);
        for rights in 0..=SURFACES {
            let is_seen = |tool: usize| rights >> tool & 1 == 1;
            let is_visible = |name: &str| (0..10).all(|t| *name != format!("t{t}") || is_seen(t));
            get(&surfaces, &View::new(now.clone(), |t| is_visible(&t.name)), Scope::Everything);
        }
        assert_eq!(surfaces.lists.len(), SURFACES);
    }

    #[test]
    fn whoever_is_late_gets_an_old_surface_and_disturbs_nobody() {
        let surfaces = Surfaces::default();
        let (old, new) = (View::whole(snapshot(1, 1)), View::whole(snapshot(2, 2)));
        let latest = get(&surfaces, &new, Scope::Everything);
        assert_eq!(get(&surfaces, &old, Scope::Everything).surface().tools.len(), 1);
        assert!(Arc::ptr_eq(&latest, &get(&surfaces, &new, Scope::Everything)));
        assert_eq!(surfaces.lists.len(), 1);
    }

    #[test]
    fn entries_keep_all_but_the_name_they_are_asked_for_by() {
        let surfaces = Surfaces::default();
        let view = View::whole(snapshot(1, 1));
        let lists = get(&surfaces, &view, Scope::Everything);
        assert_eq!(lists.get(List::Prompts), r#"[{"name":"d__greet","x":1.50}]"#);
        let resources = r#"[{"name":"r","uri":"gatefold://d/a://b","x":1.50}]"#;
        assert_eq!(lists.get(List::Resources), resources);
        let templates = r#"[{"name":"t","uriTemplate":"gatefold://d/a://{b}","x":1.50}]"#;
        assert_eq!(lists.get(List::Templates), templates);
        let own = get(&surfaces, &view, Scope::Source(Domain::from_key("d")));
        assert_eq!(own.get(List::Prompts), r#"[{"name":"greet","x":1.50}]"#);
        assert_eq!(own.get(List::Resources), r#"[{"name":"r","uri":"a://b","x":1.50}]"#);
        assert_ne!(own.digests(), lists.digests());
    }
}
