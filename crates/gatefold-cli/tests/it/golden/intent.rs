//! Two tools: say what you want, and call what was found.

use insta::assert_snapshot;

use super::Shown;

const QUERY: &str = "disclosure=intent";

#[tokio::test]
async fn what_intents_shows() {
    let shown = Shown::through(QUERY, "").await;
    assert_snapshot!(shown.surface().await, @r#"
    You have a catalogue of tools that are not shown here. Say what you want to do:

    1. discover_tools - Say your intent. It answers with the schemas of the likeliest tools, ready to call.
    2. execute_tool - Run one of them.

    Skip discovery for tools you've already used in this conversation.

    # discover_tools
    Search the catalogue of tools by intent. Returns the schemas of the likeliest tools, ready to call. Use it for whatever your other tools cannot do.

    Domains: builtin, results, shop, skills, staff, units
    inputSchema: {"type":"object","properties":{"intent":{"type":"string","description":"What you want to do, in which service."},"top_k":{"type":"integer","minimum":1,"maximum":5,"default":3}},"required":["intent"]}
    annotations: {"readOnlyHint":true,"idempotentHint":true,"openWorldHint":false}

    # execute_tool
    Run a tool that discover_tools found.
    inputSchema: {"type":"object","properties":{"tool_name":{"type":"string"},"arguments":{"type":"object","description":"Matching the tool's schema."}},"required":["tool_name"]}
    annotations: {"readOnlyHint":false,"idempotentHint":false,"openWorldHint":true}
    "#);
}

#[tokio::test]
async fn what_intents_answers() {
    let shown = Shown::through(QUERY, "").await;
    let answers = shown.answers(&[
        ("discover_tools", r#"{"intent":"convert miles to kilometres"}"#),
        ("discover_tools", r#"{"intent":"order a descaler","top_k":1}"#),
        ("discover_tools", r#"{"intent":"who reports to whom"}"#),
        ("discover_tools", r#"{"intent":"launch a rocket into orbit","top_k":2}"#),
        ("execute_tool", r#"{"tool_name":"units__convert_unit","arguments":{"value":1,"from":"mile","to":"km"}}"#),
        ("execute_tool", r#"{"tool_name":"builtin__calculate","arguments":{"expression":"12 kg / (15 g)"}}"#),
    ]);
    assert_snapshot!(answers.await, @r#"
    > discover_tools {"intent":"convert miles to kilometres"}
    {"intent":"convert miles to kilometres","fit":"exact","tools":[{"name":"units__convert_unit","domain":"units","group":"general","description":"Convert a value from one unit of measure to another, such as miles to kilometres.","parameters":{"type":"object","properties":{"value":{"type":"number","description":"How many of the unit."},"from":{"type":"string","minLength":1,"maxLength":40,"description":"Unit of the value: a symbol such as \"km/h\" or a name such as \"mile\"."},"to":{"type":"string","minLength":1,"maxLength":40,"description":"Unit to convert to, which measures the same."}},"required":["value","from","to"],"additionalProperties":false},"output_schema":{"type":"object","properties":{"conversions":{"type":"array","items":{"type":"object","properties":{"value":{"type":"number","description":"The result."},"unit":{"type":"string","description":"Symbol of its unit."}},"required":["value","unit"],"additionalProperties":false},"description":"What was found."}},"required":["conversions"],"additionalProperties":false}}]}

    > discover_tools {"intent":"order a descaler","top_k":1}
    {"intent":"order a descaler","fit":"likely","tools":[{"name":"shop__place_order","domain":"shop","group":"orders","description":"Order products of the shop for a customer.","parameters":{"type":"object","properties":{"customer":{"type":"string","minLength":1,"maxLength":120,"description":"Who buys it."},"address":{"type":"string","minLength":1,"maxLength":300,"description":"Where the parcel goes."},"items":{"type":"array","items":{"type":"object","properties":{"sku":{"type":"string","pattern":"^[a-z0-9-]+$","maxLength":40,"description":"The product's short name, such as \"tomato-cherry\"."},"quantity":{"type":"integer","minimum":1,"maximum":1000,"description":"How many of it."}},"additionalProperties":false,"required":["sku","quantity"]},"minItems":1,"maxItems":20,"description":"What is bought."},"delivery":{"type":"string","enum":["standard","express"],"description":"How it is sent: for 3.90 or 8.90 euros.","default":"standard"},"note":{"type":"string","maxLength":500,"description":"For those who pack or bring it.","default":""}},"required":["customer","address","items"],"additionalProperties":false},"output_schema":{"type":"object","properties":{"id":{"type":"integer","description":"The order's number."},"customer":{"type":"string","description":"Who bought it."},"address":{"type":"string","description":"Where the parcel goes."},"delivery":{"type":"string","description":"\"standard\" or \"express\"."},"note":{"type":"string","description":"For those who pack or bring it."},"status":{"type":"string","description":"\"placed\", \"sent\", \"delivered\" or \"cancelled\"."},"reason":{"type":"string","description":"Why it was cancelled; absent otherwise."},"items":{"type":"array","items":{"type":"object","properties":{"sku":{"type":"string","description":"The product's short name."},"name":{"type":"string","description":"What it is called."},"quantity":{"type":"integer","description":"How many of it."},"price":{"type":"number","description":"In euros, of one."}},"additionalProperties":false,"required":["sku","name","quantity","price"]},"description":"What was bought."},"total":{"type":"number","description":"In euros, with delivery."},"placed_at":{"type":"string","description":"When it was ordered, RFC 3339 in UTC."}},"additionalProperties":false,"required":["id","customer","address","delivery","note","status","items","total","placed_at"]}}]}

    > discover_tools {"intent":"who reports to whom"}
    {"intent":"who reports to whom","fit":"likely","tools":[{"name":"staff__describe_table","domain":"staff","group":"tables","description":"Describe a table: its columns with types, keys, comments and indexes. Without `table`, all tables in pages.","parameters":{"type":"object","properties":{"table":{"type":"string","description":"`table` or `schema.table`."},"samples":{"type":"boolean","description":"Show a few values of each column."},"cursor":{"type":"string","description":"`next_cursor` of the page before."}},"additionalProperties":false}},{"name":"staff__list_tables","domain":"staff","group":"tables","description":"List the tables of this database with their descriptions, column counts and row estimates. It has 4 tables: bank_accounts, departments, employees, leave_requests.","parameters":{"type":"object","properties":{"schema":{"type":"string","description":"Only the tables of this schema."},"contains":{"type":"string","description":"Only tables whose names contain this."},"cursor":{"type":"string","description":"`next_cursor` of the page before."},"refresh":{"type":"boolean","description":"Read the tables again, after a change."}},"additionalProperties":false}},{"name":"staff__query","domain":"staff","group":"general","description":"Run one SQLite SELECT and return its columns and rows, at most 1000. Nothing can be written. Look tables and columns up first, with describe_table.","parameters":{"type":"object","properties":{"sql":{"type":"string","description":"One SELECT in the SQL of SQLite, without placeholders."},"max_rows":{"type":"integer","minimum":1,"maximum":1000}},"additionalProperties":false,"required":["sql"]}}]}

    > discover_tools {"intent":"launch a rocket into orbit","top_k":2}
    {"intent":"launch a rocket into orbit","fit":"none","note":"No tool matches the query. The results are merely the nearest tools.","tools":[{"name":"staff__explain","domain":"staff","group":"general","description":"Show how SQLite would run a SELECT, without running it.","parameters":{"type":"object","properties":{"sql":{"type":"string","description":"One SELECT."}},"additionalProperties":false,"required":["sql"]}},{"name":"units__convert_unit","domain":"units","group":"general","description":"Convert a value from one unit of measure to another, such as miles to kilometres.","parameters":{"type":"object","properties":{"value":{"type":"number","description":"How many of the unit."},"from":{"type":"string","minLength":1,"maxLength":40,"description":"Unit of the value: a symbol such as \"km/h\" or a name such as \"mile\"."},"to":{"type":"string","minLength":1,"maxLength":40,"description":"Unit to convert to, which measures the same."}},"required":["value","from","to"],"additionalProperties":false},"output_schema":{"type":"object","properties":{"conversions":{"type":"array","items":{"type":"object","properties":{"value":{"type":"number","description":"The result."},"unit":{"type":"string","description":"Symbol of its unit."}},"required":["value","unit"],"additionalProperties":false},"description":"What was found."}},"required":["conversions"],"additionalProperties":false}}]}

    > execute_tool {"tool_name":"units__convert_unit","arguments":{"value":1,"from":"mile","to":"km"}}
    {"tool":"units__convert_unit","result":{"conversions":[{"value":1.609344,"unit":"km"}]}}
    structured: {"conversions":[{"value":1.609344,"unit":"km"}]}

    > execute_tool {"tool_name":"builtin__calculate","arguments":{"expression":"12 kg / (15 g)"}}
    {"tool":"builtin__calculate","result":800}
    structured: {"result":"800","exact":true}
    "#);
}

#[tokio::test]
async fn what_intents_says_of_wrong_calls() {
    let shown = Shown::through(QUERY, "").await;
    let answers = shown.answers(&[
        ("discover_tools", "{}"),
        ("discover_tools", r#"{"intent":"miles","top_k":0}"#),
        ("discover_tools", r#"{"intent":["miles"]}"#),
        ("discover_tools", r#"{"query":"miles"}"#),
        ("execute_tool", "{}"),
        ("execute_tool", r#"{"tool_name":"units__convert_units","arguments":{}}"#),
        (
            "execute_tool",
            r#"{"tool_name":"units__convert_unit","arguments":{"value":1,"from":"mile"}}"#,
        ),
        (
            "execute_tool",
            r#"{"tool_name":"staff__query","arguments":{"sql":"DELETE FROM departments"}}"#,
        ),
        ("launch", "{}"),
    ]);
    assert_snapshot!(answers.await, @r#"
    > discover_tools {}
    error: {"error":"Missing parameter 'intent' of discover_tools. Say what you want to do."}

    > discover_tools {"intent":"miles","top_k":0}
    error: {"error":"Parameter 'top_k' of discover_tools must be a number from 1 to 5."}

    > discover_tools {"intent":["miles"]}
    error: {"error":"Parameter 'intent' of discover_tools must be a string."}

    > discover_tools {"query":"miles"}
    error: {"error":"Unknown parameter 'query' of discover_tools. Parameters: intent, top_k"}

    > execute_tool {}
    error: {"error":"Missing parameter 'tool_name' of execute_tool. Use discover_tools to find tools."}

    > execute_tool {"tool_name":"units__convert_units","arguments":{}}
    error: {"error":"Unknown tool 'units__convert_units'. Did you mean 'units__convert_unit'?"}

    > execute_tool {"tool_name":"units__convert_unit","arguments":{"value":1,"from":"mile"}}
    error: {"tool":"units__convert_unit","error":"missing field `to`; arguments: value: number, from: string, to: string","differs":"missing required 'to'","signature":"units__convert_unit(value: number, from: string, to: string)"}

    > execute_tool {"tool_name":"staff__query","arguments":{"sql":"DELETE FROM departments"}}
    error: {"tool":"staff__query","error":"`DELETE` is not allowed: a statement may be `SELECT`, `WITH`, `VALUES` or `TABLE`","signature":"staff__query(sql: string, max_rows?: integer [1..1000])"}

    > launch {}
    error: {"error":"Unknown tool 'launch'. Tools: discover_tools, execute_tool"}
    "#);
}
