//! The paths of an API's operations, and whether arguments lead from one to another.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};
use url::{Origin, Url};

use crate::action::{Action, server};

use super::error::RequestError;
use super::readings::{bare, decoded, readings, segments};

/// Where an operation is. One for each operation of a description, also those that are no tools.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OperationPath {
    pub method: String,
    /// The URL of the server. None where the source configures one, or a path there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base: Option<String>,
    pub path: String,
}

/// The paths of all operations of an API, those included that nobody is shown.
#[derive(Debug, Default)]
pub struct OperationPaths {
    by_method: HashMap<String, Vec<PathTemplate>>,
}

/// When a server looks for the segments of a path.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Routing {
    /// After it has decoded the path, as most do: an encoded slash separates segments.
    #[default]
    AfterDecoding,
    /// Before: an encoded slash is a part of its segment.
    BeforeDecoding,
}

/// A path with placeholders, for comparison.
#[derive(Debug, PartialEq, Eq)]
struct PathTemplate {
    origin: Option<Origin>,
    segments: Vec<SegmentTemplate>,
}

/// A segment in lower case: many servers ignore case.
#[derive(Debug, PartialEq, Eq)]
enum SegmentTemplate {
    Literal(String),
    /// What stands around placeholders, both empty where there is nothing else.
    Placeholder {
        prefix: String,
        suffix: String,
    },
}

impl OperationPaths {
    /// `base` is the server of operations that name none.
    pub fn new(paths: impl IntoIterator<Item = OperationPath>, base: Option<&Url>) -> Self {
        let mut by_method = HashMap::<_, Vec<_>>::new();
        for OperationPath { method, base: own, path } in paths {
            let whole = own.as_deref().and_then(|own| own.parse::<Url>().ok());
            let server = whole.or_else(|| server(base, own.as_deref()));
            let template = PathTemplate::new(server.as_ref(), &path);
            by_method.entry(method).or_default().push(template);
        }
        Self { by_method }
    }

    /// Refuses a request whose path a server may take for another operation's. An API may hide that one, or
    /// ask before it.
    pub fn check(
        &self,
        action: &Action,
        base: &Url,
        sent: &Url,
        routing: Routing,
    ) -> Result<(), RequestError> {
        let Some(others) = self.by_method.get(&action.method).filter(|_| action.path.contains('{'))
        else {
            return Ok(());
        };
        let own = PathTemplate::new(Some(base), &action.path);
        let mut others =
            others.iter().filter(|other| other.origin == own.origin && !other.includes(&own));
        let as_sent: Vec<_> = sent.path().split('/').map(decoded).collect();
        let as_sent = vec![comparable(as_sent.iter().map(String::as_str))];
        let as_decoded: Vec<_> =
            readings(sent.path()).iter().map(|path| comparable(segments(path))).collect();
        let fits = |other: &PathTemplate, ways: &[Vec<String>]| {
            ways.iter().any(|way| other.fits(way, way.len() > own.segments.len()))
        };
        let refused = |needs_decoding| {
            Err(RequestError::OtherOperation { path: action.path.clone(), needs_decoding })
        };
        if others.clone().any(|other| fits(other, &as_sent)) {
            return refused(false);
        }
        if routing == Routing::AfterDecoding && others.any(|other| fits(other, &as_decoded)) {
            return refused(true);
        }
        Ok(())
    }
}

/// Segments as they are compared. Servers merge slashes and ignore the one at the end.
fn comparable<'a>(segments: impl Iterator<Item = &'a str>) -> Vec<String> {
    segments.filter(|segment| !segment.is_empty()).map(str::to_lowercase).collect()
}

impl PathTemplate {
    fn new(base: Option<&Url>, path: &str) -> Self {
        let path = path.split(['?', '#']).next().unwrap_or_default();
        let base_path = base.map_or("", |base| base.path());
        let whole = base_path.split('/').chain(path.split('/')).filter(|text| !text.is_empty());
        Self { origin: base.map(Url::origin), segments: whole.map(SegmentTemplate::new).collect() }
    }

    /// Whether a path is one of these. With more segments than its own operation has, the last placeholder may
    /// take several: frameworks have such placeholders, and descriptions do not tell them apart.
    fn fits(&self, path: &[String], is_longer: bool) -> bool {
        let has_length = path.len() == self.segments.len()
            || is_longer && path.len() > self.segments.len() && self.is_open();
        has_length && self.segments.iter().zip(path).all(|(own, text)| own.fits(text))
    }

    fn is_open(&self) -> bool {
        self.segments.last().is_some_and(SegmentTemplate::is_whole)
    }

    /// Whether every path of the other one is one of these as well, so that arguments make no difference.
    fn includes(&self, other: &Self) -> bool {
        let (own, others) = (&self.segments, &other.segments);
        let has_length = own.len() == others.len() || own.len() < others.len() && self.is_open();
        let is_fixed = |segment: &SegmentTemplate| matches!(segment, SegmentTemplate::Literal(_));
        has_length
            && others.iter().enumerate().all(|(at, segment)| {
                let own = &own[at.min(own.len() - 1)];
                is_fixed(segment) || own.is_whole() || own == segment
            })
    }
}

impl SegmentTemplate {
    fn new(segment: &str) -> Self {
        let text = |text: &str| decoded(text).to_lowercase();
        match (segment.split_once('{'), segment.rsplit_once('}')) {
            (Some((prefix, _)), Some((_, suffix))) => {
                Self::Placeholder { prefix: text(prefix), suffix: text(suffix) }
            }
            _ => Self::Literal(text(segment)),
        }
    }

    fn is_whole(&self) -> bool {
        matches!(self, Self::Placeholder { prefix, suffix } if prefix.is_empty() && suffix.is_empty())
    }

    fn fits(&self, text: &str) -> bool {
        match self {
            Self::Literal(own) => own == text || own == bare(text),
            Self::Placeholder { prefix, suffix } => {
                text.len() > prefix.len() + suffix.len()
                    && text.starts_with(prefix.as_str())
                    && text.ends_with(suffix.as_str())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::request::OutgoingRequest;

    const BASE: &str = "https://api.example.com/v1";

    /// Whether the first of these operations can be called with this argument, `v`: before a server that decodes
    /// first, and before one that looks for segments first.
    fn check(paths: &[&str], value: &str, expected: [bool; 2]) {
        let place = |path: &&str| OperationPath {
            method: "GET".to_owned(),
            base: None,
            path: (*path).to_owned(),
        };
        let base: Url = BASE.parse().unwrap();
        let parameters = json!([{ "name": "v", "in": "path" }]);
        let action = json!({ "method": "GET", "path": paths[0], "parameters": parameters });
        let action: Action = serde_json::from_value(action).unwrap();
        let arguments = json!({ "v": value });
        let operations = OperationPaths::new(paths.iter().map(place), Some(&base));
        let request = OutgoingRequest::new(&action, &base, arguments.as_object().unwrap());
        let found = [Routing::AfterDecoding, Routing::BeforeDecoding].map(|routing| {
            request.as_ref().is_ok_and(|request| {
                operations.check(&action, &base, &request.url, routing).is_ok()
            })
        });
        assert_eq!(found, expected, "{paths:?} {value}");
    }

    #[test]
    fn a_path_argument_reaches_no_other_operation() {
        const USERS: [&str; 3] = ["/users/{v}", "/users/{id}/salary", "/users/{id}/files/{path}"];
        for value in [
            "5/salary",
            "5/Salary",
            "5\\salary",
            "5//salary/",
            "5%2Fsalary",
            "5%252fsalary",
            "5%c0%afsalary",
            "5/salary;a=b",
            "5/salary?x",
            "5/salary#x",
            "5/files/a",
            "5/files/a/b",
        ] {
            check(&USERS, value, [false, true]);
        }
        for value in ["..", "x/../../admin/secrets", "x%2F..%2F5", "x/%2e%2E;a/5", "..\\5", "./5"] {
            check(&USERS, value, [false, false]);
        }
        for value in
            ["5", "group/project", "salary", "5/salary/x", "5/salaries", "a.b/..c", "a/..."]
        {
            check(&USERS, value, [true, true]);
        }
        // No decoding is needed.
        check(&["/users/{v}", "/users/me"], "me", [false, false]);
        check(&["/users/{v}", "/users/me"], "ME", [false, false]);
        check(&["/users/{v}", "/users/me"], "them", [true, true]);
        check(&["/users/{v}", "/users"], "/", [false, true]);
        check(&["/a/{v}.json", "/a/b.json"], "b", [false, false]);
        check(&["/repos/{v}", "/repos/{owner}/{name}"], "a/b", [false, true]);
        check(&["/{v}", "/files/{path}"], "files/a/b", [false, true]);
    }

    #[test]
    fn an_operation_that_any_argument_fits_refuses_none() {
        for value in ["5", "group/project"] {
            check(&["/users/{v}", "/users/{name}"], value, [true, true]);
            check(&["/users/{v}", "/{all}"], value, [true, true]);
            check(&["/users/{v}", "/groups/{id}", "/users"], value, [true, true]);
            check(&["/v/{v}/x", "/v/{name}/x"], value, [true, true]);
        }
    }

    #[test]
    fn only_operations_of_the_same_method_and_server_count() {
        let base: Url = BASE.parse().unwrap();
        let own = json!({ "method": "GET", "path": "/a/{v}", "parameters": [{ "name": "v", "in": "path" }] });
        let action: Action = serde_json::from_value(own).unwrap();
        let sent = "https://api.example.com/v1/a/b".parse().unwrap();
        for (method, other, is_other) in [
            ("GET", "https://api.example.com/v1", true),
            ("GET", "https://api.example.com", false),
            ("GET", "https://other.example.com/v1", false),
            ("POST", "https://api.example.com/v1", false),
        ] {
            let (method, base_url) = (method.to_owned(), Some(other.to_owned()));
            let place = OperationPath { method, base: base_url, path: "/a/b".to_owned() };
            let operations = OperationPaths::new([place], None);
            let found = operations.check(&action, &base, &sent, Routing::BeforeDecoding);
            assert_eq!(found.is_err(), is_other, "{other}");
        }
    }
}
