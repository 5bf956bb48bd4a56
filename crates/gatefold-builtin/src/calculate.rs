//! `calculate`: exact arithmetic with units.

use futures::FutureExt as _;
use futures::future::BoxFuture;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::face::{self, ToolCategory, ToolFace};
use crate::tool::BuiltinTool;
use crate::workers::{CallerWork, WorkKind, Workers};
use crate::{BuiltinAnswer, BuiltinCall, BuiltinError, arguments};

/// The longest expression, in bytes. It bounds how deep it can be nested.
const MAX_EXPRESSION: usize = 500;

/// The longest result, in bytes.
const MAX_RESULT: usize = 20_000;

/// The longest fault of the library that is passed on, in characters.
const MAX_FAULT: usize = 200;

/// What begins a function of one's own. One that applies itself would have no end.
const FUNCTION_SIGNS: [&str; 4] = ["\\", "\u{3bb}", ":", "=>"];

/// What the library marks results with that it rounded.
const ROUNDED: &str = "approx. ";

pub(crate) struct Calculate {
    workers: Workers,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CalculateArguments {
    expression: String,
}

#[derive(Serialize)]
struct CalculateAnswer {
    result: String,
    exact: bool,
}

impl Calculate {
    pub(crate) fn new(workers: Workers) -> Self {
        Self { workers }
    }

    async fn answer(&self, call: &BuiltinCall) -> Result<BuiltinAnswer, BuiltinError> {
        let asked: CalculateArguments = arguments::read(&call.arguments)?;
        let expression = arguments::bounded("expression", &asked.expression, MAX_EXPRESSION)?;
        if expression.trim().is_empty() {
            return Err(BuiltinError::arguments("`expression` is empty"));
        }
        if let Some(sign) = FUNCTION_SIGNS.iter().find(|sign| expression.contains(**sign)) {
            let message = format!("functions cannot be defined here, so `{sign}` has no meaning");
            return Err(BuiltinError::arguments(message));
        }
        let work = CallerWork::new(WorkKind::Calculate, &expression)?;
        self.workers.run(&call.principal, &work, &[]).await
    }
}

/// What a worker does.
pub(crate) fn calculate(expression: &str) -> Result<BuiltinAnswer, BuiltinError> {
    // It has neither exchange rates nor random numbers unless they are set.
    let mut context = fend_core::Context::new();
    let result = fend_core::evaluate(expression, &mut context).map_err(|fault| {
        let fault: String = fault.chars().take(MAX_FAULT).collect();
        BuiltinError::arguments(format!("it cannot be calculated: {fault}"))
    })?;
    let result = result.get_main_result().trim_end();
    if result.len() > MAX_RESULT {
        let message = format!(
            "the result has {} characters, more than the limit: {MAX_RESULT}; round it, with `to 10 sf`",
            result.len()
        );
        return Err(BuiltinError::Arguments(message));
    }
    if result.is_empty() {
        return Err(BuiltinError::arguments("the expression has no value"));
    }
    let (result, exact) = (result.to_owned(), !result.contains(ROUNDED));
    Ok(BuiltinAnswer::new(result.clone(), &CalculateAnswer { result, exact }))
}

impl BuiltinTool for Calculate {
    fn face(&self) -> ToolFace {
        ToolFace {
            name: "calculate",
            title: "Calculator",
            description: "Calculate an expression exactly: arbitrary decimals and fractions, powers, \
                          roots, logarithms, trigonometry, percentages, number bases, and units with \
                          conversion. Examples: `0.1 + 0.2`, `20% of 250`, `2^0.5`, `60 mph to \
                          km/h`, `1/3 to 5 dp`, `0xff to binary`. For dates use `datetime`."
                .to_owned(),
            category: ToolCategory::Computation,
            hints: face::reading(),
            input: face::object(
                &json!({
                    "expression": face::bounded_text(
                        "What to calculate. `to` converts: units, `fraction`, `hex`, `5 dp`, `3 sf`.",
                        MAX_EXPRESSION,
                    ),
                }),
                &["expression"],
            ),
            output: face::object(
                &json!({
                    "result": face::text("The value, with its unit."),
                    "exact": face::flag("Whether nothing was rounded."),
                }),
                &["result", "exact"],
            ),
        }
    }

    fn call<'a>(
        &'a self,
        call: &'a BuiltinCall,
    ) -> BoxFuture<'a, Result<BuiltinAnswer, BuiltinError>> {
        self.answer(call).boxed()
    }
}
