//! The state directory: whether it can be used, by whom, and whether the database is whole.

use std::fs;
use std::io;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::{Access, access, statvfs};
use tokio::time::timeout;

use super::{Finding, Level, Section};
use crate::shell;

/// How long the check of the database may take. A large one takes seconds.
const DATABASE_DEADLINE: Duration = Duration::from_secs(8);

/// What housekeeping and the log of a busy gateway need, in bytes.
const SPACE_FLOOR: u64 = 256 * 1024 * 1024;

pub(super) async fn look(state_dir: Option<&Path>) -> Vec<Finding> {
    let Some(directory) = state_dir else {
        let what = "there is no place for state: `HOME` is not set";
        let finding = Finding::new(Section::State, Level::Fault, what);
        return vec![finding.fix("give one: --state-dir DIR")];
    };
    let mut findings = directory_findings(directory);
    if findings.iter().all(|finding| finding.level < Level::Fault) && directory.is_dir() {
        findings.extend(database(directory).await);
    }
    findings.extend(gatefold::container_leftovers(directory).into_iter().map(|command| {
        let what = "a gateway that was killed may have left a container behind".to_owned();
        let fix = format!("start a gateway, which ends it, or: {command}");
        Finding::new(Section::State, Level::Warning, what).fix(fix)
    }));
    findings
}

fn directory_findings(directory: &Path) -> Vec<Finding> {
    let (shown, named) = (directory.display().to_string(), shell::quoted(directory));
    let found = |level, what: String| Finding::new(Section::State, level, what).at(&shown);
    let metadata = match fs::metadata(directory) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return vec![absent(directory)],
        Err(error) => {
            let what = format!("the directory cannot be read: {}", error.kind());
            return vec![found(Level::Fault, what).fix("choose another: --state-dir DIR")];
        }
    };
    if !metadata.is_dir() {
        let what = "this is not a directory".to_owned();
        return vec![
            found(Level::Fault, what).fix("move it away, or choose another: --state-dir DIR"),
        ];
    }
    let mut findings = Vec::new();
    let (owner, user) = (metadata.uid(), rustix::process::geteuid().as_raw());
    if owner != user {
        let what = format!("the directory belongs to another user ({owner}, not {user})");
        findings.push(found(Level::Warning, what).fix(format!("sudo chown -R {user} {named}")));
    }
    let mode = metadata.permissions().mode() & 0o777;
    if access(directory, Access::WRITE_OK | Access::EXEC_OK).is_err() || mode & 0o300 != 0o300 {
        let what = format!("the directory is not writable ({mode:o})");
        findings.push(found(Level::Fault, what).fix(format!("chmod 700 {named}")));
    } else if mode & 0o077 != 0 {
        let what = format!("others can read the directory ({mode:o})");
        findings.push(found(Level::Warning, what).fix(format!("chmod 700 {named}")));
    } else {
        findings.push(found(Level::Ok, "the directory is writable and private".to_owned()));
    }
    findings.extend(space(directory));
    findings
}

/// A directory that the first start creates, if it can.
fn absent(directory: &Path) -> Finding {
    let parent = directory.ancestors().skip(1).find(|parent| parent.exists());
    let found =
        |level, what: String| Finding::new(Section::State, level, what).at(directory.display());
    match parent {
        Some(parent) if access(parent, Access::WRITE_OK).is_ok() && parent.is_dir() => {
            found(Level::Ok, "the directory will be created at the first start".to_owned())
        }
        _ => found(Level::Fault, "the directory does not exist and cannot be created".to_owned())
            .fix("choose another: --state-dir DIR"),
    }
}

fn space(directory: &Path) -> Option<Finding> {
    let disk = statvfs(directory).ok()?;
    let free = disk.f_bavail.saturating_mul(disk.f_frsize);
    let what = format!("{} MiB of disk space are left", free / (1024 * 1024));
    Some(if free < SPACE_FLOOR {
        let finding = Finding::new(Section::State, Level::Warning, what).at(directory.display());
        finding.fix("free some; records of calls are refused when there is none")
    } else {
        Finding::ok(Section::State, what)
    })
}

async fn database(directory: &Path) -> Vec<Finding> {
    let found = |level, what: String| Finding::new(Section::State, level, what);
    let path = directory.join("gatefold.db");
    let health = match timeout(DATABASE_DEADLINE, gatefold_store::examine(directory)).await {
        Ok(Ok(health)) => health,
        Ok(Err(error)) => {
            let text = error.to_string();
            let (what, fix) = text.split_once("; ").unwrap_or((&text, "see the message"));
            let fix = match error.kind() {
                "damaged" | "misplaced" => moved_aside(error.path().unwrap_or(&path), &path),
                _ => fix.to_owned(),
            };
            let place = error.path().unwrap_or(&path).display();
            return vec![found(Level::Fault, what.to_owned()).at(place).fix(fix)];
        }
        Err(_) => {
            let limit = DATABASE_DEADLINE.as_secs();
            let what =
                format!("the database is so large that {limit} s were not enough to check it");
            let fix = "check it by hand: sqlite3, then `PRAGMA quick_check;`";
            return vec![found(Level::Note, what).at(path.display()).fix(fix)];
        }
    };
    let schema = match health.schema {
        Some(schema) => format!("the database is intact, schema {schema}"),
        None => "the database will be created at the first start".to_owned(),
    };
    let mut findings = vec![found(Level::Ok, schema).at(path.display())];
    findings.extend(unwritable(directory));
    match health.holders {
        0 => {}
        1 => findings.push(found(Level::Ok, "one running gateway or command uses it".to_owned())),
        many => {
            let what = format!("{many} running gateways or commands share it");
            findings.push(found(Level::Ok, what));
        }
    }
    findings
}

/// How something is moved out of the way, and what that costs.
fn moved_aside(path: &Path, database: &Path) -> String {
    let mut aside = path.as_os_str().to_owned();
    aside.push(".damaged");
    let (from, to) = (shell::quoted(path), shell::quoted(Path::new(&aside)));
    let cost = if path == database && path.is_file() {
        "; its records are lost to Gatefold"
    } else if path.ends_with("seal.key") && path.is_file() {
        "; calls that wait for an answer are lost"
    } else {
        ""
    };
    format!("mv {from} {to}{cost}")
}

/// A file of the store that this user can read but not write, usually left behind by a run as root.
fn unwritable(directory: &Path) -> Option<Finding> {
    let names = [
        "gatefold.db",
        "gatefold.db-wal",
        "gatefold.db-shm",
        "startup.lock",
        "owners",
        "manifests",
    ];
    let files = names.iter().map(|name| directory.join(name));
    let is_unwritable = |path: &PathBuf| {
        let mode = fs::metadata(path).map(|it| it.permissions().mode());
        // Root may write to any file. If root's own file has no write permission, that is still a
        // mistake.
        mode.is_ok_and(|mode| mode & 0o200 == 0 || access(path, Access::WRITE_OK).is_err())
    };
    let file = files.into_iter().find(is_unwritable)?;
    let user = rustix::process::geteuid().as_raw();
    let is_ours = fs::metadata(&file).is_ok_and(|it| it.uid() == user);
    let fix = if is_ours {
        format!("chmod u+rw {}", shell::quoted(&file))
    } else {
        format!("sudo chown -R {user} {}", shell::quoted(directory))
    };
    let what = if file.is_dir() { "a folder of the store" } else { "the database" };
    let finding = Finding::new(Section::State, Level::Fault, format!("{what} is not writable"));
    Some(finding.at(file.display()).fix(fix))
}
