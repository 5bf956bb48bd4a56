//! Child processes: started in process groups of their own, and ended with us.

use std::io;
use std::process::ExitStatus;
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use gatefold_core::Domain;
use rustix::process::{Pid, Signal, kill_process_group};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::runtime::Handle;
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, sleep, timeout};

use super::child_command::command;
use super::containers::{self, ContainerNotes, RunningContainer};
use super::settings::StdioSettings;

/// How long a child may take to exit after its input is closed, and again after SIGTERM.
const GRACE: Duration = Duration::from_secs(1);

/// A child's three pipes and what ends it.
pub(crate) struct SpawnedChild {
    pub(crate) stdin: ChildStdin,
    pub(crate) stdout: ChildStdout,
    pub(crate) stderr: ChildStderr,
    pub(crate) process: ChildProcess,
}

/// A running child and its process group. Dropping it kills both.
pub(crate) struct ChildProcess {
    child: Child,
    group: ProcessGroup,
    /// What it is only the client of. Dropped after the group: the client could still start it.
    container: Option<RunningContainer>,
}

/// A child's process group, while any member of it may be alive.
struct ProcessGroup(Option<Pid>);

/// Starts a source's program, and under a name of ours a container that has none.
pub(crate) async fn spawn_source(
    settings: &StdioSettings,
    domain: &Domain,
    notes: Option<Arc<dyn ContainerNotes>>,
) -> io::Result<SpawnedChild> {
    let Some((named, container)) = containers::contain(settings, domain, notes).await else {
        return spawn(settings).await;
    };
    match spawn(&named).await {
        Ok(mut spawned) => {
            spawned.process.container = Some(container);
            Ok(spawned)
        }
        Err(error) => {
            container.release();
            Err(error)
        }
    }
}

pub(crate) async fn spawn(settings: &StdioSettings) -> io::Result<SpawnedChild> {
    let mut process = start(command(settings)).await?;
    let missing = || io::Error::other("a pipe of the child is missing");
    let child = &mut process.child;
    Ok(SpawnedChild {
        stdin: child.stdin.take().ok_or_else(missing)?,
        stdout: child.stdout.take().ok_or_else(missing)?,
        stderr: child.stderr.take().ok_or_else(missing)?,
        process,
    })
}

impl ChildProcess {
    fn of(child: Child) -> Self {
        let group = child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
        Self { child, group: ProcessGroup::living(group), container: None }
    }

    /// Waits for the child to exit by itself, then kills what is left of its group.
    pub(crate) async fn exited(&mut self) -> io::Result<ExitStatus> {
        let status = self.child.wait().await;
        self.group.end();
        status
    }

    /// Ends a child whose input is already closed: waits, sends SIGTERM, then kills. Its container ends
    /// with it.
    pub(crate) async fn end(&mut self) {
        if timeout(GRACE, self.child.wait()).await.is_err() {
            self.group.kill(Signal::TERM);
            // The group is killed whether or not the child exits in time.
            let _ = timeout(GRACE, self.child.wait()).await;
            self.group.end();
            if let Some(container) = self.container.take() {
                container.end().await;
            }
        }
        self.group.end();
        self.settle().await;
    }

    /// Ends what is left of the container of a child that has exited.
    ///
    /// A client that exits by itself does so after its container, or because there was none. One of
    /// somebody else may have the name that a configuration gives, which is then a reason to refuse it.
    pub(crate) async fn settle(&mut self) {
        let Some(container) = self.container.take() else { return };
        let status = self.child.try_wait();
        let has_exited = status.is_ok_and(|status| status.is_some_and(|it| it.code().is_some()));
        if !has_exited {
            return container.end().await;
        }
        if container.is_ours() {
            container.try_end().await;
        }
        container.release();
    }
}

impl ProcessGroup {
    fn living(group: Option<Pid>) -> Self {
        let mut living = living();
        living.groups.extend(group);
        if living.is_over {
            living.signal(Signal::KILL);
        }
        Self(group)
    }

    fn kill(&self, signal: Signal) {
        if let Some(group) = self.0 {
            // A group without members cannot be signalled, and need not be.
            let _ = kill_process_group(group, signal);
        }
    }

    /// Kills what is left of it, and forgets it: its number may be reused from now on.
    fn end(&mut self) {
        let mut living = living();
        self.kill(Signal::KILL);
        if let Some(group) = self.0.take() {
            living.groups.retain(|other| *other != group);
        }
    }
}

impl Drop for ProcessGroup {
    fn drop(&mut self) {
        self.end();
    }
}

/// The most children at a time, over all sources. Each source has limits of its own as well.
const CHILDREN: usize = 1024;

/// The groups of all children, so that they can be ended together.
struct LivingGroups {
    /// At most [`CHILDREN`].
    groups: Vec<Pid>,
    /// Whether they were all told to end. A child that was being started at that time is killed
    /// too.
    is_over: bool,
}

static LIVING: Mutex<LivingGroups> =
    Mutex::new(LivingGroups { groups: Vec::new(), is_over: false });

fn living() -> MutexGuard<'static, LivingGroups> {
    LIVING.lock().unwrap_or_else(PoisonError::into_inner)
}

impl LivingGroups {
    /// Whether one more may be started. One thread starts them all, so the answer holds until it has.
    fn have_room(&self) -> io::Result<()> {
        if self.is_over {
            return Err(io::Error::other("Gatefold is ending"));
        }
        if self.groups.len() < CHILDREN {
            return Ok(());
        }
        let reason = format!("{CHILDREN} processes of sources are running, which is the limit");
        Err(io::Error::other(reason))
    }

    fn signal(&self, signal: Signal) {
        for group in &self.groups {
            let _ = kill_process_group(*group, signal);
        }
    }
}

/// How often to check whether all children have ended.
const LOOK_AGAIN: Duration = Duration::from_millis(20);

/// Asks every child of this process and its descendants to end, and kills those that have not ended
/// after `patience`. Children started from now on are killed at once.
pub async fn end_children(patience: Duration) {
    {
        let mut living = living();
        living.is_over = true;
        living.signal(Signal::TERM);
    }
    let until = Instant::now() + patience;
    while Instant::now() < until && (!living().groups.is_empty() || containers::any_runs()) {
        sleep(LOOK_AGAIN).await;
    }
    kill_children();
}

/// Kills every child of this process and its descendants, and all that are started from now on.
///
/// For a process that must end at once. When we are gone, the kernel ends only the children that we
/// started ourselves, not their descendants.
pub fn kill_children() {
    let mut living = living();
    living.is_over = true;
    living.signal(Signal::KILL);
    containers::begin_ends();
}

/// How many starts the thread's queue takes before senders wait.
const STARTS_WAITING: usize = 64;

struct StartJob {
    command: Command,
    runtime: Handle,
    started: oneshot::Sender<io::Result<ChildProcess>>,
}

/// The thread that starts every child.
///
/// The kernel's parent-death signal fires when the *thread* that started a child ends, so that
/// must be one which lives as long as the process does.
static STARTER: LazyLock<mpsc::Sender<StartJob>> = LazyLock::new(|| {
    let (sender, mut jobs) = mpsc::channel::<StartJob>(STARTS_WAITING);
    let thread = std::thread::Builder::new().name("process-starter".to_owned());
    let spawned = thread.spawn(move || {
        while let Some(mut job) = jobs.blocking_recv() {
            let _entered = job.runtime.enter();
            let room = living().have_room();
            let process = room.and_then(|()| job.command.spawn()).map(ChildProcess::of);
            // A caller that gave up waiting drops the child, which kills it.
            let _ = job.started.send(process);
        }
    });
    spawned.expect("a thread can be started");
    sender
});

async fn start(mut command: Command) -> io::Result<ChildProcess> {
    die_with_parent(&mut command);
    let (started, process) = oneshot::channel();
    let gone = || io::Error::other("the thread that starts processes is gone");
    let job = StartJob { command, runtime: Handle::current(), started };
    STARTER.send(job).await.map_err(|_| gone())?;
    process.await.map_err(|_| gone())?
}

/// Has the kernel end the child if this process is killed and cannot do so itself.
#[cfg(target_os = "linux")]
#[expect(unsafe_code, reason = "a hook between fork and exec can be set no other way")]
fn die_with_parent(command: &mut Command) {
    let hook = || {
        rustix::process::set_parent_process_death_signal(Some(Signal::TERM))
            .map_err(io::Error::from)
    };
    // SAFETY: the hook only makes one system call; it neither allocates nor takes a lock.
    unsafe {
        command.pre_exec(hook);
    }
}

#[cfg(not(target_os = "linux"))]
fn die_with_parent(_command: &mut Command) {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_child_more_than_the_limit_is_refused() {
        let of = |children: usize| {
            let living = LivingGroups { groups: vec![Pid::INIT; children], is_over: false };
            living.have_room().map_err(|error| error.to_string())
        };
        assert_eq!(of(CHILDREN - 1), Ok(()));
        let refusal = "1024 processes of sources are running, which is the limit";
        assert_eq!(of(CHILDREN), Err(refusal.to_owned()));
    }

    #[tokio::test]
    async fn any_number_of_children_can_be_started_at_once() {
        let settings = StdioSettings { command: "true".to_owned(), ..StdioSettings::default() };
        let starts = (0..3 * STARTS_WAITING).map(|_| spawn(&settings));
        for started in futures::future::join_all(starts).await {
            assert!(started.unwrap().process.exited().await.unwrap().success());
        }
    }
}
