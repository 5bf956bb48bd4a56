//! `[models.NAME]` of `gatefold.toml`: language models, how they are reached, and who may use them.

use gatefold_agent::{SpendingLimit, TokenPrice};
use gatefold_config::{
    Count, Fault, Field, HandRead, SECRET, Table, Text, fault, parsed, references,
};
use gatefold_core::{Principal, Secret};
use gatefold_located::Value;
use gatefold_model::{Api, Fields, ModelSpec, RawJson, ShortForm, ToolCalls};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value as Json};
use url::Url;

use super::PeopleGroup;
use super::kinds::shared_values::{HeaderSecret, ServerAddress, missing};
use super::spending::{self, BudgetKeys, PriceKeys};
use crate::model_clients::ModelClients;

/// One language model.
#[derive(Debug, Clone)]
pub struct ModelConfig {
    pub name: String,
    /// Where it is and how it is asked, with its key.
    pub spec: ModelSpec,
    pub key_source: KeySource,
    /// How many tokens it takes, its answer included.
    pub context_tokens: Option<u64>,
    /// The model that is asked when this one fails.
    pub fallback: Option<ModelChoice>,
    /// What its tokens cost.
    pub price: Option<TokenPrice>,
    /// What each person may have of it in a day, whoever they are.
    pub budget: Option<SpendingLimit>,
    /// The groups of people who may use it. Everybody, if there is none.
    pub visible_to: Vec<PeopleGroup>,
    /// The variable or secret that it refers to and that does not exist here.
    pub absent: Option<Fault>,
    /// Those that its runs have in common.
    pub clients: ModelClients,
}

/// Where a model's key comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeySource {
    /// It has none.
    Nowhere,
    Variable(String),
    Secret(String),
    /// It stands in the file itself.
    File,
}

/// A model as another section names it.
#[derive(Debug, Clone)]
pub enum ModelChoice {
    /// One of `[models]`.
    Named(String),
    /// A short form, under itself as its name.
    Own(Box<ModelConfig>),
}

impl ModelConfig {
    /// Whether somebody may use it. To others it looks as if there were none.
    pub fn is_for(&self, principal: &Principal) -> bool {
        let mut groups = self.visible_to.iter();
        let is_in =
            |PeopleGroup(name): &PeopleGroup| principal.rights.has(&PeopleGroup::right(name));
        self.visible_to.is_empty() || groups.any(is_in)
    }

    /// The model of a short form. `key` finds the key by the variable of its host.
    pub fn of_short_form(form: &ShortForm, key: impl FnOnce(&str) -> Option<Secret>) -> Self {
        let variable = form.key_variable();
        let spec = ModelSpec { key: variable.and_then(key), ..form.spec() };
        let key_source =
            variable.map_or(KeySource::Nowhere, |name| KeySource::Variable(name.to_owned()));
        Self::new(form.to_string(), spec, key_source)
    }

    /// A model that everybody may use.
    pub fn new(name: String, spec: ModelSpec, key_source: KeySource) -> Self {
        Self {
            name,
            spec,
            key_source,
            context_tokens: None,
            fallback: None,
            price: None,
            budget: None,
            visible_to: Vec::new(),
            absent: None,
            clients: ModelClients::default(),
        }
    }
}

impl ModelChoice {
    /// Reads what a key names, one of these models or a short form.
    pub(super) fn read(field: &Field<'_>, models: &[&str]) -> Option<Self> {
        let Text(text) = field.read()?;
        if models.contains(&text.as_str()) {
            return Some(Self::Named(text));
        }
        let Ok(form) = text.parse::<ShortForm>() else {
            let known: Vec<_> = models.iter().map(|name| format!("`{name}`")).collect();
            let known = match known.as_slice() {
                [] => "write `[models.NAME]`".to_owned(),
                known => format!("use {}", known.join(", ")),
            };
            let hint = format!("{known}, or a short form: {}", ShortForm::forms());
            field.fault("is not a model of the configuration", hint);
            return None;
        };
        // What is missing elsewhere is nothing that this model lacks.
        let document = field.document();
        document.put_back(document.take_absent());
        let own = ModelConfig::of_short_form(&form, |variable| variable_key(variable, field));
        let absent = document.take_absent().into_iter().next();
        Some(Self::Own(Box::new(ModelConfig { absent, ..own })))
    }
}

/// One of these words.
#[derive(JsonSchema)]
#[schemars(with = "String", extend("enum" = ["openai-chat", "anthropic"]))]
struct ApiWord(Api);

impl<'de> Deserialize<'de> for ApiWord {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let hint = "write \"openai-chat\" or \"anthropic\"";
        parsed(deserializer, "an API of models", hint, |text| text.parse().ok()).map(Self)
    }
}

#[derive(JsonSchema)]
#[schemars(with = "String", extend("enum" = ["native", "json", "auto"]))]
struct ToolCallsWord(ToolCalls);

impl<'de> Deserialize<'de> for ToolCallsWord {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let hint = "write \"native\", \"json\" or \"auto\"";
        parsed(deserializer, "a way to call tools", hint, |text| text.parse().ok()).map(Self)
    }
}

#[derive(JsonSchema)]
#[schemars(with = "f64", extend("minimum" = 0, "maximum" = 2, "x-constraint" = "from 0 to 2"))]
struct Temperature(f64);

impl<'de> Deserialize<'de> for Temperature {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let temperature = f64::deserialize(deserializer)?;
        if (0.0..=2.0).contains(&temperature) {
            return Ok(Self(temperature));
        }
        Err(fault("is not a number from 0 to 2", "write a number, such as 0.2"))
    }
}

/// One language model: where it is, and how it is asked.
///
/// `gatefold chat` talks to it, through `--model NAME`, for an agent that names it, or because it is the first of the
/// file that the person may use. `gatefold models check` tries it. `NAME` has up to 64 letters, digits, `-`, `_` and
/// `.`.
#[derive(Deserialize, JsonSchema, Default)]
#[serde(default)]
pub(super) struct ModelKeys {
    /// The model's name, as its endpoint knows it.
    ///
    /// Without `url`, a short form: `openai:NAME`, `anthropic:NAME`, `gemini:NAME`, `ollama:NAME` or
    /// `llama-server:NAME`, which says where the model is and which variable has its key.
    #[schemars(extend("examples" = ["openai:gpt-5"], "x-unset" = "none: it must be set"))]
    model: Option<Text>,
    /// The address before `/chat/completions` or `/messages`.
    #[schemars(extend("examples" = ["http://127.0.0.1:11434/v1"], "x-unset" = "that of the short form"))]
    url: Option<ServerAddress>,
    /// What the address speaks.
    #[schemars(extend("examples" = ["anthropic"], "x-unset" = "openai-chat, or that of the short form",
        "x-needs" = ["url"]))]
    api: Option<ApiWord>,
    /// The endpoint's key.
    ///
    /// Best from a variable or from `gatefold secret`. Where that does not exist, only this model cannot be used.
    #[schemars(extend("examples" = ["${secret:MODEL_KEY}"],
        "x-unset" = "the variable of a short form's host, such as `OPENAI_API_KEY`; otherwise none"))]
    key: Option<HeaderSecret>,
    /// How many tokens the model takes, its answer included.
    ///
    /// When a conversation has grown so long that it would not fit with its answer, the model is asked for its last
    /// answer. `/context` in a chat shows how much is taken.
    #[schemars(extend("examples" = [32768], "x-unset" = "a conversation may have 8 MiB"))]
    context_tokens: Option<Count<u64>>,
    /// The most tokens of one answer, thinking included.
    #[schemars(extend("examples" = [8192],
        "x-unset" = "the endpoint's own limit; 8,192 where its API wants one"))]
    max_output_tokens: Option<Count<u32>>,
    /// Whether the model may make several calls in one answer.
    #[schemars(extend("examples" = [false], "x-unset" = "what the endpoint does by itself"))]
    parallel_calls: Option<bool>,
    /// How the model calls tools.
    ///
    /// `native` is as its API has them. `json` has the model write each call as a JSON object, for models whose API
    /// knows no calls. `auto` is native until the endpoint says that it cannot.
    #[schemars(extend("examples" = ["json"], "x-unset" = "auto"))]
    tool_calls: Option<ToolCallsWord>,
    /// How freely the model chooses its words.
    #[schemars(extend("examples" = [0.2], "x-unset" = "the endpoint's own"))]
    temperature: Option<Temperature>,
    /// Further members of every request.
    ///
    /// They go along as they are, and replace Gatefold's own.
    #[schemars(extend("examples" = [{"reasoning_effort": "low"}], "x-unset" = "none"))]
    extra: HandRead<Map<String, Json>>,
    /// The model that is asked when this one fails.
    ///
    /// The name of another model, or a short form. It answers when this one cannot be reached, is busy or fails,
    /// after four tries and before anything of an answer was shown. A wrong key or a wrong name is told instead. It
    /// is left out for a person who may not use it.
    #[schemars(extend("examples" = ["ollama:qwen3"], "x-unset" = "nobody answers instead"))]
    fallback: HandRead<Text>,
    /// What a million tokens cost, in any unit.
    ///
    /// `cached_input` is the price of what the provider reads from its cache; without it, that costs what other input
    /// does. The ledger, `gatefold models`, budgets and limits of cost go by it.
    #[schemars(extend("examples" = [{"input": 0.25, "cached_input": 0.025, "output": 2}],
        "x-unset" = "nothing is known of its cost"))]
    price: HandRead<PriceKeys>,
    /// What each person may have of the model in a day.
    ///
    /// Of tokens, of cost, or both, whoever they are, through every agent. A day is one of UTC. Whoever has spent it
    /// gets no further answer of the model until midnight, and those of its `fallback` if that has something left.
    /// Answers under way come to their end.
    #[schemars(extend("examples" = [{"tokens": 500_000}],
        "x-unset" = "`limits.model_tokens`; for the local user, as much as they like"))]
    budget: HandRead<BudgetKeys>,
    /// The groups of people who may use the model.
    ///
    /// To everybody else it looks like a model that does not exist. `[users.NAME]` says who is in a group; whoever
    /// runs commands is `users.local`.
    #[schemars(extend("examples" = [["finance"]], "x-unset" = "everybody"))]
    visible_to: Vec<PeopleGroup>,
}

/// The names of the models, right or wrong.
pub(super) fn names<'a>(models: &Field<'a>) -> Vec<&'a str> {
    let table = models.table();
    table.map(|table| table.fields().map(|(name, _)| name).collect()).unwrap_or_default()
}

pub(super) fn read(models: &Field<'_>, names: &[&str]) -> Vec<ModelConfig> {
    let Some(table) = models.table() else { return Vec::new() };
    // What is missing before is nothing that the first model lacks.
    let document = models.document();
    document.put_back(document.take_absent());
    let mut read = Vec::new();
    for (name, field) in table.fields() {
        if !is_name(name) {
            let hint = "use up to 64 letters, digits, `-`, `_` and `.`";
            field.key_fault("is not a name for a model", hint);
        }
        let model = field.table().and_then(|table| model(name, &field, table, names));
        let mut absent = document.take_absent();
        match model {
            // A missing key makes only this model unusable, as with sources.
            Some(mut model) => {
                model.absent = absent.drain(..).next();
                read.push(model);
            }
            None => document.put_back(absent),
        }
    }
    for (name, field) in table.fields() {
        if let (Some(circle), Some(table)) = (circle(name, &read), field.table())
            && let Some(fallback) = table.peek("fallback")
        {
            let message = format!("leads back to where it began: {}", circle.join(" -> "));
            fallback.fault(message, "leave out one of these fallbacks");
        }
    }
    read
}

fn is_name(name: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    (1..=64).contains(&name.len()) && name.chars().all(is_plain)
}

fn model(
    name: &str,
    field: &Field<'_>,
    mut table: Table<'_>,
    names: &[&str],
) -> Option<ModelConfig> {
    // Before its own keys: what a fallback lacks is nothing that the model lacks.
    let fallback = table.peek("fallback").and_then(|field| ModelChoice::read(&field, names));
    let keys: ModelKeys = table.read().unwrap_or_default();
    let extra = table.peek("extra").and_then(|field| field.read::<Map<String, Json>>());
    let price = table.peek("price").and_then(|field| spending::price(&field));
    let is_priced = table.peek("price").is_some();
    let budget = table.peek("budget").and_then(|field| spending::budget(&field, is_priced));
    let spec = spec(field, &table, &keys);
    if let Some(field) = table.peek("visible_to").filter(Field::is_empty_list) {
        let hint = "name a group, or remove the model";
        field.fault("is empty, which would hide the model from everybody", hint);
    }
    table.finish();
    let (spec, key_source) = spec?;
    let spec = ModelSpec {
        max_output_tokens: keys.max_output_tokens.map(|count| count.0),
        parallel_calls: keys.parallel_calls,
        tool_calls: keys.tool_calls.map(|word| word.0).unwrap_or_default(),
        temperature: keys.temperature.map(|own| own.0),
        extra: extra.as_ref().map(members).unwrap_or_default(),
        ..spec
    };
    let context_tokens = keys.context_tokens.map(|count| count.0);
    let visible_to = keys.visible_to;
    let model = ModelConfig::new(name.to_owned(), spec, key_source);
    Some(ModelConfig { context_tokens, fallback, price, budget, visible_to, ..model })
}

/// Where the model is, and its key.
fn spec(field: &Field<'_>, table: &Table<'_>, keys: &ModelKeys) -> Option<(ModelSpec, KeySource)> {
    let Some(own) = table.peek("model") else {
        missing(field, "model");
        return None;
    };
    let Text(model) = keys.model.as_ref()?;
    let given = keys.key.as_ref().map(|HeaderSecret(key)| key.clone());
    let given_source = table.peek("key").map(|key| key_source(&key));
    if let Some(address) = table.peek("url") {
        let url: Url = keys.url.as_ref()?.0.parse().ok().or_else(|| {
            address.fault("is not an address", "write it as in \"http://127.0.0.1:8080/v1\"");
            None
        })?;
        let api = keys.api.as_ref().map_or(Api::OpenAiChat, |word| word.0);
        let spec = ModelSpec { key: given, ..ModelSpec::new(api, url, model.clone()) };
        return Some((spec, given_source.unwrap_or(KeySource::Nowhere)));
    }
    if let Some(api) = table.peek("api") {
        api.key_fault("needs `url`", "write where the model is, or leave it out for a short form");
    }
    let Ok(form) = model.parse::<ShortForm>() else {
        let hint = format!("write its `url` beside it, or a short form: {}", ShortForm::forms());
        own.fault("does not say where the model is", hint);
        return None;
    };
    if let Some(source) = given_source {
        return Some((ModelSpec { key: given, ..form.spec() }, source));
    }
    let model = ModelConfig::of_short_form(&form, |variable| variable_key(variable, &own));
    Some((model.spec, model.key_source))
}

/// The key in a variable. One that is missing is noted at the field.
fn variable_key(variable: &str, field: &Field<'_>) -> Option<Secret> {
    field.expanded(&format!("${{{variable}}}")).map(|expanded| Secret::new(expanded.text))
}

fn key_source(key: &Field<'_>) -> KeySource {
    let Value::Text(text) = key.value() else { return KeySource::File };
    let Some(reference) = references(text).next() else { return KeySource::File };
    if let Some(name) = reference.strip_prefix(SECRET) {
        return KeySource::Secret(name.to_owned());
    }
    let name = reference.split_once(":-").map_or(reference, |(name, _)| name);
    KeySource::Variable(name.to_owned())
}

fn members(extra: &Map<String, Json>) -> Fields {
    extra.iter().map(|(name, value)| (name.clone(), RawJson::of(value))).collect()
}

/// The models from this one over its fallbacks back to it, if they lead there.
fn circle(name: &str, models: &[ModelConfig]) -> Option<Vec<String>> {
    let mut path = vec![name.to_owned()];
    while path.len() <= models.len() {
        let last = models.iter().find(|model| Some(&model.name) == path.last())?;
        let Some(ModelChoice::Named(next)) = &last.fallback else { return None };
        path.push(next.clone());
        if next == name {
            return Some(path);
        }
    }
    None
}
