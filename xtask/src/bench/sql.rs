//! Queries of a database: by sqlx alone, through Gatefold, and through a peer.
//!
//! `GATEFOLD_POSTGRES` names a server on which a database and a role of its own are made, and dropped at the
//! end. The role can only read.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use serde_json::json;
use sqlx::postgres::{PgConnectOptions, PgPool, PgPoolOptions};
use sqlx::{AssertSqlSafe, Connection as _, PgConnection};

use super::calls::{self, CallOptions, Route, Way};
use super::load::{self, PlainQuery, Scenario};
use super::process::Server;
use super::table::{markdown, write_section};
use super::{say, start};

const SERVER: &str = "GATEFOLD_POSTGRES";

/// The small query, and what its answer holds.
const SMALL: &str = "SELECT id, name, city FROM people WHERE id = 739";
const EXPECTED: &str = "Ada 739";

/// The large one, which is cut at a thousand rows.
const LARGE: &str = "SELECT n, note FROM visits";
const LARGE_ROWS: u32 = 1_000_000;
const LARGE_EXPECTED: &str = "visit 999 ";

/// How long the large query is asked for.
const LARGE_TIME: Duration = Duration::from_secs(5);

/// How many further tables a schema has that is read.
const TABLES: usize = 5_000;

/// How many tables one statement makes: each takes locks.
const TABLES_AT_ONCE: usize = 250;

/// The names of the database and the role.
const OWN: &str = "gatefold_bench";
const ROLE: &str = "gatefold_bench_reader";

#[expect(clippy::disallowed_methods, reason = "a chore reads its own variables")]
pub(crate) fn run(root: &Path, options: &[&str]) -> Result<()> {
    let options = calls::parse(options)?;
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    runtime.worker_threads(2).enable_all().build()?.block_on(async {
        let server = std::env::var(SERVER).with_context(|| format!("`{SERVER}` is not set"))?;
        let server: PgConnectOptions = server.parse()?;
        drop_own(&server).await?;
        let measured = measure(root, &options, &server).await;
        let dropped = drop_own(&server).await;
        measured.and(dropped)
    })
}

async fn measure(root: &Path, options: &CallOptions, server: &PgConnectOptions) -> Result<()> {
    fill(server).await?;
    let reader = server.clone().username(ROLE).database(OWN);
    let (host, port) = (server.get_host(), server.get_port());
    let url = format!("postgres://{ROLE}@{host}:{port}/{OWN}");
    let scratch = tempfile::tempdir()?;
    // The rows are given whole: previews have a measure of their own.
    let config = format!(
        "[limits]\nresult_preview = 100000\n[sources.bench]\ndatabase = \"{url}\"\nconnections = 32\n"
    );
    std::fs::write(scratch.path().join("gatefold.toml"), config)?;
    let port = calls::free_port()?;
    let scenario = through_gatefold(port, "query", &json!({ "sql": SMALL }).to_string(), EXPECTED);
    let mut command = start::gatefold(root, scratch.path(), &scenario, "serve")?;
    let gatefold = Server::start(&mut command, &scenario).await?;
    let pool = PgPoolOptions::new().max_connections(32).connect_with(reader).await?;
    let plain = PlainQuery { pool: pool.clone(), sql: SMALL, expected: EXPECTED };
    let mut ways = vec![
        Way { name: "sqlx", route: Route::Sql(plain), server: None },
        Way { name: "gatefold", route: Route::Mcp(scenario), server: Some(&gatefold) },
    ];
    let peer = match &options.peer {
        Some(command) => Some(peer(command, &url).await?),
        None => None,
    };
    if let Some((scenario, server)) = &peer {
        let (route, server) = (Route::Mcp(scenario.clone()), Some(server));
        ways.push(Way { name: "dbhub", route, server });
    }
    let mut section = calls::compared(&ways, options).await?;
    section.push_str(&large_and_wide(&pool, port, &gatefold, server).await?);
    say(&section);
    if options.write {
        write_section(&root.join("docs/benchmarks.md"), "sql", &section)?;
    }
    pool.close().await;
    Ok(())
}

/// The large table through the gateway, and the schema with many tables.
async fn large_and_wide(
    pool: &PgPool,
    port: u16,
    gatefold: &Server,
    server: &PgConnectOptions,
) -> Result<String> {
    let before = gatefold.memory()?;
    let scenario =
        through_gatefold(port, "query", &json!({ "sql": LARGE }).to_string(), LARGE_EXPECTED);
    let large = load::run(&scenario, 1, LARGE_TIME).await?;
    let after = gatefold.memory()?;
    let mut owner = PgConnection::connect_with(&server.clone().database(OWN)).await?;
    for first in (0..TABLES).step_by(TABLES_AT_ONCE) {
        let tables = (first..first + TABLES_AT_ONCE).map(|number| {
            format!(
                "CREATE TABLE t{number} (id int PRIMARY KEY, name text NOT NULL, at timestamptz); \
                 GRANT SELECT ON t{number} TO {ROLE};"
            )
        });
        sqlx::raw_sql(AssertSqlSafe(tables.collect::<String>())).execute(&mut owner).await?;
    }
    owner.close().await?;
    // The server reads what is new of its own catalogue once, whoever asks.
    sqlx::query("SELECT count(*) FROM pg_class").execute(pool).await?;
    let refresh = json!({ "refresh": true, "contains": "t4999" }).to_string();
    let mut wide =
        load::Connection::open(&through_gatefold(port, "list_tables", &refresh, "t4999")).await?;
    let started = Instant::now();
    wide.call().await?;
    let read = started.elapsed();
    let rows = [
        vec![
            format!("{LARGE_ROWS} rows, cut at 1,000: {} queries", large.calls()),
            format!("{:.1} ms at the median", large.millis(0.5)),
        ],
        vec!["memory before and after them".to_owned(), format!("{before:.1} and {after:.1} MiB")],
        vec![
            format!("schema of {TABLES} tables read"),
            format!("{:.0} ms", read.as_secs_f64() * 1e3),
        ],
    ];
    Ok(format!("{}\n", markdown(&["through Gatefold", "figure"], &rows)))
}

fn through_gatefold(port: u16, tool: &str, arguments: &str, expected: &'static str) -> Scenario {
    Scenario {
        authority: format!("127.0.0.1:{port}"),
        params: format!(
            r#"{{"name":"execute_tool","arguments":{{"tool_name":"bench__{tool}","arguments":{arguments}}}}}"#
        ),
        expected,
        token: None,
    }
}

async fn peer(command: &str, url: &str) -> Result<(Scenario, Server)> {
    let params = json!({ "name": "execute_sql", "arguments": { "sql": SMALL } });
    let scenario = Scenario {
        authority: format!("127.0.0.1:{}", calls::free_port()?),
        params: params.to_string(),
        expected: EXPECTED,
        token: None,
    };
    let server = calls::serve_peer(command, ("{dsn}", url), &scenario).await?;
    Ok((scenario, server))
}

/// Makes the database, its tables and the role.
async fn fill(server: &PgConnectOptions) -> Result<()> {
    let mut owner = PgConnection::connect_with(server).await?;
    for statement in [format!("CREATE DATABASE {OWN}"), format!("CREATE ROLE {ROLE} LOGIN")] {
        sqlx::query(AssertSqlSafe(statement)).execute(&mut owner).await?;
    }
    owner.close().await?;
    let mut owner = PgConnection::connect_with(&server.clone().database(OWN)).await?;
    let tables = format!(
        "CREATE TABLE people (id int PRIMARY KEY, name text NOT NULL, city text NOT NULL);
         INSERT INTO people SELECT n, 'Ada ' || n, 'Oslo' FROM generate_series(1, 1000) n;
         CREATE TABLE visits (n int PRIMARY KEY, note text NOT NULL);
         INSERT INTO visits SELECT n, 'visit ' || n || ' to the garden' \
         FROM generate_series(1, {LARGE_ROWS}) n;
         GRANT SELECT ON people, visits TO {ROLE};
         ANALYZE;"
    );
    sqlx::raw_sql(AssertSqlSafe(tables)).execute(&mut owner).await?;
    owner.close().await?;
    Ok(())
}

async fn drop_own(server: &PgConnectOptions) -> Result<()> {
    let mut owner = PgConnection::connect_with(server).await?;
    for statement in [
        format!("DROP DATABASE IF EXISTS {OWN} WITH (FORCE)"),
        format!("DROP ROLE IF EXISTS {ROLE}"),
    ] {
        sqlx::query(AssertSqlSafe(statement)).execute(&mut owner).await?;
    }
    owner.close().await?;
    Ok(())
}
