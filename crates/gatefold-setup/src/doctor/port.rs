//! The address that a gateway listens on: free, already ours, or somebody else's.

use std::fmt;
use std::fs;
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::Path;

use gatefold_egress::{Egress, HttpRequest, Reach, Redirects, Settings};
use http::Method;
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::time::{Instant, timeout};

use super::{Finding, Level, QUESTION_DEADLINE, Section, ServingGateway};

/// The largest status that is read, in bytes.
const STATUS_BYTES: u64 = 4 * 1024 * 1024;

/// The state of a listening socket, see proc_pid_net(5).
const LISTENING: &str = "0A";

/// How to restart a gateway without having a service manager start a second one.
const RESTART: &str = "a service through its manager, any other where it runs";

/// The most processes to search for the holder of a port.
const PROCESS_LIMIT: usize = 8192;

/// The findings about the port, and whether a gateway of ours runs there. `running` may serve on
/// another address.
pub(super) async fn look(
    listen: SocketAddr,
    running: Option<&ServingGateway>,
) -> (Vec<Finding>, bool) {
    let (mut findings, is_ours) = look_at(listen, running).await;
    findings.extend(running.and_then(|gateway| elsewhere(listen, gateway)));
    (findings, is_ours)
}

/// A gateway that does not listen where the configuration says, for example because that was
/// changed.
fn elsewhere(listen: SocketAddr, running: &ServingGateway) -> Option<Finding> {
    let ServingGateway { version, process, address } = running;
    if *address == reachable(listen) {
        return None;
    }
    let what = format!(
        "a gateway of version {version} is running there, process {process}; `listen` in `[server]` \
         is `{listen}`"
    );
    let fix = format!("if it should listen there, restart it the way it was started: {RESTART}");
    Some(Finding::new(Section::Port, Level::Note, what).at(address).fix(fix))
}

async fn look_at(listen: SocketAddr, running: Option<&ServingGateway>) -> (Vec<Finding>, bool) {
    let found = |level, what: String| Finding::new(Section::Port, level, what).at(listen);
    let Err(error) = TcpListener::bind(listen).await else {
        return (vec![found(Level::Ok, "the port is free".to_owned())], false);
    };
    let finding = match error.kind() {
        io::ErrorKind::AddrInUse => {
            let finding = taken(listen, running).await;
            let is_ours = finding.level < Level::Fault;
            return (vec![finding], is_ours);
        }
        io::ErrorKind::PermissionDenied => {
            let what = "this user may not listen on that port".to_owned();
            found(Level::Fault, what).fix("choose a port above 1023: `listen` in `[server]`")
        }
        io::ErrorKind::AddrNotAvailable => {
            let what = "this machine does not have that address".to_owned();
            found(Level::Fault, what).fix("write `listen = \"127.0.0.1:8420\"` in `[server]`")
        }
        _ => found(Level::Fault, format!("cannot listen on the address: {error}"))
            .fix("change `listen` in `[server]`"),
    };
    (vec![finding], false)
}

async fn taken(listen: SocketAddr, running: Option<&ServingGateway>) -> Finding {
    // One that speaks HTTPS gives no status over HTTP, but has said so over its own socket.
    if let Some(running) = running.filter(|running| running.address == reachable(listen)) {
        return found_running(listen, &running.version, running.process);
    }
    let status = timeout(QUESTION_DEADLINE, status(reachable(listen))).await.ok().flatten();
    match status {
        Some(status) => {
            let version = status["version"].as_str().unwrap_or_default();
            found_running(listen, version, &status["process"])
        }
        None => silent(listen, holder(listen.port()).as_ref()),
    }
}

fn found_running(listen: SocketAddr, version: &str, process: impl fmt::Display) -> Finding {
    let found = |level, what: String| Finding::new(Section::Port, level, what).at(listen);
    let what = format!("a gateway of version {version} is running there, process {process}");
    if parts(version) < parts(env!("CARGO_PKG_VERSION")) {
        let what = format!("{what}; this program is newer");
        return found(Level::Warning, what)
            .fix(format!("restart process {process} the way it was started: {RESTART}"));
    }
    found(Level::Ok, what)
}

/// Judges a listener that gives no status. A gateway that other machines can reach gives none
/// either.
fn silent(listen: SocketAddr, holder: Option<&PortHolder>) -> Finding {
    let found = |level, what: String| Finding::new(Section::Port, level, what).at(listen);
    let is_local = listen.ip().is_loopback();
    match holder {
        Some(PortHolder { id, is_gatefold: true, .. }) if is_local => {
            let what = format!("a Gatefold listens there, process {id}, but reports no status");
            let fix =
                format!("if it does not answer, restart it the way it was started: {RESTART}");
            found(Level::Warning, what).fix(fix)
        }
        Some(PortHolder { id, is_gatefold: true, .. }) => {
            let what = format!(
                "a Gatefold listens there, process {id}; it gives no status on an address that \
                 others can reach"
            );
            found(Level::Ok, what)
        }
        None if !is_local => {
            let port = listen.port();
            let what = "a program listens there, which may be a Gatefold: on an address that \
                        others can reach it gives no status";
            found(Level::Note, what.to_owned())
                .fix(format!("see which it is: sudo lsof -iTCP:{port} -sTCP:LISTEN"))
        }
        holder => {
            let who = holder.map(|it| format!(": `{}`, process {}", it.name, it.id));
            let what = format!("another program listens there{}", who.unwrap_or_default());
            found(Level::Fault, what).fix("stop it, or choose another port: `listen` in `[server]`")
        }
    }
}

/// The address at which this machine reaches a listener.
fn reachable(listen: SocketAddr) -> SocketAddr {
    let ip =
        if listen.ip().is_unspecified() { IpAddr::V4(Ipv4Addr::LOCALHOST) } else { listen.ip() };
    SocketAddr::new(ip, listen.port())
}

async fn status(address: SocketAddr) -> Option<Value> {
    let client = Egress::new(Settings::default()).ok()?.client_for(Reach::any());
    let url = format!("http://{address}/status").parse().ok()?;
    let request = HttpRequest::new(Method::GET, url).redirects(Redirects::None);
    let answer = client.send(request, Instant::now() + QUESTION_DEADLINE).await.ok()?;
    let body = answer.read_capped(STATUS_BYTES).await.ok()?;
    let status: Value = serde_json::from_slice(&body).ok()?;
    let is_ours = status["sources"].is_array() || status["authentication"].is_string();
    (status["version"].is_string() && is_ours).then_some(status)
}

fn parts(version: &str) -> Vec<u64> {
    version.split(['.', '-', '+']).map_while(|part| part.parse().ok()).collect()
}

/// A process that listens.
struct PortHolder {
    id: u32,
    name: String,
    is_gatefold: bool,
}

/// The process that listens on a port, if /proc shows it to this user.
fn holder(port: u16) -> Option<PortHolder> {
    let tables = ["/proc/net/tcp", "/proc/net/tcp6"].map(fs::read_to_string);
    let inode = tables.iter().flatten().find_map(|table| inode_of(table, port))?;
    let socket = format!("socket:[{inode}]");
    let processes = fs::read_dir("/proc").ok()?.flatten().take(PROCESS_LIMIT);
    let ids = processes.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let holds = |id: &u32| {
        let open = fs::read_dir(format!("/proc/{id}/fd")).into_iter().flatten().flatten();
        open.filter_map(|entry| fs::read_link(entry.path()).ok())
            .any(|target| target.as_os_str() == socket.as_str())
    };
    let id = ids.into_iter().find(holds)?;
    let name = fs::read_to_string(format!("/proc/{id}/comm")).ok()?;
    let program = fs::read_link(format!("/proc/{id}/exe"));
    let is_gatefold = program.is_ok_and(|program| is_gatefold(&program));
    Some(PortHolder { id, name: name.trim().to_owned(), is_gatefold })
}

/// Whether a process's program is Gatefold, even if replaced since, see proc_pid_exe(5).
fn is_gatefold(program: &Path) -> bool {
    let name = program.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    name.strip_suffix(" (deleted)").unwrap_or(name) == "gatefold"
}

/// The inode of the socket that listens on a port.
fn inode_of(table: &str, port: u16) -> Option<&str> {
    table.lines().skip(1).find_map(|line| {
        let fields: Vec<_> = line.split_whitespace().collect();
        let (_, hex) = fields.get(1)?.rsplit_once(':')?;
        let listens = fields.get(3) == Some(&LISTENING);
        (listens && u16::from_str_radix(hex, 16) == Ok(port)).then(|| fields.get(9).copied())?
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_listening_socket_is_found_by_its_port() {
        let table = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n\
                     \x20  0: 0100007F:20E4 00000000:0000 01 00000000:00000000 00:00000000 00000000  0 0 11 1\n\
                     \x20  1: 0100007F:20E4 00000000:0000 0A 00000000:00000000 00:00000000 00000000  0 0 42 1\n";
        assert_eq!(inode_of(table, 8420), Some("42"));
        assert_eq!(inode_of(table, 8421), None);
    }

    #[test]
    fn only_what_is_surely_not_a_gateway_is_a_fault_where_gateways_give_no_status() {
        let holder = |is_gatefold| PortHolder { id: 7, name: "x".to_owned(), is_gatefold };
        for (listen, holder, expected) in [
            ("0.0.0.0:8420", Some(holder(true)), Level::Ok),
            ("0.0.0.0:8420", None, Level::Note),
            ("0.0.0.0:8420", Some(holder(false)), Level::Fault),
            ("127.0.0.1:8420", Some(holder(true)), Level::Warning),
            ("127.0.0.1:8420", None, Level::Fault),
        ] {
            let finding = silent(listen.parse().unwrap(), holder.as_ref());
            assert_eq!(finding.level, expected, "{listen} {}", finding.what);
            assert_eq!(finding.fix.is_none(), expected == Level::Ok);
        }
    }

    #[test]
    fn a_gatefold_that_was_replaced_is_one_still() {
        assert!(is_gatefold(Path::new("/usr/bin/gatefold (deleted)")));
        assert!(!is_gatefold(Path::new("/usr/bin/gatefold-mock")));
    }

    #[test]
    fn versions_compare_by_their_numbers() {
        assert!(parts("0.9.1") < parts("0.10.0") && parts("1.0.0-rc") <= parts("1.0.0"));
    }
}
