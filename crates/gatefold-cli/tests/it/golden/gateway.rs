//! Three tools in front of all others.

use insta::assert_snapshot;

use super::Shown;

const QUERY: &str = "disclosure=gateway";

#[tokio::test]
async fn what_the_gateway_shows() {
    let shown = Shown::through(QUERY, "").await;
    assert_snapshot!(shown.surface().await, @r#"
    You have access to a tool discovery gateway with 3 tools:

    1. discover_tools - Browse available tools. Call with no arguments to see domains,
       or with a domain to see specific tools.
    2. get_tool_schema - Get a tool's parameter schema before using it.
    3. execute_tool - Run any discovered tool.

    Workflow: discover_tools → get_tool_schema → execute_tool.
    Skip discovery for tools you've already used in this conversation.

    Domains:
    - builtin: Gatefold's own tools
    - results: Large results of earlier calls, to read on in
    - shop: Buy seeds, tools and kitchen supplies: find products, place, follow and cancel orders.
    - skills: Procedures of the garden, step by step: faults, new colleagues.
    - staff: Employees of a garden: who reports to whom, departments and leave.
    - units: Calculate, summarise numbers and convert units of measure.

    # discover_tools
    Browse available tools by domain, group, or keyword.

    Domains: builtin, results, shop, skills, staff, units
    inputSchema: {"type":"object","properties":{"domain":{"type":"string","description":"Omit to see all domains."},"group":{"type":"string","description":"Requires domain."},"query":{"type":"string","description":"User's words and service; rephrase on new lines."},"search_mode":{"type":"string","enum":["hybrid","keyword","semantic"]},"cursor":{"type":"string","description":"The last next_cursor."}}}
    annotations: {"readOnlyHint":true,"idempotentHint":true,"openWorldHint":false}

    # get_tool_schema
    Get the full parameter schema of one or several tools before calling execute_tool.
    inputSchema: {"type":"object","properties":{"tool_name":{"type":"string","description":"From discover_tools."},"tool_names":{"type":"array","items":{"type":"string"}}}}
    annotations: {"readOnlyHint":true,"idempotentHint":true,"openWorldHint":false}

    # execute_tool
    Execute a tool by name. Use discover_tools to find it.
    inputSchema: {"type":"object","properties":{"tool_name":{"type":"string"},"arguments":{"type":"object","description":"Matching the schema from get_tool_schema."}},"required":["tool_name"]}
    annotations: {"readOnlyHint":false,"idempotentHint":false,"openWorldHint":true}
    "#);
}

#[tokio::test]
async fn what_the_gateway_answers() {
    let shown = Shown::through(QUERY, "").await;
    let answers = shown.answers(&[
        ("discover_tools", "{}"),
        ("discover_tools", r#"{"domain":"units"}"#),
        ("discover_tools", r#"{"domain":"staff","group":"tables"}"#),
        ("discover_tools", r#"{"query":"miles to kilometres"}"#),
        ("discover_tools", r#"{"query":"who reports to whom"}"#),
        ("discover_tools", r#"{"query":"launch a rocket into orbit"}"#),
        ("get_tool_schema", r#"{"tool_name":"units__convert_unit"}"#),
        ("get_tool_schema", r#"{"tool_name":"shop__place_order"}"#),
        ("execute_tool", r#"{"tool_name":"units__convert_unit","arguments":{"value":1,"from":"mile","to":"km"}}"#),
        ("execute_tool", r#"{"tool_name":"shop__list_products","arguments":{"query":"descaler"}}"#),
        ("execute_tool", r#"{"tool_name":"staff__query","arguments":{"sql":"SELECT name FROM departments ORDER BY id LIMIT 2"}}"#),
        ("execute_tool", r#"{"tool_name":"skills__read_skill","arguments":{"name":"report-a-fault"}}"#),
        ("execute_tool", r#"{"tool_name":"builtin__calculate","arguments":{"expression":"12 kg / (15 g)"}}"#),
    ]);
    assert_snapshot!(answers.await, @r##"
    > discover_tools {}
    {"domains":[{"name":"builtin","description":"Gatefold's own tools","tool_count":1,"groups":["computation"]},{"name":"results","description":"Large results of earlier calls, to read on in","tool_count":1,"groups":["general"]},{"name":"shop","description":"Buy seeds, tools and kitchen supplies: find products, place, follow and cancel orders.","tool_count":2,"groups":["orders","products"]},{"name":"skills","description":"Procedures of the garden, step by step: faults, new colleagues.","tool_count":1,"groups":["general"]},{"name":"staff","description":"Employees of a garden: who reports to whom, departments and leave.","tool_count":4,"groups":["general","tables"]},{"name":"units","description":"Calculate, summarise numbers and convert units of measure.","tool_count":2,"groups":["general"]}],"total_tools":11}

    > discover_tools {"domain":"units"}
    {"domain":"units","tools":[{"name":"units__convert_unit","group":"general","description":"Convert a value from one unit of measure to another, such as miles to…"},{"name":"units__search_units","group":"general","description":"Find units of measure by a part of their name."}]}

    > discover_tools {"domain":"staff","group":"tables"}
    {"domain":"staff","group":"tables","tools":[{"name":"staff__describe_table","description":"Describe a table: its columns with types, keys, comments and indexes."},{"name":"staff__list_tables","description":"List the tables of this database with their descriptions, column counts and row…"}]}

    > discover_tools {"query":"miles to kilometres"}
    {"query":"miles to kilometres","fit":"likely","results":[{"name":"units__convert_unit","domain":"units","group":"general","description":"Convert a value from one unit of measure to another, such as miles to…","signature":"units__convert_unit(value: number, from: string, to: string) -> {conversions: object[]}"},{"name":"builtin__calculate","domain":"builtin","group":"computation","description":"Calculate an expression exactly: arbitrary decimals and fractions, powers…"},{"name":"units__search_units","domain":"units","group":"general","description":"Find units of measure by a part of their name."}]}

    > discover_tools {"query":"who reports to whom"}
    {"query":"who reports to whom","fit":"likely","results":[{"name":"staff__describe_table","domain":"staff","group":"tables","description":"Describe a table: its columns with types, keys, comments and indexes.","match":"table: main.employees","signature":"staff__describe_table(cursor?: string, samples?: boolean, table?: string)"},{"name":"staff__list_tables","domain":"staff","group":"tables","description":"List the tables of this database with their descriptions, column counts and row…","signature":"staff__list_tables(contains?: string, cursor?: string, refresh?: boolean, schema?: string)"},{"name":"staff__query","domain":"staff","group":"general","description":"Run one SQLite SELECT and return its columns and rows, at most 1000.","signature":"staff__query(sql: string, max_rows?: integer [1..1000])"},{"name":"skills__read_skill","domain":"skills","group":"general","description":"Read a skill: a procedure to follow, with its files and the tools that it names.","match":"skill: report-a-fault","signature":"skills__read_skill(file?: string, name?: \"report-a-fault\"|\"welcome-a-colleague\")"},{"name":"staff__explain","domain":"staff","group":"general","description":"Show how SQLite would run a SELECT, without running it.","signature":"staff__explain(sql: string)"}]}

    > discover_tools {"query":"launch a rocket into orbit"}
    {"query":"launch a rocket into orbit","fit":"none","note":"No tool matches the query. The results are merely the nearest tools. Use discover_tools to browse available tools.","nearest_domains":[{"name":"staff","description":"Employees of a garden: who reports to whom, departments and leave.","tool_count":4,"groups":["general","tables"]},{"name":"units","description":"Calculate, summarise numbers and convert units of measure.","tool_count":2,"groups":["general"]},{"name":"skills","description":"Procedures of the garden, step by step: faults, new colleagues.","tool_count":1,"groups":["general"]}],"results":[{"name":"staff__explain","domain":"staff","group":"general","description":"Show how SQLite would run a SELECT, without running it."},{"name":"units__convert_unit","domain":"units","group":"general","description":"Convert a value from one unit of measure to another, such as miles to…"},{"name":"skills__read_skill","domain":"skills","group":"general","description":"Read a skill: a procedure to follow, with its files and the tools that it names."},{"name":"builtin__calculate","domain":"builtin","group":"computation","description":"Calculate an expression exactly: arbitrary decimals and fractions, powers…"},{"name":"results__read_result","domain":"results","group":"general","description":"Read on in a result that was too large to be shown whole."},{"name":"shop__list_products","domain":"shop","group":"products","description":"Find products of the shop, with price and stock."},{"name":"shop__place_order","domain":"shop","group":"orders","description":"Order products of the shop for a customer."},{"name":"staff__describe_table","domain":"staff","group":"tables","description":"Describe a table: its columns with types, keys, comments and indexes."},{"name":"staff__list_tables","domain":"staff","group":"tables","description":"List the tables of this database with their descriptions, column counts and row…"},{"name":"staff__query","domain":"staff","group":"general","description":"Run one SQLite SELECT and return its columns and rows, at most 1000."}]}

    > get_tool_schema {"tool_name":"units__convert_unit"}
    {"name":"units__convert_unit","domain":"units","group":"general","description":"Convert a value from one unit of measure to another, such as miles to kilometres.","parameters":{"type":"object","properties":{"value":{"type":"number","description":"How many of the unit."},"from":{"type":"string","minLength":1,"maxLength":40,"description":"Unit of the value: a symbol such as \"km/h\" or a name such as \"mile\"."},"to":{"type":"string","minLength":1,"maxLength":40,"description":"Unit to convert to, which measures the same."}},"required":["value","from","to"],"additionalProperties":false},"output_schema":{"type":"object","properties":{"conversions":{"type":"array","items":{"type":"object","properties":{"value":{"type":"number","description":"The result."},"unit":{"type":"string","description":"Symbol of its unit."}},"required":["value","unit"],"additionalProperties":false},"description":"What was found."}},"required":["conversions"],"additionalProperties":false}}

    > get_tool_schema {"tool_name":"shop__place_order"}
    {"name":"shop__place_order","domain":"shop","group":"orders","description":"Order products of the shop for a customer.","parameters":{"type":"object","properties":{"customer":{"type":"string","minLength":1,"maxLength":120,"description":"Who buys it."},"address":{"type":"string","minLength":1,"maxLength":300,"description":"Where the parcel goes."},"items":{"type":"array","items":{"type":"object","properties":{"sku":{"type":"string","pattern":"^[a-z0-9-]+$","maxLength":40,"description":"The product's short name, such as \"tomato-cherry\"."},"quantity":{"type":"integer","minimum":1,"maximum":1000,"description":"How many of it."}},"additionalProperties":false,"required":["sku","quantity"]},"minItems":1,"maxItems":20,"description":"What is bought."},"delivery":{"type":"string","enum":["standard","express"],"description":"How it is sent: for 3.90 or 8.90 euros.","default":"standard"},"note":{"type":"string","maxLength":500,"description":"For those who pack or bring it.","default":""}},"required":["customer","address","items"],"additionalProperties":false},"output_schema":{"type":"object","properties":{"id":{"type":"integer","description":"The order's number."},"customer":{"type":"string","description":"Who bought it."},"address":{"type":"string","description":"Where the parcel goes."},"delivery":{"type":"string","description":"\"standard\" or \"express\"."},"note":{"type":"string","description":"For those who pack or bring it."},"status":{"type":"string","description":"\"placed\", \"sent\", \"delivered\" or \"cancelled\"."},"reason":{"type":"string","description":"Why it was cancelled; absent otherwise."},"items":{"type":"array","items":{"type":"object","properties":{"sku":{"type":"string","description":"The product's short name."},"name":{"type":"string","description":"What it is called."},"quantity":{"type":"integer","description":"How many of it."},"price":{"type":"number","description":"In euros, of one."}},"additionalProperties":false,"required":["sku","name","quantity","price"]},"description":"What was bought."},"total":{"type":"number","description":"In euros, with delivery."},"placed_at":{"type":"string","description":"When it was ordered, RFC 3339 in UTC."}},"additionalProperties":false,"required":["id","customer","address","delivery","note","status","items","total","placed_at"]}}

    > execute_tool {"tool_name":"units__convert_unit","arguments":{"value":1,"from":"mile","to":"km"}}
    {"tool":"units__convert_unit","result":{"conversions":[{"value":1.609344,"unit":"km"}]}}
    structured: {"conversions":[{"value":1.609344,"unit":"km"}]}

    > execute_tool {"tool_name":"shop__list_products","arguments":{"query":"descaler"}}
    {"tool":"shop__list_products","result":{"products":[{"sku":"descaler","name":"Descaler for coffee machines","category":"kitchen","about":"Five doses. Takes away the taste of tea, too.","price":6.9,"stock":18}]}}
    structured: {"products":[{"sku":"descaler","name":"Descaler for coffee machines","category":"kitchen","about":"Five doses. Takes away the taste of tea, too.","price":6.9,"stock":18}]}

    > execute_tool {"tool_name":"staff__query","arguments":{"sql":"SELECT name FROM departments ORDER BY id LIMIT 2"}}
    {"tool":"staff__query","result":{"columns":[{"name":"name","type":"text"}],"rows":[["Garden"],["Kitchen"]],"row_count":2,"truncated":false}}

    > execute_tool {"tool_name":"skills__read_skill","arguments":{"name":"report-a-fault"}}
    {"tool":"skills__read_skill","result":"# Report a fault\n\n1. Look whether it is known: `issues__search_issues` with one word for the thing. If it is, add what is new as a comment\n   and stop.\n2. Choose the priority by `references/priorities.md`.\n3. Report it with `issues__create_issue`: the title says what happens, the body since when and how often.\n4. Look for a remedy with `shop__list_products`. Do not order anything that was not asked for.\n\n## Files of this skill\nRead one as you read this, with its path as 'file'. Scripts are given, not run.\n- `references/priorities.md` (markdown, 213 bytes)\n\n## Tools that this skill names\nCall each as you call the other tools of its domain.\n- `shop__list_products(category?: \"seeds\"|\"tools\"|\"pots\"|\"kitchen\", in_stock?: boolean, limit?: integer = 20 [1..100], max_price?: integer [1..10000], offset?: integer = 0 [0..1000000], query?: string)`"}
    structured: {"name":"report-a-fault","description":"Report something that is broken in the garden or its kitchen, so that it is reported once and somebody can act on it. Use when a machine, tool or building does not do what it should.","text":"# Report a fault\n\n1. Look whether it is known: `issues__search_issues` with one word for the thing. If it is, add what is new as a comment\n   and stop.\n2. Choose the priority by `references/priorities.md`.\n3. Report it with `issues__create_issue`: the title says what happens, the body since when and how often.\n4. Look for a remedy with `shop__list_products`. Do not order anything that was not asked for.","files":[{"file":"references/priorities.md","size":213,"language":"markdown"}],"tools":[{"id":"shop__list_products","signature":"shop__list_products(category?: \"seeds\"|\"tools\"|\"pots\"|\"kitchen\", in_stock?: boolean, limit?: integer = 20 [1..100], max_price?: integer [1..10000], offset?: integer = 0 [0..1000000], query?: string)"}]}

    > execute_tool {"tool_name":"builtin__calculate","arguments":{"expression":"12 kg / (15 g)"}}
    {"tool":"builtin__calculate","result":800}
    structured: {"result":"800","exact":true}
    "##);
}

#[tokio::test]
async fn what_the_gateway_says_of_wrong_calls() {
    let shown = Shown::through(QUERY, "").await;
    let answers = shown.answers(&[
        ("discover_tools", r#"{"domain":"unit"}"#),
        ("discover_tools", r#"{"group":"tables"}"#),
        ("discover_tools", r#"{"domain":"staff","group":"table"}"#),
        ("discover_tools", r#"{"query":7}"#),
        ("discover_tools", r#"{"queri":"miles"}"#),
        ("discover_tools", r#"{"query":"miles","cursor":"9-00"}"#),
        ("get_tool_schema", "{}"),
        ("get_tool_schema", r#"{"tool_name":"units__convert"}"#),
        ("get_tool_schema", r#"{"tool_name":"rocket__launch"}"#),
        ("execute_tool", "{}"),
        ("execute_tool", r#"{"tool_name":"units__convert_units","arguments":{}}"#),
        ("execute_tool", r#"{"tool_name":"units__convert_unit","arguments":{"value":1,"from":"mile"}}"#),
        ("execute_tool", r#"{"tool_name":"units__convert_unit","arguments":{"value":"x","from":"mile","to":"km"}}"#),
        ("execute_tool", r#"{"tool_name":"units__convert_unit","arguments":7}"#),
        ("execute_tool", r#"{"tool_name":"units__convert_unit","arguments":{"value":1,"from":"mile","to":"kg"}}"#),
        ("execute_tool", r#"{"tool_name":"shop__place_order","arguments":{"items":[]}}"#),
        ("execute_tool", r#"{"tool_name":"staff__query","arguments":{"sql":"DELETE FROM departments"}}"#),
        ("execute_tool", r#"{"tool_name":"staff__query","arguments":{"sql":"SELECT * FROM wages"}}"#),
        ("execute_tool", r#"{"tool_name":"skills__read_skill","arguments":{"name":"report-fault"}}"#),
        ("execute_tool", r#"{"tool_name":"builtin__calculate","arguments":{"expression":"12 kg / "}}"#),
        ("launch", "{}"),
    ]);
    assert_snapshot!(answers.await, @r#"
    > discover_tools {"domain":"unit"}
    error: {"error":"Unknown domain 'unit'. Available domains: builtin, results, shop, skills, staff, units"}

    > discover_tools {"group":"tables"}
    error: {"error":"Parameter 'group' requires 'domain'. Domains with a group 'tables': staff"}

    > discover_tools {"domain":"staff","group":"table"}
    error: {"error":"Unknown group 'table' in domain 'staff'. Available groups: general, tables"}

    > discover_tools {"query":7}
    error: {"error":"Parameter 'query' of discover_tools must be a string."}

    > discover_tools {"queri":"miles"}
    error: {"error":"Unknown parameter 'queri' of discover_tools. Parameters: domain, group, query, search_mode, cursor"}

    > discover_tools {"query":"miles","cursor":"9-00"}
    error: {"error":"Unknown cursor '9-00'. Pass next_cursor of the last answer along with the same arguments, or leave it out to start over."}

    > get_tool_schema {}
    error: {"error":"Missing parameter 'tool_name' of get_tool_schema. Name one tool, or several in tool_names. Use discover_tools to browse available tools."}

    > get_tool_schema {"tool_name":"units__convert"}
    error: {"error":"Unknown tool 'units__convert'. Did you mean 'units__convert_unit'? Use discover_tools to browse available tools."}

    > get_tool_schema {"tool_name":"rocket__launch"}
    error: {"error":"Unknown tool 'rocket__launch'. Use discover_tools to browse available tools."}

    > execute_tool {}
    error: {"error":"Missing parameter 'tool_name' of execute_tool. Use discover_tools to browse available tools."}

    > execute_tool {"tool_name":"units__convert_units","arguments":{}}
    error: {"error":"Unknown tool 'units__convert_units'. Did you mean 'units__convert_unit'?"}

    > execute_tool {"tool_name":"units__convert_unit","arguments":{"value":1,"from":"mile"}}
    error: {"tool":"units__convert_unit","error":"missing field `to`; arguments: value: number, from: string, to: string","differs":"missing required 'to'","signature":"units__convert_unit(value: number, from: string, to: string)"}

    > execute_tool {"tool_name":"units__convert_unit","arguments":{"value":"x","from":"mile","to":"km"}}
    error: {"tool":"units__convert_unit","error":"`value`: expected number, found \"x\"; arguments: value: number, from: string, to: string","differs":"'value' must be number, not string","signature":"units__convert_unit(value: number, from: string, to: string)"}

    > execute_tool {"tool_name":"units__convert_unit","arguments":7}
    error: {"error":"Parameter 'arguments' of execute_tool must be an object for units__convert_unit(value: number, from: string, to: string)"}

    > execute_tool {"tool_name":"units__convert_unit","arguments":{"value":1,"from":"mile","to":"kg"}}
    {"tool":"units__convert_unit","result":{"conversions":[]}}
    structured: {"conversions":[]}

    > execute_tool {"tool_name":"shop__place_order","arguments":{"items":[]}}
    error: {"tool":"shop__place_order","error":"`customer` is missing; `address` is missing; `items` has 0 items, and at least 1 is wanted","differs":"missing required 'customer'; missing required 'address'","signature":"shop__place_order(customer: string, address: string, items: {sku: string, quantity: integer [1..1000]}[], delivery?: \"standard\"|\"express\" = \"standard\", note?: string = \"\")"}

    > execute_tool {"tool_name":"staff__query","arguments":{"sql":"DELETE FROM departments"}}
    error: {"tool":"staff__query","error":"`DELETE` is not allowed: a statement may be `SELECT`, `WITH`, `VALUES` or `TABLE`","signature":"staff__query(sql: string, max_rows?: integer [1..1000])"}

    > execute_tool {"tool_name":"staff__query","arguments":{"sql":"SELECT * FROM wages"}}
    error: {"tool":"staff__query","error":"there is no table `wages`","signature":"staff__query(sql: string, max_rows?: integer [1..1000])"}

    > execute_tool {"tool_name":"skills__read_skill","arguments":{"name":"report-fault"}}
    error: {"tool":"skills__read_skill","error":"Unknown skill 'report-fault'. Did you mean 'report-a-fault'?","signature":"skills__read_skill(file?: string, name?: \"report-a-fault\"|\"welcome-a-colleague\")"}

    > execute_tool {"tool_name":"builtin__calculate","arguments":{"expression":"12 kg / "}}
    error: {"tool":"builtin__calculate","error":"it cannot be calculated: unexpected input found","signature":"builtin__calculate(expression: string)"}

    > launch {}
    error: {"error":"Unknown tool 'launch'. Tools: discover_tools, get_tool_schema, execute_tool"}
    "#);
}

#[tokio::test]
async fn what_the_gateway_shows_and_answers_where_reading_and_writing_are_told_apart() {
    let shown = Shown::through(QUERY, "[disclosure]\nsplit_execute = true\n").await;
    assert_snapshot!(shown.surface().await, @r#"
    You have access to a tool discovery gateway with 4 tools:

    1. discover_tools - Browse available tools. Call with no arguments to see domains,
       or with a domain to see specific tools.
    2. get_tool_schema - Get a tool's parameter schema before using it.
    3. execute_read - Run any discovered tool that only reads.
    4. execute_write - Run any other discovered tool.

    Workflow: discover_tools → get_tool_schema → execute_read or execute_write.
    Skip discovery for tools you've already used in this conversation.

    Domains:
    - builtin: Gatefold's own tools
    - results: Large results of earlier calls, to read on in
    - shop: Buy seeds, tools and kitchen supplies: find products, place, follow and cancel orders.
    - skills: Procedures of the garden, step by step: faults, new colleagues.
    - staff: Employees of a garden: who reports to whom, departments and leave.
    - units: Calculate, summarise numbers and convert units of measure.

    # discover_tools
    Browse available tools by domain, group, or keyword.

    Domains: builtin, results, shop, skills, staff, units
    inputSchema: {"type":"object","properties":{"domain":{"type":"string","description":"Omit to see all domains."},"group":{"type":"string","description":"Requires domain."},"query":{"type":"string","description":"User's words and service; rephrase on new lines."},"search_mode":{"type":"string","enum":["hybrid","keyword","semantic"]},"cursor":{"type":"string","description":"The last next_cursor."}}}
    annotations: {"readOnlyHint":true,"idempotentHint":true,"openWorldHint":false}

    # get_tool_schema
    Get the full parameter schema of one or several tools before calling execute_read or execute_write.
    inputSchema: {"type":"object","properties":{"tool_name":{"type":"string","description":"From discover_tools."},"tool_names":{"type":"array","items":{"type":"string"}}}}
    annotations: {"readOnlyHint":true,"idempotentHint":true,"openWorldHint":false}

    # execute_read
    Execute a tool by name. Use discover_tools to find it. Only for tools with readOnlyHint true.
    inputSchema: {"type":"object","properties":{"tool_name":{"type":"string"},"arguments":{"type":"object","description":"Matching the schema from get_tool_schema."}},"required":["tool_name"]}
    annotations: {"readOnlyHint":true,"openWorldHint":true}

    # execute_write
    Execute a tool by name. Use discover_tools to find it. For all that may change something.
    inputSchema: {"type":"object","properties":{"tool_name":{"type":"string"},"arguments":{"type":"object","description":"Matching the schema from get_tool_schema."}},"required":["tool_name"]}
    annotations: {"readOnlyHint":false,"idempotentHint":false,"openWorldHint":true}
    "#);
    let answers = shown.answers(&[
        ("execute_read", r#"{"tool_name":"shop__list_products","arguments":{"query":"descaler"}}"#),
        (
            "execute_write",
            r#"{"tool_name":"shop__list_products","arguments":{"query":"descaler"}}"#,
        ),
        ("execute_read", r#"{"tool_name":"shop__place_order","arguments":{}}"#),
        ("execute_tool", r#"{"tool_name":"shop__list_products","arguments":{}}"#),
    ]);
    assert_snapshot!(answers.await, @r#"
    > execute_read {"tool_name":"shop__list_products","arguments":{"query":"descaler"}}
    {"tool":"shop__list_products","result":{"products":[{"sku":"descaler","name":"Descaler for coffee machines","category":"kitchen","about":"Five doses. Takes away the taste of tea, too.","price":6.9,"stock":18}]}}
    structured: {"products":[{"sku":"descaler","name":"Descaler for coffee machines","category":"kitchen","about":"Five doses. Takes away the taste of tea, too.","price":6.9,"stock":18}]}

    > execute_write {"tool_name":"shop__list_products","arguments":{"query":"descaler"}}
    {"tool":"shop__list_products","result":{"products":[{"sku":"descaler","name":"Descaler for coffee machines","category":"kitchen","about":"Five doses. Takes away the taste of tea, too.","price":6.9,"stock":18}]}}
    structured: {"products":[{"sku":"descaler","name":"Descaler for coffee machines","category":"kitchen","about":"Five doses. Takes away the taste of tea, too.","price":6.9,"stock":18}]}

    > execute_read {"tool_name":"shop__place_order","arguments":{}}
    error: {"error":"'shop__place_order' may change something. Call it through execute_write."}

    > execute_tool {"tool_name":"shop__list_products","arguments":{}}
    error: {"error":"Unknown tool 'execute_tool'. Tools: discover_tools, get_tool_schema, execute_read, execute_write"}
    "#);
}
