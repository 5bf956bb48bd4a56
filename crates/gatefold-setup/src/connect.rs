//! Puts Gatefold into clients' files and takes it out again.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use gatefold::Environment;
use gatefold::config::kinds::mcp::McpConnection;
use gatefold::config::{ClientServer, ConfigError};
use gatefold_clients::{ConfigFile, EditError, Entry, Restoration, Undo};

use super::found::is_gatefold;
use super::undo::Records;
use super::{SetupError, files, servers_of};

/// Edits clients' files, and keeps a record of each edit.
#[derive(Debug)]
pub struct Connector<'a> {
    pub environment: &'a Environment,
    /// Where Gatefold listens. An entry that leads there counts as Gatefold's.
    pub listen: SocketAddr,
    pub records: Records,
}

/// What `connect` did, or would do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConnectReport {
    pub path: PathBuf,
    /// The name of the entry.
    pub name: String,
    /// Servers that were taken out.
    pub taken_out: Vec<String>,
    /// Whether another entry for Gatefold had the name.
    pub is_replaced: bool,
    /// Whether the file says the same as before.
    pub is_unchanged: bool,
    /// The record, which holds the file as it was.
    pub backup: PathBuf,
}

/// What `disconnect` did, or would do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DisconnectReport {
    pub path: PathBuf,
    /// Whether the file is to the byte what it was before `connect`.
    pub is_exact: bool,
    /// Whether the file is gone, as it was before.
    pub is_removed: bool,
    /// Whether there was a record of what the entry replaced.
    pub is_recorded: bool,
    /// Servers that `connect` took out and that are back.
    pub restored: Vec<String>,
    /// Servers that could not be put back, because others of their names are there now.
    pub not_restored: Vec<String>,
    /// The record, which is kept when something could not be put back.
    pub backup: Option<PathBuf>,
}

/// Whether to write, or only to find out what would be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WriteMode {
    Write,
    DryRun,
}

/// What to do with an entry that has no record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnrecordedEntry {
    Refuse,
    /// Takes out the entry alone.
    TakeOut,
}

/// The record of one table of servers, before and after an edit.
struct RecordChange {
    file: ConfigFile,
    old: Option<Undo>,
    new: Option<Undo>,
}

/// What connecting again starts from: the file as it would be without its present connection.
struct EditBase {
    text: Option<String>,
    /// Servers to take out. Those that an earlier connection took out stay out.
    take_out: Vec<String>,
    above: Vec<(ConfigFile, Undo)>,
}

impl Connector<'_> {
    /// Puts `entry` into a client's file and takes `take_out` out of it. The record is saved before
    /// the file is written, so that a crash in between loses nothing. Connecting again changes the
    /// entry, and the record still leads back to the file as it first was.
    pub fn connect(
        &self,
        file: &ConfigFile,
        entry: &Entry,
        take_out: &[String],
        mode: WriteMode,
    ) -> Result<ConnectReport, SetupError> {
        let edit = |error| refused(file, error);
        let now = files::read(&file.path)?;
        let records = self.records_for(file);
        let before = records.load(file)?;
        let mut start = match &before {
            Some(before) => self.start(file, now.as_deref(), before, &records, take_out)?,
            None => EditBase { text: now.clone(), take_out: take_out.to_vec(), above: Vec::new() },
        };
        // The recorded entry is already out of the text.
        let is_recorded = before.as_ref().is_some_and(|before| before.name() == entry.name);
        if !is_recorded
            && !start.take_out.contains(&entry.name)
            && self.connected(file)?.contains(&entry.name)
        {
            start.take_out.push(entry.name.clone());
        }
        let text = start.text.as_deref();
        let change = gatefold_clients::connect(file, text, entry, &start.take_out).map_err(edit)?;
        let (text, mut kept) = repeated(Some(change.text), start.above).map_err(edit)?;
        let gone = change.undo.taken().filter(|name| *name != entry.name);
        let connected = ConnectReport {
            path: file.path.clone(),
            name: entry.name.clone(),
            taken_out: gone.map(str::to_owned).collect(),
            is_replaced: change.undo.taken().any(|name| name == entry.name),
            is_unchanged: now == text,
            backup: records.path(file),
        };
        if !connected.is_unchanged {
            files::writable_target(&file.path)?;
        }
        if mode == WriteMode::Write && !connected.is_unchanged {
            kept.push(RecordChange { file: file.clone(), old: before, new: Some(change.undo) });
            write(&records, &file.path, now.as_deref(), text.as_deref(), &kept)?;
        }
        Ok(connected)
    }

    /// Takes Gatefold out of a client's file and puts back what `connect` took out.
    pub fn disconnect(
        &self,
        file: &ConfigFile,
        unrecorded: UnrecordedEntry,
        mode: WriteMode,
    ) -> Result<DisconnectReport, SetupError> {
        let not_connected = || SetupError::NotConnected { path: file.path.clone() };
        let records = self.records_for(file);
        let Some(now) = files::read(&file.path)? else {
            // Keep the record: it is the only copy of the servers that were taken out.
            let has_taken =
                records.load(file)?.is_some_and(|before| before.taken().next().is_some());
            let gone = || SetupError::Gone { path: file.path.clone(), record: records.path(file) };
            return Err(if has_taken { gone() } else { not_connected() });
        };
        if let Some(before) = records.load(file)?
            && let Some(done) = self.undo(file, &now, before, &records, mode)?
        {
            return Ok(done);
        }
        let servers = servers_of(file, self.environment)?;
        let entry = self.ours(&servers).next().ok_or_else(not_connected)?;
        if unrecorded == UnrecordedEntry::Refuse {
            return Err(SetupError::NoRecord { path: file.path.clone() });
        }
        let text = gatefold_clients::remove(file, &now, &entry.name)
            .map_err(|error| refused(file, error))?;
        if mode == WriteMode::Write {
            files::replace(&file.path, Some(&now), Some(&text))?;
        }
        Ok(DisconnectReport {
            path: file.path.clone(),
            is_exact: false,
            is_removed: false,
            is_recorded: false,
            restored: Vec::new(),
            not_restored: Vec::new(),
            backup: None,
        })
    }

    /// Undoes an edit with its record. `None` if somebody already took the entry out and put the
    /// servers back; the record is then useless and is removed.
    fn undo(
        &self,
        file: &ConfigFile,
        now: &str,
        before: Undo,
        records: &Records,
        mode: WriteMode,
    ) -> Result<Option<DisconnectReport>, SetupError> {
        let edit = |error| refused(file, error);
        let is_there = self.is_there(file, now, &before)?;
        let above = above(file, now, &before, records);
        let undone = match &above {
            Some(_) => Restoration {
                text: before.original().map(str::to_owned),
                is_exact: true,
                not_restored: Vec::new(),
            },
            None if is_there => gatefold_clients::disconnect(file, now, &before).map_err(edit)?,
            None => gatefold_clients::restore(file, now, &before).map_err(edit)?,
        };
        if !is_there && undone.not_restored.len() == before.taken().count() {
            if mode == WriteMode::Write {
                records.forget(file)?;
            }
            return Ok(None);
        }
        let (text, mut kept) = repeated(undone.text, above.unwrap_or_default()).map_err(edit)?;
        let is_exact = undone.is_exact && kept.is_empty();
        let keeps_backup = !undone.not_restored.is_empty();
        let mut restored: Vec<_> = before.taken().map(str::to_owned).collect();
        restored.retain(|name| !undone.not_restored.contains(name));
        if !keeps_backup {
            kept.push(RecordChange { file: file.clone(), old: Some(before), new: None });
        }
        files::writable_target(&file.path)?;
        if mode == WriteMode::Write {
            write(records, &file.path, Some(now), text.as_deref(), &kept)?;
        }
        Ok(Some(DisconnectReport {
            path: file.path.clone(),
            is_exact,
            is_removed: text.is_none(),
            is_recorded: true,
            restored,
            not_restored: undone.not_restored,
            backup: keeps_backup.then(|| records.path(file)),
        }))
    }

    /// The names under which a client's file has Gatefold.
    pub fn connected(&self, file: &ConfigFile) -> Result<Vec<String>, ConfigError> {
        if !file.path.exists() {
            return Ok(Vec::new());
        }
        let servers = servers_of(file, self.environment)?;
        Ok(self.ours(&servers).map(|server| server.name.clone()).collect())
    }

    fn ours<'s>(&self, servers: &'s [ClientServer]) -> impl Iterator<Item = &'s ClientServer> {
        let listen = self.listen;
        servers.iter().filter(move |server| is_gatefold(server, listen))
    }

    /// Whether the file still has the recorded entry.
    fn is_there(&self, file: &ConfigFile, now: &str, before: &Undo) -> Result<bool, SetupError> {
        if before.is_in(file, now).map_err(|error| refused(file, error))? {
            return Ok(true);
        }
        let servers = servers_of(file, self.environment)?;
        Ok(self.ours(&servers).any(|server| server.name == before.name()))
    }

    /// The records, including those in the state directory that an entry passes to Gatefold, where
    /// older versions kept them.
    fn records_for(&self, file: &ConfigFile) -> Records {
        let servers = servers_of(file, self.environment).unwrap_or_default();
        let entry = self.ours(&servers).next();
        let Some(Ok(McpConnection::Stdio { args, .. })) = entry.map(|entry| &entry.connection)
        else {
            return self.records.clone();
        };
        let mut args = args.iter().skip_while(|arg| !arg.starts_with("--state-dir"));
        let folder = match args.next().map(|arg| arg.split_once('=')) {
            Some(Some((_, folder))) => Some(folder),
            Some(None) => args.next().map(String::as_str),
            None => None,
        };
        match folder {
            Some(folder) => self.records.clone().or(&self.environment.directory().join(folder)),
            None => self.records.clone(),
        }
    }

    /// Undoes the present connection in memory, so that connecting again can start from there.
    fn start(
        &self,
        file: &ConfigFile,
        now: Option<&str>,
        before: &Undo,
        records: &Records,
        take_out: &[String],
    ) -> Result<EditBase, SetupError> {
        let edit = |error| refused(file, error);
        let is_there = match now {
            Some(now) => self.is_there(file, now, before)?,
            None => false,
        };
        let above = now.and_then(|now| above(file, now, before, records));
        let undone = match now {
            Some(_) if above.is_some() => Restoration {
                text: before.original().map(str::to_owned),
                is_exact: true,
                not_restored: Vec::new(),
            },
            Some(now) if is_there => {
                gatefold_clients::disconnect(file, now, before).map_err(edit)?
            }
            // Somebody took the entry out. The other servers are still on record.
            now => {
                gatefold_clients::restore(file, now.unwrap_or_default(), before).map_err(edit)?
            }
        };
        let mut names: Vec<_> = before.taken().map(str::to_owned).collect();
        names.retain(|name| !undone.not_restored.contains(name));
        let is_fresh = !is_there && names.is_empty();
        let more = take_out.iter().filter(|name| !names.contains(name)).cloned();
        Ok(EditBase {
            text: if is_fresh { now.map(str::to_owned) } else { undone.text },
            take_out: names.iter().cloned().chain(more).collect(),
            above: above.unwrap_or_default(),
        })
    }
}

/// The connections of other tables in the same file that were made on top of this one, lowest
/// first. `None` when the file was changed since the topmost one: the edits can then not be told
/// apart.
fn above(
    file: &ConfigFile,
    now: &str,
    before: &Undo,
    records: &Records,
) -> Option<Vec<(ConfigFile, Undo)>> {
    let mut rest = records.beside(file);
    let mut above: Vec<(ConfigFile, Undo)> = Vec::new();
    loop {
        let top = above.last().map_or(before.written(), |(_, undo)| undo.written());
        if top == now {
            return Some(above);
        }
        let next = rest.iter().position(|(_, undo)| undo.original() == Some(top))?;
        above.push(rest.swap_remove(next));
    }
}

/// Repeats connections on top of a text, and gives the text and the changed records.
fn repeated(
    text: Option<String>,
    above: Vec<(ConfigFile, Undo)>,
) -> Result<(Option<String>, Vec<RecordChange>), EditError> {
    let mut text = text;
    let mut kept = Vec::new();
    for (file, undo) in above {
        let change = gatefold_clients::repeat(&file, text.as_deref(), &undo)?;
        text = Some(change.text);
        kept.push(RecordChange { file, old: Some(undo), new: Some(change.undo) });
    }
    Ok((text, kept))
}

/// Writes a client's file. New records are saved before it and old ones removed after it, so that
/// there is a way back at every moment.
fn write(
    records: &Records,
    path: &Path,
    now: Option<&str>,
    text: Option<&str>,
    kept: &[RecordChange],
) -> Result<(), SetupError> {
    let put = |file: &ConfigFile, undo: Option<&Undo>| match undo {
        Some(undo) => records.save(file, undo),
        None => records.forget(file),
    };
    for kept in kept.iter().filter(|kept| kept.new.is_some()) {
        put(&kept.file, kept.new.as_ref())?;
    }
    let written = files::replace(path, now, text);
    for kept in kept {
        match &written {
            Ok(()) if kept.new.is_none() => put(&kept.file, None)?,
            Ok(()) => {}
            // The file was not written, so the records must be as they were too.
            Err(_) => put(&kept.file, kept.old.as_ref())?,
        }
    }
    written
}

fn refused(file: &ConfigFile, error: EditError) -> SetupError {
    let path = file.path.clone();
    match error {
        EditError::NameTaken(name) => SetupError::NameTaken { path, name },
        error => SetupError::Edit { path, error },
    }
}
