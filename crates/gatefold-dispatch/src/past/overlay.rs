//! What was learnt, ready for ranking: read from where it is kept, a little behind it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use gatefold_catalog::{Past, PastQuery};
use gatefold_core::{BoxError, Tenant, Timestamp};
use tokio::task::spawn_blocking;

use super::{KeptQuery, PastQueries};

/// How far what is held may be behind what is kept, as long as somebody asks.
const LAG: Duration = Duration::from_secs(2);

/// Tenants held at once. Past it everything is read anew.
const TENANTS: usize = 256;

/// The past queries of those tenants who asked lately.
#[derive(Default)]
pub(crate) struct Overlays(Mutex<HashMap<Tenant, TenantPast>>);

struct TenantPast {
    past: Option<Arc<Past>>,
    /// The version that it was read at; none before the first time.
    version: Option<u64>,
    checked: Timestamp,
}

impl Overlays {
    /// What is held of a tenant, and whether it is time to see if it has changed.
    pub(crate) fn get(&self, tenant: &Tenant, now: Timestamp) -> (Option<Arc<Past>>, bool) {
        let mut tenants = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if tenants.len() >= TENANTS && !tenants.contains_key(tenant) {
            tenants.clear();
        }
        let Some(held) = tenants.get_mut(tenant) else {
            tenants.insert(tenant.clone(), TenantPast { past: None, version: None, checked: now });
            return (None, true);
        };
        let is_due = now.since(held.checked) >= LAG;
        held.checked = if is_due { now } else { held.checked };
        (held.past.clone(), is_due)
    }

    /// Reads what is kept for a tenant, if that has changed.
    pub(crate) async fn refresh(
        &self,
        port: &dyn PastQueries,
        tenant: &Tenant,
        now: Timestamp,
    ) -> Result<(), BoxError> {
        // Asked for first: what changes in between is read again the next time.
        let version = port.version().await?;
        if self.version(tenant) == Some(version) {
            return Ok(());
        }
        let kept = port.kept(tenant).await?;
        // Thousands of texts take a while to read: not on a thread that serves calls.
        let past = spawn_blocking(move || {
            Past::of(kept.iter().map(|kept| {
                let KeptQuery { tool, query, weight } = kept;
                PastQuery { tool: tool.as_str(), query, weight: *weight }
            }))
        })
        .await?;
        let past = (!past.is_empty()).then(|| Arc::new(past));
        let held = TenantPast { past, version: Some(version), checked: now };
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(tenant.clone(), held);
        Ok(())
    }

    fn version(&self, tenant: &Tenant) -> Option<u64> {
        let tenants = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        tenants.get(tenant).and_then(|held| held.version)
    }
}
