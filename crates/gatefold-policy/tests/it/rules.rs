use std::sync::Arc;
use std::time::Duration;

use gatefold_core::{
    AgentId, Call, CallId, Digest, Domain, EntryKind, Hints, Operation, OrganisationId, Principal,
    Right, RuleId, Target, Timestamp, ToolId, ToolName, UserId,
};
use gatefold_policy::{
    Admission, Approval, Effect, Entries, Facts, Glob, Obligations, Policy, PrincipalFilter,
    ResolvedCall, Rule, Scope,
};
use serde_json::value::RawValue;

const NOW: Timestamp = Timestamp::from_millis(1_000_000);
const TOOL_DIGEST: Digest = Digest::new([1; 32]);
const ARGUMENTS_DIGEST: Digest = Digest::new([2; 32]);

fn target(domain: &str, name: &str) -> Arc<Target> {
    let domain = Domain::parse(domain).unwrap();
    let id = ToolId::of(&domain, name);
    let hints = Hints::default();
    let (entries, name) = Entries::read(name);
    let kind = match entries {
        Entries::Only(kind) => kind,
        Entries::Every | Entries::Writes => EntryKind::Tool,
    };
    Arc::new(Target { kind, domain, id, name: name.into(), digest: TOOL_DIGEST, hints })
}

fn resolved(principal: &Principal, target: &Arc<Target>) -> ResolvedCall {
    let call = Call {
        id: CallId::new(NOW, 7),
        parent: None,
        principal: Arc::new(principal.clone()),
        operation: Arc::new(Operation::Tool {
            name: ToolName::of(&target.id),
            arguments: RawValue::from_string("{}".to_owned()).unwrap(),
        }),
        resume: None,
    };
    ResolvedCall::new(call, target.clone(), ARGUMENTS_DIGEST)
}

fn rule(effect: Effect, scope: &str, pattern: &str) -> Rule {
    let scope = match scope {
        "*" => Scope::Everywhere,
        domain => Scope::Domain(Domain::parse(domain).unwrap()),
    };
    let id = RuleId::new(format!("{effect:?}-{pattern}").to_lowercase());
    let (entries, pattern) = Entries::read(pattern);
    Rule {
        id,
        effect,
        who: PrincipalFilter::everybody(),
        scope,
        entries,
        pattern: Glob::new(pattern),
        unless: Vec::new(),
    }
}

/// What policy decides about a call of `domain`'s tool `name`, in one word.
fn decision(rules: &[Rule], principal: &Principal, domain: &str, name: &str) -> String {
    let policy = Policy::new(rules.to_vec());
    let target = target(domain, name);
    let visible = policy.is_visible(principal, &target);
    let facts = Facts::at(NOW);
    let (word, rule, seen) = match policy.admit(resolved(principal, &target), &facts) {
        Admission::Granted(permit) => ("granted", permit.rule().clone(), true),
        Admission::Ask(request) => ("ask", request.rule, true),
        Admission::Denied(denial) => ("denied", denial.rule, !denial.hidden),
    };
    assert_eq!(visible, seen, "what can be called and what can be seen agree");
    format!("{word} by {rule}")
}

#[track_caller]
fn check(rules: &[Rule], domain: &str, name: &str, expected: &str) {
    assert_eq!(decision(rules, &Principal::local(), domain, name), expected);
}

#[test]
fn without_rules_everything_is_granted() {
    check(&[], "mail", "send", "granted by default");
}

#[test]
fn a_pattern_is_about_everything_unless_it_says_what() {
    let deny = |pattern| [rule(Effect::Deny, "mail", pattern)];
    for entry in ["send", "prompt:send", "resource:send"] {
        check(&deny("*"), "mail", entry, "denied by deny-*");
    }
    check(&deny("prompt:*"), "mail", "prompt:send", "denied by deny-prompt:*");
    check(&deny("prompt:*"), "mail", "send", "granted by default");
    check(&deny("tool:s*"), "mail", "send", "denied by deny-tool:s*");
    check(&deny("tool:*"), "mail", "resource:mail://1", "granted by default");
    let some = [rule(Effect::Allow, "mail", "send"), rule(Effect::Allow, "mail", "resource:*")];
    check(&some, "mail", "send", "granted by allow-send");
    check(&some, "mail", "resource:mail://1", "granted by allow-resource:*");
    check(&some, "mail", "prompt:greet", "denied by allow-list");
    let tools = [rule(Effect::Allow, "mail", "tool:send")];
    check(&tools, "mail", "delete", "denied by allow-list");
    check(&tools, "mail", "prompt:greet", "granted by default");
}

#[test]
fn rules_say_whether_a_source_may_show_anything_before_it_has_listed_anything() {
    let mail = Domain::parse("mail").unwrap();
    let check = |rules: &[Rule], expected: bool| {
        let may_show = Policy::new(rules.to_vec()).may_show(&Principal::local(), &mail);
        assert_eq!(may_show, expected, "{rules:?}");
    };
    let deny = |scope, pattern| rule(Effect::Deny, scope, pattern);
    let allow = |scope, pattern| rule(Effect::Allow, scope, pattern);
    check(&[], true);
    for (scope, pattern, expected) in [
        ("mail", "*", false),
        ("mail", "**", false),
        ("crm", "*", true),
        ("mail", "s*", true),
        ("mail", "tool:*", true),
        ("*", "*", false),
        ("*", "mail__*", false),
        ("*", "m*", false),
        ("*", "mail_*", false),
        ("*", "mail__send", true),
        ("*", "mail_box__*", true),
        ("*", "tool:mail__*", true),
    ] {
        check(&[deny(scope, pattern)], expected);
    }
    let each_kind = ["tool:*", "prompt:*", "resource:*"].map(|pattern| deny("mail", pattern));
    check(&each_kind, false);
    check(&each_kind[1..], true);
    for (scope, pattern, expected) in [
        ("mail", "send", true),
        ("mail", "resource:mail://*", true),
        ("*", "mail__*", true),
        ("*", "*_send", true),
        ("*", "mail_send", true),
        ("*", "crm__*", false),
        ("*", "crm__find", false),
        ("*", "gatefold://mail/*", true),
        ("*", "gatefold://crm/*", false),
    ] {
        check(&[allow(scope, pattern)], expected);
    }
    check(&[allow("mail", "read_*"), deny("mail", "read_*")], false);
    check(&[allow("mail", "read_*"), deny("mail", "read_all")], true);
    check(&[allow("*", "mail_send"), deny("*", "mail_send")], false);
    check(
        &[
            allow("mail", "tool:send"),
            deny("*", "mail__s*"),
            each_kind[1].clone(),
            each_kind[2].clone(),
        ],
        false,
    );
    check(&[Rule { entries: Entries::Writes, ..deny("mail", "*") }], true);
    let outsiders = PrincipalFilter {
        without_rights: vec![Right::new("group:hr")],
        ..PrincipalFilter::everybody()
    };
    check(&[Rule { who: outsiders, ..deny("mail", "*") }], false);
    let others = PrincipalFilter::user(UserId::new("ann"));
    check(&[Rule { who: others, ..deny("mail", "*") }], true);
}

#[test]
fn writes_are_all_tools_that_do_not_say_they_only_read() {
    let policy =
        Policy::new(vec![Rule { entries: Entries::Writes, ..rule(Effect::Ask, "*", "*") }]);
    for (name, read_only, asks) in [
        ("send", None, true),
        ("send", Some(false), true),
        ("list", Some(true), false),
        ("prompt:greet", None, false),
        ("resource:mail://1", None, false),
    ] {
        let hints = Hints { read_only, ..Hints::default() };
        let target = Target { hints, ..Target::clone(&target("mail", name)) };
        let asked = policy.asks(&Principal::local(), &Facts::at(NOW), &target);
        assert_eq!(asked, asks, "{name} {read_only:?}");
    }
}

#[test]
fn nothing_is_granted_that_is_not_granted_to_all_on_whose_behalf_it_is() {
    let (ann, bob) = (Principal::user(UserId::new("ann")), Principal::user(UserId::new("bob")));
    let target = target("mail", "send");
    for (effect, expected) in [(Effect::Ask, "ask"), (Effect::Deny, "denied")] {
        let for_ann =
            Rule { who: PrincipalFilter::user(ann.user.clone()), ..rule(effect, "mail", "send") };
        let policy = Policy::new(vec![for_ann]);
        let decide = |on_behalf_of| {
            let facts = Facts { on_behalf_of, ..Facts::at(NOW) };
            match policy.admit(resolved(&bob, &target), &facts) {
                Admission::Granted(permit) => {
                    assert_eq!(*permit.obligations(), Obligations::default());
                    "granted"
                }
                Admission::Ask(_) => "ask",
                Admission::Denied(_) => "denied",
            }
        };
        assert_eq!(decide(vec![]), "granted");
        assert_eq!(decide(vec![Arc::new(ann.clone())]), expected);
    }
}

#[test]
fn deny_wins_over_ask_and_ask_over_allow_in_any_order() {
    let rules = [
        rule(Effect::Deny, "mail", "delete_*"),
        rule(Effect::Ask, "mail", "*_all"),
        rule(Effect::Allow, "mail", "*"),
    ];
    let mut reversed = rules.clone();
    reversed.reverse();
    for rules in [&rules, &reversed] {
        check(rules, "mail", "read", "granted by allow-*");
        check(rules, "mail", "read_all", "ask by ask-*_all");
        check(rules, "mail", "delete_all", "denied by deny-delete_*");
    }
}

#[test]
fn an_allow_list_hides_the_rest_of_its_domain_and_no_other() {
    let rules = [rule(Effect::Allow, "mail", "read_*")];
    check(&rules, "mail", "read_one", "granted by allow-read_*");
    check(&rules, "mail", "send", "denied by allow-list");
    check(&rules, "files", "write", "granted by default");
}

#[test]
fn asking_shows_nothing_that_an_allow_list_hides() {
    let rules = [rule(Effect::Allow, "mail", "read_*"), rule(Effect::Ask, "*", "*")];
    check(&rules, "mail", "read_one", "ask by ask-*");
    check(&rules, "mail", "send", "denied by allow-list");
    check(&rules, "files", "write", "ask by ask-*");
}

#[test]
fn a_rule_for_everywhere_goes_by_id_and_a_domains_rule_by_own_name() {
    let rules = [rule(Effect::Deny, "*", "mail__delete*"), rule(Effect::Deny, "files", "delete*")];
    check(&rules, "mail", "delete", "denied by deny-mail__delete*");
    check(&rules, "files", "delete", "denied by deny-delete*");
    check(&rules, "notes", "delete", "granted by default");
}

#[test]
fn a_rule_for_everywhere_knows_each_name_that_is_its_domains_alone() {
    let deny = |pattern| [rule(Effect::Deny, "*", pattern)];
    check(&deny("bank__*"), "bank", "bank_pay", "denied by deny-bank__*");
    check(&deny("bank_pay"), "bank", "bank_pay", "denied by deny-bank_pay");
    check(&deny("bank__*"), "banker", "bank__pay", "granted by default");
    let allow = [rule(Effect::Allow, "*", "git__*")];
    check(&allow, "git", "git_status", "granted by allow-git__*");
    check(&allow, "git_hub", "git__status", "denied by allow-list");
    // Where `git_hub` is configured, the tool of `git` has the long id, and stays denied.
    let target = Target {
        id: ToolId::long(&Domain::parse("git").unwrap(), "git_hub_drop"),
        ..Target::clone(&target("git", "git_hub_drop"))
    };
    let decide = |effect| {
        let policy = Policy::new(vec![rule(effect, "*", "git_hub_*")]);
        policy.is_visible(&Principal::local(), &target)
    };
    assert!(!decide(Effect::Deny));
    assert!(!decide(Effect::Allow), "only the other domain's tools are allowed");
}

#[test]
fn a_rule_for_some_does_not_bind_others() {
    let ann = Principal::user(UserId::new("ann"));
    let bob = Principal {
        organisation: Some(OrganisationId::new("acme")),
        agent: Some(AgentId::new("helper")),
        rights: ["read", "write"].map(Right::new).into_iter().collect(),
        ..Principal::user(UserId::new("bob"))
    };
    let who = [
        PrincipalFilter::user(UserId::new("bob")),
        PrincipalFilter {
            organisations: vec![OrganisationId::new("acme")],
            ..PrincipalFilter::default()
        },
        PrincipalFilter { agents: vec![AgentId::new("helper")], ..PrincipalFilter::default() },
        PrincipalFilter {
            rights: ["write", "admin"].map(Right::new).to_vec(),
            ..PrincipalFilter::default()
        },
    ];
    for who in who {
        let rules = [Rule { who, ..rule(Effect::Deny, "mail", "send") }];
        assert_eq!(decision(&rules, &ann, "mail", "send"), "granted by default");
        assert_eq!(decision(&rules, &bob, "mail", "send"), "denied by deny-send");
    }
}

#[test]
fn a_rule_for_all_but_some_binds_everybody_else() {
    let with = |rights: &[&str]| Principal {
        rights: rights.iter().map(|name| Right::new(*name)).collect(),
        ..Principal::user(UserId::new("ann"))
    };
    let without_rights = ["ops", "finance"].map(Right::new).to_vec();
    let who = PrincipalFilter { without_rights, ..PrincipalFilter::default() };
    let rules = [Rule { who, ..rule(Effect::Deny, "mail", "*") }];
    for (rights, expected) in [
        (&[][..], "denied by deny-*"),
        (&["dev"], "denied by deny-*"),
        (&["ops"], "granted by default"),
        (&["dev", "finance"], "granted by default"),
    ] {
        assert_eq!(decision(&rules, &with(rights), "mail", "send"), expected, "{rights:?}");
    }
    let policy = Policy::new(rules.to_vec());
    assert!(!policy.is_seen_by_all(&target("mail", "send")), "texts for all must not name it");
    assert_ne!(policy.applicable(&with(&["ops"])), policy.applicable(&with(&[])));
}

#[test]
fn those_for_whom_the_same_rules_are_cannot_be_told_apart() {
    let user = |name: &str| Principal::user(UserId::new(name));
    let with =
        |name, right| Principal { rights: [Right::new(right)].into_iter().collect(), ..user(name) };
    let narrow = |number: usize, who| {
        let id = RuleId::new(number.to_string());
        Rule { id, who, ..rule(Effect::Deny, "mail", "send") }
    };
    let everybody = Policy::new(vec![rule(Effect::Deny, "mail", "send")]);
    assert_eq!(everybody.applicable(&user("ann")), everybody.applicable(&with("bob", "write")));
    let for_rights =
        PrincipalFilter { rights: vec![Right::new("write")], ..PrincipalFilter::default() };
    // More rules than fit into one word of the bit set.
    let mut rules: Vec<_> =
        (0..70).map(|n| narrow(n, PrincipalFilter::user(UserId::new(format!("u{n}"))))).collect();
    rules.push(narrow(70, for_rights));
    let policy = Policy::new(rules);
    let same =
        |one: &Principal, other: &Principal| policy.applicable(one) == policy.applicable(other);
    assert!(same(&user("ann"), &user("bob")));
    assert!(same(&with("ann", "write"), &with("bob", "write")));
    assert!(same(&with("ann", "read"), &user("bob")), "no rule mentions this right");
    assert!(!same(&with("ann", "write"), &user("ann")));
    assert!(!same(&user("u1"), &user("u65")));
}

#[test]
fn an_approval_holds_for_its_own_call_until_it_expires() {
    let policy = Policy::new(vec![rule(Effect::Ask, "mail", "send")]);
    let good = Approval {
        tool: TOOL_DIGEST,
        arguments: ARGUMENTS_DIGEST,
        expires_at: NOW.plus(Duration::from_secs(1)),
    };
    let cases = [
        (Some(good.clone()), true),
        (None, false),
        (Some(Approval { expires_at: NOW, ..good.clone() }), false),
        (Some(Approval { tool: ARGUMENTS_DIGEST, ..good.clone() }), false),
        (Some(Approval { arguments: TOOL_DIGEST, ..good }), false),
    ];
    for (approval, granted) in cases {
        let call = resolved(&Principal::local(), &target("mail", "send"));
        let admission = policy.admit(call, &Facts { approval, ..Facts::at(NOW) });
        assert_eq!(matches!(admission, Admission::Granted(_)), granted);
    }
}

#[test]
fn what_everybody_sees_is_hidden_from_nobody() {
    let somebody = || PrincipalFilter::user(UserId::new("ada"));
    let check = |rules: &[Rule], seen: bool| {
        let policy = Policy::new(rules.to_vec());
        assert_eq!(policy.is_seen_by_all(&target("skills", "resource:skill://a/SKILL.md")), seen);
    };
    let own = |effect, pattern| rule(effect, "skills", pattern);
    check(&[], true);
    check(&[own(Effect::Deny, "resource:skill://b/*")], true);
    check(&[own(Effect::Deny, "resource:skill://a/*")], false);
    check(&[rule(Effect::Deny, "mail", "*")], true);
    check(&[own(Effect::Deny, "tool:*")], true);
    check(&[own(Effect::Ask, "*")], true);
    check(&[Rule { who: somebody(), ..own(Effect::Deny, "*") }], false);
    check(&[own(Effect::Allow, "resource:skill://a/*")], true);
    check(&[own(Effect::Allow, "resource:skill://b/*")], false);
    check(&[Rule { who: somebody(), ..own(Effect::Allow, "*") }], false);
    check(&[own(Effect::Allow, "tool:read_skill")], true);
}

#[test]
fn what_a_rule_leaves_out_is_as_if_it_were_not_there() {
    let unless = |rule: Rule, pattern: &str| Rule {
        unless: vec![gatefold_core::EntryPattern::read(pattern)],
        ..rule
    };
    let deny = [unless(rule(Effect::Deny, "mail", "delete_*"), "delete_draft")];
    check(&deny, "mail", "delete_all", "denied by deny-delete_*");
    check(&deny, "mail", "delete_draft", "granted by default");
    let asks = [unless(rule(Effect::Ask, "*", "mail__*"), "mail__read_*")];
    check(&asks, "mail", "send", "ask by ask-mail__*");
    check(&asks, "mail", "read_all", "granted by default");
    // What another rule says stays.
    let both = [deny[0].clone(), rule(Effect::Ask, "mail", "*")];
    check(&both, "mail", "delete_draft", "ask by ask-*");
    let allow = [unless(rule(Effect::Allow, "mail", "*"), "delete_*")];
    check(&allow, "mail", "send", "granted by allow-*");
    check(&allow, "mail", "delete_all", "denied by allow-list");
    // An exception of one kind is none for another, and none for what only may be meant.
    let prompts = [unless(rule(Effect::Deny, "mail", "*"), "prompt:greet")];
    check(&prompts, "mail", "prompt:greet", "granted by default");
    check(&prompts, "mail", "greet", "denied by deny-*");
    let files = [unless(rule(Effect::Deny, "disk", "*"), "file:///open/*")];
    check(&files, "disk", "resource:file:///open/a", "granted by default");
    check(&files, "disk", "resource:file:///open/../secret", "denied by deny-*");
    let mail = Domain::parse("mail").unwrap();
    let all = Policy::new(vec![unless(rule(Effect::Deny, "mail", "*"), "send")]);
    assert!(all.may_show(&Principal::local(), &mail), "it may list what is left out");
}
