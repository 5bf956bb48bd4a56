mod repeating;

use std::sync::Arc;

use gatefold_catalog::{Request, Tool, View, address, read_address, token_bound};
use gatefold_core::{
    BoxError, CallError, Domain, ExtensionRequest, Operation, Outcome, Payload, Principal,
    PromptName, Resume, ResumeError, Suspension, Target, TaskHandle, ToolId, ToolName, Uri,
    call_text, with_calls,
};
use gatefold_disclose::{
    Names, Rehearsal, Reply, SelectedDisclosure, Step, StructuredContent, TopLevelCall, UsageError,
    rehearse,
};
use gatefold_dispatch::{Caller, Counters, Discovery, PinnedTurn};
use serde_json::value::RawValue;

use crate::addresses::{kept, readdressed};
use crate::learning::Learning;
use crate::results::{ResultKeeper, Showing};
use crate::surfaces::Surfaces;
use crate::{Audience, Lists, RegisteredTools, Scope};

/// What a turn needs of its exchange as long as it lasts.
pub(crate) struct TurnState {
    pub(crate) surfaces: Surfaces,
    pub(crate) learning: Arc<Learning>,
    /// What keeps results that are too large for a model. Without it they are given whole.
    pub(crate) results: Option<Arc<ResultKeeper>>,
}

/// One principal's turn: the catalogue as it was when the turn began, as its audience sees it.
pub struct Turn {
    shared: Arc<TurnState>,
    audience: Audience,
    pinned: PinnedTurn,
    observer: Option<Arc<dyn CallObserver>>,
}

/// Is told of the tools that were really called, whatever the model said: what reached the
/// dispatcher, and what came of it before it was worded.
pub trait CallObserver: Send + Sync + 'static {
    fn called(&self, request: &Request, result: &Result<Outcome, CallError>);
}

/// A call of one of the surface's tools.
#[derive(Debug)]
pub struct ToolCall<'a> {
    /// The name of a tool at the top level.
    pub name: &'a ToolName,
    /// An object, or `null` where the client sent nothing.
    pub arguments: Box<RawValue>,
    pub resume: Option<Resume>,
    pub tasks: TaskSupport,
}

/// Whether a client can follow a call that continues as a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TaskSupport {
    Follows,
    /// It is told that the call continues without it.
    Cannot,
}

/// The outcome of a call of one of the surface's tools.
#[derive(Debug)]
pub enum ToolAnswer {
    /// Worded for the model by the disclosure.
    Reply(Reply),
    /// As the source gave it, for a disclosure that passes results through.
    Result(Payload),
    /// The client has to answer something first.
    Question(Suspension),
    /// The call continues as a task, which the client said it can follow.
    Task(TaskHandle),
}

impl Turn {
    pub(crate) fn new(shared: Arc<TurnState>, audience: Audience, pinned: PinnedTurn) -> Self {
        Self { shared, audience, pinned, observer: None }
    }

    /// The same turn, whose calls somebody is told of.
    #[must_use]
    pub fn observed_by(self, observer: Arc<dyn CallObserver>) -> Self {
        Self { observer: Some(observer), ..self }
    }

    pub fn audience(&self) -> &Audience {
        &self.audience
    }

    /// What the principal sees of the audience's part.
    pub fn view(&self) -> &View {
        self.pinned.view()
    }

    pub fn principal(&self) -> &Arc<Principal> {
        self.pinned.principal()
    }

    /// Whether only a client can send the credential that the principal lacks at a source.
    pub fn awaits_client(&self, domain: &Domain) -> bool {
        self.pinned.awaits_client(domain)
    }

    pub fn counters(&self) -> &Counters {
        self.pinned.counters()
    }

    pub(crate) fn pinned(&self) -> &PinnedTurn {
        &self.pinned
    }

    /// What the model is given at first, and everything else that can be listed.
    pub fn lists(&self) -> Arc<Lists> {
        self.shared.surfaces.get(self.view(), &self.audience)
    }

    /// Has what is shown now stay in the later turns of a loop whose tools are chosen for its requests.
    pub fn keep_shown(&self) {
        if let Some(kept) = self.audience.keeping() {
            let lists = self.lists();
            let names = lists.surface().tools.iter().map(|tool| &tool.name);
            // What loads others stands beside what is chosen, and takes no room of it.
            kept.add(names.filter(|name| *name != SelectedDisclosure::LOADER).cloned());
        }
    }

    /// Has tools stand there too, as a call of `request_tools` does.
    pub fn keep_loaded(&self, names: &[String]) {
        register(self.audience.keeping(), names);
    }

    /// A model's way to its first call of a tool, without the call. Nothing is recorded.
    pub fn rehearse(&self, tool: &Tool) -> Option<Rehearsal> {
        let lists = self.lists();
        rehearse(&**self.audience.disclosure(), self.view(), lists.surface(), tool)
    }

    /// Waits for room for an answer of so many bytes that comes from no source. False if there is
    /// none within the time of a call.
    pub async fn admit_answer(&self, bytes: usize, caller: &Caller) -> bool {
        self.pinned.admit_answer(bytes, &caller.result_place).await
    }

    /// Answers a call of one of the surface's tools.
    ///
    /// A failed call is worded for the model, which should read it and try again. Only transparent
    /// disclosures get an error, to pass protocol errors through unchanged.
    pub async fn call(&self, call: ToolCall<'_>, caller: Caller) -> Result<ToolAnswer, CallError> {
        let searches = self.audience.disclosure().searches(self.view(), call.name);
        let informed = if searches { self.after_first_lists(&caller).await } else { None };
        let turn = informed.as_ref().unwrap_or(self);
        let step = turn.interpret(call.name, &call.arguments).await;
        let unlisted = step.as_ref().ok().and_then(|step| turn.unlisted_owner(step));
        let Some(domain) = unlisted else { return turn.answer(step, call, caller).await };
        let turn = turn.after_list_of(&domain, &caller).await;
        let step = turn.interpret(call.name, &call.arguments).await;
        turn.answer(step, call, caller).await
    }

    /// Carries out what a call of one of the surface's tools asks for.
    async fn answer(
        &self,
        step: Result<Step, UsageError>,
        call: ToolCall<'_>,
        caller: Caller,
    ) -> Result<ToolAnswer, CallError> {
        let mut reply: Reply = match step {
            Ok(Step::Call(request)) => return self.carry_out(request, call, caller).await,
            Ok(Step::Reply(reply)) => {
                self.pinned.counters().looked_up();
                reply
            }
            Ok(Step::Found(reply, found)) => {
                self.pinned.counters().searched();
                self.shared.learning.found(&self.pinned, &found.query, found.tools, &caller);
                register(self.audience.registering(), &found.whole);
                Reply { shown: found.whole, ..reply }
            }
            Ok(Step::Loaded(reply, names)) => {
                self.pinned.counters().looked_up();
                register(self.audience.loading(), &names);
                Reply { shown: names, ..reply }
            }
            Err(error) => error.into(),
        };
        let bytes = reply.content.iter().map(|block| block.get().len()).sum();
        let tokens = reply.content.iter().map(|block| token_bound(block.get())).sum();
        self.pinned.counters().spent_on_discovery(tokens);
        let discovery = Discovery {
            meta_tool: call.name.as_str(),
            arguments: &call.arguments,
            result_bytes: bytes,
            is_error: reply.is_error,
            shown: std::mem::take(&mut reply.shown),
        };
        self.pinned.discovered(discovery, &caller).await;
        Ok(ToolAnswer::Reply(reply))
    }

    /// Without suggestions that nobody could call here: a single source is shown under its own names.
    fn with_callable_names(&self, error: CallError) -> CallError {
        match error {
            CallError::UnknownTool { name, .. } if self.audience.names() == Names::Own => {
                CallError::UnknownTool { name, nearest: Vec::new() }
            }
            error => error,
        }
    }

    /// The source that a called tool must be of, if it has listed nothing so far.
    fn unlisted_owner(&self, step: &Step) -> Option<Domain> {
        let Step::Call(Request { operation, entry: None }) = step else { return None };
        let Operation::Tool { name, .. } = &**operation else { return None };
        self.view().unlisted_owner(name.as_str()).map(|source| source.domain.clone())
    }

    /// The turn after sources that were never reached had a little time to say what they offer.
    async fn after_first_lists(&self, caller: &Caller) -> Option<Self> {
        let pinned = caller.cancel.run_until_cancelled(self.pinned.after_first_lists()).await??;
        Some(self.on(pinned))
    }

    /// The turn after a source was asked what it offers.
    async fn after_list_of(&self, domain: &Domain, caller: &Caller) -> Self {
        let asked = caller.cancel.run_until_cancelled(self.pinned.after_list_of(domain)).await;
        self.on(asked.unwrap_or_else(|| self.pinned.clone()))
    }

    /// The same turn on another state of the catalogue.
    fn on(&self, pinned: PinnedTurn) -> Self {
        let pinned = match self.audience.scope() {
            // If the source is gone by now, the turn stays as it was.
            Scope::Source(domain) => pinned.within(domain).unwrap_or_else(|| self.pinned.clone()),
            Scope::Everything => pinned,
        };
        let pinned = self.shared.learning.with_past(pinned);
        let (shared, audience) = (self.shared.clone(), self.audience.clone());
        Self { shared, audience, pinned, observer: self.observer.clone() }
    }

    /// The operation that a call of one of the surface's tools asks for.
    async fn interpret(&self, name: &ToolName, arguments: &RawValue) -> Result<Step, UsageError> {
        let disclosure = self.audience.disclosure();
        if !disclosure.searches(self.view(), name) {
            return disclosure.interpret(self.view(), name, arguments);
        }
        let (disclosure, name) = (Arc::clone(disclosure), name.clone());
        let arguments = arguments.to_owned();
        let search = move |view: &View| disclosure.interpret(view, &name, &arguments);
        self.pinned.searching(search).await
    }

    async fn carry_out(
        &self,
        request: Request,
        call: ToolCall<'_>,
        caller: Caller,
    ) -> Result<ToolAnswer, CallError> {
        let ToolCall { name, arguments, resume, tasks } = call;
        // The operation has what it needs of them, and a call may take long.
        drop(arguments);
        // Until the result is worded, which is when little of a large one is left.
        let _place = caller.result_place.clone();
        let lesson = Learning::expect(&self.pinned, &request, &caller);
        let result = self.pinned.call(request.clone(), resume, caller).await;
        if let Some(lesson) = lesson {
            self.shared.learning.note_outcome(&self.pinned, lesson, &result);
        }
        if let Some(observer) = &self.observer {
            observer.called(&request, &result);
        }
        let result = result.inspect_err(log_failure).map_err(without_owner);
        let result = result.map_err(|error| self.under_asked_name(error));
        let disclosure = self.audience.disclosure();
        let result = result.map_err(|error| self.with_shown_calls(error, &request));
        let result = match result {
            Ok(Outcome::Suspended(waiting)) => return Ok(ToolAnswer::Question(waiting)),
            Ok(Outcome::Task(task)) if tasks == TaskSupport::Follows => {
                return Ok(ToolAnswer::Task(task));
            }
            Ok(Outcome::Done(payload)) => {
                let payload = self.readdressed(payload, &request);
                match self.shortened(payload, &request).await {
                    Ok(payload) if disclosure.is_transparent() => {
                        return Ok(ToolAnswer::Result(payload));
                    }
                    shortened => shortened.map(Outcome::Done),
                }
            }
            Err(error) if disclosure.is_transparent() && is_the_protocols(&error) => {
                return Err(self.with_callable_names(error));
            }
            result => result,
        };
        Ok(ToolAnswer::Reply(disclosure.render(self.view(), name, &request, result)))
    }

    /// Performs any other operation. Its result uses the audience's names, and contains nothing
    /// that the principal may not see.
    pub async fn operate(
        &self,
        operation: Operation,
        resume: Option<Resume>,
        caller: Caller,
    ) -> Result<Outcome, CallError> {
        let request = self.pinned.resolve(operation);
        let _place = caller.result_place.clone();
        let result = self.pinned.call(request.clone(), resume, caller).await;
        let result = result.inspect_err(log_failure).map_err(without_owner);
        match result.map_err(|error| self.under_asked_name(error))? {
            Outcome::Done(payload) => {
                let payload = self.without_hidden(payload, &request);
                Ok(Outcome::Done(self.readdressed(payload, &request)))
            }
            outcome => Ok(outcome),
        }
    }

    /// Undoes one subscription of a client that is gone.
    pub fn release(&self, domain: &Domain, uri: &str) {
        self.pinned.release(domain, uri);
    }

    /// The dispatcher's name for a prompt that the client calls `name`.
    pub fn prompt_name(&self, name: &str) -> PromptName {
        let own = self.audience.own_source();
        let prompt = own.and_then(|domain| self.view().prompt_named(domain, name));
        PromptName::new(prompt.map_or(name, |prompt| prompt.id().as_str()))
    }

    /// The dispatcher's address for a resource or template that the client calls `uri`.
    pub fn resource_uri(&self, uri: &str) -> Uri {
        match self.audience.own_source() {
            Some(domain) => Uri::new(address(domain, uri)),
            None => Uri::new(uri),
        }
    }

    /// The resource that the dispatcher takes an address for, if the principal may ask for it.
    pub fn resource(&self, uri: &Uri) -> Option<Arc<Target>> {
        self.pinned.resource(uri.as_str())
    }

    /// The error under the name that the client used.
    fn under_asked_name(&self, mut error: CallError) -> CallError {
        if self.audience.names() == Names::Public {
            return error;
        }
        if let CallError::Unknown { name, .. } = &mut error
            && let Some((_, own)) = read_address(name)
        {
            *name = own;
        }
        if let Some(tool) = error.tool_mut()
            && let Some(own) = self.own_name(tool.as_str())
        {
            *tool = ToolId::new(own);
        }
        error
    }

    /// What the one source that is shown calls a tool or resource.
    fn own_name(&self, id: &str) -> Option<String> {
        if let Some((_, own)) = read_address(id) {
            return Some(own);
        }
        let tool = self.view().find(id).map(|tool| tool.target().name.to_string());
        let domain = self.audience.own_source()?.as_str();
        let prefixed = || id.strip_prefix(domain)?.strip_prefix("__").map(str::to_owned);
        tool.or_else(prefixed)
    }

    /// Gives resources in a result the addresses under which they can be read.
    fn readdressed(&self, payload: Payload, request: &Request) -> Payload {
        let is_public = self.audience.names() == Names::Public;
        let names_resources = matches!(
            &*request.operation,
            Operation::Tool { .. }
                | Operation::Prompt { .. }
                | Operation::Resource(_)
                | Operation::Extension(_)
        );
        match request.entry.as_ref().filter(|_| is_public && names_resources) {
            Some(entry) => Payload { json: readdressed(payload.json, entry.domain()), ..payload },
            None => payload,
        }
    }

    /// A result that a model can be given, with a preview in place of a text that is too long.
    ///
    /// Whoever cannot read on is given all of it: somebody who may not use the tool that does, and a
    /// client that sees one source as if there were no gateway.
    async fn shortened(&self, payload: Payload, request: &Request) -> Result<Payload, CallError> {
        let Some((results, entry)) = self.shared.results.as_ref().zip(request.entry.as_ref())
        else {
            return Ok(payload);
        };
        let Some(tool) = self.view().tool_of(entry) else { return Ok(payload) };
        if self.result_reader().is_none_or(|reader| *tool.id() == reader) {
            return Ok(payload);
        }
        let in_envelope = !self.audience.disclosure().is_transparent();
        let is_promised = !in_envelope && tool.definition().output_schema().is_some();
        let structured =
            if is_promised { StructuredContent::Promised } else { StructuredContent::Unpromised };
        let showing = Showing { structured, in_envelope };
        results.shortened(payload, showing, tool.target(), self.principal()).await
    }

    /// A text that comes from no call and that a model can be given, such as a file of its user: with a
    /// preview in its place if it is too long. Its rest is kept like a result, by the name of this tool.
    ///
    /// Whoever cannot read on is given all of it, as with results.
    pub async fn shorten_text(&self, text: String, tool: ToolId) -> Result<String, BoxError> {
        match &self.shared.results {
            Some(results) if self.result_reader().is_some() => {
                results.shorten_text(text, tool, self.principal()).await
            }
            _ => Ok(text),
        }
    }

    /// The tool that reads results on, if this principal sees it.
    pub fn result_reader(&self) -> Option<ToolId> {
        let reader = self.shared.results.as_ref()?.limits().reader.clone();
        self.view().find(reader.as_str()).map(|_| reader)
    }

    /// The error with the calls that it suggests as the client can make them. Those of tools that this principal does
    /// not see are left out.
    fn with_shown_calls(&self, error: CallError, request: &Request) -> CallError {
        let CallError::AnsweredElsewhere { tool, message, calls } = error else { return error };
        let disclosure = self.audience.disclosure();
        let entry = request.entry.as_ref();
        let shown = calls.iter().filter_map(|call| {
            let tool = self.view().tool_named(entry?.domain(), &call.tool)?;
            let TopLevelCall { name, arguments } =
                disclosure.call_of(self.view(), tool, &call.arguments);
            Some(call_text(&name, &arguments))
        });
        let message = with_calls(&message, shown);
        CallError::InvalidArguments { tool, message, data: None }
    }

    /// A source's list of resources, without those that this principal may not see.
    fn without_hidden(&self, payload: Payload, request: &Request) -> Payload {
        let Operation::Extension(ExtensionRequest { method, .. }) = &*request.operation else {
            return payload;
        };
        let Some(entry) = request.entry.as_ref().filter(|_| !method.lists.is_empty()) else {
            return payload;
        };
        let is_seen = |own: &str| self.pinned.sees_resource(&address(entry.domain(), own));
        Payload { json: kept(payload.json, method.lists, is_seen), ..payload }
    }
}

/// Has tools stand at the top level from now on, if the turn is in a session that keeps them.
fn register(session: Option<&Arc<RegisteredTools>>, names: &[String]) {
    if let Some(session) = session {
        session.add(names.iter().cloned());
    }
}

/// Whether a server without a gateway would report this as a protocol error.
fn is_the_protocols(error: &CallError) -> bool {
    matches!(
        error,
        CallError::Refused { .. }
            | CallError::InvalidArguments { .. }
            | CallError::MissingResource { .. }
            | CallError::UnknownTool { .. }
            | CallError::Unknown { .. }
            | CallError::Resume(_)
    )
}

/// Somebody else's state reads like one that never existed: its holder must not learn that such a
/// call exists.
fn without_owner(error: CallError) -> CallError {
    match error {
        CallError::Resume(ResumeError::Principal) => CallError::Resume(ResumeError::Forged),
        error => error,
    }
}

/// Logs failures that concern the operator. What only concerns the caller is in its answer and in
/// the audit record.
fn log_failure(error: &CallError) {
    if let CallError::Audit(source) = error {
        tracing::error!(%source, "an audit record could not be opened");
    } else if let Some(reason) = error.for_operator() {
        tracing::warn!(kind = error.kind().as_str(), reason, "a call failed");
    }
}
