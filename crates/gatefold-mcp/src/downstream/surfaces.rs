use std::sync::{Arc, Mutex, PoisonError};

use gatefold_catalog::View;
use gatefold_disclose::Surface;

/// Different views whose surfaces are kept. With one more, the oldest is made again when asked for.
const SURFACES: usize = 16;

/// The surfaces made in the latest epoch, one for each view that is different.
///
/// Principals that see the same tools share one, whatever their clients call themselves.
#[derive(Default)]
pub(super) struct Surfaces(Mutex<Vec<(View, Arc<Surface>)>>);

impl Surfaces {
    pub(super) fn get(&self, view: &View, make: impl FnOnce(&View) -> Surface) -> Arc<Surface> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, surface)) = kept.iter().find(|(other, _)| is_same(other, view)) {
            return surface.clone();
        }
        let epoch = view.snapshot().epoch();
        kept.retain(|(other, _)| other.snapshot().epoch() == epoch);
        if kept.len() >= SURFACES {
            kept.remove(0);
        }
        let surface = Arc::new(make(view));
        kept.push((view.clone(), surface.clone()));
        surface
    }
}

fn is_same(a: &View, b: &View) -> bool {
    a.snapshot().epoch() == b.snapshot().epoch()
        && a.tool_count() == b.tool_count()
        && a.tools().zip(b.tools()).all(|(a, b)| std::ptr::eq(a, b))
}

#[cfg(test)]
mod tests {
    use gatefold_catalog::{GroupRules, Manifest, ServerInfo, Snapshot, SourceEntry, SourceKind};
    use gatefold_core::{Domain, Timestamp};
    use serde_json::value::RawValue;

    use super::*;

    fn snapshot(tools: usize, epoch: u64) -> Arc<Snapshot> {
        let server = ServerInfo {
            name: "server".to_owned(),
            version: "1".to_owned(),
            title: None,
            instructions: None,
            protocol: "2025-06-18".to_owned(),
        };
        let tool = |id| format!(r#"{{"name":"t{id}","inputSchema":{{"type":"object"}}}}"#);
        let tools: Vec<_> = (0..tools).map(tool).collect();
        let page = RawValue::from_string(format!(r#"{{"tools":[{}]}}"#, tools.join(","))).unwrap();
        let entry = SourceEntry {
            domain: Domain::from_key("d"),
            kind: SourceKind::Mcp,
            description: None,
            groups: GroupRules::default(),
            manifest: Some(Arc::new(Manifest::from_pages(
                server,
                &[page],
                Timestamp::from_millis(0),
            ))),
        };
        Arc::new(Snapshot::build(vec![entry], epoch))
    }

    #[test]
    fn whoever_sees_the_same_shares_a_surface_and_few_are_kept() {
        let (surfaces, mut made) = (Surfaces::default(), 0);
        let mut get = |view: &View| {
            surfaces.get(view, |_| {
                made += 1;
                Surface { tools: Vec::new(), instructions: String::new(), tokens: 0 }
            });
            made
        };
        let now = snapshot(SURFACES + 1, 1);
        let all = || View::whole(now.clone());
        let hides = |name: String| View::new(now.clone(), |target| *target.name != *name);
        assert_eq!((get(&all()), get(&hides("t0".to_owned())), get(&all())), (1, 2, 2));
        for hidden in 0..=SURFACES {
            get(&hides(format!("t{hidden}")));
        }
        assert_eq!(get(&all()), SURFACES + 3, "it was the oldest");
        assert_eq!(get(&View::whole(snapshot(1, 2))), SURFACES + 4);
        assert_eq!(surfaces.0.lock().unwrap().len(), 1, "those of the epoch before are gone");
    }
}
