use std::fmt;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use gatefold_catalog::KindName;
use gatefold_core::{Digest, Secret};
use gatefold_dispatch::Source;
use gatefold_egress::{Egress, EgressError, PrivateNetworks, Reach};
use gatefold_mcp::{
    EraChoice, HttpSettings, McpPorts, McpSettings, McpSource, StdioSettings, Transport,
};
use gatefold_oauth::ClientSettings;
use serde_json::{Value as Json, json};

use super::McpKind;
use crate::config::SourceSection;
use crate::config::kinds::credentials::ClientHeaders;
use crate::config::kinds::oauth::SignInKeys;
use crate::config::kinds::{
    AllowPrivate, DigestParts, KindSection, Need, ProgramNeed, ServerNeed, SignInSettings,
    SourceIdentity, SourcePorts,
};

/// How an MCP server is reached. Its `Debug` shows nothing that may be secret.
#[derive(Clone)]
pub enum McpConnection {
    /// A program that talks over standard input and output.
    Stdio {
        command: String,
        args: Vec<String>,
        env: Vec<(String, Secret)>,
        /// Further variables that the program inherits from Gatefold.
        inherit_env: Vec<String>,
        cwd: Option<PathBuf>,
    },
    /// A server over streamable HTTP.
    Http { url: String, headers: Vec<(String, Secret)> },
}

impl McpConnection {
    /// All its texts, including secret ones, in order.
    pub fn texts(&self) -> Vec<&str> {
        let (mut texts, pairs) = match self {
            Self::Stdio { command, args, env, cwd, .. } => {
                let mut texts = vec![command.as_str()];
                texts.extend(args.iter().map(String::as_str));
                texts.extend(cwd.as_deref().and_then(Path::to_str));
                (texts, env)
            }
            Self::Http { url, headers } => (vec![url.as_str()], headers),
        };
        texts.extend(pairs.iter().map(|(_, value)| value.expose()));
        texts
    }

    /// What is reached, as whom and with which settings, in a fixed order. A program without a
    /// folder of its own starts in `folder`.
    pub fn reach_from(&self, folder: Option<&Path>) -> Digest {
        let mut parts = DigestParts::new();
        parts.add(McpKind::NAME.as_str());
        match self {
            Self::Stdio { command, args, env, inherit_env, cwd } => {
                let mut inherited: Vec<_> = inherit_env.iter().collect();
                inherited.sort_unstable();
                parts.add("stdio");
                parts.add(command);
                parts.add_list(args, |parts, arg| parts.add(arg));
                parts.add_pairs(&sorted(env, str::to_owned));
                parts.add_list(&inherited, |parts, name| parts.add(name));
                // A folder is the same, however many `./` its path contains.
                let folder = cwd.as_deref().or(folder);
                let folder: Option<PathBuf> = folder.map(|folder| folder.components().collect());
                add_path(&mut parts, folder.as_deref());
            }
            Self::Http { url, headers } => {
                parts.add("http");
                parts.add(url);
                // Header names are case-insensitive (RFC 9110, section 5.1).
                parts.add_pairs(&sorted(headers, str::to_ascii_lowercase));
            }
        }
        parts.finish()
    }

    /// A source that is reached so. Users of a server sign in there if it asks for that, as this
    /// client of its provider, if there is one.
    pub(crate) fn with_sign_in(self, client: Option<ClientSettings>) -> SourceSection {
        let sign_in = self.may_sign_in().then(|| SignInKeys::of_client(client));
        let (private, era) = (AllowPrivate::default(), EraChoice::Auto);
        McpSection { connection: self, private, sign_in, era }.into()
    }

    /// Whether users may sign in at it: it is a server, and no header signs in already.
    pub(crate) fn may_sign_in(&self) -> bool {
        match self {
            Self::Stdio { .. } => false,
            Self::Http { headers, .. } => {
                !headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("authorization"))
            }
        }
    }

    fn build_in(
        &self,
        era: EraChoice,
        private: &PrivateNetworks,
        identity: SourceIdentity,
        ports: &SourcePorts,
    ) -> Arc<dyn Source> {
        let credentials = ports.credentials_at(&identity.domain);
        let settings = McpSettings {
            domain: identity.domain,
            transport: self.transport(&ports.egress),
            era,
            connect_deadline: identity.connect_deadline,
            install_deadline: identity.install_deadline,
            idle_stop: identity.idle_stop,
            config_digest: identity.config_digest,
        };
        let ports = McpPorts {
            client: ports.egress.client_for(self.reach_in(private)),
            credentials,
            keeper: ports.manifests.clone(),
            clock: ports.clock.clone(),
            starts: ports.starts.clone(),
            sessions: ports.sessions.clone(),
            path: ports.path.clone(),
            containers: Some(ports.containers.clone()),
        };
        McpSource::new(settings, ports, identity.known)
    }

    /// A program is reached without a client.
    fn reach_in(&self, private: &PrivateNetworks) -> Reach {
        match self {
            Self::Stdio { .. } => Reach::public(),
            Self::Http { url, .. } => Reach::for_source([url.as_str()], private.clone()),
        }
    }

    fn transport(&self, egress: &Egress) -> Transport {
        match self.clone() {
            Self::Stdio { command, args, env, inherit_env, cwd } => {
                Transport::Stdio(StdioSettings { command, args, env, inherit_env, cwd })
            }
            Self::Http { url, .. } if !can_trust(&url, egress) => {
                Transport::Unusable(EgressError::NoRoots.to_string())
            }
            Self::Http { url, headers } => Transport::Http(HttpSettings { url, headers }),
        }
    }
}

/// A whole section: how the server is reached, in which networks its name may be, and in which era
/// it is spoken to.
pub(super) struct McpSection {
    pub(super) connection: McpConnection,
    pub(super) private: AllowPrivate,
    /// None if the configuration has what signs in, or there is nothing to sign in to.
    pub(super) sign_in: Option<SignInKeys>,
    pub(super) era: EraChoice,
}

impl KindSection for McpSection {
    fn kind(&self) -> KindName {
        self.connection.kind()
    }

    fn digest(&self, parts: &mut DigestParts) {
        self.connection.digest(parts);
        self.private.digest(parts);
        if let Some(sign_in) = &self.sign_in {
            sign_in.digest(parts);
        }
        // Without a choice, data that the first release kept on disk is still found.
        if let Some(word) = chosen_era(self.era) {
            parts.add("era");
            parts.add(word);
        }
    }

    fn reach(&self) -> Digest {
        self.connection.reach()
    }

    fn summary(&self) -> String {
        self.connection.summary()
    }

    fn shown(&self) -> Json {
        let mut shown = self.connection.shown();
        if let Some(allowed) = self.private.shown() {
            shown["allow_private"] = allowed;
        }
        let (oauth, credentials) = self.sign_in.as_ref().map(SignInKeys::shown).unwrap_or_default();
        for (key, value) in [("oauth", oauth), ("credentials", credentials)] {
            if let Some(value) = value {
                shown[key] = value;
            }
        }
        if let Some(word) = chosen_era(self.era) {
            shown["era"] = word.into();
        }
        shown
    }

    fn need(&self) -> Option<Need<'_>> {
        self.connection.need().map(|need| match need {
            Need::Server(server) => Need::Server(ServerNeed { private: &self.private.0, ..server }),
            Need::Program(_) => need,
        })
    }

    fn sign_in(&self) -> Option<SignInSettings> {
        let McpConnection::Http { url, .. } = &self.connection else { return None };
        self.sign_in.as_ref()?.settings(url, &self.private)
    }

    fn client_headers(&self) -> Option<ClientHeaders> {
        self.sign_in.as_ref()?.client_headers().cloned()
    }

    fn build(&self, identity: SourceIdentity, ports: &SourcePorts) -> Arc<dyn Source> {
        self.connection.build_in(self.era, &self.private.0, identity, ports)
    }
}

impl fmt::Debug for McpSection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (era, allowed) = (chosen_era(self.era), self.private.shown());
        let sign_in = self.sign_in.as_ref().filter(|keys| keys.is_set());
        if era.is_none() && allowed.is_none() && sign_in.is_none() {
            return self.connection.fmt(f);
        }
        let mut shown = f.debug_struct("McpSection");
        shown.field("connection", &self.connection);
        if let Some(allowed) = allowed {
            shown.field("allow_private", &format_args!("{allowed}"));
        }
        if let Some(sign_in) = sign_in {
            shown.field("sign_in", sign_in);
        }
        if let Some(era) = era {
            shown.field("era", &era);
        }
        shown.finish()
    }
}

fn chosen_era(era: EraChoice) -> Option<&'static str> {
    match era {
        EraChoice::Auto => None,
        EraChoice::Handshake => Some("handshake"),
        EraChoice::Stateless => Some("stateless"),
    }
}

impl KindSection for McpConnection {
    fn kind(&self) -> KindName {
        McpKind::NAME
    }

    // The parts must stay those of the first release, so that the data that it kept on disk is
    // still found.
    fn digest(&self, parts: &mut DigestParts) {
        match self {
            Self::Stdio { command, args, env, inherit_env, cwd } => {
                parts.add("stdio");
                parts.add(command);
                parts.add_list(args, |parts, arg| parts.add(arg));
                parts.add_pairs(env);
                parts.add_list(inherit_env, |parts, name| parts.add(name));
                add_path(parts, cwd.as_deref());
            }
            Self::Http { url, headers } => {
                parts.add("http");
                parts.add(url);
                parts.add_pairs(headers);
            }
        }
    }

    fn reach(&self) -> Digest {
        self.reach_from(None)
    }

    /// Arguments are counted only, and addresses end after their host, because the rest may be
    /// secret.
    fn summary(&self) -> String {
        match self {
            Self::Stdio { command, args, env, .. } => {
                let env: Vec<_> = env.iter().map(|(name, _)| format!(" {name}=***")).collect();
                let count = match args.len() {
                    0 => String::new(),
                    1 => " and 1 argument".to_owned(),
                    count => format!(" and {count} arguments"),
                };
                format!("{command}{count}{}", env.concat())
            }
            Self::Http { url, headers } => {
                let headers: Vec<_> =
                    headers.iter().map(|(name, _)| format!(" {name}: ***")).collect();
                format!("{}{}", host_of(url), headers.concat())
            }
        }
    }

    fn shown(&self) -> Json {
        let names = |pairs: &[(String, Secret)]| {
            pairs.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>()
        };
        match self {
            Self::Stdio { command, args, env, inherit_env, cwd } => json!({
                "kind": "stdio",
                "command": command,
                "arguments": args.len(),
                "env": names(env),
                "inherit_env": inherit_env,
                "cwd": cwd,
            }),
            Self::Http { url, headers } => {
                json!({ "kind": "http", "host": host_of(url), "headers": names(headers) })
            }
        }
    }

    fn need(&self) -> Option<Need<'_>> {
        Some(match self {
            Self::Stdio { command, args, env, cwd, .. } => {
                Need::Program(ProgramNeed { command, args, env, cwd: cwd.as_deref() })
            }
            Self::Http { url, headers } => {
                Need::Server(ServerNeed { url, headers, private: &PrivateNetworks::None })
            }
        })
    }

    fn build(&self, identity: SourceIdentity, ports: &SourcePorts) -> Arc<dyn Source> {
        self.build_in(EraChoice::Auto, &PrivateNetworks::None, identity, ports)
    }
}

impl fmt::Debug for McpConnection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stdio { command, args, env, inherit_env, cwd } => f
                .debug_struct("Stdio")
                .field("command", command)
                .field("args", &format_args!("{} hidden", args.len()))
                .field("env", env)
                .field("inherit_env", inherit_env)
                .field("cwd", cwd)
                .finish(),
            Self::Http { headers, .. } => {
                f.debug_struct("Http").field("headers", headers).finish_non_exhaustive()
            }
        }
    }
}

fn add_path(parts: &mut DigestParts, path: Option<&Path>) {
    parts.add_list(path.as_slice(), |parts, path| parts.add(path.as_os_str().as_bytes()));
}

fn sorted(pairs: &[(String, Secret)], name: fn(&str) -> String) -> Vec<(String, Secret)> {
    let mut pairs: Vec<_> = pairs.iter().map(|(key, value)| (name(key), value.clone())).collect();
    pairs.sort_by(|(one, _), (other, _)| one.cmp(other));
    pairs
}

/// Whether there are certificates to verify the server's, if it has one.
fn can_trust(url: &str, egress: &Egress) -> bool {
    let is_plain = url.parse().is_ok_and(|url: http::Uri| url.scheme_str() == Some("http"));
    is_plain || egress.has_roots()
}

fn host_of(url: &str) -> String {
    let uri: http::Uri = url.parse().unwrap_or_default();
    let port = uri.port().map(|port| format!(":{port}")).unwrap_or_default();
    let (scheme, host) = (uri.scheme_str().unwrap_or("http"), uri.host().unwrap_or_default());
    format!("{scheme}://{host}{port}/...")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_of_variables_makes_no_other_server_and_inherited_ones_do() {
        let stdio = |names: &[&str], inherited: &[&str]| {
            let connection = McpConnection::Stdio {
                command: "sh".to_owned(),
                args: Vec::new(),
                env: names.iter().map(|name| ((*name).to_owned(), Secret::new("x"))).collect(),
                inherit_env: inherited.iter().map(|name| (*name).to_owned()).collect(),
                cwd: None,
            };
            connection.reach()
        };
        assert_eq!(stdio(&["A", "B"], &[]), stdio(&["B", "A"], &[]));
        assert_ne!(stdio(&["A"], &["C"]), stdio(&["A"], &[]));
    }
}
