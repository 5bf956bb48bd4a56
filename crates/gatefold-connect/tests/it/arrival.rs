//! Reads arguments back out of a request, as a server that follows OpenAPI does.
//!
//! Nothing here is shared with what writes them.

use serde_json::Value;

use crate::fixture::ArrivedRequest;

/// What an argument is, which a server knows from its description.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Form {
    Scalar,
    List,
    Object,
}

/// What arrived for one parameter: texts, because that is all that a request has.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum ArrivedValue {
    Nothing,
    Scalar(String),
    List(Vec<String>),
    Object(Vec<(String, String)>),
}

impl ArrivedValue {
    /// What should arrive for an argument. Undefined values are left out (RFC 6570, section 2.3).
    pub(crate) fn of(argument: &Value) -> Self {
        let text = |value: &Value| match value {
            Value::String(text) => text.clone(),
            other => serde_json::to_string(other).unwrap(),
        };
        match argument {
            Value::Null => Self::Nothing,
            Value::Array(items) => {
                let items: Vec<_> = items.iter().filter(|item| !item.is_null()).map(text).collect();
                if items.is_empty() { Self::Nothing } else { Self::List(items) }
            }
            Value::Object(members) => {
                let members = members.iter().filter(|(_, value)| !value.is_null());
                let members: Vec<_> =
                    members.map(|(name, value)| (name.clone(), text(value))).collect();
                if members.is_empty() { Self::Nothing } else { Self::Object(members) }
            }
            scalar => Self::Scalar(text(scalar)),
        }
    }
}

/// Undoes percent-encoding (RFC 3986, section 2.1).
pub(crate) fn percent_decoded(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((first, behind)) = rest.split_first() {
        rest = behind;
        if *first == b'%' {
            let digits = std::str::from_utf8(&rest[..2]).unwrap();
            bytes.push(u8::from_str_radix(digits, 16).unwrap());
            rest = &rest[2..];
        } else {
            bytes.push(*first);
        }
    }
    String::from_utf8(bytes).unwrap()
}

/// The pairs of a query or a form, decoded as WHATWG's URL standard says.
pub(crate) fn form_pairs(text: &str) -> Vec<(String, String)> {
    raw_pairs(text, "&")
        .into_iter()
        .map(|(name, value)| {
            (percent_decoded(&name.replace('+', " ")), percent_decoded(&value.replace('+', " ")))
        })
        .collect()
}

fn raw_pairs(text: &str, separator: &str) -> Vec<(String, String)> {
    let pairs = text.split(separator).filter(|pair| !pair.is_empty());
    pairs
        .map(|pair| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            (name.to_owned(), value.to_owned())
        })
        .collect()
}

/// The argument `v` in the place, style and form that its description says.
pub(crate) fn arrived(
    request: &ArrivedRequest,
    (place, style, explode): (&str, &str, bool),
    form: Form,
) -> ArrivedValue {
    match place {
        "path" => {
            // The template is `/a/{v}/b`: more segments would be another path.
            let segments: Vec<_> = request.path.split('/').collect();
            let ["", "a", segment, "b"] = segments[..] else { panic!("{}", request.path) };
            from_segment(segment, style, explode, form, percent_decoded)
        }
        "header" => match request.header("v")[..] {
            [] => ArrivedValue::Nothing,
            [value] => from_segment(value, style, explode, form, str::to_owned),
            _ => panic!("{request:?}"),
        },
        "query" => {
            let pairs = raw_pairs(request.query.as_deref().unwrap_or_default(), "&");
            from_pairs(&pairs, style, explode, form, percent_decoded)
        }
        "cookie" => {
            let cookies = request.header("cookie");
            let pairs = raw_pairs(cookies.first().copied().unwrap_or_default(), "; ");
            let decode = if style == "cookie" { str::to_owned } else { percent_decoded };
            from_pairs(&pairs, style, explode, form, decode)
        }
        other => panic!("{other}"),
    }
}

fn from_segment(
    segment: &str,
    style: &str,
    explode: bool,
    form: Form,
    decode: fn(&str) -> String,
) -> ArrivedValue {
    let body = match style {
        "label" => segment.strip_prefix('.').unwrap(),
        "matrix" => segment.strip_prefix(';').unwrap(),
        _ => segment,
    };
    if style == "matrix" && (!explode || form == Form::Scalar) {
        let (name, value) = body.split_once('=').unwrap_or((body, ""));
        assert_eq!(name, "v");
        return from_list(value, ",", explode, form, decode);
    }
    match (style, form) {
        ("matrix", Form::List) => {
            let pairs = body.split(';').map(|pair| pair.split_once('=').unwrap_or((pair, "")));
            ArrivedValue::List(pairs.map(|(_, value)| decode(value)).collect())
        }
        ("matrix", _) => members(body.split(';'), decode),
        ("label", _) if explode => from_list(body, ".", explode, form, decode),
        _ => from_list(body, ",", explode, form, decode),
    }
}

fn from_list(
    text: &str,
    separator: &str,
    explode: bool,
    form: Form,
    decode: fn(&str) -> String,
) -> ArrivedValue {
    match form {
        Form::Scalar => ArrivedValue::Scalar(decode(text)),
        Form::List => ArrivedValue::List(text.split(separator).map(decode).collect()),
        Form::Object if explode => members(text.split(separator), decode),
        Form::Object => {
            let items: Vec<_> = text.split(separator).map(decode).collect();
            let pairs = items.chunks(2).map(|pair| (pair[0].clone(), pair[1].clone()));
            ArrivedValue::Object(pairs.collect())
        }
    }
}

fn members<'t>(pairs: impl Iterator<Item = &'t str>, decode: fn(&str) -> String) -> ArrivedValue {
    let pairs = pairs.map(|pair| pair.split_once('=').unwrap_or((pair, "")));
    ArrivedValue::Object(pairs.map(|(name, value)| (decode(name), decode(value))).collect())
}

fn from_pairs(
    pairs: &[(String, String)],
    style: &str,
    explode: bool,
    form: Form,
    decode: fn(&str) -> String,
) -> ArrivedValue {
    if pairs.is_empty() {
        return ArrivedValue::Nothing;
    }
    let decoded = || pairs.iter().map(|(name, value)| (decode(name), decode(value)));
    if style == "deepObject" && form == Form::Object {
        let inner =
            |name: &str| name.strip_prefix("v[").unwrap().strip_suffix(']').unwrap().to_owned();
        return ArrivedValue::Object(
            decoded().map(|(name, value)| (inner(&name), value)).collect(),
        );
    }
    if form == Form::Object && explode {
        return ArrivedValue::Object(decoded().collect());
    }
    assert!(decoded().all(|(name, _)| name == "v"), "{pairs:?}");
    if form == Form::List && explode {
        return ArrivedValue::List(decoded().map(|(_, value)| value).collect());
    }
    let [(_, value)] = pairs else { panic!("{pairs:?}") };
    let separator = match style {
        "spaceDelimited" => "%20",
        "pipeDelimited" => "%7C",
        "tabDelimited" => "%09",
        _ => ",",
    };
    from_list(value, separator, false, form, decode)
}
