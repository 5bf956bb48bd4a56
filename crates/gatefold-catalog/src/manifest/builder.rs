use std::collections::BTreeMap;
use std::sync::Arc;

use gatefold_core::{Hints, Timestamp};
use serde_json::{Map, Value, json};

use super::parse::{self, DefinitionDrafts, ToolDraft};
use super::{Alteration, Manifest, ServerInfo, Supplement};

/// Builds a manifest for a kind of source that has no `tools/list`.
///
/// Added entries pass the same rules as a listing: a malformed entry is repaired or left out on its
/// own, the change is recorded, and equal content has an equal digest wherever it came from.
///
/// ```
/// use gatefold_catalog::{Manifest, ToolSpec};
/// use gatefold_core::Timestamp;
/// use serde_json::json;
///
/// let schema = json!({ "type": "object", "properties": { "id": { "type": "integer" } } });
/// let get_pet = ToolSpec::new("get_pet").description("Returns a pet.").input_schema(schema).group("pets");
/// let manifest = Manifest::builder(Timestamp::from_millis(0)).tool(get_pet).build();
/// assert_eq!(manifest.tools()[0].group(), Some("pets"));
/// ```
#[derive(Debug)]
pub struct ManifestBuilder {
    server: Option<ServerInfo>,
    fetched_at: Timestamp,
    drafts: DefinitionDrafts,
    alterations: Vec<Alteration>,
    supplement: Option<Supplement>,
}

impl ManifestBuilder {
    pub(super) fn new(fetched_at: Timestamp) -> Self {
        Self {
            server: None,
            fetched_at,
            drafts: DefinitionDrafts::default(),
            alterations: Vec::new(),
            supplement: None,
        }
    }

    /// What the source says about itself. A kind without servers leaves it out.
    #[must_use]
    pub fn server(mut self, server: ServerInfo) -> Self {
        self.server = Some(server);
        self
    }

    #[must_use]
    pub fn tool(mut self, tool: ToolSpec) -> Self {
        self.drafts.tools.add(&tool.draft());
        self
    }

    #[must_use]
    pub fn prompt(mut self, prompt: PromptSpec) -> Self {
        self.drafts.prompts.push(prompt.definition());
        self
    }

    #[must_use]
    pub fn resource(mut self, resource: ResourceSpec) -> Self {
        self.drafts.resources.push(resource.definition());
        self
    }

    /// Adds a resource template.
    #[must_use]
    pub fn template(mut self, template: TemplateSpec) -> Self {
        self.drafts.templates.push(template.definition());
        self
    }

    /// Notes something that the source had to leave out or change before it came here.
    #[must_use]
    pub fn alteration(mut self, alteration: Alteration) -> Self {
        self.alterations.push(alteration);
        self
    }

    /// Adds what the source knows besides its tools.
    #[must_use]
    pub fn supplement(mut self, supplement: Supplement) -> Self {
        self.supplement = Some(supplement);
        self
    }

    pub fn build(self) -> Manifest {
        let mut parsed = parse::drafts(self.drafts);
        parsed.alterations.splice(0..0, self.alterations);
        let manifest = Manifest::of_parsed(self.server, parsed, self.fetched_at);
        manifest.with_supplement(self.supplement.map(Arc::new))
    }
}

/// The members of one definition, each as JSON text. Setting one again replaces it.
#[derive(Debug, Clone)]
struct Members(BTreeMap<&'static str, String>);

impl Members {
    fn new(key: &'static str, value: impl Into<String>) -> Self {
        Self(BTreeMap::new()).with(key, value.into())
    }

    fn with(self, key: &'static str, value: impl Into<Value>) -> Self {
        self.with_text(key, value.into().to_string())
    }

    fn with_text(mut self, key: &'static str, json: String) -> Self {
        self.0.insert(key, json);
        self
    }

    /// The definition's text, whatever the order in which its members were set. What is in them keeps
    /// its order, because models read a schema from the top.
    fn definition(self) -> String {
        let mut text = String::from("{");
        for (at, (key, json)) in self.0.iter().enumerate() {
            let comma = if at == 0 { "" } else { "," };
            text.extend([comma, "\"", key, "\":", json]);
        }
        text.push('}');
        text
    }
}

/// One tool for a manifest.
#[derive(Debug, Clone)]
pub struct ToolSpec {
    name: String,
    members: Members,
    group: Option<String>,
}

impl ToolSpec {
    /// A tool that takes any object until [`ToolSpec::input_schema`] says more.
    pub fn new(name: impl Into<String>) -> Self {
        let name = name.into();
        let members = Members::new("name", name.as_str());
        let members = members.with("inputSchema", json!({ "type": "object" }));
        Self { name, members, group: None }
    }

    #[must_use]
    pub fn title(self, title: impl Into<String>) -> Self {
        self.with("title", title.into())
    }

    #[must_use]
    pub fn description(self, description: impl Into<String>) -> Self {
        self.with("description", description.into())
    }

    /// The JSON Schema of its arguments, an object.
    #[must_use]
    pub fn input_schema(self, schema: Value) -> Self {
        self.with("inputSchema", schema)
    }

    /// The same as JSON text.
    #[must_use]
    pub fn input_schema_text(self, schema: impl Into<String>) -> Self {
        Self { members: self.members.with_text("inputSchema", schema.into()), ..self }
    }

    /// The JSON Schema of its structured results, an object.
    #[must_use]
    pub fn output_schema(self, schema: Value) -> Self {
        self.with("outputSchema", schema)
    }

    /// The same as JSON text.
    #[must_use]
    pub fn output_schema_text(self, schema: impl Into<String>) -> Self {
        Self { members: self.members.with_text("outputSchema", schema.into()), ..self }
    }

    /// The tool's hints about itself. A hint that is not set stays out of the definition.
    #[must_use]
    pub fn hints(self, hints: Hints) -> Self {
        let annotations = serde_json::to_value(hints).unwrap_or_default();
        self.with("annotations", annotations)
    }

    /// What else the source keeps in the definition, by the names of `_meta`.
    #[must_use]
    pub fn meta(self, meta: Map<String, Value>) -> Self {
        self.with("_meta", meta)
    }

    /// The tool's group, unless the configuration sets another. A group's name has 1 to 64 letters,
    /// digits, `_`, `-`, `/` and spaces; any other name is dropped and noted as a repair.
    ///
    /// The group is not part of the definition or its digest.
    #[must_use]
    pub fn group(mut self, group: impl Into<String>) -> Self {
        self.group = Some(group.into());
        self
    }

    fn with(self, key: &'static str, value: impl Into<Value>) -> Self {
        Self { members: self.members.with(key, value), ..self }
    }

    fn draft(self) -> ToolDraft {
        ToolDraft { name: self.name, definition: self.members.definition(), group: self.group }
    }
}

/// One prompt for a manifest.
#[derive(Debug, Clone)]
pub struct PromptSpec {
    members: Members,
    arguments: Vec<Value>,
}

/// Whether an argument of a prompt may be left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Necessity {
    Required,
    Optional,
}

impl PromptSpec {
    pub fn new(name: impl Into<String>) -> Self {
        Self { members: Members::new("name", name), arguments: Vec::new() }
    }

    #[must_use]
    pub fn title(self, title: impl Into<String>) -> Self {
        Self { members: self.members.with("title", title.into()), ..self }
    }

    #[must_use]
    pub fn description(self, description: impl Into<String>) -> Self {
        Self { members: self.members.with("description", description.into()), ..self }
    }

    /// Adds an argument. An empty description stays out of the definition.
    #[must_use]
    pub fn argument(mut self, name: &str, description: &str, necessity: Necessity) -> Self {
        let mut argument = json!({ "name": name });
        if !description.is_empty() {
            argument["description"] = description.into();
        }
        if necessity == Necessity::Required {
            argument["required"] = true.into();
        }
        self.arguments.push(argument);
        self
    }

    fn definition(self) -> String {
        if self.arguments.is_empty() {
            return self.members.definition();
        }
        self.members.with("arguments", self.arguments).definition()
    }
}

/// Defines what a resource and a resource template have in common.
macro_rules! resource_spec {
    ($(#[$doc:meta])* $name:ident, $key:literal) => {
        $(#[$doc])*
        #[derive(Debug, Clone)]
        pub struct $name(Members);

        impl $name {
            #[doc = concat!("`", $key, "` is what it is asked for by; `name` is shown to people.")]
            pub fn new(key: impl Into<String>, name: impl Into<String>) -> Self {
                Self(Members::new($key, key).with("name", name.into()))
            }

            #[must_use]
            pub fn title(self, title: impl Into<String>) -> Self {
                Self(self.0.with("title", title.into()))
            }

            #[must_use]
            pub fn description(self, description: impl Into<String>) -> Self {
                Self(self.0.with("description", description.into()))
            }

            #[must_use]
            pub fn mime_type(self, mime_type: impl Into<String>) -> Self {
                Self(self.0.with("mimeType", mime_type.into()))
            }

            fn definition(self) -> String {
                self.0.definition()
            }
        }
    };
}

resource_spec! {
    /// One resource for a manifest.
    ResourceSpec, "uri"
}
resource_spec! {
    /// One resource template for a manifest.
    TemplateSpec, "uriTemplate"
}
