//! The last words to a connection that is not served.

use std::io;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::time::timeout;

/// How long a client may take to read them.
const READING: Duration = Duration::from_secs(1);

/// Sends an answer and closes the connection, whatever the client sends.
pub(crate) async fn answer(mut stream: impl AsyncRead + AsyncWrite + Unpin, answer: &str) {
    let told = async {
        stream.write_all(answer.as_bytes()).await?;
        stream.shutdown().await?;
        // Unread data would reset the connection before the client has read the answer.
        let mut rest = [0; 4096];
        while stream.read(&mut rest).await? > 0 {}
        io::Result::Ok(())
    };
    let _ = timeout(READING, told).await;
}
