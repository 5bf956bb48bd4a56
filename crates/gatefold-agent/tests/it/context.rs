//! What a model is shown of a conversation: each prompt begins with the one before it, until a compaction.

use gatefold_agent::{
    AgentEvent, AgentRun, Compaction, CompactionStep, Effect, PastTexts, RunEnd, RunLimits,
    Transcript, WorkCard,
};
use gatefold_model::{
    Api, AssistantPart, History, ModelRequest, ModelSpec, Origin, RawJson, StopReason, Target,
    ToolDefinition, ToolResult, Turn, UserMessage, UserPart,
};
use gatefold_testkit::model::{check_chat, check_messages};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use serde_json::json;

use crate::{answer, asking, call, calls, returned, shown, words};

const CASES: u32 = 300;

const READER: Option<&str> = Some("results__read_result");

/// So small that most conversations are compacted several times.
fn small() -> RunLimits {
    RunLimits {
        history_bytes: 12_000,
        compact_bytes: 8_000,
        iterations: 12,
        ..RunLimits::default()
    }
}

/// The parts of a request, as they travel.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct SentPrompt {
    pub(crate) system: String,
    pub(crate) messages: String,
    pub(crate) tools: Vec<String>,
}

pub(crate) fn encode(api: Api, history: &History, tools: &[ToolDefinition]) -> SentPrompt {
    let spec = ModelSpec::new(api, "http://127.0.0.1:1/v1".parse().unwrap(), "m");
    let origin = Origin::new(api, &spec.url, "m");
    let target = Target { spec: &spec, origin: &origin, streams: true };
    let body = api.wire().encode(&ModelRequest::new("Help.", history).tools(tools), &target);
    let whole = serde_json::from_str(&serde_json::to_string(&body).unwrap()).unwrap();
    let checked = match api {
        Api::OpenAiChat => check_chat(&whole),
        Api::Anthropic => check_messages(&whole),
    };
    checked.unwrap_or_else(|fault| panic!("{api}: {fault}"));
    let part = |name: &str| body.get(name).map(|part| part.text().to_owned()).unwrap_or_default();
    let tools =
        body.get("tools").map(|tools| tools.read::<Vec<RawJson>>().unwrap()).unwrap_or_default();
    SentPrompt {
        system: part("system"),
        messages: part("messages"),
        tools: tools.iter().map(|tool| tool.text().to_owned()).collect(),
    }
}

/// What there is of a list before the brackets that close it: a last message may become longer.
pub(crate) fn open_end(messages: &str) -> &str {
    messages.trim_end_matches([']', '}', '"'])
}

fn check_growth(before: &SentPrompt, after: &SentPrompt) -> Result<(), TestCaseError> {
    prop_assert_eq!(&before.system, &after.system);
    prop_assert!(
        after.messages.starts_with(open_end(&before.messages)),
        "{}\n{}",
        before.messages,
        after.messages
    );
    prop_assert!(after.tools.starts_with(&before.tools));
    Ok(())
}

/// What happens next, as far as it fits.
#[derive(Debug, Clone)]
enum Happening {
    Answers(AgentEvent),
    /// All calls under way return this.
    Returns(ToolResult),
    /// The model is offered a tool more.
    LoadsTool,
    Overflows,
    Cancels,
}

fn happening() -> impl Strategy<Value = Happening> {
    let text = || prop_oneof![3 => "[a-z ]{0,40}", 2 => "[a-z\"\\\\é漢 ]{400,900}", 1 => "[a-z\n]{2000,6000}"];
    let part = prop_oneof![
        3 => ("[a-c]", "[a-z]{0,20}").prop_map(|(name, key)| call(&name, &json!({ "key": key }).to_string())),
        2 => text().prop_map(|text| AssistantPart::Text { text, raw: None }),
        1 => Just(call("a", "{\"key\":")),
    ];
    let parts = prop::collection::vec(part, 0..4);
    let answers = parts.prop_map(|parts| Happening::Answers(answer(parts, StopReason::Done)));
    let result = (prop::collection::vec(text(), 0..3), any::<bool>());
    let returns = result.prop_map(|(texts, is_error)| {
        Happening::Returns(ToolResult {
            parts: texts.into_iter().map(UserPart::Text).collect(),
            is_error,
        })
    });
    prop_oneof![
        20 => answers,
        20 => returns,
        2 => Just(Happening::LoadsTool),
        1 => Just(Happening::Overflows),
        1 => Just(Happening::Cancels),
    ]
}

/// A conversation as it is played: run after run, each prompt beside the one before it.
struct Play {
    api: Api,
    tools: Vec<ToolDefinition>,
    last: Option<SentPrompt>,
    compactions: usize,
    /// The events of each run that was answered, with what was said first.
    journal: Vec<(UserMessage, Vec<AgentEvent>)>,
    prompts: Vec<SentPrompt>,
}

impl Play {
    fn of(api: Api) -> Self {
        let tools = vec![tool("a")];
        Self { api, tools, last: None, compactions: 0, journal: Vec::new(), prompts: Vec::new() }
    }

    /// Follows the effects up to those that wait for something, and gives the calls that are under way.
    fn follow(
        &mut self,
        run: &mut AgentRun,
        effects: Vec<Effect>,
        events: &mut Vec<AgentEvent>,
    ) -> Result<Vec<usize>, TestCaseError> {
        let mut under_way = Vec::new();
        for effect in effects {
            match effect {
                Effect::Call { call, .. } => under_way.push(call),
                Effect::Ask(_) => {
                    let sent = encode(self.api, &run.prompt_history(), &self.tools);
                    if let Some(last) = &self.last {
                        check_growth(last, &sent)?;
                    }
                    self.prompts.push(sent.clone());
                    self.last = Some(sent);
                }
                Effect::Compact(step) => {
                    (self.last, self.compactions) = (None, self.compactions + 1);
                    let written = self.compactions.is_multiple_of(2).then_some("What was done.");
                    let compaction = step.carry_out(run.transcript(), written, READER);
                    check_step(&step, &compaction, run)?;
                    let event = AgentEvent::Compacted { compaction };
                    events.push(event.clone());
                    let effects = run.step(event);
                    return self.follow(run, effects, events);
                }
                Effect::End(_) => {}
            }
        }
        Ok(under_way)
    }

    fn play(&mut self, happenings: &[Happening]) -> Result<Option<Transcript>, TestCaseError> {
        let mut kept: Option<Transcript> = None;
        let mut happenings = happenings.iter();
        let mut number = 0;
        while happenings.len() > 0 {
            number += 1;
            let said = UserMessage::text(format!("Request {number}, word for word.")).unwrap();
            let conversation = match &kept {
                Some(kept) => {
                    let mut kept = kept.clone();
                    kept.say(said.clone());
                    kept
                }
                None => History::new(said.clone()).into(),
            };
            let (began_with, last) = (conversation.turns().len(), self.last.clone());
            let (mut run, effects) = AgentRun::begin(conversation, small());
            let (mut events, prompts) = (Vec::new(), self.prompts.len());
            let mut under_way = self.follow(&mut run, effects, &mut events)?;
            for happening in happenings.by_ref() {
                let happened = match happening {
                    Happening::Answers(event) if under_way.is_empty() => vec![event.clone()],
                    Happening::Overflows if under_way.is_empty() => {
                        vec![AgentEvent::Overflowed { reason: "too long".to_owned() }]
                    }
                    Happening::Returns(result) => {
                        let calls = std::mem::take(&mut under_way).into_iter();
                        calls
                            .map(|call| AgentEvent::Returned { call, result: result.clone() })
                            .collect()
                    }
                    Happening::Cancels => vec![AgentEvent::Cancelled],
                    Happening::LoadsTool if self.tools.len() < 9 => {
                        self.tools.push(tool(&format!("loaded_{}", self.tools.len())));
                        continue;
                    }
                    _ => continue,
                };
                for event in happened {
                    events.push(event.clone());
                    let effects = run.step(event);
                    under_way.extend(self.follow(&mut run, effects, &mut events)?);
                }
                if run.end_state().is_some() {
                    break;
                }
            }
            run.step(AgentEvent::Cancelled);
            // What nobody answered is left out, as a chat does.
            if run.history().turns()[began_with..].iter().any(|turn| matches!(turn, Turn::Round(_)))
            {
                self.journal.push((said, events));
                kept = Some(run.into_transcript());
            } else {
                self.last = last;
                self.prompts.truncate(prompts);
            }
        }
        Ok(kept)
    }

    /// The prompts of the same journal, as it was written down.
    fn replay(&self) -> (Option<Transcript>, usize) {
        let mut kept: Option<Transcript> = None;
        let mut asked = 0;
        for (said, events) in &self.journal {
            let written = serde_json::to_string(events).unwrap();
            let conversation = match kept.take() {
                Some(mut kept) => {
                    kept.say(said.clone());
                    kept
                }
                None => History::new(said.clone()).into(),
            };
            let (mut run, mut effects) = AgentRun::begin(conversation, small());
            for event in serde_json::from_str::<Vec<AgentEvent>>(&written).unwrap() {
                asked += usize::from(effects.iter().any(|effect| matches!(effect, Effect::Ask(_))));
                effects = run.step(event);
            }
            asked += usize::from(effects.iter().any(|effect| matches!(effect, Effect::Ask(_))));
            run.step(AgentEvent::Cancelled);
            kept = Some(run.into_transcript());
        }
        (kept, asked)
    }
}

/// Each text that a compaction puts in place of another names a handle that leads to it.
fn check_step(
    step: &CompactionStep,
    compaction: &Compaction,
    run: &AgentRun,
) -> Result<(), TestCaseError> {
    let past = PastTexts::new(run.history().clone());
    let is_readable = |text: &str| {
        let (_, rest) = text.split_once("{\"handle\":\"").unwrap();
        past.find(rest.split('"').next().unwrap()).is_some_and(|text| !text.is_empty())
    };
    match step {
        CompactionStep::Offload { results, .. } => {
            prop_assert_eq!(results.len(), compaction.offloads.len());
            prop_assert!(compaction.offloads.iter().all(|offload| is_readable(&offload.text)));
        }
        CompactionStep::WriteCard { end, bytes } => {
            let card = compaction.card.as_ref().unwrap();
            prop_assert_eq!(*end, card.end);
            prop_assert!(
                card.text.len() <= *bytes + 400 && is_readable(&card.text),
                "{}",
                card.text
            );
        }
    }
    Ok(())
}

fn tool(name: &str) -> ToolDefinition {
    ToolDefinition::new(name, "Does something.", &RawJson::of(&json!({ "type": "object" })))
        .unwrap()
}

#[test]
fn each_prompt_begins_with_the_one_before_it_except_after_a_compaction() {
    let config = Config { cases: CASES, failure_persistence: None, ..Config::default() };
    let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let mut runner = TestRunner::new_with_rng(config, rng);
    let totals = std::cell::Cell::new((0, 0, 0));
    let checked = runner.run(&prop::collection::vec(happening(), 1..120), |happenings| {
        for api in Api::ALL {
            let mut play = Play::of(api);
            let kept = play.play(&happenings)?;
            let (replayed, asked) = play.replay();
            prop_assert_eq!(&replayed, &kept);
            prop_assert_eq!(asked, play.prompts.len());
            let (prompts, compactions, runs) = totals.get();
            totals.set((
                prompts + asked,
                compactions + play.compactions,
                runs + play.journal.len(),
            ));
            if let Some(kept) = kept {
                check_messages_stay(&kept)?;
            }
        }
        Ok(())
    });
    checked.unwrap();
    let (prompts, compactions, runs) = totals.get();
    eprintln!(
        "{prompts} prompts of {runs} runs were compared, with {compactions} steps of compactions"
    );
    assert!(compactions > 500 && prompts > 5_000, "{prompts} prompts, {compactions} compactions");
}

/// What the user says is shown word for word, whatever was compacted.
fn check_messages_stay(transcript: &Transcript) -> Result<(), TestCaseError> {
    let requests = |turns: &[Turn]| -> Vec<UserMessage> {
        let said = turns.iter().filter_map(|turn| match turn {
            Turn::User(message) => Some(message.clone()),
            Turn::Round(_) => None,
        });
        said.filter(|message| matches!(&message.parts()[0], UserPart::Text(text) if text.starts_with("Request "))).collect()
    };
    prop_assert_eq!(requests(transcript.turns()), requests(transcript.prompt_history().turns()));
    Ok(())
}

/// A run that calls, and answers in the end.
fn long_history(rounds: usize) -> History {
    let mut history = asking("Request 0");
    for number in 0..rounds {
        if number % 3 == 2 {
            let text = format!("Answer {number}");
            push(&mut history, vec![AssistantPart::Text { text, raw: None }], Vec::new());
            history.say(UserMessage::text(format!("Request {number}")).unwrap());
        } else {
            let results = ["x".repeat(700), "y".to_owned()].map(ToolResult::text);
            push(&mut history, vec![call("a", "{}"), call("b", "{}")], results.to_vec());
        }
    }
    history
}

fn push(history: &mut History, parts: Vec<AssistantPart>, results: Vec<ToolResult>) {
    let AgentEvent::Answered { answer } = answer(parts, StopReason::Done) else { unreachable!() };
    history.push(gatefold_model::Round::new(answer.message, results).unwrap()).unwrap();
}

#[test]
fn a_history_that_is_cut_anywhere_is_one_that_both_providers_take() {
    let history = long_history(30);
    for length in 1..=history.turns().len() {
        let part = History::try_from(history.turns()[..length].to_vec()).unwrap();
        for end in 1..=length {
            let mut transcript = Transcript::from(part.clone());
            transcript.apply(Compaction {
                offloads: Vec::new(),
                card: Some(WorkCard { end, text: "The card.".to_owned() }),
            });
            if transcript.prompt_history().awaits_answer() {
                for api in Api::ALL {
                    encode(api, &transcript.prompt_history(), &[tool("a")]);
                }
            }
        }
    }
}

#[test]
fn decisions_on_what_is_not_there_change_nothing() {
    let mut transcript = Transcript::from(long_history(3));
    let before = transcript.clone();
    let card = |end, text: &str| Compaction {
        offloads: Vec::new(),
        card: Some(WorkCard { end, text: text.to_owned() }),
    };
    for nothing in [card(99, "x"), card(0, "x"), card(2, " ")] {
        transcript.apply(nothing);
        assert_eq!(transcript.prompt_history(), before.prompt_history());
    }
    transcript.apply(card(3, "x"));
    assert_eq!(transcript.hidden().replaced_rounds, 2);
    transcript.apply(card(2, "y"));
    assert_eq!(transcript.card_text(), Some("x"), "a card only ever stands for more");
}

fn step(run: &mut AgentRun, event: AgentEvent, expected: &[&str]) -> Vec<Effect> {
    let effects = run.step(event);
    assert_eq!(shown(&effects), expected);
    effects
}

/// Carries compactions out until something else is wanted.
fn compact(run: &mut AgentRun, effects: Vec<Effect>) -> (Vec<Effect>, usize) {
    let (mut effects, mut steps) = (effects, 0);
    while let [Effect::Compact(step)] = &effects[..] {
        let compaction = step.carry_out(run.transcript(), None, READER);
        effects = run.step(AgentEvent::Compacted { compaction });
        steps += 1;
    }
    (effects, steps)
}

#[test]
fn one_large_result_ends_no_run() {
    let mut run = AgentRun::begin(asking("Go."), small()).0;
    step(&mut run, calls(&[("a", "{}")]), &["0 a"]);
    let effects = step(&mut run, returned(0, &"large ".repeat(10_000)), &["compact"]);
    let (effects, _) = compact(&mut run, effects);
    assert_eq!(shown(&effects), ["ask"]);
    let text = format!("{:?}", run.prompt_history());
    assert!(text.len() < 4_000 && text.contains("past-1-1"), "{text}");
    // All of it is still there.
    assert!(format!("{:?}", run.history()).len() > 60_000);
}

#[test]
fn what_cannot_be_compacted_leads_to_a_last_answer() {
    let (mut run, effects) = AgentRun::begin(asking(&"x".repeat(20_000)), small());
    assert_eq!(shown(&effects), ["last"]);
    step(&mut run, words("It is too long."), &[r#"{"end":"short","of":"room"}"#]);
}

#[test]
fn a_model_that_takes_less_is_asked_once_more_with_half() {
    let roomy = RunLimits::default();
    let mut history = long_history(20);
    history.say(UserMessage::text("Go on.").unwrap());
    let (mut run, effects) = AgentRun::begin(history, roomy);
    assert_eq!(shown(&effects), ["ask"]);
    let before = format!("{:?}", run.prompt_history()).len();
    let overflow = || AgentEvent::Overflowed { reason: "too long".to_owned() };
    let effects = step(&mut run, overflow(), &["compact"]);
    let (effects, _) = compact(&mut run, effects);
    assert_eq!(shown(&effects), ["ask"]);
    let after = format!("{:?}", run.prompt_history()).len();
    assert!(after < before * 2 / 3, "{before} bytes became {after}");
    run.step(overflow());
    let Some(RunEnd::Failed { reason, is_final: false }) = run.end_state() else { panic!() };
    assert!(reason.contains("also after it was compacted to half"), "{reason}");

    // A model that has answered meanwhile may be asked so again.
    let (mut run, _) = AgentRun::begin(long_history(60), RunLimits::default());
    for _ in 0..2 {
        let effects = run.step(overflow());
        assert_eq!(shown(&compact(&mut run, effects).0), ["ask"]);
        step(&mut run, calls(&[("a", "{}")]), &["0 a"]);
        step(&mut run, returned(0, &"z".repeat(300)), &["ask"]);
    }
    let (mut run, _) = AgentRun::begin(asking("Go."), RunLimits::default());
    run.step(overflow());
    let Some(RunEnd::Failed { reason, .. }) = run.end_state() else { panic!() };
    assert!(reason.contains("nothing more of it can be left out"), "{reason}");
}

#[test]
fn a_journal_without_compactions_is_replayed_as_it_was() {
    let mut run = AgentRun::begin(asking("Go."), small()).0;
    step(&mut run, calls(&[("a", "{}")]), &["0 a"]);
    step(&mut run, returned(0, &"x".repeat(5_500)), &["ask"]);
    step(&mut run, calls(&[("a", "{}")]), &["0 a"]);
    step(&mut run, returned(0, &"y".repeat(5_500)), &["compact"]);
    step(&mut run, words("Done."), &[r#"{"end":"answered"}"#]);
    assert_eq!(run.answer().as_deref(), Some("Done."));
}
