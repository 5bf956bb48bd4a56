claims! {
    "units";

    fn expressions_are_exact() {
        evaluate_expression {"expression": "0.1 + 0.2"} => {"exact": "3/10", "decimal": "0.3", "decimal_is_exact": true};
        evaluate_expression {"expression": "1/3 + 1/6"} => {"exact": "1/2", "decimal": "0.5"};
        evaluate_expression {"expression": "22/7", "decimal_places": 3} => {"exact": "22/7", "decimal": "3.143", "decimal_is_exact": false};
        evaluate_expression {"expression": "(19.99 * 3 + 4.5) * 1.25"} => {"decimal": "80.5875"};
        evaluate_expression {"expression": "-2^2"} => {"exact": "-4"};
        evaluate_expression {"expression": "2^3^2"} => {"exact": "512"};
        evaluate_expression {"expression": "2^-2"} => {"decimal": "0.25"};
        evaluate_expression {"expression": "10 - 4 - 3"} => {"exact": "3"};
        evaluate_expression {"expression": "-7 % 3"} => {"exact": "-1"};
        evaluate_expression {"expression": "2--3"} => {"exact": "5"};
        evaluate_expression {"expression": "1.5e3*2"} => {"exact": "3000"};
        evaluate_expression {"expression": "2^100"} => {"exact": "1267650600228229401496703205376"};
        evaluate_expression {"expression": "max(1, sqrt(2.25), abs(-1.2)) + min(3, floor(2.9)) * ceil(0.1) + round(2.5)"}
            => {"decimal": "5.5"};
    }

    fn a_wrong_expression_says_where() {
        evaluate_expression {"expression": "1 +"} => "expected a number, a function or `(` at character 4, found the end";
        evaluate_expression {"expression": "(1 + 2"} => "expected `)` at character 7, found the end";
        evaluate_expression {"expression": "1 2"} => "expected an operator or the end at character 3, found `2`";
        evaluate_expression {"expression": "5 / (3 - 3)"} => "division by zero";
        evaluate_expression {"expression": "1.2.3"} => "`1.2.3` is no number";
        evaluate_expression {"expression": "sin(1)"} => "there is no function `sin` of 1 arguments; the functions are abs(x)";
        evaluate_expression {"expression": "sqrt(2)"} => "the square root of 2 is not a fraction";
        evaluate_expression {"expression": "sqrt(-4)"} => "the square root of -4 is not a fraction";
        evaluate_expression {"expression": "2^0.5"} => "an exponent is no integer";
        evaluate_expression {"expression": "2^257"} => "an exponent is no integer from -256 to 256";
        evaluate_expression {"expression": "2^200"} => "does not fit 128-bit integers";
        evaluate_expression {"expression": "1e31"} => "beyond 30";
        evaluate_expression {"expression": "0^-1"} => "division by zero";
    }

    fn conversions_are_exact() {
        convert_unit {"value": 1, "from": "mi", "to": "km"} => {"exact": "25146/15625", "decimal": "1.609344", "decimal_is_exact": true};
        convert_unit {"value": 26.2, "from": "miles", "to": "Kilometres"} => {"decimal": "42.1648128", "from": "mi", "to": "km"};
        convert_unit {"value": -40, "from": "C", "to": "F"} => {"exact": "-40"};
        convert_unit {"value": "98.6", "from": "fahrenheit", "to": "celsius"} => {"exact": "37"};
        convert_unit {"value": 0, "from": "K", "to": "°C"} => {"decimal": "-273.15"};
        convert_unit {"value": 1, "from": "lb", "to": "kg"} => {"decimal": "0.45359237", "decimal_is_exact": true};
        convert_unit {"value": 1, "from": "GiB", "to": "GB"} => {"decimal": "1.073741824"};
        convert_unit {"value": 8, "from": "bit", "to": "B"} => {"exact": "1"};
        convert_unit {"value": 100, "from": "km/h", "to": "mph", "decimal_places": 4} => {"decimal": "62.1371", "decimal_is_exact": false};
        convert_unit {"value": 3, "from": "feet", "to": "inches"} => {"exact": "36"};
        convert_unit {"value": 1, "from": "gal", "to": "cup"} => {"exact": "16"};
        convert_unit {"value": 1, "from": "tbsp", "to": "tsp"} => {"exact": "3"};
        convert_unit {"value": 1, "from": "acre", "to": "ft2"} => {"exact": "43560"};
        convert_unit {"value": 1, "from": "atm", "to": "psi", "decimal_places": 3} => {"decimal": "14.696"};
        convert_unit {"value": 1, "from": "kWh", "to": "J"} => {"exact": "3600000"};
        convert_unit {"value": 1, "from": "hp", "to": "W", "decimal_places": 2} => {"decimal": "745.7"};
        convert_unit {"value": 1, "from": "turn", "to": "deg"} => {"exact": "360"};
        convert_unit {"value": 1, "from": "weeks", "to": "hours"} => {"exact": "168"};
    }

    fn a_wrong_unit_is_told_from_a_right_one() {
        convert_unit {"value": 1, "from": "kg", "to": "km"} => "`kg` measures mass, but `km` measures length";
        convert_unit {"value": 1, "from": "parsnip", "to": "km"} => "`parsnip` is no unit known here; list_units";
        convert_unit {"value": 1, "from": "KW", "to": "W"} => "upper and lower case differ: `kW`";
        convert_unit {"value": "much", "from": "m", "to": "km"} => "`value`: `much` is no number; write it as 12, -3.25, 6e23 or 22/7";
        convert_unit {"value": true, "from": "m", "to": "km"} => "must be a number, or a text";
    }

    fn units_are_listed_by_dimension() {
        list_units {"dimension": "temperature"} => {"units": [
            {"symbol": "K", "names": ["kelvin"], "dimension": "temperature"}, {"symbol": "C"}, {"symbol": "F"},
        ]};
        list_units {"dimension": "speed"} => {"units": [{"symbol": "m/s"}, {"symbol": "km/h"}, {"symbol": "mph"}, {"symbol": "kn"}]};
    }

    fn rounding_goes_the_way_it_is_told() {
        round_number {"value": 2.5} => {"exact": "2"};
        round_number {"value": 3.5} => {"exact": "4"};
        round_number {"value": -2.5, "rounding": "half_up"} => {"exact": "-3"};
        round_number {"value": 2.5, "rounding": "half_up"} => {"exact": "3"};
        round_number {"value": -2.5, "rounding": "floor"} => {"exact": "-3"};
        round_number {"value": -2.5, "rounding": "ceiling"} => {"exact": "-2"};
        round_number {"value": -2.1, "rounding": "towards_zero"} => {"exact": "-2"};
        round_number {"value": 2.1, "rounding": "away_from_zero"} => {"exact": "3"};
        round_number {"value": "22/7", "decimal_places": 2} => {"decimal": "3.14", "exact": "157/50"};
        round_number {"value": 123_456, "decimal_places": -2} => {"exact": "123500"};
        round_number {"value": 1.005, "decimal_places": 2, "rounding": "half_up"} => {"decimal": "1.01"};
    }

    fn percentages_are_exact() {
        calculate_percentage {"operation": "of", "a": 15, "b": 80} => {"exact": "12"};
        calculate_percentage {"operation": "share", "a": 1, "b": 3, "decimal_places": 2} => {"exact": "100/3", "decimal": "33.33"};
        calculate_percentage {"operation": "change", "a": 80, "b": 60} => {"exact": "-25"};
        calculate_percentage {"operation": "change", "a": -50, "b": -25} => {"exact": "50"};
        calculate_percentage {"operation": "change", "a": 0, "b": 5} => "division by zero";
    }

    fn numbers_are_summarised() {
        summarize_numbers {"numbers": [0.1, 0.2, "1/2", 4, 4.2, 3]} => {
            "count": 6, "sum": "12", "minimum": "1/10", "maximum": "21/5", "mean": "2", "median": "7/4", "mean_decimal": "2",
        };
        summarize_numbers {"numbers": [2, 4, 4, 4, 5, 5, 7, 9]} => {"standard_deviation": 2.0, "median": "9/2"};
        summarize_numbers {"numbers": []} => "`numbers`: must have 1 to 1000 items, has 0";
        summarize_numbers {"numbers": [1, "x"]} => "`numbers[1]`: `x` is no number";
    }

    fn fractions_come_in_lowest_terms() {
        simplify_fraction {"numerator": 84, "denominator": 36} => {"exact": "7/3", "mixed": "2 1/3", "decimal": "2.3333333333"};
        simplify_fraction {"numerator": -1.5, "denominator": 2} => {"exact": "-3/4", "mixed": "-3/4", "decimal": "-0.75"};
        simplify_fraction {"numerator": 10, "denominator": -5} => {"exact": "-2", "mixed": "-2"};
        simplify_fraction {"numerator": 1, "denominator": 0} => "division by zero";
    }

    fn common_divisors_and_multiples_are_found() {
        greatest_common_divisor {"integers": [12, 18, -30]} => {"greatest_common_divisor": "6", "least_common_multiple": "180"};
        greatest_common_divisor {"integers": [0, 5]} => {"greatest_common_divisor": "5", "least_common_multiple": "0"};
        greatest_common_divisor {"integers": ["170141183460469231731687303715884105727", 1]}
            => {"least_common_multiple": "170141183460469231731687303715884105727"};
        greatest_common_divisor {"integers": [1.5]} => "3/2 is not an integer";
        greatest_common_divisor {"integers": [0, 0]} => "every integer is zero";
        greatest_common_divisor {"integers": ["170141183460469231731687303715884105727", 2]} => "does not fit 128-bit integers";
    }

    fn integers_have_prime_factors() {
        factorize_integer {"value": 360} => {"is_prime": false, "factors": [
            {"prime": 2, "exponent": 3}, {"prime": 3, "exponent": 2}, {"prime": 5, "exponent": 1},
        ]};
        factorize_integer {"value": 999_999_999_989_i64} => {"is_prime": true, "factors": [{"prime": 999_999_999_989_i64}]};
        factorize_integer {"value": 49} => {"is_prime": false, "factors": [{"prime": 7, "exponent": 2}]};
        factorize_integer {"value": 1} => "must be from 2 to 1000000000000, is 1";
    }

    fn integers_change_base() {
        convert_number_base {"digits": "255", "to_base": 16} => {"digits": "ff", "base": 16};
        convert_number_base {"digits": "-FF", "from_base": 16, "to_base": 2} => {"digits": "-11111111"};
        convert_number_base {"digits": "0", "to_base": 36} => {"digits": "0"};
        convert_number_base {"digits": "0xff", "from_base": 16, "to_base": 10} => "`0xff` is no integer in base 16; leave out prefixes";
        convert_number_base {"digits": "12", "from_base": 2, "to_base": 10} => "is no integer in base 2";
    }
}

#[tokio::test]
async fn deep_nesting_is_refused_and_not_followed() {
    use serde_json::json;

    let (server, _scratch) = crate::claims::fresh(SERVER).await;
    let nested = |depth| format!("{}1{}", "(".repeat(depth), ")".repeat(depth));
    let cases = [
        (nested(63), json!({ "exact": "1" })),
        (nested(64), json!("nests more than 64 levels deep")),
        (format!("{}1", "-".repeat(499)), json!("nests more than 64 levels deep")),
        ("2^".repeat(100) + "2", json!("nests more than 64 levels deep")),
        ("1+".repeat(250), json!("expected a number")),
    ];
    for (expression, expected) in cases {
        let arguments = json!({ "expression": expression });
        let step = crate::claims::Step { tool: "evaluate_expression", arguments, expected };
        crate::claims::check_step(&server, &step).await;
    }
}
