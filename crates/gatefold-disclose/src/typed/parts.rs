//! What a subcommand means that is about any tool of a source: schemas to read, or a call.

use gatefold_catalog::{
    DomainEntry, MetaTool, Request, Tool, View, object_fields, token_bound, without_spaces,
};
use gatefold_core::{Operation, ToolName};

use super::kinds::{DISCOVER, parameters, reader};
use super::pages::page;
use super::request;
use crate::arguments::{Arguments, json_text, object_text};
use crate::gateway::{ArgumentPlace, find_in, part_of, schema_text_after, unknown_in};
use crate::surface::{Reply, UsageError};
use crate::wording::{choice, listed, nothing_known, quoted};

/// The bytes of names in an error.
const NAMED_BYTES: usize = 2000;

/// The member of a definition's `_meta` that says which HTTP request an action is.
const HTTP: &str = "gatefold/http";

/// The tools of one source that a call is about.
pub(super) struct SourceTools<'a> {
    pub(super) view: &'a View,
    pub(super) meta: &'a MetaTool,
    pub(super) entry: &'a DomainEntry,
}

impl SourceTools<'_> {
    /// The schemas of one action or tool, or of all in pages.
    pub(super) fn discover(
        &self,
        arguments: &Arguments<'_>,
        budget: usize,
    ) -> Result<Reply, UsageError> {
        arguments.only(&[&parameters(self.meta)[..], &["path"]].concat())?;
        let (cursor, path) = (arguments.text("cursor")?, arguments.text("path")?);
        let reader = reader(self.meta);
        let reader = reader.as_deref();
        let resource = json_text(self.entry.domain().as_str());
        let first = (self.meta.noun, resource.as_str());
        if let Some(name) = arguments.text(self.meta.part)? {
            let tool = find_in(self.view, self.entry.domain(), name.trim());
            let tool = tool.ok_or_else(|| self.unknown(name.trim()))?;
            return match path.zip(reader) {
                Some((path, reader)) => part_of(tool, &path, reader),
                None => Ok(Reply::text(&described(&[first], tool, reader)).showing([tool])),
            };
        }
        if path.is_some() {
            let (meta, part) = (self.meta.name, self.meta.part);
            let text = format!("Parameter 'path' of {meta} goes with one {part}, in '{part}'.");
            return Err(UsageError::new(text));
        }
        if self.entry.manifest().is_none() {
            return Err(UsageError::new(self.not_known_yet()));
        }
        let tools: Vec<_> = self.view.tools_in(self.entry).collect();
        let names: Vec<_> = tools.iter().map(|tool| tool.definition().name()).collect();
        let list = format!("{}s", self.meta.part);
        let cursor = cursor.as_deref();
        if tools.len() == 1 || fit(&tools, budget, reader) {
            let text = page(&[first], &list, &names, budget, cursor, |at| {
                described(&[], tools[at], reader)
            })?;
            return Ok(Reply::text(&text).showing(tools));
        }
        // Whole schemas in pages cost a model far more than it needs to find one tool.
        let part = self.meta.part;
        let note = json_text(&format!(
            "Too many to give their parameters at once. {DISCOVER} with '{part}' gives those of one."
        ));
        let first = [first, ("note", &note)];
        let text = page(&first, &list, &names, budget, cursor, |at| brief(tools[at]))?;
        Ok(Reply::text(&text))
    }

    /// The call of an action or tool.
    pub(super) fn call(&self, arguments: &Arguments<'_>) -> Result<Request, UsageError> {
        let (meta, part) = (self.meta.name, self.meta.part);
        let name = arguments.text(part)?.ok_or_else(|| {
            let available = self.available();
            UsageError::new(format!("Missing parameter '{part}' of {meta}. {available}"))
        })?;
        let parsed = ToolName::parse(name.trim()).map_err(|_| self.unknown(&name))?;
        // An empty cursor was merely filled in; any other may be the tool's own parameter.
        let own = parameters(self.meta);
        let is_filled_in = arguments.text("cursor").is_ok_and(|cursor| cursor.is_none());
        let own = if is_filled_in { &own[..] } else { &own[..own.len() - 1] };
        let place = ArgumentPlace { meta, parameter: "parameters", own };
        let Some(tool) = find_in(self.view, self.entry.domain(), parsed.as_str()) else {
            // An unknown name is called anyway: the record then shows the attempt.
            let name = unknown_in(self.entry.domain(), parsed);
            return Ok(Operation::Tool { name, arguments: place.unchecked(arguments) }.into());
        };
        Ok(request(self.view, tool, place.read(tool, arguments)?))
    }

    fn available(&self) -> String {
        if self.entry.manifest().is_none() {
            return self.not_known_yet();
        }
        let names = self.view.tools_in(self.entry).map(|tool| tool.definition().name());
        let names = listed(names, NAMED_BYTES, str::len);
        format!("Available {}s of '{}': {names}", self.meta.part, self.entry.domain())
    }

    fn not_known_yet(&self) -> String {
        let domain = self.entry.domain();
        let source = self.view.unlisted().find(|source| source.domain == *domain);
        nothing_known(domain.as_str(), source)
    }

    fn unknown(&self, name: &str) -> UsageError {
        let (domain, part, noun) = (self.entry.domain(), self.meta.part, self.meta.noun);
        let within = self.view.within(domain);
        let long = ToolName::parse(&format!("{domain}__{name}")).ok();
        let nearest = long.and_then(|long| within.resolve(&long).err());
        let nearest = nearest.map(|miss| miss.nearest).unwrap_or_default();
        let nearest: Vec<_> = nearest.iter().filter_map(|id| within.tool_with_id(id)).collect();
        let advice = if nearest.is_empty() {
            self.available()
        } else {
            let names = nearest.iter().map(|tool| tool.definition().name());
            let (names, meta) = (choice(names), self.meta.name);
            format!("Did you mean {names}? The subcommand '{DISCOVER}' of {meta} shows all.")
        };
        UsageError::new(format!("Unknown {part} {} of {noun} '{domain}'. {advice}", quoted(name)))
    }
}

/// Whether all are short enough for one answer with their schemas.
fn fit(tools: &[&Tool], budget: usize, reader: Option<&str>) -> bool {
    let mut left = budget;
    tools.iter().all(|tool| {
        let tokens = token_bound(&described(&[], tool, reader)) + 1;
        let fits = tokens <= left;
        left = left.saturating_sub(tokens);
        fits
    })
}

/// An action or tool by its name and what it does.
fn brief(tool: &Tool) -> String {
    let name = json_text(tool.definition().name());
    let about = json_text(tool.line());
    let about = (!tool.line().is_empty()).then_some(("description", about.as_str()));
    object_text([("name", name.as_str())].into_iter().chain(about))
}

/// An action or tool under its own name, with the HTTP request that it is, after other fields.
fn described(first: &[(&str, &str)], tool: &Tool, reader: Option<&str>) -> String {
    let name = json_text(tool.definition().name());
    let http = http_request(tool);
    let http = http.iter().map(|(key, value)| (*key, value.as_str()));
    let named = [("name", name.as_str())];
    let fields: Vec<_> = first.iter().copied().chain(named).chain(http).collect();
    schema_text_after(&fields, tool, reader)
}

/// The method, path and body template of an HTTP action, as far as its definition has them.
fn http_request(tool: &Tool) -> Vec<(&'static str, String)> {
    let Some(http) = member(tool.definition().raw(), &["_meta", HTTP]) else { return Vec::new() };
    let body = member(http, &["body", "arguments"]);
    let fields = [
        ("method", member(http, &["method"]).map(without_spaces)),
        ("path", member(http, &["path"]).map(without_spaces)),
        ("body_template", body.and_then(body_template)),
    ];
    fields.into_iter().filter_map(|(key, value)| Some((key, value?))).collect()
}

/// A member of a member of JSON.
fn member<'a>(json: &'a str, path: &[&str]) -> Option<&'a str> {
    path.iter().try_fold(json, |object, key| {
        let fields = object_fields(object)?;
        fields.into_iter().find(|(own, _)| own == key).map(|(_, value)| value)
    })
}

/// A request's body, with `{name}` where an argument goes: as it was written, or as the arguments
/// make it up.
fn body_template(arguments: &str) -> Option<String> {
    if let Some(template) = member(arguments, &["template"]) {
        return Some(without_spaces(template));
    }
    let place = |name: &str| json_text(&format!("{{{name}}}"));
    if let Some(whole) = member(arguments, &["whole"]) {
        return Some(place(&serde_json::from_str::<String>(whole).ok()?));
    }
    let names = member(arguments, &["members", "names"])?;
    let names: Vec<String> = serde_json::from_str(names).ok()?;
    let places: Vec<_> = names.iter().map(|name| place(name)).collect();
    Some(object_text(names.iter().map(String::as_str).zip(places.iter().map(String::as_str))))
}
