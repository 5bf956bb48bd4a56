//! Everything that the protocol offers, from each kind of client through a real gateway to each
//! kind of server: two eras and two transports on either side.
//!
//! The binary runs itself again as the reference server. At its end it prints which combinations
//! worked.

mod cell;
mod client;
mod gateway;
mod rows;
mod table;
mod world;

use std::collections::HashMap;
use std::panic::AssertUnwindSafe;
use std::process::ExitCode;
use std::sync::{Arc, OnceLock};

use futures::FutureExt as _;
use futures::future::join_all;
use libtest_mimic::{Arguments, Failed, Trial};
use tokio::sync::Semaphore;

use crate::cell::{Cell, Face, Wire};
use crate::client::{Client, EVERYTHING};
use crate::rows::{ROWS, Row};
use crate::world::World;

/// Cells that are tried at once. More than the number of cores: they mostly wait for others.
const CELLS_AT_ONCE: usize = 6;

/// The results of the rows, by their trials' names.
type Results = HashMap<String, Result<(), String>>;

fn main() -> ExitCode {
    if let Some(code) = gatefold_testkit::reference::run_if_asked() {
        return code;
    }
    let args = Arguments::from_args();
    let results = Arc::<OnceLock<Results>>::default();
    let names = Arc::<OnceLock<Vec<String>>>::default();
    let trials: Vec<_> = Cell::all()
        .into_iter()
        .flat_map(|cell| ROWS.map(move |row| (cell, row)))
        .filter(|(cell, row)| (row.absent)(*cell).is_none())
        .map(|(cell, row)| trial(name(cell, &row), results.clone(), names.clone()))
        .collect();
    let wanted = trials.iter().filter(|trial| is_wanted(&args, trial.name()));
    names.get_or_init(|| wanted.map(|trial| trial.name().to_owned()).collect());
    let conclusion = libtest_mimic::run(&args, trials);
    if let Some(results) = results.get() {
        table::print(results);
    }
    conclusion.exit_code()
}

fn name(cell: Cell, row: &Row) -> String {
    format!("{}::{cell}", row.name)
}

/// Whether the runner will start a trial, by the runner's own rule.
fn is_wanted(args: &Arguments, name: &str) -> bool {
    let fits =
        |filter: &String| if args.exact { name == filter } else { name.contains(filter.as_str()) };
    args.filter.as_ref().is_none_or(fits) && !args.skip.iter().any(fits)
}

/// One row in one cell. The first trial that starts runs all rows of all cells, because a cell's
/// gateway is expensive and its rows share it.
fn trial(
    name: String,
    results: Arc<OnceLock<Results>>,
    names: Arc<OnceLock<Vec<String>>>,
) -> Trial {
    Trial::test(name.clone(), move || {
        let names = names.get().map(Vec::as_slice).unwrap_or_default();
        let results = results.get_or_init(|| try_all(names));
        match results.get(&name) {
            Some(result) => result.clone().map_err(Failed::from),
            None => Err("it was not tried".into()),
        }
    })
}

fn try_all(names: &[String]) -> Results {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let runtime = runtime.expect("a runtime can be made");
    let places = Semaphore::new(CELLS_AT_ONCE);
    let cells = Cell::all().into_iter().map(async |cell| {
        let _place = places.acquire().await;
        let rows = ROWS.iter().filter(|row| names.contains(&name(cell, row)));
        try_cell(cell, rows.collect()).await
    });
    runtime.block_on(join_all(cells)).into_iter().flatten().collect()
}

/// Runs these rows in one cell, one after another.
async fn try_cell(cell: Cell, rows: Vec<&Row>) -> Vec<(String, Result<(), String>)> {
    if rows.is_empty() {
        return Vec::new();
    }
    let mut seats = match AssertUnwindSafe(seats(cell)).catch_unwind().await {
        Ok(seats) => seats,
        Err(panic) => {
            let text = said_in(&*panic);
            return rows.iter().map(|row| (name(cell, row), Err(text.clone()))).collect();
        }
    };
    let mut results = Vec::new();
    for row in rows {
        let mut result = Ok(());
        for (client, world) in &mut seats {
            let face = client.face;
            if let Err(text) = try_row(row, client, world).await {
                result = Err(format!("{face:?}: {text}"));
                // After a failure, a fresh client: the old one may be in the middle of something.
                let again = AssertUnwindSafe(connected(world, face)).catch_unwind().await;
                if let Ok(again) = again {
                    *client = again;
                }
            }
        }
        results.push((name(cell, row), result));
    }
    results
}

/// A client for each face. A gateway on stdio has only one client, which hears of all changes, so
/// there each face has a server of its own too.
async fn seats(cell: Cell) -> Vec<(Client, Arc<World>)> {
    let mut world = Arc::new(World::start(cell).await);
    let mut seats = Vec::new();
    for face in Face::BOTH {
        if cell.client.wire == Wire::Stdio && !seats.is_empty() {
            world = Arc::new(World::start(cell).await);
        }
        seats.push((connected(&world, face).await, world.clone()));
    }
    seats
}

async fn connected(world: &World, face: Face) -> Client {
    let mut client = Client::connect(world, face, EVERYTHING).await;
    client.await_source().await;
    client
}

async fn try_row(row: &Row, client: &mut Client, world: &World) -> Result<(), String> {
    let tried = AssertUnwindSafe((row.run)(client, world)).catch_unwind();
    tried.await.map_err(|panic| said_in(&*panic))
}

/// The message of a panic.
fn said_in(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("it panicked").to_owned()
}
