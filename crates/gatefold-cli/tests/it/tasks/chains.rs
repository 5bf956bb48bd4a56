//! Tasks over two domains: the second call takes a value from the answer of the first.

use serde_json::json;

use super::task::{Step, Task, chained, chosen, found, is, step, wanted};

const MANAGER: &str = "SELECT name FROM employees WHERE job = 'Head of the market'";
const HIRED: &str = "SELECT hired_on FROM employees WHERE name = 'Mei Tanaka'";

pub(super) fn tasks() -> Vec<Task> {
    vec![
        chained(supplier(), job_of_them()),
        chained(order_of_customer(), contact_of_customer()),
        chained(hiring_day(), weekday_of_it()),
        chained(titled_issue(), slug_of_title()),
        chained(priced_product(), price_of_three()),
        chained(market(), end_of_market()),
        chained(budget_file(), words_of_file()),
        chained(manager(), orders_of_manager()),
    ]
}

fn supplier() -> Step {
    step(
        "search the contacts for people of an organisation",
        vec![is("query: words to look for", "Market Day")],
        wanted("contacts__search_contacts", json!({ "query": "Market Day" }), "Amara Okafor"),
    )
}

fn job_of_them() -> Step {
    step(
        "query the staff database: run one SELECT in SQL over employees",
        vec![found(
            "the SQL, one SELECT statement",
            "SELECT job FROM employees WHERE name = '{}'",
            "name",
        )],
        wanted(
            "staff__query",
            json!({ "sql": "SELECT job FROM employees WHERE name = 'Amara Okafor'" }),
            "Head of the market",
        ),
    )
}

fn order_of_customer() -> Step {
    step(
        "get one order of the shop with its items and price",
        vec![is("the order's number", 2)],
        wanted("shop__get_order", json!({ "order_id": 2 }), "Luis Ferreira"),
    )
}

fn contact_of_customer() -> Step {
    step(
        "search the contacts for people by name",
        vec![found("query: words to look for", "{}", "customer")],
        wanted("contacts__search_contacts", json!({ "query": "Luis Ferreira" }), "+351 555 0198"),
    )
}

fn hiring_day() -> Step {
    step(
        "query the staff database: run one SELECT in SQL over employees",
        vec![is("the SQL, one SELECT statement", HIRED)],
        wanted("staff__query", json!({ "sql": HIRED }), "2020-02-17"),
    )
}

fn weekday_of_it() -> Step {
    step(
        "look up the weekday and ISO week of a datetime",
        vec![chosen("action", "facts"), found("time", "{}", "hired on")],
        wanted("builtin__datetime", json!({ "action": "facts", "time": "2020-02-17" }), "Monday"),
    )
}

fn titled_issue() -> Step {
    step(
        "get and show one issue with its labels",
        vec![is("the issue's id", 1)],
        wanted("issues__get_issue", json!({ "id": 1 }), "Greenhouse roof leaks above bed 4"),
    )
}

fn slug_of_title() -> Step {
    step(
        "slugify a title into a short name for web addresses",
        vec![found("text: a title", "{}", "title")],
        wanted(
            "text__slugify",
            json!({ "text": "Greenhouse roof leaks above bed 4" }),
            "greenhouse-roof-leaks-above-bed-4",
        ),
    )
}

fn priced_product() -> Step {
    step(
        "get one product of the shop",
        vec![is("sku: the product's short name", "lock-shed")],
        wanted("shop__get_product", json!({ "sku": "lock-shed" }), "16.8"),
    )
}

fn price_of_three() -> Step {
    step(
        "calculate an expression exactly",
        vec![found("the expression", "3 * {}", "price")],
        wanted("builtin__calculate", json!({ "expression": "3 * 16.8" }), "50.4"),
    )
}

fn market() -> Step {
    step(
        "get one event of the calendar",
        vec![is("the event's id", 4)],
        wanted("calendar__get_event", json!({ "id": 4 }), "Autumn market"),
    )
}

fn end_of_market() -> Step {
    step(
        "datetime: add a duration to a time",
        vec![chosen("action", "add"), found("time", "{}", "end"), is("duration", "90 minutes")],
        wanted(
            "builtin__datetime",
            json!({ "action": "add", "time": "2026-10-24T14:00", "duration": "90 minutes" }),
            "2026-10-24T15:30",
        ),
    )
}

fn budget_file() -> Step {
    step(
        "read a text file",
        vec![is("path of the file", "README.md")],
        wanted("files__read_file", json!({ "path": "README.md" }), "demonstration"),
    )
}

fn words_of_file() -> Step {
    let readme = include_str!("../../../../gatefold-demo/src/files/seed/README.md");
    step(
        "count the words, characters and lines of a text",
        vec![found("text to work on", "{}", "content")],
        wanted("text__count_words", json!({ "text": readme }), r#""lines":6"#),
    )
}

fn manager() -> Step {
    step(
        "query the staff database: run one SELECT in SQL over employees",
        vec![is("the SQL, one SELECT statement", MANAGER)],
        wanted("staff__query", json!({ "sql": MANAGER }), "Amara Okafor"),
    )
}

fn orders_of_manager() -> Step {
    step(
        "list the orders of a customer of the shop",
        vec![found("customer: orders of people with this name", "{}", "name")],
        wanted("shop__list_orders", json!({ "customer": "Amara Okafor" }), "3 Market Square"),
    )
}
