//! Where a database is, as one line of text says.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use gatefold_core::Secret;
use percent_encoding::{AsciiSet, CONTROLS, percent_decode_str, utf8_percent_encode};
use url::Url;

use crate::Dialect;

/// The longest address.
const MAX_ADDRESS_LENGTH: usize = 4_096;

/// What an address may look like, for whoever wrote another one.
const FORMS: &str = "`postgres://USER@HOST/DATABASE`, `mysql://USER@HOST/DATABASE`, \
                     `mariadb://USER@HOST/DATABASE` or `sqlite:PATH`";

/// The parameters that an address may have after its `?`.
const PARAMETERS: &str = "`sslmode` (or `ssl-mode`), `sslrootcert` (`ssl-ca`), `sslcert` \
                          (`ssl-cert`), `sslkey` (`ssl-key`), `host` and `socket`";

/// What stands for itself in no part of an address.
const ESCAPED: &AsciiSet = &CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'#')
    .add(b'%')
    .add(b'/')
    .add(b':')
    .add(b'?')
    .add(b'@')
    .add(b'[')
    .add(b'\\')
    .add(b']')
    .add(b'&')
    .add(b'=');

/// An address that cannot be read. No message holds the address, which may have a password in it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AddressError {
    #[error("the address is longer than {MAX_ADDRESS_LENGTH} bytes")]
    TooLong,
    #[error("it is no address of a database; write it as {FORMS}")]
    Malformed,
    #[error("`{0}` is no kind of database that is known; write the address as {FORMS}")]
    Scheme(String),
    #[error("the address names no file; write it as `sqlite:PATH`")]
    NoFile,
    #[error("an address of a file has no parameters; a path with a `?` in it cannot be used")]
    FileParameters,
    #[error("the {0} in the address is not written in UTF-8")]
    NotText(&'static str),
    #[error("the database in the address has a `/` in it; write that as `%2F`")]
    Path,
    #[error("the parameter `{0}` of the address is unknown; there are {PARAMETERS}")]
    Parameter(String),
    #[error("the parameter `{0}` of the address is given twice")]
    Twice(String),
    #[error(
        "`{0}` is no mode of TLS; there are `disable`, `prefer`, `require`, `verify-ca` and \
         `verify-full`"
    )]
    TlsMode(String),
    #[error("the parameter `{0}` of the address must be an absolute path")]
    Socket(&'static str),
}

/// Where a database is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DatabaseAddress {
    Sqlite(PathBuf),
    Server(ServerAddress),
}

/// Where a server of databases is, and what to say to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerAddress {
    pub dialect: Dialect,
    pub place: ServerPlace,
    pub port: u16,
    pub user: Option<String>,
    pub password: Option<Secret>,
    pub database: Option<String>,
    /// What the address itself says of TLS.
    pub tls: TlsSettings,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ServerPlace {
    /// A name or an IP address, an IPv6 one without brackets.
    Host(String),
    /// A Unix socket: for PostgreSQL its folder, for the others the socket itself.
    Socket(PathBuf),
}

/// How connections are encrypted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TlsSettings {
    /// Without one, encryption is tried and the server's certificate is not looked at.
    pub mode: Option<TlsMode>,
    /// A file with certificates to trust beside the public ones.
    pub ca: Option<PathBuf>,
    pub cert: Option<PathBuf>,
    pub key: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TlsMode {
    Disable,
    Prefer,
    Require,
    /// The certificate must be signed by someone trusted.
    VerifyCa,
    /// It must also be the host's own.
    VerifyFull,
}

impl DatabaseAddress {
    pub fn parse(text: &str) -> Result<Self, AddressError> {
        if text.len() > MAX_ADDRESS_LENGTH {
            return Err(AddressError::TooLong);
        }
        let (scheme, rest) = text.split_once(':').ok_or(AddressError::Malformed)?;
        let dialect = match scheme.to_ascii_lowercase().as_str() {
            "sqlite" => return sqlite(rest),
            "postgres" | "postgresql" => Dialect::Postgres,
            "mysql" => Dialect::MySql,
            "mariadb" => Dialect::MariaDb,
            // Text before a colon may be a user's name and what follows a password.
            _ if !rest.starts_with("//") => return Err(AddressError::Malformed),
            other => return Err(AddressError::Scheme(other.to_owned())),
        };
        ServerAddress::parse(dialect, text).map(Self::Server)
    }

    pub fn dialect(&self) -> Dialect {
        match self {
            Self::Sqlite(_) => Dialect::Sqlite,
            Self::Server(server) => server.dialect,
        }
    }
}

fn sqlite(rest: &str) -> Result<DatabaseAddress, AddressError> {
    let path = rest.strip_prefix("//").unwrap_or(rest);
    if path.is_empty() || path == ":memory:" {
        return Err(AddressError::NoFile);
    }
    if path.contains('?') {
        return Err(AddressError::FileParameters);
    }
    Ok(DatabaseAddress::Sqlite(PathBuf::from(path)))
}

impl ServerAddress {
    fn parse(dialect: Dialect, text: &str) -> Result<Self, AddressError> {
        let url = Url::parse(text).map_err(|_| AddressError::Malformed)?;
        if url.cannot_be_a_base() || url.fragment().is_some() {
            return Err(AddressError::Malformed);
        }
        let host = decoded(url.host_str().unwrap_or_default(), "host")?;
        let path = url.path().strip_prefix('/').unwrap_or_default();
        if path.contains('/') {
            return Err(AddressError::Path);
        }
        let parameters = Parameters::parse(url.query().unwrap_or_default())?;
        let place = match (parameters.place, host) {
            (Some(place), _) => place,
            (None, host) if host.starts_with('/') => ServerPlace::Socket(PathBuf::from(host)),
            (None, host) if host.is_empty() => ServerPlace::Host("localhost".to_owned()),
            (None, host) => ServerPlace::Host(host.trim_matches(['[', ']']).to_owned()),
        };
        let password = url.password().map(|text| decoded(text, "password")).transpose()?;
        Ok(Self {
            dialect,
            place,
            port: url.port().unwrap_or(default_port(dialect)),
            user: filled(decoded(url.username(), "user")?),
            password: password.and_then(filled).map(Secret::new),
            database: filled(decoded(path, "database")?),
            tls: parameters.tls,
        })
    }
}

/// What follows the `?`.
#[derive(Default)]
struct Parameters {
    place: Option<ServerPlace>,
    tls: TlsSettings,
}

impl Parameters {
    fn parse(query: &str) -> Result<Self, AddressError> {
        let mut found = Self::default();
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let value = decoded(value, "parameter")?;
            let is_new = match name {
                "sslmode" | "ssl-mode" => found.tls.mode.replace(value.parse()?).is_none(),
                "sslrootcert" | "ssl-ca" => found.tls.ca.replace(value.into()).is_none(),
                "sslcert" | "ssl-cert" => found.tls.cert.replace(value.into()).is_none(),
                "sslkey" | "ssl-key" => found.tls.key.replace(value.into()).is_none(),
                "host" if !value.starts_with('/') => {
                    found.place.replace(ServerPlace::Host(value)).is_none()
                }
                "socket" if !value.starts_with('/') => return Err(AddressError::Socket("socket")),
                "host" | "socket" => {
                    found.place.replace(ServerPlace::Socket(value.into())).is_none()
                }
                other => return Err(AddressError::Parameter(other.to_owned())),
            };
            if !is_new {
                return Err(AddressError::Twice(name.to_owned()));
            }
        }
        Ok(found)
    }
}

impl TlsSettings {
    /// These settings, with what they leave open taken from others.
    #[must_use]
    pub fn or(&self, others: &Self) -> Self {
        // A certificate and its key belong together.
        let own = if self.cert.is_some() || self.key.is_some() { self } else { others };
        Self {
            mode: self.mode.or(others.mode),
            ca: self.ca.clone().or_else(|| others.ca.clone()),
            cert: own.cert.clone(),
            key: own.key.clone(),
        }
    }
}

impl FromStr for TlsMode {
    type Err = AddressError;

    /// Reads the names that PostgreSQL gives the modes, and those of MySQL.
    fn from_str(text: &str) -> Result<Self, AddressError> {
        match text.to_ascii_lowercase().replace('_', "-").as_str() {
            "disable" | "disabled" => Ok(Self::Disable),
            "prefer" | "preferred" => Ok(Self::Prefer),
            "require" | "required" => Ok(Self::Require),
            "verify-ca" => Ok(Self::VerifyCa),
            "verify-full" | "verify-identity" => Ok(Self::VerifyFull),
            _ => Err(AddressError::TlsMode(text.to_owned())),
        }
    }
}

impl fmt::Display for TlsMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Disable => "disable",
            Self::Prefer => "prefer",
            Self::Require => "require",
            Self::VerifyCa => "verify-ca",
            Self::VerifyFull => "verify-full",
        })
    }
}

/// The address without its password.
impl fmt::Display for DatabaseAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sqlite(path) => write!(f, "sqlite:{}", path.display()),
            Self::Server(server) => server.fmt(f),
        }
    }
}

/// The address without its password.
impl fmt::Display for ServerAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.dialect {
            Dialect::MySql => "mysql://",
            Dialect::MariaDb => "mariadb://",
            Dialect::Sqlite | Dialect::Postgres => "postgres://",
        })?;
        if let Some(user) = &self.user {
            write!(f, "{}@", escaped(user))?;
        }
        match &self.place {
            ServerPlace::Host(host) if host.contains(':') => write!(f, "[{host}]")?,
            ServerPlace::Host(host) => write!(f, "{}", escaped(host))?,
            ServerPlace::Socket(path) => write!(f, "{}", escaped(&path.to_string_lossy()))?,
        }
        if self.port != default_port(self.dialect) {
            write!(f, ":{}", self.port)?;
        }
        if let Some(database) = &self.database {
            write!(f, "/{}", escaped(database))?;
        }
        let path = |path: Option<&PathBuf>| path.map(|path| path.to_string_lossy().into_owned());
        let parameters = [
            ("sslmode", self.tls.mode.map(|mode| mode.to_string())),
            ("sslrootcert", path(self.tls.ca.as_ref())),
            ("sslcert", path(self.tls.cert.as_ref())),
            ("sslkey", path(self.tls.key.as_ref())),
        ];
        let given = parameters.iter().filter_map(|(name, value)| Some((name, value.as_ref()?)));
        for (at, (name, value)) in given.enumerate() {
            write!(f, "{}{name}={}", if at == 0 { '?' } else { '&' }, escaped(value))?;
        }
        Ok(())
    }
}

fn default_port(dialect: Dialect) -> u16 {
    match dialect {
        Dialect::MySql | Dialect::MariaDb => 3_306,
        Dialect::Sqlite | Dialect::Postgres => 5_432,
    }
}

fn escaped(text: &str) -> impl fmt::Display {
    utf8_percent_encode(text, ESCAPED)
}

fn decoded(text: &str, part: &'static str) -> Result<String, AddressError> {
    let text = percent_decode_str(text).decode_utf8().map_err(|_| AddressError::NotText(part))?;
    // A zero byte would end the text early for the server.
    if text.contains('\0') { Err(AddressError::NotText(part)) } else { Ok(text.into_owned()) }
}

fn filled(text: String) -> Option<String> {
    (!text.is_empty()).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn server(text: &str) -> ServerAddress {
        match DatabaseAddress::parse(text).expect(text) {
            DatabaseAddress::Server(server) => server,
            DatabaseAddress::Sqlite(path) => panic!("{}", path.display()),
        }
    }

    #[test]
    fn an_address_is_shown_without_its_password() {
        let check = |text: &str, shown: &str| {
            let address = DatabaseAddress::parse(text).expect(text);
            assert_eq!(address.to_string(), shown);
            assert!(!format!("{address:?}").contains("hunter2"), "{address:?}");
            assert_eq!(DatabaseAddress::parse(shown).expect(shown).to_string(), shown);
        };
        check("postgres://reader:hunter2@db.example/hr", "postgres://reader@db.example/hr");
        check("postgresql://db.example:5433", "postgres://db.example:5433");
        check("postgres://r%40d:hunter2@[::1]/a%2Fb", "postgres://r%40d@[::1]/a%2Fb");
        check("postgres:///hr?host=/var/run/pg", "postgres://%2Fvar%2Frun%2Fpg/hr");
        check("mysql://u@h:3306/d?ssl-mode=VERIFY_IDENTITY", "mysql://u@h/d?sslmode=verify-full");
        check("mariadb:///d?socket=/run/m.sock", "mariadb://%2Frun%2Fm.sock/d");
        check("sqlite:data/hr.db", "sqlite:data/hr.db");
        check("sqlite:///data/hr.db", "sqlite:/data/hr.db");
    }

    #[test]
    fn an_address_is_read_in_its_parts() {
        let read = server("postgres://us%20er:p%3Aw@%2Frun%2Fpg/hr?sslmode=require&ssl-ca=/ca.pem");
        assert_eq!(read.place, ServerPlace::Socket("/run/pg".into()));
        assert_eq!(read.user.as_deref(), Some("us er"));
        assert_eq!(read.password, Some(Secret::new("p:w")));
        assert_eq!(read.database.as_deref(), Some("hr"));
        assert_eq!(read.tls.mode, Some(TlsMode::Require));
        assert_eq!(read.tls.ca, Some("/ca.pem".into()));
        assert_eq!(server("mariadb://h").port, 3_306);
        assert_eq!(server("postgres://h").database, None);
        assert_eq!(server("postgres://[::1]:7/x").place, ServerPlace::Host("::1".to_owned()));
    }

    #[test]
    fn a_wrong_address_says_why_and_shows_no_password() {
        let check = |text: &str, part: &str| {
            let error = DatabaseAddress::parse(text).expect_err(text).to_string();
            assert!(error.contains(part), "{text}: {error}");
            assert!(!error.contains("hunter2"), "{error}");
        };
        check("", "write it as");
        check("user:hunter2@host/db", "write it as");
        check("oracle://u:hunter2@h/db", "`oracle` is no kind");
        check("postgres:hunter2", "write it as");
        check("postgres://u:hunter2@h:99999/db", "write it as");
        check("postgres://u:hunter2@h/a/b", "%2F");
        check("postgres://u:hunter2@h/a?sslmod=require", "`sslmod` of the address is unknown");
        check("postgres://u:hunter2@h/a?sslmode=maybe", "`maybe` is no mode");
        check("postgres://u:hunter2@h/a?sslmode=require&ssl-mode=disable", "twice");
        check("postgres://u:hunter2@h/%ff", "not written in UTF-8");
        check("mysql://u:hunter2@h/a?socket=x", "absolute path");
        check("sqlite:", "names no file");
        check("sqlite::memory:", "names no file");
        check("sqlite:a.db?mode=rwc", "no parameters");
        check(&format!("postgres://u:hunter2@h/{}", "x".repeat(5_000)), "longer than");
    }

    #[test]
    fn settings_go_before_what_the_address_says() {
        let ours = TlsSettings { key: Some("k".into()), ..TlsSettings::default() };
        let others = TlsSettings {
            mode: Some(TlsMode::Require),
            ca: Some("ca".into()),
            cert: Some("c".into()),
            key: None,
        };
        let both = ours.or(&others);
        assert_eq!((both.mode, both.ca), (Some(TlsMode::Require), Some("ca".into())));
        assert_eq!((both.cert, both.key), (None, Some("k".into())));
    }
}
