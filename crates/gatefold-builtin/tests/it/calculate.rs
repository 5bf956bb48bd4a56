use std::time::{Duration, Instant};

use serde_json::json;

use crate::fixture::{answer, said, toolbox};

async fn check(expression: &str, result: &str) {
    let text = said(&toolbox(), "calculate", &json!({ "expression": expression })).await;
    assert_eq!(text, result, "{expression}");
}

#[tokio::test]
async fn arithmetic_is_exact() {
    check("0.1 + 0.2", "0.3").await;
    check("1/3 + 1/6", "0.5").await;
    check("1/3 to fraction", "1/3").await;
    check("2^200", "1606938044258990275541962092341162602522202993782792835301376").await;
    check("(3 + 4i) * (3 - 4i)", "25").await;
    check("20% of 250", "50").await;
    check("sqrt 2 to 5 dp", "approx. 1.41421").await;
    check("0xff to binary", "11111111").await;
    check("25!", "15511210043330985984000000").await;
    check("10 choose 3", "120").await;
}

#[tokio::test]
async fn units_are_converted() {
    check("3 feet 4 inches to cm", "101.6 cm").await;
    check("1 GiB to MB", "1073.741824 MB").await;
    check("60 mph to km/h", "96.56064 km / h").await;
    check("100 °C to °F", "212 °F").await;
    check(
        "5 kg to m",
        "error: it cannot be calculated: cannot convert from kg to m: units 'kilogram' and \
                        'meter' are incompatible",
    )
    .await;
}

#[tokio::test]
async fn an_answer_says_whether_it_is_exact() {
    let exact = |expression: &'static str| async move {
        let answer = answer(&toolbox(), "calculate", &json!({ "expression": expression })).await;
        answer.unwrap().structured
    };
    assert_eq!(exact("1/4").await, json!({ "result": "0.25", "exact": true }));
    assert_eq!(exact("1/7 to 3 dp").await, json!({ "result": "approx. 0.143", "exact": false }));
}

#[tokio::test]
async fn what_reaches_out_or_differs_each_time_is_refused() {
    check("100 USD to EUR", "error: it cannot be calculated: exchange rates are not available")
        .await;
    check("roll d6", "error: it cannot be calculated: random numbers are not available").await;
}

/// Each of these would take for ever, all memory or the whole stack.
#[tokio::test]
async fn hostile_expressions_end_soon() {
    let nested = |count: usize| format!("{}1{}", "(".repeat(count), ")".repeat(count));
    let many = "-".repeat(499) + "1";
    let tower = "9^".repeat(240) + "9";
    for expression in [
        "10^10^10",
        "2^(2^40)",
        "1000000!",
        "1 << 100000000",
        "1000d1000",
        "10d1000000",
        "1/3 to 1000000000 dp",
        "9^9^9 to words",
        "1e1000000000",
        "1/(10^100000)",
        &nested(249),
        &many,
        &tower,
        "w = \\x. x x; w w",
        "(x: x x) (x: x x)",
        "(x => x x) (x => x x)",
        "(\u{3bb}x. x x) (\u{3bb}x. x x)",
        &nested(400),
        "",
        "   ",
        "\u{0}",
        "\u{202e}1+1",
        "((((((",
        "1 +",
        "'",
        "\"\\u{110000}\"",
        "@debug 1",
    ] {
        let start = Instant::now();
        let text = said(&toolbox(), "calculate", &json!({ "expression": expression })).await;
        assert!(start.elapsed() < Duration::from_secs(4), "{expression}: {:?}", start.elapsed());
        assert!(text.len() < 21_000, "{expression}");
    }
    check("9^9^9", "error: it takes longer than 2 s; ask for less").await;
    check("x: x", "error: functions cannot be defined here, so `:` has no meaning").await;
}

#[tokio::test]
async fn wrong_arguments_are_named() {
    let tools = toolbox();
    let said = |arguments| {
        let tools = &tools;
        async move { said(tools, "calculate", &arguments).await }
    };
    assert_eq!(said(json!({})).await, "error: missing field `expression`");
    assert_eq!(
        said(json!({ "expression": "1", "digits": 3 })).await,
        "error: unknown field `digits`, expected `expression`"
    );
    assert_eq!(
        said(json!({ "expression": "1".repeat(501) })).await,
        "error: `expression` has 501 bytes, more than the limit: 500"
    );
    assert_eq!(
        said(json!({ "expression": 5 })).await,
        "error: invalid type: integer `5`, expected a string"
    );
}
