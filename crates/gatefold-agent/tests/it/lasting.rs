//! Long conversations against a scripted model: what they cost, and what is still known in the end.

use std::collections::{BTreeSet, HashMap};
use std::sync::Mutex;

use futures::future::BoxFuture;
use gatefold_agent::{
    AgentEvent, AgentLimits, AgentTools, Budget, Driver, ModelRoom, PastTexts, RunEnd, RunLimits,
    RunWatcher, ToolOffer, Transcript,
};
use gatefold_catalog::token_bound;
use gatefold_core::BoxError;
use gatefold_model::{
    Api, CallArguments, History, ModelClient, ModelSpec, RawJson, ToolCall, ToolDefinition,
    ToolResult, UserMessage,
};
use gatefold_testkit::model::{Move, Prompt, ScriptedModel, check_chat, check_messages};
use serde_json::{Value, json};

use crate::context::{encode, open_end};
use crate::driven::{client, client_of};

/// Words without a meaning, the same for the same number.
fn chatter(number: usize, words: usize) -> String {
    let mut state = u64::try_from(number).unwrap() * 2_654_435_761 + 1;
    let word = |_| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ["ship", "tariff", "meadow", "copper", "window", "ledger", "harbour", "signal"]
            [usize::try_from(state >> 61).unwrap()]
    };
    (0..words).map(word).collect::<Vec<_>>().join(" ")
}

/// The fact of a turn: every fourth has one.
fn fact(turn: usize) -> Option<String> {
    turn.is_multiple_of(4).then(|| format!("the code of depot {turn} is {}", turn * 7919 + 104_729))
}

/// Where the fact of a turn stands: in what the user says, in what a tool gives, or in what the model answers.
fn fact_at(turn: usize, place: usize) -> String {
    let own = match turn / 4 % 10 {
        0 => 0,
        1 => 2,
        _ => 1,
    };
    fact(turn).filter(|_| own == place).unwrap_or_default()
}

/// A tool that tells much, and a dozen others.
struct Depots {
    offer: ToolOffer,
    past: Mutex<Option<PastTexts>>,
    results: Mutex<HashMap<usize, String>>,
    result_words: usize,
}

impl Depots {
    /// With tools and instructions of about so many bytes.
    fn offering(bytes: usize, result_words: usize) -> Self {
        let tool = |number: usize| {
            let about = chatter(number, bytes / 13 / 8);
            let schema =
                json!({ "type": "object", "properties": { "depot": { "type": "integer" } } });
            let name = if number == 0 { "look_up".to_owned() } else { format!("other_{number}") };
            ToolDefinition::new(&name, &about, &RawJson::of(&schema)).unwrap()
        };
        let offer = ToolOffer {
            instructions: format!("Help. {}", chatter(99, bytes / 13 / 8)),
            tools: (0..12).map(tool).collect(),
        };
        Self { offer, past: Mutex::default(), results: Mutex::default(), result_words }
    }
}

impl AgentTools for Depots {
    fn offer(&self) -> BoxFuture<'_, Result<ToolOffer, BoxError>> {
        Box::pin(async { Ok(self.offer.clone()) })
    }

    fn call<'a>(&'a self, request: &'a ToolCall, _: &'a Budget) -> BoxFuture<'a, ToolResult> {
        let CallArguments::Object(json) = &request.arguments else { panic!("{request:?}") };
        let turn =
            usize::try_from(json.read::<Value>().unwrap()["depot"].as_u64().unwrap()).unwrap();
        let (before, after) =
            (chatter(turn, self.result_words / 2), chatter(turn + 7, self.result_words / 2));
        let text = format!("{before} {} {after}", fact_at(turn, 1));
        self.results.lock().unwrap().insert(turn, text.clone());
        Box::pin(async { ToolResult::text(text) })
    }

    fn keep_past<'a>(&'a self, past: &'a PastTexts) -> BoxFuture<'a, Option<String>> {
        *self.past.lock().unwrap() = Some(past.clone());
        Box::pin(async { Some("results__read_result".to_owned()) })
    }
}

/// Looks the depot of the newest request up, and answers. It writes cards that have nothing in them.
fn looking_up(prompt: &Prompt) -> Move {
    let messages = prompt.whole()["messages"].as_array().unwrap();
    if prompt.whole()["tools"].is_null() {
        return Move::say("The depots were looked up.");
    }
    let texts = |message: &Value| message["content"].to_string();
    let last = messages.iter().rev().find_map(|message| {
        let text = texts(message);
        let (_, number) = text.rsplit_once("depot number ")?;
        number.split(|c: char| !c.is_ascii_digit()).next()?.parse::<usize>().ok()
    });
    let turn = last.unwrap();
    let newest = messages.last().unwrap();
    let is_told = newest["role"] == "tool" || newest["content"][0]["type"] == "tool_result";
    if is_told {
        return Move::say(&format!("Seen. {} {}", fact_at(turn, 2), chatter(turn + 3, 20)));
    }
    Move::call("look_up", &json!({ "depot": turn }))
}

/// How often the conversation was compacted, and by what.
#[derive(Default)]
struct Compactions(Mutex<(usize, usize)>);

impl RunWatcher for Compactions {
    fn on_event(&self, event: &AgentEvent) {
        let AgentEvent::Compacted { compaction } = event else { return };
        let mut counts = self.0.lock().unwrap();
        counts.0 += usize::from(!compaction.offloads.is_empty());
        counts.1 += usize::from(compaction.card.is_some());
    }
}

/// So many turns of one conversation, each of them a run.
async fn converse(
    client: &ModelClient,
    tools: &Depots,
    limits: &RunLimits,
    turns: usize,
) -> (Transcript, (usize, usize)) {
    let (mut kept, compactions): (Option<Transcript>, _) = (None, Compactions::default());
    for turn in 0..turns {
        let said = format!("Look at depot number {turn}. {}", fact_at(turn, 0));
        let said = UserMessage::text(said).unwrap();
        let conversation = match kept {
            Some(mut kept) => {
                kept.say(said);
                kept
            }
            None => History::new(said).into(),
        };
        let driver = Driver::new(client, tools).with_watcher(&compactions);
        let run = driver.drive(conversation, limits.clone()).await.unwrap();
        assert_eq!(run.end_state(), Some(&RunEnd::Answered), "turn {turn}");
        kept = Some(run.into_transcript());
    }
    (kept.unwrap(), compactions.0.into_inner().unwrap())
}

/// The bodies of all requests, each of which its provider would take.
fn bodies(model: &ScriptedModel, api: Api) -> Vec<String> {
    let requests = model.requests().into_iter();
    let bodies: Vec<_> =
        requests.map(|request| request[request.find('{').unwrap()..].to_owned()).collect();
    for body in &bodies {
        let body = serde_json::from_str(body).unwrap();
        let checked = if api == Api::Anthropic { check_messages(&body) } else { check_chat(&body) };
        checked.unwrap();
    }
    bodies
}

/// Counts tokens as o200k does, each text once.
#[derive(Default)]
struct Counter(HashMap<String, usize>);

impl Counter {
    fn tokens(&mut self, body: &str) -> usize {
        let body: Value = serde_json::from_str(body).unwrap();
        let parts = ["system", "tools", "messages"].map(|name| &body[name]);
        let texts = parts.into_iter().flat_map(|part| match part {
            Value::Array(items) => items.iter().map(Value::to_string).collect(),
            Value::Null => Vec::new(),
            other => vec![other.to_string()],
        });
        texts.map(|text| *self.0.entry(text).or_insert_with_key(|text| token_bound(text))).sum()
    }
}

/// What the same answers would have taken if each prompt had had all that was said before.
fn tokens_of_whole(api: Api, history: &History, offer: &ToolOffer) -> usize {
    let mut history = history.clone();
    history.say(UserMessage::text("And?").unwrap());
    let sent = encode(api, &history, &offer.tools);
    let mut before = token_bound(&offer.instructions);
    before += sent.tools.iter().map(|tool| token_bound(tool)).sum::<usize>();
    let messages: Vec<Value> = serde_json::from_str(&sent.messages).unwrap();
    let mut all = 0;
    for message in messages {
        if message["role"] == "assistant" {
            all += before;
        }
        before += token_bound(&message.to_string());
    }
    all
}

fn limits(context_tokens: u64, tools: &Depots) -> RunLimits {
    let (context_tokens, max_output_tokens) = (Some(context_tokens), None);
    let patience = RunLimits::default().turn;
    let room = ModelRoom { context_tokens, max_output_tokens, patience };
    RunLimits::for_model(&room, &tools.offer, &AgentLimits::default())
}

/// The texts that a reader gets by the handles that a prompt names, as far as those lead anywhere.
fn read_handles(prompt: &str, past: &PastTexts) -> Vec<String> {
    let named = prompt.split("past-").skip(1).map(|rest| {
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '-').unwrap_or(rest.len());
        format!("past-{}", rest[..end].trim_end_matches('-'))
    });
    named.collect::<BTreeSet<_>>().iter().filter_map(|handle| past.find(handle)).collect()
}

#[tokio::test]
async fn two_hundred_turns_fit_into_a_small_window_and_what_was_said_is_still_found() {
    for api in Api::ALL {
        let tools = Depots::offering(6_000, 230);
        let model = ScriptedModel::start(looking_up);
        let small = limits(32_768, &tools);
        let (kept, (offloads, cards)) = converse(&client(&model, api), &tools, &small, 200).await;
        let sent = bodies(&model, api);

        let mut counter = Counter::default();
        let tokens: usize = sent.iter().map(|body| counter.tokens(body)).sum();
        let longest = sent.iter().map(|body| counter.tokens(body)).max().unwrap();
        let whole_tokens = tokens_of_whole(api, kept.history(), &tools.offer);
        let share = tokens * 1000 / whole_tokens;

        let last = sent.iter().rev().find(|body| body.contains("depot number 199")).unwrap();
        let past = tools.past.lock().unwrap().clone().unwrap();
        let texts = read_handles(last, &past);
        let facts: Vec<_> = (0..200).filter_map(fact).collect();
        let verbatim = facts.iter().filter(|fact| last.contains(*fact)).count();
        let known =
            |fact: &&String| last.contains(*fact) || texts.iter().any(|text| text.contains(*fact));
        let found = facts.iter().filter(known).count();
        eprintln!(
            "{api}: {tokens} of {whole_tokens} input tokens ({share} of 1000) in {} requests, the longest of {longest}; {offloads} \
             batches, {cards} cards; of {} facts {verbatim} are in the last prompt and {} more behind its {} handles",
            sent.len(),
            facts.len(),
            found - verbatim,
            texts.len(),
        );
        assert!(share <= 400, "{share}");
        assert!(longest < 32_768, "{longest}");
        assert_eq!(facts.len(), 50);
        assert!(found * 100 >= facts.len() * 95, "{found}");
        assert!(cards < 25, "each compaction costs a provider's cache: {cards}");
    }
}

#[tokio::test]
async fn nearly_all_of_a_prompt_repeats_the_one_before_it() {
    for api in Api::ALL {
        let tools = Depots::offering(38_000, 240);
        let model = ScriptedModel::start(looking_up);
        let usual = limits(128_000, &tools);
        converse(&client(&model, api), &tools, &usual, 41).await;
        let sent = bodies(&model, api);
        // The first request of each turn.
        let turns: Vec<Value> =
            sent.iter().step_by(2).map(|body| serde_json::from_str(body).unwrap()).collect();
        let part = |body: &Value, name: &str| {
            if body[name].is_null() { String::new() } else { body[name].to_string() }
        };
        let (mut shares, mut grown) = (Vec::new(), Vec::new());
        for (number, pair) in turns.windows(2).enumerate() {
            let (before, after) = (&pair[0], &pair[1]);
            let (mut repeated, mut all) = (0, 0);
            for name in ["system", "tools", "messages"] {
                let (before, after) = (part(before, name), part(after, name));
                let common = if before == after { after.len() } else { open_end(&before).len() };
                assert!(after.starts_with(&before[..common]), "{api}: turn {number}");
                (repeated, all) = (repeated + common, all + after.len());
            }
            // The pair 0 is of the turns 1 and 2.
            if (5..=40).contains(&(number + 2)) {
                shares.push(repeated * 100_000 / all);
                grown.push(part(after, "messages").len() - part(before, "messages").len());
            }
        }
        assert_eq!(shares.len(), 36);
        let mean = shares.iter().sum::<usize>() / shares.len();
        let growth = grown.iter().sum::<usize>() / grown.len();
        let mut counter = Counter::default();
        let first = counter.tokens(&sent[0]);
        let last = counter.tokens(sent.iter().step_by(2).nth(40).unwrap());
        eprintln!(
            "{api}: {mean} of 100,000 bytes of the turns 5 to 40 repeat the turn before; a turn adds {growth} bytes, {} \
             tokens; the first prompt has {first} tokens",
            (last - first) / 40
        );
        assert!(mean >= 97_000, "{mean}");
    }
}

#[tokio::test]
async fn an_endpoint_that_takes_less_than_was_thought_gets_half() {
    for (api, body) in [
        (Api::OpenAiChat, r#"{"error":{"message":"no","code":"context_length_exceeded"}}"#),
        (Api::Anthropic, r#"{"error":{"message":"prompt is too long: 9 tokens > 8 maximum"}}"#),
    ] {
        // It takes 40 kB, and nobody said so.
        let model = ScriptedModel::start(move |prompt| match prompt.whole().to_string().len() {
            ..40_000 => looking_up(prompt),
            _ => Move::Fail("400 Bad Request", "", body),
        });
        let tools = Depots::offering(3_000, 240);
        let client = client_of(ModelSpec::new(api, model.url().parse().unwrap(), "m"));
        let (kept, (_, cards)) = converse(&client, &tools, &RunLimits::default(), 40).await;
        assert!(kept.is_compacted() && cards < 8, "{cards}");
        let refused = model.requests().iter().filter(|request| request.len() > 40_500).count();
        eprintln!("{api}: {refused} of {} requests were too long", model.requests().len());

        let hopeless = ScriptedModel::start(move |_| Move::Fail("400 Bad Request", "", body));
        let client = client_of(ModelSpec::new(api, hopeless.url().parse().unwrap(), "m"));
        let mut conversation = kept.clone();
        conversation.say(UserMessage::text("Look at depot number 41.").unwrap());
        let run =
            Driver::new(&client, &tools).drive(conversation, RunLimits::default()).await.unwrap();
        let Some(RunEnd::Failed { reason, is_final: false }) = run.end_state() else { panic!() };
        assert!(reason.contains("longer than the model takes"), "{reason}");
        assert!(hopeless.requests().len() <= 3, "{}", hopeless.requests().len());
    }
}
