//! Containers that a source's command runs, as `docker run` does.
//!
//! Such a command is only the client of an engine. The container is not a child of ours: it lives on
//! when its client is killed, and often when its input ends. So each gets a name, unless it has one,
//! and is ended by it together with its client. A note outlives us, for those that we cannot end
//! because we were killed.

use std::fs;
use std::io;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use gatefold_core::{Domain, Secret};
use serde::{Deserialize, Serialize};
use tokio::process::Command;
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use super::child_command;
use super::package_runner::container_run;
use super::settings::StdioSettings;

/// The most containers that are ended together with us. There are no more children, whose clients they have.
const CONTAINERS: usize = 1024;
/// How long an engine may take to end a container.
const END_DEADLINE: Duration = Duration::from_secs(10);
/// The longest file with a container's id that is read, in bytes.
const ID_BYTES: usize = 256;

/// Variables of a source that say how its engine is reached. No other is written down.
const REACH: &[&str] = &[
    "PATH",
    "HOME",
    "XDG_RUNTIME_DIR",
    "DOCKER_HOST",
    "DOCKER_CONTEXT",
    "DOCKER_CONFIG",
    "DOCKER_CERT_PATH",
    "DOCKER_TLS_VERIFY",
    "CONTAINER_HOST",
    "CONTAINER_CONNECTION",
    "CONTAINERD_ADDRESS",
    "CONTAINERD_NAMESPACE",
];

/// Options of `run` without a value. Any other takes the next word, unless it has `=`.
const FLAGS: &[&str] = &[
    "--detach",
    "--disable-content-trust",
    "--env-host",
    "--init",
    "--interactive",
    "--no-healthcheck",
    "--no-hostname",
    "--no-hosts",
    "--oom-kill-disable",
    "--privileged",
    "--publish-all",
    "--quiet",
    "--read-only",
    "--read-only-tmpfs",
    "--replace",
    "--rm",
    "--rmi",
    "--rootfs",
    "--sig-proxy",
    "--tls-verify",
    "--tty",
    "--unsetenv-all",
];
/// The same with one letter, which may stand together.
const SHORT_FLAGS: &str = "diPqt";

/// Where notes of running containers are kept, so that one that outlives its gateway can be ended.
pub trait ContainerNotes: Send + Sync {
    /// Keeps a note for as long as this process lives, and after that. Returns its path.
    fn add(&self, note: &ContainerNote) -> io::Result<PathBuf>;
}

/// How one container is ended. It holds no secrets.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContainerNote {
    /// The engine's client, and what stands before `run`.
    command: String,
    args: Vec<String>,
    /// How the engine is reached.
    env: Vec<(String, String)>,
    inherit_env: Vec<String>,
    cwd: Option<PathBuf>,
    container: ContainerName,
    /// Whether the container is removed at its end.
    is_removed: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum ContainerName {
    Name(String),
    /// The file that the engine writes the container's id to.
    IdFile(PathBuf),
}

impl ContainerName {
    /// What the engine knows the container by. `None` if it has not begun.
    fn read(&self) -> Option<String> {
        match self {
            Self::Name(name) => Some(name.clone()),
            Self::IdFile(path) => {
                let id = fs::read_to_string(path).ok()?;
                let id = id.trim();
                let is_id = !id.is_empty()
                    && id.len() <= ID_BYTES
                    && id.chars().all(|c| c.is_ascii_alphanumeric() || "_.-".contains(c))
                    && !id.starts_with('-');
                is_id.then(|| id.to_owned())
            }
        }
    }
}

impl ContainerNote {
    /// Ends the container. False if the engine could not be reached, so that it may still run.
    pub async fn end(&self) -> bool {
        end(&self.engine(), self).await
    }

    /// The command that ends it, as a person would type it.
    pub fn shown(&self) -> String {
        let container = match &self.container {
            ContainerName::Name(name) => name.clone(),
            ContainerName::IdFile(path) => format!("\"$(cat {})\"", path.display()),
        };
        let mut words = vec![self.command.as_str()];
        words.extend(self.args.iter().map(String::as_str));
        words.extend(self.verbs());
        format!("{} {container}", words.join(" "))
    }

    fn verbs(&self) -> &'static [&'static str] {
        // One that its owner keeps is only stopped.
        if self.is_removed { &["rm", "-f"] } else { &["kill"] }
    }

    fn engine(&self) -> StdioSettings {
        let env = self.env.iter().map(|(name, value)| (name.clone(), Secret::new(value.as_str())));
        StdioSettings {
            command: self.command.clone(),
            args: self.args.clone(),
            env: env.collect(),
            inherit_env: self.inherit_env.clone(),
            cwd: self.cwd.clone(),
        }
    }

    /// The command that ends it, if it has begun.
    fn command(&self, engine: &StdioSettings) -> Option<Command> {
        let mut engine = engine.clone();
        engine.args.extend(self.verbs().iter().map(|word| (*word).to_owned()));
        engine.args.push(self.container.read()?);
        let mut command = child_command::command(&engine);
        command.stdin(Stdio::null()).stdout(Stdio::null());
        Some(command)
    }
}

async fn end(engine: &StdioSettings, note: &ContainerNote) -> bool {
    let Some(mut command) = note.command(engine) else { return true };
    match timeout(END_DEADLINE, command.output()).await {
        Ok(Ok(output)) if output.status.success() => true,
        // Mostly there is no such container any more, which is what we want.
        Ok(Ok(output)) => {
            let said = String::from_utf8_lossy(&output.stderr).to_lowercase();
            !said.contains("connect") && !said.contains("permission denied")
        }
        Ok(Err(_)) | Err(_) => false,
    }
}

/// What a source's command runs a container with: the settings that give it a name, and what ends it.
/// `None` if the command runs none.
pub(crate) async fn contain(
    settings: &StdioSettings,
    domain: &Domain,
    notes: Option<Arc<dyn ContainerNotes>>,
) -> Option<(StdioSettings, RunningContainer)> {
    let (named, note) = name_container(settings, domain)?;
    let end = Arc::new(ContainerEnd {
        is_ours: named.args != settings.args,
        engine: StdioSettings { env: settings.env.clone(), ..note.engine() },
        note,
    });
    let container = RunningContainer::noted(end, domain, notes).await;
    Some((named, container))
}

/// The settings that give a container a name, and the note of it. `None` if the command runs none.
fn name_container(
    settings: &StdioSettings,
    domain: &Domain,
) -> Option<(StdioSettings, ContainerNote)> {
    let mut settings = settings.clone();
    let args: Vec<_> = settings.args.iter().map(String::as_str).collect();
    let run = container_run(&settings.command, &args)?;
    let options = RunOptions::read(&args[run + 1..]);
    // An assignment before the command may hold a secret.
    let is_noted = |word: &&&str| {
        let name = word.split_once('=').map(|(name, _)| name);
        word.starts_with('-') || name.is_none_or(|name| REACH.contains(&name))
    };
    let before = args[..run].iter().filter(is_noted).map(|word| (*word).to_owned()).collect();
    let container = match (options.name, options.id_file) {
        (Some(name), _) => ContainerName::Name(name.to_owned()),
        (None, Some(file)) => {
            let file = settings.cwd.as_ref().map_or_else(|| file.into(), |cwd| cwd.join(file));
            // The next gateway may run elsewhere.
            ContainerName::IdFile(std::path::absolute(&file).unwrap_or(file))
        }
        (None, None) => {
            let name = format!("gatefold-{domain}-{:08x}", fastrand::u32(..));
            ContainerName::Name(name)
        }
    };
    let is_removed = options.is_removed;
    let has_own = options.name.is_some();
    if !has_own && let ContainerName::Name(name) = &container {
        settings.args.insert(run + 1, name.clone());
        settings.args.insert(run + 1, "--name".to_owned());
    }
    let env = settings.env.iter().filter(|(name, _)| REACH.contains(&name.as_str()));
    let note = ContainerNote {
        command: settings.command.clone(),
        args: before,
        env: env.map(|(name, value)| (name.clone(), value.expose().to_owned())).collect(),
        inherit_env: settings.inherit_env.clone(),
        cwd: settings.cwd.clone(),
        container,
        is_removed,
    };
    Some((settings, note))
}

/// What the options of `run` say about a container's name and end.
#[derive(Debug, Default, PartialEq, Eq)]
struct RunOptions<'a> {
    name: Option<&'a str>,
    id_file: Option<&'a str>,
    is_removed: bool,
}

impl<'a> RunOptions<'a> {
    /// Reads the words after `run` up to the image. What follows it is the server's own.
    fn read(words: &[&'a str]) -> Self {
        let mut own = Self::default();
        let mut words = words.iter();
        while let Some(word) = words.next().filter(|word| word.starts_with('-') && **word != "--") {
            if let Some(letters) = word.strip_prefix('-').filter(|rest| !rest.starts_with('-')) {
                let valued = letters.find(|letter| !SHORT_FLAGS.contains(letter));
                if valued.is_some_and(|at| at + 1 == letters.len()) {
                    words.next();
                }
                continue;
            }
            let (option, value) = match word.split_once('=') {
                Some((option, value)) => (option, Some(value)),
                None if FLAGS.contains(word) => (*word, None),
                None => (*word, words.next().copied()),
            };
            match option {
                "--name" => own.name = value,
                "--cidfile" => own.id_file = value,
                "--rm" => own.is_removed = value.is_none_or(|value| value == "true"),
                _ => {}
            }
        }
        own
    }
}

/// How a container of this process is ended.
struct ContainerEnd {
    note: ContainerNote,
    /// Whether its name is ours, so that no other container has it.
    is_ours: bool,
    /// The same engine, with all variables of its source.
    engine: StdioSettings,
}

impl ContainerEnd {
    /// Ends the container without waiting for that, even if we end first.
    fn begin(&self) {
        if let Some(mut command) = self.note.command(&self.engine) {
            let command = command.as_std_mut();
            drop(command.stderr(Stdio::null()).spawn());
        }
    }
}

/// A container that may run. Dropping it begins its end, and leaves its note.
pub(crate) struct RunningContainer {
    end: Arc<ContainerEnd>,
    note: Option<PathBuf>,
    is_over: bool,
}

/// The containers that may run, at most [`CONTAINERS`].
static RUNNING: Mutex<Vec<Arc<ContainerEnd>>> = Mutex::new(Vec::new());

fn running() -> MutexGuard<'static, Vec<Arc<ContainerEnd>>> {
    RUNNING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether a container of this process may run.
pub(super) fn any_runs() -> bool {
    !running().is_empty()
}

/// Begins the end of every container of this process.
pub(super) fn begin_ends() {
    for end in running().iter() {
        end.begin();
    }
}

impl RunningContainer {
    async fn noted(
        end: Arc<ContainerEnd>,
        domain: &Domain,
        notes: Option<Arc<dyn ContainerNotes>>,
    ) -> Self {
        let own = end.clone();
        let adding = spawn_blocking(move || notes.map(|notes| notes.add(&own.note)).transpose());
        let note = adding.await.unwrap_or_else(|ended| Err(io::Error::other(ended)));
        let note = note.unwrap_or_else(|error| {
            tracing::warn!(%domain, %error, "a container could not be noted; it stays if Gatefold is killed");
            None
        });
        let mut running = running();
        // One more is still ended by whoever holds it, and by its note.
        if running.len() < CONTAINERS {
            running.push(end.clone());
        }
        drop(running);
        Self { end, note, is_over: false }
    }

    /// Ends the container, once its client is gone.
    pub(crate) async fn end(self) {
        if end(&self.end.engine, &self.end.note).await {
            self.release();
        } else {
            tracing::warn!(container = self.end.note.shown(), "a container could not be ended");
        }
    }

    /// Ends the container, if there is one. An engine that did not answer its client may not answer now.
    pub(crate) async fn try_end(&self) {
        end(&self.end.engine, &self.end.note).await;
    }

    /// Notes that the container has ended with its client.
    pub(crate) fn release(mut self) {
        self.is_over = true;
        if let Some(note) = &self.note
            && let Err(error) = fs::remove_file(note)
        {
            tracing::warn!(%error, "the note of a container could not be removed");
        }
    }

    /// Whether the name of the container is ours, so that no other has it.
    pub(crate) fn is_ours(&self) -> bool {
        self.end.is_ours
    }
}

impl Drop for RunningContainer {
    fn drop(&mut self) {
        running().retain(|other| !Arc::ptr_eq(other, &self.end));
        if !self.is_over {
            self.end.begin();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(line: &str) -> StdioSettings {
        let mut words = line.split_whitespace().map(str::to_owned);
        let command = words.next().unwrap();
        StdioSettings { command, args: words.collect(), ..StdioSettings::default() }
    }

    #[track_caller]
    fn check(line: &str, started: &str, ended: &str) {
        let domain = Domain::parse("box").unwrap();
        let (named, note) = name_container(&settings(line), &domain).expect("it runs a container");
        let own = match &note.container {
            ContainerName::Name(name) => name.clone(),
            ContainerName::IdFile(_) => String::new(),
        };
        let told = format!("{} {}", named.command, named.args.join(" "));
        assert_eq!(told.replace(&own, "NAME"), started.replace(&own, "NAME"), "{line}");
        assert_eq!(note.shown().replace(&own, "NAME"), ended.replace(&own, "NAME"), "{line}");
    }

    #[test]
    fn a_container_gets_a_name_and_is_ended_by_it() {
        for (line, started, ended) in [
            (
                "docker run -i --rm some/server",
                "docker run --name NAME -i --rm some/server",
                "docker rm -f NAME",
            ),
            (
                "/usr/bin/podman --log-level error container run -i a --name x --rm",
                "/usr/bin/podman --log-level error container run --name NAME -i a --name x --rm",
                "/usr/bin/podman --log-level error container kill NAME",
            ),
            (
                "env TOKEN=secret DOCKER_HOST=h sudo -n docker run --rm a",
                "env TOKEN=secret DOCKER_HOST=h sudo -n docker run --name NAME --rm a",
                "env DOCKER_HOST=h sudo -n docker rm -f NAME",
            ),
        ] {
            check(line, started, ended);
        }
    }

    #[test]
    fn a_name_of_ones_own_stays() {
        for (line, ended) in [
            ("docker run -i --rm --name mine a", "docker rm -f mine"),
            ("docker run -ie A -eB=c -it --name=mine --rm=false a", "docker kill mine"),
            ("docker run --unheard --rm --rm --cidfile /c/id a", "docker rm -f \"$(cat /c/id)\""),
            ("docker run --cidfile /c/id --name mine a", "docker kill mine"),
        ] {
            check(line, line, ended);
        }
    }

    #[test]
    fn other_commands_run_no_container() {
        let domain = Domain::parse("box").unwrap();
        for line in ["docker exec -i a b", "docker compose up", "npx run", "env", "sh -c docker"] {
            assert!(name_container(&settings(line), &domain).is_none(), "{line}");
        }
    }

    #[test]
    fn a_note_holds_no_secret() {
        let mut settings = settings("env A=hidden docker run a");
        settings.env = vec![
            ("TOKEN".to_owned(), Secret::new("hidden")),
            ("DOCKER_HOST".to_owned(), Secret::new("ssh://engine")),
        ];
        let (_, note) = name_container(&settings, &Domain::parse("box").unwrap()).unwrap();
        let text = serde_json::to_string(&note).unwrap();
        assert!(text.contains("ssh://engine") && !text.contains("hidden"), "{text}");
        assert_eq!(serde_json::from_str::<ContainerNote>(&text).unwrap(), note);
    }
}
