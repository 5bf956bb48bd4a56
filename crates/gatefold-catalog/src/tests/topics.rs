//! What tools know about, as searches find it.

use super::*;

fn topic(tool: &str, name: &str, description: &str, parts: &[&str]) -> ToolTopic {
    ToolTopic {
        tool: tool.to_owned(),
        line: format!("table: {name}"),
        name: name.to_owned(),
        description: description.to_owned(),
        parts: parts.iter().map(|part| (*part).to_owned()).collect(),
        ..ToolTopic::default()
    }
}

/// A database with two tables.
fn hr() -> Manifest {
    let topics = vec![
        topic(
            "describe_table",
            "employees",
            "Everybody who works here",
            &["manager_id", "reports_to", "salary"],
        ),
        topic("describe_table", "invoices", "What customers owe", &["amount", "paid_at"]),
    ];
    Manifest::builder(Timestamp::from_millis(7))
        .tool(ToolSpec::new("query").description("Run one SELECT."))
        .tool(ToolSpec::new("describe_table").description("Describe a table."))
        .supplement(Supplement { topics, attachment: "{}".to_owned() })
        .build()
}

fn database(domain: &str, manifest: Manifest) -> SourceEntry {
    SourceEntry {
        domain: Domain::from_key(domain),
        kind: KindName::new("database"),
        description: Some("Staff: who reports to whom, and what is owed".to_owned()),
        aliases: Vec::new(),
        groups: GroupRules::default(),
        manifest: Some(Arc::new(manifest)),
    }
}

/// The first tool that is found and its topic.
fn first(view: &View, request: &str) -> (String, Option<String>) {
    let hits = search(view, request, &Scope::default(), SearchMode::Keyword, 5);
    let hit = hits.first().expect("something is found");
    assert!(hit.fits(), "{request}");
    (hit.tool.id().to_string(), hit.topic.map(str::to_owned))
}

#[test]
fn a_tool_is_found_by_what_it_knows_about() {
    let view = view(vec![database("hr", hr())]);
    let check = |request: &str, tool: &str, topic: Option<&str>| {
        assert_eq!(first(&view, request), (tool.to_owned(), topic.map(str::to_owned)), "{request}");
    };
    check("who is the manager of an employee", "hr__describe_table", Some("table: employees"));
    check("which invoices were paid", "hr__describe_table", Some("table: invoices"));
    check("run a select", "hr__query", None);
    // All tools of the source have these words from its description.
    check("who reports to whom", "hr__describe_table", Some("table: employees"));
}

#[test]
fn a_topic_of_a_hidden_tool_is_not_found() {
    let snapshot = Arc::new(Snapshot::build(vec![database("hr", hr())], 1));
    let view = View::new(snapshot, |target| &*target.name != "describe_table");
    let hits = search(&view, "invoices paid", &Scope::default(), SearchMode::Keyword, 5);
    assert!(hits.iter().all(|hit| hit.topic.is_none()), "{hits:?}");
}

#[test]
fn what_a_source_knows_outlives_the_process_and_changes_the_digest() {
    let manifest = hr();
    let read = Manifest::from_bytes(&manifest.to_bytes()).expect("it was just written");
    assert_eq!(read.supplement(), manifest.supplement());
    assert_eq!(read.digest(), manifest.digest());
    let bare = Manifest::builder(Timestamp::from_millis(7))
        .tool(ToolSpec::new("query").description("Run one SELECT."))
        .tool(ToolSpec::new("describe_table").description("Describe a table."));
    assert_ne!(bare.build().digest(), manifest.digest());
}

/// A source of two skills, of which the first is for another domain.
fn skills() -> SourceEntry {
    let skill = |name: &str, description: &str, domains: &[&str]| ToolTopic {
        resource: Some(format!("skill://{name}/SKILL.md")),
        domains: domains.iter().map(|domain| (*domain).to_owned()).collect(),
        ..topic("read_skill", name, description, &[])
    };
    let topics = vec![
        skill("refunds", "Pay a customer back", &["shop"]),
        skill("layoffs", "Dismiss employees", &[]),
        skill("unlisted", "Feed the zebras", &[]),
    ];
    let manifest = Manifest::builder(Timestamp::from_millis(7))
        .tool(ToolSpec::new("read_skill").description("Read a skill."))
        .resource(ResourceSpec::new("skill://refunds/SKILL.md", "refunds"))
        .resource(ResourceSpec::new("skill://layoffs/SKILL.md", "layoffs"))
        .supplement(Supplement { topics, attachment: String::new() })
        .build();
    SourceEntry { description: None, ..database("skills", manifest) }
}

#[test]
fn a_topic_is_hidden_with_its_resource() {
    let snapshot = Arc::new(Snapshot::build(vec![skills()], 1));
    let whole = View::whole(snapshot.clone());
    let some = View::new(snapshot, |target| !target.name.contains("layoffs"));
    let found = |view: &View, request: &str| {
        let hits = search(view, request, &Scope::default(), SearchMode::Keyword, 5);
        hits.first().and_then(|hit| hit.topic).map(str::to_owned)
    };
    assert_eq!(found(&whole, "dismiss employees").as_deref(), Some("table: layoffs"));
    assert_eq!(found(&some, "dismiss employees"), None);
    assert_eq!(found(&some, "pay a customer back").as_deref(), Some("table: refunds"));
    assert_eq!(found(&whole, "feed the zebras"), None, "its resource is not listed");

    let names = |view: &View| {
        let domain = view.domain("skills").expect("it is there");
        view.topics_in(domain).map(|topic| topic.name.clone()).collect::<Vec<_>>()
    };
    assert_eq!(names(&whole), ["refunds", "layoffs"]);
    assert_eq!(names(&some), ["refunds"]);
    let shop = Domain::from_key("shop");
    let of_shop: Vec<_> = some.topics_for(&shop).map(|(_, topic)| topic.name.as_str()).collect();
    assert_eq!(of_shop, ["refunds"]);
}
