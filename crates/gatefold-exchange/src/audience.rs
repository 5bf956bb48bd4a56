use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use gatefold_core::{AgentId, ClientAbilities, Domain};
use gatefold_disclose::{
    ClientLimits, Disclosure, Names, Pins, SelectedDisclosure, SelectionLimits,
};
use gatefold_dispatch::TurnHolder;

use crate::RegisteredTools;

/// Which part of the catalogue a turn is about.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub enum Scope {
    #[default]
    Everything,
    /// One source, as if there were no other.
    Source(Domain),
}

/// The name of a registered disclosure.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct DisclosureName(Arc<str>);

impl DisclosureName {
    pub(crate) fn new(name: &str) -> Self {
        Self(name.into())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for DisclosureName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Whom a surface is made for: which part of the catalogue is shown, and by which disclosure.
///
/// Only [`Disclosures`](crate::Disclosures) makes one, so its disclosure exists. Cloning is cheap.
#[derive(Clone)]
pub struct Audience {
    scope: Scope,
    name: DisclosureName,
    names: Names,
    disclosure: Arc<dyn Disclosure>,
    limits: ClientLimits,
    choice: Choice,
    agent: Option<AudienceAgent>,
    /// What the model is asked to do, where its tools are chosen for that.
    request: Option<Arc<str>>,
    selection: Arc<SelectionSettings>,
    /// What its session has found, or its loop has loaded.
    registered: Option<Arc<RegisteredTools>>,
    /// Whether it is a loop of our own, which goes on with the tools that its model has loaded.
    is_loop: bool,
    /// What the client can be asked, if there is one.
    client: Option<ClientAbilities>,
    /// Tells whether something that it was resolved from has changed since. None is never known.
    resolved_at: Option<Generation>,
}

/// Counts what changes how audiences are resolved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Generation(pub(crate) u64);

/// Which tools come to the top level beside those of a disclosure.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SelectionSettings {
    pub limits: SelectionLimits,
    /// Tools that are always shown.
    pub pinned: Pins,
    /// Whether what a session has found whole is registered there for the rest of the session.
    pub registers: bool,
}

/// The agent that an audience is for.
#[derive(Debug, Clone)]
pub(crate) struct AudienceAgent {
    pub(crate) id: AgentId,
    pub(crate) instructions: Arc<str>,
}

/// How the disclosure of an audience was chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Choice {
    /// The request asked for it by name.
    Named,
    /// The request named none, and its agent has one.
    Agents,
    /// The client has one.
    Clients,
    /// Nobody named one.
    Usual,
}

impl Audience {
    /// How much of a request counts, in characters.
    pub const REQUEST_CHARS: usize = 2000;

    pub(crate) fn new(
        scope: Scope,
        name: DisclosureName,
        names: Names,
        disclosure: Arc<dyn Disclosure>,
        choice: Choice,
        selection: Arc<SelectionSettings>,
    ) -> Self {
        let limits = ClientLimits::default();
        let (agent, request, registered, client) = (None, None, None, None);
        Self {
            scope,
            name,
            names,
            disclosure,
            limits,
            choice,
            agent,
            request,
            selection,
            registered,
            is_loop: false,
            client,
            resolved_at: None,
        }
    }

    /// The same, for a client with such limits.
    pub(crate) fn within(self, limits: ClientLimits) -> Self {
        let limits = if self.is_told_all() { self.limits } else { limits };
        Self { limits, ..self }
    }

    /// The same, for a client that takes instructions of any length.
    #[must_use]
    pub fn told_all(self) -> Self {
        Self { limits: ClientLimits { instructions_bytes: usize::MAX }, ..self }
    }

    fn is_told_all(&self) -> bool {
        self.limits.instructions_bytes == usize::MAX
    }

    /// The same, with the tools that a request needs, in its user's words. A long one is cut.
    #[must_use]
    pub fn for_request(self, request: &str) -> Self {
        let request: Arc<str> =
            request.chars().take(Self::REQUEST_CHARS).collect::<String>().into();
        let SelectionSettings { limits, pinned, .. } = &*self.selection;
        let inner = self.disclosure.clone();
        let selected = SelectedDisclosure::new(inner, request.clone(), *limits, pinned.clone());
        let selected = if self.is_loop { selected.for_loop() } else { selected };
        Self { disclosure: Arc::new(selected), request: Some(request), ..self }
    }

    /// The same, for what another one was asked for beside its disclosure.
    pub(crate) fn asked_as(self, other: &Self) -> Self {
        let (registered, is_loop, client) = (other.registered.clone(), other.is_loop, other.client);
        let same = Self { registered, is_loop, client, ..self.within(other.limits) };
        match &other.request {
            Some(request) => same.for_request(request),
            None => same,
        }
    }

    /// The same, in a session that has found these tools.
    #[must_use]
    pub fn in_session(self, registered: Arc<RegisteredTools>) -> Self {
        Self { registered: Some(registered), ..self }
    }

    /// The same, for a loop of our own: it has what only loops have, and the tools that its model loads are shown
    /// from then on. Its [requests](Self::for_request) come after.
    #[must_use]
    pub fn in_loop(self) -> Self {
        Self { registered: Some(Arc::new(RegisteredTools::of_loop())), is_loop: true, ..self }
    }

    /// Who has its turns.
    pub(crate) fn holder(&self) -> TurnHolder {
        if self.is_loop { TurnHolder::Loop } else { TurnHolder::Client }
    }

    /// The same, for a client that can be asked this. It is not shown what sources list to others.
    #[must_use]
    pub fn of_client(self, client: ClientAbilities) -> Self {
        Self { client: Some(client), ..self }
    }

    pub(crate) fn client(&self) -> Option<ClientAbilities> {
        self.client
    }

    /// What its session has found, if it is in one.
    pub fn registered(&self) -> Option<&Arc<RegisteredTools>> {
        self.registered.as_ref()
    }

    /// The same, if what is found is registered there.
    pub(crate) fn registering(&self) -> Option<&Arc<RegisteredTools>> {
        self.registered().filter(|_| self.selection.registers)
    }

    /// The same, if what is loaded is registered there.
    pub(crate) fn loading(&self) -> Option<&Arc<RegisteredTools>> {
        self.registered().filter(|_| self.selection.registers || self.is_loop)
    }

    /// Where a loop keeps what it is shown for a request, so that it is shown that for the next one too.
    pub(crate) fn keeping(&self) -> Option<&Arc<RegisteredTools>> {
        self.registered().filter(|_| self.is_loop && self.request.is_some())
    }

    /// What the model is asked to do, if its tools are chosen for that.
    pub fn request(&self) -> Option<&Arc<str>> {
        self.request.as_ref()
    }

    /// The same, resolved when so much had changed.
    pub(crate) fn resolved_at(self, generation: Generation) -> Self {
        Self { resolved_at: Some(generation), ..self }
    }

    /// Whether nothing that it was resolved from has changed since.
    pub(crate) fn is_of(&self, generation: Generation) -> bool {
        self.resolved_at == Some(generation)
    }

    /// The same, for an agent.
    pub(crate) fn of_agent(self, agent: AudienceAgent, choice: Choice) -> Self {
        Self { agent: Some(agent), choice, ..self }
    }

    /// The same, chosen in another way.
    pub(crate) fn chosen_by(self, choice: Choice) -> Self {
        Self { choice, ..self }
    }

    pub(crate) fn agent(&self) -> Option<&AudienceAgent> {
        self.agent.as_ref()
    }

    /// The agent whose requests these are.
    pub fn agent_id(&self) -> Option<&AgentId> {
        self.agent.as_ref().map(|agent| &agent.id)
    }

    pub fn scope(&self) -> &Scope {
        &self.scope
    }

    /// Whether both were asked for in the same way. What nobody named may have changed between them,
    /// by a reload.
    pub fn is_asked_for_as(&self, other: &Self) -> bool {
        let named = |one: &Self| (one.choice == Choice::Named).then(|| one.name.clone());
        self.scope == other.scope
            && self.agent_id() == other.agent_id()
            && named(self) == named(other)
            && self.request == other.request
    }

    /// The name of the disclosure.
    pub fn disclosure_name(&self) -> &DisclosureName {
        &self.name
    }

    /// The one source that is shown under its own names, as if there were no gateway.
    pub fn own_source(&self) -> Option<&Domain> {
        match (&self.scope, self.names) {
            (Scope::Source(domain), Names::Own) => Some(domain),
            _ => None,
        }
    }

    pub(crate) fn names(&self) -> Names {
        self.names
    }

    /// How much its client can handle.
    pub fn limits(&self) -> &ClientLimits {
        &self.limits
    }

    pub(crate) fn choice(&self) -> Choice {
        self.choice
    }

    pub(crate) fn disclosure(&self) -> &Arc<dyn Disclosure> {
        &self.disclosure
    }
}

/// Two audiences of one registry are equal if they were requested by the same names, for the same
/// agent and for clients with the same limits.
impl PartialEq for Audience {
    fn eq(&self, other: &Self) -> bool {
        self.scope == other.scope
            && self.name == other.name
            && self.limits == other.limits
            && self.request == other.request
            && self.agent_id() == other.agent_id()
    }
}

impl Eq for Audience {}

impl Hash for Audience {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.scope.hash(state);
        self.name.hash(state);
        self.limits.hash(state);
        self.request.hash(state);
        self.agent_id().hash(state);
    }
}

impl fmt::Debug for Audience {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { scope, name, .. } = self;
        f.debug_struct("Audience").field("scope", scope).field("name", name).finish()
    }
}
