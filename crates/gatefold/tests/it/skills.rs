//! Folders of skills as sources, from the configuration to what a model reads.

use std::fs;
use std::sync::Arc;

use gatefold::App;
use gatefold_catalog::{Scope, SearchMode, search};
use gatefold_core::{
    CallError, Domain, ExtensionMethod, ExtensionRequest, Operation, Outcome, SystemClock,
    ToolName, Uri,
};
use gatefold_dispatch::Caller;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::time::timeout;

use crate::scratch::{LIMIT, Scratch, toml};

const REFUNDS: &str = "---\nname: refunds\ndescription: Pay a customer back, step by step\n\
    compatibility: Needs the shop\nallowed-tools: shop__refund shop__gone\nmetadata:\n  for: shop\n---\n\
    # Refunds\nLook at `shop__find_order`, then refund it.\n";
const LAYOFFS: &str =
    "---\nname: layoffs\ndescription: Dismiss employees\n---\n# Layoffs\nSecretly.\n";

const SHOP: &str = "[sources.shop]\nbase_url = 'http://127.0.0.1:9'\nactions = [\
    { name = 'refund', method = 'POST', path = '/refunds/{order}' },\
    { name = 'find_order', method = 'GET', path = '/orders/{order}' }]\n";

fn folder() -> Scratch {
    let scratch = Scratch::new();
    put(&scratch, "refunds/SKILL.md", REFUNDS);
    put(&scratch, "refunds/scripts/refund.py", "print('refund')\n");
    put(&scratch, "layoffs/SKILL.md", LAYOFFS);
    scratch
}

fn put(scratch: &Scratch, path: &str, text: &str) {
    let path = scratch.path().join("skills").join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// A gateway with the folder, and these keys of it.
async fn app(scratch: &Scratch, keys: &str) -> App {
    let skills = scratch.path().join("skills");
    let text = format!("{SHOP}[sources.skills]\nskills = '{}'\n{keys}", skills.display());
    let config = toml(&text).unwrap_or_else(|error| panic!("{text}\n{error}"));
    let state = scratch.path().join("state");
    let app = gatefold::build(config, &state, Arc::new(SystemClock)).await.unwrap();
    assert_eq!(app.learn(&()).await, []);
    app
}

async fn make(app: &App, operation: Operation) -> Result<Value, CallError> {
    match app.pin().call(operation, None, Caller::silent()).await? {
        Outcome::Done(payload) => Ok(serde_json::from_str(payload.json.get()).unwrap()),
        other => panic!("{other:?}"),
    }
}

async fn read_skill(app: &App, arguments: Value) -> Result<Value, CallError> {
    let arguments = RawValue::from_string(arguments.to_string()).unwrap();
    let name = ToolName::parse("skills__read_skill").unwrap();
    make(app, Operation::Tool { name, arguments }).await
}

fn text(answer: &Value) -> &str {
    answer["content"][0]["text"].as_str().unwrap()
}

fn address(uri: &str) -> Uri {
    Uri::new(format!("gatefold://skills/{uri}"))
}

async fn skill(app: &App, uri: &str, method: ExtensionMethod) -> Result<Value, CallError> {
    make(app, Operation::Extension(ExtensionRequest { method, uri: address(uri), cursor: None }))
        .await
}

fn definition(app: &App) -> Value {
    let pinned = app.pin();
    let tool = pinned.view().find("skills__read_skill").unwrap();
    serde_json::from_str(tool.definition().raw()).unwrap()
}

#[tokio::test]
async fn a_skill_is_read_whole_with_its_files_and_tools() {
    let scratch = folder();
    let app = app(&scratch, "").await;
    let tool = definition(&app);
    let described = tool["description"].as_str().unwrap();
    assert!(
        described.ends_with(
            "## Available Skills\nLoad the full content of one by its name before executing any of \
             these:\n- **layoffs**: Dismiss employees\n- **refunds**: Pay a customer back, step by step"
        ),
        "{described}"
    );
    assert_eq!(tool["inputSchema"]["properties"]["name"]["enum"], json!(["layoffs", "refunds"]));
    assert_eq!(tool["annotations"]["readOnlyHint"], true);

    let whole = read_skill(&app, json!({ "name": "refunds" })).await.unwrap();
    assert_eq!(
        text(&whole),
        "# Refunds\nLook at `shop__find_order`, then refund it.\n\n## Requirements of this skill\nNeeds the \
         shop\n\n## Files of this skill\nRead one as you read this, with its path as 'file'. Scripts are given, not \
         run.\n- `scripts/refund.py` (python, 16 bytes)\n\n## `scripts/refund.py`\n```python\n\
         print('refund')\n```\n\n## Tools that this skill names\nCall each as you \
         call the other tools of its domain.\n- \
         `shop__refund(order: string)`\n- `shop__find_order(order: string)`"
    );
    let structured = &whole["structuredContent"];
    assert_eq!(structured["tools"][1]["id"], "shop__find_order");
    let mut file = json!({ "file": "scripts/refund.py", "size": 16, "language": "python" });
    file["text"] = "print('refund')\n".into();
    assert_eq!(structured["files"], json!([file]));
    let validator = jsonschema::validator_for(&tool["outputSchema"]).unwrap();
    assert!(validator.is_valid(structured), "{structured}");

    let script = read_skill(&app, json!({ "name": "refunds", "file": "scripts/refund.py" })).await;
    assert_eq!(text(&script.unwrap()), "print('refund')\n");
    let list = read_skill(&app, json!({})).await.unwrap();
    assert!(text(&list).starts_with("## Available Skills\n"), "{list}");
}

#[tokio::test]
async fn a_name_with_capitals_and_spaces_is_shown_and_read() {
    let scratch = folder();
    put(
        &scratch,
        "welcome/SKILL.md",
        "---\nname: Welcome Aboard\ndescription: Use when: new\n---\nHi.\n",
    );
    let app = app(&scratch, "").await;
    let described = definition(&app)["description"].to_string();
    assert!(described.contains("- **Welcome Aboard**: Use when: new"), "{described}");
    for (name, start) in [
        ("Welcome Aboard", "Hi."),
        ("welcome-aboard", "Hi."),
        ("welcome_aboard", "Hi."),
        ("Refunds", "# Refunds"),
    ] {
        let whole = read_skill(&app, json!({ "name": name })).await.unwrap();
        assert!(text(&whole).starts_with(start), "{name}: {whole}");
    }
    let uri = "skill://Welcome%20Aboard/SKILL.md";
    let read = make(&app, Operation::Resource(address(uri))).await.unwrap();
    assert!(read["contents"][0]["text"].as_str().unwrap().ends_with("Hi.\n"), "{read}");
}

#[tokio::test]
async fn of_several_scripts_none_comes_with_its_skill() {
    let scratch = folder();
    put(&scratch, "refunds/scripts/undo.sh", "echo undo\n");
    put(&scratch, "layoffs/notes.md", "# Notes\n");
    let app = app(&scratch, "").await;
    let whole = read_skill(&app, json!({ "name": "refunds" })).await.unwrap();
    assert!(!whole.to_string().contains("echo undo"), "{whole}");
    let whole = read_skill(&app, json!({ "name": "layoffs" })).await.unwrap();
    assert!(!whole.to_string().contains("# Notes"), "a reference is no script: {whole}");
}

#[tokio::test]
async fn an_error_names_what_was_meant() {
    let scratch = folder();
    let app = app(&scratch, "").await;
    for (arguments, expected) in [
        (json!({ "name": "refund" }), "Unknown skill 'refund'. Did you mean 'refunds'?"),
        (json!({ "name": "zzz" }), "Unknown skill 'zzz'. Without a name, they are listed."),
        (
            json!({ "name": "refunds", "file": "refund.py" }),
            "Unknown file 'refund.py'. Did you mean 'scripts/refund.py'?",
        ),
        (
            json!({ "name": "refunds", "file": "../layoffs/SKILL.md" }),
            "Unknown file '../layoffs/SKILL.md'. Did you mean 'SKILL.md'?",
        ),
    ] {
        let error = read_skill(&app, arguments).await.unwrap_err().to_string();
        assert_eq!(error, format!("`skills__read_skill` refused the call: {expected}"));
    }
}

#[tokio::test]
async fn a_skill_is_found_by_what_it_is_about() {
    let scratch = folder();
    let app = app(&scratch, "for = ['tickets']\n").await;
    let pinned = app.pin();
    let hits =
        search(pinned.view(), "pay a customer back", &Scope::default(), SearchMode::Keyword, 3);
    assert_eq!(hits[0].tool.id().as_str(), "skills__read_skill");
    assert_eq!(hits[0].topic, Some("skill: refunds"));
    let bound = |domain: &str| {
        let domain = Domain::parse(domain).unwrap();
        let topics = pinned.view().topics_for(&domain);
        topics.map(|(_, topic)| topic.name.clone()).collect::<Vec<_>>()
    };
    assert_eq!(bound("tickets"), ["layoffs", "refunds"]);
    assert_eq!(bound("shop"), ["refunds"]);
}

/// Whoever may not read a skill as a resource does not learn of it in any other way.
#[tokio::test]
async fn a_denied_skill_does_not_exist() {
    let scratch = folder();
    let before = app(&scratch, "").await;
    before.close().await;
    let app = app(&scratch, "deny = ['resource:skill://layoffs*']\n").await;
    let tool = definition(&app).to_string();
    assert!(tool.contains("refunds") && !tool.contains("layoffs"), "{tool}");
    assert!(!tool.contains("\"enum\""), "a list of names would show that there are others: {tool}");
    let list = read_skill(&app, json!({})).await.unwrap();
    assert!(!list.to_string().contains("layoffs"), "{list}");
    for name in ["layoffs", "layoff"] {
        let error = read_skill(&app, json!({ "name": name })).await.unwrap_err().to_string();
        let expected = format!(
            "`skills__read_skill` refused the call: Unknown skill '{name}'. Without a name, they are \
             listed."
        );
        assert_eq!(error, expected);
    }
    let main = "skill://layoffs/SKILL.md";
    assert!(make(&app, Operation::Resource(address(main))).await.is_err());
    assert!(skill(&app, main, ExtensionMethod::SKILL).await.is_err());
    assert!(skill(&app, "skill://layoffs", ExtensionMethod::DIRECTORY).await.is_err());
    let pinned = app.pin();
    let hits =
        search(pinned.view(), "dismiss employees", &Scope::default(), SearchMode::Keyword, 3);
    assert!(hits.iter().all(|hit| hit.topic != Some("skill: layoffs")));
    let domain = pinned.view().domain("skills").unwrap();
    assert!(!domain.description().contains("layoffs"), "{}", domain.description());
}

#[tokio::test]
async fn rules_about_files_and_approvals_hold_for_the_tool_too() {
    let scratch = folder();
    let keys =
        "deny = ['resource:skill://refunds/scripts/*']\nask = ['resource:skill://layoffs/*']\n";
    let app = app(&scratch, keys).await;
    let whole = read_skill(&app, json!({ "name": "refunds" })).await.unwrap();
    assert!(!text(&whole).contains("refund.py"), "{whole}");
    let script = json!({ "name": "refunds", "file": "scripts/refund.py" });
    assert!(read_skill(&app, script).await.is_err());
    let error = read_skill(&app, json!({ "name": "layoffs" })).await.unwrap_err().to_string();
    assert!(
        error.ends_with(
            "A person has to approve this: read the resource 'gatefold://skills/skill://layoffs/SKILL.md' \
             instead."
        ),
        "{error}"
    );
}

#[tokio::test]
async fn a_skill_brings_no_tool_that_its_reader_may_not_use() {
    let scratch = folder();
    let text_of = async |keys: &str| {
        let app = app(&scratch, keys).await;
        let whole = read_skill(&app, json!({ "name": "refunds" })).await.unwrap();
        app.close().await;
        whole["structuredContent"]["tools"].to_string()
    };
    assert!(text_of("").await.contains("shop__refund("));
    let denied = text_of("[policy]\ndeny = ['shop__refund']\n").await;
    assert!(!denied.contains("shop__refund") && denied.contains("shop__find_order"), "{denied}");
}

#[tokio::test]
async fn the_skills_extension_describes_skills_with_digests() {
    let scratch = folder();
    let app = app(&scratch, "").await;
    let list = skill(&app, "skill://", ExtensionMethod::SKILLS).await.unwrap();
    assert_eq!(list["skills"].as_array().unwrap().len(), 2);
    let refunds = &list["skills"][1];
    assert_eq!(refunds["uri"], "skill://refunds/SKILL.md");
    assert_eq!(refunds["frontmatter"]["metadata"]["for"], "shop");
    assert_eq!(refunds["resources"][0]["size"], REFUNDS.len());
    let one = skill(&app, "skill://refunds/SKILL.md", ExtensionMethod::SKILL).await.unwrap();
    assert_eq!(one["skill"], *refunds);
    let read = make(&app, Operation::Resource(address("skill://refunds/SKILL.md"))).await.unwrap();
    assert_eq!(read["contents"][0]["text"], REFUNDS);
    assert_eq!(read["contents"][0]["mimeType"], "text/markdown");
    let folder = skill(&app, "skill://refunds", ExtensionMethod::DIRECTORY).await;
    let children = json!([
        { "uri": "skill://refunds/SKILL.md", "name": "SKILL.md", "mimeType": "text/markdown" },
        { "uri": "skill://refunds/scripts", "name": "scripts", "mimeType": "inode/directory" },
    ]);
    assert_eq!(folder.unwrap()["resources"], children);
    for uri in ["skill://none/SKILL.md", "skill://refunds/scripts/refund.py", "skill://refunds"] {
        let error = skill(&app, uri, ExtensionMethod::SKILL).await.unwrap_err();
        assert!(matches!(error, CallError::InvalidArguments { .. }), "{uri}: {error}");
    }
    let none = make(&app, Operation::Resource(address("skill://refunds/../../etc"))).await;
    assert!(matches!(none, Err(CallError::MissingResource { .. })), "{none:?}");
}

#[tokio::test]
async fn a_change_of_the_folder_is_noticed() {
    let scratch = folder();
    let app = app(&scratch, "").await;
    let mut epochs = app.dispatcher().epochs();
    put(&scratch, "returns/SKILL.md", &REFUNDS.replace("refunds", "returns"));
    let noticed = async {
        while !definition(&app).to_string().contains("returns") {
            epochs.changed().await.unwrap();
        }
    };
    timeout(LIMIT, noticed).await.expect("the new skill is served");
    let whole = read_skill(&app, json!({ "name": "returns" })).await.unwrap();
    assert!(text(&whole).starts_with("# Refunds"), "{whole}");
}

/// What was found wrong is reported with the source; a folder that is gone costs only its source.
#[tokio::test]
async fn faults_are_reported_and_a_folder_may_be_missing() {
    let scratch = folder();
    put(&scratch, "bad/SKILL.md", "# No front matter\n");
    let app = app(&scratch, "").await;
    let report = app.reports().into_iter().find(|report| report.domain.as_str() == "skills");
    let notes: Vec<_> = report.unwrap().alterations.iter().map(ToString::to_string).collect();
    assert!(notes[0].starts_with("bad/SKILL.md:1 was left out: it does not begin"), "{notes:?}");
    app.close().await;
    let text = "[sources.skills]\nskills = '/nonexistent/skills'\n";
    let state = scratch.path().join("other");
    let app = gatefold::build(toml(text).unwrap(), &state, Arc::new(SystemClock)).await.unwrap();
    let failed = app.learn(&()).await;
    assert!(failed[0].1.contains("the folder `/nonexistent/skills` cannot be read"), "{failed:?}");
}
