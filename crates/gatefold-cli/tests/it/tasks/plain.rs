//! Tasks without a mistake: find, inspect, call.

use serde_json::json;

use super::task::{Task, chosen, is, plain, wanted};

const PER_DEPARTMENT: &str = "SELECT d.name, count(*) AS people FROM departments d \
                              JOIN employees e ON e.department_id = d.id GROUP BY d.name ORDER BY d.name";

pub(super) fn tasks() -> Vec<Task> {
    [issues(), people_and_dates(), files_and_texts(), measures(), shop(), staff_and_skills(), own()]
        .into_iter()
        .flatten()
        .collect()
}

fn issues() -> Vec<Task> {
    vec![
        plain(
            "count the issues by a property",
            vec![is("property to count by", "state")],
            wanted("issues__count_issues", json!({ "by": "state" }), r#""value":"open""#),
        ),
        plain(
            "list issues by state",
            vec![chosen("in which state", "closed")],
            wanted("issues__list_issues", json!({ "state": "closed" }), "watering rota"),
        ),
        plain(
            "search issues for words in title, body or comments",
            vec![is("query: words to look for", "unsigned bytes")],
            wanted("issues__search_issues", json!({ "query": "unsigned bytes" }), "Rain gauge"),
        ),
        plain(
            "get and show one issue with its labels",
            vec![is("the issue's id", 4)],
            wanted("issues__get_issue", json!({ "id": 4 }), "sensors"),
        ),
        plain(
            "list comments, the oldest first",
            vec![is("the issue's id", 1)],
            wanted("issues__list_comments", json!({ "issue_id": 1 }), "bucket"),
        ),
        plain(
            "create a new issue: report that something is broken",
            vec![is("title: what is wrong", "The hose leaks"), chosen("priority", "high")],
            wanted(
                "issues__create_issue",
                json!({ "title": "The hose leaks", "priority": "high" }),
                r#""id":6"#,
            ),
        ),
        plain(
            "close an issue and say why",
            vec![is("the issue's id", 5), chosen("the reason why", "it is a duplicate")],
            wanted("issues__close_issue", json!({ "id": 5, "reason": "duplicate" }), "closed"),
        ),
        plain(
            "add labels to an issue",
            vec![is("the issue's id", 2), is("labels", json!(["ink"]))],
            wanted("issues__add_labels", json!({ "id": 2, "labels": ["ink"] }), "office"),
        ),
    ]
}

fn people_and_dates() -> Vec<Task> {
    vec![
        plain(
            "search the contacts for people of an organisation",
            vec![is("query: words to look for", "seed bank")],
            wanted("contacts__search_contacts", json!({ "query": "seed bank" }), "Mei Tanaka"),
        ),
        plain(
            "list groups, and how many people are in each",
            vec![],
            wanted("contacts__list_groups", json!({}), "suppliers"),
        ),
        plain(
            "create a contact: add a person to the contacts book",
            vec![is("full name", "Noor Haddad"), is("phone number", "+47 555 0100")],
            wanted(
                "contacts__create_contact",
                json!({ "name": "Noor Haddad", "phone": "+47 555 0100" }),
                r#""id":7"#,
            ),
        ),
        plain(
            "find free time between events for a meeting",
            vec![
                is("from: begin of the span", "2026-10-14T06:00"),
                is("to: end of the span", "2026-10-14T10:00"),
                is("minutes the meeting takes", 60),
            ],
            wanted(
                "calendar__find_free_time",
                json!({ "from": "2026-10-14T06:00", "to": "2026-10-14T10:00", "minutes": 60 }),
                "2026-10-14T08:15",
            ),
        ),
        plain(
            "get one event of the calendar",
            vec![is("the event's id", 4)],
            wanted("calendar__get_event", json!({ "id": 4 }), "Autumn market"),
        ),
        plain(
            "create an event in the calendar",
            vec![
                is("title: what happens", "Pruning"),
                is("start: when it begins", "2026-11-20T09:00"),
                is("end: when it ends", "2026-11-20T11:00"),
            ],
            wanted(
                "calendar__create_event",
                json!({ "title": "Pruning", "start": "2026-11-20T09:00", "end": "2026-11-20T11:00" }),
                r#""id":6"#,
            ),
        ),
    ]
}

fn files_and_texts() -> Vec<Task> {
    vec![
        plain(
            "read a text file",
            vec![is("path of the file", "notes/todo.md")],
            wanted("files__read_file", json!({ "path": "notes/todo.md" }), "greenhouse key"),
        ),
        plain(
            "list the files in a directory",
            vec![is("path of the directory", "data")],
            wanted("files__list_directory", json!({ "path": "data" }), "budget.csv"),
        ),
        plain(
            "search files whose content holds a text",
            vec![is("query: text to look for", "two quotes")],
            wanted("files__search_files", json!({ "query": "two quotes" }), "meeting.md"),
        ),
        plain(
            "sort the lines of a text",
            vec![is("text to work on", "pear\napple\nfig")],
            wanted("text__sort_lines", json!({ "text": "pear\napple\nfig" }), r"apple\nfig\npear"),
        ),
        plain(
            "slugify a title into a short name for web addresses",
            vec![is("text: a title", "Autumn Market, 2026")],
            wanted("text__slugify", json!({ "text": "Autumn Market, 2026" }), "autumn-market-2026"),
        ),
        plain(
            "encode a text as Base64",
            vec![is("text to work on", "greenhouse")],
            wanted("text__encode_base64", json!({ "text": "greenhouse" }), "Z3JlZW5ob3VzZQ=="),
        ),
    ]
}

fn measures() -> Vec<Task> {
    vec![
        plain(
            "convert a value from one unit to another unit of measure",
            vec![is("value", 3), is("from which unit", "mile"), is("to which unit", "km")],
            wanted(
                "units__convert_unit",
                json!({ "value": 3, "from": "mile", "to": "km" }),
                "4.828",
            ),
        ),
        plain(
            "summarize numbers: their sum and mean",
            vec![is("the numbers", json!([61, 48, 22, 35]))],
            wanted("units__summarize_numbers", json!({ "numbers": [61, 48, 22, 35] }), "41.5"),
        ),
    ]
}

fn shop() -> Vec<Task> {
    vec![
        plain(
            "list products of the shop in a category",
            vec![chosen("category: kind of product", "seeds")],
            wanted("shop__list_products", json!({ "category": "seeds" }), "tomato-cherry"),
        ),
        plain(
            "track the parcel of an order",
            vec![is("the order's number", 2)],
            wanted("shop__track_order", json!({ "order_id": 2 }), "Depot Harbour"),
        ),
        plain(
            "get one order of the shop with its items and price",
            vec![is("the order's number", 1)],
            wanted("shop__get_order", json!({ "order_id": 1 }), "pot-terracotta-20"),
        ),
        plain(
            "place an order of products in the shop for a customer",
            vec![
                is("customer who buys", "Noor Haddad"),
                is("address of the parcel", "1 Quay"),
                is("items that are bought", json!([{ "sku": "tea-mint", "quantity": 2 }])),
            ],
            wanted(
                "shop__place_order",
                json!({
                    "customer": "Noor Haddad", "address": "1 Quay",
                    "items": [{ "sku": "tea-mint", "quantity": 2 }],
                }),
                "14.3",
            ),
        ),
    ]
}

fn staff_and_skills() -> Vec<Task> {
    vec![
        plain(
            "list the tables of the employees database",
            vec![],
            wanted("staff__list_tables", json!({}), "leave_requests"),
        ),
        plain(
            "query the staff database: run one SELECT in SQL over employees and departments",
            vec![is("the SQL, one SELECT statement", PER_DEPARTMENT)],
            wanted("staff__query", json!({ "sql": PER_DEPARTMENT }), r#"["Garden",4]"#),
        ),
        plain(
            "explain how the staff database would run a SELECT in SQL, without running it",
            vec![is("the SQL, one SELECT statement", PER_DEPARTMENT)],
            wanted("staff__explain", json!({ "sql": PER_DEPARTMENT }), "SCAN"),
        ),
        plain(
            "describe a table of the employees database: discover its full column types",
            vec![is("table", "departments")],
            wanted("staff__describe_table", json!({ "table": "departments" }), "cost_centre"),
        ),
        plain(
            "read the skill, the procedure for the first day of a new colleague",
            vec![chosen("name of the skill", "welcome a colleague")],
            wanted(
                "skills__read_skill",
                json!({ "name": "welcome-a-colleague" }),
                "tour of the beds",
            ),
        ),
    ]
}

fn own() -> Vec<Task> {
    vec![
        plain(
            "calculate an expression exactly, with powers",
            vec![is("the expression", "2^100")],
            wanted(
                "builtin__calculate",
                json!({ "expression": "2^100" }),
                "1267650600228229401496703205376",
            ),
        ),
        plain(
            "look up the weekday and ISO week of a datetime",
            vec![chosen("action", "facts"), is("time", "2020-02-17")],
            wanted(
                "builtin__datetime",
                json!({ "action": "facts", "time": "2020-02-17" }),
                "Monday, 2020-W08",
            ),
        ),
        plain(
            "select and sum up JSON with a jq query",
            vec![is("the JSON itself", "[3, 4, 5]"), is("filter: the jq program", "add")],
            wanted("builtin__json_query", json!({ "json": "[3, 4, 5]", "filter": "add" }), "12"),
        ),
        plain(
            "remember something: keep a note for later sessions",
            vec![chosen("action", "add"), is("text: the note", "The key is under the pot.")],
            wanted(
                "builtin__remember",
                json!({ "action": "add", "text": "The key is under the pot." }),
                "added note 1",
            ),
        ),
    ]
}
