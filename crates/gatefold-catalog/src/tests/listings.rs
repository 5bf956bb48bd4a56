//! Prompts, resources and templates as sources list them.

use super::*;

/// A manifest of one page of each list.
fn listed(prompts: &str, resources: &str, templates: &str) -> Manifest {
    let prompts = page("prompts", prompts);
    let resources = page("resources", resources);
    let templates = page("resourceTemplates", templates);
    let listing = Listing {
        tools: &[],
        prompts: &[prompts],
        resources: &[resources],
        templates: &[templates],
    };
    Manifest::from_listing(server(), listing, Timestamp::from_millis(7))
}

fn notes(manifest: &Manifest) -> Vec<String> {
    manifest.alterations().iter().map(ToString::to_string).collect()
}

fn check_prompt(prompt: &str, raw: Option<&str>, alterations: &[&str]) {
    let manifest = listed(prompt, "", "");
    assert_eq!(manifest.prompts().first().map(EntryDefinition::raw), raw, "{prompt}");
    assert_eq!(notes(&manifest), alterations, "{prompt}");
}

fn check_resource(resource: &str, raw: Option<&str>, alterations: &[&str]) {
    let manifest = listed("", resource, "");
    assert_eq!(manifest.resources().first().map(EntryDefinition::raw), raw, "{resource}");
    assert_eq!(notes(&manifest), alterations, "{resource}");
}

#[test]
fn a_good_entry_keeps_its_definition_letter_for_letter() {
    let prompt = r#"{"name":"p", "arguments":[ {"name":"x","required":true,"new":1} ],"new": 1.0}"#;
    let resource = r#"{"uri":"a://b","name" :"b","size":-1e2,"annotations":{"audience":["user"],"priority":1,"x":0}}"#;
    let template = r#"{"uriTemplate":"a://{x}","name":"t","icons":[],"_meta":{ }}"#;
    let manifest = listed(prompt, resource, template);
    let [entries, resources, templates] =
        [manifest.prompts(), manifest.resources(), manifest.templates()];
    let raw = [&entries[0], &resources[0], &templates[0]].map(EntryDefinition::raw);
    assert_eq!(raw, [prompt, resource, template]);
    assert!(manifest.alterations().is_empty());
}

#[test]
fn a_bad_prompt_is_repaired_or_left_out_on_its_own() {
    check_prompt(
        r#"{"name":"p","title":null,"description":7,"arguments":{},"icons":"x","_meta":[]}"#,
        Some(r#"{"name":"p"}"#),
        &[
            "prompt `p` was repaired: `title` was not of the right kind",
            "prompt `p` was repaired: `description` was not of the right kind",
            "prompt `p` was repaired: `arguments` was not of the right kind",
            "prompt `p` was repaired: `icons` was not of the right kind",
            "prompt `p` was repaired: `_meta` was not of the right kind",
        ],
    );
    check_prompt(
        r#"{"name":"p","arguments":[7,{"name":"x","description":null},{"name":"y"},{"title":"z"}]}"#,
        Some(r#"{"name":"p","arguments":[{"name":"x"},{"name":"y"}]}"#),
        &[
            "prompt `p` was repaired: one of its `arguments` had no name",
            "prompt `p` was repaired: `description` was not of the right kind",
            "prompt `p` was repaired: one of its `arguments` had no name",
        ],
    );
    check_prompt("7", None, &["prompt 1 of page 1 was left out: it is not an object"]);
    check_prompt("{}", None, &["prompt 1 of page 1 was left out: it has no name"]);
    let long = format!(r#"{{"name":"{}"}}"#, "n".repeat(257));
    let noted = format!(
        "prompt `{}…` was left out: its name has more bytes than the limit: 256",
        "n".repeat(255)
    );
    check_prompt(&long, None, &[&noted]);
    let twice = r#"{"name":"p"},{"name":"p"}"#;
    check_prompt(twice, Some(r#"{"name":"p"}"#), &["prompt `p` was left out: it is listed twice"]);
}

#[test]
fn a_bad_resource_is_repaired_or_left_out_on_its_own() {
    check_resource(
        r#"{"uri":"a://b","name":"b","mimeType":null,"size":"7","annotations":{"audience":"user","priority":"1","lastModified":0,"x":1}}"#,
        Some(r#"{"uri":"a://b","name":"b","annotations":{"x":1}}"#),
        &[
            "resource `a://b` was repaired: `mimeType` was not of the right kind",
            "resource `a://b` was repaired: `size` was not of the right kind",
            "resource `a://b` was repaired: `audience` was not of the right kind",
            "resource `a://b` was repaired: `priority` was not of the right kind",
            "resource `a://b` was repaired: `lastModified` was not of the right kind",
        ],
    );
    check_resource(
        r#"{"uri":"a://\"b"}"#,
        Some(r#"{"uri":"a://\"b","name":"a://\"b"}"#),
        &[r#"resource `a://"b` was repaired: it had no `name`"#],
    );
    check_resource(
        r#"{"name":"b"}"#,
        None,
        &["resource 1 of page 1 was left out: it has no `uri`"],
    );
    check_resource(
        r#"{"uri":"a\u0000b","name":"b"}"#,
        None,
        &["resource `a b` was left out: its `uri` is empty or has control characters"],
    );
    let longest = format!(r#"{{"uri":"{}","name":"b"}}"#, "u".repeat(8 << 10));
    check_resource(&longest, Some(&longest), &[]);
    let manifest = listed("", &longest.replace("uu", "uuu"), "");
    assert!(manifest.resources().is_empty());
    assert!(notes(&manifest)[0].ends_with("has more bytes than the limit: 8192"));
}

#[test]
fn a_template_is_known_by_its_text() {
    let manifest = listed("", "", r#"{"uriTemplate":"a://{x}","name":"t"},{"uri":"a://b"}"#);
    let [template] = manifest.templates() else { panic!("{manifest:?}") };
    assert_eq!((template.key(), template.name()), ("a://{x}", "t"));
    let note = "resource template 2 of page 1 was left out: it has no `uriTemplate`";
    assert_eq!(notes(&manifest), [note]);
}

#[test]
fn a_page_of_another_list_costs_only_itself() {
    let prompts = [page("tools", ""), page("prompts", r#"{"name":"p"}"#)];
    let listing = Listing { prompts: &prompts, ..Listing::default() };
    let manifest = Manifest::from_listing(server(), listing, Timestamp::from_millis(7));
    assert_eq!(manifest.prompts().len(), 1);
    let note = "page 1 of the prompts was left out: it holds no list of prompts";
    assert_eq!(notes(&manifest), [note]);
}

#[test]
fn texts_are_decoded_and_entries_sorted_by_what_they_are_asked_for_by() {
    let manifest = listed(
        r#"{"name":"z"},{"name":"\u0061","title":"A\n","description":"ü"}"#,
        r#"{"uri":"a://2","name":"a"},{"uri":"a://\u0031","name":"b"}"#,
        "",
    );
    let prompt = &manifest.prompts()[0];
    assert_eq!((prompt.key(), prompt.name()), ("a", "a"));
    assert_eq!((prompt.title(), prompt.description()), (Some("A\n"), Some("ü")));
    let uris: Vec<_> = manifest.resources().iter().map(EntryDefinition::key).collect();
    assert_eq!(uris, ["a://1", "a://2"]);
}

#[test]
fn every_list_and_the_capabilities_count_in_the_digest() {
    let (prompt, resource) = (r#"{"name":"p"}"#, r#"{"uri":"a://b","name":"b"}"#);
    let either = r#"{"uri":"a://b","uriTemplate":"a://b","name":"b"}"#;
    let digests = [
        listed("", either, "").digest(),
        listed("", "", either).digest(),
        listed("", "", "").digest(),
        listed(prompt, "", "").digest(),
        listed("", resource, "").digest(),
        listed("", "", r#"{"uriTemplate":"a://b","name":"b"}"#).digest(),
        listed(prompt, resource, "").digest(),
    ];
    let distinct: std::collections::HashSet<_> = digests.iter().collect();
    assert_eq!(distinct.len(), digests.len());
    let with = |capabilities: &str| {
        let server = ServerInfo { capabilities: Some(capabilities.to_owned()), ..server() };
        Manifest::from_pages(server, &[], Timestamp::from_millis(7)).digest()
    };
    assert_eq!(with(r#"{"a":{},"b":{}}"#), with(r#"{"b": {}, "a": {}}"#));
    assert_ne!(with("{}"), with(r#"{"prompts":{}}"#));
}

#[test]
fn a_manifest_of_all_lists_survives_its_bytes() {
    let manifest = listed(
        r#"{"name":"p\u0031","description":"\n"}"#,
        r#"{"uri":"a://b"}"#,
        r#"{"uriTemplate":"a://{x}","name":"ü"}"#,
    );
    let bytes = manifest.to_bytes();
    let read = Manifest::from_bytes(&bytes).unwrap();
    assert_eq!((read.to_bytes(), read.digest()), (bytes.clone(), manifest.digest()));
    assert_eq!(read.prompts()[0].description(), Some("\n"));
    assert_eq!(read.resources()[0].key(), "a://b");
    assert_eq!(read.templates()[0].name(), "ü");
    for at in 0..bytes.len() {
        assert!(Manifest::from_bytes(&bytes[..at]).is_err(), "{at}");
    }
}

#[test]
fn a_manifest_of_an_older_version_is_not_read() {
    let bytes = String::from_utf8(listed("", "", "").to_bytes()).unwrap();
    let older = bytes.replacen("gatefold-manifest 3 ", "gatefold-manifest 2 ", 1);
    assert_ne!(bytes, older);
    let read = Manifest::from_bytes(older.as_bytes());
    assert_eq!(read.err(), Some(ManifestError::Version));
}

#[test]
fn an_index_that_points_outside_of_the_text_is_damage() {
    use sha2::{Digest as _, Sha256};

    let manifest = listed(r#"{"name":"p"}"#, "", "");
    let bytes = String::from_utf8(manifest.to_bytes()).unwrap();
    let (head, body) = bytes.split_once('\n').unwrap();
    let (magic, _) = head.rsplit_once(' ').unwrap();
    let resealed = |body: &str| {
        let digest = gatefold_core::Digest::new(Sha256::digest(body).into());
        Manifest::from_bytes(format!("{magic} {digest}\n{body}").as_bytes())
    };
    assert!(resealed(body).is_ok());
    let outside = body.replacen(r#""key":[9,10]"#, r#""key":[9,99]"#, 1);
    assert_ne!(body, outside);
    assert!(matches!(resealed(&outside), Err(ManifestError::Damaged(_))));
}
