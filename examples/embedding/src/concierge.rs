//! A source that suspends: a concierge who books a table, and asks for how many while the call runs.
//!
//! How the client answers (over its connection, with a second request, in a task) is the gateway's business.

use std::sync::Arc;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use gatefold::config::keys::{Key, keys_of};
use gatefold::config::kinds::{
    ConnectionMethod, DigestParts, KindSection, SourceIdentity, SourceKind, SourcePorts,
};
use gatefold_catalog::{KindName, Manifest, ServerInfo, ToolSpec};
use gatefold_config::{Table, Text};
use gatefold_core::{BoxError, CallError, Payload, Timestamp};
use gatefold_dispatch::{
    AdmittedCall, CallContext, Question, Source, StatelessAdapter, StatelessSettings,
    StatelessSource,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};

/// The kind, `sources.desk.restaurant = "Da Bea"`.
pub struct Concierges;

const NAME: KindName = KindName::new("concierge");

/// Says to clients that bookings may go on as tasks.
const TASKS: &str = r#"{"tools":{},"extensions":{"io.modelcontextprotocol/tasks":{}}}"#;

impl SourceKind for Concierges {
    fn name(&self) -> KindName {
        NAME
    }

    fn noun(&self) -> &'static str {
        "concierge"
    }

    fn details(&self) -> &'static str {
        "A concierge has one tool, which books a table (`restaurant`)."
    }

    fn ways(&self) -> &'static [ConnectionMethod] {
        &[ConnectionMethod {
            key: "restaurant",
            purpose: "for a concierge",
            heading: "A concierge:",
            example: "desk",
        }]
    }

    fn keys(&self) -> Vec<Key> {
        keys_of::<Concierge>()
    }

    fn read(&self, table: &mut Table<'_>) -> Option<Arc<dyn KindSection>> {
        table.read::<Concierge>().map(|concierge| Arc::new(concierge) as Arc<dyn KindSection>)
    }
}

#[derive(Debug, Clone, Deserialize, JsonSchema)]
struct Concierge {
    /// Where tables are booked.
    #[schemars(extend("examples" = ["Da Bea"]))]
    restaurant: Text,
}

impl KindSection for Concierge {
    fn kind(&self) -> KindName {
        NAME
    }

    fn digest(&self, parts: &mut DigestParts) {
        parts.add(&self.restaurant.0);
    }

    fn summary(&self) -> String {
        format!("books tables at {:?}", self.restaurant.0)
    }

    fn shown(&self) -> Value {
        json!({ "kind": NAME.as_str(), "restaurant": self.restaurant.0 })
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

impl StatelessSource for Concierge {
    fn describe(&self) -> BoxFuture<'_, Result<Manifest, BoxError>> {
        let server = ServerInfo {
            name: NAME.as_str().to_owned(),
            version: "1".to_owned(),
            title: None,
            description: None,
            instructions: None,
            protocol: String::new(),
            capabilities: Some(TASKS.to_owned()),
            whole: None,
        };
        let book = ToolSpec::new("book").description("Books a table for tonight.");
        let manifest = Manifest::builder(Timestamp::from_millis(0)).server(server).tool(book);
        std::future::ready(Ok(manifest.build())).boxed()
    }

    fn call(
        &self,
        _: AdmittedCall,
        context: CallContext,
    ) -> BoxFuture<'_, Result<Payload, CallError>> {
        async move {
            context.progress(1, Some(2), "asking for how many");
            let Ok(answer) = context.ask(for_how_many()).await else {
                return Ok(Payload::text("Nobody said for how many, so nothing is booked."));
            };
            context.progress(2, Some(2), "booking");
            let answer: Value = serde_json::from_str(answer.0.get()).unwrap_or_default();
            let people = answer["content"]["people"].as_u64();
            let booked =
                people.map(|people| format!("{}: a table for {people}.", self.restaurant.0));
            Ok(Payload::text(&booked.unwrap_or_else(|| "Nothing is booked.".to_owned())))
        }
        .boxed()
    }

    fn runs_as_task(&self, _: &str, _: &RawValue) -> bool {
        true
    }
}

fn for_how_many() -> Question {
    let schema = json!({ "type": "object", "properties": { "people": { "type": "integer" } } });
    let params = json!({ "mode": "form", "message": "For how many?", "requestedSchema": schema });
    let params = to_raw_value(&params).expect("a JSON value is valid JSON");
    Question { method: "elicitation/create".to_owned(), params }
}
