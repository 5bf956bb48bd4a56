//! Whoever follows how sources are connected.

use std::sync::Arc;
use std::time::Duration;

use gatefold_core::{CallError, Domain};
use gatefold_dispatch::Source;

/// How often to report that a source is downloading.
const DOWNLOAD_TOLD: Duration = Duration::from_secs(1);

/// Follows how sources are connected. All connect at the same time, so events come in any order.
pub trait ConnectObserver: Sync {
    fn started(&self, domain: &Domain);
    fn finished(&self, domain: &Domain);

    /// A source has been downloading what it needs for this long. Told again every second.
    fn downloading(&self, domain: &Domain, so_far: Duration) {
        let _ = (domain, so_far);
    }
}

/// Follows nothing.
impl ConnectObserver for () {
    fn started(&self, _: &Domain) {}
    fn finished(&self, _: &Domain) {}
}

/// Refreshes a source, and reports its download.
pub(super) async fn followed(
    source: Arc<dyn Source>,
    follower: &dyn ConnectObserver,
) -> Result<(), CallError> {
    let mut refreshed = source.clone().refresh();
    loop {
        match tokio::time::timeout(DOWNLOAD_TOLD, &mut refreshed).await {
            Ok(result) => return result,
            Err(_) => {
                if let Some(so_far) = source.status().downloading {
                    follower.downloading(source.domain(), so_far);
                }
            }
        }
    }
}
