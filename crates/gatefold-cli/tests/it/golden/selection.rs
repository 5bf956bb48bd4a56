//! The tools that a request needs, and the names of the others.

use insta::assert_snapshot;

use super::Shown;

const QUERY: &str = "disclosure=flat&for=how+many+kilometres+is+a+mile";

#[tokio::test]
async fn what_a_selection_shows() {
    let shown =
        Shown::through(QUERY, "[disclosure]\nselection_threshold = 4\nselection_max = 2\n").await;
    assert_snapshot!(shown.surface().await, @r#"
    Tools of these sources: builtin, results, shop, skills, staff, units

    # builtin__calculate
    Calculate an expression exactly: arbitrary decimals and fractions, powers, roots, logarithms, trigonometry, percentages, number bases, and units with conversion. Examples: `0.1 + 0.2`, `20% of 250`, `2^0.5`, `60 mph to km/h`, `1/3 to 5 dp`, `0xff to binary`. For dates use `datetime`.
    _meta: {"gatefold/category":"computation"}
    annotations: {"readOnlyHint":true,"destructiveHint":false,"idempotentHint":true,"openWorldHint":false}
    inputSchema: {"type":"object","properties":{"expression":{"type":"string","description":"What to calculate. `to` converts: units, `fraction`, `hex`, `5 dp`, `3 sf`.","maxLength":500}},"additionalProperties":false,"required":["expression"]}
    title: "Calculator"

    # units__convert_unit
    Convert a value from one unit of measure to another, such as miles to kilometres.
    inputSchema: {"type":"object","properties":{"value":{"type":"number","description":"How many of the unit."},"from":{"type":"string","minLength":1,"maxLength":40,"description":"Unit of the value: a symbol such as \"km/h\" or a name such as \"mile\"."},"to":{"type":"string","minLength":1,"maxLength":40,"description":"Unit to convert to, which measures the same."}},"required":["value","from","to"],"additionalProperties":false}
    annotations: {"readOnlyHint":true,"destructiveHint":false,"idempotentHint":true,"openWorldHint":false}

    # request_tools
    Load additional tools into the current session.
    Available tools not yet loaded:
    - results__read_result: Read on in a result that was too large to be shown whole. Give its handle and...
    - shop__list_products: Find products of the shop, with price and stock.
    - shop__place_order: Order products of the shop for a customer.
    - skills__read_skill: Read a skill: a procedure to follow, with its files and the tools that it nam...
    - staff__describe_table: Describe a table: its columns with types, keys, comments and indexes. Without...
    - staff__explain: Show how SQLite would run a SELECT, without running it.
    - staff__list_tables: List the tables of this database with their descriptions, column counts and r...
    - staff__query: Run one SQLite SELECT and return its columns and rows, at most 1000. Nothing ...
    - units__search_units: Find units of measure by a part of their name.
    inputSchema: {"type":"object","properties":{"tool_names":{"type":"array","items":{"type":"string","enum":["results__read_result","shop__list_products","shop__place_order","skills__read_skill","staff__describe_table","staff__explain","staff__list_tables","staff__query","units__search_units"]},"minItems":1,"maxItems":20}},"required":["tool_names"]}
    annotations: {"readOnlyHint":true,"idempotentHint":true,"openWorldHint":false}

    # execute_tool
    Run a tool that request_tools has loaded.
    inputSchema: {"type":"object","properties":{"tool_name":{"type":"string"},"arguments":{"type":"object","description":"Matching the tool's schema."}},"required":["tool_name"]}
    annotations: {"readOnlyHint":false,"idempotentHint":false,"openWorldHint":true}
    "#);
}

#[tokio::test]
async fn what_a_selection_answers() {
    let shown =
        Shown::through(QUERY, "[disclosure]\nselection_threshold = 4\nselection_max = 2\n").await;
    let answers = shown.answers(&[
        ("request_tools", r#"{"tool_names":["shop__list_products"]}"#),
        ("units__convert_unit", r#"{"value":1,"from":"mile","to":"km"}"#),
        ("shop__list_products", r#"{"query":"descaler"}"#),
        ("execute_tool", r#"{"tool_name":"shop__list_products","arguments":{"query":"descaler"}}"#),
    ]);
    assert_snapshot!(answers.await, @r#"
    > request_tools {"tool_names":["shop__list_products"]}
    {"tools":[{"_meta":{"gatefold/http":{"method":"GET","base":"http://127.0.0.1:PORT","path":"/products","parameters":[{"name":"query","in":"query"},{"name":"category","in":"query"},{"name":"max_price","in":"query"},{"name":"in_stock","in":"query"},{"name":"limit","in":"query"},{"name":"offset","in":"query"}],"accept":["application/json","application/problem+json"],"failures":{"404":"Not Found","409":"Conflict","422":"Unprocessable Entity"}}},"annotations":{"readOnlyHint":true,"openWorldHint":true},"description":"Find products of the shop, with price and stock.","inputSchema":{"type":"object","properties":{"query":{"type":"string","minLength":1,"maxLength":200,"description":"Words that all occur in the product's name or text."},"category":{"type":"string","enum":["seeds","tools","pots","kitchen"],"description":"Only products of this kind."},"max_price":{"type":"integer","minimum":1,"maximum":10000,"description":"Only products up to this price, in euros."},"in_stock":{"type":"boolean","description":"Only what can be had at once."},"limit":{"type":"integer","minimum":1,"maximum":100,"default":20,"description":"Most entries to return."},"offset":{"type":"integer","minimum":0,"maximum":1000000,"default":0,"description":"Entries to skip, from next_offset of the page before."}},"additionalProperties":false},"name":"shop__list_products","title":"Find products of the shop, with price and stock."}],"note":"Call them by their names, or with execute_tool(tool_name, arguments)."}

    > units__convert_unit {"value":1,"from":"mile","to":"km"}
    {"conversions":[{"value":1.609344,"unit":"km"}]}
    structured: {"conversions":[{"value":1.609344,"unit":"km"}]}

    > shop__list_products {"query":"descaler"}
    {"products":[{"sku":"descaler","name":"Descaler for coffee machines","category":"kitchen","about":"Five doses. Takes away the taste of tea, too.","price":6.9,"stock":18}]}
    structured: {"products":[{"sku":"descaler","name":"Descaler for coffee machines","category":"kitchen","about":"Five doses. Takes away the taste of tea, too.","price":6.9,"stock":18}]}

    > execute_tool {"tool_name":"shop__list_products","arguments":{"query":"descaler"}}
    {"products":[{"sku":"descaler","name":"Descaler for coffee machines","category":"kitchen","about":"Five doses. Takes away the taste of tea, too.","price":6.9,"stock":18}]}
    structured: {"products":[{"sku":"descaler","name":"Descaler for coffee machines","category":"kitchen","about":"Five doses. Takes away the taste of tea, too.","price":6.9,"stock":18}]}
    "#);
}

#[tokio::test]
async fn what_a_selection_says_of_wrong_calls() {
    let shown =
        Shown::through(QUERY, "[disclosure]\nselection_threshold = 4\nselection_max = 2\n").await;
    let answers = shown.answers(&[
        ("request_tools", "{}"),
        ("request_tools", r#"{"tool_names":"shop__list_products"}"#),
        ("request_tools", r#"{"tool_names":["shop__list_product"]}"#),
        ("request_tools", r#"{"names":["shop__list_products"]}"#),
        ("execute_tool", "{}"),
        ("execute_tool", r#"{"tool_name":"shop__list_product"}"#),
        ("launch", "{}"),
    ]);
    assert_snapshot!(answers.await, @r#"
    > request_tools {}
    error: {"error":"Missing parameter 'tool_names' of request_tools. Name tools that it lists."}

    > request_tools {"tool_names":"shop__list_products"}
    {"tools":[{"_meta":{"gatefold/http":{"method":"GET","base":"http://127.0.0.1:PORT","path":"/products","parameters":[{"name":"query","in":"query"},{"name":"category","in":"query"},{"name":"max_price","in":"query"},{"name":"in_stock","in":"query"},{"name":"limit","in":"query"},{"name":"offset","in":"query"}],"accept":["application/json","application/problem+json"],"failures":{"404":"Not Found","409":"Conflict","422":"Unprocessable Entity"}}},"annotations":{"readOnlyHint":true,"openWorldHint":true},"description":"Find products of the shop, with price and stock.","inputSchema":{"type":"object","properties":{"query":{"type":"string","minLength":1,"maxLength":200,"description":"Words that all occur in the product's name or text."},"category":{"type":"string","enum":["seeds","tools","pots","kitchen"],"description":"Only products of this kind."},"max_price":{"type":"integer","minimum":1,"maximum":10000,"description":"Only products up to this price, in euros."},"in_stock":{"type":"boolean","description":"Only what can be had at once."},"limit":{"type":"integer","minimum":1,"maximum":100,"default":20,"description":"Most entries to return."},"offset":{"type":"integer","minimum":0,"maximum":1000000,"default":0,"description":"Entries to skip, from next_offset of the page before."}},"additionalProperties":false},"name":"shop__list_products","title":"Find products of the shop, with price and stock."}],"note":"Call them by their names, or with execute_tool(tool_name, arguments)."}

    > request_tools {"tool_names":["shop__list_product"]}
    error: {"error":"Unknown tool 'shop__list_product'. Did you mean 'shop__list_products'? request_tools lists what it can load."}

    > request_tools {"names":["shop__list_products"]}
    error: {"error":"Unknown parameter 'names' of request_tools. Parameters: tool_names"}

    > execute_tool {}
    error: {"error":"Missing parameter 'tool_name' of execute_tool."}

    > execute_tool {"tool_name":"shop__list_product"}
    protocol error -32602: unknown tool `shop__list_product`: did you mean `shop__list_products`?

    > launch {}
    protocol error -32602: unknown tool `launch`
    "#);
}
