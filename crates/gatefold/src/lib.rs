//! Gatefold put together: configuration in, a running gateway out.
//!
//! [`config`] reads files into types that cannot be wrong, and [`build`] makes a running [`App`]
//! of them. The binary is a thin shell over this crate; whoever embeds Gatefold starts here too.
//! It must not know the protocol library or SQL: those stay in `gatefold-mcp` and
//! `gatefold-store`. Only [`Environment`] reads the process's environment.

mod app;
pub mod config;
pub mod doctor;
mod encoder;
mod environment;
mod files;
pub mod programs;
pub mod secrets;
pub mod setup;
pub mod shell;

pub use app::{
    App, AppError, ConfigWatch, Connected, Connecting, Reloaded, Status, TokenCosts, WatchError,
    build, status_routes,
};
pub use encoder::EncoderTier;
pub use environment::Environment;
