//! The headers and cookies of a request.

use std::fmt::Write as _;

use http::{HeaderMap, HeaderName, HeaderValue, header};
use serde_json::{Map, Value};

use crate::action::{Action, ParameterPlace, ParameterSpec, Style};
use crate::media::MediaClass;

use super::error::RequestError;
use super::escape::Escape;
use super::forms::content_text;
use super::limits::MAX_HEADER_BYTES;
use super::values::writing;

/// Headers that say how the connection is used. They are the client's own.
const OF_THE_CONNECTION: [&str; 13] = [
    "connection",
    "content-length",
    "expect",
    "host",
    "http2-settings",
    "keep-alive",
    "proxy-authenticate",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// The most media types of answers that are named.
const MAX_ACCEPTED: usize = 8;

/// The headers, with all cookies in one.
pub(super) fn headers(
    action: &Action,
    arguments: &Map<String, Value>,
) -> Result<HeaderMap, RequestError> {
    let mut headers = HeaderMap::new();
    let mut cookies = Vec::new();
    let accept = accept(&action.accept);
    headers.insert(header::ACCEPT, accept);
    for parameter in &action.parameters {
        let value = arguments.get(parameter.argument()).filter(|value| !value.is_null());
        let Some(value) = value else { continue };
        match parameter.place {
            ParameterPlace::Header => {
                let name = header_name(action, parameter)?;
                let Some(text) = header_text(parameter, value)? else { continue };
                let value = header_value(parameter.argument(), &text)?;
                // What a person or a model asks for replaces what we would.
                if name == header::ACCEPT {
                    headers.insert(name, value);
                } else {
                    headers.append(name, value);
                }
            }
            ParameterPlace::Cookie => cookies.extend(cookie_pairs(parameter, value)?),
            _ => {}
        }
    }
    if !cookies.is_empty() {
        let cookies: Vec<_> =
            cookies.iter().map(|(name, value)| format!("{name}={value}")).collect();
        headers.insert(header::COOKIE, header_value("cookies", &cookies.join("; "))?);
    }
    Ok(headers)
}

/// The preferred media type first, and anything rather than nothing: descriptions are often wrong about it.
fn accept(types: &[String]) -> HeaderValue {
    let mut text = String::new();
    for (place, media_type) in types.iter().take(MAX_ACCEPTED).enumerate() {
        let quality = if place == 0 { String::new() } else { format!(";q=0.{}", 10 - place) };
        write!(text, "{media_type}{quality}, ").expect("a String takes everything");
    }
    if types.is_empty() {
        text.push_str("application/json, ");
    }
    text.push_str("*/*;q=0.1");
    HeaderValue::from_str(&text).unwrap_or(HeaderValue::from_static("*/*"))
}

fn header_name(action: &Action, parameter: &ParameterSpec) -> Result<HeaderName, RequestError> {
    let name = HeaderName::from_bytes(parameter.name.as_bytes());
    let name = name.map_err(|_| {
        RequestError::action(action, &format!("`{}` is no name of a header", parameter.name))
    })?;
    if OF_THE_CONNECTION.contains(&name.as_str()) {
        let fault = "belongs to the connection and cannot be set: leave it out";
        return Err(RequestError::argument(parameter.argument(), fault));
    }
    Ok(name)
}

fn header_text(parameter: &ParameterSpec, value: &Value) -> Result<Option<String>, RequestError> {
    let Some(media_type) = &parameter.content else {
        return writing(parameter, Escape::Nothing).segment(value);
    };
    let text = content_text(parameter.argument(), media_type, value)?;
    let is_json = MediaClass::of(media_type) == MediaClass::Json;
    Ok(Some(if is_json { ascii_json(&text) } else { text }))
}

/// JSON with everything beyond ASCII escaped, which says the same.
fn ascii_json(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        if letter.is_ascii() && letter != '\u{7f}' {
            out.push(letter);
            continue;
        }
        for unit in letter.encode_utf16(&mut [0; 2]) {
            write!(out, "\\u{unit:04x}").expect("a String takes everything");
        }
    }
    out
}

fn header_value(argument: &str, text: &str) -> Result<HeaderValue, RequestError> {
    if text.len() > MAX_HEADER_BYTES {
        let bytes = text.len();
        return Err(RequestError::LongHeader { argument: argument.to_owned(), bytes });
    }
    if let Some(found) = text.chars().find(|c| !matches!(c, ' '..='~' | '\t')) {
        let fault = format!("goes into a header, which cannot carry {}", described(found));
        return Err(RequestError::argument(argument, fault));
    }
    if text.trim_matches([' ', '\t']) != text {
        let fault = "goes into a header, which cannot begin or end with a space";
        return Err(RequestError::argument(argument, fault));
    }
    Ok(HeaderValue::from_str(text).expect("printable ASCII is legal in a header"))
}

fn cookie_pairs(
    parameter: &ParameterSpec,
    value: &Value,
) -> Result<Vec<(String, String)>, RequestError> {
    let is_raw = parameter.style() == Style::Cookie;
    let escape = if is_raw { Escape::Nothing } else { Escape::Full };
    if let Some(media_type) = &parameter.content {
        let text = content_text(parameter.argument(), media_type, value)?;
        let name = escape.text(&parameter.name).into_owned();
        return Ok(vec![(name, Escape::Full.text(&text).into_owned())]);
    }
    let pairs = writing(parameter, escape).pairs(value)?;
    // RFC 6265, section 4.1.1, but for the comma, which separates items and which servers take.
    let is_legal = |c: char| c.is_ascii_graphic() && !matches!(c, '"' | ';' | '\\');
    let found = pairs.iter().find_map(|(name, value)| {
        let in_name = name.chars().find(|c| !is_legal(*c) || *c == '=');
        in_name.or_else(|| value.chars().find(|c| !is_legal(*c)))
    });
    if let Some(found) = found {
        let fault = format!("goes into a cookie, which cannot carry {}", described(found));
        return Err(RequestError::argument(parameter.argument(), fault));
    }
    Ok(pairs)
}

fn described(letter: char) -> String {
    match letter {
        ' ' => "a space".to_owned(),
        '\r' | '\n' => "a line break".to_owned(),
        c if c.is_control() => format!("the control character U+{:04X}", u32::from(c)),
        c if c.is_ascii() => format!("`{c}`"),
        c => format!("`{c}`: only ASCII"),
    }
}
