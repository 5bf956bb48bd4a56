use std::collections::HashSet;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::document::Document;
use crate::passage::passage;
use crate::schema::Parameters;
use crate::services::{Service, SourceNames};

/// One tool of a set, a line of its `tools.jsonl`.
#[derive(Debug, Clone, Deserialize)]
pub struct ListedTool {
    pub id: String,
    pub name: String,
    #[serde(default)]
    pub description: Option<String>,
    /// Its input schema.
    #[serde(default)]
    pub schema: Option<Box<RawValue>>,
    #[serde(default)]
    pub server: Option<String>,
    #[serde(default)]
    pub server_title: Option<String>,
    #[serde(default)]
    pub server_description: Option<String>,
    /// Used as its group.
    #[serde(default)]
    pub category: Option<String>,
    #[serde(default)]
    pub past_queries: Vec<String>,
}

/// One request of a set, a line of its `queries.jsonl`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Request {
    pub id: String,
    pub text: String,
    /// The tools that fit, by id.
    pub relevant: Vec<String>,
}

/// Why a set cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum SetError {
    #[error("line {line} cannot be read: {source}")]
    Line { line: usize, source: serde_json::Error },
    #[error("line {line}: another tool has the id `{id}`")]
    Twice { line: usize, id: String },
}

/// Reads `tools.jsonl`. Unknown fields are ignored.
pub fn read_tools(text: &str) -> Result<Vec<ListedTool>, SetError> {
    let tools: Vec<ListedTool> = read(text)?;
    let mut seen = HashSet::new();
    for (at, tool) in tools.iter().enumerate() {
        if !seen.insert(&tool.id) {
            return Err(SetError::Twice { line: at + 1, id: tool.id.clone() });
        }
    }
    Ok(tools)
}

/// Reads `queries.jsonl`. Unknown fields are ignored.
pub fn read_requests(text: &str) -> Result<Vec<Request>, SetError> {
    read(text)
}

fn read<T: for<'a> Deserialize<'a>>(text: &str) -> Result<Vec<T>, SetError> {
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let line = |(at, line)| {
        serde_json::from_str(line).map_err(|source| SetError::Line { line: at + 1, source })
    };
    lines.map(line).collect()
}

impl ListedTool {
    /// What an encoder reads of the tool.
    pub fn passage(&self) -> String {
        let server = self.server_title.as_deref().or(self.server.as_deref()).unwrap_or_default();
        passage(server, &self.name, self.description.as_deref().unwrap_or_default())
    }

    /// What is known of its server's services.
    pub fn service(&self) -> Option<Service> {
        let names =
            [&self.server, &self.server_title].map(|name| name.as_deref().unwrap_or_default());
        Service::of(&SourceNames { names: &names, aliases: &[], is_described: false })
    }

    /// Calls `read` with the tool as it is searched.
    pub fn with_document<T>(&self, read: impl FnOnce(&Document<'_>) -> T) -> T {
        let schema = self.schema.as_deref().map_or("", RawValue::get);
        let parameters = Parameters::of_schema(schema);
        let domain: Vec<&str> =
            [&self.server, &self.server_title].into_iter().filter_map(Option::as_deref).collect();
        let repeated = domain.len() == 2 && domain[0] == domain[1];
        read(&Document {
            name: &self.name,
            domain: &domain[usize::from(repeated)..],
            domain_description: self.server_description.as_deref().unwrap_or_default(),
            group: self.category.as_deref().unwrap_or_default(),
            description: &[self.description.as_deref().unwrap_or_default()],
            parameter_names: &parameters.names,
            parameter_descriptions: &parameters.descriptions,
            enum_values: &parameters.values,
            past_queries: &self.past_queries,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_is_read_and_its_faults_are_placed() {
        let tools = read_tools(
            "{\"id\":\"a\",\"name\":\"x\",\"schema\":{\"properties\":{\"p\":{}}},\"more\":1}\n\n",
        );
        let tools = tools.unwrap();
        assert_eq!(tools.len(), 1);
        tools[0].with_document(|document| assert_eq!(document.parameter_names, ["p"]));
        let twice = "{\"id\":\"a\",\"name\":\"x\"}\n{\"id\":\"a\",\"name\":\"y\"}";
        assert_eq!(
            read_tools(twice).unwrap_err().to_string(),
            "line 2: another tool has the id `a`"
        );
        assert!(read_requests("{}").unwrap_err().to_string().starts_with("line 1 cannot be read"));
    }
}
