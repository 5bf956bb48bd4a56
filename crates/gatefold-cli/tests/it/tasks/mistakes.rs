//! Tasks that begin with a mistake, which the error tells how to mend.

use serde_json::json;

use super::task::{Mistake, Task, chosen, is, mistaken, wanted};

const HIRED: &str = "SELECT name FROM employees WHERE hired_on > '2021-01-01' ORDER BY name";

pub(super) fn tasks() -> Vec<Task> {
    [names(), names_beyond_servers(), arguments(), arguments_beyond_servers()]
        .into_iter()
        .flatten()
        .collect()
}

fn names() -> Vec<Task> {
    vec![
        mistaken(
            Mistake::Name,
            "reopen a closed issue",
            vec![is("the issue's id", 3)],
            wanted("issues__reopen_issue", json!({ "id": 3 }), r#""state":"open""#),
        ),
        mistaken(
            Mistake::Name,
            "get one person of the contacts, to reach them",
            vec![is("the contact's id", 2)],
            wanted("contacts__get_contact", json!({ "id": 2 }), "Knows roofers."),
        ),
        mistaken(
            Mistake::Name,
            "list the events of the calendar by time",
            vec![is("from: begin of the span", "2026-11-01T00:00")],
            wanted("calendar__list_events", json!({ "from": "2026-11-01T00:00" }), "Library"),
        ),
        mistaken(
            Mistake::Name,
            "count the words, characters and lines of a text",
            vec![is("text to work on", "one two two")],
            wanted("text__count_words", json!({ "text": "one two two" }), r#""words":3"#),
        ),
        mistaken(
            Mistake::Name,
            "compare two quantities: which is larger",
            vec![
                is("a: first value", 1),
                is("a unit: symbol or name of its unit", "mile"),
                is("b: second value", 1500),
                is("b unit: symbol or name of its unit", "m"),
            ],
            wanted(
                "units__compare_quantities",
                json!({ "a": 1, "a_unit": "mile", "b": 1500, "b_unit": "m" }),
                r#""a_is_larger":true"#,
            ),
        ),
    ]
}

fn names_beyond_servers() -> Vec<Task> {
    vec![
        mistaken(
            Mistake::Name,
            "get one product of the shop",
            vec![is("sku: the product's short name", "can-10")],
            wanted("shop__get_product", json!({ "sku": "can-10" }), "brass rose"),
        ),
        mistaken(
            Mistake::Name,
            "query the staff database: run one SELECT in SQL over employees and departments",
            vec![is("the SQL, one SELECT statement", HIRED)],
            wanted("staff__query", json!({ "sql": HIRED }), "Piotr Nowak"),
        ),
        mistaken(
            Mistake::Name,
            "read the skill, the procedure to report a fault of a machine",
            vec![chosen("name of the skill", "report a fault")],
            wanted(
                "skills__read_skill",
                json!({ "name": "report-a-fault" }),
                "Choose the priority",
            ),
        ),
        mistaken(
            Mistake::Name,
            "calculate an expression exactly, in another number base",
            vec![is("the expression", "0xff to binary")],
            wanted("builtin__calculate", json!({ "expression": "0xff to binary" }), "11111111"),
        ),
    ]
}

fn arguments() -> Vec<Task> {
    vec![
        mistaken(
            Mistake::Missing,
            "assign an issue to a person",
            vec![is("the issue's id", 4), is("assignee: short name of the person", "luis")],
            wanted("issues__assign_issue", json!({ "id": 4, "assignee": "luis" }), "luis"),
        ),
        mistaken(
            Mistake::Misnamed,
            "add a person of the contacts to a group",
            vec![is("the contact's id", 6), is("group", "committee")],
            wanted("contacts__add_to_group", json!({ "id": 6, "group": "committee" }), "committee"),
        ),
        mistaken(
            Mistake::Missing,
            "calculate a percentage: what share one number is of another",
            vec![
                chosen("operation: what to calculate", "share"),
                is("a: first number", 90),
                is("b: second number", 180),
            ],
            wanted(
                "units__calculate_percentage",
                json!({ "operation": "share", "a": 90, "b": 180 }),
                r#""value":50"#,
            ),
        ),
        mistaken(
            Mistake::Misnamed,
            "write a text file",
            vec![is("path of the file", "notes/new.md"), is("content: text to write", "Prune.\n")],
            wanted(
                "files__write_file",
                json!({ "path": "notes/new.md", "content": "Prune.\n" }),
                r#""created":true"#,
            ),
        ),
    ]
}

fn arguments_beyond_servers() -> Vec<Task> {
    vec![
        mistaken(
            Mistake::Misnamed,
            "change the note of an order of the shop",
            vec![is("the order's number", 3), is("note for those who bring it", "Ring twice.")],
            wanted(
                "shop__change_order",
                json!({ "order_id": 3, "note": "Ring twice." }),
                "Ring twice.",
            ),
        ),
        mistaken(
            Mistake::Missing,
            "query the staff database: run one SELECT in SQL over employees and departments",
            vec![is("the SQL, one SELECT statement", HIRED)],
            wanted("staff__query", json!({ "sql": HIRED }), "Aisha Rahman"),
        ),
        mistaken(
            Mistake::Missing,
            "measure the time between two moments, a datetime difference",
            vec![
                chosen("action", "difference"),
                is("time", "2026-01-01"),
                is("until: the other time", "2026-03-01"),
            ],
            wanted(
                "builtin__datetime",
                json!({ "action": "difference", "time": "2026-01-01", "until": "2026-03-01" }),
                "exactly 59 d",
            ),
        ),
        mistaken(
            Mistake::Misnamed,
            "calculate an expression exactly, with units",
            vec![is("the expression", "60 mph to km/h")],
            wanted("builtin__calculate", json!({ "expression": "60 mph to km/h" }), "96.56"),
        ),
    ]
}
