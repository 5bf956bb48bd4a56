//! One operation of an HTTP API, as it is kept in its tool's definition.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use url::Url;

/// The member of a definition's `_meta` that holds the [`Action`].
pub const ACTION_KEY: &str = "gatefold/http";

/// One operation of an HTTP API: everything that a call needs besides its arguments and credentials.
///
/// It never holds a secret, because models may read it. What is left out has its default.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Action {
    /// The HTTP method, in capitals.
    pub method: String,
    /// The URL of the server, without a slash at its end. None where the source configures one, or the path of
    /// another server there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base: Option<String>,
    /// The path below it, with parameters as `{name}`. Everything else is sent as it is here.
    pub path: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parameters: Vec<ParameterSpec>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<RequestBody>,
    /// The media types of its answers, the preferred one first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub accept: Vec<String>,
    /// What the API says about the statuses of failures, by status or class: `404`, `4XX`, `default`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub failures: BTreeMap<String, String>,
    /// The ways to sign in that the description names, in its order: one of them is enough. None if it names no
    /// way at all, and an empty list for an operation that is called without credentials.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub security: Option<Vec<SecurityRequirement>>,
    /// A jq program over the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extract: Option<String>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub result: ResultShape,
}

impl Action {
    /// Whether the description says that it is called without credentials.
    pub(crate) fn is_free(&self) -> bool {
        self.security.as_ref().is_some_and(Vec::is_empty)
    }

    /// The schemes of all ways to sign in.
    pub(crate) fn schemes(&self) -> impl Iterator<Item = &SecurityScheme> {
        self.security.iter().flatten().flat_map(SecurityRequirement::values)
    }
}

/// The server of an operation: the one that the source configures, at the operation's own path there, else the
/// description's.
pub(crate) fn server(configured: Option<&Url>, own: Option<&str>) -> Option<Url> {
    let Some(configured) = configured else { return own?.parse().ok() };
    let mut server = configured.clone();
    if let Some(path) = own.filter(|own| own.starts_with('/')) {
        server.set_path(path);
    }
    Some(server)
}

/// Where an argument goes, other than into the body.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ParameterSpec {
    /// The API's name for it.
    pub name: String,
    /// The name of the argument, where the API's own belongs to another argument.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub argument: Option<String>,
    #[serde(rename = "in")]
    pub place: ParameterPlace,
    /// How it is written. None is the place's default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub style: Option<Style>,
    /// Whether each item of a list or an object is written on its own. None is the style's default:
    /// only `form` and `cookie` do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub explode: Option<bool>,
    /// Whether reserved characters go out as they are.
    #[serde(default, skip_serializing_if = "is_default")]
    pub allow_reserved: bool,
    /// The media type in which the value is written, instead of a style.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
    /// What is sent without an argument. Only a path needs it: other places know their defaults.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<Value>,
}

impl ParameterSpec {
    /// A parameter that is written in its place's own way.
    pub fn plain(name: impl Into<String>, place: ParameterPlace) -> Self {
        Self {
            name: name.into(),
            argument: None,
            place,
            style: None,
            explode: None,
            allow_reserved: false,
            content: None,
            default: None,
        }
    }

    /// The name of the argument.
    pub fn argument(&self) -> &str {
        self.argument.as_deref().unwrap_or(&self.name)
    }

    pub fn style(&self) -> Style {
        self.style.unwrap_or(match self.place {
            ParameterPlace::Query | ParameterPlace::Cookie => Style::Form,
            ParameterPlace::Path | ParameterPlace::Header | ParameterPlace::QueryString => {
                Style::Simple
            }
        })
    }

    pub fn explode(&self) -> bool {
        self.explode.unwrap_or(matches!(self.style(), Style::Form | Style::Cookie))
    }
}

/// The part of a request that an argument goes into.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ParameterPlace {
    Path,
    Query,
    /// The whole query, written in the parameter's media type (OpenAPI 3.2).
    QueryString,
    Header,
    Cookie,
}

/// How a value is written into a part of a request (OpenAPI 3.2, section "Style Values").
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Style {
    Simple,
    Label,
    Matrix,
    Form,
    SpaceDelimited,
    PipeDelimited,
    /// Values with tabs between them: only Swagger 2 has it, as `tsv`.
    TabDelimited,
    DeepObject,
    /// Like `form`, without percent-encoding (OpenAPI 3.2).
    Cookie,
}

/// The body of a request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RequestBody {
    pub arguments: BodyArguments,
    /// The media types in which it may be sent, the preferred one first. There is at least one.
    pub media: Vec<BodyMedia>,
    /// The argument that chooses among several media types. Its values are their names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub choice: Option<String>,
}

/// Which arguments make up a body.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BodyArguments {
    /// One argument of this name is the whole body.
    Whole(String),
    /// Each of these arguments is the member of the same name of an object. Without any of them there is no
    /// body, unless it is required.
    Members {
        names: Vec<String>,
        #[serde(default, skip_serializing_if = "is_default")]
        required: bool,
    },
    /// JSON in which a text `{name}` stands for the argument of that name.
    Template(Value),
}

/// One media type of a body.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BodyMedia {
    #[serde(rename = "type")]
    pub media_type: String,
    /// How members are written, by name, where it is not their type's default.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub encoding: BTreeMap<String, PartEncoding>,
    /// The members that are files, or lists of files: `{filename, media_type, base64}`. A `*` stands for the
    /// whole body.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
}

/// How one member of a form or one part of a multipart body is written.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartEncoding {
    /// Its media type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content_type: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub style: Option<Style>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub explode: Option<bool>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub allow_reserved: bool,
}

/// One way to sign in: all of these schemes at once, by their names. Without any the operation can also be called
/// without credentials.
pub type SecurityRequirement = BTreeMap<String, SecurityScheme>;

/// A way to sign in that a description names.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SecurityScheme {
    /// A token in the header `Authorization`: schemes `bearer`, `oauth2` and `openIdConnect`.
    Bearer,
    Basic,
    /// A key in a header, the query or a cookie.
    Key {
        #[serde(rename = "in")]
        place: ParameterPlace,
        name: String,
        /// Whether the description has another key before it, which is the one that a configured key without a
        /// place of its own is for.
        #[serde(default, skip_serializing_if = "is_default")]
        is_further: bool,
    },
    /// A certificate of the client.
    MutualTls,
    /// Any other scheme of the header `Authorization`, by its name.
    Other(String),
}

impl SecurityScheme {
    pub(crate) fn is_key(&self) -> bool {
        matches!(self, Self::Key { .. })
    }
}

/// How an answer becomes a structured result.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ResultShape {
    /// An object is the structured result itself; anything else is text alone.
    #[default]
    Plain,
    /// The output schema has one member, `result`, because the API's answer is no object.
    Wrapped,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_action_keeps_to_what_differs_from_the_defaults() {
        let text =
            r#"{"method":"GET","path":"/pets/{id}","parameters":[{"name":"id","in":"path"}]}"#;
        let action: Action = serde_json::from_str(text).unwrap();
        assert_eq!(serde_json::to_string(&action).unwrap(), text);
        let [id] = &action.parameters[..] else { panic!("{action:?}") };
        assert_eq!((id.argument(), id.style(), id.explode()), ("id", Style::Simple, false));
    }
}
