//! A root key that a program prints, such as that of a password manager.

use std::fmt;
use std::process::Stdio;
use std::time::Duration;

use gatefold_core::Secret;
use tokio::io::AsyncReadExt as _;
use tokio::process::Command;
use tokio::time::timeout;

/// How long the program may take. It may ask its user something.
const DEADLINE: Duration = Duration::from_secs(60);

/// The most that it may print, in bytes.
const OUTPUT_BYTES: u64 = 4096;

/// The shortest text that is taken for a root key, in bytes.
pub const ROOT_KEY_BYTES: usize = 32;

/// A program that prints a root key, and its arguments, which may be secret.
#[derive(Clone, PartialEq, Eq)]
pub struct KeyCommand {
    pub program: String,
    pub args: Vec<String>,
}

impl fmt::Debug for KeyCommand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeyCommand").field("program", &self.program).finish_non_exhaustive()
    }
}

impl KeyCommand {
    /// Runs the program, in our surroundings and with our standard error. An error is the reason why
    /// it gave no key.
    pub(super) async fn run(&self) -> Result<Secret, String> {
        let printed = timeout(DEADLINE, self.printed()).await;
        let late = || Err(format!("it took more than {} s", DEADLINE.as_secs()));
        printed.unwrap_or_else(|_| late())
    }

    async fn printed(&self) -> Result<Secret, String> {
        let mut child = Command::new(&self.program)
            .args(&self.args)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .map_err(|error| format!("it could not be started: {error}"))?;
        let mut text = String::new();
        let stdout = child.stdout.take().expect("its output is piped");
        let read = stdout.take(OUTPUT_BYTES + 1).read_to_string(&mut text).await;
        let read = read.map_err(|_| "it printed something else than text".to_owned())?;
        if u64::try_from(read).is_ok_and(|read| read > OUTPUT_BYTES) {
            return Err(format!("it printed more than {OUTPUT_BYTES} bytes"));
        }
        let status = child.wait().await.map_err(|error| error.to_string())?;
        if !status.success() {
            return Err(format!("it ended with {status}"));
        }
        let key = text.trim_end_matches(['\r', '\n']);
        if key.len() < ROOT_KEY_BYTES {
            return Err(format!("it printed less than {ROOT_KEY_BYTES} characters"));
        }
        Ok(Secret::new(key))
    }
}
