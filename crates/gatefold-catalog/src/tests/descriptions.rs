//! What a domain says about itself in one line.

use super::*;

#[test]
fn a_domain_describes_itself_unless_it_was_configured() {
    let mut entry = named("a", &[]);
    let described = |entry: &SourceEntry| {
        Snapshot::build(vec![entry.clone()], 1).domains()[0].description().to_owned()
    };
    assert_eq!(described(&entry), "");
    let named = ServerInfo { name: "big-a-mcp".to_owned(), ..server() };
    let told = Manifest::from_pages(named, &[], Timestamp::from_millis(0));
    entry.manifest = Some(Arc::new(told));
    assert_eq!(described(&entry), "");
    for (title, description, instructions, expected) in [
        (None, None, "# Title\n\nThis server keeps  things. Or not.", "Keeps things."),
        (None, None, "Keep things: a, b and c.", "Keep things: a, b and c."),
        (None, None, "Rules of use:\n- One", ""),
        (None, None, "When in doubt, call `help` first.", ""),
        (Some("A MCP server"), None, "Call `help` first.", ""),
        (Some("Big things"), None, "Use this server to keep things.", "Keep things."),
        (Some("Big things"), None, "", "Big things"),
        (Some("Big things"), Some("Keeps them. All."), "It is there.", "Keeps them."),
    ] {
        let [title, description] = [title, description].map(|text| text.map(str::to_owned));
        let instructions = Some(instructions.to_owned());
        let server = ServerInfo { title, description, instructions, ..server() };
        let told = Manifest::from_pages(server, &[], Timestamp::from_millis(0));
        entry.manifest = Some(Arc::new(told));
        assert_eq!(described(&entry), expected);
    }
    entry.description = Some("Mine".to_owned());
    assert_eq!(described(&entry), "Mine");
    entry = SourceEntry { manifest: None, description: None, ..entry };
    assert_eq!(described(&entry), "");
}

#[test]
fn a_source_is_found_by_what_people_call_it() {
    let tools = ["list_entries", "create_entry"];
    let found = |aliases: &[&str], request: &str| {
        let aliases = aliases.iter().map(|&alias| alias.to_owned()).collect();
        let own = SourceEntry { aliases, ..named("ledger", &tools) };
        let sources = vec![own, named("diary", &tools), named("github", &tools)];
        let view = View::whole(Arc::new(Snapshot::build(sources, 1)));
        let hits = search(&view, request, &Scope::default(), SearchMode::Hybrid, 1);
        hits.first().map(|hit| hit.tool.domain().to_string())
    };
    assert_eq!(found(&["the books"], "list entries of the books").as_deref(), Some("ledger"));
    assert_eq!(found(&[], "list entries of the books").as_deref(), Some("diary"));
    assert_eq!(found(&[], "list entries on gh").as_deref(), Some("github"));
}
