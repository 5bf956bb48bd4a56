//! `shop`: products and orders in `{scratch}/orders.sqlite`, behind an HTTP API.

use std::path::Path;

use crate::{
    DemoError,
    database::Database,
    fields::{Field, Kind, choice, flag, id, integer, list, number, text, word},
    tool::{
        Effect::{Adds, Overwrites, Reads, Removes},
        Tool, ToolRoute, tool,
    },
};

/// Which request makes which call. An argument whose name is in the path goes there; the others go
/// into a JSON body where the method has one, else into the query.
pub(crate) const ROUTES: &[ToolRoute] = &[
    ToolRoute { tool: "list_products", method: "GET", path: "/products" },
    ToolRoute { tool: "get_product", method: "GET", path: "/products/{sku}" },
    ToolRoute { tool: "list_orders", method: "GET", path: "/orders" },
    ToolRoute { tool: "place_order", method: "POST", path: "/orders" },
    ToolRoute { tool: "get_order", method: "GET", path: "/orders/{order_id}" },
    ToolRoute { tool: "change_order", method: "PATCH", path: "/orders/{order_id}" },
    ToolRoute { tool: "cancel_order", method: "DELETE", path: "/orders/{order_id}" },
    ToolRoute { tool: "track_order", method: "GET", path: "/orders/{order_id}/tracking" },
];

const CATEGORIES: &[&str] = &["seeds", "tools", "pots", "kitchen"];
const DELIVERIES: &[&str] = &["standard", "express"];
const STATUSES: &[&str] = &["placed", "sent", "delivered", "cancelled"];
const MAX_ITEMS: usize = 20;

pub(crate) async fn open(scratch: &Path) -> Result<Vec<Tool>, DemoError> {
    let orders = Database::open(scratch, "order", include_str!("shop.sql")).await?;
    let mut tools = products(&orders.of("product"));
    tools.extend(queries(&orders));
    tools.extend(changes(&orders));
    Ok(tools)
}

fn products(products: &Database) -> Vec<Tool> {
    vec![
        tool("list_products", Reads, "Find products of the shop, with price and stock.")
            .takes([
                text("query", "Words that all occur in the product's name or text.")
                    .up_to(200)
                    .optional(),
                choice("category", CATEGORIES, "Only products of this kind.").optional(),
                integer("max_price", "Only products up to this price, in euros.")
                    .within(1..=10_000)
                    .optional(),
                flag("in_stock", "Only what can be had at once.").optional(),
            ])
            .gives_page("products", product())
            .runs(
                products,
                "SELECT * FROM products
                 WHERE category = coalesce(?1 ->> 'category', category)
                   AND price <= coalesce(?1 ->> 'max_price', price)
                   AND (stock > 0 OR NOT coalesce(?1 ->> 'in_stock', 0))
                   AND NOT EXISTS (SELECT 1 FROM json_each(?2) AS word
                                   WHERE instr(lower(name || ' ' || about), word.value) = 0)
                 ORDER BY name LIMIT (?1 ->> 'limit') + 1 OFFSET ?1 ->> 'offset'",
            ),
        tool("get_product", Reads, "Show one product of the shop.")
            .takes([sku()])
            .gives(product())
            .runs(products, "SELECT * FROM products WHERE sku = ?1 ->> 'sku'"),
    ]
}

fn queries(orders: &Database) -> Vec<Tool> {
    let stop = vec![
        text("at", "When, RFC 3339 in UTC."),
        text("place", "Where the parcel was."),
        text("what", "What happened to it."),
    ];
    vec![
        tool("list_orders", Reads, "List the shop's orders, the latest first.")
            .takes([
                list("status", Kind::Choice(STATUSES), "Only orders in one of these states.")
                    .up_to(STATUSES.len())
                    .optional(),
                text("customer", "Only orders of people with this in their name.")
                    .up_to(120)
                    .optional(),
            ])
            .gives_page("orders", order())
            .runs(
                orders,
                "SELECT * FROM orders
                 WHERE (?1 ->> 'status' IS NULL
                        OR status IN (SELECT value FROM json_each(?1, '$.status')))
                   AND instr(lower(customer), lower(coalesce(?1 ->> 'customer', ''))) > 0
                 ORDER BY id DESC LIMIT (?1 ->> 'limit') + 1 OFFSET ?1 ->> 'offset'",
            ),
        tool("get_order", Reads, "Show one order: its items, its price and its state.")
            .takes([order_id()])
            .gives(order())
            .runs(orders, "SELECT * FROM orders WHERE id = ?1 ->> 'order_id'"),
        tool("track_order", Reads, "Tell where an order's parcel is and where it has been.")
            .takes([order_id()])
            .gives([
                integer("order_id", "The order's number."),
                text("status", "The order's state."),
                list("stops", Kind::Object(stop), "What happened to the parcel, the latest last."),
            ])
            .runs(
                orders,
                "SELECT id AS order_id, status,
                        (SELECT json_group_array(json_object('at', at, 'place', place, 'what', what))
                         FROM (SELECT * FROM stops WHERE order_id = orders.id ORDER BY at)) AS stops
                 FROM orders WHERE id = ?1 ->> 'order_id'",
            ),
    ]
}

fn changes(orders: &Database) -> Vec<Tool> {
    let wanted = vec![sku(), integer("quantity", "How many of it.").within(1..=1_000)];
    let address = text("address", "Where the parcel goes.").up_to(300);
    let note = text("note", "For those who pack or bring it.").up_to(500).or_empty();
    vec![
        tool("place_order", Adds, "Order products of the shop for a customer.")
            .takes([
                text("customer", "Who buys it.").up_to(120),
                address.clone(),
                list("items", Kind::Object(wanted), "What is bought.").up_to(MAX_ITEMS),
                choice("delivery", DELIVERIES, "How it is sent: for 3.90 or 8.90 euros.")
                    .or("standard"),
                note.clone().or(""),
            ])
            .gives(order())
            .runs(
                orders,
                "INSERT INTO orders (customer, address, delivery, note, wanted, items, total)
                 SELECT ?1 ->> 'customer', ?1 ->> 'address', ?1 ->> 'delivery', ?1 ->> 'note',
                        json_array_length(?1, '$.items'),
                        json_group_array(json_object('sku', sku, 'name', name,
                                                     'quantity', value ->> 'quantity', 'price', price)),
                        round(coalesce(sum(price * (value ->> 'quantity')), 0)
                              + iif(?1 ->> 'delivery' = 'express', 8.9, 3.9), 2)
                 FROM json_each(?1, '$.items') JOIN products ON sku = value ->> 'sku'
                 RETURNING *",
            ),
        tool(
            "change_order",
            Overwrites,
            "Change an order's address or note while it is not sent. What is not given stays as it is.",
        )
        .takes([order_id(), address.optional(), note.optional()])
        .gives(order())
        .runs(
            orders,
            "UPDATE orders SET address = coalesce(?1 ->> 'address', address),
                    note = coalesce(?1 ->> 'note', note)
             WHERE id = ?1 ->> 'order_id' RETURNING *",
        ),
        tool(
            "cancel_order",
            Removes,
            "Cancel an order that was not sent yet. This cannot be undone.",
        )
        .takes([order_id(), text("reason", "Why, for the shop.").up_to(200).optional()])
        .gives(order())
        .runs(
            orders,
            "UPDATE orders SET status = 'cancelled', reason = ?1 ->> 'reason'
             WHERE id = ?1 ->> 'order_id' RETURNING *",
        ),
    ]
}

fn sku() -> Field {
    word("sku", "The product's short name, such as \"tomato-cherry\".")
}

fn order_id() -> Field {
    id("order_id", "The order's number.")
}

fn product() -> Vec<Field> {
    vec![
        text("sku", "Short name to order it by."),
        text("name", "What it is called."),
        text("category", "\"seeds\", \"tools\", \"pots\" or \"kitchen\"."),
        text("about", "What to know about it."),
        number("price", "In euros."),
        integer("stock", "How many there are."),
    ]
}

fn order() -> Vec<Field> {
    let item = vec![
        text("sku", "The product's short name."),
        text("name", "What it is called."),
        integer("quantity", "How many of it."),
        number("price", "In euros, of one."),
    ];
    vec![
        integer("id", "The order's number."),
        text("customer", "Who bought it."),
        text("address", "Where the parcel goes."),
        text("delivery", "\"standard\" or \"express\"."),
        text("note", "For those who pack or bring it."),
        text("status", "\"placed\", \"sent\", \"delivered\" or \"cancelled\"."),
        text("reason", "Why it was cancelled; absent otherwise.").optional(),
        list("items", Kind::Object(item), "What was bought."),
        number("total", "In euros, with delivery."),
        text("placed_at", "When it was ordered, RFC 3339 in UTC."),
    ]
}
