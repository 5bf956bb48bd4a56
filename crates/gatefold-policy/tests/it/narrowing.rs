//! What an access token leaves, beside what rules say.

use std::sync::Arc;

use gatefold_core::{
    Digest, Domain, EntryKind, Hints, Narrowing, Principal, Target, TokenGrant, TokenId, ToolId,
};
use gatefold_policy::{Effect, Entries, Glob, Policy, PrincipalFilter, Rule, Scope};

fn with_token(narrowing: Narrowing) -> Principal {
    let token = TokenGrant { id: TokenId::new("7hq2-m4xk"), name: "ci".into(), narrowing };
    Principal { token: Some(Arc::new(token)), ..Principal::local() }
}

fn target(kind: EntryKind, domain: &str, name: &str) -> Target {
    let domain = Domain::parse(domain).unwrap();
    let id = match kind {
        EntryKind::Resource => ToolId::new(format!("gatefold://{domain}/{name}")),
        _ => ToolId::of(&domain, name),
    };
    let hints = Hints::default();
    Target { kind, domain, id, name: name.into(), digest: Digest::new([1; 32]), hints }
}

#[track_caller]
fn check(patterns: &[&str], target: &Target, expected: bool) {
    let caller = with_token(Narrowing::to(patterns.iter().copied()));
    let seen = Policy::default().is_visible(&caller, target);
    assert_eq!(seen, expected, "{patterns:?} {:?}", target.id);
}

#[test]
fn a_token_leaves_the_tools_that_a_pattern_matches() {
    let tool = |domain, name| target(EntryKind::Tool, domain, name);
    for (patterns, domain, name, expected) in [
        (&[][..], "mail", "send", true),
        (&["*"], "mail", "send", true),
        (&["mail__*"], "mail", "send", true),
        (&["mail__send"], "mail", "send", true),
        (&["tool:mail__send"], "mail", "send", true),
        (&["prompt:mail__send"], "mail", "send", false),
        (&["mail__send"], "mail", "delete", false),
        (&["mail__*"], "mail_archive", "send", false),
        (&["crm__*", "mail__s*"], "mail", "send", true),
        // A short id, and the long one that it also has.
        (&["apollo_people_search"], "apollo", "apollo_people_search", true),
        (&["apollo__*"], "apollo", "apollo_people_search", true),
    ] {
        check(patterns, &tool(domain, name), expected);
    }
}

#[test]
fn a_pattern_that_names_a_source_shows_its_prompts_and_resources() {
    let resource = target(EntryKind::Resource, "mail", "mail://inbox/1");
    let prompt = target(EntryKind::Prompt, "mail", "reply");
    for (pattern, resource_seen, prompt_seen) in [
        ("mail__send", true, true),
        ("mail__*", true, true),
        ("*", true, true),
        ("tool:mail__send", false, false),
        ("crm__find", false, false),
        ("*__send", false, false),
        ("mail_send", false, false),
        ("mail_archive__*", false, false),
        ("resource:gatefold://mail/*", true, false),
        ("prompt:mail__*", false, true),
        ("*__reply", false, true),
    ] {
        check(&[pattern], &resource, resource_seen);
        check(&[pattern], &prompt, prompt_seen);
    }
}

#[test]
fn a_tool_that_does_not_say_that_it_only_reads_is_left_out_where_only_reading_is() {
    let caller = with_token(Narrowing { read_only: true, ..Narrowing::default() });
    for (read_only, expected) in [(Some(true), true), (Some(false), false), (None, false)] {
        let hints = Hints { read_only, ..Hints::default() };
        let tool = Target { hints, ..target(EntryKind::Tool, "mail", "list") };
        assert_eq!(Policy::default().is_visible(&caller, &tool), expected, "{read_only:?}");
    }
    for kind in [EntryKind::Prompt, EntryKind::Resource] {
        assert!(Policy::default().is_visible(&caller, &target(kind, "mail", "mail://a")));
    }
}

#[test]
fn a_token_says_which_sources_may_show_anything_before_they_have_listed_anything() {
    let mail = Domain::parse("mail").unwrap();
    let allow = |pattern| Rule {
        id: gatefold_core::RuleId::new("only"),
        effect: Effect::Allow,
        who: PrincipalFilter::everybody(),
        scope: Scope::Domain(mail.clone()),
        entries: Entries::Every,
        pattern: Glob::new(pattern),
        unless: Vec::new(),
    };
    for (patterns, rules, expected) in [
        (&["mail__send"][..], vec![], true),
        (&["*"], vec![], true),
        (&["tool:mail__send"], vec![], true),
        (&["prompt:mail__*"], vec![], true),
        (&["resource:gatefold://mail/*"], vec![], true),
        (&["crm__find"], vec![], false),
        (&["mail_archive__*"], vec![], false),
        (&["resource:gatefold://crm/*"], vec![], false),
        (&["tool:mail__send"], vec![allow("s*")], true),
        (&["tool:mail__send"], vec![allow("read_*")], false),
    ] {
        let caller = with_token(Narrowing::to(patterns.iter().copied()));
        let may_show = Policy::new(rules).may_show(&caller, &mail);
        assert_eq!(may_show, expected, "{patterns:?}");
    }
    let reading = with_token(Narrowing { read_only: true, ..Narrowing::default() });
    assert!(Policy::default().may_show(&reading, &mail));
}

#[test]
fn a_token_never_shows_what_a_rule_hides() {
    let denied = Rule {
        id: gatefold_core::RuleId::new("no-mail"),
        effect: Effect::Deny,
        who: PrincipalFilter::everybody(),
        scope: Scope::Domain(Domain::parse("mail").unwrap()),
        entries: Entries::Every,
        pattern: Glob::new("send"),
        unless: Vec::new(),
    };
    let policy = Policy::new(vec![denied]);
    let caller = with_token(Narrowing::to(["mail__send", "mail__list"]));
    assert!(!policy.is_visible(&caller, &target(EntryKind::Tool, "mail", "send")));
    assert!(policy.is_visible(&caller, &target(EntryKind::Tool, "mail", "list")));
}

#[test]
fn tokens_that_leave_the_same_share_a_view_and_others_do_not() {
    let policy = Policy::default();
    let narrow = || with_token(Narrowing::to(["mail__*"]));
    let same =
        |one: &Principal, other: &Principal| policy.applicable(one) == policy.applicable(other);
    assert!(same(&with_token(Narrowing::default()), &Principal::local()));
    assert!(same(&narrow(), &narrow()));
    assert!(!same(&narrow(), &Principal::local()));
    let read_only = with_token(Narrowing { read_only: true, ..Narrowing::to(["mail__*"]) });
    assert!(!same(&narrow(), &read_only));
}

#[test]
fn only_patterns_that_tell_resources_apart_have_them_judged_by_their_uris() {
    let resource = target(EntryKind::Resource, "mail", "mail://inbox/1");
    for (pattern, expected) in [
        ("mail__send", false),
        ("*", false),
        ("resource:gatefold://mail/mail://inbox/*", true),
        ("crm__*", true),
    ] {
        let caller = with_token(Narrowing::to([pattern]));
        assert_eq!(Policy::default().concerns(&caller, &resource), expected, "{pattern}");
    }
}

#[test]
fn of_one_source_only_what_a_pattern_names_is_left() {
    let call = target(EntryKind::Tool, "agents", "call_agent");
    let clerk = target(EntryKind::Resource, "agents", "agent://clerk");
    let mail = target(EntryKind::Tool, "mail", "send");
    for (patterns, sees_call, sees_clerk, sees_mail) in [
        (&[][..], false, false, true),
        (&["*"], false, false, true),
        (&["*__call_agent", "agent*"], false, false, false),
        (&["agents__call_agent"], true, false, false),
        (&["agents__call_agent", "agents__writer", "mail__*"], true, false, true),
        (&["agents__call_agent", "agents__clerk"], true, true, false),
        (&["resource:gatefold://agents/*"], false, false, false),
    ] {
        let only_named_of = Some(Domain::parse("agents").unwrap());
        let own = Narrowing::to(patterns.iter().copied());
        let caller = with_token(Narrowing { only_named_of, ..own });
        let seen = |target| Policy::default().is_visible(&caller, target);
        let expected = (sees_call, sees_clerk, sees_mail);
        assert_eq!((seen(&call), seen(&clerk), seen(&mail)), expected, "{patterns:?}");
        // Where patterns tell entries apart, each is asked about.
        assert!(Policy::default().concerns(&caller, &clerk));
    }
}
