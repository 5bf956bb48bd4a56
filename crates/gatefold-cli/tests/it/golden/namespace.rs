//! A pair of tools for each domain.

use insta::assert_snapshot;

use super::Shown;

const QUERY: &str = "disclosure=namespace";

#[tokio::test]
async fn what_namespaces_shows() {
    let shown = Shown::through(QUERY, "").await;
    assert_snapshot!(shown.surface().await, @r#"
    Tools are grouped by domain. Each domain has two tools:

    1. {domain}__get_tool_schema - Get the parameter schema of one of the domain's tools. Its description lists them.
    2. {domain}__invoke_tool - Run one of them.

    Workflow: get_tool_schema → invoke_tool. Skip the first for tools you've already used in this conversation.

    Domains: builtin, results, shop, skills, staff, units

    # builtin__get_tool_schema
    Get the parameter schema of a tool of builtin (Gatefold's own tools). Tools:
    - calculate: Calculate an expression exactly: arbitrary decimals and fractions, powers…
    inputSchema: {"type":"object","properties":{"tool_name":{"type":"string","description":"One of the tools above. Omit to list all."},"cursor":{"type":"string","description":"The last next_cursor."}}}
    annotations: {"readOnlyHint":true,"idempotentHint":true,"openWorldHint":false}

    # builtin__invoke_tool
    Run one of the tools of builtin, by its name.
    inputSchema: {"type":"object","properties":{"tool_name":{"type":"string"},"arguments":{"type":"object","description":"Matching the schema of the tool."}},"required":["tool_name"]}
    annotations: {"readOnlyHint":true,"destructiveHint":false,"openWorldHint":false}

    # results__get_tool_schema
    Get the parameter schema of a tool of results (Large results of earlier calls, to read on in). Tools:
    - read_result: Read on in a result that was too large to be shown whole.
    inputSchema: {"type":"object","properties":{"tool_name":{"type":"string","description":"One of the tools above. Omit to list all."},"cursor":{"type":"string","description":"The last next_cursor."}}}
    annotations: {"readOnlyHint":true,"idempotentHint":true,"openWorldHint":false}

    # results__invoke_tool
    Run one of the tools of results, by its name.
    inputSchema: {"type":"object","properties":{"tool_name":{"type":"string"},"arguments":{"type":"object","description":"Matching the schema of the tool."}},"required":["tool_name"]}
    annotations: {"readOnlyHint":true,"destructiveHint":false,"openWorldHint":true}

    # shop__get_tool_schema
    Get the parameter schema of a tool of shop (Buy seeds, tools and kitchen supplies: find products, place, follow and cancel orders.). Tools:
    - place_order: Order products of the shop for a customer.
    - list_products: Find products of the shop, with price and stock.

    Skills for these, to be read first with skills__invoke_tool, tool_name 'read_skill':
    - report-a-fault: Report something that is broken in the garden or its kitchen, so that it is…
    inputSchema: {"type":"object","properties":{"tool_name":{"type":"string","description":"One of the tools above. Omit to list all."},"cursor":{"type":"string","description":"The last next_cursor."}}}
    annotations: {"readOnlyHint":true,"idempotentHint":true,"openWorldHint":false}

    # shop__invoke_tool
    Run one of the tools of shop, by its name.
    inputSchema: {"type":"object","properties":{"tool_name":{"type":"string"},"arguments":{"type":"object","description":"Matching the schema of the tool."}},"required":["tool_name"]}
    annotations: {"readOnlyHint":false,"destructiveHint":true,"openWorldHint":true}

    # skills__get_tool_schema
    Get the parameter schema of a tool of skills (Procedures of the garden, step by step: faults, new colleagues.). Tools:
    - read_skill: Read a skill: a procedure to follow, with its files and the tools that it names.
    inputSchema: {"type":"object","properties":{"tool_name":{"type":"string","description":"One of the tools above. Omit to list all."},"cursor":{"type":"string","description":"The last next_cursor."}}}
    annotations: {"readOnlyHint":true,"idempotentHint":true,"openWorldHint":false}

    # skills__invoke_tool
    Run one of the tools of skills, by its name.
    inputSchema: {"type":"object","properties":{"tool_name":{"type":"string"},"arguments":{"type":"object","description":"Matching the schema of the tool."}},"required":["tool_name"]}
    annotations: {"readOnlyHint":true,"destructiveHint":false,"openWorldHint":false}

    # staff__get_tool_schema
    Get the parameter schema of a tool of staff (Employees of a garden: who reports to whom, departments and leave.). Tools:
    - explain: Show how SQLite would run a SELECT, without running it.
    - query: Run one SQLite SELECT and return its columns and rows, at most 1000.
    - describe_table: Describe a table: its columns with types, keys, comments and indexes.
    - list_tables: List the tables of this database with their descriptions, column counts and row…
    inputSchema: {"type":"object","properties":{"tool_name":{"type":"string","description":"One of the tools above. Omit to list all."},"cursor":{"type":"string","description":"The last next_cursor."}}}
    annotations: {"readOnlyHint":true,"idempotentHint":true,"openWorldHint":false}

    # staff__invoke_tool
    Run one of the tools of staff, by its name.
    inputSchema: {"type":"object","properties":{"tool_name":{"type":"string"},"arguments":{"type":"object","description":"Matching the schema of the tool."}},"required":["tool_name"]}
    annotations: {"readOnlyHint":true,"destructiveHint":false,"openWorldHint":false}

    # units__get_tool_schema
    Get the parameter schema of a tool of units (Calculate, summarise numbers and convert units of measure.). Tools:
    - convert_unit: Convert a value from one unit of measure to another, such as miles to…
    - search_units: Find units of measure by a part of their name.
    inputSchema: {"type":"object","properties":{"tool_name":{"type":"string","description":"One of the tools above. Omit to list all."},"cursor":{"type":"string","description":"The last next_cursor."}}}
    annotations: {"readOnlyHint":true,"idempotentHint":true,"openWorldHint":false}

    # units__invoke_tool
    Run one of the tools of units, by its name.
    inputSchema: {"type":"object","properties":{"tool_name":{"type":"string"},"arguments":{"type":"object","description":"Matching the schema of the tool."}},"required":["tool_name"]}
    annotations: {"readOnlyHint":true,"destructiveHint":false,"openWorldHint":false}
    "#);
}

#[tokio::test]
async fn what_namespaces_answers() {
    let shown = Shown::through(QUERY, "").await;
    let answers = shown.answers(&[
        ("units__get_tool_schema", "{}"),
        ("units__get_tool_schema", r#"{"tool_name":"convert_unit"}"#),
        ("shop__get_tool_schema", r#"{"tool_name":"place_order"}"#),
        ("units__invoke_tool", r#"{"tool_name":"convert_unit","arguments":{"value":1,"from":"mile","to":"km"}}"#),
        ("shop__invoke_tool", r#"{"tool_name":"list_products","arguments":{"query":"descaler"}}"#),
        ("staff__invoke_tool", r#"{"tool_name":"query","arguments":{"sql":"SELECT name FROM departments ORDER BY id LIMIT 2"}}"#),
        ("skills__invoke_tool", r#"{"tool_name":"read_skill","arguments":{"name":"report-a-fault"}}"#),
        ("builtin__invoke_tool", r#"{"tool_name":"calculate","arguments":{"expression":"12 kg / (15 g)"}}"#),
    ]);
    assert_snapshot!(answers.await, @r##"
    > units__get_tool_schema {}
    {"domain":"units","tools":[{"name":"units__convert_unit","group":"general","description":"Convert a value from one unit of measure to another, such as miles to…"},{"name":"units__search_units","group":"general","description":"Find units of measure by a part of their name."}]}

    > units__get_tool_schema {"tool_name":"convert_unit"}
    {"name":"units__convert_unit","domain":"units","group":"general","description":"Convert a value from one unit of measure to another, such as miles to kilometres.","parameters":{"type":"object","properties":{"value":{"type":"number","description":"How many of the unit."},"from":{"type":"string","minLength":1,"maxLength":40,"description":"Unit of the value: a symbol such as \"km/h\" or a name such as \"mile\"."},"to":{"type":"string","minLength":1,"maxLength":40,"description":"Unit to convert to, which measures the same."}},"required":["value","from","to"],"additionalProperties":false},"output_schema":{"type":"object","properties":{"conversions":{"type":"array","items":{"type":"object","properties":{"value":{"type":"number","description":"The result."},"unit":{"type":"string","description":"Symbol of its unit."}},"required":["value","unit"],"additionalProperties":false},"description":"What was found."}},"required":["conversions"],"additionalProperties":false}}

    > shop__get_tool_schema {"tool_name":"place_order"}
    {"name":"shop__place_order","domain":"shop","group":"orders","description":"Order products of the shop for a customer.","parameters":{"type":"object","properties":{"customer":{"type":"string","minLength":1,"maxLength":120,"description":"Who buys it."},"address":{"type":"string","minLength":1,"maxLength":300,"description":"Where the parcel goes."},"items":{"type":"array","items":{"type":"object","properties":{"sku":{"type":"string","pattern":"^[a-z0-9-]+$","maxLength":40,"description":"The product's short name, such as \"tomato-cherry\"."},"quantity":{"type":"integer","minimum":1,"maximum":1000,"description":"How many of it."}},"additionalProperties":false,"required":["sku","quantity"]},"minItems":1,"maxItems":20,"description":"What is bought."},"delivery":{"type":"string","enum":["standard","express"],"description":"How it is sent: for 3.90 or 8.90 euros.","default":"standard"},"note":{"type":"string","maxLength":500,"description":"For those who pack or bring it.","default":""}},"required":["customer","address","items"],"additionalProperties":false},"output_schema":{"type":"object","properties":{"id":{"type":"integer","description":"The order's number."},"customer":{"type":"string","description":"Who bought it."},"address":{"type":"string","description":"Where the parcel goes."},"delivery":{"type":"string","description":"\"standard\" or \"express\"."},"note":{"type":"string","description":"For those who pack or bring it."},"status":{"type":"string","description":"\"placed\", \"sent\", \"delivered\" or \"cancelled\"."},"reason":{"type":"string","description":"Why it was cancelled; absent otherwise."},"items":{"type":"array","items":{"type":"object","properties":{"sku":{"type":"string","description":"The product's short name."},"name":{"type":"string","description":"What it is called."},"quantity":{"type":"integer","description":"How many of it."},"price":{"type":"number","description":"In euros, of one."}},"additionalProperties":false,"required":["sku","name","quantity","price"]},"description":"What was bought."},"total":{"type":"number","description":"In euros, with delivery."},"placed_at":{"type":"string","description":"When it was ordered, RFC 3339 in UTC."}},"additionalProperties":false,"required":["id","customer","address","delivery","note","status","items","total","placed_at"]}}

    > units__invoke_tool {"tool_name":"convert_unit","arguments":{"value":1,"from":"mile","to":"km"}}
    {"tool":"units__convert_unit","result":{"conversions":[{"value":1.609344,"unit":"km"}]}}
    structured: {"conversions":[{"value":1.609344,"unit":"km"}]}

    > shop__invoke_tool {"tool_name":"list_products","arguments":{"query":"descaler"}}
    {"tool":"shop__list_products","result":{"products":[{"sku":"descaler","name":"Descaler for coffee machines","category":"kitchen","about":"Five doses. Takes away the taste of tea, too.","price":6.9,"stock":18}]}}
    structured: {"products":[{"sku":"descaler","name":"Descaler for coffee machines","category":"kitchen","about":"Five doses. Takes away the taste of tea, too.","price":6.9,"stock":18}]}

    > staff__invoke_tool {"tool_name":"query","arguments":{"sql":"SELECT name FROM departments ORDER BY id LIMIT 2"}}
    {"tool":"staff__query","result":{"columns":[{"name":"name","type":"text"}],"rows":[["Garden"],["Kitchen"]],"row_count":2,"truncated":false}}

    > skills__invoke_tool {"tool_name":"read_skill","arguments":{"name":"report-a-fault"}}
    {"tool":"skills__read_skill","result":"# Report a fault\n\n1. Look whether it is known: `issues__search_issues` with one word for the thing. If it is, add what is new as a comment\n   and stop.\n2. Choose the priority by `references/priorities.md`.\n3. Report it with `issues__create_issue`: the title says what happens, the body since when and how often.\n4. Look for a remedy with `shop__list_products`. Do not order anything that was not asked for.\n\n## Files of this skill\nRead one as you read this, with its path as 'file'. Scripts are given, not run.\n- `references/priorities.md` (markdown, 213 bytes)\n\n## Tools that this skill names\nCall each as you call the other tools of its domain.\n- `shop__list_products(category?: \"seeds\"|\"tools\"|\"pots\"|\"kitchen\", in_stock?: boolean, limit?: integer = 20 [1..100], max_price?: integer [1..10000], offset?: integer = 0 [0..1000000], query?: string)`"}
    structured: {"name":"report-a-fault","description":"Report something that is broken in the garden or its kitchen, so that it is reported once and somebody can act on it. Use when a machine, tool or building does not do what it should.","text":"# Report a fault\n\n1. Look whether it is known: `issues__search_issues` with one word for the thing. If it is, add what is new as a comment\n   and stop.\n2. Choose the priority by `references/priorities.md`.\n3. Report it with `issues__create_issue`: the title says what happens, the body since when and how often.\n4. Look for a remedy with `shop__list_products`. Do not order anything that was not asked for.","files":[{"file":"references/priorities.md","size":213,"language":"markdown"}],"tools":[{"id":"shop__list_products","signature":"shop__list_products(category?: \"seeds\"|\"tools\"|\"pots\"|\"kitchen\", in_stock?: boolean, limit?: integer = 20 [1..100], max_price?: integer [1..10000], offset?: integer = 0 [0..1000000], query?: string)"}]}

    > builtin__invoke_tool {"tool_name":"calculate","arguments":{"expression":"12 kg / (15 g)"}}
    {"tool":"builtin__calculate","result":800}
    structured: {"result":"800","exact":true}
    "##);
}

#[tokio::test]
async fn what_namespaces_says_of_wrong_calls() {
    let shown = Shown::through(QUERY, "").await;
    let answers = shown.answers(&[
        ("units__get_tool_schema", r#"{"tool_name":"convert_units"}"#),
        ("units__get_tool_schema", r#"{"tool_name":7}"#),
        ("units__get_tool_schema", r#"{"tool":"convert_unit"}"#),
        ("units__invoke_tool", "{}"),
        ("units__invoke_tool", r#"{"tool_name":"convert_units"}"#),
        ("units__invoke_tool", r#"{"tool_name":"shop__place_order"}"#),
        (
            "units__invoke_tool",
            r#"{"tool_name":"convert_unit","arguments":{"value":1,"from":"mile"}}"#,
        ),
        ("units__invoke_tool", r#"{"tool_name":"convert_unit","arguments":7}"#),
        (
            "units__invoke_tool",
            r#"{"tool_name":"convert_unit","arguments":{"value":1,"from":"mile","to":"kg"}}"#,
        ),
        (
            "staff__invoke_tool",
            r#"{"tool_name":"query","arguments":{"sql":"DELETE FROM departments"}}"#,
        ),
        (
            "skills__invoke_tool",
            r#"{"tool_name":"read_skill","arguments":{"name":"report-fault"}}"#,
        ),
        ("rocket__invoke_tool", r#"{"tool_name":"launch"}"#),
        ("units__convert_unit", r#"{"value":1,"from":"mile","to":"km"}"#),
    ]);
    assert_snapshot!(answers.await, @r#"
    > units__get_tool_schema {"tool_name":"convert_units"}
    error: {"error":"Unknown tool 'convert_units'. Did you mean 'units__convert_unit'? units__get_tool_schema describes the tools."}

    > units__get_tool_schema {"tool_name":7}
    error: {"error":"Parameter 'tool_name' of units__get_tool_schema must be a string."}

    > units__get_tool_schema {"tool":"convert_unit"}
    error: {"error":"Unknown parameter 'tool' of units__get_tool_schema. Parameters: tool_name, cursor, path"}

    > units__invoke_tool {}
    error: {"error":"Missing parameter 'tool_name' of units__invoke_tool. units__get_tool_schema describes the tools."}

    > units__invoke_tool {"tool_name":"convert_units"}
    error: {"error":"Unknown tool 'units__convert_units'. Did you mean 'units__convert_unit'?"}

    > units__invoke_tool {"tool_name":"shop__place_order"}
    error: {"error":"Unknown tool 'units__shop__place_order'. Did you mean 'shop__place_order'?"}

    > units__invoke_tool {"tool_name":"convert_unit","arguments":{"value":1,"from":"mile"}}
    error: {"tool":"units__convert_unit","error":"missing field `to`; arguments: value: number, from: string, to: string","differs":"missing required 'to'","signature":"units__convert_unit(value: number, from: string, to: string)"}

    > units__invoke_tool {"tool_name":"convert_unit","arguments":7}
    error: {"error":"Parameter 'arguments' of units__invoke_tool must be an object for units__convert_unit(value: number, from: string, to: string)"}

    > units__invoke_tool {"tool_name":"convert_unit","arguments":{"value":1,"from":"mile","to":"kg"}}
    {"tool":"units__convert_unit","result":{"conversions":[]}}
    structured: {"conversions":[]}

    > staff__invoke_tool {"tool_name":"query","arguments":{"sql":"DELETE FROM departments"}}
    error: {"tool":"staff__query","error":"`DELETE` is not allowed: a statement may be `SELECT`, `WITH`, `VALUES` or `TABLE`","signature":"staff__query(sql: string, max_rows?: integer [1..1000])"}

    > skills__invoke_tool {"tool_name":"read_skill","arguments":{"name":"report-fault"}}
    error: {"tool":"skills__read_skill","error":"Unknown skill 'report-fault'. Did you mean 'report-a-fault'?","signature":"skills__read_skill(file?: string, name?: \"report-a-fault\"|\"welcome-a-colleague\")"}

    > rocket__invoke_tool {"tool_name":"launch"}
    error: {"error":"Unknown tool 'rocket__invoke_tool'. Look tools up with: builtin__get_tool_schema, results__get_tool_schema, shop__get_tool_schema, skills__get_tool_schema, staff__get_tool_schema, units__get_tool_schema"}

    > units__convert_unit {"value":1,"from":"mile","to":"km"}
    error: {"error":"Call 'units__convert_unit' through units__invoke_tool, with the tool_name 'convert_unit'."}
    "#);
}
