//! `[users.NAME]`: people whom issuers know by other names, and their groups.

use std::collections::{BTreeMap, HashMap};

use gatefold_config::{Field, Table, Text, fault};
use gatefold_core::{Right, UserId};
use gatefold_identity::{IssuerSubject, is_plain_name};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer};

use super::ServerConfig;

/// One person.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UserConfig {
    /// By which issuer's tokens the person is known, and how it calls them.
    pub subject: Option<IssuerSubject>,
    /// The groups that the person is in, whatever an issuer says.
    pub groups: Vec<PeopleGroup>,
}

/// The name of a group of people.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema)]
#[schemars(with = "Text")]
pub struct PeopleGroup(pub String);

impl PeopleGroup {
    /// The right that its members have, by which rules know them.
    pub fn right(name: &str) -> Right {
        Right::new(format!("group:{name}"))
    }
}

impl<'de> Deserialize<'de> for PeopleGroup {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Text(text) = Text::deserialize(deserializer)?;
        if is_plain_name(&text) {
            return Ok(Self(text));
        }
        Err(fault("is not a name for a group", HINT))
    }
}

const HINT: &str = "use up to 128 bytes, without control characters or spaces around it";

/// One person: who they are at an issuer, and their groups.
///
/// `NAME` is who they are here: the user of `gatefold token create --for NAME`, of sessions, results, notes and
/// records. `users.local` is whoever reaches a gateway without tokens, and who runs `gatefold stdio`. A person of an
/// issuer who is not here is called `SUBJECT@HOST`, with the issuer's host and path.
#[derive(Deserialize, JsonSchema, Default)]
#[serde(default)]
pub(super) struct UserKeys {
    /// What the issuer calls the person.
    ///
    /// The claim `sub` of their tokens and ID tokens, which stays the same when a name changes.
    #[schemars(extend("examples" = ["00u1a2b3c4"], "x-unset" = "known by tokens of `gatefold token create` alone"))]
    subject: Option<Text>,
    /// Which issuer that is.
    #[schemars(extend("examples" = ["https://id.example"],
        "x-unset" = "the only one in `[[server.issuers]]` and `server.sign_in`", "x-needs" = ["subject"]))]
    issuer: Option<Text>,
    /// The groups that the person is in.
    ///
    /// Beside those that the issuer names. `sources.NAME.visible_to` asks for them.
    #[schemars(extend("examples" = [["finance"]], "x-unset" = "none but the issuer's"))]
    groups: Vec<PeopleGroup>,
}

pub(super) fn read(users: &Field<'_>, server: &ServerConfig) -> BTreeMap<UserId, UserConfig> {
    let Some(table) = users.table() else { return BTreeMap::new() };
    let mut known: HashMap<IssuerSubject, &str> = HashMap::new();
    let mut all = BTreeMap::new();
    for (name, field) in table.fields() {
        if !is_plain_name(name) {
            field.key_fault("is not a name for a user", HINT);
            continue;
        }
        let Some(table) = field.table() else { continue };
        let user = user(table, server);
        let subject = user.subject.clone();
        if let Some(other) = subject.and_then(|subject| known.insert(subject, name)) {
            let message = format!("is the same person as `users.{other}`");
            field.key_fault(message, "give each user a subject of their own");
        }
        all.insert(UserId::new(name), user);
    }
    all
}

fn user(mut table: Table<'_>, server: &ServerConfig) -> UserConfig {
    let keys: UserKeys = table.read().unwrap_or_default();
    let known: Vec<_> = server.known_issuers().collect();
    let issuer = match (&keys.issuer, known.as_slice()) {
        (Some(Text(named)), known) => {
            if let Some(field) = table.peek("issuer").filter(|_| !known.contains(&named.as_str())) {
                field.fault("is no issuer of the configuration", "write it as there");
            }
            Some(named.clone())
        }
        (None, [only]) => Some((*only).to_owned()),
        (None, _) => None,
    };
    if let Some(field) = table.peek("subject").filter(|_| issuer.is_none()) {
        let hint = "write the `issuer` beside it, one of those in `[[server.issuers]]` or in `server.sign_in`";
        field.key_fault("does not say at which issuer", hint);
    }
    if let Some(field) = table.peek("issuer").filter(|_| keys.subject.is_none()) {
        field.key_fault("needs `subject`", "write what the issuer calls the person");
    }
    table.finish();
    let subject = keys.subject.zip(issuer);
    let subject = subject.map(|(Text(subject), issuer)| IssuerSubject { issuer, subject });
    UserConfig { subject, groups: keys.groups }
}
