//! How each disclosure is used: where a client reads which tools there are, and how it calls one.
//!
//! These scripts know the meta-tools and what their answers look like, as a model does that has read
//! the definitions. They know no tool, no domain and no source.

use serde_json::{Map, Value, json};

use super::client::Client;
use super::words::Choice;

/// A tool that the client was told of.
pub(super) struct Lead {
    pub(super) name: String,
    pub(super) text: String,
    pub(super) form: Form,
    pub(super) schema: SchemaPlace,
}

/// How a tool is called: itself, or through a meta-tool.
#[derive(Clone)]
pub(super) enum Form {
    Direct,
    Through(MetaCall),
}

/// What a meta-tool is given to call a tool.
#[derive(Clone)]
pub(super) struct MetaCall {
    tool: String,
    /// What stands beside the name whichever tool is called.
    fixed: Map<String, Value>,
    name_key: &'static str,
    /// Where the arguments go; nothing if they stand beside the name.
    arguments_key: Option<&'static str>,
}

/// Where the schema of the arguments is.
pub(super) enum SchemaPlace {
    Here(Value),
    /// In the answer of this tool to these arguments.
    Answered(String, Value),
}

impl Form {
    /// As `execute_tool` and its kin are used.
    fn executing(tool: &str) -> Self {
        Self::through(tool, &[], "tool_name", Some("arguments"))
    }

    fn through(
        tool: &str,
        fixed: &[(&str, &str)],
        name_key: &'static str,
        arguments_key: Option<&'static str>,
    ) -> Self {
        let fixed = fixed.iter().map(|(key, value)| ((*key).to_owned(), (*value).into()));
        let (tool, fixed) = (tool.to_owned(), fixed.collect());
        Self::Through(MetaCall { tool, fixed, name_key, arguments_key })
    }

    /// The same, through another meta-tool.
    pub(super) fn instead_through(&self, tool: &str) -> Self {
        match self {
            Self::Direct => Self::Direct,
            Self::Through(meta) => {
                Self::Through(MetaCall { tool: tool.to_owned(), ..meta.clone() })
            }
        }
    }

    /// The name and the arguments of the call over MCP.
    pub(super) fn call(&self, name: &str, arguments: &Map<String, Value>) -> (String, Value) {
        let Self::Through(meta) = self else {
            return (name.to_owned(), arguments.clone().into());
        };
        let mut call = meta.fixed.clone();
        call.insert(meta.name_key.to_owned(), name.into());
        match meta.arguments_key {
            Some(key) => drop(call.insert(key.to_owned(), arguments.clone().into())),
            None => call.extend(arguments.clone()),
        }
        (meta.tool.clone(), call.into())
    }
}

impl Lead {
    fn direct(tool: &Value) -> Self {
        let schema = SchemaPlace::Here(tool["inputSchema"].clone());
        Self {
            name: text(&tool["name"]),
            text: text(&tool["description"]),
            form: Form::Direct,
            schema,
        }
    }

    pub(super) fn choice(&self) -> Choice {
        Choice::new(&self.name, &self.text)
    }
}

/// What the client finds for these words, in the way that its list of tools asks for.
pub(super) async fn leads(client: &Client<'_>, words: &str) -> Result<Vec<Lead>, String> {
    let has = |name: &str| client.listed(name).is_some();
    if has("get_tool_schema") {
        searched(client, &json!({ "query": words }), "results").await
    } else if has("discover_tools") {
        searched(client, &json!({ "intent": words }), "tools").await
    } else if has("mcp") || has("connector") {
        Ok(typed(client))
    } else {
        Ok(client.tools().iter().flat_map(|tool| listed(client, tool)).collect())
    }
}

/// `gateway` and `intent`: what a search answers with. That of `intent` has the schemas.
async fn searched(client: &Client<'_>, search: &Value, key: &str) -> Result<Vec<Lead>, String> {
    let found = client.answer("discover_tools", search).await?;
    let form = executing(client)?;
    let lead = |result: &Value| {
        let [name, about, topic, domain] =
            ["name", "description", "match", "domain"].map(|key| text(&result[key]));
        let schema = if result["parameters"].is_object() {
            SchemaPlace::Here(result["parameters"].clone())
        } else {
            SchemaPlace::Answered("get_tool_schema".to_owned(), json!({ "tool_name": name }))
        };
        Lead { name, text: format!("{about} {topic} {domain}"), form: form.clone(), schema }
    };
    Ok(items(&found[key]).map(lead).collect())
}

/// Through `execute_tool`, or where it is split, first through the one that only reads.
fn executing(client: &Client<'_>) -> Result<Form, String> {
    let names = ["execute_tool", "execute_read"];
    let listed = names.into_iter().find(|name| client.listed(name).is_some());
    listed.map(Form::executing).ok_or_else(|| "nothing executes".to_owned())
}

/// `flat` and `namespace`, and what stands beside `typed`: the tool itself, a line for each tool of a
/// domain, or a line for each that can be loaded.
fn listed(client: &Client<'_>, tool: &Value) -> Vec<Lead> {
    let (name, about) = (text(&tool["name"]), text(&tool["description"]));
    let lines = |lead: &dyn Fn(&str, &str) -> Lead| {
        let lines = about.lines().filter_map(|line| line.strip_prefix("- "));
        lines
            .map(|line| line.split_once(": ").unwrap_or((line, "")))
            .map(|(name, text)| lead(name, text))
            .collect()
    };
    if let Some(domain) = name.strip_suffix("__get_tool_schema") {
        let head = about.lines().next().unwrap_or_default().to_owned();
        return lines(&|own, text| Lead {
            name: own.to_owned(),
            text: format!("{text} {head}"),
            form: Form::executing(&format!("{domain}__invoke_tool")),
            schema: SchemaPlace::Answered(name.clone(), json!({ "tool_name": own })),
        });
    }
    if name == "request_tools" {
        return lines(&|id, text| Lead {
            name: id.to_owned(),
            text: text.to_owned(),
            form: Form::executing("execute_tool"),
            schema: SchemaPlace::Answered(name.clone(), json!({ "tool_names": [id] })),
        });
    }
    let belongs = name.ends_with("__invoke_tool")
        || name == "execute_tool" && client.listed("request_tools").is_some();
    if belongs { Vec::new() } else { vec![Lead::direct(tool)] }
}

/// `typed`: the tools of servers, the actions of APIs, what can be done with a database, and what is
/// listed itself.
fn typed(client: &Client<'_>) -> Vec<Lead> {
    let of = |tool: &Value| match tool["name"].as_str() {
        Some("mcp") => sources(tool, "server", "tool", "call"),
        Some("connector") => sources(tool, "connector", "action", "execute"),
        Some("database") => database(tool),
        _ => vec![Lead::direct(tool)],
    };
    client.tools().iter().flat_map(of).collect()
}

/// The tools whose names stand in the lines of their sources.
fn sources(
    meta: &Value,
    source_key: &'static str,
    name_key: &'static str,
    subcommand: &str,
) -> Vec<Lead> {
    let tool = text(&meta["name"]);
    let of = |(source, line): (String, String)| {
        let (about, names) = line.rsplit_once(": ").unwrap_or((&line, ""));
        let fixed = [("subcommand", subcommand), (source_key, &source)];
        let form = Form::through(&tool, &fixed, name_key, Some("parameters"));
        let lead = |name: &str| Lead {
            name: name.to_owned(),
            text: format!("{source} {about}"),
            form: form.clone(),
            schema: SchemaPlace::Answered(
                tool.clone(),
                json!({ "subcommand": "discover", source_key: source, name_key: name }),
            ),
        };
        names.trim_end_matches(')').split(", ").map(lead).collect::<Vec<_>>()
    };
    stubs(meta).into_iter().flat_map(of).collect()
}

/// What `database` can do with each database.
fn database(tool: &Value) -> Vec<Lead> {
    let about = text(&tool["description"]);
    let subcommands = about.lines().skip_while(|line| *line != "Subcommands:").skip(1);
    let subcommands = subcommands.filter_map(|line| line.trim().split_once(" -- "));
    let subcommands: Vec<_> = subcommands
        .map(|(usage, text)| (usage.split(' ').next().unwrap_or_default(), text))
        .collect();
    let mut schema = tool["inputSchema"].clone();
    for key in ["subcommand", "database"] {
        schema["properties"].as_object_mut().and_then(|properties| properties.shift_remove(key));
    }
    let of = |(name, source): (String, String)| {
        let schema = &schema;
        subcommands.iter().map(move |(subcommand, text)| Lead {
            name: (*subcommand).to_owned(),
            text: format!("{text} {name} {source}"),
            form: Form::through("database", &[("database", &name)], "subcommand", None),
            schema: SchemaPlace::Here(schema.clone()),
        })
    };
    stubs(tool).into_iter().flat_map(of).collect()
}

/// The sources that a description has lines for: their names, and what is said of them.
fn stubs(tool: &Value) -> Vec<(String, String)> {
    let about = text(&tool["description"]);
    let lines = about.lines().take_while(|line| *line != "Subcommands:");
    let lines = lines.filter_map(|line| line.strip_prefix("  - ")?.split_once(": "));
    lines.map(|(name, text)| (name.to_owned(), text.to_owned())).collect()
}

pub(super) fn items(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

pub(super) fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}
