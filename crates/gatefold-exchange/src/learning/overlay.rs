//! What was learnt, ready for ranking: a cache that is a little behind the store.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use gatefold_catalog::{PastIndex, PastQuery};
use gatefold_core::{BoxError, Tenant};
use tokio::task::spawn_blocking;

use crate::{KeptQuery, PastQueries};

/// How far the cache may lag behind the store while it is in use.
const LAG: Duration = Duration::from_secs(2);

/// The most tenants in the cache. Beyond that, it is cleared and read again.
const TENANTS: usize = 256;

/// The past queries of tenants that asked recently, at most [`TENANTS`].
#[derive(Default)]
pub(crate) struct Overlays(Mutex<HashMap<Tenant, TenantPast>>);

struct TenantPast {
    past: Option<Arc<PastIndex>>,
    /// The version that was read; none before the first time.
    version: Option<u64>,
    /// By the clock's uptime, like every moment here.
    checked: Duration,
}

impl Overlays {
    /// A tenant's cached past queries, and whether it is time to check for changes.
    pub(crate) fn get(&self, tenant: &Tenant, now: Duration) -> (Option<Arc<PastIndex>>, bool) {
        let mut tenants = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        make_room(&mut tenants, tenant);
        let Some(held) = tenants.get_mut(tenant) else {
            tenants.insert(tenant.clone(), TenantPast { past: None, version: None, checked: now });
            return (None, true);
        };
        let is_due = now.saturating_sub(held.checked) >= LAG;
        held.checked = if is_due { now } else { held.checked };
        (held.past.clone(), is_due)
    }

    /// Reads what is kept for a tenant, if it has changed.
    pub(crate) async fn refresh(
        &self,
        port: &dyn PastQueries,
        tenant: &Tenant,
        now: Duration,
    ) -> Result<(), BoxError> {
        // Read before the queries, so that a change in between is found the next time.
        let version = port.version().await?;
        if self.version(tenant) == Some(version) {
            return Ok(());
        }
        let kept = port.kept(tenant).await?;
        // Reading thousands of texts takes a while, so it must not run on a thread that serves
        // calls.
        let past = spawn_blocking(move || {
            PastIndex::of(kept.iter().map(|kept| {
                let KeptQuery { tool, query, weight } = kept;
                PastQuery { tool: tool.as_str(), query, weight: *weight }
            }))
        })
        .await?;
        let past = (!past.is_empty()).then(|| Arc::new(past));
        let held = TenantPast { past, version: Some(version), checked: now };
        let mut tenants = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        make_room(&mut tenants, tenant);
        tenants.insert(tenant.clone(), held);
        Ok(())
    }

    fn version(&self, tenant: &Tenant) -> Option<u64> {
        let tenants = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        tenants.get(tenant).and_then(|held| held.version)
    }
}

/// Clears the cache if there is no room for one more tenant.
fn make_room(tenants: &mut HashMap<Tenant, TenantPast>, newcomer: &Tenant) {
    if tenants.len() >= TENANTS && !tenants.contains_key(newcomer) {
        tenants.clear();
    }
}

#[cfg(test)]
mod tests {
    use gatefold_core::{Principal, UserId};

    use super::*;
    use crate::NoPastQueries;

    #[tokio::test]
    async fn no_more_tenants_are_held_than_the_limit() {
        let (asked, read) = (Overlays::default(), Overlays::default());
        let now = Duration::ZERO;
        for number in 0..=TENANTS {
            let tenant = Principal::user(UserId::new(format!("user{number}"))).tenant();
            asked.get(&tenant, now);
            read.refresh(&NoPastQueries, &tenant, now).await.unwrap();
        }
        for overlays in [asked, read] {
            assert!(overlays.0.lock().unwrap().len() <= TENANTS);
        }
    }
}
