claims! {
    "units";

    fn expressions_are_calculated() {
        evaluate_expression {"expression": "6*7"} => {"value": 42.0};
        evaluate_expression {"expression": "(19.99 * 3 + 4.5) * 2 - -1"} => {"value": 129.94};
        evaluate_expression {"expression": "7/2"} => {"value": 3.5};
        evaluate_expression {"expression": "1/0"} => "the expression divides by zero";
        evaluate_expression {"expression": "2 + x"} => "`expression` holds 'x'; write numbers, brackets and + - * / alone";
        evaluate_expression {"expression": "(1"} => "`(1` is no expression";
        evaluate_expression {"expression": "1--1"} => {"value": 2.0};
        evaluate_expression {"expression": "2 /* 3"} => "is no expression";
        evaluate_expression {"expression": "1; 2"} => "holds ';'";
        evaluate_expression {} => "missing field `expression`; arguments: expression: string";
    }

    fn everyday_arithmetic_is_done() {
        calculate_percentage {"operation": "of", "a": 15, "b": 80} => {"value": 12.0};
        calculate_percentage {"operation": "change", "a": -50, "b": -25} => {"value": 50.0};
        calculate_percentage {"operation": "share", "a": 1, "b": 0} => {"value": null};
        calculate_proportion {"a": 3, "b": 12, "c": 5} => {"value": 20.0};
        round_number {"value": 2.345, "decimal_places": 1} => {"value": 2.3};
        summarize_numbers {"numbers": [2, 4, 4.5, 5.5]}
            => {"count": 4, "sum": 16.0, "minimum": 2.0, "maximum": 5.5, "mean": 4.0};
        summarize_numbers {"numbers": [1, "x"]} => "`numbers`: expected number, found \"x\"";
    }

    fn units_of_one_measure_convert() {
        convert_unit {"value": 5, "from": "km", "to": "m"} => {"conversions": [{"value": 5000.0, "unit": "m"}]};
        convert_unit {"value": 26.2, "from": "mile", "to": "foot"} => {"conversions": [{"unit": "ft"}]};
        convert_unit {"value": -40, "from": "F", "to": "C"} => {"conversions": [{"unit": "C"}]};
        convert_unit {"value": 1, "from": "km", "to": "kg"} => {"conversions": []};
        convert_to_all {"value": 1, "unit": "km/h"} => {"conversions": [{}, {}, {}]};
        compare_quantities {"a": 1, "a_unit": "mi", "b": 1.5, "b_unit": "km"} => {"comparison": [{"a_is_larger": true}]};
    }

    fn units_are_listed_and_found() {
        list_units {"measures": "speed", "limit": 1} => {"units": [{"symbol": "km/h", "measures": "speed"}], "next_offset": 1};
        search_units {"query": "Square metre"} => {"units": [{"symbol": "m2"}]};
    }
}
