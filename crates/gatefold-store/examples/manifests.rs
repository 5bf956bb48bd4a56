//! Measures a start from what is on disk:
//! `cargo run --release -p gatefold-store --example manifests DIRECTORY_OF_TOOL_LISTS`.
//!
//! Each file of the directory is a JSON object with a member `tools`, as in a `tools/list` result.
#![expect(clippy::print_stdout, reason = "its figures are its purpose")]

use std::fs;
use std::time::Instant;

use gatefold_catalog::{Manifest, ServerInfo};
use gatefold_core::{Clock as _, Digest, Domain, SystemClock};
use gatefold_store::{SourceKey, Store, StoreOptions};
use serde_json::value::RawValue;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let lists = std::env::args().nth(1).ok_or("name a directory of tool lists")?;
    let scratch = tempfile::tempdir()?;
    let (mut keys, mut bytes, mut tools) = (Vec::new(), 0, 0);
    let store = Store::open(scratch.path(), StoreOptions::default()).await?;
    let began = Instant::now();
    for entry in fs::read_dir(lists)? {
        let path = entry?.path();
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        if path.extension().is_none_or(|extension| extension != "json") || name.starts_with('_') {
            continue;
        }
        let page: Box<RawValue> = serde_json::from_str(&fs::read_to_string(&path)?)?;
        let server = ServerInfo {
            name: name.clone(),
            version: "1".to_owned(),
            title: None,
            description: None,
            instructions: None,
            protocol: "2025-06-18".to_owned(),
            capabilities: None,
            whole: None,
        };
        let manifest = Manifest::from_pages(server, &[page], SystemClock.now());
        bytes += manifest.to_bytes().len();
        tools += manifest.tools().len();
        let key = SourceKey { domain: Domain::from_key(&name), config: Digest::new([1; 32]) };
        store.save_manifest(&key, &manifest).await?;
        keys.push(key);
    }
    let saved = began.elapsed();
    store.close().await?;
    drop(store);
    println!("{} sources, {tools} tools, {bytes} bytes, saved in {saved:?}", keys.len());
    for _ in 0..5 {
        let began = Instant::now();
        let store = Store::open(scratch.path(), StoreOptions::default()).await?;
        let opened = began.elapsed();
        let known = store.known_sources(&keys).await?;
        let loaded = began.elapsed().saturating_sub(opened);
        let found = known.iter().filter(|known| known.manifest.is_some()).count();
        println!("opened in {opened:?}, {found} manifests loaded in {loaded:?}");
        store.close().await?;
    }
    Ok(())
}
