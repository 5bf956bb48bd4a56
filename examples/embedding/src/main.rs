//! Serves the example at `http://127.0.0.1:8421/mcp?disclosure=menu`, with the tokens `token-of-ann` and
//! `token-of-bob`:
//!
//!     cargo run -p gatefold-embedding-example -- examples/embedding/gatefold.toml

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Context as _;
use gatefold_embedding_example::{gateway, routes};
use gatefold_mcp::serve_http;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

fn main() -> anyhow::Result<()> {
    // Callers' programs and statements run in processes of this program.
    gatefold::worker::run_if_asked();
    serve()
}

#[tokio::main]
async fn serve() -> anyhow::Result<()> {
    let config = std::env::args_os().nth(1).map(PathBuf::from);
    let config = config.context("name a configuration: examples/embedding/gatefold.toml")?;
    let state_dir = std::env::temp_dir().join("gatefold-embedding-example");
    let app = gateway(&config, &state_dir, Arc::default(), Arc::default()).await?;
    app.keep_learning();
    let stop = CancellationToken::new();
    let stopped = stop.clone().drop_guard();
    tokio::spawn(async move {
        let _stopped = stopped;
        tokio::signal::ctrl_c().await
    });
    let listener = TcpListener::bind("127.0.0.1:8421").await?;
    serve_http(app.server(), listener, app.endpoint()?, routes::routes(), stop).await?;
    app.close().await;
    Ok(())
}
