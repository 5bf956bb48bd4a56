//! A server's tools as an HTTP API that serves its own OpenAPI description.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use axum::{
    Router,
    body::Bytes,
    extract::{DefaultBodyLimit, Path as PathValues, RawQuery},
    http::{HeaderMap, StatusCode, header::CONTENT_TYPE},
    response::{IntoResponse, Response},
    routing::{MethodFilter, get, on},
};
use serde_json::{Map, Value, json};
use tokio::net::TcpListener;
use url::form_urlencoded;

use crate::{
    DemoError,
    caller::{Answer, Caller},
    error::ToolError,
    server::Server,
    shop,
    tool::{Tool, ToolRoute},
};

/// The largest body of a request, in bytes.
const BODY_LIMIT: usize = 64 * 1024;
const JSON: &str = "application/json";
/// RFC 9457.
const PROBLEM: &str = "application/problem+json";

/// One of [`apis`](crate::apis) with its data open, ready to serve.
pub struct DemoApi {
    about: &'static crate::DemoServer,
    operations: Vec<ServedTool>,
}

/// A tool and the request that calls it.
#[derive(Clone)]
struct ServedTool {
    route: &'static ToolRoute,
    tools: Arc<[Tool]>,
    at: usize,
}

/// Where a request carries an argument.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ArgumentPlace {
    Path,
    Query,
    Body,
}

impl DemoApi {
    /// Opens the API called `name`; its data is kept below `scratch`.
    ///
    /// Fails on a name that is not in [`apis`](crate::apis), or when its database cannot be opened.
    pub async fn open(name: &str, scratch: &Path) -> Result<Self, DemoError> {
        if !crate::apis().iter().any(|api| api.name == name) {
            return Err(DemoError::UnknownServer(name.to_owned()));
        }
        let (about, tools) = Server::open(name, scratch).await?.into_parts();
        let operation = |route: &'static ToolRoute| {
            let at = tools.iter().position(|tool| tool.definition.name == route.tool)?;
            Some(ServedTool { route, tools: tools.clone(), at })
        };
        Ok(Self { about, operations: shop::ROUTES.iter().filter_map(operation).collect() })
    }

    /// The OpenAPI 3.1 description, as served at `/openapi.json`.
    pub fn description(&self) -> Value {
        let mut paths = Map::new();
        for operation in &self.operations {
            let path = paths.entry(operation.route.path).or_insert_with(|| json!({}));
            path[operation.route.method.to_lowercase()] = operation.description();
        }
        json!({
            "openapi": "3.1.0",
            "info": {
                "title": self.about.name,
                "version": env!("CARGO_PKG_VERSION"),
                "description": self.about.description,
            },
            "servers": [{ "url": "/" }],
            "paths": paths,
        })
    }

    /// Serves clients until `stop` is done.
    pub async fn serve(
        self,
        listener: TcpListener,
        stop: impl Future<Output = ()> + Send + 'static,
    ) -> Result<(), DemoError> {
        let description = self.description().to_string();
        let described = move || async move { ([(CONTENT_TYPE, JSON)], description) };
        let mut router = Router::new().route("/openapi.json", get(described));
        for operation in self.operations {
            let (path, method) = (operation.route.path, operation.method());
            let answer = move |PathValues(path): PathValues<HashMap<String, String>>,
                               RawQuery(query): RawQuery,
                               headers: HeaderMap,
                               body: Bytes| async move {
                let query = query.unwrap_or_default();
                operation.answer(path, &query, &headers, &body).await
            };
            router = router.route(path, on(method, answer));
        }
        let router = router.layer(DefaultBodyLimit::max(BODY_LIMIT));
        let serving = axum::serve(listener, router).with_graceful_shutdown(stop);
        serving.await.map_err(DemoError::Http)
    }
}

impl ServedTool {
    fn tool(&self) -> &Tool {
        &self.tools[self.at]
    }

    fn method(&self) -> MethodFilter {
        match self.route.method {
            "POST" => MethodFilter::POST,
            "PATCH" => MethodFilter::PATCH,
            "DELETE" => MethodFilter::DELETE,
            _ => MethodFilter::GET,
        }
    }

    fn has_body(&self) -> bool {
        matches!(self.route.method, "POST" | "PATCH")
    }

    fn success(&self) -> StatusCode {
        if self.route.method == "POST" { StatusCode::CREATED } else { StatusCode::OK }
    }

    fn place(&self, argument: &str) -> ArgumentPlace {
        match () {
            () if self.route.path.contains(&format!("{{{argument}}}")) => ArgumentPlace::Path,
            () if self.has_body() => ArgumentPlace::Body,
            () => ArgumentPlace::Query,
        }
    }

    fn description(&self) -> Value {
        let definition = &self.tool().definition;
        let input = &definition.input_schema;
        let mut body = Map::clone(input);
        let mut parameters = Vec::new();
        for (name, schema) in input["properties"].as_object().into_iter().flatten() {
            let place = match self.place(name) {
                ArgumentPlace::Path => "path",
                ArgumentPlace::Query => "query",
                ArgumentPlace::Body => continue,
            };
            let is_needed = |required: &Value| *required == **name;
            let required = input["required"].as_array();
            let required = required.is_some_and(|names| names.iter().any(is_needed));
            let mut schema = schema.clone();
            let about =
                schema.as_object_mut().and_then(|members| members.shift_remove("description"));
            parameters.push(json!({
                "name": name, "in": place, "required": required, "description": about, "schema": schema,
            }));
            body["properties"].as_object_mut().and_then(|members| members.shift_remove(name));
            body["required"]
                .as_array_mut()
                .into_iter()
                .for_each(|all| all.retain(|one| one != name));
        }
        let problem = |what: &str| json!({ "description": what, "content": { PROBLEM: {} } });
        let mut description = json!({
            "operationId": definition.name,
            "summary": definition.description,
            "tags": [self.route.path.split('/').nth(1)],
            "parameters": parameters,
            "responses": {
                self.success().as_str(): {
                    "description": "Done.",
                    "content": { JSON: { "schema": definition.output_schema } },
                },
                "404": problem("Not Found"),
                "409": problem("Conflict"),
                "422": problem("Unprocessable Entity"),
            },
        });
        if self.has_body() {
            description["requestBody"] =
                json!({ "required": true, "content": { JSON: { "schema": body } } });
        }
        description
    }

    async fn answer(
        &self,
        path: HashMap<String, String>,
        query: &str,
        headers: &HeaderMap,
        body: &Bytes,
    ) -> Response {
        let mut given = Map::new();
        if self.has_body() {
            // A page in a browser cannot send this type across origins, so it cannot order anything.
            let kind = headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
            if !kind.is_some_and(|kind| kind.starts_with(JSON)) {
                return problem(StatusCode::UNSUPPORTED_MEDIA_TYPE, "send `application/json`");
            }
            match serde_json::from_slice(body) {
                Ok(Value::Object(members)) => given = members,
                Ok(_) => return problem(StatusCode::BAD_REQUEST, "the body is no JSON object"),
                Err(error) => return problem(StatusCode::BAD_REQUEST, &error.to_string()),
            }
        }
        for (name, text) in form_urlencoded::parse(query.as_bytes()) {
            let value = self.read(&name, &text);
            match given.get_mut(&*name) {
                Some(Value::Array(items)) => items.push(value),
                _ if self.is_list(&name) => {
                    given.insert(name.into_owned(), json!([value]));
                }
                _ => {
                    given.insert(name.into_owned(), value);
                }
            }
        }
        for (name, text) in path {
            let value = self.read(&name, &text);
            given.insert(name, value);
        }
        match self.tool().call(given, Caller::in_process()).await {
            Ok(Answer::Value(value)) => {
                (self.success(), [(CONTENT_TYPE, JSON)], value.to_string()).into_response()
            }
            Ok(_) => problem(StatusCode::NOT_IMPLEMENTED, "this cannot be told over HTTP"),
            Err(error) => problem(status(&error), &error.to_string()),
        }
    }

    /// The value that a text of the address stands for. What is not of its type stays a text, for
    /// the check to refuse.
    fn read(&self, name: &str, text: &str) -> Value {
        let plain = || Value::String(text.to_owned());
        match self.schema(name)["type"].as_str() {
            Some("integer" | "number" | "boolean") => {
                serde_json::from_str(text).unwrap_or_else(|_| plain())
            }
            _ => plain(),
        }
    }

    fn is_list(&self, name: &str) -> bool {
        self.schema(name)["type"] == "array"
    }

    fn schema(&self, name: &str) -> &Value {
        &self.tool().definition.input_schema["properties"][name]
    }
}

fn status(error: &ToolError) -> StatusCode {
    match error {
        ToolError::Arguments(_) => StatusCode::UNPROCESSABLE_ENTITY,
        ToolError::Missing { .. } => StatusCode::NOT_FOUND,
        ToolError::Refused { .. } => StatusCode::CONFLICT,
        ToolError::Database(_) | ToolError::File { .. } | ToolError::Stopped => {
            StatusCode::INTERNAL_SERVER_ERROR
        }
    }
}

fn problem(status: StatusCode, detail: &str) -> Response {
    let title = status.canonical_reason();
    let body = json!({ "title": title, "status": status.as_u16(), "detail": detail });
    (status, [(CONTENT_TYPE, PROBLEM)], body.to_string()).into_response()
}
