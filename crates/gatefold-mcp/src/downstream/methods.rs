//! The protocol's methods, one by one.

use std::sync::Arc;

use gatefold_catalog::address;
use gatefold_core::{
    Completion, ExtensionMethod, Operation, Reference, Resume, TaskAct, TaskRequest, ToolName, Uri,
};
use gatefold_dispatch::Caller;
use gatefold_exchange::{Audience, List};
use serde_json::value::RawValue;

use super::client::{Client, ClientState};
use super::extensions;
use super::fields::{URI_BYTES, bounded_uri, missing, required};
use super::greetings;
use super::message::RequestParams;
use super::results::{CachePolicy, head};
use super::server::{RequestScope, Server};
use super::subscriptions::{Addition, ClientSubscriptions, SUBSCRIPTIONS};
use crate::protocol::{Era, LogLevel, RpcError, methods};

/// The longest prompt's name that is looked up, in bytes.
const PROMPT_NAME_BYTES: usize = 512;

impl Server {
    /// Answers one request. The transports handle `initialize` and the methods that open streams.
    pub(super) async fn answer(
        self: Arc<Self>,
        audience: Audience,
        client: Client,
        method: String,
        params: RequestParams,
        caller: Caller,
    ) -> Result<String, RpcError> {
        let era = client.era();
        if let (methods::PING, ClientState::Session(_)) = (method.as_str(), &client.standing) {
            return Ok("{}".to_owned());
        }
        let audience = self.for_client(&audience, client.name.as_ref());
        let audience = client.audience_of(audience);
        let scope = self.informed_scope(&audience, client.principal.clone(), era).await;
        let scope = scope.ok_or_else(|| RpcError::invalid_request("there is no such source"))?;
        match (method.as_str(), &client.standing) {
            (methods::TOOLS_LIST, _) => scope.whole_list(List::Tools, &params, &caller).await,
            (methods::PROMPTS_LIST, _) => scope.whole_list(List::Prompts, &params, &caller).await,
            (methods::RESOURCES_LIST, _) => {
                scope.whole_list(List::Resources, &params, &caller).await
            }
            (methods::TEMPLATES_LIST, _) => {
                scope.whole_list(List::Templates, &params, &caller).await
            }
            (methods::TOOLS_CALL, _) => scope.tools_call(params, caller).await,
            (methods::PROMPTS_GET, _) => scope.prompts_get(params, caller).await,
            (methods::RESOURCES_READ, _) => scope.resources_read(params, caller).await,
            (methods::COMPLETE, _) => scope.complete(params, caller).await,
            (methods::SKILLS_LIST, _) => scope.skills_list(params, caller).await,
            (methods::SKILLS_GET, _) => {
                scope.ask_about_resource(ExtensionMethod::SKILL, params, caller).await
            }
            (methods::DIRECTORY_READ, _) => {
                scope.ask_about_resource(ExtensionMethod::DIRECTORY, params, caller).await
            }
            (
                methods::TASKS_GET | methods::TASKS_CANCEL | methods::TASKS_UPDATE,
                ClientState::Stateless(capabilities),
            ) => {
                extensions::require(capabilities, extensions::TASKS)?;
                scope.tasks(&method, params, caller).await
            }
            (methods::DISCOVER, ClientState::Stateless(_)) => Ok(greetings::discovered(&scope)),
            (methods::SET_LOG_LEVEL, ClientState::Session(session)) => {
                let level = required(params.level.as_deref(), "level")?;
                let level = LogLevel::parse(level).ok_or_else(|| {
                    RpcError::invalid_params(format!("`level` must be {}", LogLevel::WORDS))
                })?;
                session.set_log_level(level);
                Ok("{}".to_owned())
            }
            (methods::RESOURCES_SUBSCRIBE, ClientState::Session(session)) => {
                let uri = bounded_uri(&params)?;
                scope.subscribe(&session.subscriptions, uri, caller).await?;
                Ok("{}".to_owned())
            }
            (methods::RESOURCES_UNSUBSCRIBE, ClientState::Session(session)) => {
                scope.unsubscribe(&session.subscriptions, bounded_uri(&params)?, caller).await
            }
            _ => Err(RpcError::unknown_method(&method)),
        }
    }
}

impl RequestScope {
    /// Lists are sent whole, so no cursor was ever given out.
    async fn whole_list(
        &self,
        list: List,
        params: &RequestParams,
        caller: &Caller,
    ) -> Result<String, RpcError> {
        match &params.cursor {
            None => self.list(list, caller).await,
            Some(_) => Err(RpcError::invalid_params(
                "this `cursor` was not given out here; ask without one",
            )),
        }
    }

    async fn tools_call(&self, params: RequestParams, caller: Caller) -> Result<String, RpcError> {
        let name = tool_name(required(params.name.as_deref(), "name")?)?;
        let arguments = arguments(params.arguments)?;
        let resume = resume(params.input_responses, params.request_state);
        self.call_tool(&name, arguments, resume, caller).await
    }

    async fn prompts_get(&self, params: RequestParams, caller: Caller) -> Result<String, RpcError> {
        let name = prompt_name(required(params.name.as_deref(), "name")?)?;
        let name = self.turn.prompt_name(name);
        let arguments = arguments(params.arguments)?;
        let resume = resume(params.input_responses, params.request_state);
        let operation = Operation::Prompt { name, arguments };
        self.result(operation, resume, caller, CachePolicy::No).await
    }

    async fn resources_read(
        &self,
        params: RequestParams,
        caller: Caller,
    ) -> Result<String, RpcError> {
        let uri = self.turn.resource_uri(bounded_uri(&params)?);
        let resume = resume(params.input_responses, params.request_state);
        self.result(Operation::Resource(uri), resume, caller, CachePolicy::Private).await
    }

    async fn complete(&self, params: RequestParams, caller: Caller) -> Result<String, RpcError> {
        let reference = params.reference.ok_or_else(|| missing("ref"))?;
        let argument = params.argument.ok_or_else(|| missing("argument"))?;
        let reference = match (reference.kind.as_str(), &reference.name, &reference.uri) {
            ("ref/prompt", Some(name), _) => {
                Reference::Prompt(self.turn.prompt_name(prompt_name(name)?))
            }
            ("ref/resource", _, Some(uri)) if uri.len() <= URI_BYTES => {
                Reference::Resource(self.turn.resource_uri(uri))
            }
            _ => {
                return Err(RpcError::invalid_params(
                    "`ref` must be a `ref/prompt` with a `name` or a `ref/resource` with a `uri`",
                ));
            }
        };
        let context = params.context.map(|context| format!(r#","context":{context}"#));
        let text = format!(r#"{{"argument":{argument}{}}}"#, context.unwrap_or_default());
        let params = RawValue::from_string(text);
        let params = params.map_err(|_| RpcError::invalid_params("`argument` is not JSON"))?;
        let operation = Operation::Complete(Completion { reference, params });
        self.result(operation, None, caller, CachePolicy::No).await
    }

    async fn tasks(
        &self,
        method: &str,
        params: RequestParams,
        caller: Caller,
    ) -> Result<String, RpcError> {
        let task = required(params.task_id.as_deref(), "taskId")?.to_owned();
        let act = match method {
            methods::TASKS_GET => TaskAct::Get,
            methods::TASKS_CANCEL => TaskAct::Cancel,
            _ => TaskAct::Update(params.input_responses.ok_or_else(|| missing("inputResponses"))?),
        };
        let operation = Operation::Task(TaskRequest { task, act });
        self.result(operation, None, caller, CachePolicy::No).await
    }

    /// Subscribes a client to a resource, unless it is already.
    pub(super) async fn subscribe(
        &self,
        subscriptions: &ClientSubscriptions,
        uri: &str,
        caller: Caller,
    ) -> Result<(), RpcError> {
        let public = self.turn.resource_uri(uri);
        let target = self.turn.resource(&public);
        if target.as_ref().is_some_and(|t| subscriptions.has(&t.domain, &t.name)) {
            return Ok(());
        }
        if subscriptions.is_full() {
            return Err(too_many_subscriptions());
        }
        let done = self.turn.operate(Operation::Subscribe(public), None, caller).await;
        done.map_err(|error| self.refusal(error))?;
        let Some(target) = target else { return Ok(()) };
        let added = subscriptions.add(target.domain.clone(), target.name.clone(), uri);
        if added != Addition::Added {
            // Another request of the same client was faster.
            self.turn.release(&target.domain, &target.name);
        }
        if added == Addition::Full { Err(too_many_subscriptions()) } else { Ok(()) }
    }

    async fn unsubscribe(
        &self,
        subscriptions: &ClientSubscriptions,
        uri: &str,
        caller: Caller,
    ) -> Result<String, RpcError> {
        if let Some((domain, own)) = subscriptions.remove(uri) {
            let operation = Operation::Unsubscribe(Uri::new(address(&domain, &own)));
            if self.turn.operate(operation, None, caller).await.is_err() {
                // A client may give up even a subscription to something that it may no longer see.
                self.turn.release(&domain, &own);
            }
        }
        Ok(format!("{{{}}}", head(Era::Handshake, CachePolicy::No)))
    }
}

fn too_many_subscriptions() -> RpcError {
    let text = format!("a client may be subscribed to {SUBSCRIPTIONS} resources at once");
    RpcError::invalid_params(text)
}

fn arguments(arguments: Option<Box<RawValue>>) -> Result<Box<RawValue>, RpcError> {
    match arguments {
        None => Ok(RawValue::NULL.to_owned()),
        Some(raw) if raw.get().starts_with('{') || raw.get() == "null" => Ok(raw),
        Some(_) => Err(RpcError::invalid_params("`arguments` must be an object")),
    }
}

fn resume(answers: Option<Box<RawValue>>, state: Option<String>) -> Option<Resume> {
    if answers.is_none() && state.is_none() {
        return None;
    }
    let answers = answers.unwrap_or_else(|| RawValue::NULL.to_owned());
    Some(Resume { state, answers })
}

/// Error texts repeat the name and views look it up, so it needs a limit.
fn tool_name(name: &str) -> Result<ToolName, RpcError> {
    ToolName::parse(name).map_err(|error| RpcError::invalid_params(error.to_string()))
}

fn prompt_name(name: &str) -> Result<&str, RpcError> {
    if name.len() > PROMPT_NAME_BYTES {
        let text = format!("`name` has more than {PROMPT_NAME_BYTES} bytes");
        return Err(RpcError::invalid_params(text));
    }
    Ok(name)
}
