//! `units`: arithmetic, and a table of units of measure in `{scratch}/units.sqlite`.

use std::path::Path;

use serde_json::json;

use crate::{
    DemoError,
    caller::Answer,
    database::Database,
    error::{ToolError, refuse},
    fields::{Arguments, Field, Kind, choice, flag, integer, list, number, text},
    tool::{Effect::Reads, Tool, tool},
};

const MEASURES: &[&str] = &[
    "length",
    "area",
    "volume",
    "mass",
    "time",
    "speed",
    "data",
    "energy",
    "pressure",
    "temperature",
];
const MAX_EXPRESSION_CHARS: usize = 200;
const MAX_NUMBERS: usize = 1_000;

pub(crate) async fn open(scratch: &Path) -> Result<Vec<Tool>, DemoError> {
    let units = Database::open(scratch, "unit", include_str!("units.sql")).await?;
    let mut tools = arithmetic(&units);
    tools.extend(measures(&units));
    tools.extend(lists(&units));
    Ok(tools)
}

fn arithmetic(units: &Database) -> Vec<Tool> {
    let calculator = units.clone();
    vec![
        tool("evaluate_expression", Reads, "Calculate an expression with + - * / and brackets.")
            .takes([text("expression", "Such as \"(19.99 * 3 + 4.5) * 1.25\".")
                .up_to(MAX_EXPRESSION_CHARS)])
            .gives([number("value", "What it comes to.")])
            .waits(move |arguments, _| evaluate(calculator.clone(), arguments)),
        tool(
            "calculate_percentage",
            Reads,
            "Calculate a percentage: \"of\" gives a percent of b, \"share\" gives a as a percentage \
             of b, \"change\" gives the change from a to b in percent of a.",
        )
        .takes([choice("operation", &["of", "share", "change"], "What to calculate.")])
        .takes([number("a", "First number."), number("b", "Second number.")])
        .gives([number("value", "What it comes to; absent when it would divide by zero.").optional()])
        .runs(
            units,
            "SELECT CASE ?1 ->> 'operation'
                 WHEN 'of' THEN a * b / 100
                 WHEN 'share' THEN a * 100 / b
                 ELSE (b - a) * 100 / abs(a) END AS value
             FROM (SELECT CAST(?1 ->> 'a' AS REAL) AS a, CAST(?1 ->> 'b' AS REAL) AS b)",
        ),
        tool("round_number", Reads, "Round a number to decimal places, halves away from zero.")
            .takes([number("value", "Number to round.")])
            .takes([integer("decimal_places", "Decimals to keep.").within(0..=12).or(0)])
            .gives([number("value", "The rounded number.")])
            .runs(units, "SELECT round(?1 ->> 'value', ?1 ->> 'decimal_places') AS value"),
        tool(
            "summarize_numbers",
            Reads,
            "Summarise up to 1,000 numbers: count, sum, least, greatest and mean.",
        )
        .takes([list("numbers", Kind::Number, "Numbers to summarise.").up_to(MAX_NUMBERS)])
        .gives([
            integer("count", "How many there are."),
            number("sum", "All of them together."),
            number("minimum", "The least."),
            number("maximum", "The greatest."),
            number("mean", "The sum by the count."),
        ])
        .runs(
            units,
            "SELECT count(*) AS count, total(value) AS sum, min(value) AS minimum,
                    max(value) AS maximum, avg(value) AS mean FROM json_each(?1, '$.numbers')",
        ),
        tool(
            "calculate_proportion",
            Reads,
            "Calculate what belongs to c when b belongs to a: 3 kg cost 12, what do 5 kg cost?",
        )
        .takes([number("a", "A quantity, not zero."), number("b", "What belongs to it.")])
        .takes([number("c", "Another quantity.")])
        .gives([number("value", "What belongs to it; absent when a is zero.").optional()])
        .runs(units, "SELECT (?1 ->> 'c') * 1.0 * (?1 ->> 'b') / (?1 ->> 'a') AS value"),
    ]
}

fn measures(units: &Database) -> Vec<Tool> {
    let value = number("value", "How many of the unit.");
    let unit = || {
        text("unit", "Symbol of a unit, in which upper and lower case differ, or its name.")
            .up_to(40)
    };
    let conversion = vec![number("value", "The result."), text("unit", "Symbol of its unit.")];
    vec![
        tool(
            "convert_unit",
            Reads,
            "Convert a value from one unit of measure to another, such as miles to kilometres.",
        )
        .takes([value.clone(), text("from", "Unit of the value: a symbol such as \"km/h\" or a name such as \"mile\".").up_to(40)])
        .takes([text("to", "Unit to convert to, which measures the same.").up_to(40)])
        .gives_all("conversions", conversion.clone())
        .runs(
            units,
            "SELECT ((?1 ->> 'value') + one.offset) * one.factor / two.factor - two.offset AS value,
                    two.symbol AS unit
             FROM units AS one JOIN units AS two USING (measures)
             WHERE ?1 ->> 'from' IN (one.symbol, one.name) AND ?1 ->> 'to' IN (two.symbol, two.name)",
        ),
        tool(
            "convert_to_all",
            Reads,
            "Convert a value to every other unit that measures the same.",
        )
        .takes([value, unit()])
        .gives_all("conversions", conversion)
        .runs(
            units,
            "SELECT ((?1 ->> 'value') + one.offset) * one.factor / two.factor - two.offset AS value,
                    two.symbol AS unit
             FROM units AS one JOIN units AS two USING (measures)
             WHERE ?1 ->> 'unit' IN (one.symbol, one.name) AND one.symbol <> two.symbol
             ORDER BY two.factor",
        ),
        tool("compare_quantities", Reads, "Tell which of two quantities is larger.")
            .takes([number("a", "First value."), text("a_unit", "Symbol or name of its unit.").up_to(40)])
            .takes([number("b", "Second value."), text("b_unit", "Symbol or name of its unit.").up_to(40)])
            .gives_all(
                "comparison",
                vec![
                    flag("a_is_larger", "Whether the first is the larger one."),
                    number("difference", "The first less the second, in the first one's unit."),
                ],
            )
            .runs(
                units,
                "SELECT difference > 0 AS a_is_larger, difference FROM (
                   SELECT (?1 ->> 'a') - (((?1 ->> 'b') + two.offset) * two.factor / one.factor - one.offset)
                     AS difference
                   FROM units AS one JOIN units AS two USING (measures)
                   WHERE ?1 ->> 'a_unit' IN (one.symbol, one.name)
                     AND ?1 ->> 'b_unit' IN (two.symbol, two.name))",
            ),
    ]
}

fn lists(units: &Database) -> Vec<Tool> {
    vec![
        tool("list_units", Reads, "List the units of measure that can be converted.")
            .takes([choice("measures", MEASURES, "Only units that measure this. Default: all.")
                .optional()])
            .gives_page("units", unit_entry())
            .runs(
                units,
                "SELECT * FROM units WHERE measures = coalesce(?1 ->> 'measures', measures)
                 ORDER BY measures, factor LIMIT (?1 ->> 'limit') + 1 OFFSET ?1 ->> 'offset'",
            ),
        tool("search_units", Reads, "Find units of measure by a part of their name.")
            .takes([text("query", "Words to look for, such as \"metre\".").up_to(40)])
            .gives_page("units", unit_entry())
            .runs(
                units,
                "SELECT * FROM units
                 WHERE NOT EXISTS (SELECT 1 FROM json_each(?2) AS word
                                   WHERE instr(lower(symbol || ' ' || name), word.value) = 0)
                 ORDER BY measures, factor LIMIT (?1 ->> 'limit') + 1 OFFSET ?1 ->> 'offset'",
            ),
    ]
}

/// Uses SQLite as a calculator. It gets nothing but numbers, brackets and the four operators.
async fn evaluate(units: Database, arguments: Arguments) -> Result<Answer, ToolError> {
    let expression = arguments.text("expression");
    let statement = statement(expression).map_err(|odd| {
        refuse(format!("`expression` holds {odd:?}"), "write numbers, brackets and + - * / alone")
    })?;
    match units.calculate(statement).await {
        Ok(Some(value)) if value.is_finite() => Ok(json!({ "value": value }).into()),
        Ok(Some(_)) => Err(refuse("the result is too large", "use smaller numbers")),
        Ok(None) => Err(refuse("the expression divides by zero", "change the divisor")),
        Err(error) => Err(refuse(
            format!("`{expression}` is no expression: {error}"),
            "write it like `(19.99 * 3 + 4.5) * 1.25`",
        )),
    }
}

/// Writes each number with a decimal point, because SQLite divides integers without a remainder,
/// and spaces around each operator, because `--` and `/*` begin comments.
fn statement(expression: &str) -> Result<String, char> {
    let mut statement = "SELECT ".to_owned();
    let mut number = String::new();
    for character in expression.chars().chain([' ']) {
        if character.is_ascii_digit() || character == '.' {
            number.push(character);
            continue;
        }
        let point = if number.is_empty() || number.contains('.') { "" } else { ".0" };
        statement.extend([number.as_str(), point, " "]);
        number.clear();
        match character {
            '+' | '-' | '*' | '/' | '(' | ')' | ' ' => statement.extend([character, ' ']),
            odd => return Err(odd),
        }
    }
    Ok(statement)
}

fn unit_entry() -> Vec<Field> {
    vec![
        text("symbol", "The unit's symbol."),
        text("name", "Its name in the singular."),
        text("measures", "What it measures."),
    ]
}
