use std::path::{Path, PathBuf};

use gatefold::Environment;
use gatefold::config::{Inputs, secrets_file};
use gatefold_setup::{SecretStyle, secrets};

use crate::cli::arguments::{SecretTarget, SecretsFile};
use crate::cli::secret::SecretPlace;
use crate::cli::{failure, paths};

/// The file of secrets, beside the configuration, if no other is named.
const FILE_NAME: &str = "secrets.toml";

/// Where an import's secrets go.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum SecretDestination {
    Keyring,
    /// The file that the configuration already names.
    KnownFile(PathBuf),
    /// A file that the configuration should name from now on.
    NewFile(PathBuf),
    Variables,
}

impl SecretDestination {
    /// `file` is the command line's choice of a file, and `target` the configuration that the
    /// sources are written to.
    pub(super) fn chosen(
        to: SecretTarget,
        file: Option<&SecretsFile>,
        target: &Path,
        environment: &Environment,
    ) -> anyhow::Result<Self> {
        let inputs = Inputs { config: Some(target.to_owned()), ..Inputs::default() };
        let known = secrets_file(&inputs, environment);
        let given = match file {
            Some(SecretsFile::Named(path)) => Some(environment.directory().join(path)),
            Some(SecretsFile::Usual) | None => None,
        };
        if let (Some(known), Some(given)) = (&known, &given)
            && known != given
        {
            return Err(failure::usage(format!(
                "the configuration keeps its secrets in `{}` already\n  help: leave the path out",
                known.display()
            )));
        }
        Ok(match (to, known) {
            (SecretTarget::Auto, Some(known)) => Self::KnownFile(known),
            _ if file.is_some() => {
                Self::NewFile(given.unwrap_or_else(|| target.with_file_name(FILE_NAME)))
            }
            (SecretTarget::Keyring, _) => Self::Keyring,
            (SecretTarget::Auto, None) if secrets::is_available() => Self::Keyring,
            (SecretTarget::Auto | SecretTarget::Variables, _) => Self::Variables,
        })
    }

    pub(super) fn style(&self) -> SecretStyle {
        match self {
            Self::Variables => SecretStyle::Variable,
            Self::Keyring | Self::KnownFile(_) | Self::NewFile(_) => SecretStyle::Keyring,
        }
    }

    /// An environment that knows the secrets in the file.
    pub(super) fn environment(&self, environment: &Environment) -> Environment {
        match self {
            Self::KnownFile(path) | Self::NewFile(path) => environment.with_secret_file(path),
            Self::Keyring | Self::Variables => environment.clone(),
        }
    }

    /// The file that the configuration should name from now on, if it must change.
    pub(super) fn new_key(&self) -> Option<PathBuf> {
        match self {
            Self::NewFile(path) => Some(path.clone()),
            _ => None,
        }
    }

    /// Where to store the secrets, if anywhere.
    pub(super) fn place(&self, environment: &Environment) -> Option<SecretPlace> {
        match self {
            Self::Keyring => Some(SecretPlace::keyring()),
            Self::KnownFile(path) | Self::NewFile(path) => {
                Some(SecretPlace::file(path.clone(), environment))
            }
            Self::Variables => None,
        }
    }

    /// What happens to the secrets, in words for a heading.
    pub(super) fn whither(&self, environment: &Environment) -> String {
        match self {
            Self::Keyring => "go to the keyring".to_owned(),
            Self::KnownFile(path) | Self::NewFile(path) => {
                format!("go to {}, which only you can read", paths::shown(path, environment))
            }
            Self::Variables => "become references to variables".to_owned(),
        }
    }
}
