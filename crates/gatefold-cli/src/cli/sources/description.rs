//! A source as the command line describes it.

mod local;

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use gatefold::Environment;
use gatefold::config::kinds::mcp::McpConnection;
use gatefold_core::Secret;
use gatefold_setup::{self as setup, NewApi, NewAuth, NewConnection, NewDatabase, NewSource};

use crate::cli::failure;

#[derive(Debug, Args)]
pub(super) struct SourceDescription {
    /// The source's name
    pub(super) name: String,
    /// The address of a server over streamable HTTP
    url: Option<String>,
    /// What comes behind the first word of a command without `--` before it
    #[arg(hide = true)]
    rest: Vec<String>,
    /// The program to start and its arguments
    #[arg(last = true)]
    command: Vec<String>,
    /// The OpenAPI description of an HTTP API: a file or a URL
    #[arg(long, value_name = "FILE|URL")]
    openapi: Option<String>,
    /// The address of a database: `postgres://USER@HOST/DATABASE`, `mysql://...`, `mariadb://...` or `sqlite:PATH`
    #[arg(long, value_name = "URL", conflicts_with = "openapi")]
    database: Option<String>,
    /// Built-in tools by their names, or `all`
    #[arg(
        long,
        value_name = "TOOL",
        value_delimiter = ',',
        conflicts_with_all = ["openapi", "database"],
    )]
    builtin: Vec<String>,
    /// A folder of skills in the open Agent Skills format
    #[arg(long, value_name = "DIR", conflicts_with_all = ["openapi", "database", "builtin"])]
    skills: Option<String>,
    /// Where the API is, if not where its description says
    #[arg(long, value_name = "URL", requires = "openapi")]
    base_url: Option<String>,
    /// Credentials for a URL or an API, in single quotes: `bearer:${secret:NAME}` or `header:NAME=VALUE`; for an
    /// API also `key:VALUE` and `basic:USER:PASSWORD`; for a database `password:${secret:NAME}`
    #[arg(long, value_name = "AUTH")]
    auth: Vec<String>,
    /// A header for a URL; may be given more than once
    #[arg(long, short = 'H', value_name = "NAME: VALUE")]
    header: Vec<String>,
    /// The variable that holds a bearer token for a URL
    #[arg(long, value_name = "VAR")]
    bearer_token_env_var: Option<String>,
    /// A variable for a program; may be given more than once. `NAME` alone passes on Gatefold's own
    #[arg(long, short, value_name = "NAME=VALUE")]
    env: Vec<String>,
    /// The directory that a program starts in
    #[arg(long, value_name = "DIR")]
    cwd: Option<PathBuf>,
    /// How the server speaks; a URL or a command says it already
    #[arg(long, short, value_enum)]
    transport: Option<TransportName>,
    /// What the source is for, in the words that models read
    #[arg(long, value_name = "TEXT")]
    description: Option<String>,
    /// Serve only the tools that match these patterns
    #[arg(long, value_name = "PATTERN", value_delimiter = ',', alias = "include-tools")]
    allow: Vec<String>,
    /// Do not serve the tools that match these patterns
    #[arg(long, value_name = "PATTERN", value_delimiter = ',', alias = "exclude-tools")]
    deny: Vec<String>,
    #[arg(long = "url", value_name = "URL", hide = true, conflicts_with = "url")]
    url_option: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum TransportName {
    /// A program that talks over standard input and output
    Stdio,
    /// Streamable HTTP
    #[value(alias = "streamable-http", alias = "streamable_http")]
    Http,
    #[value(hide = true)]
    Sse,
}

/// What a shell does to `${...}` in double quotes or without quotes.
const QUOTES: &str = "put it in single quotes: the shell replaces `${...}` elsewhere";

impl SourceDescription {
    /// The source, for a configuration at this path.
    pub(super) fn source(
        &self,
        config: &Path,
        environment: &Environment,
    ) -> anyhow::Result<NewSource> {
        let connection = if !self.builtin.is_empty() {
            NewConnection::Builtin(self.builtin()?)
        } else if let Some(openapi) = &self.openapi {
            NewConnection::Api(self.api(openapi, config, environment)?)
        } else if let Some(database) = &self.database {
            NewConnection::Database(self.database(database, config, environment)?)
        } else if let Some(folder) = &self.skills {
            NewConnection::Skills(self.skills(folder, config, environment)?)
        } else {
            NewConnection::Mcp(self.server(environment)?)
        };
        Ok(NewSource {
            name: self.name.clone(),
            connection,
            description: self.description.clone(),
            allow: self.allow.clone(),
            deny: self.deny.clone(),
        })
    }

    fn server(&self, environment: &Environment) -> anyhow::Result<McpConnection> {
        let url = self.url.as_ref().or(self.url_option.as_ref());
        match (url, self.command.split_first()) {
            (Some(url), None) => self.remote(url),
            (None, Some((program, args))) => self.program(program, args, environment),
            (Some(url), Some(_)) => Err(failure::usage(format!(
                "there is both an address and a command: `{}`\n  help: leave one of them out",
                without_secrets(url)
            ))),
            (None, None) => Err(failure::usage(format!(
                "nothing says what `{name}` is\n  help: give an address, `gatefold add {name} \
                 https://host.example/mcp`, a command, `gatefold add {name} -- npx -y some-server`, the \
                 description of an HTTP API, `gatefold add {name} --openapi FILE`, a database, `gatefold \
                 add {name} --database postgres://USER@HOST/DATABASE`, built-in tools, `gatefold add \
                 {name} --builtin all`, or a folder of skills, `gatefold add {name} --skills DIR`",
                name = self.name
            ))),
        }
    }

    fn api(
        &self,
        openapi: &str,
        config: &Path,
        environment: &Environment,
    ) -> anyhow::Result<NewApi> {
        let url = self.url.as_ref().or(self.url_option.as_ref());
        if url.is_some() || !self.command.is_empty() || self.transport.is_some() {
            return Err(failure::usage(
                "`--openapi` says what the source is, and so does the rest\n  help: leave the address or \
                 the command out; `--base-url` says where the API is",
            ));
        }
        if !self.env.is_empty() || self.cwd.is_some() {
            return Err(failure::usage(
                "`--env` and `--cwd` are for a program, and this is an API\n  help: leave them out; \
                 credentials go into `--auth`",
            ));
        }
        let (mut auth, mut schemes, mut headers) = (None, Vec::new(), Vec::new());
        for given in &self.auth {
            match api_auth(given)? {
                ApiCredential::Scheme(name, value) => schemes.push((name, value)),
                ApiCredential::Auth(new) if auth.is_none() => auth = Some(new),
                ApiCredential::Auth(_) => {
                    return Err(failure::usage(
                        "`--auth` is given twice\n  help: leave one of them out",
                    ));
                }
                ApiCredential::Header(name, value) => headers.push((name, Secret::new(value))),
            }
        }
        for header in &self.header {
            let (name, value) = plain_header(header)?;
            headers.push((name, Secret::new(value)));
        }
        if let Some(variable) = &self.bearer_token_env_var {
            auth.get_or_insert(NewAuth::Bearer(Secret::new(format!("${{{variable}}}"))));
        }
        let openapi = described_at(openapi, config, environment)?;
        Ok(NewApi { openapi, base_url: self.base_url.clone(), auth, schemes, headers })
    }

    fn database(
        &self,
        database: &str,
        config: &Path,
        environment: &Environment,
    ) -> anyhow::Result<NewDatabase> {
        let url = self.url.as_ref().or(self.url_option.as_ref());
        if url.is_some() || !self.command.is_empty() || self.transport.is_some() {
            return Err(failure::usage(
                "`--database` says what the source is, and so does the rest\n  help: leave the address or \
                 the command out",
            ));
        }
        let is_for_others = !self.env.is_empty()
            || self.cwd.is_some()
            || !self.header.is_empty()
            || self.bearer_token_env_var.is_some();
        if is_for_others || self.auth.len() > 1 {
            return Err(failure::usage(format!(
                "a database has only a password\n  help: {PASSWORD}"
            )));
        }
        let password = self.auth.first().map(|given| password(given)).transpose()?;
        let database = match database.strip_prefix("sqlite:") {
            Some(path) => {
                let path = path.strip_prefix("//").unwrap_or(path);
                format!("sqlite:{}", database_at(path, config, environment)?)
            }
            None => database.to_owned(),
        };
        Ok(NewDatabase { database, password })
    }

    fn remote(&self, url: &str) -> anyhow::Result<McpConnection> {
        if !url.contains("://") && !url.contains("${") {
            return Err(self.no_address(url));
        }
        if url.trim_end_matches('/').ends_with("/sse") && self.transport.is_none()
            || self.transport == Some(TransportName::Sse)
        {
            return Err(failure::usage(
                "HTTP+SSE, the transport of 2024, is not supported\n  help: use the server's streamable \
                 HTTP address, which mostly ends in `/mcp`; `--transport http` takes this one as it is",
            ));
        }
        if self.transport == Some(TransportName::Stdio) {
            return Err(failure::usage(
                "`--transport stdio` is for a program, and this is an address\n  help: leave it out",
            ));
        }
        if !self.env.is_empty() || self.cwd.is_some() {
            return Err(failure::usage(
                "`--env` and `--cwd` are for a program, and this is an address\n  help: leave them out; \
                 credentials of an address go into `--auth`",
            ));
        }
        let mut headers = Vec::new();
        for auth in &self.auth {
            headers.push(auth_header(auth)?);
        }
        for header in &self.header {
            headers.push(plain_header(header)?);
        }
        if let Some(variable) = &self.bearer_token_env_var {
            headers.push(("Authorization".to_owned(), format!("Bearer ${{{variable}}}")));
        }
        for (at, (name, _)) in headers.iter().enumerate() {
            if headers[..at].iter().any(|(other, _)| other.eq_ignore_ascii_case(name)) {
                return Err(failure::usage(format!(
                    "the header `{name}` is given twice\n  help: leave one of them out"
                )));
            }
        }
        let headers = headers.into_iter().map(|(name, value)| (name, Secret::new(value)));
        Ok(McpConnection::Http { url: url.to_owned(), headers: headers.collect() })
    }

    /// The words look like a command, but the dashes are missing.
    fn no_address(&self, first: &str) -> anyhow::Error {
        let words = std::iter::once(first).chain(self.rest.iter().map(String::as_str));
        let command: Vec<_> = words.map(without_secrets).collect();
        failure::usage(format!(
            "`{first}` is no address\n  help: write it whole, `https://{first}`, or put `--` before a \
             command: `gatefold add {name} -- {command}`",
            first = without_secrets(first),
            name = self.name,
            command = command.join(" "),
        ))
    }

    fn program(
        &self,
        program: &str,
        args: &[String],
        environment: &Environment,
    ) -> anyhow::Result<McpConnection> {
        if matches!(self.transport, Some(TransportName::Http | TransportName::Sse)) {
            return Err(failure::usage(
                "`--transport http` is for an address, and this is a command\n  help: leave it out",
            ));
        }
        if !self.auth.is_empty() || !self.header.is_empty() || self.bearer_token_env_var.is_some() {
            return Err(failure::usage(
                "`--auth` and `--header` are for an address, and this is a command\n  help: give a \
                 program its credentials in a variable: `--env 'TOKEN=${secret:NAME}'`",
            ));
        }
        if program.contains("://") {
            return Err(failure::usage(format!(
                "`{url}` is an address, not a command\n  help: leave the `--` before it out",
                url = without_secrets(program)
            )));
        }
        let (mut env, mut inherit_env) = (Vec::new(), Vec::new());
        for pair in &self.env {
            match pair.split_once('=') {
                Some((name, value)) if is_variable(name) => {
                    env.push((name.to_owned(), Secret::new(value)));
                }
                None if is_variable(pair) => inherit_env.push(pair.clone()),
                _ => {
                    return Err(failure::usage(
                        "`--env` does not begin with the name of a variable\n  help: write it as \
                         `NAME=VALUE`",
                    ));
                }
            }
        }
        let directory = environment.directory();
        let cwd = self.cwd.as_ref().map(|cwd| directory.join(cwd).components().collect());
        Ok(McpConnection::Stdio {
            command: program_path(program, directory),
            args: args.to_vec(),
            env,
            inherit_env,
            cwd,
        })
    }
}

/// Makes a program in the working directory absolute, so that it is found from anywhere.
fn program_path(program: &str, directory: &Path) -> String {
    let path = directory.join(program);
    if program.contains('/') && !program.starts_with(['/', '$', '~']) && path.is_file() {
        let path: PathBuf = path.components().collect();
        return path.display().to_string();
    }
    program.to_owned()
}

/// A file's path as the configuration should have it: relative to it if the file is below its folder.
fn described_at(openapi: &str, config: &Path, environment: &Environment) -> anyhow::Result<String> {
    if openapi.contains("://") || openapi.starts_with(['$', '~']) {
        return Ok(openapi.to_owned());
    }
    let hint = "check the path, or give the whole address of the description";
    file_at(openapi, hint, config, environment)
}

/// The same for the file of a database.
fn database_at(path: &str, config: &Path, environment: &Environment) -> anyhow::Result<String> {
    if path.starts_with(['$', '~']) {
        return Ok(path.to_owned());
    }
    file_at(path, "check the path; Gatefold makes no database", config, environment)
}

fn file_at(
    file: &str,
    hint: &str,
    config: &Path,
    environment: &Environment,
) -> anyhow::Result<String> {
    let path = environment.directory().join(file);
    if !path.is_file() {
        return Err(failure::usage(format!("there is no file `{file}`\n  help: {hint}")));
    }
    Ok(below_config(&path, config, environment))
}

/// A path as a configuration should have it: relative to it if it is below its folder.
pub(in crate::cli) fn below_config(
    path: &Path,
    config: &Path,
    environment: &Environment,
) -> String {
    let path: PathBuf = path.components().collect();
    let folder = config.parent().map(|folder| environment.directory().join(folder));
    let below = folder.as_deref().and_then(|folder| path.strip_prefix(folder).ok());
    let below = below.filter(|below| !below.as_os_str().is_empty());
    below.unwrap_or(&path).display().to_string()
}

const PASSWORD: &str =
    "write `--auth 'password:${secret:NAME}'`, in single quotes, and the rest into the address";

/// `password:PASSWORD`.
fn password(auth: &str) -> anyhow::Result<Secret> {
    match auth.split_once(':') {
        Some((kind, password)) if kind == "password" && !password.is_empty() => {
            Ok(Secret::new(password))
        }
        _ => Err(failure::usage(format!("`--auth` holds no password\n  help: {PASSWORD}"))),
    }
}

/// What `--auth` gives an API.
enum ApiCredential {
    Auth(NewAuth),
    Header(String, String),
    /// For one scheme of the description.
    Scheme(String, Secret),
}

fn api_auth(auth: &str) -> anyhow::Result<ApiCredential> {
    let empty = || failure::usage(format!("`--auth` holds no credential\n  help: {QUOTES}"));
    let (kind, rest) = auth.split_once(':').ok_or_else(|| failure::usage(API_AUTH_FORMS))?;
    if rest.trim().is_empty() {
        return Err(empty());
    }
    let secret = Secret::new(rest.trim());
    Ok(match kind.to_ascii_lowercase().as_str() {
        "bearer" => ApiCredential::Auth(NewAuth::Bearer(secret)),
        "key" => ApiCredential::Auth(NewAuth::ApiKey(secret)),
        "basic" => {
            let (username, password) =
                rest.split_once(':').ok_or_else(|| failure::usage(API_AUTH_FORMS))?;
            let (username, password) = (username.to_owned(), Secret::new(password));
            ApiCredential::Auth(NewAuth::Basic { username, password })
        }
        "header" => {
            let (name, value) = auth_header(auth)?;
            ApiCredential::Header(name, value)
        }
        "scheme" => match rest.split_once('=') {
            Some((name, value)) if !name.trim().is_empty() && !value.trim().is_empty() => {
                ApiCredential::Scheme(name.trim().to_owned(), Secret::new(value.trim()))
            }
            _ => return Err(failure::usage(API_AUTH_FORMS)),
        },
        _ => return Err(failure::usage(API_AUTH_FORMS)),
    })
}

const API_AUTH_FORMS: &str = "`--auth` is in no known form\n  help: write `--auth \
                              'bearer:${secret:NAME}'`, `'key:${secret:NAME}'`, \
                              `'basic:USER:${secret:NAME}'`, `'header:NAME=${secret:NAME}'` or, \
                              once for each security scheme of the description, \
                              `'scheme:SCHEME=${secret:NAME}'`";

fn is_variable(name: &str) -> bool {
    let is_legal = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    !name.is_empty()
        && name.chars().all(is_legal)
        && !name.starts_with(|c: char| c.is_ascii_digit())
}

/// `bearer:TOKEN` or `header:NAME=VALUE`.
fn auth_header(auth: &str) -> anyhow::Result<(String, String)> {
    let header = match auth.split_once(':') {
        Some((kind, token)) if kind.eq_ignore_ascii_case("bearer") => (
            "Authorization".to_owned(),
            format!("Bearer {}", token.trim()),
            token.trim().is_empty(),
        ),
        Some((kind, pair)) if kind.eq_ignore_ascii_case("header") => match pair.split_once('=') {
            Some((name, value)) => (name.to_owned(), value.to_owned(), value.trim().is_empty()),
            None => return Err(failure::usage(AUTH_FORMS)),
        },
        _ => return Err(failure::usage(AUTH_FORMS)),
    };
    let (name, value, is_empty) = header;
    if is_empty {
        return Err(failure::usage(format!("`--auth` holds no credential\n  help: {QUOTES}")));
    }
    Ok((name, value))
}

const AUTH_FORMS: &str = "`--auth` is in no known form\n  help: write `--auth \
                          'bearer:${secret:NAME}'` or `--auth 'header:NAME=${secret:NAME}'`";

/// `NAME: VALUE`, as other programs write it, or `NAME=VALUE`.
fn plain_header(header: &str) -> anyhow::Result<(String, String)> {
    let (name, value) = header.split_once([':', '=']).ok_or_else(|| {
        failure::usage("`--header` has no value\n  help: write it as `--header 'NAME: VALUE'`")
    })?;
    let value = value.trim();
    if value.is_empty() {
        let name = name.trim();
        return Err(failure::usage(format!("the header `{name}` is empty\n  help: {QUOTES}")));
    }
    Ok((name.trim().to_owned(), value.to_owned()))
}

/// A word of the command line as an error may repeat it.
fn without_secrets(word: &str) -> String {
    setup::redacted(word)
}
