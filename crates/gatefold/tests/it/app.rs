//! The library's own interface: build, apply, watch.

use std::sync::Arc;
use std::time::Duration;

use gatefold::config::kinds::mcp::McpConnection;
use gatefold::config::{Config, Inputs, Origin, SourceConfig};
use gatefold::{App, ConfigWatch, SeenFiles};
use gatefold_core::{Domain, SystemClock};
use tokio::time::timeout;

use crate::scratch::{LIMIT, Scratch, toml};

async fn build(scratch: &Scratch, config: Config) -> App {
    gatefold::build(config, &scratch.path().join("state"), Arc::new(SystemClock)).await.unwrap()
}

fn states(app: &App) -> Vec<String> {
    app.reports().iter().map(|r| format!("{} {}", r.domain, r.status.state)).collect()
}

#[tokio::test]
async fn nothing_is_connected_before_it_is_needed() {
    let scratch = Scratch::new();
    let config = toml(
        "sources.a.command = 'x'\nsources.b.url = 'http://127.0.0.1:1'\n\
         sources.c = { command = 'x', enabled = false }",
    );
    let app = build(&scratch, config.unwrap()).await;
    assert_eq!(states(&app), ["a configured", "b configured", "c disabled"]);
    let learned = app.learn(&()).await;
    let failed: Vec<_> = learned.iter().map(|(domain, _)| domain.as_str()).collect();
    assert_eq!(failed, ["a", "b"]);
    assert_eq!(states(&app), ["a failing", "b failing", "c disabled"]);
    app.close().await;
}

#[tokio::test]
async fn a_source_whose_connection_is_unchanged_is_kept() {
    let scratch = Scratch::new();
    let app =
        build(&scratch, toml("sources.a.command = 'x'\nsources.b.command = 'y'").unwrap()).await;
    for (text, kept, added, removed) in [
        ("sources.b.command = 'y'\nsources.a = { command = 'x', description = 'd' }", 2, 0, 0),
        ("sources.a.command = 'x'\nsources.b = { command = 'y', args = ['z'] }", 1, 1, 1),
        ("sources.a.command = 'x'", 1, 0, 1),
        ("sources.a = { command = 'x', idle_stop = '1s' }", 0, 1, 1),
        ("sources.a = { command = 'x', enabled = false }", 0, 1, 1),
        ("", 0, 0, 1),
    ] {
        let reloaded = app.apply(toml(text).unwrap()).await.unwrap();
        let found = (reloaded.kept, reloaded.added, reloaded.removed);
        assert_eq!(found, (kept, added, removed), "{text}");
    }
    assert!(app.reports().is_empty());
    app.close().await;
}

#[tokio::test]
async fn a_reload_takes_all_or_nothing() {
    let scratch = Scratch::new();
    let inputs = Inputs { config: Some("gatefold.toml".into()), ..Inputs::default() };
    scratch.write("gatefold.toml", "sources.a.command = 'x'");
    let app = build(&scratch, scratch.load(&inputs).unwrap()).await;
    scratch.write("gatefold.toml", "sources.b.command = 'x'\nlimits.nesting = 'deep'");
    let error = app.reload(&inputs, &scratch.environment()).await.unwrap_err();
    assert!(error.to_string().starts_with("gatefold.toml:2:18: `limits.nesting`"), "{error}");
    assert_eq!(states(&app), ["a configured"]);
    scratch.write("gatefold.toml", "sources.b.command = 'x'\nlimits.nesting = 3");
    app.reload(&inputs, &scratch.environment()).await.unwrap();
    assert_eq!(states(&app), ["b configured"]);
    assert_eq!(app.config().limits.nesting, 3);
    app.close().await;
}

#[tokio::test]
async fn sources_can_be_configured_in_code() {
    let scratch = Scratch::new();
    let connection =
        McpConnection::Http { url: "http://127.0.0.1:1".to_owned(), headers: Vec::new() };
    let origin = Origin { file: "here".into(), line: 1, key: "a".to_owned() };
    let source = SourceConfig::new(Domain::from_key("a"), connection, origin);
    let app = build(&scratch, Config { sources: vec![source], ..Config::default() }).await;
    assert_eq!(states(&app), ["a configured"]);
    app.close().await;
}

#[tokio::test]
async fn a_file_that_is_replaced_is_noticed_and_one_that_is_only_touched_is_not() {
    let scratch = Scratch::new();
    scratch.write("gatefold.toml", "a").write("other", "b");
    let file = scratch.path().join("gatefold.toml");
    let mut watch = ConfigWatch::new(std::slice::from_ref(&file), &SeenFiles::default()).unwrap();
    scratch.write("gatefold.toml", "a").write("other", "c");
    let quiet = timeout(Duration::from_millis(600), watch.changed()).await;
    assert!(quiet.is_err(), "neither change counts");
    scratch.write("new", "b");
    std::fs::rename(scratch.path().join("new"), &file).unwrap();
    timeout(LIMIT, watch.changed()).await.expect("the replaced file is noticed");
    std::fs::remove_file(&file).unwrap();
    timeout(LIMIT, watch.changed()).await.expect("the removed file is noticed");
    scratch.write("gatefold.toml", "c");
    timeout(LIMIT, watch.changed()).await.expect("the new file is noticed");
}

#[tokio::test]
async fn a_change_before_the_watching_is_noticed() {
    let scratch = Scratch::new();
    scratch.write("gatefold.toml", "a");
    let file = scratch.path().join("gatefold.toml");
    let seen = SeenFiles::of([file.clone()]);
    scratch.write("gatefold.toml", "b");
    let mut watch = ConfigWatch::new(&[file], &seen).unwrap();
    timeout(LIMIT, watch.changed()).await.expect("it was read before it changed");
}

#[cfg(unix)]
#[tokio::test]
async fn a_link_that_is_swapped_is_noticed() {
    let scratch = Scratch::new();
    let at = |name: &str| scratch.path().join(name);
    std::fs::create_dir(at("one")).unwrap();
    std::fs::create_dir(at("two")).unwrap();
    scratch.write("one/gatefold.toml", "1").write("two/gatefold.toml", "2");
    std::os::unix::fs::symlink("one", at("current")).unwrap();
    std::os::unix::fs::symlink("current/gatefold.toml", at("gatefold.toml")).unwrap();
    let mut watch = ConfigWatch::new(&[at("gatefold.toml")], &SeenFiles::default()).unwrap();
    std::os::unix::fs::symlink("two", at("next")).unwrap();
    std::fs::rename(at("next"), at("current")).unwrap();
    timeout(LIMIT, watch.changed()).await.expect("the swapped link is noticed");
    scratch.write("two/gatefold.toml", "3");
    timeout(LIMIT, watch.changed()).await.expect("the link's new target is watched");
}
