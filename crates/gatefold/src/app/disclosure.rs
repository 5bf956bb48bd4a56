use std::sync::Arc;

use arc_swap::ArcSwap;
use gatefold_catalog::{Request, Tool, View};
use gatefold_core::{AgentId, CallError, ClientName, Outcome, Principal, ToolName};
use gatefold_disclose::{
    AutoDisclosure, ClientLimits, Disclosure, Gateway, GatewayLimits, IntentDisclosure,
    NamespaceDisclosure, Reply, Step, Surface, TopLevelCall, TypedDisclosure, UsageError,
};
use gatefold_dispatch::PinnedTurn;
use gatefold_exchange::{
    AgentProfile, AgentProfiles, Disclosures, NamingScheme, Scope, SelectionSettings, Turn,
    UnknownDisclosure,
};
use serde_json::value::RawValue;

use super::App;
use crate::config::{AgentConfig, Config, DisclosureConfig, PeopleGroup};

/// The disclosures that depend on the configuration.
///
/// They are replaced before the runtime is, because the runtime's new epoch makes servers ask for
/// their surface again.
pub(super) struct ConfiguredDisclosures {
    gateway: Arc<ReloadableDisclosure<Gateway>>,
    namespace: Arc<ReloadableDisclosure<NamespaceDisclosure>>,
    typed: Arc<ReloadableDisclosure<TypedDisclosure>>,
    intent: Arc<ReloadableDisclosure<IntentDisclosure>>,
    auto: Arc<ReloadableDisclosure<AutoDisclosure>>,
}

/// What the disclosures are made of.
struct DisclosureSettings {
    disclosure: DisclosureConfig,
    result_bytes: usize,
}

impl DisclosureSettings {
    fn of(config: &Config) -> Self {
        let result_bytes = usize::try_from(config.limits.result_bytes).unwrap_or(usize::MAX);
        Self { disclosure: config.disclosure.clone(), result_bytes }
    }

    /// The same, with what an agent has of its own.
    fn for_agent(config: &Config, agent: &AgentConfig) -> Self {
        let mut settings = Self::of(config);
        let disclosure = &mut settings.disclosure;
        disclosure.modes = agent.modes.over(std::mem::take(&mut disclosure.modes));
        if let Some(pinned) = &agent.pinned {
            disclosure.pinned.clone_from(pinned);
        }
        settings
    }
}

impl ConfiguredDisclosures {
    pub(super) fn new(config: &Config) -> Self {
        Self::with(&DisclosureSettings::of(config))
    }

    fn with(config: &DisclosureSettings) -> Self {
        Self {
            gateway: ReloadableDisclosure::new(gateway, config),
            namespace: ReloadableDisclosure::new(namespace, config),
            typed: ReloadableDisclosure::new(typed, config),
            intent: ReloadableDisclosure::new(intent, config),
            auto: ReloadableDisclosure::new(auto, config),
        }
    }

    pub(super) fn replace(&self, config: &Config) {
        let config = &DisclosureSettings::of(config);
        self.gateway.replace(config);
        self.namespace.replace(config);
        self.typed.replace(config);
        self.intent.replace(config);
        self.auto.replace(config);
    }

    fn all(&self) -> [Arc<dyn Disclosure>; 5] {
        let Self { gateway, namespace, typed, intent, auto } = self;
        [gateway.clone(), namespace.clone(), typed.clone(), intent.clone(), auto.clone()]
    }

    /// The agents of a configuration. Each has all disclosures of the app, ours with its settings.
    pub(super) fn agents(
        &self,
        config: &Config,
        disclosures: &Disclosures,
    ) -> Result<AgentProfiles, UnknownDisclosure> {
        let profiles = config.agents.iter().map(|(id, agent)| {
            let settings = DisclosureSettings::for_agent(config, agent);
            let own = Self::with(&settings).all();
            let disclosures = std::iter::zip(self.all(), own)
                .fold(disclosures.clone(), |all, (shared, own)| {
                    all.with_in_place_of(&shared, &own)
                });
            disclosures.set_selection(selection(&settings.disclosure));
            let instructions = agent.instructions.as_str().into();
            let disclosure = agent.disclosure.clone();
            let groups = agent.visible_to.iter();
            let visible_to = groups.map(|PeopleGroup(name)| PeopleGroup::right(name)).collect();
            (id.clone(), AgentProfile { instructions, visible_to, disclosure, disclosures })
        });
        AgentProfiles::new(profiles)
    }

    /// All disclosures that Gatefold has.
    pub(super) fn registered(&self) -> Disclosures {
        let gateway: Arc<dyn Disclosure> = self.gateway.clone();
        let (namespace, typed) = (self.namespace.clone(), self.typed.clone());
        let (intent, auto) = (self.intent.clone(), self.auto.clone());
        Disclosures::standard(&gateway)
            .with(Disclosures::NAMESPACE, NamingScheme::Public, move |_| namespace.clone())
            .with(Disclosures::TYPED, NamingScheme::Public, move |_| typed.clone())
            .with(Disclosures::INTENT, NamingScheme::Public, move |_| intent.clone())
            .with(Disclosures::AUTO, NamingScheme::Public, move |_| auto.clone())
    }
}

/// Whom a surface is made for. Without anything, for whoever connects.
#[derive(Debug, Clone, Copy, Default)]
pub struct ShownTo<'a> {
    /// What the client calls itself.
    pub client: Option<&'a ClientName>,
    pub agent: Option<&'a AgentId>,
    /// What the model is asked to do, where its tools are chosen for that.
    pub request: Option<&'a str>,
}

/// Why there is no surface.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoSurfaceError {
    #[error(transparent)]
    Disclosure(#[from] UnknownDisclosure),
    #[error("there is no agent `{0}`")]
    Agent(AgentId),
}

impl App {
    /// A turn for the local user, over what the configured sources offer. The tool that reads large
    /// results is the gateway's own, and is shown to models alone.
    pub fn pin(&self) -> PinnedTurn {
        self.pin_for(self.local_user())
    }

    /// The same for another principal.
    pub fn pin_for(&self, principal: Arc<Principal>) -> PinnedTurn {
        let pinned = self.exchange.pin(principal);
        match self.results.domain() {
            Some(own) => pinned.without(&own),
            None => pinned,
        }
    }

    /// What a model sees first under the default disclosure.
    pub fn surface(&self) -> Surface {
        let turn =
            self.turn_for(None, &ShownTo::default()).expect("the default disclosure is registered");
        turn.lists().surface().clone()
    }

    /// A turn of the local user under the disclosure of this name, or under the one that somebody is
    /// shown who names none. A client without a profile is shown the default.
    pub fn turn_for(
        &self,
        disclosure: Option<&str>,
        whom: &ShownTo<'_>,
    ) -> Result<Turn, NoSurfaceError> {
        let (principal, audience) = match whom.agent {
            Some(agent) => {
                let audience = self.exchange.agent_audience(agent, disclosure);
                let audience =
                    audience.filter(|_| self.exchange.shows_agent(&self.local_user(), agent));
                let audience = audience.ok_or_else(|| NoSurfaceError::Agent(agent.clone()))??;
                (Principal { agent: Some(agent.clone()), ..(*self.local_user()).clone() }, audience)
            }
            None => (
                (*self.local_user()).clone(),
                self.exchange.audience(Scope::Everything, disclosure)?,
            ),
        };
        let audience = match whom.request {
            Some(request) => audience.for_request(request),
            None => audience,
        };
        let audience = self.exchange.for_client(&audience, whom.client);
        let turn = self.exchange.turn(&audience, Arc::new(principal));
        Ok(turn.expect("everything is in scope"))
    }
}

/// How tools are chosen for a request.
pub(super) fn selection(config: &DisclosureConfig) -> SelectionSettings {
    let DisclosureConfig { selection, pinned, register, .. } = config;
    SelectionSettings { limits: *selection, pinned: pinned.clone(), registers: *register }
}

/// A disclosure under the configuration in force.
struct ReloadableDisclosure<D> {
    current: ArcSwap<D>,
    make: fn(&DisclosureSettings) -> D,
}

impl<D> ReloadableDisclosure<D> {
    fn new(make: fn(&DisclosureSettings) -> D, config: &DisclosureSettings) -> Arc<Self> {
        Arc::new(Self { current: ArcSwap::from_pointee(make(config)), make })
    }

    fn replace(&self, config: &DisclosureSettings) {
        self.current.store(Arc::new((self.make)(config)));
    }
}

fn limits(config: &DisclosureSettings) -> GatewayLimits {
    GatewayLimits {
        discovery_tokens: config.disclosure.discovery_tokens,
        result_bytes: config.result_bytes,
        ..GatewayLimits::default()
    }
}

fn gateway(config: &DisclosureSettings) -> Gateway {
    let DisclosureConfig { pinned, execute, .. } = &config.disclosure;
    Gateway { limits: limits(config), pinned: pinned.clone(), execute: *execute }
}

fn namespace(config: &DisclosureSettings) -> NamespaceDisclosure {
    NamespaceDisclosure { limits: limits(config), pinned: config.disclosure.pinned.clone() }
}

fn typed(config: &DisclosureSettings) -> TypedDisclosure {
    TypedDisclosure {
        limits: limits(config),
        pinned: config.disclosure.pinned.clone(),
        modes: config.disclosure.modes.clone(),
    }
}

fn intent(config: &DisclosureSettings) -> IntentDisclosure {
    let DisclosureConfig { pinned, execute, .. } = &config.disclosure;
    IntentDisclosure { limits: limits(config), pinned: pinned.clone(), execute: *execute }
}

fn auto(config: &DisclosureSettings) -> AutoDisclosure {
    let flat_tokens = config.disclosure.auto_share.of(config.disclosure.context_tokens);
    AutoDisclosure { gateway: gateway(config), flat_tokens }
}

impl<D: Disclosure> Disclosure for ReloadableDisclosure<D> {
    fn surface(&self, view: &View, limits: &ClientLimits) -> Surface {
        self.current.load().surface(view, limits)
    }

    fn interpret(
        &self,
        view: &View,
        name: &ToolName,
        arguments: &RawValue,
    ) -> Result<Step, UsageError> {
        self.current.load().interpret(view, name, arguments)
    }

    fn searches(&self, view: &View, name: &ToolName) -> bool {
        self.current.load().searches(view, name)
    }

    fn render(
        &self,
        view: &View,
        name: &ToolName,
        request: &Request,
        result: Result<Outcome, CallError>,
    ) -> Reply {
        self.current.load().render(view, name, request, result)
    }

    fn shows_used(&self) -> bool {
        self.current.load().shows_used()
    }

    fn call_of(&self, view: &View, tool: &Tool, arguments: &RawValue) -> TopLevelCall {
        self.current.load().call_of(view, tool, arguments)
    }

    fn reached_through(&self, view: &View, tool: &Tool) -> Vec<String> {
        self.current.load().reached_through(view, tool)
    }

    fn own_tools(&self, view: &View) -> Vec<&'static str> {
        self.current.load().own_tools(view)
    }

    fn is_transparent(&self) -> bool {
        self.current.load().is_transparent()
    }
}
