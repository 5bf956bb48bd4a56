//! Gatefold put together: configuration in, a running gateway out.
//!
//! [`config`] reads files into types that cannot be wrong, and [`build`] makes a running [`App`]
//! of them. The binary is a thin shell over this crate; embedding Gatefold starts here too:
//! [`App::builder`] takes an authenticator, an approvals backend, credentials and disclosures, and
//! [`config::Inputs::kinds`] takes kinds of sources. `examples/embedding` has one of each.
//! It must not know the protocol library or SQL: those stay in `gatefold-mcp` and
//! `gatefold-store`. Nor does it know the command line, a keyring or a tokenizer: secrets come
//! from a [`secrets::SecretStore`] and exact counts from a [`TokenCounter`], both handed in. Only
//! [`Environment`] reads the process's environment.

mod app;
#[cfg(feature = "knowledge")]
mod bases;
pub mod config;
mod documents;
mod encoder;
mod environment;
pub mod files;
mod model_clients;
mod models;
mod redirect;
pub mod secrets;
mod texts;
pub mod worker;

pub use app::{
    App, AppBuilder, AppError, AwaitedOfClients, BeginRunError, BegunRun, ConfigWatch,
    ConnectObserver, ConnectOutcome, CountError, IssuerFault, LIVE_RUNS, LIVE_RUNS_OF_ONE, LiveRun,
    NewAgentRun, NoSurfaceError, OpenAddress, RUN_CRASHES, ReloadReport, RunConversation, RunHost,
    RunLife, RunOrigin, RunPiece, RunPosition, RunReport, SeenFiles, ShownTo, SignInFault,
    SourceAccounts, Status, TakeUpError, TlsError, TlsWarning, TokenCosts, TokenCounter,
    WatchError, build, cancel_run, container_leftovers, examine_issuers, examine_tls,
    owner_of_runs, status_routes,
};
#[cfg(feature = "knowledge")]
pub use bases::{BaseFindings, ConfiguredBase, UnreadFiles, configured_bases, unnamed_bases};
pub use documents::{DocumentError, ReadDocument};
pub use encoder::EncoderTier;
pub use environment::Environment;
pub use gatefold_store::{RunClaim, RunTenure};
pub use model_clients::ModelClients;
pub use models::{ModelChoiceError, agent_model, model_client};
pub use redirect::RedirectListener;
pub use texts::{TextsError, read_texts, texts_file};
