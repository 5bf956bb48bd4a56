//! The address that a gateway listens on: free, ours already, or somebody else's.

use std::fs;
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use gatefold_egress::{HttpClient, Settings};
use http::Method;
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::time::timeout;

use super::{Finding, Level, QUESTION_DEADLINE, Section};

/// The largest status that is read, in bytes.
const STATUS_BYTES: u64 = 4 * 1024 * 1024;

/// The state of a listening socket, see proc_pid_net(5).
const LISTENING: &str = "0A";

/// The most processes that are looked through for the holder of a port.
const PROCESS_LIMIT: usize = 8192;

/// What is found, and whether a gateway of ours runs there.
pub(super) async fn look(listen: SocketAddr) -> (Vec<Finding>, bool) {
    let found = |level, what: String| Finding::new(Section::Port, level, what).at(listen);
    let Err(error) = TcpListener::bind(listen).await else {
        return (vec![found(Level::Ok, "the port is free".to_owned())], false);
    };
    let finding = match error.kind() {
        io::ErrorKind::AddrInUse => {
            let finding = taken(listen).await;
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
        _ => found(Level::Fault, format!("the address cannot be listened on: {error}"))
            .fix("change `listen` in `[server]`"),
    };
    (vec![finding], false)
}

async fn taken(listen: SocketAddr) -> Finding {
    let found = |level, what: String| Finding::new(Section::Port, level, what).at(listen);
    let ip =
        if listen.ip().is_unspecified() { IpAddr::V4(Ipv4Addr::LOCALHOST) } else { listen.ip() };
    let address = SocketAddr::new(ip, listen.port());
    let status = timeout(QUESTION_DEADLINE, status(address)).await.ok().flatten();
    let Some(status) = status else {
        let holder = holder(listen.port()).map(|who| format!(": {who}")).unwrap_or_default();
        let what = format!("another program listens there{holder}");
        return found(Level::Fault, what)
            .fix("stop it, or choose another port: `listen` in `[server]`");
    };
    let version = status["version"].as_str().unwrap_or_default();
    let process = &status["process"];
    let what = format!("a gateway of version {version} runs there, process {process}");
    if parts(version) < parts(env!("CARGO_PKG_VERSION")) {
        let what = format!("{what}; this program is newer");
        return found(Level::Warning, what)
            .fix(format!("restart it: kill {process}, then gatefold serve"));
    }
    found(Level::Ok, what)
}

async fn status(address: SocketAddr) -> Option<Value> {
    let client = HttpClient::new(&Settings::default()).ok()?;
    let url = format!("http://{address}/status").parse().ok()?;
    let answer = client.send(Method::GET, url, |request| request).await.ok()?;
    let body = gatefold_egress::read_capped(answer, STATUS_BYTES).await.ok()?;
    let status: Value = serde_json::from_slice(&body).ok()?;
    (status["version"].is_string() && status["sources"].is_array()).then_some(status)
}

fn parts(version: &str) -> Vec<u64> {
    version.split(['.', '-', '+']).map_while(|part| part.parse().ok()).collect()
}

/// Who listens on a port, as far as /proc tells this user.
fn holder(port: u16) -> Option<String> {
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
    Some(format!("`{}`, process {id}", name.trim()))
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
    fn versions_compare_by_their_numbers() {
        assert!(parts("0.9.1") < parts("0.10.0") && parts("1.0.0-rc") <= parts("1.0.0"));
    }
}
