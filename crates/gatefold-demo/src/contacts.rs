//! `contacts`: a contacts book in `{scratch}/contacts.sqlite`.

use std::path::Path;

use crate::{
    DemoError,
    database::Database,
    fields::{Field, Kind, id, integer, list, text, word},
    tool::{
        Effect::{Adds, Overwrites, Reads, Removes, Sets},
        Tool, tool,
    },
};

pub(crate) async fn open(scratch: &Path) -> Result<Vec<Tool>, DemoError> {
    let contacts = Database::open(scratch, "contact", include_str!("contacts.sql")).await?;
    let mut tools = changes(&contacts);
    tools.extend(queries(&contacts));
    tools.extend(groups(&contacts));
    Ok(tools)
}

fn changes(contacts: &Database) -> Vec<Tool> {
    let name = text("name", "Full name.").up_to(120);
    let details = [
        text("email", "An e-mail address; an empty text clears it.").up_to(200).or_empty(),
        text("phone", "A phone number; an empty text clears it.").up_to(40).or_empty(),
        text("organisation", "Where they work or volunteer.").up_to(120).or_empty(),
        text("notes", "Anything else worth knowing.").up_to(2_000).or_empty(),
    ];
    vec![
        tool("create_contact", Adds, "Add a person to the contacts book.")
            .takes([name.clone()])
            .takes(details.clone().map(|field| field.or("")))
            .gives(contact())
            .runs(
                contacts,
                "INSERT INTO contacts (name, email, phone, organisation, notes)
                 VALUES (?1 ->> 'name', ?1 ->> 'email', ?1 ->> 'phone', ?1 ->> 'organisation',
                         ?1 ->> 'notes') RETURNING *",
            ),
        tool(
            "update_contact",
            Overwrites,
            "Change what is known about a person. What is not given stays as it is; what is given \
             replaces the old value.",
        )
        .takes([the_id(), name.optional()])
        .takes(details.map(Field::optional))
        .gives(contact())
        .runs(
            contacts,
            "UPDATE contacts SET name = coalesce(?1 ->> 'name', name),
                    email = coalesce(?1 ->> 'email', email),
                    phone = coalesce(?1 ->> 'phone', phone),
                    organisation = coalesce(?1 ->> 'organisation', organisation),
                    notes = coalesce(?1 ->> 'notes', notes)
             WHERE id = ?1 ->> 'id' RETURNING *",
        ),
        tool(
            "delete_contact",
            Removes,
            "Delete a person from the contacts book and from every group. This cannot be undone.",
        )
        .takes([the_id()])
        .gives([integer("deleted", "Id of the contact that is no longer there.")])
        .runs(contacts, "DELETE FROM contacts WHERE id = ?1 ->> 'id' RETURNING id AS deleted"),
    ]
}

fn queries(contacts: &Database) -> Vec<Tool> {
    let group = text("group", "Only people in this group.").up_to(40).optional();
    vec![
        tool("get_contact", Reads, "Show one person and how to reach them.")
            .takes([the_id()])
            .gives(contact())
            .runs(contacts, "SELECT * FROM contacts WHERE id = ?1 ->> 'id'"),
        tool("list_contacts", Reads, "List the people in the contacts book by name.")
            .takes([group])
            .gives_page("contacts", contact())
            .runs(
                contacts,
                "SELECT * FROM contacts
                 WHERE ?1 ->> 'group' IS NULL
                    OR EXISTS (SELECT 1 FROM json_each(groups) WHERE value = ?1 ->> 'group')
                 ORDER BY name, id LIMIT (?1 ->> 'limit') + 1 OFFSET ?1 ->> 'offset'",
            ),
        tool(
            "search_contacts",
            Reads,
            "Find people by name, e-mail address, phone number, organisation or notes. Every word \
             of the query must occur somewhere.",
        )
        .takes([text("query", "Words to look for.").up_to(200)])
        .gives_page("contacts", contact())
        .runs(
            contacts,
            "SELECT * FROM contacts
             WHERE NOT EXISTS (
               SELECT 1 FROM json_each(?2) AS word
               WHERE instr(lower(concat_ws(' ', name, email, phone, organisation, notes)), word.value) = 0)
             ORDER BY name, id LIMIT (?1 ->> 'limit') + 1 OFFSET ?1 ->> 'offset'",
        ),
    ]
}

fn groups(contacts: &Database) -> Vec<Tool> {
    let group = || word("group", "The group, such as \"committee\".");
    vec![
        tool("list_groups", Reads, "List the groups and how many people are in each.")
            .gives_all(
                "groups",
                vec![
                    text("name", "The group."),
                    integer("members", "How many people are in it."),
                ],
            )
            .runs(
                contacts,
                "SELECT value AS name, count(*) AS members FROM contacts, json_each(groups)
                 GROUP BY 1 ORDER BY 1 LIMIT 100",
            ),
        tool(
            "add_to_group",
            Sets,
            "Put a person into a group. A group begins with its first member.",
        )
        .takes([the_id(), group()])
        .gives(contact())
        .runs(
            contacts,
            "UPDATE contacts SET groups = (
                 SELECT json_group_array(value) FROM
                   (SELECT value FROM json_each(groups) UNION SELECT ?1 ->> 'group'))
             WHERE id = ?1 ->> 'id' RETURNING *",
        ),
        tool(
            "remove_from_group",
            Removes,
            "Take a person out of a group. A group ends with its last member.",
        )
        .takes([the_id(), group()])
        .gives(contact())
        .runs(
            contacts,
            "UPDATE contacts SET groups = (
                 SELECT json_group_array(value) FROM json_each(groups) WHERE value <> ?1 ->> 'group')
             WHERE id = ?1 ->> 'id' RETURNING *",
        ),
    ]
}

fn the_id() -> Field {
    id("id", "The contact's id.")
}

fn contact() -> Vec<Field> {
    vec![
        integer("id", "Number to name the contact by."),
        text("name", "Full name."),
        text("email", "E-mail address; empty when it is not known."),
        text("phone", "Phone number; empty when it is not known."),
        text("organisation", "Where they work or volunteer."),
        text("notes", "Anything else worth knowing."),
        list("groups", Kind::Text(None), "The groups they are in, in alphabetical order."),
    ]
}
