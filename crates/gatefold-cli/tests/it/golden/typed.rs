//! A tool for each kind of source.

use insta::assert_snapshot;

use super::Shown;

const QUERY: &str = "disclosure=typed";

#[tokio::test]
async fn what_kinds_shows() {
    let shown = Shown::through(QUERY, "").await;
    assert_snapshot!(shown.surface().await, @r#"
    Before you first use something behind one of these tools, look it up with the subcommand 'discover': connector, database, mcp. Skip that for what you've already used in this conversation.

    ## Available Skills
    Call read_skill(name) to load full content before executing any of these:
    - **report-a-fault**: Report something that is broken in the garden or its kitchen, so that it is reported once and somebody can act on it....
    - **welcome-a-colleague**: Prepare the first day of a new colleague. Use when somebody joins the garden's staff.

    # builtin__calculate
    Calculate an expression exactly: arbitrary decimals and fractions, powers, roots, logarithms, trigonometry, percentages, number bases, and units with conversion. Examples: `0.1 + 0.2`, `20% of 250`, `2^0.5`, `60 mph to km/h`, `1/3 to 5 dp`, `0xff to binary`. For dates use `datetime`.
    _meta: {"gatefold/category":"computation"}
    annotations: {"readOnlyHint":true,"destructiveHint":false,"idempotentHint":true,"openWorldHint":false}
    inputSchema: {"type":"object","properties":{"expression":{"type":"string","description":"What to calculate. `to` converts: units, `fraction`, `hex`, `5 dp`, `3 sf`.","maxLength":500}},"additionalProperties":false,"required":["expression"]}
    title: "Calculator"

    # results__read_result
    Read on in a result that was too large to be shown whole. Give its handle and one of: `path` for one value of JSON, `jq` for a program over it, `sql` for a SELECT over its rows, `lines` or `chars` for a range, `grep` for the lines that match. With the handle alone it reads the result from its beginning. Long answers come in pages: each says which call reads the next.
    annotations: {"readOnlyHint":true,"idempotentHint":true,"openWorldHint":true}
    inputSchema: {"type":"object","properties":{"handle":{"type":"string","description":"The handle that the preview of the result gave."},"path":{"type":"string","description":"One value of JSON: .items[3].title or a JSON pointer, /items/3/title."},"jq":{"type":"string","description":"A jq program, such as [.items[] | {id, title}]."},"sql":{"type":"string","description":"One SELECT over the table result: a list of objects, columns and rows, lines of JSON, or CSV."},"lines":{"type":"string","description":"Lines from one, such as 100-200 or 100."},"chars":{"type":"string","description":"Characters from one, such as 5001-9000."},"grep":{"type":"string","description":"A regular expression: the lines that match it."},"ignore_case":{"type":"boolean","description":"For grep: upper and lower case are the same. Default: false."},"context":{"type":"integer","minimum":0,"maximum":50,"description":"For grep: lines shown before and after each that matches. Default: 0."},"page":{"type":"integer","minimum":1,"description":"The page of what the other arguments give. Default: 1."}},"required":["handle"]}
    title: "Read a large result"

    # connector
    Interact with external services. Available connectors:
      - shop: Buy seeds, tools and kitchen supplies: find products, place, follow and cancel orders. -- actions: place_order, list_products

    Subcommands:
      discover <name> [action] -- list actions with full parameter schemas
      execute <name> <action> {"param": "value"} -- run an action
    inputSchema: {"type":"object","properties":{"subcommand":{"type":"string","enum":["discover","execute"]},"connector":{"type":"string","enum":["shop"]},"action":{"type":"string","description":"For discover, omit it to see all actions."},"parameters":{"type":"object","description":"Matching the action's schema."},"cursor":{"type":"string","description":"The last next_cursor."}},"required":["subcommand","connector"]}
    annotations: {"readOnlyHint":false,"destructiveHint":true,"openWorldHint":true}
    _meta: {"gatefold/category":"connector"}

    # database
    Query connected databases. Available databases:
      - staff: Employees of a garden: who reports to whom, departments and leave. (4 tables: bank_accounts, departments, employees, leave_requests)

    Subcommands:
      list_tables <database> -- table names, descriptions, column counts
      discover <database> [table] -- full column schemas for one or all tables
      query <database> <sql> -- execute a SQL query
      explain <database> <sql> -- how a SQL query would run, without running it
    inputSchema: {"type":"object","properties":{"subcommand":{"type":"string","enum":["list_tables","discover","query","explain"]},"database":{"type":"string","enum":["staff"]},"table":{"type":"string","description":"For discover, omit it to see all tables."},"sql":{"type":"string","description":"One statement."},"cursor":{"type":"string","description":"The last next_cursor."}},"required":["subcommand","database"]}
    annotations: {"readOnlyHint":true,"destructiveHint":false,"openWorldHint":false}
    _meta: {"gatefold/category":"database"}

    # mcp
    Interact with MCP servers. Available servers:
      - units: Calculate, summarise numbers and convert units of measure. (2 tools: convert_unit, search_units)

    Subcommands:
      discover <server> [tool] -- list tools with full parameter schemas
      call <server> <tool> {"param": "value"} -- invoke an MCP tool
    inputSchema: {"type":"object","properties":{"subcommand":{"type":"string","enum":["discover","call"]},"server":{"type":"string","enum":["units"]},"tool":{"type":"string","description":"For discover, omit it to see all tools."},"parameters":{"type":"object","description":"Matching the tool's schema."},"cursor":{"type":"string","description":"The last next_cursor."}},"required":["subcommand","server"]}
    annotations: {"readOnlyHint":true,"destructiveHint":false,"openWorldHint":false}
    _meta: {"gatefold/category":"mcp"}

    # read_skill
    Read a skill: a procedure to follow, with its files and the tools that it names. Scripts are given, not run.

    ## Available Skills
    Call read_skill(name) to load full content before executing any of these:
    - **report-a-fault**: Report something that is broken in the garden or its kitchen, so that it is reported once and somebody can act on it....
    - **welcome-a-colleague**: Prepare the first day of a new colleague. Use when somebody joins the garden's staff.
    inputSchema: {"type":"object","properties":{"name":{"type":"string","enum":["report-a-fault","welcome-a-colleague"]},"file":{"type":"string","description":"One of its files, as the skill lists them."},"cursor":{"type":"string","description":"The last next_cursor."}}}
    annotations: {"readOnlyHint":true,"idempotentHint":true,"openWorldHint":false}
    "#);
}

#[tokio::test]
async fn what_kinds_answers() {
    let shown = Shown::through(QUERY, "").await;
    let answers = shown.answers(&[
        ("connector", r#"{"subcommand":"discover","connector":"shop"}"#),
        ("connector", r#"{"subcommand":"discover","connector":"shop","action":"list_products"}"#),
        ("connector", r#"{"subcommand":"execute","connector":"shop","action":"list_products","parameters":{"query":"descaler"}}"#),
        ("database", r#"{"subcommand":"list_tables","database":"staff"}"#),
        ("database", r#"{"subcommand":"discover","database":"staff","table":"departments"}"#),
        ("database", r#"{"subcommand":"query","database":"staff","sql":"SELECT name FROM departments ORDER BY id LIMIT 2"}"#),
        ("database", r#"{"subcommand":"explain","database":"staff","sql":"SELECT name FROM departments"}"#),
        ("mcp", r#"{"subcommand":"discover","server":"units"}"#),
        ("mcp", r#"{"subcommand":"call","server":"units","tool":"convert_unit","parameters":{"value":1,"from":"mile","to":"km"}}"#),
        ("read_skill", "{}"),
        ("read_skill", r#"{"name":"report-a-fault"}"#),
        ("read_skill", r#"{"name":"report-a-fault","file":"references/priorities.md"}"#),
        ("builtin__calculate", r#"{"expression":"12 kg / (15 g)"}"#),
    ]);
    assert_snapshot!(answers.await, @r##"
    > connector {"subcommand":"discover","connector":"shop"}
    {"connector":"shop","actions":[{"name":"place_order","method":"POST","path":"/orders","body_template":{"customer":"{customer}","address":"{address}","items":"{items}","delivery":"{delivery}","note":"{note}"},"description":"Order products of the shop for a customer.","parameters":{"type":"object","properties":{"customer":{"type":"string","minLength":1,"maxLength":120,"description":"Who buys it."},"address":{"type":"string","minLength":1,"maxLength":300,"description":"Where the parcel goes."},"items":{"type":"array","items":{"type":"object","properties":{"sku":{"type":"string","pattern":"^[a-z0-9-]+$","maxLength":40,"description":"The product's short name, such as \"tomato-cherry\"."},"quantity":{"type":"integer","minimum":1,"maximum":1000,"description":"How many of it."}},"additionalProperties":false,"required":["sku","quantity"]},"minItems":1,"maxItems":20,"description":"What is bought."},"delivery":{"type":"string","enum":["standard","express"],"description":"How it is sent: for 3.90 or 8.90 euros.","default":"standard"},"note":{"type":"string","maxLength":500,"description":"For those who pack or bring it.","default":""}},"required":["customer","address","items"],"additionalProperties":false},"output_schema":{"type":"object","properties":{"id":{"type":"integer","description":"The order's number."},"customer":{"type":"string","description":"Who bought it."},"address":{"type":"string","description":"Where the parcel goes."},"delivery":{"type":"string","description":"\"standard\" or \"express\"."},"note":{"type":"string","description":"For those who pack or bring it."},"status":{"type":"string","description":"\"placed\", \"sent\", \"delivered\" or \"cancelled\"."},"reason":{"type":"string","description":"Why it was cancelled; absent otherwise."},"items":{"type":"array","items":{"type":"object","properties":{"sku":{"type":"string","description":"The product's short name."},"name":{"type":"string","description":"What it is called."},"quantity":{"type":"integer","description":"How many of it."},"price":{"type":"number","description":"In euros, of one."}},"additionalProperties":false,"required":["sku","name","quantity","price"]},"description":"What was bought."},"total":{"type":"number","description":"In euros, with delivery."},"placed_at":{"type":"string","description":"When it was ordered, RFC 3339 in UTC."}},"additionalProperties":false,"required":["id","customer","address","delivery","note","status","items","total","placed_at"]}},{"name":"list_products","method":"GET","path":"/products","description":"Find products of the shop, with price and stock.","parameters":{"type":"object","properties":{"query":{"type":"string","minLength":1,"maxLength":200,"description":"Words that all occur in the product's name or text."},"category":{"type":"string","enum":["seeds","tools","pots","kitchen"],"description":"Only products of this kind."},"max_price":{"type":"integer","minimum":1,"maximum":10000,"description":"Only products up to this price, in euros."},"in_stock":{"type":"boolean","description":"Only what can be had at once."},"limit":{"type":"integer","minimum":1,"maximum":100,"default":20,"description":"Most entries to return."},"offset":{"type":"integer","minimum":0,"maximum":1000000,"default":0,"description":"Entries to skip, from next_offset of the page before."}},"additionalProperties":false},"output_schema":{"type":"object","properties":{"products":{"type":"array","items":{"type":"object","properties":{"sku":{"type":"string","description":"Short name to order it by."},"name":{"type":"string","description":"What it is called."},"category":{"type":"string","description":"\"seeds\", \"tools\", \"pots\" or \"kitchen\"."},"about":{"type":"string","description":"What to know about it."},"price":{"type":"number","description":"In euros."},"stock":{"type":"integer","description":"How many there are."}},"additionalProperties":false,"required":["sku","name","category","about","price","stock"]},"description":"The entries of this page."},"next_offset":{"type":"integer","description":"Offset of the next page; absent on the last page."}},"additionalProperties":false,"required":["products"]}}]}

    > connector {"subcommand":"discover","connector":"shop","action":"list_products"}
    {"connector":"shop","name":"list_products","method":"GET","path":"/products","description":"Find products of the shop, with price and stock.","parameters":{"type":"object","properties":{"query":{"type":"string","minLength":1,"maxLength":200,"description":"Words that all occur in the product's name or text."},"category":{"type":"string","enum":["seeds","tools","pots","kitchen"],"description":"Only products of this kind."},"max_price":{"type":"integer","minimum":1,"maximum":10000,"description":"Only products up to this price, in euros."},"in_stock":{"type":"boolean","description":"Only what can be had at once."},"limit":{"type":"integer","minimum":1,"maximum":100,"default":20,"description":"Most entries to return."},"offset":{"type":"integer","minimum":0,"maximum":1000000,"default":0,"description":"Entries to skip, from next_offset of the page before."}},"additionalProperties":false},"output_schema":{"type":"object","properties":{"products":{"type":"array","items":{"type":"object","properties":{"sku":{"type":"string","description":"Short name to order it by."},"name":{"type":"string","description":"What it is called."},"category":{"type":"string","description":"\"seeds\", \"tools\", \"pots\" or \"kitchen\"."},"about":{"type":"string","description":"What to know about it."},"price":{"type":"number","description":"In euros."},"stock":{"type":"integer","description":"How many there are."}},"additionalProperties":false,"required":["sku","name","category","about","price","stock"]},"description":"The entries of this page."},"next_offset":{"type":"integer","description":"Offset of the next page; absent on the last page."}},"additionalProperties":false,"required":["products"]}}

    > connector {"subcommand":"execute","connector":"shop","action":"list_products","parameters":{"query":"descaler"}}
    {"tool":"shop__list_products","result":{"products":[{"sku":"descaler","name":"Descaler for coffee machines","category":"kitchen","about":"Five doses. Takes away the taste of tea, too.","price":6.9,"stock":18}]}}
    structured: {"products":[{"sku":"descaler","name":"Descaler for coffee machines","category":"kitchen","about":"Five doses. Takes away the taste of tea, too.","price":6.9,"stock":18}]}

    > database {"subcommand":"list_tables","database":"staff"}
    {"tool":"staff__list_tables","result":{"database":"SQLite 3.51.3","schemas":[{"schema":"main","tables":[{"name":"bank_accounts","columns":0},{"name":"departments","columns":3},{"name":"employees","columns":8},{"name":"leave_requests","columns":6}]}],"tables":4}}

    > database {"subcommand":"discover","database":"staff","table":"departments"}
    {"tool":"staff__describe_table","result":{"table":"main.departments","kind":"table","columns":[{"name":"id","type":"integer","nullable":true},{"name":"name","type":"text","nullable":false},{"name":"cost_centre","type":"text","nullable":false}],"primary_key":["id"],"indexes":["sqlite_autoindex_departments_1: unique (name)"]}}

    > database {"subcommand":"query","database":"staff","sql":"SELECT name FROM departments ORDER BY id LIMIT 2"}
    {"tool":"staff__query","result":{"columns":[{"name":"name","type":"text"}],"rows":[["Garden"],["Kitchen"]],"row_count":2,"truncated":false}}

    > database {"subcommand":"explain","database":"staff","sql":"SELECT name FROM departments"}
    {"tool":"staff__explain","result":{"plan":"SCAN main.departments USING COVERING INDEX sqlite_autoindex_departments_1\n"}}

    > mcp {"subcommand":"discover","server":"units"}
    {"server":"units","tools":[{"name":"convert_unit","description":"Convert a value from one unit of measure to another, such as miles to kilometres.","parameters":{"type":"object","properties":{"value":{"type":"number","description":"How many of the unit."},"from":{"type":"string","minLength":1,"maxLength":40,"description":"Unit of the value: a symbol such as \"km/h\" or a name such as \"mile\"."},"to":{"type":"string","minLength":1,"maxLength":40,"description":"Unit to convert to, which measures the same."}},"required":["value","from","to"],"additionalProperties":false},"output_schema":{"type":"object","properties":{"conversions":{"type":"array","items":{"type":"object","properties":{"value":{"type":"number","description":"The result."},"unit":{"type":"string","description":"Symbol of its unit."}},"required":["value","unit"],"additionalProperties":false},"description":"What was found."}},"required":["conversions"],"additionalProperties":false}},{"name":"search_units","description":"Find units of measure by a part of their name.","parameters":{"type":"object","properties":{"query":{"type":"string","minLength":1,"maxLength":40,"description":"Words to look for, such as \"metre\"."},"limit":{"type":"integer","minimum":1,"maximum":100,"description":"Most entries to return.","default":20},"offset":{"type":"integer","minimum":0,"maximum":1000000,"description":"Entries to skip, from next_offset of the page before.","default":0}},"required":["query"],"additionalProperties":false},"output_schema":{"type":"object","properties":{"units":{"type":"array","items":{"type":"object","properties":{"symbol":{"type":"string","description":"The unit's symbol."},"name":{"type":"string","description":"Its name in the singular."},"measures":{"type":"string","description":"What it measures."}},"required":["symbol","name","measures"],"additionalProperties":false},"description":"The entries of this page."},"next_offset":{"type":"integer","description":"Offset of the next page; absent on the last page."}},"required":["units"],"additionalProperties":false}}]}

    > mcp {"subcommand":"call","server":"units","tool":"convert_unit","parameters":{"value":1,"from":"mile","to":"km"}}
    {"tool":"units__convert_unit","result":{"conversions":[{"value":1.609344,"unit":"km"}]}}
    structured: {"conversions":[{"value":1.609344,"unit":"km"}]}

    > read_skill {}
    {"skills":[{"name":"report-a-fault","description":"Report something that is broken in the garden or its kitchen, so that it is reported once and somebody can act on it...."},{"name":"welcome-a-colleague","description":"Prepare the first day of a new colleague. Use when somebody joins the garden's staff."}]}

    > read_skill {"name":"report-a-fault"}
    # Report a fault

    1. Look whether it is known: `issues__search_issues` with one word for the thing. If it is, add what is new as a comment
       and stop.
    2. Choose the priority by `references/priorities.md`.
    3. Report it with `issues__create_issue`: the title says what happens, the body since when and how often.
    4. Look for a remedy with `shop__list_products`. Do not order anything that was not asked for.

    ## Files of this skill
    Read one as you read this, with its path as 'file'. Scripts are given, not run.
    - `references/priorities.md` (markdown, 213 bytes)

    ## Tools that this skill names
    Call each as you call the other tools of its domain.
    - `shop__list_products(category?: "seeds"|"tools"|"pots"|"kitchen", in_stock?: boolean, limit?: integer = 20 [1..100], max_price?: integer [1..10000], offset?: integer = 0 [0..1000000], query?: string)`
    structured: {"name":"report-a-fault","description":"Report something that is broken in the garden or its kitchen, so that it is reported once and somebody can act on it. Use when a machine, tool or building does not do what it should.","text":"# Report a fault\n\n1. Look whether it is known: `issues__search_issues` with one word for the thing. If it is, add what is new as a comment\n   and stop.\n2. Choose the priority by `references/priorities.md`.\n3. Report it with `issues__create_issue`: the title says what happens, the body since when and how often.\n4. Look for a remedy with `shop__list_products`. Do not order anything that was not asked for.","files":[{"file":"references/priorities.md","size":213,"language":"markdown"}],"tools":[{"id":"shop__list_products","signature":"shop__list_products(category?: \"seeds\"|\"tools\"|\"pots\"|\"kitchen\", in_stock?: boolean, limit?: integer = 20 [1..100], max_price?: integer [1..10000], offset?: integer = 0 [0..1000000], query?: string)"}]}

    > read_skill {"name":"report-a-fault","file":"references/priorities.md"}
    # Priorities

    | priority | when |
    |---|---|
    | `high` | somebody may be hurt, plants may die, or the coffee machine is affected |
    | `normal` | work goes on, but slower |
    | `low` | nobody would notice for a month |

    structured: {"file":"references/priorities.md","size":213,"language":"markdown","name":"report-a-fault","text":"# Priorities\n\n| priority | when |\n|---|---|\n| `high` | somebody may be hurt, plants may die, or the coffee machine is affected |\n| `normal` | work goes on, but slower |\n| `low` | nobody would notice for a month |\n"}

    > builtin__calculate {"expression":"12 kg / (15 g)"}
    800
    structured: {"result":"800","exact":true}
    "##);
}

#[tokio::test]
#[expect(clippy::too_many_lines, reason = "the answers are whole")]
async fn what_kinds_says_of_wrong_calls() {
    let shown = Shown::through(QUERY, "").await;
    let answers = shown.answers(&[
        ("connector", "{}"),
        ("connector", r#"{"subcommand":"discovery"}"#),
        ("connector", r#"{"subcommand":"discover"}"#),
        ("connector", r#"{"subcommand":"discover","connector":"shopp"}"#),
        ("connector", r#"{"subcommand":"discover","connector":"shop","action":"list_product"}"#),
        ("connector", r#"{"subcommand":"execute","connector":"shop"}"#),
        ("connector", r#"{"subcommand":"execute","connector":"shop","action":"place_order","parameters":{"items":[]}}"#),
        ("connector", r#"{"subcommand":"execute","connector":"shop","action":"list_products","parameters":7}"#),
        ("database", r#"{"subcommand":"query","database":"staff"}"#),
        ("database", r#"{"subcommand":"query","database":"staff","sql":"DELETE FROM departments"}"#),
        ("database", r#"{"subcommand":"discover","database":"staff","table":"wages"}"#),
        ("database", r#"{"subcommand":"query","database":"payroll","sql":"SELECT 1"}"#),
        ("mcp", r#"{"subcommand":"call","server":"units","tool":"convert"}"#),
        ("mcp", r#"{"subcommand":"call","server":"units","tool":"convert_unit","parameters":{"value":1,"from":"mile"}}"#),
        ("mcp", r#"{"subcommand":"call","server":"unit","tool":"convert_unit"}"#),
        ("mcp", r#"{"subcommand":"discover","server":7}"#),
        ("read_skill", r#"{"name":"report-fault"}"#),
        ("read_skill", r#"{"name":"report-a-fault","file":"priorities.md"}"#),
        ("read_skill", r#"{"file":"references/priorities.md"}"#),
        ("units__convert_unit", r#"{"value":1,"from":"mile","to":"km"}"#),
        ("conector", "{}"),
        ("launch", "{}"),
    ]);
    assert_snapshot!(answers.await, @r#"
    > connector {}
    error: {"error":"Missing parameter 'subcommand' of connector. Available subcommands: discover, execute"}

    > connector {"subcommand":"discovery"}
    error: {"error":"Unknown subcommand 'discovery' of connector. Did you mean 'discover'? Available subcommands: discover, execute"}

    > connector {"subcommand":"discover"}
    error: {"error":"Missing parameter 'connector' of connector. Available connectors: shop"}

    > connector {"subcommand":"discover","connector":"shopp"}
    error: {"error":"Unknown connector 'shopp'. Did you mean 'shop'? Available connectors: shop"}

    > connector {"subcommand":"discover","connector":"shop","action":"list_product"}
    error: {"error":"Unknown action 'list_product' of connector 'shop'. Did you mean 'list_products'? The subcommand 'discover' of connector shows all."}

    > connector {"subcommand":"execute","connector":"shop"}
    error: {"error":"Missing parameter 'action' of connector. Available actions of 'shop': place_order, list_products"}

    > connector {"subcommand":"execute","connector":"shop","action":"place_order","parameters":{"items":[]}}
    error: {"tool":"shop__place_order","error":"`customer` is missing; `address` is missing; `items` has 0 items, and at least 1 is wanted","differs":"missing required 'customer'; missing required 'address'","signature":"shop__place_order(customer: string, address: string, items: {sku: string, quantity: integer [1..1000]}[], delivery?: \"standard\"|\"express\" = \"standard\", note?: string = \"\")"}

    > connector {"subcommand":"execute","connector":"shop","action":"list_products","parameters":7}
    error: {"error":"Parameter 'parameters' of connector must be an object for shop__list_products(category?: \"seeds\"|\"tools\"|\"pots\"|\"kitchen\", in_stock?: boolean, limit?: integer = 20 [1..100], max_price?: integer [1..10000], offset?: integer = 0 [0..1000000], query?: string)"}

    > database {"subcommand":"query","database":"staff"}
    error: {"error":"Missing parameter 'sql' of database, which the subcommand 'query' needs."}

    > database {"subcommand":"query","database":"staff","sql":"DELETE FROM departments"}
    error: {"tool":"staff__query","error":"`DELETE` is not allowed: a statement may be `SELECT`, `WITH`, `VALUES` or `TABLE`","signature":"staff__query(sql: string, max_rows?: integer [1..1000])"}

    > database {"subcommand":"discover","database":"staff","table":"wages"}
    error: {"tool":"staff__describe_table","error":"there is no table `wages`; the tables: main.bank_accounts, main.departments, main.employees, main.leave_requests","signature":"staff__describe_table(cursor?: string, samples?: boolean, table?: string)"}

    > database {"subcommand":"query","database":"payroll","sql":"SELECT 1"}
    error: {"error":"Unknown database 'payroll'. Available databases: staff"}

    > mcp {"subcommand":"call","server":"units","tool":"convert"}
    error: {"error":"Unknown tool 'units__convert'. Did you mean 'units__convert_unit'?"}

    > mcp {"subcommand":"call","server":"units","tool":"convert_unit","parameters":{"value":1,"from":"mile"}}
    error: {"tool":"units__convert_unit","error":"missing field `to`; arguments: value: number, from: string, to: string","differs":"missing required 'to'","signature":"units__convert_unit(value: number, from: string, to: string)"}

    > mcp {"subcommand":"call","server":"unit","tool":"convert_unit"}
    error: {"error":"Unknown server 'unit'. Did you mean 'units'? Available servers: units"}

    > mcp {"subcommand":"discover","server":7}
    error: {"error":"Parameter 'server' of mcp must be a string."}

    > read_skill {"name":"report-fault"}
    error: {"error":"Unknown skill 'report-fault'. Did you mean 'report-a-fault'? Call read_skill without a name to list all."}

    > read_skill {"name":"report-a-fault","file":"priorities.md"}
    error: {"tool":"read_skill","error":"Unknown file 'priorities.md'. Did you mean 'references/priorities.md' or 'SKILL.md'?","signature":"read_skill(file?: string, name?: \"report-a-fault\"|\"welcome-a-colleague\")"}

    > read_skill {"file":"references/priorities.md"}
    error: {"error":"Missing parameter 'name' of read_skill. Name the skill that has the file 'references/priorities.md'."}

    > units__convert_unit {"value":1,"from":"mile","to":"km"}
    error: {"error":"Call 'units__convert_unit' through mcp, with the subcommand 'call', the server 'units' and the tool 'convert_unit'."}

    > conector {}
    error: {"error":"Unknown tool 'conector'. Did you mean 'connector'? Tools: builtin__calculate, results__read_result, connector, database, mcp, read_skill"}

    > launch {}
    error: {"error":"Unknown tool 'launch'. Tools: builtin__calculate, results__read_result, connector, database, mcp, read_skill"}
    "#);
}

#[tokio::test]
#[expect(clippy::too_many_lines, reason = "the answers are whole")]
async fn what_kinds_show_one_by_one_with_skills_in_the_instructions() {
    let config = "[disclosure]\nskill_tool_mode = 'inline'\nconnector_tool_mode = 'legacy'\n\
                  database_tool_mode = 'legacy'\nmcp_tool_mode = 'legacy'\n";
    let shown = Shown::through(QUERY, config).await;
    assert_snapshot!(shown.surface().await, @r#"
    ## Skills
    Follow these procedures where they apply.

    ### report-a-fault
    # Report a fault

    1. Look whether it is known: `issues__search_issues` with one word for the thing. If it is, add what is new as a comment
       and stop.
    2. Choose the priority by `references/priorities.md`.
    3. Report it with `issues__create_issue`: the title says what happens, the body since when and how often.
    4. Look for a remedy with `shop__list_products`. Do not order anything that was not asked for.

    ### welcome-a-colleague
    # Welcome a colleague

    1. Add them to the contacts book, in the group of their department.
    2. Find a free hour in the first morning and put a tour of the beds into the calendar, with their manager.
    3. Tell whoever asked what was planned, and what is still open.

    # builtin__calculate
    Calculate an expression exactly: arbitrary decimals and fractions, powers, roots, logarithms, trigonometry, percentages, number bases, and units with conversion. Examples: `0.1 + 0.2`, `20% of 250`, `2^0.5`, `60 mph to km/h`, `1/3 to 5 dp`, `0xff to binary`. For dates use `datetime`.
    _meta: {"gatefold/category":"computation"}
    annotations: {"readOnlyHint":true,"destructiveHint":false,"idempotentHint":true,"openWorldHint":false}
    inputSchema: {"type":"object","properties":{"expression":{"type":"string","description":"What to calculate. `to` converts: units, `fraction`, `hex`, `5 dp`, `3 sf`.","maxLength":500}},"additionalProperties":false,"required":["expression"]}
    title: "Calculator"

    # results__read_result
    Read on in a result that was too large to be shown whole. Give its handle and one of: `path` for one value of JSON, `jq` for a program over it, `sql` for a SELECT over its rows, `lines` or `chars` for a range, `grep` for the lines that match. With the handle alone it reads the result from its beginning. Long answers come in pages: each says which call reads the next.
    annotations: {"readOnlyHint":true,"idempotentHint":true,"openWorldHint":true}
    inputSchema: {"type":"object","properties":{"handle":{"type":"string","description":"The handle that the preview of the result gave."},"path":{"type":"string","description":"One value of JSON: .items[3].title or a JSON pointer, /items/3/title."},"jq":{"type":"string","description":"A jq program, such as [.items[] | {id, title}]."},"sql":{"type":"string","description":"One SELECT over the table result: a list of objects, columns and rows, lines of JSON, or CSV."},"lines":{"type":"string","description":"Lines from one, such as 100-200 or 100."},"chars":{"type":"string","description":"Characters from one, such as 5001-9000."},"grep":{"type":"string","description":"A regular expression: the lines that match it."},"ignore_case":{"type":"boolean","description":"For grep: upper and lower case are the same. Default: false."},"context":{"type":"integer","minimum":0,"maximum":50,"description":"For grep: lines shown before and after each that matches. Default: 0."},"page":{"type":"integer","minimum":1,"description":"The page of what the other arguments give. Default: 1."}},"required":["handle"]}
    title: "Read a large result"

    # shop__list_products
    Find products of the shop, with price and stock.
    _meta: {"gatefold/http":{"method":"GET","base":"http://127.0.0.1:PORT","path":"/products","parameters":[{"name":"query","in":"query"},{"name":"category","in":"query"},{"name":"max_price","in":"query"},{"name":"in_stock","in":"query"},{"name":"limit","in":"query"},{"name":"offset","in":"query"}],"accept":["application/json","application/problem+json"],"failures":{"404":"Not Found","409":"Conflict","422":"Unprocessable Entity"}}}
    annotations: {"readOnlyHint":true,"openWorldHint":true}
    inputSchema: {"type":"object","properties":{"query":{"type":"string","minLength":1,"maxLength":200,"description":"Words that all occur in the product's name or text."},"category":{"type":"string","enum":["seeds","tools","pots","kitchen"],"description":"Only products of this kind."},"max_price":{"type":"integer","minimum":1,"maximum":10000,"description":"Only products up to this price, in euros."},"in_stock":{"type":"boolean","description":"Only what can be had at once."},"limit":{"type":"integer","minimum":1,"maximum":100,"default":20,"description":"Most entries to return."},"offset":{"type":"integer","minimum":0,"maximum":1000000,"default":0,"description":"Entries to skip, from next_offset of the page before."}},"additionalProperties":false}
    title: "Find products of the shop, with price and stock."

    # shop__place_order
    Order products of the shop for a customer.
    _meta: {"gatefold/http":{"method":"POST","base":"http://127.0.0.1:PORT","path":"/orders","body":{"arguments":{"members":{"names":["customer","address","items","delivery","note"],"required":true}},"media":[{"type":"application/json"}]},"accept":["application/json","application/problem+json"],"failures":{"404":"Not Found","409":"Conflict","422":"Unprocessable Entity"}}}
    annotations: {"readOnlyHint":false,"openWorldHint":true}
    inputSchema: {"type":"object","properties":{"customer":{"type":"string","minLength":1,"maxLength":120,"description":"Who buys it."},"address":{"type":"string","minLength":1,"maxLength":300,"description":"Where the parcel goes."},"items":{"type":"array","items":{"type":"object","properties":{"sku":{"type":"string","pattern":"^[a-z0-9-]+$","maxLength":40,"description":"The product's short name, such as \"tomato-cherry\"."},"quantity":{"type":"integer","minimum":1,"maximum":1000,"description":"How many of it."}},"additionalProperties":false,"required":["sku","quantity"]},"minItems":1,"maxItems":20,"description":"What is bought."},"delivery":{"type":"string","enum":["standard","express"],"description":"How it is sent: for 3.90 or 8.90 euros.","default":"standard"},"note":{"type":"string","maxLength":500,"description":"For those who pack or bring it.","default":""}},"required":["customer","address","items"],"additionalProperties":false}
    title: "Order products of the shop for a customer."

    # staff__describe_table
    Describe a table: its columns with types, keys, comments and indexes. Without `table`, all tables in pages.
    annotations: {"readOnlyHint":true,"idempotentHint":true,"openWorldHint":false}
    inputSchema: {"type":"object","properties":{"table":{"type":"string","description":"`table` or `schema.table`."},"samples":{"type":"boolean","description":"Show a few values of each column."},"cursor":{"type":"string","description":"`next_cursor` of the page before."}},"additionalProperties":false}

    # staff__explain
    Show how SQLite would run a SELECT, without running it.
    annotations: {"readOnlyHint":true,"idempotentHint":true,"openWorldHint":false}
    inputSchema: {"type":"object","properties":{"sql":{"type":"string","description":"One SELECT."}},"additionalProperties":false,"required":["sql"]}

    # staff__list_tables
    List the tables of this database with their descriptions, column counts and row estimates. It has 4 tables: bank_accounts, departments, employees, leave_requests.
    annotations: {"readOnlyHint":true,"idempotentHint":true,"openWorldHint":false}
    inputSchema: {"type":"object","properties":{"schema":{"type":"string","description":"Only the tables of this schema."},"contains":{"type":"string","description":"Only tables whose names contain this."},"cursor":{"type":"string","description":"`next_cursor` of the page before."},"refresh":{"type":"boolean","description":"Read the tables again, after a change."}},"additionalProperties":false}

    # staff__query
    Run one SQLite SELECT and return its columns and rows, at most 1000. Nothing can be written. Look tables and columns up first, with describe_table.
    annotations: {"readOnlyHint":true,"idempotentHint":true,"openWorldHint":false}
    inputSchema: {"type":"object","properties":{"sql":{"type":"string","description":"One SELECT in the SQL of SQLite, without placeholders."},"max_rows":{"type":"integer","minimum":1,"maximum":1000}},"additionalProperties":false,"required":["sql"]}

    # units__convert_unit
    Convert a value from one unit of measure to another, such as miles to kilometres.
    inputSchema: {"type":"object","properties":{"value":{"type":"number","description":"How many of the unit."},"from":{"type":"string","minLength":1,"maxLength":40,"description":"Unit of the value: a symbol such as \"km/h\" or a name such as \"mile\"."},"to":{"type":"string","minLength":1,"maxLength":40,"description":"Unit to convert to, which measures the same."}},"required":["value","from","to"],"additionalProperties":false}
    annotations: {"readOnlyHint":true,"destructiveHint":false,"idempotentHint":true,"openWorldHint":false}

    # units__search_units
    Find units of measure by a part of their name.
    inputSchema: {"type":"object","properties":{"query":{"type":"string","minLength":1,"maxLength":40,"description":"Words to look for, such as \"metre\"."},"limit":{"type":"integer","minimum":1,"maximum":100,"description":"Most entries to return.","default":20},"offset":{"type":"integer","minimum":0,"maximum":1000000,"description":"Entries to skip, from next_offset of the page before.","default":0}},"required":["query"],"additionalProperties":false}
    annotations: {"readOnlyHint":true,"destructiveHint":false,"idempotentHint":true,"openWorldHint":false}

    # read_skill
    Read a skill: a procedure to follow, with its files and the tools that it names. Scripts are given, not run.

    ## Available Skills
    Call read_skill(name) to load full content before executing any of these:
    - **report-a-fault**: Report something that is broken in the garden or its kitchen, so that it is reported once and somebody can act on it....
    - **welcome-a-colleague**: Prepare the first day of a new colleague. Use when somebody joins the garden's staff.
    inputSchema: {"type":"object","properties":{"name":{"type":"string","enum":["report-a-fault","welcome-a-colleague"]},"file":{"type":"string","description":"One of its files, as the skill lists them."},"cursor":{"type":"string","description":"The last next_cursor."}}}
    annotations: {"readOnlyHint":true,"idempotentHint":true,"openWorldHint":false}
    "#);
}
