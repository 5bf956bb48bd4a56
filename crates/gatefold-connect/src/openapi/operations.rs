//! The operations of a description, each as a tool.

use gatefold_catalog::one_line;
use gatefold_core::Hints;
use serde_json::{Map, Value, json};

use super::bodies;
use super::description::{DescriptionOptions, ToolDraft};
use super::library::{Library, Node};
use super::names;
use super::parameters::{self, Edition};
use super::responses::{self, Outputs};
use super::schema::{Direction, Schemas};
use super::security::SecuritySchemes;
use super::servers;
use crate::action::Action;

/// The largest text of an input schema with what it refers to, in bytes.
const INPUT_LIMIT: usize = 256 * 1024;
/// The largest text of an output schema, in bytes. What does not fit is left open.
const OUTPUT_LIMIT: usize = 16 * 1024;
/// What the schemas of all tools together may come to, in bytes. Past that each gets less, in halves, so that
/// one more operation seldom changes the others.
const ALL_INPUTS_LIMIT: usize = 512 * 1024 * 1024;
const ALL_OUTPUTS_LIMIT: usize = 64 * 1024 * 1024;
/// What each tool may have however many there are, in parts of its limit.
const SMALLEST_SHARE: usize = 16;
/// The longest title and description of a tool, in characters.
const TITLE_LIMIT: usize = 200;
const DESCRIPTION_LIMIT: usize = 8 * 1024;

/// The methods of a path item (OpenAPI 3.2.0, section 4.9).
const METHODS: [&str; 9] =
    ["get", "put", "post", "delete", "options", "head", "patch", "trace", "query"];

/// One operation where a description has it.
#[derive(Debug, Clone)]
pub(super) struct OperationNode<'a> {
    pub(super) method: String,
    pub(super) path: String,
    pub(super) item: Node<'a>,
    pub(super) node: Node<'a>,
}

impl OperationNode<'_> {
    /// How people call it.
    pub(super) fn label(&self) -> String {
        format!("{} {}", self.method, self.path)
    }
}

/// All operations, in the description's order.
pub(super) fn operations(library: &Library, edition: Edition) -> Vec<OperationNode<'_>> {
    let mut all = Vec::new();
    let paths = library.root().get("paths").into_iter().flat_map(Node::members);
    for (path, item) in paths.filter(|(path, _)| !path.starts_with("x-")) {
        // A path item may have members beside its `$ref`, so both are looked through.
        let referred = library.resolve(item).ok().filter(|target| target.value != item.value);
        let path = if path.starts_with('/') { path.to_owned() } else { format!("/{path}") };
        for item in std::iter::once(item).chain(referred) {
            let mut add = |method: &str, node| {
                let (method, path) = (method.to_owned(), path.clone());
                // No edition allows a reference here, and descriptions of many files are full of them.
                let node = library.resolve(node).unwrap_or(node);
                all.push(OperationNode { method, path, item, node });
            };
            for (key, node) in item.members() {
                let lower = key.to_ascii_lowercase();
                if METHODS.contains(&lower.as_str())
                    && (lower != "query" || edition == Edition::OpenApi3)
                {
                    add(&key.to_ascii_uppercase(), node);
                }
            }
            let more = item.get("additionalOperations").into_iter().flat_map(Node::members);
            more.filter(|(key, _)| !key.starts_with("x-")).for_each(|(key, node)| add(key, node));
        }
    }
    all
}

/// How large the schemas of one tool may be, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TextLimits {
    input: usize,
    pub(super) output: usize,
}

impl TextLimits {
    /// For a description with this many operations.
    pub(super) fn of(operations: usize) -> Self {
        let share = |limit: usize, all: usize| {
            let halves = std::iter::successors(Some(limit), |share| Some(share / 2));
            let mut halves = halves.take_while(|share| *share >= limit / SMALLEST_SHARE);
            let fits = halves.find(|share| share.saturating_mul(operations) <= all);
            fits.unwrap_or(limit / SMALLEST_SHARE)
        };
        Self {
            input: share(INPUT_LIMIT, ALL_INPUTS_LIMIT),
            output: share(OUTPUT_LIMIT, ALL_OUTPUTS_LIMIT),
        }
    }
}

/// What all operations of a description share.
pub(super) struct Surroundings<'a> {
    pub(super) edition: Edition,
    pub(super) root: Node<'a>,
    pub(super) security: SecuritySchemes,
    pub(super) options: &'a DescriptionOptions,
    pub(super) limits: TextLimits,
}

/// Why an operation can be no tool, wherever its server is.
pub(super) fn check(library: &Library, operation: &OperationNode<'_>) -> Result<(), String> {
    // Fails where the operation is a reference that leads nowhere.
    if !library.resolve(operation.node)?.value.is_object() {
        return Err("it is not an object".to_owned());
    }
    if operation.method.is_empty() || !operation.method.bytes().all(is_token) {
        return Err("its method is not legal".to_owned());
    }
    Ok(())
}

impl<'a> Surroundings<'a> {
    /// The media types in which Swagger 2 says that an operation answers.
    pub(super) fn produces(&self, operation: Node<'a>) -> Option<Node<'a>> {
        match self.edition {
            Edition::Swagger2 => operation.get("produces").or_else(|| self.root.get("produces")),
            Edition::OpenApi3 => None,
        }
    }
}

/// The tool of one operation that passed [`check`].
pub(super) fn tool<'a>(
    schemas: &mut Schemas<'a>,
    all: &Surroundings<'a>,
    operation: &OperationNode<'a>,
    outputs: &mut Outputs,
    name: String,
    base: Option<String>,
) -> ToolDraft {
    let node = operation.node;
    let (action, input_schema) = action(schemas, all, operation, base);
    let responses = responses::read(schemas, node, all.produces(node), outputs);
    let action = Action {
        accept: responses.accept,
        failures: responses.failures,
        result: responses.shape,
        ..action
    };
    let summary = node.text("summary").map(|text| one_line(text, TITLE_LIMIT));
    ToolDraft {
        operation: operation.label(),
        title: summary.filter(|text| !text.is_empty()),
        description: description(node),
        group: node
            .get("tags")
            .and_then(|tags| tags.items().find_map(|tag| names::group(tag.value.as_str()?))),
        name,
        input_schema,
        output_schema: responses.output_schema,
        hints: hints(&operation.method),
        action,
    }
}

/// The server of one operation. Where the configuration names one for all, only the path of the operation's own
/// there, if it has one.
pub(super) fn base<'a>(
    library: &'a Library,
    all: &Surroundings<'a>,
    operation: &OperationNode<'a>,
) -> Result<Option<String>, &'static str> {
    let base = match (&all.options.base_url, all.edition) {
        (Some(_), Edition::Swagger2) => return Ok(None),
        (Some(base), Edition::OpenApi3) => {
            let levels = [operation.node, operation.item];
            return Ok(servers::path_at(base, &levels, &all.options.server_variables));
        }
        (None, Edition::Swagger2) => servers::swagger_base(library, all.root, operation.node),
        (None, Edition::OpenApi3) => {
            let levels = [operation.node, operation.item, all.root];
            servers::base(library, &levels, &all.options.server_variables)
        }
    };
    base.map(Some).ok_or("it has no server: set `base_url`")
}

/// RFC 9110, section 5.6.2.
fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

fn action<'a>(
    schemas: &mut Schemas<'a>,
    all: &Surroundings<'a>,
    operation: &OperationNode<'a>,
    base: Option<String>,
) -> (Action, String) {
    let node = operation.node;
    let nodes = parameters::nodes(schemas, operation.item, node);
    // A fragment tells paths apart in a description and never goes out.
    let path = operation.path.split('#').next().unwrap_or_default();
    let credentials = all.security.all();
    let (parameters, path) =
        parameters::parameters(schemas, all.edition, &nodes, path, &credentials);
    let body = match all.edition {
        Edition::Swagger2 => bodies::swagger(&nodes, all.root, node),
        Edition::OpenApi3 => bodies::openapi(schemas, node),
    };
    let is_taken = |name: &str| parameters.iter().any(|one| one.spec.argument() == name);
    let body = body.and_then(|body| bodies::plan(schemas, body, &is_taken));
    let mut properties = Map::new();
    let mut required: Vec<String> = Vec::new();
    let mut specs = Vec::new();
    for parameter in parameters {
        let name = parameter.spec.argument().to_owned();
        required.extend(parameter.is_required.then(|| name.clone()));
        properties.insert(name, parameter.schema);
        specs.push(parameter.spec);
    }
    let (body, arguments) =
        body.map_or((None, Vec::new()), |plan| (Some(plan.body), plan.arguments));
    for argument in arguments {
        required.extend(argument.is_required.then(|| argument.name.clone()));
        properties.insert(argument.name, argument.schema);
    }
    let mut schema = json!({ "type": "object", "properties": properties });
    if !required.is_empty() {
        schema["required"] = json!(required);
    }
    schema["additionalProperties"] = Value::Bool(false);
    let text = schemas.write(&schema, Direction::Request, all.limits.input);
    let action = Action {
        method: operation.method.clone(),
        base,
        path,
        parameters: specs,
        body,
        accept: Vec::new(),
        failures: std::collections::BTreeMap::new(),
        security: all.security.of_operation(all.root, node),
        extract: None,
        result: crate::action::ResultShape::Plain,
    };
    (action, text)
}

/// The description, else the summary.
fn description(node: Node<'_>) -> Option<String> {
    let has_text = |key| node.text(key).map(str::trim).filter(|text| !text.is_empty());
    let text = has_text("description").or_else(|| has_text("summary")).unwrap_or_default();
    let mark = if node.flag("deprecated") { "Deprecated. " } else { "" };
    let whole = format!("{mark}{text}");
    let mut cut: String = whole.trim_end().chars().take(DESCRIPTION_LIMIT).collect();
    if cut.len() < whole.trim_end().len() {
        cut.push('…');
    }
    (!cut.is_empty()).then_some(cut)
}

/// What a method promises (RFC 9110, section 9.2). A POST may do anything, so it does not say.
fn hints(method: &str) -> Hints {
    let is_safe = matches!(method, "GET" | "HEAD" | "OPTIONS" | "QUERY" | "TRACE");
    let destroys = matches!(method, "DELETE" | "PATCH" | "PUT");
    Hints {
        read_only: Some(is_safe),
        destructive: destroys.then_some(true),
        idempotent: matches!(method, "DELETE" | "PUT").then_some(true),
        open_world: Some(true),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_many_operations_get_less_for_each() {
        for (operations, input, output) in [
            (0, 256, 16),
            (2048, 256, 16),
            (2049, 128, 16),
            (4097, 64, 8),
            (22_361, 16, 2),
            (1_000_000, 16, 1),
        ] {
            let expected = TextLimits { input: input * 1024, output: output * 1024 };
            assert_eq!(TextLimits::of(operations), expected, "{operations}");
        }
    }
}
