//! The ways to sign in that a description names.

use url::Url;

use super::library::{Library, Node};
use crate::action::{ParameterPlace, SecurityRequirement, SecurityScheme};

/// How many ways an operation names, and how many schemes one way has.
const SCHEMES_LIMIT: usize = 16;

/// All ways that a description names.
#[derive(Debug, Default)]
pub(super) struct SecuritySchemes {
    by_name: SecurityRequirement,
    /// Where tokens for a client's own credentials come from.
    pub(super) token_urls: Vec<String>,
    /// Where people sign in.
    pub(super) code_flows: Vec<CodeFlowUrls>,
}

/// Where people sign in, as a description says it: by the authorisation-code flow of OAuth 2.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct CodeFlowUrls {
    pub authorize: Url,
    pub token: Url,
}

impl SecuritySchemes {
    pub(super) fn of(library: &Library) -> Self {
        let root = library.root();
        let new = root.get("components").and_then(|components| components.get("securitySchemes"));
        let declared = new.or_else(|| root.get("securityDefinitions"));
        let mut all = Self::default();
        let mut keys = Vec::new();
        for (name, node) in declared.into_iter().flat_map(Node::members) {
            let Ok(node) = library.resolve(node) else { continue };
            let scheme = scheme(node);
            keys.extend(scheme.clone().filter(SecurityScheme::is_key).map(|_| name.to_owned()));
            all.by_name.extend(scheme.map(|scheme| (name.to_owned(), scheme)));
            all.token_urls.extend(token_url(library, node));
            all.code_flows.extend(code_flow(library, node));
        }
        // The one that operations ask for by default, else the one that is declared first.
        let wanted = root.get("security").into_iter().flat_map(Node::items).flat_map(Node::members);
        let own = wanted.map(|(name, _)| name.to_owned()).find(|name| keys.contains(name));
        all.mark_further_keys(own.or(keys.into_iter().next()));
        all.token_urls.sort();
        all.token_urls.dedup();
        all.code_flows.sort();
        all.code_flows.dedup();
        all
    }

    /// Marks the keys that are neither this one nor at its place.
    fn mark_further_keys(&mut self, own: Option<String>) {
        let own = own.and_then(|name| self.by_name.get(&name).cloned());
        for scheme in self.by_name.values_mut().filter(|scheme| Some(&**scheme) != own.as_ref()) {
            if let SecurityScheme::Key { is_further, .. } = scheme {
                *is_further = true;
            }
        }
    }

    pub(super) fn all(&self) -> Vec<SecurityScheme> {
        self.by_name.values().cloned().collect()
    }

    /// All of them, by their names.
    pub(super) fn by_name(&self) -> &SecurityRequirement {
        &self.by_name
    }

    /// The ways for one operation: its own, else the description's, else each that is declared, since many
    /// descriptions declare a key and forget to say which operations want it. None if there is no way.
    pub(super) fn of_operation(
        &self,
        root: Node<'_>,
        operation: Node<'_>,
    ) -> Option<Vec<SecurityRequirement>> {
        let wanted = operation.get("security").or_else(|| root.get("security"));
        let Some(wanted) = wanted.filter(|wanted| wanted.value.is_array()) else {
            let alone = |(name, scheme): (&String, &SecurityScheme)| {
                SecurityRequirement::from([(name.clone(), scheme.clone())])
            };
            let declared: Vec<_> = self.by_name.iter().take(SCHEMES_LIMIT).map(alone).collect();
            return Some(declared).filter(|declared| !declared.is_empty());
        };
        let mut ways: Vec<SecurityRequirement> = Vec::new();
        for way in wanted.items() {
            let known = way.members().filter_map(|(name, _)| self.by_name.get_key_value(name));
            let known =
                known.take(SCHEMES_LIMIT).map(|(name, scheme)| (name.clone(), scheme.clone()));
            let known: SecurityRequirement = known.collect();
            // What is named but not declared is as good as nothing.
            let is_unknown = known.is_empty() && way.members().next().is_some();
            if !is_unknown && !ways.contains(&known) && ways.len() < SCHEMES_LIMIT {
                ways.push(known);
            }
        }
        let is_any_wanted = wanted.items().flat_map(Node::members).next().is_some();
        if !ways.iter().all(SecurityRequirement::is_empty) {
            return Some(ways);
        }
        if is_any_wanted { None } else { Some(Vec::new()) }
    }
}

fn scheme(node: Node<'_>) -> Option<SecurityScheme> {
    Some(match node.text("type")? {
        "basic" => SecurityScheme::Basic,
        "oauth2" | "openIdConnect" => SecurityScheme::Bearer,
        "mutualTLS" => SecurityScheme::MutualTls,
        "apiKey" => SecurityScheme::Key {
            place: match node.text("in")?.to_ascii_lowercase().as_str() {
                "header" => ParameterPlace::Header,
                "query" => ParameterPlace::Query,
                "cookie" => ParameterPlace::Cookie,
                _ => return None,
            },
            name: node.text("name").filter(|name| !name.is_empty())?.to_owned(),
            is_further: false,
        },
        "http" => match node.text("scheme")?.to_ascii_lowercase().as_str() {
            "bearer" => SecurityScheme::Bearer,
            "basic" => SecurityScheme::Basic,
            _ => SecurityScheme::Other(node.text("scheme")?.to_owned()),
        },
        _ => return None,
    })
}

fn token_url(library: &Library, node: Node<'_>) -> Option<String> {
    let flows = node.get("flows").and_then(|flows| flows.get("clientCredentials"));
    let of_swagger = || Some(node).filter(|node| node.text("flow") == Some("application"));
    let url = flows.or_else(of_swagger)?.text("tokenUrl")?;
    library.url_of(node).join(url).ok().map(String::from)
}

fn code_flow(library: &Library, node: Node<'_>) -> Option<CodeFlowUrls> {
    let flow = node.get("flows").and_then(|flows| flows.get("authorizationCode"));
    let of_swagger = || Some(node).filter(|node| node.text("flow") == Some("accessCode"));
    let flow = flow.or_else(of_swagger)?;
    let url = |key: &str| library.url_of(node).join(flow.text(key)?).ok();
    Some(CodeFlowUrls { authorize: url("authorizationUrl")?, token: url("tokenUrl")? })
}
