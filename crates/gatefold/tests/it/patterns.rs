//! Patterns of a configuration that match nothing.

use std::sync::Arc;

use gatefold_catalog::{GroupRules, KindName, Manifest, Snapshot, SourceEntry, ToolSpec};
use gatefold_core::{Domain, Timestamp};

use crate::scratch::toml;

/// A catalogue in which `git` lists these tools, and `mail` has listed nothing yet.
fn known(tools: &[&'static str]) -> Snapshot {
    let start = Manifest::builder(Timestamp::from_millis(0));
    let manifest = tools.iter().fold(start, |all, name| all.tool(ToolSpec::new(*name))).build();
    let entry = |domain: &str, manifest| SourceEntry {
        domain: Domain::parse(domain).unwrap(),
        kind: KindName::new("mcp"),
        description: None,
        aliases: Vec::new(),
        groups: GroupRules::default(),
        manifest,
    };
    Snapshot::build(vec![entry("git", Some(Arc::new(manifest))), entry("mail", None)], 1)
}

#[track_caller]
fn check(text: &str, expected: &[&str]) {
    let sources = "sources.git.command = 'x'\nsources.mail.command = 'y'\n";
    let config = toml(&format!("{sources}{text}")).unwrap();
    let idle = config.idle_patterns(&known(&["git_commit", "git_log", "status"]));
    let idle: Vec<_> = idle.iter().map(ToString::to_string).collect();
    assert_eq!(idle, expected, "{text}");
}

#[test]
fn a_pattern_that_matches_nothing_is_named_with_what_was_meant() {
    check(
        "sources.git.deny = ['git_comit', 'git_log']",
        &["`sources.git.deny` matches no tool: git_comit; did you mean `git_commit`?"],
    );
    check(
        "sources.git.allow = ['tools:*', 'stat*', 'x*']",
        &[
            "`sources.git.allow` matches no tool: tools:*; did you mean `tool:*`?",
            "`sources.git.allow` matches no tool: x*",
        ],
    );
    check(
        "policy.ask = ['git__stats', 'nowhere__*']",
        &[
            "`policy.ask` matches no tool: git__stats; did you mean `git__status`?",
            "`policy.ask` matches no tool: nowhere__*",
        ],
    );
    check(
        "disclosure.pinned = ['git__status', 'nowhere__x*']",
        &["`disclosure.pinned` matches no tool: nowhere__x*"],
    );
    check(
        "sources.git.groups = { logs = ['git_log', 'git_reflog*'] }",
        &["`sources.git.groups` matches no tool: git_reflog*"],
    );
}

#[test]
fn every_form_of_a_name_is_one() {
    for name in ["git_commit", "git__git_commit", "git__commit", "tool:git__commit", "git__c*"] {
        check(&format!("policy.deny = ['{name}']"), &[]);
        check(&format!("sources.git.deny = ['{name}']"), &[]);
        if !name.contains(':') {
            check(&format!("disclosure.pinned = ['{name}']"), &[]);
            check(&format!("sources.git.groups = {{ all = ['{name}'] }}"), &[]);
        }
    }
}

#[test]
fn what_nobody_can_know_is_not_judged() {
    check("sources.mail.deny = ['anything']", &[]);
    check("policy.deny = ['mail__anything', '*_anything']", &[]);
    check("sources.git.deny = ['resource:note', 'git://x/*', '*']", &[]);
    check("sources.git.ask = 'writes'", &[]);
    check("sources.git.visible_to = ['ops']", &[]);
}
