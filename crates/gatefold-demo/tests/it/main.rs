//! Every tool's behaviour, through the same calls that a client makes.

#[macro_use]
mod claims;

mod calendar;
mod contacts;
mod files;
mod issues;
mod tables;
mod text;
mod units;
mod wire;
