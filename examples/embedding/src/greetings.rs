//! A kind of source: greetings in words that the configuration gives, `sources.hello.greeting = "Hello"`.
//!
//! Two traits make a kind. [`SourceKind`] says which keys there are and reads them; [`KindSection`] is
//! what was read, and builds the source: here a [`StatelessSource`], which keeps no session.

use std::sync::Arc;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use gatefold::config::keys::{Key, keys_of};
use gatefold::config::kinds::{
    ConnectionMethod, DigestParts, KindSection, SourceIdentity, SourceKind, SourcePorts,
};
use gatefold_catalog::{
    Action, AssemblyStep, Command, KindName, Manifest, MetaTool, Parts, StubForm, ToolPlace,
    ToolSpec,
};
use gatefold_config::{Table, Text};
use gatefold_core::{BoxError, CallError, Hints, Payload, Timestamp};
use gatefold_dispatch::{
    AdmittedCall, CallContext, Source, StatelessAdapter, StatelessSettings, StatelessSource,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

/// The kind itself, named in [`Inputs::kinds`](gatefold::config::Inputs::kinds).
pub struct Greetings;

const NAME: KindName = KindName::at("greetings", &PLACE);

/// Where each kind is shown in its own way, one tool stands for all greetings.
const PLACE: ToolPlace = ToolPlace::Behind(MetaTool {
    name: "greeting",
    step: AssemblyStep::Mcp,
    summary: "Greet people.",
    noun: "host",
    part: "greeting",
    parts: Parts::Tools,
    named_parts: 3,
    stub: StubForm::Counted,
    commands: &[
        Command { name: "discover", line: "discover <host>", action: Action::Describe },
        Command { name: "say", line: "say <host> <greeting> {...}", action: Action::CallNamed },
    ],
    parameters: &[("greeting", r#"{"type":"string"}"#), ("parameters", r#"{"type":"object"}"#)],
    is_bound: false,
});

impl SourceKind for Greetings {
    fn name(&self) -> KindName {
        NAME
    }

    fn noun(&self) -> &'static str {
        "greeting"
    }

    fn details(&self) -> &'static str {
        "A greeting has one tool, which greets somebody (`greeting`)."
    }

    fn ways(&self) -> &'static [ConnectionMethod] {
        &[ConnectionMethod {
            key: "greeting",
            purpose: "for greetings",
            heading: "A greeting:",
            example: "hello",
        }]
    }

    fn keys(&self) -> Vec<Key> {
        keys_of::<Greeting>()
    }

    fn read(&self, table: &mut Table<'_>) -> Option<Arc<dyn KindSection>> {
        table.read::<Greeting>().map(|greeting| Arc::new(greeting) as Arc<dyn KindSection>)
    }
}

/// One source, as it stands in a configuration. It is its own section and does its own work.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
struct Greeting {
    /// What stands before the name.
    #[schemars(extend("examples" = ["Hello"]))]
    greeting: Text,
}

impl KindSection for Greeting {
    fn kind(&self) -> KindName {
        NAME
    }

    /// A source with another digest is another source: what was kept for it no longer counts.
    fn digest(&self, parts: &mut DigestParts) {
        parts.add(&self.greeting.0);
    }

    fn summary(&self) -> String {
        format!("says {:?}", self.greeting.0)
    }

    fn shown(&self) -> Value {
        json!({ "kind": NAME.as_str(), "greeting": self.greeting.0 })
    }

    fn build(&self, identity: SourceIdentity, ports: &SourcePorts) -> Arc<dyn Source> {
        let settings = StatelessSettings {
            domain: identity.domain,
            config_digest: identity.config_digest,
            describe_deadline: identity.connect_deadline,
            known: identity.known,
        };
        let (manifests, clock) = (ports.manifests.clone(), ports.clock.clone());
        StatelessAdapter::new(Arc::new(self.clone()), settings, manifests, clock)
    }
}

#[derive(Deserialize)]
struct GreetArguments {
    name: String,
}

impl StatelessSource for Greeting {
    fn describe(&self) -> BoxFuture<'_, Result<Manifest, BoxError>> {
        let greet = ToolSpec::new("greet")
            .description("Greets somebody by name.")
            .input_schema(json!({"properties": {"name": {"type": "string"}}, "required": ["name"]}))
            .hints(Hints { read_only: Some(true), open_world: Some(false), ..Hints::default() });
        let manifest = Manifest::builder(Timestamp::from_millis(0)).tool(greet).build();
        std::future::ready(Ok(manifest)).boxed()
    }

    fn call(
        &self,
        call: AdmittedCall,
        _: CallContext,
    ) -> BoxFuture<'_, Result<Payload, CallError>> {
        let arguments = call.arguments().map_or("null", |arguments| arguments.get());
        let result = serde_json::from_str::<GreetArguments>(arguments)
            .map(|GreetArguments { name }| Payload::text(&format!("{}, {name}!", self.greeting.0)));
        let refusal = |error: serde_json::Error| {
            let (tool, message) = (call.target().id.clone(), error.to_string());
            CallError::InvalidArguments { tool, message, data: None }
        };
        std::future::ready(result.map_err(refusal)).boxed()
    }
}
