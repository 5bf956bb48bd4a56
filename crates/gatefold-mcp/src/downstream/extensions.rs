//! Extensions of the protocol: what a client must declare, and the methods of skills.

use futures::future::join_all;
use gatefold_catalog::address;
use gatefold_core::{Domain, ExtensionMethod, ExtensionRequest, Operation, Outcome, Uri};
use gatefold_dispatch::{Caller, ClientCapabilities};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::fields::bounded_uri;
use super::message::RequestParams;
use super::results::{CachePolicy, head};
use super::server::RequestScope;
use crate::protocol::Era;
use crate::protocol::RpcError;

/// Tasks (SEP-2663).
pub(super) const TASKS: &str = "io.modelcontextprotocol/tasks";
/// Skills (SEP-2640).
pub(super) const SKILLS: &str = "io.modelcontextprotocol/skills";

/// Tools with pages that their hosts show (MCP Apps, SEP-1865).
const APPS: &str = "io.modelcontextprotocol/ui";

/// Whether the gateway can keep what a source promises with an extension.
pub(super) fn is_relayed(extension: &str, era: Era) -> bool {
    match extension {
        // Their methods exist only in the stateless era.
        TASKS => era == Era::Stateless,
        SKILLS | APPS => true,
        _ => false,
    }
}

/// The root address of a source's skills.
const SKILLS_ROOT: &str = "skill://";
/// The most pages of one source's skills that are joined. The rest is left out, with a warning.
const PAGES: usize = 50;

/// Refuses a client that did not declare an extension.
pub(super) fn require(client: &ClientCapabilities, extension: &str) -> Result<(), RpcError> {
    let declared = serde_json::from_str::<Value>(client.raw().get()).ok();
    let extensions = declared.as_ref().and_then(|declared| declared.get("extensions"));
    match extensions.and_then(|extensions| extensions.get(extension)) {
        Some(_) => Ok(()),
        None => Err(RpcError::missing_extension(extension)),
    }
}

impl RequestScope {
    /// One source's skills a page at a time; those of several sources in one list.
    pub(super) async fn skills_list(
        &self,
        params: RequestParams,
        caller: Caller,
    ) -> Result<String, RpcError> {
        if let Some(domain) = self.turn.audience().own_source() {
            let operation = listed(domain, params.cursor);
            return self.result(operation, None, caller, CachePolicy::Private).await;
        }
        let domains = self.domains_with_skills();
        let asked = domains.iter().map(|domain| self.skills_of(domain, &caller));
        let listed = caller.cancel.run_until_cancelled(join_all(asked)).await;
        let skills: Vec<_> = listed.unwrap_or_default().into_iter().flatten().collect();
        let head = head(self.era, CachePolicy::Private);
        Ok(format!(r#"{{{head}"skills":[{}]}}"#, skills.join(",")))
    }

    /// One skill, or the content of one of its folders.
    pub(super) async fn ask_about_resource(
        &self,
        method: ExtensionMethod,
        params: RequestParams,
        caller: Caller,
    ) -> Result<String, RpcError> {
        let uri = self.turn.resource_uri(bounded_uri(&params)?);
        let request = ExtensionRequest { method, uri, cursor: params.cursor };
        let operation = Operation::Extension(request);
        self.result(operation, None, caller, CachePolicy::Private).await
    }

    fn domains_with_skills(&self) -> Vec<Domain> {
        let has_skills = |capabilities: &str| {
            let declared = serde_json::from_str::<Value>(capabilities).ok();
            declared.is_some_and(|declared| declared["extensions"].get(SKILLS).is_some())
        };
        let domains = self.turn.view().domains().filter(|entry| {
            let server = entry.manifest().and_then(|manifest| manifest.server());
            server.and_then(|server| server.capabilities.as_deref()).is_some_and(has_skills)
        });
        domains.map(|entry| entry.domain().clone()).collect()
    }

    /// All skills of one source, under their addresses. A failing source has none.
    async fn skills_of(&self, domain: &Domain, caller: &Caller) -> Vec<String> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct SkillPage<'a> {
            #[serde(borrow, default)]
            skills: Vec<&'a RawValue>,
            #[serde(default)]
            next_cursor: Option<String>,
        }
        let (mut skills, mut cursor) = (Vec::new(), None);
        for _ in 0..PAGES {
            let cancel = caller.cancel.clone();
            let own = Caller { cancel, meta: caller.meta.clone(), ..Caller::silent() };
            let outcome = self.turn.operate(listed(domain, cursor), None, own).await;
            let page = match outcome {
                Ok(Outcome::Done(payload)) => payload.json,
                Ok(_) => return skills,
                Err(error) => {
                    tracing::warn!(%domain, %error, "the skills of a source could not be listed");
                    return skills;
                }
            };
            let Ok(page) = serde_json::from_str::<SkillPage<'_>>(page.get()) else {
                return skills;
            };
            skills.extend(page.skills.iter().map(|skill| skill.get().to_owned()));
            cursor = page.next_cursor;
            if cursor.is_none() {
                return skills;
            }
        }
        tracing::warn!(%domain, PAGES, "a source has more pages of skills than are listed");
        skills
    }
}

fn listed(domain: &Domain, cursor: Option<String>) -> Operation {
    let uri = Uri::new(address(domain, SKILLS_ROOT));
    Operation::Extension(ExtensionRequest { method: ExtensionMethod::SKILLS, uri, cursor })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_extension_has_to_be_declared() {
        let declared = |text: &str| {
            let raw = RawValue::from_string(text.to_owned()).unwrap();
            require(&ClientCapabilities::read(&raw), TASKS).map_err(|error| error.code)
        };
        assert_eq!(declared("{}"), Err(-32021));
        assert_eq!(declared(r#"{"extensions":{"x/y":{}}}"#), Err(-32021));
        let tasks = r#"{"extensions":{"io.modelcontextprotocol/tasks":{}}}"#;
        assert_eq!(declared(tasks), Ok(()));
    }
}
