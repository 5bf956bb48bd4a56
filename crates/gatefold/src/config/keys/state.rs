//! What is kept, and what protects it.

use super::super::key::{ApplyMode, Key, Kind};
use super::super::root_key;
use super::FixedSection;

pub(super) const SECRETS: FixedSection = FixedSection {
    path: "secrets",
    summary: "Where `${secret:NAME}` is looked up, and what protects kept sign-ins.",
    details: "",
    keys: &[
        Key {
            details: "A TOML file with a line `NAME = \"VALUE\"` for each secret, for machines without a \
                  keyring. Only its owner may read it (mode 600). What is not in it is looked up in the \
                  keyring. `gatefold secret` and `gatefold import` write to it.",
            value: |config| Some(config.secrets_file.as_ref()?.display().to_string().into()),
            unset: "secrets are in the operating system's keyring",
            example: "\"~/.config/gatefold/secrets.toml\"",
            ..Key::new("file", Kind::Path, "A file of secrets.")
        },
        Key {
            details: "At least 32 characters, from a variable or the keyring, or a `command` that prints \
                      them: a program and its arguments, run once, when the first sign-in is read or \
                      kept. Without it, the key is in the file `root.key` of the state directory, which \
                      only its owner can read.",
            value: |config| root_key::shown(config.root_key.given.as_ref()),
            unset: "a file in the state directory",
            example: "\"${ROOT_KEY:-Zm9yIGV4YW1wbGUgb25seSwgbm90IGEga2V5ISE=}\"",
            applies: ApplyMode::Restart,
            ..Key::new("root_key", Kind::RootKey, "The key that protects kept sign-ins.")
        },
        Key {
            details: "Until `gatefold secret rotate` has sealed everything anew. A key in the file needs \
                      no mention.",
            value: |config| root_key::shown(config.root_key.previous.as_ref()),
            unset: "none",
            example: "\"${OLD_ROOT_KEY:-Zm9yIGV4YW1wbGUgb25seSwgbm90IGEga2V5ISE=}\"",
            applies: ApplyMode::Restart,
            ..Key::new("previous_root_key", Kind::RootKey, "The key before `root_key`.")
        },
    ],
};

pub(super) const STATE: FixedSection = FixedSection {
    path: "state",
    summary: "What Gatefold keeps.",
    details: "",
    keys: &[Key {
        details: "`--state-dir` and `GATEFOLD_STATE_DIR` win over it.",
        value: |config| Some(config.state_dir.as_ref()?.display().to_string().into()),
        unset: "`$XDG_STATE_HOME/gatefold`, else `~/.local/state/gatefold`",
        example: "\"~/gatefold-state\"",
        applies: ApplyMode::Restart,
        ..Key::new("dir", Kind::Path, "The directory for audit records and manifests.")
    }],
};
