//! The secrets that a server was given, which may turn up in what it says.

use gatefold_dispatch::CredentialSet;
use gatefold_secrecy::{KnownSecrets, SecretValues};

use super::child_command::inherited;
use super::settings::Transport;

/// Masks a server's secrets in everything that it says.
pub(super) fn of_transport(transport: &Transport) -> KnownSecrets {
    KnownSecrets::new(&values(transport))
}

/// The same, and credentials that a port gave.
pub(super) fn with_credentials<'a>(
    transport: &Transport,
    sets: impl IntoIterator<Item = &'a CredentialSet>,
) -> KnownSecrets {
    let mut values = values(transport);
    for credential in sets.into_iter().flat_map(|set| set.iter()) {
        values.add_named(&credential.name, credential.value.expose());
    }
    KnownSecrets::new(&values)
}

fn values(transport: &Transport) -> SecretValues {
    let mut values = SecretValues::default();
    match transport {
        Transport::Stdio(stdio) => {
            for (name, value) in &stdio.env {
                values.add_named(name, value.expose());
            }
            for (name, value) in inherited(&stdio.inherit_env) {
                values.add_named(name, &value);
            }
            // Joined, because an option says what the next argument is.
            values.add_text(&stdio.args.join(" "));
        }
        Transport::Http(http) => {
            for (name, value) in &http.headers {
                values.add_named(name, value.expose());
            }
            values.add_text(&http.url);
        }
        Transport::Disabled | Transport::Unusable(_) => {}
    }
    values
}
