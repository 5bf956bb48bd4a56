//! What a name means to its caller, looked up once for everything that follows.

use std::sync::Arc;

use gatefold_catalog::{Request, ResolvedEntry, address};
use gatefold_core::{
    Call, CallError, Completion, EntryKind, Operation, Reference, Target, TaskRequest, ToolName,
};
use gatefold_policy::normal_uri;
use serde_json::value::RawValue;

use super::ActiveCall;
use super::settle::SealedTask;
use crate::PinnedTurn;

impl PinnedTurn {
    /// The request with its resolved entry in this view: its own, if this view shows it, otherwise
    /// looked up now.
    pub(crate) fn verified(&self, request: Request) -> Request {
        let Request { operation, entry } = request;
        let own = entry.filter(|entry| self.view.has(entry) && self.may_ask_for(entry.target()));
        let entry = own.or_else(|| self.find(&operation));
        let operation = match &entry {
            Some(entry) => self.with_own_arguments(operation, entry),
            None => operation,
        };
        Request { operation, entry }
    }

    /// The call with the tool's own names of arguments, where they are listed under others. Everything
    /// behind this, rules and records too, knows only those.
    fn with_own_arguments(
        &self,
        operation: Arc<Operation>,
        entry: &ResolvedEntry,
    ) -> Arc<Operation> {
        let Operation::Tool { name, arguments } = &*operation else { return operation };
        let tool = self.view.tool_of(entry);
        let own = tool.and_then(|tool| tool.definition().own_arguments(arguments.get()));
        match own.and_then(|own| RawValue::from_string(own).ok()) {
            Some(arguments) => Arc::new(Operation::Tool { name: name.clone(), arguments }),
            None => operation,
        }
    }

    fn find(&self, operation: &Operation) -> Option<ResolvedEntry> {
        let (view, subject) = (&self.view, operation.subject());
        if let Operation::Task(request) = operation {
            // The tool whose call became the task, and not another one that the id may refer to by
            // now.
            let tool = view.tool_with_id(&self.sealed_task(request)?.tool)?;
            return Some(view.resolved(tool));
        }
        match kind_of(operation) {
            EntryKind::Tool => view.find_tool(subject),
            EntryKind::Prompt => {
                view.find_prompt(subject).map(|prompt| view.resolved_prompt(prompt))
            }
            EntryKind::Resource => {
                self.resource(subject).map(|target| view.resolved_resource(target))
            }
        }
    }

    pub(super) fn sealed_task(&self, request: &TaskRequest) -> Option<SealedTask> {
        SealedTask::open(&request.task, &self.dispatcher.ports.seal, &self.principal)
    }

    /// An unlisted resource is judged by its URI. If rules are about resources, the source is sent
    /// the URI that was judged, in its normal form. A URI without a normal form cannot be
    /// requested.
    pub fn resource(&self, uri: &str) -> Option<Arc<Target>> {
        let target = self.view.find_resource(uri)?;
        if !self.is_judged_by_its_uri(&target) {
            return Some(target);
        }
        let normal = normal_uri(&target.name)?;
        if *normal == *target.name {
            return Some(target);
        }
        // The normal form may be listed but hidden.
        self.view.find_resource(&address(&target.domain, &normal))
    }

    fn may_ask_for(&self, target: &Target) -> bool {
        target.kind != EntryKind::Resource
            || !self.is_judged_by_its_uri(target)
            || normal_uri(&target.name).is_some_and(|normal| *normal == *target.name)
    }

    fn is_judged_by_its_uri(&self, target: &Target) -> bool {
        let mut askers = std::iter::once(&self.principal).chain(&self.on_behalf_of);
        askers.any(|asker| self.runtime.policy.concerns(asker, target))
            && !self.view.lists_resource(target)
    }
}

impl ActiveCall {
    /// The target of a call whose entry was looked up already.
    pub(super) fn target(&self, call: &mut Call) -> Result<Arc<Target>, CallError> {
        if let Operation::Task(request) = &*call.operation {
            let found = self.turn.sealed_task(request).zip(self.entry.as_ref());
            let unknown = || CallError::Unknown { kind: "task", name: request.task.clone() };
            let (sealed, entry) = found.ok_or_else(unknown)?;
            // From here on, the request has the source's own id.
            let own = TaskRequest { task: sealed.task, act: request.act.clone() };
            call.operation = Arc::new(Operation::Task(own));
            return Ok(entry.target().clone());
        }
        let found = self.entry.as_ref().map(|entry| entry.target().clone());
        found.ok_or_else(|| unknown(kind_of(&call.operation), call.operation.subject()))
    }

    /// Adds suggestions to an error about an unknown tool, and returns any other error unchanged.
    ///
    /// Suggestions are searched for only here, once everything else about the call is decided. A
    /// caller that gives up, or whose time runs out, gets none.
    pub(super) async fn with_suggestions(&self, error: CallError) -> CallError {
        let CallError::UnknownTool { name, .. } = error else { return error };
        let asked = name.clone();
        let missed = self.turn.searching(move |view| view.resolve(&asked).err());
        let missed = self.timer.within(self.caller.cancel.run_until_cancelled(missed)).await;
        let nearest = missed.ok().flatten().flatten().map(|miss| miss.nearest);
        CallError::UnknownTool { name, nearest: nearest.unwrap_or_default() }
    }
}

/// A hidden entry and a missing one look the same. Suggestions for a tool's name are added by
/// [`ActiveCall::with_suggestions`].
pub(super) fn unknown(kind: EntryKind, name: &str) -> CallError {
    match ToolName::parse(name) {
        Ok(name) if kind == EntryKind::Tool => CallError::UnknownTool { name, nearest: Vec::new() },
        _ => CallError::Unknown { kind: kind.as_str(), name: name.to_owned() },
    }
}

/// The kind of entry that an operation is about.
fn kind_of(operation: &Operation) -> EntryKind {
    match operation {
        Operation::Tool { .. } | Operation::Task(_) => EntryKind::Tool,
        Operation::Prompt { .. }
        | Operation::Complete(Completion { reference: Reference::Prompt(_), .. }) => {
            EntryKind::Prompt
        }
        Operation::Resource(_)
        | Operation::Subscribe(_)
        | Operation::Unsubscribe(_)
        | Operation::Extension(_)
        | Operation::Complete(_) => EntryKind::Resource,
    }
}
