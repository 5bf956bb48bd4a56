//! One gateway with one server behind it.

use tempfile::TempDir;
use tokio::process::Command;

use crate::cell::{Cell, Face, Wire};
use crate::gateway::{ListeningProcess, gateway_command, home, http_source, stdio_source};

/// How long a question waits for its answer, and a suspended call for its client. Long enough for a
/// busy machine to answer, and short enough to wait for.
pub(crate) const QUESTION_SECONDS: u64 = 2;

pub(crate) struct World {
    pub(crate) cell: Cell,
    home: TempDir,
    state: &'static str,
    gateway: Option<ListeningProcess>,
    _server: Option<ListeningProcess>,
}

impl World {
    pub(crate) async fn start(cell: Cell) -> Self {
        let era = cell.server.era.word();
        let (server, source) = match cell.server.wire {
            Wire::Stdio => (None, stdio_source("reference", era)),
            Wire::Http => {
                let server = ListeningProcess::reference(era).await;
                let source = http_source("reference", &server.url);
                (Some(server), source)
            }
        };
        let limits = format!(
            "[limits]\nquestion = '{QUESTION_SECONDS}s'\nsuspension = '{QUESTION_SECONDS}s'\n"
        );
        let home = home(&format!("{source}{limits}"));
        Self::of(cell, home, "state", server).await
    }

    /// A gateway of its own for the same server, with its own state directory and so its own key.
    pub(crate) async fn stranger(&self) -> Self {
        let config = std::fs::read_to_string(self.home.path().join("gatefold.toml"));
        let home = home(&config.expect("the configuration is there"));
        Self::of(self.cell, home, "other-state", None).await
    }

    async fn of(
        cell: Cell,
        home: TempDir,
        state: &'static str,
        server: Option<ListeningProcess>,
    ) -> Self {
        let gateway = match cell.client.wire {
            Wire::Http => Some(ListeningProcess::gateway(&home, state).await),
            Wire::Stdio => None,
        };
        Self { cell, home, state, gateway, _server: server }
    }

    pub(crate) fn url(&self, face: Face) -> String {
        let url = &self.gateway.as_ref().expect("the client speaks HTTP").url;
        match face {
            Face::Gateway => url.clone(),
            Face::Flat => format!("{url}/source/reference"),
        }
    }

    pub(crate) fn stdio_command(&self, face: Face) -> Command {
        let args = match face {
            Face::Gateway => &["stdio"][..],
            Face::Flat => &["stdio", "--source", "reference"],
        };
        gateway_command(&self.home, self.state, args)
    }
}
