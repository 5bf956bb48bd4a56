//! Every tool as its source defines it.

use insta::assert_snapshot;

use super::Shown;

const QUERY: &str = "disclosure=flat";

#[tokio::test]
async fn what_all_tools_at_once_shows() {
    let shown = Shown::through(QUERY, "").await;
    assert_snapshot!(shown.surface().await, @r#"
    Tools of these sources: builtin, results, shop, skills, staff, units

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

    # skills__read_skill
    Read a skill: a procedure to follow, with its files and the tools that it names. Scripts are given, not run.

    ## Available Skills
    Load the full content of one by its name before executing any of these:
    - **report-a-fault**: Report something that is broken in the garden or its kitchen, so that it is reported once and somebody can act on it....
    - **welcome-a-colleague**: Prepare the first day of a new colleague. Use when somebody joins the garden's staff.
    annotations: {"readOnlyHint":true,"idempotentHint":true,"openWorldHint":false}
    inputSchema: {"type":"object","properties":{"name":{"type":"string","description":"The skill. Without it, they are listed.","enum":["report-a-fault","welcome-a-colleague"]},"file":{"type":"string","description":"One of its files, as the skill lists them."}},"additionalProperties":false}

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
    "#);
}

#[tokio::test]
async fn what_all_tools_at_once_answers() {
    let shown = Shown::through(QUERY, "").await;
    let answers = shown.answers(&[
        ("units__convert_unit", r#"{"value":1,"from":"mile","to":"km"}"#),
        ("shop__list_products", r#"{"query":"descaler"}"#),
        ("staff__query", r#"{"sql":"SELECT name FROM departments ORDER BY id LIMIT 2"}"#),
        ("skills__read_skill", r#"{"name":"report-a-fault"}"#),
        ("builtin__calculate", r#"{"expression":"12 kg / (15 g)"}"#),
    ]);
    assert_snapshot!(answers.await, @r##"
    > units__convert_unit {"value":1,"from":"mile","to":"km"}
    {"conversions":[{"value":1.609344,"unit":"km"}]}
    structured: {"conversions":[{"value":1.609344,"unit":"km"}]}

    > shop__list_products {"query":"descaler"}
    {"products":[{"sku":"descaler","name":"Descaler for coffee machines","category":"kitchen","about":"Five doses. Takes away the taste of tea, too.","price":6.9,"stock":18}]}
    structured: {"products":[{"sku":"descaler","name":"Descaler for coffee machines","category":"kitchen","about":"Five doses. Takes away the taste of tea, too.","price":6.9,"stock":18}]}

    > staff__query {"sql":"SELECT name FROM departments ORDER BY id LIMIT 2"}
    {"columns":[{"name":"name","type":"text"}],"rows":[["Garden"],["Kitchen"]],"row_count":2,"truncated":false}

    > skills__read_skill {"name":"report-a-fault"}
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

    > builtin__calculate {"expression":"12 kg / (15 g)"}
    800
    structured: {"result":"800","exact":true}
    "##);
}

#[tokio::test]
async fn what_all_tools_at_once_says_of_wrong_calls() {
    let shown = Shown::through(QUERY, "").await;
    let answers = shown.answers(&[
        ("units__convert_units", "{}"),
        ("launch", "{}"),
        ("units__convert_unit", r#"{"value":1,"from":"mile"}"#),
        ("units__convert_unit", r#"{"value":1,"from":"mile","to":"kg"}"#),
        ("shop__place_order", r#"{"items":[]}"#),
        ("staff__query", r#"{"sql":"DELETE FROM departments"}"#),
        ("staff__query", "{}"),
        ("skills__read_skill", r#"{"name":"report-fault"}"#),
        ("builtin__calculate", r#"{"expression":"12 kg / "}"#),
    ]);
    assert_snapshot!(answers.await, @r#"
    > units__convert_units {}
    protocol error -32602: unknown tool `units__convert_units`: did you mean `units__convert_unit`?

    > launch {}
    protocol error -32602: unknown tool `launch`

    > units__convert_unit {"value":1,"from":"mile"}
    error: missing field `to`; arguments: value: number, from: string, to: string

    > units__convert_unit {"value":1,"from":"mile","to":"kg"}
    {"conversions":[]}
    structured: {"conversions":[]}

    > shop__place_order {"items":[]}
    protocol error -32602: `customer` is missing; `address` is missing; `items` has 0 items, and at least 1 is wanted

    > staff__query {"sql":"DELETE FROM departments"}
    protocol error -32602: `DELETE` is not allowed: a statement may be `SELECT`, `WITH`, `VALUES` or `TABLE`

    > staff__query {}
    protocol error -32602: missing field `sql`

    > skills__read_skill {"name":"report-fault"}
    protocol error -32602: Unknown skill 'report-fault'. Did you mean 'report-a-fault'?

    > builtin__calculate {"expression":"12 kg / "}
    protocol error -32602: it cannot be calculated: unexpected input found
    "#);
}
