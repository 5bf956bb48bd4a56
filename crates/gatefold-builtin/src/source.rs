use std::sync::Arc;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use gatefold_catalog::Manifest;
use gatefold_core::{BoxError, CallError, Clock, Domain, Payload};
use gatefold_dispatch::{AdmittedCall, CallContext, StatelessSource};
use serde_json::value::RawValue;

use crate::{BuiltinCall, BuiltinPorts, BuiltinSettings, Toolbox};

/// Our own tools as a source.
pub struct BuiltinSource {
    domain: Domain,
    toolbox: Toolbox,
    clock: Arc<dyn Clock>,
}

impl BuiltinSource {
    pub fn new(domain: Domain, settings: &BuiltinSettings, ports: &BuiltinPorts) -> Self {
        Self { domain, toolbox: Toolbox::new(settings, ports), clock: ports.clock.clone() }
    }

    /// What it offers.
    pub fn manifest(&self) -> Manifest {
        self.toolbox.manifest(self.clock.now())
    }
}

impl StatelessSource for BuiltinSource {
    fn describe(&self) -> BoxFuture<'_, Result<Manifest, BoxError>> {
        async { Ok(self.manifest()) }.boxed()
    }

    fn call(
        &self,
        call: AdmittedCall,
        context: CallContext,
    ) -> BoxFuture<'_, Result<Payload, CallError>> {
        async move {
            let own = BuiltinCall {
                arguments: call.arguments().map_or("{}", RawValue::get).to_owned(),
                principal: call.principal().clone(),
                peer: context.caller.peer.clone(),
                client: context.caller.meta.client.clone(),
                deadline: context.deadline,
            };
            let target = call.target();
            let answer = self.toolbox.answer(&target.name, &own).await;
            let failed =
                |error: crate::BuiltinError| error.of_call(target.id.clone(), self.domain.clone());
            answer.map(|answer| answer.payload()).map_err(failed)
        }
        .boxed()
    }
}
