//! What the system reports about a process.

/// The resident memory of a process, see proc_pid_status(5). Linux only.
pub(crate) fn resident_kib(process: u64) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.split_whitespace().next()?.parse().ok()
}

pub(crate) fn shown(resident_kib: Option<u64>) -> String {
    match resident_kib {
        Some(kib) => format!("{} MiB resident", kib / 1024),
        None => "unknown memory (only Linux tells)".to_owned(),
    }
}

/// Established connections to a port of this machine, see proc_net_tcp(5); none where that is
/// unknown.
pub(crate) fn connections_to(port: u16) -> u64 {
    const ESTABLISHED: &str = "01";
    let table = std::fs::read_to_string("/proc/net/tcp").unwrap_or_default();
    let is_one = |line: &&str| {
        let mut fields = line.split_whitespace().skip(2);
        let (remote, state) = (fields.next(), fields.next());
        let remote_port = remote.and_then(|remote| remote.split_once(':')).map(|(_, port)| port);
        remote_port == Some(&format!("{port:04X}")) && state == Some(ESTABLISHED)
    };
    table.lines().filter(is_one).count() as u64
}

/// The children of a process, see proc_pid_stat(5); none where that is unknown.
pub(crate) fn children_of(process: u64) -> Vec<u64> {
    let parent = |stat: &str| {
        let fields = stat.rsplit_once(") ")?.1;
        fields.split(' ').nth(1)?.parse::<u64>().ok()
    };
    let Ok(processes) = std::fs::read_dir("/proc") else { return Vec::new() };
    let ids = processes.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<u64>().ok());
    let is_child = |id: &u64| {
        let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
        parent(&stat) == Some(process)
    };
    ids.filter(is_child).collect()
}
