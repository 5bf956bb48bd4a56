//! What secures the endpoint: the pair that the configuration names, read at the start and again
//! whenever its files change.

use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf, absolute};
use std::sync::Arc;
use std::time::Duration;

use gatefold_http::{CertificateAge, ListenerTls, TlsPair, TlsPairError};

use super::App;
use super::watch::{ConfigWatch, SeenFiles, WatchError};
use crate::config::{Config, TlsFiles};
use crate::files;

/// The largest file with a certificate or a key, in bytes.
const FILE_LIMIT: u64 = 256 * 1024;

/// How long before its end a certificate is warned of. Most are renewed a month before.
const EXPIRY_NOTICE: Duration = Duration::from_hours(7 * 24);

/// The permission of everybody to read a file.
const EVERYBODY_READS: u32 = 0o004;

/// Why the endpoint cannot be secured as the configuration says. It shows nothing of the key.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TlsError {
    #[error("`{}`, the {what} in `server.tls`, cannot be read: {error}", path.display())]
    Unreadable { what: &'static str, path: PathBuf, error: io::Error },
    #[error("`{}` and `{}`, in `server.tls`, cannot be used: {reason}", cert.display(), key.display())]
    Unusable { cert: PathBuf, key: PathBuf, reason: TlsPairError },
}

impl TlsError {
    /// What to do about it.
    pub fn fix(&self) -> &'static str {
        match self {
            Self::Unreadable { .. } => {
                "check the path, and that this user may read the file, or remove `server.tls`"
            }
            Self::Unusable { reason: TlsPairError::EncryptedKey, .. } => {
                "take the passphrase off: openssl pkey -in KEY -out NEW-KEY"
            }
            Self::Unusable { .. } => {
                "`cert` has the certificate, then its issuers', and `key` the key that it was made for"
            }
        }
    }
}

/// What works, but should not stay as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TlsWarning {
    pub what: String,
    pub fix: &'static str,
}

/// The pair of a configuration as `gatefold serve` would read it. `None` where none is named.
pub fn examine_tls(config: &Config) -> Option<Result<Vec<TlsWarning>, TlsError>> {
    let files = config.server.tls.as_ref()?;
    Some(read(files).map(|(_, warnings)| warnings))
}

/// The pair in use, and where it is read again.
pub(super) struct SecuredEndpoint {
    files: TlsFiles,
    /// What the files held just before they were read.
    seen: SeenFiles,
    listener: Arc<ListenerTls>,
    /// What was to be said of them then.
    warnings: Vec<TlsWarning>,
}

impl SecuredEndpoint {
    fn open(files: &TlsFiles) -> Result<Self, TlsError> {
        let whole = |path: &PathBuf| absolute(path).unwrap_or_else(|_| path.clone());
        let files = TlsFiles { cert: whole(&files.cert), key: whole(&files.key) };
        let seen = SeenFiles::of([files.cert.clone(), files.key.clone()]);
        let (pair, warnings) = read(&files)?;
        Ok(Self { files, seen, listener: Arc::new(ListenerTls::new(pair)), warnings })
    }
}

impl App {
    /// What secures the endpoint. The first call reads the files, and later ones share its pair.
    pub(super) fn listener_tls(&self) -> Result<Option<Arc<ListenerTls>>, TlsError> {
        if let Some(secured) = self.secured.get() {
            return Ok(Some(secured.listener.clone()));
        }
        let Some(files) = self.config().server.tls else { return Ok(None) };
        let opened = SecuredEndpoint::open(&files)?;
        Ok(Some(self.secured.get_or_init(|| opened).listener.clone()))
    }

    /// Whether the endpoint that [`Self::endpoint`] gave speaks HTTPS. A reload does not change it.
    pub fn is_secured(&self) -> bool {
        self.secured.get().is_some()
    }

    /// What was to be said of the endpoint's certificate and key when they were first read.
    pub fn tls_warnings(&self) -> &[TlsWarning] {
        self.secured.get().map_or(&[], |secured| &secured.warnings)
    }

    /// Reads the endpoint's certificate and key again, for new connections. A pair that cannot be
    /// used leaves the one in use. `None` where the endpoint does not speak HTTPS.
    pub fn reload_tls(&self) -> Option<Result<Vec<TlsWarning>, TlsError>> {
        let secured = self.secured.get()?;
        Some(read(&secured.files).map(|(pair, warnings)| {
            secured.listener.replace(pair);
            warnings
        }))
    }

    /// Watches the files of the certificate and its key. `None` where the endpoint does not speak
    /// HTTPS.
    pub fn watch_tls(&self) -> Option<Result<ConfigWatch, WatchError>> {
        let SecuredEndpoint { files, seen, .. } = self.secured.get()?;
        Some(ConfigWatch::new(&[files.cert.clone(), files.key.clone()], seen))
    }
}

fn read(files: &TlsFiles) -> Result<(TlsPair, Vec<TlsWarning>), TlsError> {
    let text = |what: &'static str, path: &PathBuf| {
        let unreadable = |error| TlsError::Unreadable { what, path: path.clone(), error };
        files::read(path, FILE_LIMIT).map_err(unreadable)
    };
    let (cert, key) = (text("certificate", &files.cert)?, text("key", &files.key)?);
    let unusable =
        |reason| TlsError::Unusable { cert: files.cert.clone(), key: files.key.clone(), reason };
    let pair = TlsPair::from_pem(&cert, &key).map_err(unusable)?;
    let warnings = open_key(&files.key).into_iter().chain(age(&files.cert, &pair)).collect();
    Ok((pair, warnings))
}

fn open_key(path: &Path) -> Option<TlsWarning> {
    let mode = std::fs::metadata(path).ok()?.permissions().mode();
    (mode & EVERYBODY_READS != 0).then(|| TlsWarning {
        what: format!("every user of this machine can read the key `{}`", path.display()),
        fix: "chmod 600 it, or 640 with a group of its own",
    })
}

fn age(path: &Path, pair: &TlsPair) -> Option<TlsWarning> {
    let path = path.display();
    let (what, fix) = match (pair.age_after(Duration::ZERO), pair.age_after(EXPIRY_NOTICE)) {
        (CertificateAge::Expired, _) => {
            (format!("the certificate `{path}` has expired"), "renew it")
        }
        (CertificateAge::NotYetValid, _) => (
            format!("the certificate `{path}` is not valid yet"),
            "check the clock of this machine",
        ),
        (CertificateAge::Valid, CertificateAge::Expired) => {
            (format!("the certificate `{path}` expires within a week"), "renew it")
        }
        (CertificateAge::Valid, _) => return None,
    };
    Some(TlsWarning { what, fix })
}
