use std::sync::Arc;

use arc_swap::ArcSwap;
use gatefold_catalog::{Request, View};
use gatefold_core::{CallError, ClientName, Outcome, Principal, ToolName};
use gatefold_disclose::{
    AutoDisclosure, ClientLimits, Disclosure, Gateway, GatewayLimits, IntentDisclosure,
    NamespaceDisclosure, Reply, Step, Surface, TypedDisclosure, UsageError,
};
use gatefold_exchange::{Disclosures, NamingScheme, Scope, Turn, UnknownDisclosure};
use serde_json::value::RawValue;

use super::App;
use crate::config::Config;

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

impl ConfiguredDisclosures {
    pub(super) fn new(config: &Config) -> Self {
        Self {
            gateway: ReloadableDisclosure::new(gateway, config),
            namespace: ReloadableDisclosure::new(namespace, config),
            typed: ReloadableDisclosure::new(typed, config),
            intent: ReloadableDisclosure::new(intent, config),
            auto: ReloadableDisclosure::new(auto, config),
        }
    }

    pub(super) fn replace(&self, config: &Config) {
        self.gateway.replace(config);
        self.namespace.replace(config);
        self.typed.replace(config);
        self.intent.replace(config);
        self.auto.replace(config);
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

impl App {
    /// What a model sees first under the default disclosure.
    pub fn surface(&self) -> Surface {
        let turn = self.turn_for(None, None).expect("the default disclosure is registered");
        turn.lists().surface().clone()
    }

    /// A turn of the local user under the disclosure of this name, or under the one that a client of
    /// this name is shown. A client without a profile is shown the default.
    pub fn turn_for(
        &self,
        disclosure: Option<&str>,
        client: Option<&ClientName>,
    ) -> Result<Turn, UnknownDisclosure> {
        let audience = self.exchange.audience(Scope::Everything, disclosure)?;
        let audience = self.exchange.for_client(&audience, client);
        let turn = self.exchange.turn(&audience, Arc::new(Principal::local()));
        Ok(turn.expect("everything is in scope"))
    }
}

/// A disclosure under the configuration in force.
struct ReloadableDisclosure<D> {
    current: ArcSwap<D>,
    make: fn(&Config) -> D,
}

impl<D> ReloadableDisclosure<D> {
    fn new(make: fn(&Config) -> D, config: &Config) -> Arc<Self> {
        Arc::new(Self { current: ArcSwap::from_pointee(make(config)), make })
    }

    fn replace(&self, config: &Config) {
        self.current.store(Arc::new((self.make)(config)));
    }
}

fn limits(config: &Config) -> GatewayLimits {
    GatewayLimits {
        discovery_tokens: config.disclosure.discovery_tokens,
        result_bytes: usize::try_from(config.limits.result_bytes).unwrap_or(usize::MAX),
        ..GatewayLimits::default()
    }
}

fn gateway(config: &Config) -> Gateway {
    Gateway { limits: limits(config), pinned: config.disclosure.pinned.clone() }
}

fn namespace(config: &Config) -> NamespaceDisclosure {
    NamespaceDisclosure { limits: limits(config), pinned: config.disclosure.pinned.clone() }
}

fn typed(config: &Config) -> TypedDisclosure {
    TypedDisclosure {
        limits: limits(config),
        pinned: config.disclosure.pinned.clone(),
        modes: config.disclosure.modes,
    }
}

fn intent(config: &Config) -> IntentDisclosure {
    IntentDisclosure { limits: limits(config), pinned: config.disclosure.pinned.clone() }
}

fn auto(config: &Config) -> AutoDisclosure {
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

    fn searches(&self, name: &ToolName) -> bool {
        self.current.load().searches(name)
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

    fn is_transparent(&self) -> bool {
        self.current.load().is_transparent()
    }
}
