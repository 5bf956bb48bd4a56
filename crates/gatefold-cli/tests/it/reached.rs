//! Sources that were reached, without a server for each.

use std::path::Path;

use gatefold::Environment;
use gatefold::config::{Inputs, load};
use gatefold_catalog::{Manifest, ServerInfo};
use gatefold_core::Timestamp;
use gatefold_store::{SourceKey, Store, StoreOptions};

use crate::scratch::Scratch;

/// Records that every source of `gatefold.toml` was reached, as a successful check would. The
/// variables are those of [`crate::process::command`].
pub(crate) fn mark_reached(scratch: &Scratch) {
    let home = scratch.path().to_str().unwrap();
    let variables = [("HOME", home), ("PATH", "/usr/bin:/bin"), ("TOKEN", "s3cret")];
    let environment = Environment::new(variables, scratch.path());
    let state_dir = scratch.path().join(".local/state/gatefold");
    mark(&scratch.path().join("gatefold.toml"), &environment, &state_dir);
}

/// The same for another configuration, another environment and another state directory.
pub(crate) fn mark(config: &Path, environment: &Environment, state_dir: &Path) {
    let inputs = Inputs { config: Some(config.to_owned()), ..Inputs::default() };
    let config = load(&inputs, environment).unwrap();
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
    let manifest = Manifest::from_pages(server, &[], Timestamp::from_millis(0));
    let keep = || async {
        let store = Store::open(state_dir, StoreOptions::default()).await.unwrap();
        for source in &config.sources {
            let key = SourceKey { domain: source.domain.clone(), config: source.config_digest };
            store.save_manifest(&key, &manifest).await.unwrap();
        }
        store.close().await.unwrap();
    };
    // Tests call this both inside and outside a runtime.
    let runtime = || tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    std::thread::scope(|scope| scope.spawn(|| runtime().block_on(keep())).join().unwrap());
}
