//! Runs statements of a public suite as a model's, and compares their rows with a direct run.
//!
//!     cargo run -p gatefold-sql --example replay -- ADDRESS STATEMENTS.json
//!
//! The file is an array of texts. `tests/interop/text2sql.sh` makes such files and their databases.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a chore talks to whoever runs it")]

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::time::Duration;

use gatefold_sql::{
    Database, DatabaseAddress, DatabaseError, DatabaseSettings, Guard, QueryRows, ReadQuery,
    TableRules, VisibleSchema,
};
use gatefold_worker::WorkerPool;

const TIMEOUT: Duration = Duration::from_secs(30);

const MAX_ROWS: usize = 100_000;

const MAX_BYTES: usize = 64 << 20;

/// What became of the statements.
#[derive(Default)]
struct ReplayReport {
    allowed: usize,
    same: usize,
    /// The database does not take them as they are either.
    broken: usize,
    /// By the reason.
    refused: BTreeMap<String, usize>,
    other: Vec<String>,
}

#[tokio::main]
async fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let [address, file] = &arguments[..] else {
        eprintln!("usage: replay ADDRESS STATEMENTS.json");
        return ExitCode::from(2);
    };
    match replay(address, file).await {
        Ok(report) => {
            let refused: usize = report.refused.values().sum();
            let ReplayReport { allowed, same, broken, .. } = &report;
            println!(
                "{} statements: {broken} the database itself refuses, {refused} are refused here, \
                 {allowed} run, {same} of them with the rows of a direct run",
                allowed + broken + refused
            );
            for (reason, count) in &report.refused {
                println!("  refused {count}: {reason}");
            }
            for other in &report.other {
                println!("  other: {other}");
            }
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

async fn replay(address: &str, file: &str) -> Result<ReplayReport, Box<dyn std::error::Error>> {
    let statements: Vec<String> = serde_json::from_str(&std::fs::read_to_string(file)?)?;
    let mut settings = DatabaseSettings::new(DatabaseAddress::parse(address)?);
    // It is a scratch database, and often its owner's address.
    settings.privileged_role = true;
    let database = gatefold_sql::open(&settings, &WorkerPool::absent())?;
    let schema = database.read_schema().await?;
    let visible = VisibleSchema::new(database.dialect(), &schema, &TableRules::default());
    let mut report = ReplayReport::default();
    for sql in statements {
        let checked = Guard::new(&visible).check(&sql);
        let direct = run(&*database, &sql).await;
        match (checked, direct) {
            (_, Err(error @ (DatabaseError::Statement { .. } | DatabaseError::Timeout(_)))) => {
                report.broken += 1;
                tracing_line(&sql, &error);
            }
            (_, Err(error)) => return Err(error.into()),
            (Err(reason), Ok(_)) => {
                eprintln!("refused: {sql}\n    {reason}");
                *report.refused.entry(reason.to_string()).or_default() += 1;
            }
            (Ok(checked), Ok(direct)) => {
                report.allowed += 1;
                match run(&*database, &checked.sql).await {
                    Ok(through)
                        if sorted(&through, checked.has_order)
                            == sorted(&direct, checked.has_order) =>
                    {
                        report.same += 1;
                    }
                    Ok(_) => report.other.push(sql),
                    Err(error) => report.other.push(format!("{sql}: {error}")),
                }
            }
        }
    }
    database.close().await;
    Ok(report)
}

fn tracing_line(sql: &str, error: &DatabaseError) {
    eprintln!("the database refuses: {sql}\n    {error}");
}

async fn run(database: &dyn Database, sql: &str) -> Result<QueryRows, DatabaseError> {
    let query = ReadQuery {
        sql: sql.to_owned(),
        masked: Vec::new(),
        max_rows: MAX_ROWS,
        max_bytes: MAX_BYTES,
        timeout: TIMEOUT,
    };
    database.query(query).await
}

/// Rows as texts, in their order only where the statement has one: else it is any.
fn sorted(rows: &QueryRows, has_order: bool) -> Vec<String> {
    let mut rows: Vec<_> = rows.rows.iter().map(|row| format!("{row:?}")).collect();
    if !has_order {
        rows.sort();
    }
    rows
}
