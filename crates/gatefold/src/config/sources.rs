//! `[sources.NAME]` of `gatefold.toml`.

use std::collections::HashMap;

use gatefold_catalog::GroupRules;
use gatefold_core::Domain;
use gatefold_policy::Effect;

use super::reader::{Field, Table};
use super::sections::{self, SourceLimits};
use super::{Connection, Origin, connection};

/// One source as its file has it, its domain not yet settled among all.
pub(super) struct SourceDraft {
    pub(super) origin: Origin,
    pub(super) domain: DraftDomain,
    pub(super) connection: Connection,
    pub(super) description: Option<String>,
    pub(super) groups: GroupRules,
    /// Patterns over the names of its own tools.
    pub(super) effects: Vec<(Effect, String)>,
    pub(super) limits: SourceLimits,
}

pub(super) enum DraftDomain {
    /// Stands in the file.
    Given(Domain),
    /// Made from the source's name; may take a number.
    Made(Domain),
}

const CONNECTION_HINT: &str =
    "give `command` for a program on this machine, or `url` for a server over HTTP";

pub(super) fn read(sources: &Field<'_>, defaults: SourceLimits) -> Vec<SourceDraft> {
    let Some(table) = sources.table() else {
        return Vec::new();
    };
    let mut given: HashMap<Domain, String> = HashMap::new();
    let mut drafts = Vec::new();
    for (name, field) in table.fields() {
        let Some(mut table) = field.table() else {
            continue;
        };
        let domain = domain(name, &mut table, &mut given);
        drafts.push(source(name, &field, table, domain, defaults));
    }
    drafts
}

/// The source's domain. One that is given must be given once.
fn domain(name: &str, table: &mut Table<'_>, given: &mut HashMap<Domain, String>) -> DraftDomain {
    let made = DraftDomain::Made(Domain::from_key(name));
    let Some(field) = table.field("domain") else {
        return made;
    };
    let hint = "use 1 to 40 of `a-z`, `0-9` and `_`, without `__`";
    let Some(domain) = field.parsed("a domain", hint, |text| Domain::parse(text).ok()) else {
        return made;
    };
    if let Some(other) = given.insert(domain.clone(), name.to_owned()) {
        let message = format!("is the domain of `sources.{other}` already: {domain}");
        field.fault(message, "give each source a domain of its own");
    }
    DraftDomain::Given(domain)
}

fn source(
    name: &str,
    field: &Field<'_>,
    mut table: Table<'_>,
    domain: DraftDomain,
    mut limits: SourceLimits,
) -> SourceDraft {
    let is_enabled = table.field("enabled").and_then(|field| field.flag()).unwrap_or(true);
    let description = table.field("description").and_then(|field| field.filled_text());
    let groups = table.field("groups").map(|field| groups(&field)).unwrap_or_default();
    let effects = sections::effects(&mut table);
    limits.read(&mut table);
    let connection = connection(field, &mut table);
    table.finish();
    // What is missing here costs this source alone: the others do not need it.
    let absent = field.reader.take_absent();
    let connection = match absent.into_iter().next() {
        Some(fault) => Connection::Unusable(Box::new(fault)),
        None => connection,
    };
    SourceDraft {
        origin: Origin {
            file: field.reader.path.to_owned(),
            line: field.line(),
            key: name.to_owned(),
        },
        domain,
        connection: if is_enabled { connection } else { Connection::Disabled },
        description: description.map(|description| description.text),
        groups,
        effects,
        limits,
    }
}

/// What a group may be called: models write it back, so nothing that needs quoting.
fn is_group_name(name: &str) -> bool {
    const LENGTH_LIMIT: usize = 64;
    let is_legal = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | ' ' | '/');
    (1..=LENGTH_LIMIT).contains(&name.chars().count()) && name.chars().all(is_legal)
}

fn groups(field: &Field<'_>) -> GroupRules {
    let mut rules = Vec::new();
    for (name, field) in field.table().iter().flat_map(Table::fields) {
        if !is_group_name(name) {
            field.key_fault(
                "is not a name for a group",
                "use 1 to 64 letters, digits, `_`, `-`, `/` and spaces",
            );
        }
        rules.extend(sections::texts(&field).into_iter().map(|pattern| (pattern, name)));
    }
    GroupRules::new(rules)
}

fn connection(source: &Field<'_>, table: &mut Table<'_>) -> Connection {
    let command = table.field("command");
    let url = table.field("url");
    let local = ["args", "env", "cwd", "inherit_env"].map(|key| table.field(key));
    let headers = table.field("headers");
    let none = Connection::Disabled;
    match (command, url) {
        (Some(command), None) => {
            if let Some(headers) = &headers {
                headers.key_fault("belongs to `url`, not to `command`", "remove it");
            }
            let [args, env, cwd, inherit_env] = local;
            Connection::Stdio {
                command: connection::command(&command).unwrap_or_default(),
                args: args.map(|field| connection::arguments(&field)).unwrap_or_default(),
                env: env.map(|field| connection::variables(&field)).unwrap_or_default(),
                inherit_env: inherit_env.map(|field| sections::texts(&field)).unwrap_or_default(),
                cwd: cwd.and_then(|field| sections::path(&field)),
            }
        }
        (None, Some(url)) => {
            for field in local.iter().flatten() {
                field.key_fault("belongs to `command`, not to `url`", "remove it");
            }
            let Some(url) = connection::url(&url) else {
                return none;
            };
            let headers = headers.map(|field| connection::headers(&field)).unwrap_or_default();
            Connection::Http { url, headers }
        }
        (Some(_), Some(url)) => {
            url.key_fault("stands beside `command`", "keep one of the two");
            none
        }
        (None, None) => {
            source.key_fault("says neither what to start nor where to connect", CONNECTION_HINT);
            none
        }
    }
}
