//! The tools of a description, one at a time: with thousands of operations, all of them beside the documents and
//! the manifest that they go into would be most of the memory that a description takes.

use gatefold_catalog::one_line;

use super::DescriptionError;
use super::description::{
    ApiDescription, DescriptionNote, DescriptionOptions, ToolDraft, UnusableOperation,
};
use super::library::Library;
use super::names::{self, Nameable};
use super::operations::{self, OperationNode, Surroundings, TextLimits};
use super::overlay::{Overlay, OverlayPlan};
use super::parameters::Edition;
use super::responses::Outputs;
use super::schema::{Schemas, Siblings};
use super::security::SecuritySchemes;
use super::value::DocumentValue;
use crate::request::OperationPath;

/// A description that is being read: an iterator over its tools, with an overlay's changes.
pub struct ApiReading<'a> {
    schemas: Schemas<'a>,
    all: Surroundings<'a>,
    outputs: Outputs,
    open: std::vec::IntoIter<UsableOperation<'a>>,
    overlay: OverlayPlan<'a>,
    read: ApiDescription,
}

/// An operation that is a tool, by this name and at this server.
struct UsableOperation<'a> {
    operation: OperationNode<'a>,
    name: String,
    base: Option<String>,
}

impl<'a> ApiReading<'a> {
    pub(super) fn new(
        library: &'a Library,
        notes: Vec<DescriptionNote>,
        options: &'a DescriptionOptions,
        overlay: &'a Overlay,
    ) -> Result<Self, DescriptionError> {
        let root = library.root();
        let (edition, siblings) = edition(root.value)?;
        let operations = operations::operations(library, edition);
        let security = SecuritySchemes::of(library);
        let limits = TextLimits::of(operations.len());
        let all = Surroundings { edition, root, security, options, limits };
        let mut read = ApiDescription::of(root, &all.security, notes);
        let mut usable = Vec::with_capacity(operations.len());
        let names = names(&operations);
        for (operation, name) in operations.into_iter().zip(names) {
            let base = operations::base(library, &all, &operation);
            let (method, path) = (operation.method.clone(), operation.path.clone());
            let own = base.clone().ok().flatten();
            read.paths.push(OperationPath { method, base: own, path });
            match operations::check(library, &operation).and(base.map_err(str::to_owned)) {
                Ok(base) => usable.push(UsableOperation { operation, name, base }),
                Err(why) => {
                    read.unusable.push(UnusableOperation { operation: operation.label(), why });
                }
            }
        }
        if usable.is_empty() && read.unusable.iter().any(|one| one.why.contains("`base_url`")) {
            return Err(DescriptionError::NoServer);
        }
        let mut outputs = Outputs::new(limits.output);
        for one in &usable {
            let node = one.operation.node;
            outputs.expect(library, node, all.produces(node));
        }
        let overlay = OverlayPlan::new(overlay, usable.iter().map(|one| one.name.as_str()));
        let schemas = Schemas::new(library, siblings);
        Ok(Self { schemas, all, outputs, open: usable.into_iter(), overlay, read })
    }

    /// What was read besides the tools.
    pub fn finish(self) -> ApiDescription {
        let Self { overlay, mut read, .. } = self;
        let note = |what| DescriptionNote {
            tool: None,
            what: format!("the overlay was not followed: {what}"),
        };
        read.notes.extend(overlay.unmatched.into_iter().map(note));
        read
    }

    fn tool(&mut self, usable: UsableOperation<'a>) -> ToolDraft {
        let Self { schemas, all, outputs, read, .. } = self;
        let UsableOperation { operation, name, base } = usable;
        let tool = operations::tool(schemas, all, &operation, outputs, name, base);
        let mut whats = schemas.take_notes();
        whats.dedup();
        let name = &tool.name;
        let note = |what| DescriptionNote { tool: Some(name.clone()), what };
        read.notes.extend(whats.into_iter().map(note));
        tool
    }
}

impl Iterator for ApiReading<'_> {
    type Item = ToolDraft;

    fn next(&mut self) -> Option<ToolDraft> {
        loop {
            let usable = self.open.next()?;
            let tool = self.tool(usable);
            if let Some(tool) = self.overlay.apply(tool) {
                self.read.count(&tool.action);
                return Some(tool);
            }
        }
    }
}

fn names(operations: &[OperationNode<'_>]) -> Vec<String> {
    let nameables: Vec<Nameable<'_>> = operations
        .iter()
        .map(|one| Nameable {
            id: one.node.text("operationId"),
            method: &one.method,
            path: &one.path,
        })
        .collect();
    names::names(&nameables)
}

fn edition(root: &DocumentValue) -> Result<(Edition, Siblings), DescriptionError> {
    let version = |key: &str| match root.get(key) {
        Some(DocumentValue::String(text)) => Some(text.trim().to_owned()),
        Some(DocumentValue::Number(number)) => Some(number.to_string()),
        _ => None,
    };
    match (version("openapi"), version("swagger")) {
        (Some(version), _) if version.starts_with("3.0") => {
            Ok((Edition::OpenApi3, Siblings::Annotate))
        }
        (Some(version), _) if version.starts_with('3') => Ok((Edition::OpenApi3, Siblings::Count)),
        (_, Some(version)) if version.starts_with('2') => {
            Ok((Edition::Swagger2, Siblings::Annotate))
        }
        (None, None) => {
            Err(DescriptionError::Other("it has neither `openapi` nor `swagger`".to_owned()))
        }
        (new, old) => {
            let version = new.or(old).unwrap_or_default();
            let why =
                format!("version `{}` is none of 2.0, 3.0, 3.1 and 3.2", one_line(&version, 20));
            Err(DescriptionError::Other(why))
        }
    }
}
