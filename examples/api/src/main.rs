//! Serves the library on `127.0.0.1:8431`:
//!
//!     cargo run -p gatefold-api-example

use tokio::net::TcpListener;

#[tokio::main]
#[expect(clippy::print_stdout, reason = "it says where it listens")]
async fn main() -> std::io::Result<()> {
    let listener = TcpListener::bind("127.0.0.1:8431").await?;
    println!("the library listens on http://127.0.0.1:8431");
    axum::serve(listener, gatefold_api_example::library()).await
}
