//! What must work in each cell, one thing a row.

mod calls;
mod entries;
mod notices;
mod questions;

use futures::future::BoxFuture;

use crate::cell::{Cell, Era};
use crate::client::Client;
use crate::world::World;

type Run = for<'a> fn(&'a mut Client, &'a World) -> BoxFuture<'a, ()>;

#[derive(Clone, Copy)]
pub(crate) struct Row {
    pub(crate) name: &'static str,
    pub(crate) run: Run,
    /// Why some cell's protocol has no such thing.
    pub(crate) absent: fn(Cell) -> Option<&'static str>,
}

const NEVER: fn(Cell) -> Option<&'static str> = |_| None;

/// A client of the handshake era is asked on its connection and gets no state to bring back.
const WITHOUT_STATE: fn(Cell) -> Option<&'static str> = |cell| {
    (cell.client.era == Era::Handshake).then_some("`requestState` came with the stateless era")
};

macro_rules! row {
    ($name:literal, $run:path) => {
        row!($name, $run, NEVER)
    };
    ($name:literal, $run:path, $absent:expr) => {
        Row { name: $name, run: |client, world| Box::pin($run(client, world)), absent: $absent }
    };
}

pub(crate) const ROWS: [Row; 22] = [
    row!("call", calls::call),
    row!("progress", calls::progress),
    row!("log", calls::log),
    row!("meta", calls::meta),
    row!("image", calls::image),
    row!("resource_read", entries::read),
    row!("resource_template", entries::template),
    row!("prompt", entries::prompt),
    row!("prompt_embedding", entries::embedding),
    row!("completion", entries::completion),
    row!("elicit_accept", questions::accepted),
    row!("elicit_decline", questions::declined),
    row!("elicit_timeout", questions::timed_out),
    row!("sample", questions::sampled),
    row!("roots", questions::rooted),
    row!("not_offered", questions::not_offered),
    row!("resource_asks", questions::asking_resource),
    row!("list_change", notices::lists),
    row!("one_list_changes", notices::one_list),
    row!("subscription", notices::resources),
    row!("foreign_state", questions::foreign_state, WITHOUT_STATE),
    // Last, because for a while after it, a stdio server's question about no particular request is
    // put to nobody: it might concern another client.
    row!("cancel", calls::cancel),
];
