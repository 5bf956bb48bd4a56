//! The URL of a request.

use std::borrow::Cow;

use serde_json::{Map, Value};
use url::Url;

use crate::action::{Action, ParameterPlace, ParameterSpec};
use crate::media::{FORM, MediaClass};

use super::error::RequestError;
use super::escape::{Escape, literal};
use super::forms::content_text;
use super::limits::MAX_URL_BYTES;
use super::readings::has_dots;
use super::values::writing;

/// The URL with the arguments in its path and its query.
pub(super) fn url(
    action: &Action,
    base: &Url,
    arguments: &Map<String, Value>,
) -> Result<Url, RequestError> {
    // Descriptions tell operations of one path apart by a fragment, which is never sent.
    let template = action.path.split('#').next().unwrap_or_default();
    let (path, own_query) = template.split_once('?').unwrap_or((template, ""));
    let mut full = base.path().trim_end_matches('/').to_owned();
    for segment in path.strip_prefix('/').unwrap_or(path).split('/') {
        full.push('/');
        full.push_str(&expanded_segment(action, segment, arguments)?);
    }
    let mut query = Vec::new();
    query.extend(base.query().filter(|query| !query.is_empty()).map(str::to_owned));
    if !own_query.is_empty() {
        query.push(expanded(action, own_query, arguments, Escape::Full)?.0);
    }
    for parameter in &action.parameters {
        query.extend(query_pairs(parameter, arguments)?);
    }
    let query = query.join("&");
    let bytes = full.len() + query.len();
    if bytes > MAX_URL_BYTES {
        return Err(RequestError::LongUrl { bytes });
    }
    let mut url = base.clone();
    url.set_fragment(None);
    url.set_path(&full);
    url.set_query((!query.is_empty()).then_some(&query));
    // The path must arrive as it was written here, or an argument has changed its structure.
    if url.path() != full {
        return Err(RequestError::action(action, "its path is not a legal path of a URL"));
    }
    Ok(url)
}

fn expanded_segment(
    action: &Action,
    segment: &str,
    arguments: &Map<String, Value>,
) -> Result<String, RequestError> {
    let (text, last) = expanded(action, segment, arguments, Escape::ReservedInPath)?;
    if !has_dots(&text) {
        return Ok(text);
    }
    Err(match last {
        Some(argument) => {
            RequestError::argument(argument, "would lead to another path: leave out `.` and `..`")
        }
        None => RequestError::action(action, "its path has a segment `.` or `..`"),
    })
}

/// A part of the template with its parameters filled in, and the last argument among them. `reserved` is how a
/// parameter is encoded that allows reserved characters.
fn expanded<'a>(
    action: &'a Action,
    template: &str,
    arguments: &Map<String, Value>,
    reserved: Escape,
) -> Result<(String, Option<&'a str>), RequestError> {
    let mut out = String::with_capacity(template.len());
    let mut last = None;
    let mut rest = template;
    while let Some(open) = rest.find('{') {
        let placeholder = rest[open + 1..].find('}').map(|close| &rest[open + 1..open + 1 + close]);
        let parameter = placeholder.and_then(|name| path_parameter(action, name));
        let (Some(name), Some(parameter)) = (placeholder, parameter) else {
            out.push_str(&literal(&rest[..=open]));
            rest = &rest[open + 1..];
            continue;
        };
        out.push_str(&literal(&rest[..open]));
        out.push_str(&path_text(action, parameter, arguments, reserved)?);
        last = Some(parameter.argument());
        rest = &rest[open + name.len() + 2..];
    }
    out.push_str(&literal(rest));
    Ok((out, last))
}

fn path_parameter<'a>(action: &'a Action, name: &str) -> Option<&'a ParameterSpec> {
    let is_meant = |spec: &&ParameterSpec| spec.place == ParameterPlace::Path && spec.name == name;
    action.parameters.iter().find(is_meant)
}

fn path_text(
    action: &Action,
    parameter: &ParameterSpec,
    arguments: &Map<String, Value>,
    reserved: Escape,
) -> Result<String, RequestError> {
    let argument = parameter.argument();
    let value = arguments.get(argument).filter(|value| !value.is_null());
    let Some(value) = value.or(parameter.default.as_ref()) else {
        let (argument, path) = (argument.to_owned(), action.path.clone());
        return Err(RequestError::MissingInPath { argument, path });
    };
    let escape = if parameter.allow_reserved { reserved } else { Escape::Full };
    let text = match &parameter.content {
        Some(media) => escape.text(&content_text(argument, media, value)?).into_owned(),
        None => writing(parameter, escape).segment(value)?.unwrap_or_default(),
    };
    if text.is_empty() {
        let fault = "is empty, and would lead to another path: give a value";
        return Err(RequestError::argument(argument, fault));
    }
    Ok(text)
}

/// What a parameter adds to the query, if it belongs there.
fn query_pairs(
    parameter: &ParameterSpec,
    arguments: &Map<String, Value>,
) -> Result<Option<String>, RequestError> {
    let value = arguments.get(parameter.argument()).filter(|value| !value.is_null());
    let Some(value) = value else { return Ok(None) };
    let escape = if parameter.allow_reserved { Escape::ReservedInQuery } else { Escape::Full };
    let pairs = match (parameter.place, &parameter.content) {
        (ParameterPlace::Query, None) => writing(parameter, escape).pairs(value)?,
        (ParameterPlace::Query, Some(media)) => {
            let text = content_text(parameter.argument(), media, value)?;
            vec![(Escape::Full.text(&parameter.name).into_owned(), escape.text(&text).into_owned())]
        }
        (ParameterPlace::QueryString, media) => {
            let media = media.as_deref().unwrap_or(FORM);
            let text = content_text(parameter.argument(), media, value)?;
            // A form is encoded already.
            let is_form = MediaClass::of(media) == MediaClass::Form;
            let text = if is_form { text.into() } else { Escape::Full.text(&text) };
            return Ok((!text.is_empty()).then(|| Cow::into_owned(text)));
        }
        _ => return Ok(None),
    };
    let pairs: Vec<_> = pairs.iter().map(|(name, value)| format!("{name}={value}")).collect();
    Ok((!pairs.is_empty()).then(|| pairs.join("&")))
}
