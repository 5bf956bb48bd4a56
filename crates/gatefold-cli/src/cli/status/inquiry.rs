//! Where a gateway's report comes from: its control socket, or the address on which it serves.

use std::io::ErrorKind;
use std::net::SocketAddr;

use gatefold::Environment;
use gatefold::config::load;
use gatefold_http::HTTPS_ONLY;
use gatefold_operations::GetStatus;
use serde_json::Value;

use crate::cli::arguments::SharedOptions;
use crate::cli::control::{self, GatewayIdentity, RunningGateway, START_HELP};
use crate::cli::loopback;

/// Which gateway to ask.
#[derive(Clone, Copy)]
pub(super) struct StatusInquiry<'a> {
    pub(super) shared: &'a SharedOptions,
    pub(super) environment: &'a Environment,
    /// The address on the command line, which is then the only place to look.
    pub(super) listen: Option<SocketAddr>,
}

/// What a gateway reports, or why none does.
pub(super) struct ReportedStatus {
    /// Where it serves MCP over HTTP, or where we looked; None for a gateway over stdio.
    pub(super) url: Option<String>,
    pub(super) running: Result<Value, StatusUnavailable>,
    /// Who reported, if it answered on the control socket.
    pub(super) gateway: Option<RunningGateway>,
    /// The other gateways on the same state directory.
    pub(super) others: Vec<GatewayIdentity>,
    /// Gateways that do not answer.
    pub(super) silent: Vec<String>,
}

/// Why no gateway reports its status.
#[derive(Debug)]
pub(in crate::cli) struct StatusUnavailable {
    pub(in crate::cli) why: String,
    pub(in crate::cli) help: Option<&'static str>,
    /// Whether a gateway runs there that speaks HTTPS, which commands do not.
    pub(in crate::cli) is_secured: bool,
}

impl StatusUnavailable {
    pub(super) fn new(why: impl Into<String>, help: Option<&'static str>) -> Self {
        Self { why: why.into(), help, is_secured: false }
    }
}

impl StatusInquiry<'_> {
    /// Asks the gateway of the state directory. If none answers, one may still serve on the
    /// configured address, for example another user's or one in a container.
    pub(super) async fn ask(self) -> anyhow::Result<ReportedStatus> {
        if let Some(listen) = self.listen {
            return Ok(over_http(listen).await);
        }
        let located = control::locate(self.shared, self.environment).await?;
        let silent = located.silent.clone();
        let Some((gateway, others)) = located.into_first() else {
            return Ok(self.elsewhere(silent).await);
        };
        let status = gateway.ask_as(&GetStatus).await;
        let running = status.map_err(|error| {
            StatusUnavailable::new(error.to_string(), Some("see `gatefold doctor`"))
        });
        let url = gateway.identity.url.clone();
        Ok(ReportedStatus { url, running, gateway: Some(gateway), others, silent })
    }

    async fn elsewhere(self, silent: Vec<String>) -> ReportedStatus {
        let inputs = self.shared.inputs().located(self.environment);
        let config = inputs.and_then(|inputs| load(&inputs, self.environment)).unwrap_or_default();
        let mut reported = over_http(config.server.listen).await;
        if let Err(unavailable) = &mut reported.running
            && unavailable.help.is_none()
        {
            unavailable.help = Some(START_HELP);
            unavailable.why += ", nor on this state directory";
        }
        ReportedStatus { silent, ..reported }
    }
}

async fn over_http(listen: SocketAddr) -> ReportedStatus {
    let address = loopback::reachable(listen);
    let running = ask(address).await;
    let is_secured = running.as_ref().is_err_and(|unavailable| unavailable.is_secured);
    ReportedStatus {
        url: Some(loopback::mcp_url(address, is_secured)),
        running,
        gateway: None,
        others: Vec::new(),
        silent: Vec::new(),
    }
}

/// The report of the gateway that serves on an address, or why there is none.
async fn ask(address: SocketAddr) -> Result<Value, StatusUnavailable> {
    let status = sign_of_life(address).await?;
    if status["sources"].is_array() {
        return Ok(status);
    }
    let why = format!(
        "the gateway on {address}, process {}, requires tokens, and says no more there",
        status["process"]
    );
    Err(StatusUnavailable::new(why, Some(ASK_ITS_SOCKET)))
}

/// Where a gateway says more than over HTTP.
const ASK_ITS_SOCKET: &str = "ask without `--listen`, with the gateway's state directory";

/// What a gateway tells anybody who asks: at least its version and its process.
pub(in crate::cli) async fn sign_of_life(address: SocketAddr) -> Result<Value, StatusUnavailable> {
    let of_another = |why| StatusUnavailable::new(why, Some("see `gatefold doctor`"));
    let answer = loopback::get(address, "/status").await.map_err(|error| match error.kind() {
        ErrorKind::ConnectionRefused => {
            StatusUnavailable::new(format!("no gateway runs on {address}"), None)
        }
        ErrorKind::TimedOut => {
            of_another(format!("something listens on {address} but does not answer"))
        }
        _ => of_another(format!("the listener on {address} gave no answer: {error}")),
    })?;
    if answer.status == 400 && answer.body == HTTPS_ONLY {
        let why = format!("the gateway on {address} speaks HTTPS, which this command does not");
        let help = Some(ASK_ITS_SOCKET);
        return Err(StatusUnavailable { is_secured: true, ..StatusUnavailable::new(why, help) });
    }
    let status = serde_json::from_str::<Value>(&answer.body).ok();
    let is_ours = |status: &Value| {
        let is_full = status["sources"].is_array();
        answer.status == 200 && (is_full || status["authentication"].is_string())
    };
    status.filter(is_ours).ok_or_else(|| {
        of_another(format!(
            "the listener on {address} reports no status: it is another program, or a gateway that \
             is reachable from other machines"
        ))
    })
}
