//! First starts through package runners, which download for longer than a connect deadline.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use gatefold_dispatch::{Caller, Limits, SourceState};
use gatefold_mcp::{McpSettings, StartLimits, StdioSettings, Transport};
use gatefold_testkit::{process_alive, wait_until};
use libtest_mimic::Trial;
use tokio::time::Instant;

use super::support::{LONG, settings, stdio, trial};
use super::world::{World, WorldOptions};

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial("a_download_that_takes_longer_than_the_deadline_is_left_to_finish", finishes),
        trial("the_usual_deadline_counts_once_a_server_has_started_well", usual),
        trial("a_download_has_a_deadline_of_its_own", bounded),
        trial("two_sources_with_one_package_download_it_once", shared),
        trial("a_server_that_died_of_the_first_question_after_a_download_is_started_again", died),
        trial("a_call_that_waits_for_a_download_until_its_deadline_is_told_so", told),
        trial("closing_ends_a_download_with_all_that_it_started", closed),
    ]
}

/// How long a download takes, and the connect deadline, which is shorter.
const DOWNLOAD: &str = "3.5";
const CONNECT: Duration = Duration::from_millis(1500);

/// Does as npm does: locks its cache, fills it bit by bit, and fails where an earlier install was
/// killed. `$1` is the package; what follows is the server.
const NPX: &str = r#"#!/bin/sh
cache=$CACHE; shift
echo $$ >>"$cache/runs"
if [ ! -e "$cache/whole" ]; then
    if ! mkdir "$cache/lock" 2>/dev/null; then
        echo 'npm error code ECOMPROMISED: the lock of another install' >&2
        exit 1
    fi
    sleep "$DOWNLOAD" & echo $! >"$cache/part"
    wait
    : >"$cache/whole"
    rmdir "$cache/lock"
fi
exec "$@"
"#;

/// An empty cache and a runner that fills it.
struct PackageCache {
    directory: tempfile::TempDir,
}

impl PackageCache {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let runner = directory.path().join("npx");
        fs::write(&runner, NPX).unwrap();
        fs::set_permissions(&runner, fs::Permissions::from_mode(0o755)).unwrap();
        Self { directory }
    }

    fn path(&self) -> &Path {
        self.directory.path()
    }

    fn file(&self, name: &str) -> PathBuf {
        self.path().join(name)
    }

    /// A server that is started through the runner.
    fn server(&self, domain: &str, download: &str, behaviour: &[&str]) -> McpSettings {
        let (program, server) = gatefold_testkit::fixture_command(behaviour);
        let mut args = vec!["some-server@1".to_owned(), program.to_str().unwrap().to_owned()];
        args.extend(server);
        let env = [("CACHE", self.path().to_str().unwrap()), ("DOWNLOAD", download)];
        let env = env.map(|(name, value)| (name.to_owned(), gatefold_core::Secret::new(value)));
        let command = self.file("npx").to_str().unwrap().to_owned();
        let stdio = StdioSettings { command, args, env: env.into(), ..StdioSettings::default() };
        let settings = settings(domain, Transport::Stdio(stdio));
        McpSettings { connect_deadline: CONNECT, install_deadline: LONG, ..settings }
    }

    /// The processes of the runner, in the order of their starts.
    fn runs(&self) -> Vec<u32> {
        let runs = fs::read_to_string(self.file("runs")).unwrap_or_default();
        runs.lines().map(|run| run.parse().unwrap()).collect()
    }
}

async fn finishes() {
    let cache = PackageCache::new();
    let world = World::new(&[&cache.server("up", DOWNLOAD, &[])]);
    let dispatcher = world.dispatcher.clone();
    let refreshing = tokio::spawn(async move { dispatcher.refresh().await });
    let began = Instant::now();
    let downloading = || world.report("up").status.downloading;
    assert!(wait_until(LONG, || downloading().is_some()).await);
    let told = downloading().unwrap();
    assert!(told <= began.elapsed() + Duration::from_millis(100), "{told:?}");
    assert_eq!(world.state("up"), SourceState::Starting);
    let refreshed = refreshing.await.unwrap().remove(0).1;
    assert!(refreshed.is_ok(), "{refreshed:?}");
    assert!(began.elapsed() > 2 * CONNECT);
    assert_eq!(world.text("up__echo", "{}").await, "{}");
    assert_eq!(cache.runs().len(), 1, "it was started once and never killed");
    assert_eq!(downloading(), None);
    world.dispatcher.close().await;
}

async fn usual() {
    let cache = PackageCache::new();
    let mut settings = cache.server("up", "0.1", &[]);
    settings.idle_stop = Duration::from_millis(200);
    let world = World::connected(&settings).await;
    world.reaches("up", SourceState::Idle).await;
    // A newer version is out.
    fs::remove_file(cache.file("whole")).unwrap();
    let slow = fs::read_to_string(cache.file("npx")).unwrap().replace("$DOWNLOAD", DOWNLOAD);
    fs::write(cache.file("npx"), slow).unwrap();
    let error = world.error("up__echo", "{}").await;
    let expected = "`up` is unavailable: it did not answer within 1.5 s; a first start may have to \
                    download, so try again or raise its `connect_deadline`";
    assert_eq!(error, expected);
    // The next attempt may finish it.
    fs::remove_dir(cache.file("lock")).unwrap();
    let again = Instant::now();
    while world.call("up__echo", "{}").await.is_err() {
        assert!(again.elapsed() < LONG);
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    assert_eq!(cache.runs().len(), 3);
    world.dispatcher.close().await;
}

async fn bounded() {
    let cache = PackageCache::new();
    let mut settings = cache.server("up", "60", &[]);
    settings.install_deadline = Duration::from_secs(2);
    let world = World::new(&[&settings]);
    let error = world.refresh().await.remove(0).1.unwrap_err();
    let expected = "`up` is unavailable: it did not answer within 2 s; if it was still downloading \
                    then, raise its `install_deadline`";
    assert_eq!(error, expected);
    world.dispatcher.close().await;
}

async fn shared() {
    let cache = PackageCache::new();
    let [one, other] = ["one", "other"].map(|domain| cache.server(domain, "1", &[]));
    let starts = StartLimits { starts: Some(1), installs: 2 };
    let world = World::made(&[&one, &other], &WorldOptions { starts, ..WorldOptions::default() });
    for (domain, refreshed) in world.refresh().await {
        assert_eq!(refreshed, Ok(()), "{domain}");
    }
    assert_eq!(cache.runs().len(), 2, "neither failed on the lock");
    world.dispatcher.close().await;
}

async fn died() {
    let cache = PackageCache::new();
    let world = World::new(&[&cache.server("up", DOWNLOAD, &["--exit-on-discover"])]);
    assert_eq!(world.refresh().await.remove(0).1, Ok(()));
    assert_eq!(cache.runs().len(), 2);
    world.dispatcher.close().await;
}

async fn told() {
    let known = World::connected(&stdio("up", &[])).await.keeper.last();
    let cache = PackageCache::new();
    let limits = Limits { call_deadline: Duration::from_millis(2500), ..Limits::default() };
    let made = WorldOptions { known: Some(known), limits, ..WorldOptions::default() };
    let world = World::made(&[&cache.server("up", DOWNLOAD, &[])], &made);
    let error = world.start("up__echo", "{}", Caller::silent()).await.unwrap().unwrap_err();
    let expected = "`up` is still downloading what it needs to start, and nothing was sent; try again \
                    in a minute";
    assert_eq!(error.to_string(), expected);
    world.reaches("up", SourceState::Running).await;
    assert_eq!(world.text("up__echo", "{}").await, "{}");
    assert_eq!(cache.runs().len(), 1);
    world.dispatcher.close().await;
}

async fn closed() {
    let cache = PackageCache::new();
    let world = World::new(&[&cache.server("up", "60", &[])]);
    let dispatcher = world.dispatcher.clone();
    let refreshing = tokio::spawn(async move { dispatcher.refresh().await });
    assert!(wait_until(LONG, || cache.file("part").exists()).await);
    let part = || fs::read_to_string(cache.file("part")).unwrap().trim().parse::<u32>();
    assert!(wait_until(LONG, || part().is_ok()).await);
    let processes = [cache.runs()[0], part().unwrap()];
    assert!(processes.iter().all(|process| process_alive(*process)));
    let began = Instant::now();
    world.dispatcher.close().await;
    assert!(began.elapsed() < Duration::from_secs(4), "{:?}", began.elapsed());
    let gone = || !processes.iter().any(|process| process_alive(*process));
    assert!(wait_until(LONG, gone).await, "some of {processes:?} are left");
    assert!(refreshing.await.unwrap()[0].1.is_err());
}
