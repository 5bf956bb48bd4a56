//! `[results]`, `[secrets]`, `[state]` and `[audit]` of `gatefold.toml`: what is kept, and how.

use std::path::PathBuf;

use gatefold_config::{Count, FilePath, HandRead, Table, Time};
use gatefold_exchange::ResultFormat;
use gatefold_store::Durability;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::key::SectionKeys;
use super::super::root_key::{self, RootKeyText};
use super::super::{AuditConfig, Config};
use super::Draft;

/// How results are given to models.
///
/// How large they may be stands in `[limits]`.
#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub(in crate::config) struct ResultsKeys {
    /// How lists of objects are given.
    ///
    /// With "compact", a list of objects with the same members is given as `{"columns": [...], "rows":
    /// [[...]]}` where that saves tokens. No value is changed. It is for results that pass through
    /// `execute_tool`; a tool that a model sees with its full schema gives what its source gave.
    #[schemars(extend("examples" = ["compact"]))]
    format: FormatWord,
}

#[derive(Deserialize, Serialize, JsonSchema, Clone, Copy)]
#[serde(rename_all = "lowercase")]
enum FormatWord {
    Json,
    Compact,
}

impl From<FormatWord> for ResultFormat {
    fn from(word: FormatWord) -> Self {
        match word {
            FormatWord::Json => Self::Json,
            FormatWord::Compact => Self::Compact,
        }
    }
}

pub(super) fn read_results(table: &mut Table<'_>, draft: &mut Draft) {
    let keys: ResultsKeys = table.read().unwrap_or_default();
    draft.results.format = keys.format.into();
}

impl SectionKeys for ResultsKeys {
    fn of(config: &Config) -> Self {
        let format = match config.results.format {
            ResultFormat::Json => FormatWord::Json,
            ResultFormat::Compact => FormatWord::Compact,
        };
        Self { format }
    }
}

/// Where `${secret:NAME}` is looked up, and what protects kept sign-ins.
#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub(in crate::config) struct SecretsKeys {
    /// A file of secrets.
    ///
    /// A TOML file with a line `NAME = "VALUE"` for each secret, for machines without a keyring. Only its owner
    /// may read it (mode 600). What is not in it is looked up in the keyring. `gatefold secret` and `gatefold
    /// import` write to it.
    #[schemars(extend("examples" = ["~/.config/gatefold/secrets.toml"],
        "x-unset" = "secrets are in the operating system's keyring"))]
    file: Option<FilePath>,
    /// The key that protects kept sign-ins.
    ///
    /// At least 32 characters, from a variable or the keyring, or a `command` that prints them: a program and
    /// its arguments, run once, when the first sign-in is read or kept. Without it, the key is in the file
    /// `root.key` of the state directory, which only its owner can read.
    #[schemars(extend("examples" = ["${ROOT_KEY:-Zm9yIGV4YW1wbGUgb25seSwgbm90IGEga2V5ISE=}"],
        "x-unset" = "a file in the state directory", "x-restart" = true))]
    root_key: HandRead<RootKeyText>,
    /// The key before `root_key`.
    ///
    /// Until `gatefold secret rotate` has sealed everything anew. A key in the file needs no mention.
    #[schemars(extend("examples" = ["${OLD_ROOT_KEY:-Zm9yIGV4YW1wbGUgb25seSwgbm90IGEga2V5ISE=}"],
        "x-unset" = "none", "x-restart" = true))]
    previous_root_key: HandRead<RootKeyText>,
}

pub(super) fn read_secrets(table: &mut Table<'_>, draft: &mut Draft) {
    let keys: SecretsKeys = table.read().unwrap_or_default();
    draft.secrets_file = keys.file.map(|path| path.0);
    draft.root_key = root_key::read(table);
}

/// The file of secrets alone.
pub(super) fn secrets_file(table: &mut Table<'_>) -> Option<PathBuf> {
    let keys: SecretsKeys = table.read()?;
    keys.file.map(|path| path.0)
}

impl SectionKeys for SecretsKeys {
    fn of(config: &Config) -> Self {
        let shown = |secret: &Option<_>| HandRead::shown(root_key::shown(secret.as_ref()));
        Self {
            file: config.secrets_file.clone().map(FilePath),
            root_key: shown(&config.root_key.given),
            previous_root_key: shown(&config.root_key.previous),
        }
    }
}

/// What Gatefold keeps.
#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub(in crate::config) struct StateKeys {
    /// The directory for audit records and manifests.
    ///
    /// `--state-dir` and `GATEFOLD_STATE_DIR` win over it.
    #[schemars(extend("examples" = ["~/gatefold-state"],
        "x-unset" = "`$XDG_STATE_HOME/gatefold`, else `~/.local/state/gatefold`", "x-restart" = true))]
    dir: Option<FilePath>,
}

pub(super) fn read_state(table: &mut Table<'_>, draft: &mut Draft) {
    let keys: StateKeys = table.read().unwrap_or_default();
    draft.state_dir = keys.dir.map(|path| path.0);
}

impl SectionKeys for StateKeys {
    fn of(config: &Config) -> Self {
        Self { dir: config.state_dir.clone().map(FilePath) }
    }
}

/// How records of calls are kept.
#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub(in crate::config) struct AuditKeys {
    /// What the record of a call survives once it is open.
    ///
    /// With "process" it survives a crash of Gatefold, with "disk" a power cut too, which makes every call wait
    /// some milliseconds for the disk.
    #[schemars(extend("examples" = ["disk"], "x-restart" = true))]
    durability: DurabilityWord,
    /// How long records are kept.
    ///
    /// Older ones are deleted every ten minutes. If the system's date jumps ahead, records grow old by a day
    /// for each hour that Gatefold then runs, so a clock that is wrong for a while erases nothing. Of several
    /// gateways on one state directory, the shortest time counts.
    #[schemars(extend("examples" = ["90d"], "x-restart" = true))]
    retention: Time,
    /// How many records are kept.
    ///
    /// So many of calls, and as many of searches; the oldest beyond that are deleted.
    #[schemars(extend("examples" = [100_000], "x-restart" = true))]
    records: Count<u32>,
}

#[derive(Deserialize, Serialize, JsonSchema, Clone, Copy)]
#[serde(rename_all = "lowercase")]
enum DurabilityWord {
    Process,
    Disk,
}

impl From<DurabilityWord> for Durability {
    fn from(word: DurabilityWord) -> Self {
        match word {
            DurabilityWord::Process => Self::Process,
            DurabilityWord::Disk => Self::Disk,
        }
    }
}

pub(super) fn read_audit(table: &mut Table<'_>, audit: &mut AuditConfig) {
    let keys: AuditKeys = table.read().unwrap_or_default();
    audit.durability = keys.durability.into();
    audit.retention.age = keys.retention.0;
    audit.retention.rows = keys.records.0;
}

impl SectionKeys for AuditKeys {
    fn of(config: &Config) -> Self {
        let AuditConfig { durability, retention } = &config.audit;
        Self {
            durability: match durability {
                Durability::Process => DurabilityWord::Process,
                Durability::Disk => DurabilityWord::Disk,
            },
            retention: Time(retention.age),
            records: Count(retention.rows),
        }
    }
}
