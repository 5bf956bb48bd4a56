//! Where control sockets are.

use std::fs::{self, DirBuilder, File, Permissions};
use std::io;
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

/// The longest path of a socket in bytes: 107 on Linux, 103 on others, see unix(7).
const PATH_LIMIT: usize = 103;

/// The most sockets to look at in one folder.
const SOCKETS: usize = 64;

const EXTENSION: &str = "sock";

/// The folder with the control sockets of one state directory.
pub(super) struct ControlFolder(PathBuf);

impl ControlFolder {
    pub(super) fn of(state_dir: &Path) -> Self {
        Self(state_dir.join("control"))
    }

    /// Creates it, and makes sure that only this user can enter.
    pub(super) fn prepare(&self) -> io::Result<()> {
        DirBuilder::new().recursive(true).mode(0o700).create(&self.0)?;
        let found = fs::symlink_metadata(&self.0)?;
        if !found.is_dir() || found.uid() != rustix::process::geteuid().as_raw() {
            return Err(io::Error::other(format!(
                "`{}` is no folder of this user's",
                self.0.display()
            )));
        }
        if found.permissions().mode() & 0o077 != 0 {
            fs::set_permissions(&self.0, Permissions::from_mode(0o700))?;
        }
        Ok(())
    }

    /// The names of the sockets in it, including those of gateways that were killed.
    pub(super) fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.0).into_iter().flatten().flatten();
        let paths = entries.map(|entry| entry.path());
        let sockets = paths.filter(|path| path.extension().is_some_and(|it| it == EXTENSION));
        let names = sockets.filter_map(|path| Some(path.file_name()?.to_str()?.to_owned()));
        names.take(SOCKETS).collect()
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    pub(super) fn address(&self, name: &str) -> io::Result<SocketAddress> {
        SocketAddress::of(&self.0, name)
    }
}

/// The name of a process's socket. Processes in different containers may have the same id, so the
/// name includes the start time.
pub(super) fn socket_name(role: impl std::fmt::Display, started_at_ms: u64) -> String {
    format!("{role}-{}-{started_at_ms:x}.{EXTENSION}", std::process::id())
}

/// A socket's path in a form that fits into an address. A path that is too long goes through the
/// open folder, which this keeps open.
pub(super) struct SocketAddress {
    path: PathBuf,
    _folder: Option<File>,
}

impl SocketAddress {
    fn of(folder: &Path, name: &str) -> io::Result<Self> {
        let path = folder.join(name);
        if path.as_os_str().len() <= PATH_LIMIT {
            return Ok(Self { path, _folder: None });
        }
        let open = File::open(folder)?;
        let short = Path::new("/proc/self/fd").join(open.as_raw_fd().to_string());
        if !short.exists() {
            return Err(io::Error::other(format!(
                "`{}` is too long for a socket; choose a shorter state directory with `--state-dir`",
                path.display()
            )));
        }
        Ok(Self { path: short.join(name), _folder: Some(open) })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}
