use arc_swap::ArcSwap;
use gatefold_catalog::{Request, View};
use gatefold_core::{CallError, Outcome, ToolName};
use gatefold_disclose::{
    ClientLimits, Disclosure, Gateway, GatewayLimits, Reply, Step, Surface, UsageError,
};
use serde_json::value::RawValue;

use crate::config::Config;

/// The gateway disclosure under the configuration in force.
///
/// It is replaced before the runtime is, because the runtime's new epoch makes servers ask for
/// their surface again.
pub(super) struct ReloadableGateway(ArcSwap<Gateway>);

impl ReloadableGateway {
    pub(super) fn new(config: &Config) -> Self {
        Self(ArcSwap::from_pointee(gateway(config)))
    }

    pub(super) fn replace(&self, config: &Config) {
        self.0.store(gateway(config).into());
    }
}

fn gateway(config: &Config) -> Gateway {
    Gateway {
        limits: GatewayLimits {
            discovery_tokens: config.disclosure.discovery_tokens,
            result_bytes: usize::try_from(config.limits.result_bytes).unwrap_or(usize::MAX),
            ..GatewayLimits::default()
        },
        pinned: config.disclosure.pinned.clone(),
    }
}

impl Disclosure for ReloadableGateway {
    fn surface(&self, view: &View, limits: &ClientLimits) -> Surface {
        self.0.load().surface(view, limits)
    }

    fn interpret(
        &self,
        view: &View,
        name: &ToolName,
        arguments: &RawValue,
    ) -> Result<Step, UsageError> {
        self.0.load().interpret(view, name, arguments)
    }

    fn searches(&self, name: &ToolName) -> bool {
        self.0.load().searches(name)
    }

    fn render(
        &self,
        view: &View,
        name: &ToolName,
        request: &Request,
        result: Result<Outcome, CallError>,
    ) -> Reply {
        self.0.load().render(view, name, request, result)
    }
}
