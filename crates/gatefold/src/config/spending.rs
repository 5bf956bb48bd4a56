//! What models cost and may cost, and what agents' runs are limited to, as keys of several sections.

use gatefold_agent::{AgentLimits, SpendingLimit, TokenPrice};
use gatefold_config::{Count, Field, Time, fault};
use gatefold_core::Cost;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::kinds::shared_values::missing;

/// How many tokens of one model a person may use in a day unless the configuration says it, where they are not
/// the local user.
pub const DAILY_TOKENS: u64 = 5_000_000;

/// An amount of money, in whatever unit the operator counts. It is rounded to millionths.
#[derive(JsonSchema, Clone, Copy)]
#[schemars(with = "f64", extend("minimum" = 0, "maximum" = 1_000_000, "x-constraint" = "from 0 to 1,000,000"))]
pub(super) struct Money(pub(super) Cost);

impl<'de> Deserialize<'de> for Money {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        const LARGEST: f64 = 1_000_000.0;
        let units = f64::deserialize(deserializer)?;
        if !(0.0..=LARGEST).contains(&units) {
            let hint = "write a number of units, such as 2.5";
            return Err(fault("is not an amount from 0 to 1,000,000", hint));
        }
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "it is between 0 and a million millions"
        )]
        let micros = (units * 1e6).round() as u64;
        Ok(Self(Cost::from_micros(micros)))
    }
}

impl Serialize for Money {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(self.0.as_units())
    }
}

#[derive(Deserialize, JsonSchema, Default)]
#[serde(default)]
#[schemars(extend("required" = ["input", "output"], "additionalProperties" = false,
    "x-constraint" = "`input`, `output`, and as needed `cached_input`, each for a million tokens"))]
pub(super) struct PriceKeys {
    input: Option<Money>,
    cached_input: Option<Money>,
    output: Option<Money>,
}

#[derive(Deserialize, JsonSchema, Default)]
#[serde(default)]
#[schemars(extend("minProperties" = 1, "additionalProperties" = false,
    "x-constraint" = "`tokens`, `cost` or both"))]
pub(super) struct BudgetKeys {
    tokens: Option<Count<u64>>,
    cost: Option<Money>,
}

#[derive(Deserialize, JsonSchema, Default)]
#[serde(default)]
#[schemars(extend("additionalProperties" = false,
    "x-constraint" = "`iterations`, `turn`, `run`, `calls_at_once`, `tokens` and `cost`, as needed: what \
                      `limits.agent_iterations` and so on are for all agents"))]
pub(super) struct AgentLimitKeys {
    iterations: Option<Count<u32>>,
    turn: Option<Time>,
    run: Option<Time>,
    calls_at_once: Option<Count<usize>>,
    tokens: Option<Count<u64>>,
    cost: Option<Money>,
}

pub(super) fn price(field: &Field<'_>) -> Option<TokenPrice> {
    let table = field.table()?;
    for key in ["input", "output"] {
        if table.peek(key).is_none() {
            missing(field, key);
        }
    }
    let PriceKeys { input, cached_input, output } = read_table(field)?;
    let (input, output) = (input?.0.as_micros(), output?.0.as_micros());
    let cached_input = cached_input.map_or(input, |price| price.0.as_micros());
    Some(TokenPrice { input, cached_input, output })
}

/// A person's budget of a day. `is_priced` says whether anything costs.
pub(super) fn budget(field: &Field<'_>, is_priced: bool) -> Option<SpendingLimit> {
    let table = field.table()?;
    let cost = table.peek("cost");
    if cost.is_none() && table.peek("tokens").is_none() {
        field.fault(
            "limits nothing",
            "write how many `tokens`, or what `cost`, a person may have in a day",
        );
    }
    if let Some(cost) = cost.filter(|_| !is_priced) {
        cost.key_fault("needs `price`", "write beside `budget` what a million tokens cost");
    }
    let BudgetKeys { tokens, cost } = read_table(field)?;
    Some(SpendingLimit { tokens: tokens.map(|count| count.0), cost: cost.map(|cost| cost.0) })
}

pub(super) fn agent_limits(field: &Field<'_>) -> Option<AgentLimits> {
    let keys: AgentLimitKeys = read_table(field)?;
    Some(AgentLimits {
        iterations: keys.iterations.map(|count| count.0),
        turn: keys.turn.map(|time| time.0),
        run: keys.run.map(|time| time.0),
        calls_at_once: keys.calls_at_once.map(|count| count.0),
        tokens: keys.tokens.map(|count| count.0),
        cost: keys.cost.map(|cost| cost.0),
    })
}

/// A table without further keys.
fn read_table<T: DeserializeOwned>(field: &Field<'_>) -> Option<T> {
    let mut table = field.table()?;
    let keys = table.read();
    table.finish();
    keys
}
