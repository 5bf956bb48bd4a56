//! Every operation, against a state directory or an app.

#![expect(clippy::unwrap_used, reason = "test helpers may fail the test")]

mod app;
mod gateway;
mod models;
mod state;
