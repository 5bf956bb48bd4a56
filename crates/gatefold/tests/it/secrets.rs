//! Secrets from a keyring in configurations.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use gatefold::config::kinds::Need;
use gatefold::config::{Config, ConfigError, Inputs, load};
use gatefold::secrets::{SecretError, SecretName, SecretStore};
use gatefold_core::Secret;

use crate::scratch::Scratch;

/// A keyring that answers as told, and records what it was asked.
#[derive(Default)]
struct FakeKeyring {
    secrets: BTreeMap<&'static str, &'static str>,
    failure: Option<SecretError>,
    asked: Mutex<Vec<String>>,
}

impl SecretStore for FakeKeyring {
    fn get(&self, name: &SecretName, _: Duration) -> Result<Secret, SecretError> {
        self.asked.lock().unwrap().push(name.to_string());
        if let Some(failure) = &self.failure {
            return Err(failure.clone());
        }
        let found = self.secrets.get(name.as_str()).copied().map(Secret::new);
        found.ok_or_else(|| SecretError::Missing(name.clone()))
    }
}

fn load_with(keyring: &Arc<FakeKeyring>, text: &str) -> Result<Config, ConfigError> {
    let scratch = Scratch::new();
    scratch.write("gatefold.toml", text);
    let inputs = Inputs { config: Some("gatefold.toml".into()), ..Inputs::default() };
    load(&inputs, &scratch.environment().with_secrets(keyring.clone()))
}

const TWICE: &str = "[sources.a]\nurl = 'http://a.example/mcp'\n\
                     headers = { Authorization = 'Bearer ${secret:a-token}', X = '${secret:b}' }\n\
                     [sources.b]\ncommand = 'b'\nenv = { T = '${secret:a-token}' }\n";

#[test]
fn a_secret_stands_wherever_a_variable_may() {
    let secrets = BTreeMap::from([("a-token", "hunter2"), ("b", "x")]);
    let keyring = Arc::new(FakeKeyring { secrets, ..FakeKeyring::default() });
    let config = load_with(&keyring, TWICE).unwrap();
    let server = config.sources[0].section.need().and_then(Need::server).unwrap();
    assert_eq!(server.headers[0].1.expose(), "Bearer hunter2");
    let program = config.sources[1].section.need().and_then(Need::program).unwrap();
    assert_eq!(program.env[0].1.expose(), "hunter2");
    assert!(!format!("{config:?}").contains("hunter2"));
    assert_eq!(*keyring.asked.lock().unwrap(), ["a-token", "b"], "each name once");
}

#[cfg(feature = "knowledge")]
#[test]
fn a_secret_in_the_address_of_a_document_is_refused() {
    let secrets = BTreeMap::from([("a-token", "hunter2")]);
    let keyring = Arc::new(FakeKeyring { secrets, ..FakeKeyring::default() });
    let text = "[sources.a]\nknowledge = 'https://a.example/?t=${secret:a-token}'\n";
    let error = load_with(&keyring, text).unwrap_err().to_string();
    assert!(error.contains("has a user name or a secret in it"), "{error}");
    assert!(!error.contains("hunter2"), "{error}");
}

#[test]
fn no_reference_asks_no_keyring() {
    let keyring = Arc::new(FakeKeyring::default());
    load_with(&keyring, "[sources.b]\ncommand = 'b'\nargs = ['$${secret:x}', '${TOKEN}']\n")
        .unwrap();
    assert!(keyring.asked.lock().unwrap().is_empty());
}

#[test]
fn each_way_to_fail_names_its_fix() {
    let missing = None;
    let slow = Some(SecretError::Slow(Duration::from_secs(5)));
    let no_keyring = Some(SecretError::NoKeyring("no session bus".to_owned()));
    let cases = [
        (missing, 2, "the keyring has no secret `a-token`", "`gatefold secret set a-token`"),
        (Some(SecretError::Refused), 1, "unlocking it was refused", "unlock the keyring"),
        (slow, 1, "no answer within 5 s", "unlock the keyring"),
        (no_keyring, 1, "no session bus", "a variable instead and refer to it: `${A_TOKEN}`"),
    ];
    for (failure, asked, message, hint) in cases {
        let keyring = Arc::new(FakeKeyring { failure, ..FakeKeyring::default() });
        let config = load_with(&keyring, TWICE).unwrap();
        let faults: Vec<_> = config.sources.iter().map(|source| source.section.fault()).collect();
        let [Some(fault), Some(_)] = faults[..] else {
            panic!("{faults:?}");
        };
        assert_eq!((fault.line, fault.key.as_str()), (3, "sources.a.headers.Authorization"));
        assert!(fault.message.contains(message) && fault.hint.contains(hint), "{fault}");
        // After a final error, the keyring is not asked for any other name.
        assert_eq!(keyring.asked.lock().unwrap().len(), asked, "{config:?}");
    }
}

#[test]
fn a_secret_never_shows_in_a_fault() {
    let secrets = BTreeMap::from([("a-token", "hunter2")]);
    let keyring = Arc::new(FakeKeyring { secrets, ..FakeKeyring::default() });
    let text = "[server]\nlisten = '${secret:a-token}'\n[limits]\nx = 1\n";
    let error = load_with(&keyring, text).unwrap_err().to_string();
    assert!(error.contains("once its variables are put in"), "{error}");
    assert!(!error.contains("hunter2"), "{error}");
}
