//! Sources that fail together are not retried together.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use gatefold_core::SystemClock;
use tokio::time::{Instant, sleep};

use crate::scratch::{LIMIT, Scratch, toml};

const SOURCES: usize = 20;

/// Each start leaves a file behind and fails.
fn failing(starts: &Path, n: usize) -> String {
    let folder = starts.join(n.to_string());
    fs::create_dir_all(&folder).unwrap();
    let script = r#"mktemp "$0/XXXXXX"; exit 1"#;
    format!(
        "sources.s{n} = {{ command = 'sh', args = ['-c', '{script}', '{}'] }}\n",
        folder.display()
    )
}

/// When a source was started, in order.
fn starts(folder: &Path) -> Vec<SystemTime> {
    let files = fs::read_dir(folder).unwrap();
    let mut starts: Vec<_> =
        files.map(|file| file.unwrap().metadata().unwrap().modified().unwrap()).collect();
    starts.sort();
    starts
}

#[tokio::test]
async fn sources_that_failed_together_are_not_started_together_again() {
    let scratch = Scratch::new();
    let folder = scratch.path().join("starts");
    let sources: String = (0..SOURCES).map(|n| failing(&folder, n)).collect();
    let config = toml(&format!("limits.starts = {SOURCES}\n{sources}")).unwrap();
    let state = scratch.path().join("state");
    let app = gatefold::build(config, &state, Arc::new(SystemClock)).await.unwrap();
    app.keep_learning();
    let until = Instant::now() + LIMIT;
    let folders: Vec<_> = (0..SOURCES).map(|n| folder.join(n.to_string())).collect();
    while folders.iter().any(|folder| starts(folder).len() < 3) {
        assert!(Instant::now() < until, "each is tried three times");
        sleep(Duration::from_millis(50)).await;
    }
    // A server that dies at the first request is restarted at once; the third start is the retry.
    let pauses = folders.iter().map(|folder| {
        let starts = starts(folder);
        starts[2].duration_since(starts[1]).unwrap()
    });
    let pauses: Vec<_> = pauses.collect();
    let (shortest, longest) = (pauses.iter().min().unwrap(), pauses.iter().max().unwrap());
    assert!(longest.abs_diff(*shortest) > Duration::from_millis(150), "{pauses:?}");
    app.close().await;
}
