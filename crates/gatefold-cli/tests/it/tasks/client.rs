//! A client that knows its goal and no tool. It derives each call from what it was told before.

use gatefold_testkit::RawClient;
use serde_json::{Map, Value, json};

use super::leads::{Form, Lead, SchemaPlace, items, leads, text};
use super::seat::Seat;
use super::task::{Given, Goal, Meant, Mistake};
use super::words::{Choice, identifiers, likeliest, misspelt, nearest, ranked};

/// One connection through one disclosure.
pub(super) struct Client<'s> {
    connection: Connection<'s>,
    tools: Vec<Value>,
}

enum Connection<'s> {
    Mcp(RawClient),
    /// From inside a chat.
    Chat(&'s Seat),
}

/// A tool that was found, and all that a call of it needs.
struct Tool {
    name: String,
    form: Form,
    schema: Value,
}

impl<'s> Client<'s> {
    /// Connects, and reads what there is.
    pub(super) async fn connect(mcp: RawClient) -> Result<Self, String> {
        let listed = mcp.list().await.map_err(|error| error.to_string())?.result();
        let tools = items(&listed["tools"]).cloned().collect();
        Ok(Self { connection: Connection::Mcp(mcp), tools })
    }

    /// Is the model of a chat in which a person says this.
    pub(super) async fn in_chat(seat: &'s Seat, words: &str) -> Result<Self, String> {
        let tools = seat.begin(words).await?;
        Ok(Self { connection: Connection::Chat(seat), tools })
    }

    pub(super) fn tools(&self) -> &[Value] {
        &self.tools
    }

    pub(super) fn listed(&self, name: &str) -> Option<&Value> {
        self.tools.iter().find(|tool| tool["name"] == *name)
    }

    /// Finds a tool for the goal and calls it, after the mistake. `earlier` is the result of the step
    /// before. The result is the content, without the envelope of a meta-tool, and the structured
    /// content.
    pub(super) async fn pursue(
        &self,
        goal: &Goal,
        mistake: Mistake,
        earlier: &Value,
    ) -> Result<Value, String> {
        let mut tool = self.find(goal.words).await?;
        let mut arguments = filled(&tool.schema, goal, earlier)?;
        match mistake {
            Mistake::None => {}
            Mistake::Name => tool.name = self.corrected_name(&tool, &arguments).await?,
            Mistake::Missing | Mistake::Misnamed => {
                arguments = self.mended(&tool, goal, &arguments, mistake).await?;
            }
        }
        self.called(&tool, &tool.name, &arguments).await
    }

    /// The text of the answer of a meta-tool, as JSON.
    pub(super) async fn answer(&self, tool: &str, arguments: &Value) -> Result<Value, String> {
        let result = self.ask(tool, arguments).await?;
        let answer = text(&result["content"][0]["text"]);
        serde_json::from_str(&answer)
            .map_err(|error| format!("{tool} is not JSON: {error}: {answer}"))
    }

    /// Calls what is listed. An error is the text of the refusal.
    async fn ask(&self, tool: &str, arguments: &Value) -> Result<Value, String> {
        let result = match &self.connection {
            Connection::Mcp(mcp) => {
                let asked = mcp.call(tool, &arguments.to_string()).await;
                let mut answered = asked.map_err(|error| error.to_string())?.value();
                let result = answered["result"].take();
                if result.is_null() {
                    return Err(text(&answered["error"]["message"]));
                }
                result
            }
            Connection::Chat(seat) => seat.call(tool, arguments).await?,
        };
        if result["isError"] == true {
            return Err(text(&result["content"][0]["text"]));
        }
        Ok(result)
    }

    async fn find(&self, words: &str) -> Result<Tool, String> {
        let leads = leads(self, words).await?;
        let choices: Vec<_> = leads.iter().map(Lead::choice).collect();
        let best = ranked(words, &choices).first().copied();
        let lead = &leads[best.ok_or_else(|| format!("nothing tells of: {words}"))?];
        let schema = match &lead.schema {
            SchemaPlace::Here(schema) => schema.clone(),
            SchemaPlace::Answered(tool, arguments) => schema(&self.answer(tool, arguments).await?),
        };
        Ok(Tool { name: lead.name.clone(), form: lead.form.clone(), schema })
    }

    /// Calls the tool by this name.
    async fn called(
        &self,
        tool: &Tool,
        name: &str,
        arguments: &Map<String, Value>,
    ) -> Result<Value, String> {
        let (meta, call) = tool.form.call(name, arguments);
        let mut asked = self.ask(&meta, &call).await;
        if let Some(other) = asked.as_ref().err().and_then(|refusal| self.other_way(refusal)) {
            let (meta, call) = tool.form.instead_through(other).call(name, arguments);
            asked = self.ask(&meta, &call).await;
        }
        let result = asked?;
        let mut content = result["content"].clone();
        let first = content[0]["text"].as_str().unwrap_or_default();
        let mut first = serde_json::from_str(first).unwrap_or_else(|_| json!(first));
        // `execute_tool` beside `request_tools` gives the result as it is.
        if matches!(tool.form, Form::Through(_)) && first["tool"].is_string() {
            first = first["result"].take();
        }
        content[0]["text"] = first;
        Ok(json!({ "content": content, "structured": result["structuredContent"] }))
    }

    /// The listed tool through which a refusal says to call instead.
    fn other_way(&self, refusal: &str) -> Option<&str> {
        let (_, named) = refusal.split_once("Call it through ")?;
        let named = named.split(|c: char| !c.is_alphanumeric() && c != '_').next()?;
        self.listed(named)?["name"].as_str()
    }

    /// The right name, as the error about a misspelt one gives it, or the nearest in the list if it
    /// gives none.
    async fn corrected_name(
        &self,
        tool: &Tool,
        arguments: &Map<String, Value>,
    ) -> Result<String, String> {
        let wrong = misspelt(&tool.name);
        let Err(error) = self.called(tool, &wrong, arguments).await else {
            return Err(format!("`{wrong}` was called"));
        };
        if let Some((_, suggested)) = error.split_once("Did you mean '") {
            let name = suggested.split('\'').next().unwrap_or_default();
            return Ok(name.to_owned());
        }
        let listed = self.tools.iter().filter_map(|tool| tool["name"].as_str());
        let mentioned = identifiers(error.rsplit(": ").next().unwrap_or_default());
        let names: Vec<_> = listed.chain(mentioned).filter(|name| *name != wrong).collect();
        nearest(&wrong, &names).map(str::to_owned).ok_or_else(|| error.clone())
    }

    /// The right arguments after wrong ones, with the name that the error gives.
    async fn mended(
        &self,
        tool: &Tool,
        goal: &Goal,
        right: &Map<String, Value>,
        mistake: Mistake,
    ) -> Result<Map<String, Value>, String> {
        let mut wrong = right.clone();
        let (name, value) = right.iter().next().ok_or("there is nothing to get wrong")?;
        wrong.shift_remove(name);
        if mistake == Mistake::Misnamed {
            wrong.insert(format!("{name}_value"), value.clone());
        }
        let Err(error) = self.called(tool, &tool.name, &wrong).await else {
            return Err(format!("{wrong:?} was taken"));
        };
        let mentioned = identifiers(&error);
        let mut schema = tool.schema.clone();
        if let Some(properties) = schema["properties"].as_object_mut() {
            properties.retain(|name, _| mentioned.contains(name.as_str()));
        }
        let missing = || format!("the error does not say which argument is meant: {error}");
        let meant = property(&schema, goal.given[0].meaning, &Map::new()).ok_or_else(missing)?;
        let mut mended = Map::from_iter([(meant, value.clone())]);
        mended.extend(right.iter().skip(1).map(|(name, value)| (name.clone(), value.clone())));
        Ok(mended)
    }
}

/// The schema of the arguments in what describes a tool.
fn schema(described: &Value) -> Value {
    let loaded = &described["tools"][0]["inputSchema"];
    let schema = if loaded.is_object() { loaded } else { &described["parameters"] };
    schema.clone()
}

/// The arguments that the goal gives, by the names of the schema.
fn filled(schema: &Value, goal: &Goal, earlier: &Value) -> Result<Map<String, Value>, String> {
    let mut arguments = Map::new();
    for Given { meaning, value } in &goal.given {
        let unknown = || format!("no argument is about `{meaning}`: {schema}");
        let name = property(schema, meaning, &arguments).ok_or_else(unknown)?;
        let value = match value {
            Meant::Is(value) => value.clone(),
            Meant::Chosen(words) => {
                let choices = items(&schema["properties"][&name]["enum"]);
                let choices: Vec<_> = choices.filter_map(Value::as_str).collect();
                let none = || format!("no choice is about `{words}`: {choices:?}");
                likeliest(words, &choices).ok_or_else(none)?.into()
            }
            Meant::Found { text, field } => {
                let found = value_of(earlier, field);
                let none = || format!("nothing is called `{field}`: {earlier}");
                text.replace("{}", &found.ok_or_else(none)?).into()
            }
        };
        arguments.insert(name, value);
    }
    Ok(arguments)
}

/// The property that is meant, of those that have no value yet.
fn property(schema: &Value, meaning: &str, given: &Map<String, Value>) -> Option<String> {
    let properties: Vec<_> = schema["properties"]
        .as_object()?
        .iter()
        .filter(|(name, _)| !given.contains_key(*name))
        .collect();
    let choice =
        |(name, about): &(&String, &Value)| Choice::new(name, &text(&about["description"]));
    let choices: Vec<_> = properties.iter().map(choice).collect();
    ranked(meaning, &choices).first().map(|at| properties[*at].0.clone())
}

/// The value of the field that is meant, anywhere in a result, as text.
fn value_of(result: &Value, field: &str) -> Option<String> {
    let mut fields = Vec::new();
    gather(&result["content"][0]["text"], &mut fields);
    let names: Vec<_> = fields.iter().map(|(name, _)| Choice::new(name, "")).collect();
    ranked(field, &names).first().map(|at| fields[*at].1.clone())
}

/// All fields of a result in their order. A table has the field of a column in each row.
fn gather(value: &Value, fields: &mut Vec<(String, String)>) {
    if let (Some(columns), Some(rows)) = (value["columns"].as_array(), value["rows"].as_array()) {
        let cells = rows.iter().flat_map(|row| columns.iter().zip(items(row)));
        fields.extend(cells.map(|(column, cell)| (text(&column["name"]), plain(cell))));
        return;
    }
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                fields.push((name.clone(), plain(member)));
                gather(member, fields);
            }
        }
        Value::Array(values) => values.iter().for_each(|value| gather(value, fields)),
        _ => {}
    }
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
